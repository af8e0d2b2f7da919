"""Transfer operators: what a row of sites does to environments."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import like
from qad.mps.chain.chain import zip_sites
from qad.mps.chain.checks import check_plain
from qad.mps.kernels.environments import through_left, through_right

if TYPE_CHECKING:
    from qad.mps.chain.state import MPS
    from qad.typing import Array, ArrayLike


@dataclass(frozen=True)
class Transfer:
    """The transfer operator of a row of sites, ``E[bra ket, bra' ket'] = sum_s conj(B[bra, s, bra']) A[ket, s, ket']``.

    Parameters
    ----------
    kets, bras : sequences of site tensors (left, physical, right)
        `bras` are conjugated here.

    Examples
    --------
    >>> import numpy as np, qad
    >>> psi = qad.mps.MPS.random(5, 3)
    >>> qad.mps.transfer(psi).apply_left(np.ones((1, 1))).real.round(12)
    array([[1.]])
    """

    kets: tuple[Array, ...]
    bras: tuple[Array, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Dimensions of the matrix: (bra ket) on the left, (bra ket) on the right."""
        ends = (self.bras[0].shape[0], self.kets[0].shape[0]), (self.bras[-1].shape[2], self.kets[-1].shape[2])
        return prod(ends[0]), prod(ends[1])

    def apply_left(self, environment: ArrayLike) -> Array:
        """Environments (..., bra, ket) of the left, carried to the right end."""
        return through_left(environment, self.kets, self.bras)

    def apply_right(self, environment: ArrayLike) -> Array:
        """Environments (..., bra, ket) of the right, carried to the left end."""
        return through_right(environment, self.kets, self.bras)

    def to_dense(self) -> Array:
        """The matrix, of shape `shape`."""
        a, b = self.bras[0].shape[0], self.kets[0].shape[0]
        unit = like(*self.kets).eye(a * b, dtype=np.result_type(self.kets[0].dtype, self.bras[0].dtype))
        return self.apply_left(unit.reshape(-1, a, b)).reshape(self.shape)


def transfer(psi: MPS, start: int = 0, stop: int | None = None, bra: MPS | None = None) -> Transfer:
    """The transfer operator of sites `start` to `stop` (not included).

    Parameters
    ----------
    psi : MPS
    start, stop : int
        By default all sites.
    bra : MPS, optional
        Another state of the same sites, conjugated; `psi` by default.

    Returns
    -------
    Transfer
        With ``apply_left``, ``apply_right`` and ``to_dense``, differentiable.

    Raises
    ------
    ArgumentError
        If the range is empty or leaves the chain.

    Examples
    --------
    >>> import qad
    >>> qad.mps.transfer(qad.mps.MPS.random(6, 4, periodic=True), 2, 4).shape
    (16, 16)
    """
    check_plain(psi)
    stop = len(psi) if stop is None else stop
    if not 0 <= start < stop <= len(psi):
        raise ArgumentError(f"sites {start} to {stop} are no row of a chain of {len(psi)}")
    pairs = list(zip_sites(psi, psi if bra is None else bra))[start:stop]
    return Transfer(*map(tuple, zip(*pairs, strict=True)))
