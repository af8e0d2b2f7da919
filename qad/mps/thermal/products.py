"""Operators as chains of small bonds, plain or conserving, the sums of their products, and what they purify.

An ancilla carries the opposite of the charge of its site, so that the purification of what conserves has charge zero.

The bonds of ``sum_j A_j B_j`` hold what its right parts are seen to span through random tensors: of a matrix M = L R^T
across a bond, the range of L is that of ``M G`` for random G, which take no more than A_j and B_j bond by bond, so that
the product is never written out.  From the left, the site tensors are isometries onto these ranges; at the end they are
cut by their Schmidt values.  Where a sector of a bond comes out full, there were too few random vectors, and there are
more.  Operators that conserve a charge are chains of symmetric tensors: a bond carries the charge that the sites left
of it gained.

N. Halko, P. G. Martinsson and J. A. Tropp, SIAM Review 53, 217 (2011); H. Al Daas et al., SIAM J. Sci. Comput. 45, A74
(2023), of chains.
"""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from qad.extend import Tensor, value_of
from qad.mps.chain.state import MPS
from qad.mps.charges.channels import Channels
from qad.mps.charges.make import bond_sectors
from qad.mps.evolve.tebd import shortened
from qad.mps.evolve.truncation import Truncation
from qad.mps.operators.local import MADE_OF, Site
from qad.mps.operators.mpo import MPO
from qad.symmetric.blocks.layout import layout
from qad.symmetric.create import from_dense
from qad.symmetric.generic import join, leg_sizes, norm, numbers, qr
from qad.symmetric.legs import Leg
from qad.symmetric.tensor import SymTensor, bare

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TypeAlias

    from qad.mps.charges.quantities import Charge, Quantities
    from qad.typing import Array

    Chain: TypeAlias = Sequence[Any]  # of an operator: legs (left, out, in, right)
    Pairs: TypeAlias = Sequence[tuple[Chain, Chain]]
    Sizes: TypeAlias = dict[Charge, int]  # of the sectors of a bond

PURIFIED = "purified "  # begins the name of the kind of a site beside its ancilla
MORE = 8  # random vectors beyond the directions that a bond keeps
FEW = 2  # the same of each of several sectors, and beside them a quarter of what it keeps
SPARE = 1.25  # random vectors for a full bond, over its size
LOUD = 1e-6  # weight that was cut off, from which on a warning says so
GROWTH = 1.5  # by how much bonds are thought to grow at first


# -- operators as chains -----------------------------------------------------------------------------------------------


def chain_of(operator: Sequence[Any], conserved: Quantities | None = None) -> Chain:
    """The tensors of an operator, plain or recorded, with legs (left, out, in, right).

    What would break the symmetry is left out of recorded ones.
    """
    if conserved is not None:
        channels = Channels([value_of(w) for w in operator], conserved)
        operator = channels.recorded(operator) if Tensor in map(type, operator) else channels.sites()
    return [w.transpose(0, 2, 3, 1) for w in operator]


def daggered(chain: Chain) -> Chain:
    """The adjoint operator; of symmetric tensors the flow through bonds is turned."""
    return [t.conj().transpose(0, 2, 1, 3) for t in chain]


def times(factor: float, chain: Chain) -> Chain:
    """The chain times a number."""
    return [chain[0] * factor, *chain[1:]]


def projector(conserved: Quantities, total: Charge) -> MPO:
    """Onto the states of a total charge; bonds tell the charge of the sites on their left."""
    bonds, plus, tensors = bond_sectors(conserved, total, np.inf), conserved.symmetry.plus, []
    for before, after, own, states in zip(bonds, bonds[1:], conserved.charges, conserved.states, strict=False):
        kept = np.array([[[plus(q, charge) == p for charge in own] for p in after] for q in before], float)
        w = kept[..., None] * np.eye(len(own))
        tensors.append(w if states is None else states @ w @ states.T)
    return MPO(tensors)


def element_of(bra: Chain, ket: Chain, operator: Chain) -> Array:
    """``tr(bra^H O ket)`` of operators."""
    env = edge(bra[0].conj(), operator[0], ket[0], axis=0)
    for x, w, t in zip(bra, operator, ket, strict=True):
        half = join(join(env, t), w, ((1, 2), (0, 2)))  # bra in ket out O
        env = join(x.conj(), half, ((0, 1, 2), (0, 3, 1))).transpose(0, 2, 1)
    return numbers(env).sum()


