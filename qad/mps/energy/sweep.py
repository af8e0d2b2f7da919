"""The sweeps of an energy, for arrays and for symmetric tensors.

The environments of the sweep from the left serve the sweep from the right, which closes the derivatives by all tensors.
An environment has the legs (one layer, operator, other layer), the first of them alone as rows.  That layer is
contracted first, then the site of the operator is applied, which is nearly empty, then the other layer; and now the
other one is alone.  So the layers take turns from site to site, every product finds its operands as they lie, and of
symmetric tensors nothing is moved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from qad.mps.chain.row import edge
from qad.mps.kernels.environments import through
from qad.symmetric.generic import join, laid_out, numbers, with_numbers
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    # of a site: the tensor contracted first, (a | s b), and the other, (a s | b), conjugates; where the first one joins
    # the operator, and that; what the sweep from the left has before the other one is contracted, legs (a', s', v, b);
    # and what was divided out behind it
    Site: TypeAlias = tuple[Any, Any, int, Any, Any, float]

IN, OUT = 3, 2  # axes of a site of the operator: where the ket joins it, and where the bra does


class Sweep:
    """Both sweeps past an operator.

    Parameters
    ----------
    sites : list of Entries or of arrays (left, right, out, in)
        Of an operator with a channel for the norm: the ends have one channel at the left and two at the right.
    dtype : dtype
        In which it is done.
    """

    def __init__(self, sites: Sequence[Any], dtype: np.dtype[Any]):
        self.sites: Sequence[Any] = sites
        self.dtype: np.dtype[Any] = dtype

    def forward(self, tensors: Sequence[Any], keep: bool) -> tuple[np.ndarray, tuple[Any, list[Site]]]:
        """Sweep from the left: the values in the last channels, but for a scale, and what `backward` needs."""
        found: list[Site] = []
        environment = beginning(tensors[0], self.sites[0], self.dtype)
        for number, (tensor, w) in enumerate(zip(tensors, self.sites, strict=True)):
            one, two = (laid_out(tensor.astype(self.dtype), rows) for rows in (1, 2))
            first, other, axis = (one.conj(), two, OUT) if number % 2 else (one, two.conj(), IN)
            half = join(environment, first, ((0,), (0,)))  # v a' s b
            half = through(w, half, ((0, 2), (0, axis)), (0, 3, 2, 1))  # a' s' v b
            environment = join(other, half, ((0, 1), (0, 1)))  # b' v b
            size = float(np.abs(numbers(environment)).max(initial=0.0)) or 1.0
            environment = environment * (1 / size)
            if keep:
                found.append((first, other, axis, w, half, size))
        return numbers(environment), (environment, found)

    def backward(self, kept: tuple[Any, list[Site]], seeds: np.ndarray) -> list[Any]:
        """The derivative of ``seeds . values`` by every tensor, unconjugated; by every second one of opposite legs."""
        (end, sites), slopes = kept, []
        environment = with_numbers(end.conj(), seeds)
        for site in reversed(sites):
            first, other, axis, w, half, size = site
            environment = environment * (1 / size)
            slope = join(half, environment, ((2, 3), (1, 2)))  # a' s' b'
            slopes.append(with_numbers(slope, numbers(slope).conj()) if axis == IN else slope)
            if site is not sites[0]:
                z = join(other, environment, ((2,), (0,)))  # a' s' v b
                z = through(w, z, ((1, 2), (OUT + IN - axis, 1)), (3, 1, 2, 0))  # s b u a'
                environment = join(first, z, ((1, 2), (0, 1)))  # a u a'
        return slopes[::-1]


def beginning(tensor: Any, w: Any, dtype: np.dtype[Any]) -> Any:
    """The environment of no sites, legs (ket, operator, bra)."""
    if type(tensor) is SymTensor:
        return edge(tensor, tensor.legs[0].conj(), [w.layout.legs[0]]).astype(dtype)
    return np.ones((1, 1, 1), dtype)
