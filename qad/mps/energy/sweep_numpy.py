"""The sweeps of an energy with all channels of the operator in every product, site after site by NumPy.

`Steps.forward` carries the environment L of the left from bond to bond and keeps what `Steps.backward` needs; that one
carries R of the right, and closes both to the derivative by the bra.  On both sides the legs of environments are (bra,
operator, ket), as in `qad.mps.kernels.dense`, the latter two as one: ``5 w d bond**3`` multiply-adds for both
directions, and few calls, so that it is quick where bonds are small.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from qad.mps.kernels.dense import acted, mirror, operator_matrix

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["CHECK_EVERY", "ROOM", "Dense", "Steps"]

CHECK_EVERY, ROOM = 4, 60  # sites between two looks at the scale; powers of two that it may drift

Kept: TypeAlias = tuple[list[np.ndarray], list[np.ndarray], list[tuple[Any, int]], int]  # kets, bras, halves, scale


class Dense:
    """A site of the operator as matrices, for both directions."""

    left: int
    right: int
    out: int
    in_: int

    def __init__(self, tensor: np.ndarray):
        self.left, self.right, self.out, self.in_ = tensor.shape
        self.matrix: tuple[np.ndarray, int, int] = operator_matrix(tensor), self.left, self.right
        self.mirror: tuple[np.ndarray, int, int] = operator_matrix(tensor.swapaxes(0, 1)), self.right, self.left


class Steps:
    """Both sweeps past an operator.

    Parameters
    ----------
    sites : list of Dense
        The sites; the ends have one channel at the left and two at the right.
    dtype : dtype
        In which it is done.
    """

    def __init__(self, sites: Sequence[Dense], dtype: np.dtype[Any]):
        self.sites: Sequence[Dense] = sites
        self.dtype: np.dtype[Any] = dtype

    def forward(self, tensors: Sequence[np.ndarray], keep: bool) -> tuple[np.ndarray, Kept]:
        """Sweep from the left: the values in the last channels, but for a scale, and what `backward` needs."""
        bras = [np.ascontiguousarray(tensor, self.dtype) for tensor in tensors]
        kets = [bra.conj() for bra in bras]
        environment, halves, scale = np.ones((1, 1), self.dtype), [], 0
        for i, (site, ket, bra) in enumerate(zip(self.sites, kets, bras, strict=True)):
            half = acted(environment, ket, site.matrix)
            environment = bra.reshape(-1, bra.shape[2]).T.dot(half)
            if keep:
                halves.append((half, scale))
            if i % CHECK_EVERY == CHECK_EVERY - 1:
                environment, scale = within_range(environment, scale)
        return environment.ravel(), (kets, bras, halves, scale)

    def backward(self, kept: Kept, seeds: np.ndarray) -> list[np.ndarray]:
        """The derivative by every bra of ``seeds . values``, where the values had their scale taken out."""
        kets, bras, halves, scale = kept
        environment, slopes, taken = seeds.reshape(1, -1), [], 0
        for i in reversed(range(len(self.sites))):
            (half, before), ket, bra = halves[i], kets[i], bras[i]
            slope = half.dot(environment.T).reshape(bra.shape)
            other = acted(environment, mirror(ket), self.sites[i].mirror)
            environment = bra.transpose(0, 2, 1).reshape(len(bra), -1).dot(other)
            if before + taken != scale:
                slope = slope * 2.0 ** (before + taken - scale)
            slopes.append(slope)
            if i % CHECK_EVERY == 0:
                environment, taken = within_range(environment, taken)
        return slopes[::-1]


def within_range(environment: np.ndarray, scale: int) -> tuple[np.ndarray, int]:
    """The environment, multiplied by a power of two where its size has left the safe range."""
    size = np.abs(environment).max()
    if not 0 < size < np.inf or 2.0**-ROOM < size < 2.0**ROOM:
        return environment, scale
    exponent = int(np.frexp(size)[1])
    return environment * 2.0**-exponent, scale + exponent
