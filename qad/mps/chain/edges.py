"""The environments beyond both ends of an open chain, of arrays or symmetric tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.extend import like
from qad.symmetric.blocks.layout import layout
from qad.symmetric.tensor import SymTensor, bare

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.symmetric.legs import Leg


def edges(tensors: Sequence[Any], operator: Sequence[Any] = ()) -> tuple[Any, Any]:
    """The environments beyond both ends of an open chain, legs (bra, ket), or (bra, operator, ket)."""
    first, last = tensors[0], tensors[-1]
    if type(first) is not SymTensor:
        one = like(*tensors).ones((1, 1, 1) if operator else (1, 1))
        return one, one
    channels = [operator[0].legs[0], operator[-1].legs[1]] if operator else []
    return edge(first, first.legs[0], channels[:1]), edge(last, last.legs[2], channels[1:])


def edge(tensor: SymTensor, leg: Leg, channel: Sequence[Leg]) -> SymTensor:
    """The environment beyond the outer leg of a site tensor, and that of an operator."""
    where = layout((leg, *[x.conj() for x in channel], leg.conj()), 1, leg.symmetry.neutral, leg.symmetry)
    return bare(where, like(tensor.data).ones(1, tensor.data.real.dtype))
