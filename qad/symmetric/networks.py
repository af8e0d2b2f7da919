"""Networks of symmetric tensors in index notation: what `qad.einsum` and `qad.ncon` do with them."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from qad.contract.notation.contractors import CONTRACTORS, Contractor
from qad.contract.notation.operands import recorded
from qad.contract.notation.parse import parse, parse_lists
from qad.contract.plan.planner import find_plan
from qad.core.errors import ArgumentError, ShapeError
from qad.symmetric.blocks.layout import Layout, layout
from qad.symmetric.blocks.moves import Move, between, move
from qad.symmetric.contraction import Contraction, closing, contraction, identity_beside, result_of, tensordot, why_not
from qad.symmetric.tensor import SymTensor, as_symmetric

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.symmetric.legs import Leg
    from qad.typing import Scalar

__all__ = ["network"]


class NetworkSteps(NamedTuple):
    """How a network is contracted: traces within operands, pairs of them, the move of the result, its layout, and
    whether operands of odd charge were exchanged, which changes the sign."""

    traces: tuple[tuple[int, Contraction, Leg], ...]
    pairs: tuple[tuple[int, int, Contraction], ...]
    last: Move | None
    out: Layout
    negative: bool


def network(operands: Sequence[Any], subscripts: Any, output: Any, path: Any = None) -> SymTensor | Scalar:
    """Contract a network of symmetric tensors.

    Parameters
    ----------
    operands : sequence of SymTensor
    subscripts, output
        Text (`output` None), or terms and output of the interleaved form.
    path : tuple, optional
        In opt_einsum's linear format; otherwise it is searched.
    """
    for number, x in enumerate(operands):
        if type(x) is not SymTensor:
            raise ArgumentError(
                f"einsum: operand {number} is a {type(x).__name__} among symmetric tensors: write "
                "qad.symmetric.from_dense(array, legs), or .to_dense() of the others"
            )
        as_symmetric(x, "einsum")
    alive = [x.data for x in operands]
    how = program(tuple([x.layout for x in operands]), subscripts, output, recorded(alive), path)
    for number, closed, leg in how.traces:
        alive[number] = closed.run(alive[number], identity_beside(alive[number], leg))
    for one, two, pair in how.pairs:
        x, y = alive[one], alive[two]
        alive = [z for i, z in enumerate(alive) if i not in (one, two)]
        alive.append(pair.run(x, y))
    (data,) = alive
    data = data if how.last is None else move(data, table=how.last)
    return result_of(how.out, -data if how.negative else data)


@lru_cache(maxsize=1024)
def program(
    layouts: tuple[Layout, ...], subscripts: Any, output: Any, wanted: tuple[int, ...], path: Any
) -> NetworkSteps:
    """The program of a network, from a bounded cache."""
    shapes = tuple([where.shape for where in layouts])
    ndims = tuple(map(len, shapes))
    named = parse_lists(subscripts, output, ndims) if isinstance(subscripts, tuple) else parse(subscripts, ndims)
    terms, final = [list(term) for term in named.inputs], named.output
    _require_pairs(named, layouts)
    linear = find_plan(subscripts, output, shapes, wanted, complex, path).path
    alive, traces, pairs = list(layouts), [], []
    for number, term in enumerate(terms):
        while twice := [label for label, count in Counter(term).items() if count == 2]:
            one, two = (axis for axis, label in enumerate(term) if label == twice[0])
            closed, leg = closing(alive[number], one, two)
            traces.append((number, closed, leg))
            alive[number], terms[number] = closed.out, [label for label in term if label != twice[0]]
            term = terms[number]
    odd, exchanged = [where.symmetry.is_odd(where.total) for where in layouts], 0
    for step in linear if len(layouts) > 1 else ():
        one, two = sorted(step)
        exchanged += odd[two] * sum(odd[two + 1 :]) + odd[one] * (sum(odd[one + 1 :]) - odd[two])
        odd = [x for i, x in enumerate(odd) if i not in step] + [(odd[one] + odd[two]) % 2]
        pair, labels = _pair(alive[one], alive[two], terms[one], terms[two])
        pairs.append((one, two, pair))
        alive = [x for i, x in enumerate(alive) if i not in step] + [pair.out]
        terms = [x for i, x in enumerate(terms) if i not in step] + [labels]
    (where,), (labels,) = alive, terms
    axes = tuple([labels.index(label) for label in final])
    out = layout(tuple([where.legs[axis] for axis in axes]), where.split, where.total, where.symmetry)
    return NetworkSteps(tuple(traces), tuple(pairs), between(where, out, axes), out, exchanged % 2 == 1)


def _pair(a, b, ones, twos):
    """The contraction of two operands over the labels that they share, and the labels of the result."""
    shared = [label for label in ones if label in twos]
    how = contraction(a, b, tuple(map(ones.index, shared)), tuple(map(twos.index, shared)))
    return how, [label for label in (*ones, *twos) if label not in shared]


def _require_pairs(named, layouts):
    """Raise unless each label joins two legs that fit, or is open."""
    places: dict[int, list[tuple[int, int]]] = {}
    for number, term in enumerate(named.inputs):
        for axis, label in enumerate(term):
            places.setdefault(label, []).append((number, axis))
    for label, found in places.items():
        name, count = named.names[label], len(found) + named.output.count(label)
        if count != 2:
            raise ArgumentError(
                f'einsum "{named.text}": label {name!r} stands {count} times; with symmetric tensors each label joins '
                "two legs, or is a leg of one operand and of the result: anything else conserves no charge"
            )
        if len(found) == 2:
            one, two = (layouts[number].legs[axis] for number, axis in found)
            if not one.joins(two):
                raise ShapeError(
                    f'einsum "{named.text}": label {name!r} joins {one!r} of operand {found[0][0]} and {two!r} of '
                    f"operand {found[1][0]}, which do not fit: {why_not(one, two)}"
                )
    if len({where.symmetry for where in layouts}) > 1:
        raise ShapeError(f'einsum "{named.text}": the operands have different symmetries')


CONTRACTORS[SymTensor] = Contractor(network, tensordot)