@lru_cache
def purified(kind: Site) -> Site:
    """A site beside its ancilla, on which operators do not act."""
    one = np.eye(kind.phys)
    operators = {name: np.kron(matrix, one) for name, matrix in kind.operators.items()}
    return Site(PURIFIED + kind.name, operators, kind.fermionic)


MADE_OF[PURIFIED] = purified


def purification(chain: Chain, conserved: Quantities | None) -> MPS:
    """An operator as a state whose sites are pairs (out, in), the charge of the ancilla counted with opposite sign."""
    if conserved is None:
        return MPS([t.reshape(len(t), -1, t.shape[3]) for t in chain])
    doubled = conserved.pairs()
    tensors = []
    for t, order, both, leg in zip(chain, conserved.orders, doubled.orders, doubled.legs, strict=True):
        back = np.argsort(order)
        wide = t.to_dense()[:, back][:, :, back].reshape(t.shape[0], -1, t.shape[3])[:, both]
        tensors.append(from_dense(wide, (t.legs[0], leg, t.legs[3]), split=2, tol=0.0))
    return MPS(tensors, doubled)


# -- sums of products --------------------------------------------------------------------------------------------------


def summed(pairs: Pairs, bond: int, cutoff: float) -> tuple[list[Any], float, float]:
    """``sum_j A_j B_j`` of norm 1, the logarithm of its norm, and the weight that cuts discarded.

    Parameters
    ----------
    pairs : sequence of pairs of chains
        Open operators, their sites arrays or SymTensors of legs (left, out, in, right).
    bond, cutoff
        As of `qad.mps.evolve.truncation.Truncation`.

    Returns
    -------
    tensors : list of arrays or SymTensors
        Isometries from their left bonds, but for the first.
    log_norm, discarded : float
    """
    sizes, most, rng = first_guess(pairs), int(SPARE * bond) + MORE, np.random.default_rng(0)
    while True:
        sizes = [{q: min(size, most) for q, size in leg.items()} for leg in sizes]
        tensors, log_norm = projected(pairs, random_chain(pairs, sizes, rng))
        truncation, made = Truncation(bond, cutoff), [leg_sizes(t, 3) for t in tensors[:-1]]
        shortened(tensors, truncation)
        kept = [leg_sizes(t, 0) for t in tensors[1:]]
        wanted = [grown(*leg) for leg in zip(kept, made, sizes, strict=True)]
        if wanted == sizes:
            return tensors, log_norm, truncation.discarded
        sizes = wanted


def tell(discarded: float, bond: int) -> None:
    """Warn where a bond cut off so much of a thermal state that it shows."""
    if discarded > LOUD:
        warnings.warn(
            f"the bond of {bond} cut a weight of {discarded:.1e} off a thermal state: energies may be off by about its "
            "root, relative to the terms; give a larger bond",
            RuntimeWarning,
            stacklevel=3,
        )


# -- sizes of bonds ----------------------------------------------------------------------------------------------------


def first_guess(pairs: Pairs) -> list[Sizes]:
    """Random vectors for every sector of every inner bond, by the sectors that all factors have."""
    found: list[Sizes] = []
    for site in range(1, len(pairs[0][0])):
        bonds = [(seen(a[site]), seen(b[site])) for a, b in pairs]
        charges = sorted({added(p, q, pairs[0][0][0]) for one, two in bonds for p in one for q in two})
        largest = [max(leg.get(q, 0) for pair in bonds for leg in pair) for q in charges]
        found.append({q: int(GROWTH * k) + more(k, len(charges)) for q, k in zip(charges, largest, strict=True)})
    return found


def seen(x: Any) -> Sizes:
    """The sectors of the left leg by the charge that flows in through it."""
    sizes = leg_sizes(x, 0)
    if type(x) is SymTensor and x.legs[0].flow < 0:
        return {x.symmetry.opposite(q): dim for q, dim in sizes.items()}
    return sizes


def added(one: Charge, two: Charge, x: Any) -> Charge:
    """The sum of two charges; without any there is one, ``()``."""
    return x.symmetry.plus(one, two) if type(x) is SymTensor else ()


