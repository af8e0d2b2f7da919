"""Contractions of tensors that are not arrays: floors above, such as `qad.symmetric`, register their functions here.

`qad.einsum`, `qad.ncon` and `qad.tensordot` call the registered function when one of their operands is such a tensor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

__all__ = ["CONTRACTORS", "Contractor", "contractor_of"]


class Contractor(NamedTuple):
    """What contracts tensors of a kind.

    ``network(operands, subscripts, output, path)`` takes text (output None) or hashable terms and output of the
    interleaved form, and a path or None; ``tensordot(a, b, axes)`` is as NumPy's.
    """

    network: Callable[..., Any]
    tensordot: Callable[..., Any]


CONTRACTORS: dict[type, Contractor] = {}


def contractor_of(operands: Iterable[Any]) -> Contractor | None:
    """What contracts these operands, where one is of another kind."""
    for x in operands if CONTRACTORS else ():
        if type(x) in CONTRACTORS:
            return CONTRACTORS[type(x)]
    return None
