"""Rings ``<psi|O|psi>`` of real tensors in two halves, even and odd under the exchange of bra and ket.

Where such a network is contracted as a ring of blocks, each of which holds both layers of some sites, a block is a
matrix from the legs on one side to those on the other.  With O symmetric it stays as it is when bra and ket are
exchanged on both sides, so it maps even vectors to even ones and odd vectors to odd ones: instead of products of n rows
there are two of about n/2, at a quarter of the multiply-adds.  The operator's own leg takes part in the exchange, for
transposed S+ is S-.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations, pairwise
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from qad.contract import einsum
from qad.rules.sparse import sparse as constant

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TypeAlias

    from numpy.typing import NDArray

    from qad.contract.plan import Plan
    from qad.typing import Array

    Labels: TypeAlias = tuple[int, ...]
    Path: TypeAlias = tuple[tuple[int, int], ...]
    Constant: TypeAlias = tuple[int, tuple[int, ...], str, bytes]  # an operand's number, shape, dtype and content

__all__ = ["Block", "InHalves", "Ring", "ring_in"]

FEWEST = 512  # rows of a product from which on it pays to take the blocks apart
TOLERANCE = 1e-13  # relative, of blocks of random tensors that are to be equal: rounding, in double precision
AGREEMENT = 1e-10  # relative, of the values of both ways
MOST = 2**24  # bytes of constants, which are remembered and compared


class Block(NamedTuple):
    """A part of the network: its operands, the order in which they are contracted, and its legs on either side."""

    numbers: tuple[int, ...]
    path: Path | str
    left: Labels
    right: Labels


class Ring(NamedTuple):
    """A network as a ring of blocks, and the bases of the legs between them.

    `bases` has for each block the even and the odd vectors of its left legs, in rows of sparse matrices.
    """

    terms: tuple[Labels, ...]
    blocks: tuple[Block, ...]
    bases: tuple[tuple[Any, Any], ...]

    def contract(self, operands: Sequence[Array]) -> Array:
        """The value of the network."""
        matrices = [matrix_of(block, self.terms, operands) for block in self.blocks]
        return sum(self._product(matrices, half) for half in (0, 1))

    def _product(self, matrices, half):
        """The trace of the product of the even (0) or odd (1) parts of the blocks."""
        found, count = [], len(matrices)
        bases = [constant(both[half].astype(matrices[0].dtype, copy=False)) for both in self.bases]
        for k, x in enumerate(matrices):
            following = (k + 1) % count
            found += [(bases[following] @ (bases[k] @ x).T).T, (k, following)]
        return einsum(*found, ())


def matrix_of(block: Block, terms: Sequence[Labels], operands: Sequence[Array]) -> Array:
    """A block as a matrix from its left to its right legs."""
    network = [part for number in block.numbers for part in (operands[number], terms[number])]
    x = einsum(*network, (*block.left, *block.right), optimize=block.path)
    return x.reshape(prod(x.shape[: len(block.left)]), -1)


class InHalves:
    """A plan that contracts a ring by its halves; what `real_form` asks of a plan."""

    def __init__(self, plan: Plan, ring: Ring):
        self.plan: Plan = plan
        self.ring: Ring = ring
        self.expression: Any = plan.expression
        self.shapes: Any = plan.shapes
        self.path: Any = plan.path

    def __call__(self, *operands: Array) -> Array:
        return self.plan(*operands)

    def execute(self, operands: Sequence[Array], wanted: tuple[int, ...], executor: None = None) -> Array:
        return self.ring.contract(operands)


def ring_in(
    operands: Sequence[Array], terms: tuple[Labels, ...], path: Path, groups: Sequence[tuple[list[int], list[int]]]
) -> Ring | None:
    """The ring that a scalar network of real tensors is in this order, if it pays to take it in halves.

    `groups` are the numbers of kets and bras, as `qad.contract.hermitian.partners` finds them.
    """
    if any(x.dtype.kind != "f" for x in operands) or any(len(kets) != 1 for kets, _ in groups):
        return None
    pairs = tuple((*kets, *bras) for kets, bras in groups)
    variable = {number for pair in pairs for number in pair}
    rest = [(number, x) for number, x in enumerate(operands) if number not in variable]
    if any(type(x) is not np.ndarray for _, x in rest):  # an argument of a frozen function, which may change
        return None
    if sum(x.nbytes for _, x in rest) > MOST:
        return None
    constants = tuple((number, x.shape, x.dtype.str, x.tobytes()) for number, x in rest)
    return _ring(terms, tuple(tuple(x.shape) for x in operands), path, pairs, constants)


@lru_cache(maxsize=8)
def _ring(
    terms: tuple[Labels, ...], shapes: tuple[tuple[int, ...], ...], path: Path, pairs: tuple[tuple[int, int], ...],
    constants: tuple[Constant, ...],
) -> Ring | None:  # fmt: skip
    """The network as a ring of blocks of real tensors, if the order makes it one and the halves do not mix.

    That they do not is an identity between polynomials in the variables, so it is tried at random ones.

    Parameters
    ----------
    terms, shapes
        The labels and lengths of the axes of every operand.
    path
        The order, pair by pair, as opt_einsum has it.
    pairs
        The numbers of a ket and of its bra, for all variables.
    constants
        The other operands.
    """
    partner = dict(pairs) | {bra: ket for ket, bra in pairs}
    image = {one: two for a, b in partner.items() for one, two in zip(terms[a], terms[b], strict=True)}
    if (blocks := _around(terms, _parts(len(terms), path, partner))) is None:
        return None
    sizes = {label: n for term, shape in zip(terms, shapes, strict=True) for label, n in zip(term, shape, strict=True)}
    mirrored = all({image.get(label, label) for label in block.left} == set(block.left) for block in blocks)
    if not mirrored or min(prod(sizes[label] for label in block.left) for block in blocks) < FEWEST:
        return None
    operands = list(map(_random(shapes, pairs, constants).get, range(len(terms))))
    matrices = [matrix_of(block, terms, operands) for block in blocks]
    exchanges = [_exchange(block, x, sizes, image) for block, x in zip(blocks, matrices, strict=True)]
    if any((goes[goes] != np.arange(len(goes))).any() for goes in exchanges):
        return None
    for x, rows, columns in zip(matrices, exchanges, (*exchanges[1:], exchanges[0]), strict=True):
        if not np.abs(x[rows][:, columns] - x).max() <= TOLERANCE * np.abs(x).max():
            return None
    ring = Ring(terms, blocks, tuple(map(_basis, exchanges)))
    whole = einsum(*[part for pair in zip(operands, terms, strict=True) for part in pair], (), optimize=path)
    return (
        ring if abs(ring.contract(operands) - whole) <= 1e-10 * abs(whole) else None
    )  # small odd parts may meet large


def _parts(count, path, partner):
    """The blocks, by their operands and the order within.

    A block is a part with a bra for each of its kets that was not made of two such parts; what is joined to these one
    by one is a block, too, whose order is open.
    """
    nodes, ids = {number: ((number,), None) for number in range(count)}, list(range(count))
    for step in path:
        a, b = (ids[place] for place in step)
        ids = [node for place, node in enumerate(ids) if place not in step] + [len(nodes)]
        nodes[len(nodes)] = nodes[a][0] + nodes[b][0], (a, b)

    def paired(node):
        numbers = set(nodes[node][0])
        return {partner.get(number, number) for number in numbers} == numbers and not numbers.isdisjoint(partner)

    blocks, rest, stack = [], [], list(ids)
    while stack:
        node = stack.pop()
        numbers, children = nodes[node]
        if len(numbers) < count and paired(node) and not all(map(paired, children or (node,))):
            blocks.append((numbers, _path(numbers, _below(nodes, node))))
        elif children is None:
            rest.append(node)
        else:
            stack += children
    return [*blocks, (tuple(rest), "auto")] if rest else blocks


def _below(nodes, top):
    """The steps that make a node, first to last."""
    steps, stack = [], [top]
    while stack:
        node = stack.pop()
        if (children := nodes[node][1]) is not None:
            steps.append((node, children))
            stack += children
    return sorted(steps)


def _path(leaves, steps):
    """Steps ``(node, children)`` as places in the list that shrinks from the leaves on."""
    ids, path = list(leaves), []
    for node, children in steps:
        places = sorted(ids.index(child) for child in children)
        path.append(tuple(places))
        ids = [other for place, other in enumerate(ids) if place not in places] + [node]
    return tuple(path)


def _around(terms, parts):
    """The blocks one after the other around the ring; None if they form no ring."""
    if len(parts) < 3:
        return None
    legs = [{label for number in numbers for label in terms[number]} for numbers, _ in parts]
    shared = {(a, b): legs[a] & legs[b] for a, b in combinations(range(len(parts)), 2)}
    beside = {a: [b for b in range(len(parts)) if a != b and shared[min(a, b), max(a, b)]] for a in range(len(parts))}
    if any(len(others) != 2 for others in beside.values()):
        return None
    around = [0, beside[0][0]]
    while (following := sum(beside[around[-1]]) - around[-2]) != 0:
        around.append(following)
    if len(around) != len(parts):
        return None
    groups = [tuple(sorted(shared[min(a, b), max(a, b)])) for a, b in zip((around[-1], *around), around, strict=False)]
    groups.append(groups[0])
    if any(set(one).intersection(other) for one, other in pairwise(groups)):
        return None  # a leg of more than two blocks
    return tuple([Block(*parts[a], groups[k], groups[k + 1]) for k, a in enumerate(around)])


def _random(shapes, pairs, constants):
    """The operands, variables at random."""
    rng = np.random.default_rng(0)
    operands: dict[int, NDArray[Any]] = {}
    for ket, bra in pairs:
        operands[ket] = operands[bra] = rng.normal(size=shapes[ket]) / prod(shapes[ket]) ** 0.25
    for number, shape, dtype, content in constants:
        operands[number] = np.frombuffer(content, dtype).reshape(shape).astype(float)
    return operands


def _exchange(block, matrix, sizes, image):
    """Where each index of the left legs of a block goes when bra and ket are exchanged."""
    labels, count = (*block.left, *block.right), len(block.left)
    x = matrix.reshape([sizes[label] for label in labels])
    shape = x.shape[:count]
    axes = [labels.index(image.get(label, label)) for label in labels]
    own = [axis for axis in range(count) if axes[axis] == axis]
    moved = np.arange(prod(shape)).reshape(shape).transpose(axes[:count])
    if len(own) != 1:
        return moved.ravel()
    others = tuple(axis for axis in range(count, x.ndim) if axes[axis] == axis)
    weight, swapped = (np.sum(y**2, axis=others, keepdims=True) for y in (x, x.transpose(axes)))
    weight, swapped = (np.moveaxis(y, own[0], 0).reshape(shape[own[0]], -1) for y in (weight, swapped))
    distance = np.abs(weight[:, None] - swapped).max(axis=2)
    return np.take(moved, _partners(distance, TOLERANCE * weight.max()), own[0]).ravel()


def _partners(distance, enough):
    """To which index each goes: to itself where that fits, else to the nearest that is left, and back."""
    goes = {i: i for i in range(len(distance)) if distance[i, i] <= enough}
    for i in range(len(distance)):
        left = [j for j in range(len(distance)) if j not in goes and j != i]
        if i not in goes and left:
            nearest = min(left, key=lambda j: distance[j, i])
            goes |= {i: nearest, nearest: i}
    return [goes.get(i, i) for i in range(len(distance))]


def _basis(exchange):
    """The vectors that are even and those that are odd when every index goes where `exchange` says, in rows."""
    here = np.arange(len(exchange))
    first, fixed = here[here < exchange], here[here == exchange]
    pairs = sparse.csr_array((np.full(len(first), 0.5**0.5), (np.arange(len(first)), first)), (len(first), len(here)))
    partners = sparse.csr_array((pairs.data, (np.arange(len(first)), exchange[first])), pairs.shape)
    alone = sparse.csr_array((np.ones(len(fixed)), (np.arange(len(fixed)), fixed)), (len(fixed), len(here)))
    return sparse.csr_array(sparse.vstack([pairs + partners, alone])), sparse.csr_array(pairs - partners)
