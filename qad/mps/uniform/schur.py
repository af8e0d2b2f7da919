"""Environments of an infinite chain for a Hamiltonian in triangular form, and the effective operators between them.

The environment of channel 0 on the left is 1, that of a channel in between the sum of all beginnings of terms, and that
of the last channel the sum of all terms that lie on the left.  The last one has the energy per site in common with
every site that is added; without it, it solves ``x - T(x) = h - e`` for the transfer operator T of the cell, h what one
more cell brings: a geometric series, summed by GMRES.

V. Zauner-Stauber et al., PRB 97, 045145 (2018), appendix C; H. N. Phien, G. Vidal, I. P. McCulloch, PRB 86, 245107
(2012).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.mps.kernels.dense import mirror, past_left
from qad.mps.kernels.dense_terms import Row, nothing_on
from qad.mps.uniform.krylov import solution

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.mps.kernels.dense_terms import Apply
    from qad.mps.operators.uniform_mpo import UniformMPO

PRODUCTS = 3000  # of GMRES, at most


class Schur:
    """The Hamiltonian of a cell: its tensors, read from the left and from the right."""

    tensors: list[np.ndarray]
    mirrored: list[np.ndarray]
    steps: int | None
    rows: dict[tuple[int, int], Row]

    def __init__(self, H: UniformMPO, dtype: np.dtype):
        self.tensors = [w.astype(np.result_type(w.dtype, dtype)) for w in H]
        # read from the right, the channels in reverse: the first and the last one change places
        self.mirrored = [w.swapaxes(0, 1)[::-1, ::-1] for w in reversed(self.tensors)]
        self.steps, self.rows = steps_to_nothing(self.tensors), {}

    def __len__(self) -> int:
        return len(self.tensors)

    def lefts(
        self, kets: Sequence[np.ndarray], density: np.ndarray, start: np.ndarray | None, tol: float
    ) -> tuple[list[np.ndarray], float]:
        """Environments (bra, channel, ket) left of every site, for left isometries; and the energy of a cell."""
        first, energy = fixed(self.tensors, kets, density, start, tol, self.steps)
        found = [first]
        for ket, w in zip(kets[:-1], self.tensors[:-1], strict=True):
            found.append(past_left(found[-1], ket, operator=w))
        return found, energy

    def rights(
        self, kets: Sequence[np.ndarray], density: np.ndarray, start: np.ndarray | None, tol: float
    ) -> tuple[list[np.ndarray], float]:
        """Environments (bra, channel, ket) right of every site, for right isometries; and the energy of a cell."""
        mirrored = [mirror(ket) for ket in reversed(kets)]
        start = None if start is None else start[:, ::-1]
        first, energy = fixed(self.mirrored, mirrored, density, start, tol, self.steps)
        found = [first]
        for ket, w in zip(mirrored[:-1], self.mirrored[:-1], strict=True):
            found.append(past_left(found[-1], ket, operator=w))
        return [x[:, ::-1] for x in reversed(found)], energy

    def row(self, site: int, size: int) -> Row:
        """The operators of no site, one or two from this one on, with what is known of their bonds."""
        if (site, size) not in self.rows:
            sites = [self.tensors[(site + k) % len(self)] for k in range(size)]
            bond = self.tensors[site % len(self)].shape[0] if size < 1 else sites[-1].shape[1]
            sites += [nothing_on(bond)] * (2 - size)
            ends = [sites[0].shape[0], sites[0].shape[1], sites[0].shape[1], sites[1].shape[1]]
            before = [only(0, count) for count in ends]
            after = [only(count - 1, count) for count in ends]
            self.rows[site, size] = Row(*sites, before[0], before[1], after[2], after[3])
        return self.rows[site, size]

    def one_site(self, site: int, left: np.ndarray, right: np.ndarray, centre: np.ndarray) -> Apply:
        """The effective operator of the tensor (a, s, b) of a site, on vectors."""
        a, s, b = centre.shape
        return self.row(site, 1).operator(left, right, (a, s, 1, b))

    def bond(self, site: int, left: np.ndarray, right: np.ndarray, centre: np.ndarray) -> Apply:
        """The effective operator of the matrix (a, b) on the bond left of a site, on vectors."""
        a, b = centre.shape
        return self.row(site, 0).operator(left, right, (a, 1, 1, b))


def only(channel: int, count: int) -> np.ndarray:
    """Multiples of 1 as `Row` takes them: 1 in one channel, unknown in the others."""
    found = np.full(count, np.nan)
    found[channel] = 1.0
    return found


def steps_to_nothing(tensors: Sequence[np.ndarray]) -> int | None:
    """After how many cells all terms have ended that had begun; None where some never do."""
    going = np.eye(tensors[0].shape[0] - 2, dtype=bool)
    for w in tensors:
        going = going @ w[1:-1, 1:-1].any(axis=(2, 3))
    cells, power = 1, going
    while power.any() and cells <= len(going):
        cells, power = cells + 1, power @ going
    return None if power.any() else cells


def fixed(
    tensors: Sequence[np.ndarray],
    kets: Sequence[np.ndarray],
    density: np.ndarray,
    start: np.ndarray | None,
    tol: float,
    steps: int | None,
) -> tuple[np.ndarray, float]:
    """The left environment of a cell of left isometries, and the energy of the cell.

    `density` is any positive matrix of trace 1, near the right fixed point of the transfer operator: the environment is
    shifted by a multiple of 1, so that its last channel has no overlap with it.  `tol` bounds residuals, in the units
    of the Hamiltonian.
    """
    size, channels = len(density), tensors[0].shape[0]
    one = np.eye(size, dtype=density.dtype)
    found = np.zeros((size, channels, size), np.result_type(density.dtype, *tensors))
    found[:, 0] = one
    if start is not None and steps is None and start.shape == found.shape:
        found[:, 1:-1] = start[:, 1:-1]

    def passed(x):
        for ket, w in zip(kets, tensors, strict=True):
            x = past_left(x, ket, operator=w)
        return x

    if steps is None:
        found[:, 1:-1] = geometric(passed, found, tol)
    else:
        for _ in range(steps):
            found[:, 1:-1] = passed(found)[:, 1:-1]
    source = passed(found)[:, -1]
    guess = start[:, -1].reshape(-1) if start is not None and start.shape == found.shape else None
    last = np.array(geometric_alone(kets, source, density, guess, tol))
    energy = np.vdot(density, last).real
    found[:, -1] = last - energy * one
    return found, energy


def geometric_alone(
    kets: Sequence[np.ndarray], source: np.ndarray, density: np.ndarray, guess: np.ndarray | None, tol: float
) -> np.ndarray:
    """The solution of ``x - T(x) + tr(x density) 1 = source``, whose overlap with the density is the energy."""
    size = len(density)
    one = np.eye(size)
    bras = [ket.reshape(-1, ket.shape[2]).conj().T.copy() for ket in kets]
    flat = [ket.reshape(len(ket), -1) for ket in kets]

    def apply(v):
        x = v.reshape(size, size)
        y = x
        for ket, bra in zip(flat, bras, strict=True):
            y = bra @ (y @ ket).reshape(bra.shape[1], -1)
        return (x - y + np.vdot(density, x) * one).reshape(-1)

    start = np.zeros(size * size, source.dtype) if guess is None else guess
    return solution(apply, source.reshape(-1), start, tol, PRODUCTS).reshape(size, size)


def geometric(passed: Callable[[np.ndarray], np.ndarray], found: np.ndarray, tol: float) -> np.ndarray:
    """The channels in between, where terms of any length make them a geometric series of their own."""
    middle, begun = found[:, 1:-1], np.zeros_like(found)
    begun[:, 0] = found[:, 0]
    source = passed(begun)[:, 1:-1]

    def apply(v):
        x = np.zeros_like(found)
        x[:, 1:-1] = v.reshape(middle.shape)
        return (x - passed(x))[:, 1:-1].reshape(-1)

    return solution(apply, source.reshape(-1), middle.reshape(-1), tol, PRODUCTS).reshape(middle.shape)
