"""The sweeps of an energy, site after site by NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.energy.channel_sweep import Dense, Sparse

__all__ = ["CHECK_EVERY", "ROOM", "Steps"]

CHECK_EVERY, ROOM = 4, 60  # sites between two looks at the scale; powers of two that it may drift

Passage: TypeAlias = "Dense | Sparse"  # how a site is passed
Kept: TypeAlias = tuple[list[np.ndarray], list[np.ndarray], list[tuple[Any, int]], int]  # kets, bras, halves, scale


class Steps:
    """Both sweeps past an operator.

    Parameters
    ----------
    sites : list of Dense or of Sparse
        How every site is passed; the ends have one channel at the left and two at the right.
    dtype : dtype
        In which it is done.
    """

    def __init__(self, sites: Sequence[Passage], dtype: np.dtype[Any]):
        self.sites: Sequence[Passage] = sites
        self.dtype: np.dtype[Any] = dtype

    def forward(self, tensors: Sequence[np.ndarray], keep: bool) -> tuple[np.ndarray, Kept]:
        """Sweep from the left: the values in the last channels, but for a scale, and what `backward` needs."""
        bras = [np.ascontiguousarray(tensor, self.dtype) for tensor in tensors]
        kets = [bra.conj() for bra in bras]
        environment = self.sites[0].opened(np.ones(1, self.dtype))
        halves, scale = [], 0
        for i, (site, ket, bra) in enumerate(zip(self.sites, kets, bras, strict=True)):
            environment, half = site.forward(environment, ket, bra)
            if keep:
                halves.append((half, scale))
            if i % CHECK_EVERY == CHECK_EVERY - 1:
                environment, scale = within_range(site, environment, scale)
        return self.sites[-1].closed(environment), (kets, bras, halves, scale)

    def backward(self, kept: Kept, seeds: np.ndarray) -> list[np.ndarray]:
        """The derivative by every bra of ``seeds . values``, where the values had their scale taken out."""
        kets, bras, halves, scale = kept
        environment, slopes, taken = self.sites[-1].opened(seeds), [], 0
        for i in reversed(range(len(self.sites))):
            half, before = halves[i]
            slope, environment = self.sites[i].backward(environment, kets[i], bras[i], half)
            if before + taken != scale:
                slope = slope * 2.0 ** (before + taken - scale)
            slopes.append(slope)
            if i % CHECK_EVERY == 0:
                environment, taken = within_range(self.sites[i], environment, taken)
        return slopes[::-1]


def within_range(site: Passage, environment: Any, scale: int) -> tuple[Any, int]:
    """The environment, multiplied by a power of two where its size has left the safe range."""
    size = site.size(environment)
    if not 0 < size < np.inf or 2.0**-ROOM < size < 2.0**ROOM:
        return environment, scale
    exponent = int(np.frexp(size)[1])
    return site.scaled(environment, 2.0**-exponent), scale + exponent