def more(kept: int, sectors: int) -> int:
    """How many random vectors a sector takes beyond the directions that it keeps."""
    return MORE if sectors == 1 else min(MORE, FEW + kept // 4)


def grown(kept: Sizes, made: Sizes, sizes: Sizes) -> Sizes:
    """Twice the random vectors of a sector that came out full, where they are fewer than the rows beside it."""
    scarce = {q for q, k in kept.items() if made[q] == sizes[q] < k + more(k, len(sizes))}
    return {q: size * (1 + (q in scarce)) for q, size in sizes.items()}


# -- sweeps ------------------------------------------------------------------------------------------------------------


def random_chain(pairs: Pairs, sizes: Sequence[Sizes], rng: np.random.Generator) -> list[Any]:
    """Gaussian tensors that the legs of the sum join, with bonds of these sizes, of the dtype of the sum."""
    dtype = np.result_type(*{t.dtype for pair in pairs for chain in pair for t in chain})
    first = pairs[0][0][0]
    end = {first.symmetry.neutral if type(first) is SymTensor else (): 1}
    bonds, found = [end, *sizes, end], []
    for k, (a, b) in enumerate(zip(*pairs[0], strict=True)):
        if type(a) is SymTensor:
            left, right = (Leg(bonds[k + i], flow, a.symmetry) for i, flow in ((0, -1), (1, 1)))
            legs = left, a.legs[1].conj(), b.legs[2].conj(), right
            where = layout(legs, 1, a.symmetry.neutral, a.symmetry)
            found.append(bare(where, rng.standard_normal(where.size).astype(dtype)))
        else:
            shape = sum(bonds[k].values()), a.shape[1], b.shape[2], sum(bonds[k + 1].values())
            found.append(rng.standard_normal(shape).astype(dtype))
    return found


def edge(*tensors: Any, axis: int) -> Any:
    """The environment beyond the outer legs of some tensors."""
    if type(tensors[0]) is not SymTensor:
        return np.ones((1,) * len(tensors))
    legs = tuple([t.legs[axis].conj() for t in tensors])
    group = legs[0].symmetry
    return bare(layout(legs, 1, group.neutral, group), np.ones(1))


def projected(pairs: Pairs, guess: Chain) -> tuple[list[Any], float]:
    """The sum in the ranges that its products with a guess have, of norm 1, and the logarithm of its norm.

    The tensors are isometries from their right bonds, but for the last.
    """
    rights, log_norm, found = rights_of(pairs, guess), 0.0, []
    lefts = [edge(guess[0], a[0], b[0], axis=0) for a, b in pairs]
    for site, right in enumerate(rights):
        parts = [past_left(left, a[site], b[site]) for left, (a, b) in zip(lefts, pairs, strict=True)]
        matrix = sum(join(part, env, ((2, 4), (1, 2))) for part, env in zip(parts, right, strict=True))
        if site == len(rights) - 1:
            size = norm(matrix)
            found.append(matrix * (1 / (size or 1.0)))
            return found, log_norm + float(np.log(size)) if size else -np.inf
        isometry = qr(matrix, 3)[0]
        found.append(isometry)
        lefts = [join(isometry.conj(), part, ((0, 1, 2), (0, 1, 3))) for part in parts]
        size = max(map(norm, lefts)) or 1.0
        lefts, log_norm = [left * (1 / size) for left in lefts], log_norm + float(np.log(size))
    raise AssertionError


def rights_of(pairs: Pairs, guess: Chain) -> list[list[Any]]:
    """What a guess makes of the factors right of every site, but for one number: for each pair (guess, A, B)."""
    found = [[edge(guess[-1], a[-1], b[-1], axis=3) for a, b in pairs]]
    for site in reversed(range(1, len(guess))):
        envs = [past_right(env, a[site], b[site], guess[site]) for env, (a, b) in zip(found[-1], pairs, strict=True)]
        size = max(map(norm, envs)) or 1.0
        found.append([env * (1 / size) for env in envs])
    return found[::-1]


def past_left(env: Any, a: Any, b: Any) -> Any:
    """A left environment (row, A, B) past a site of both: (row, out, A, in, B)."""
    half = join(env, a, ((1,), (0,)))  # row B o m A'
    return join(half, b, ((1, 3), (0, 1)))


def past_right(env: Any, a: Any, b: Any, guess: Any) -> Any:
    """A right environment (guess, A, B) past a site of all three."""
    half = join(b, env, ((3,), (2,)))  # B m i g A'
    full = join(a, half, ((2, 3), (1, 4)))  # A o B i g
    return join(guess, full, ((1, 2, 3), (1, 3, 4)))
