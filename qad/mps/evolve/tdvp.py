"""The time-dependent variational principle: sweeps of local exponentials, for any operator.

Sites (or pairs of them) are evolved forward by half a step, and what two neighbours share backward, from left to
right and back: second order in the step.  J. Haegeman et al., PRB 94, 165116 (2016).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.mps.environments import Environments
from qad.mps.search.lanczos import exponential
from qad.symmetric.generic import lq, qr

if TYPE_CHECKING:
    from typing import Any

    from qad.mps.effective import Apply
    from qad.mps.evolve.tebd import Truncation
    from qad.mps.operator import MPO

MOST_PRODUCTS = 24
TIGHTEST, LOOSEST = 1e-14, 1e-10  # errors of an exponential


class Tdvp:
    """A chain, its environments, and steps ``exp(factor * H)`` of it.

    Parameters
    ----------
    H : MPO
        Hermitian.
    tensors : list of arrays
        An open chain with its centre at site 0; replaced in place.
    factor : number
        ``-1j * dt``, or ``-dt`` in imaginary time.
    tol : float
        Error that an exponential may have.
    """

    H: MPO
    tensors: list[Any]  # arrays; symmetric tensors in `qad.mps.conserving.evolution`
    factor: complex
    tol: float
    environments: Environments
    gained: float  # logarithm of what the norm would have gained so far, were it not kept as it is

    def __init__(self, H: MPO, tensors: list[np.ndarray], factor: complex, tol: float):
        self.H, self.gained = H, 0.0
        self.set_step(factor, tol)
        self.surround(tensors)

    def surround(self, tensors: list[np.ndarray]) -> None:
        """Go on with another chain, whose centre is at site 0."""
        self.tensors = tensors
        self.environments = Environments(self.H, tensors, np.result_type(*tensors, self.factor))

    def set_step(self, factor: complex, tol: float) -> None:
        """Every exponential goes half a step."""
        self.factor, self.tol = factor / 2, min(max(tol, TIGHTEST), LOOSEST)

    def exponential(self, apply: Apply, x: np.ndarray, sign: int) -> np.ndarray:
        """``exp(sign * factor/2 * A) x``, of the norm of x."""
        y, gained = exponential(apply, x.reshape(-1), sign * self.factor, self.tol, MOST_PRODUCTS)
        self.gained += gained
        return y.reshape(x.shape).astype(x.dtype, copy=False)

    def step(self, truncation: Truncation) -> None:
        """One step."""
        raise NotImplementedError

    def advance(self, truncation: Truncation, steps: int) -> float:
        """Steps, after each of which the norm is 1; the logarithm of what it would have gained by them."""
        before = self.gained
        for _ in range(steps):
            self.step(truncation)
            size = np.linalg.norm(self.tensors[0])
            self.tensors[0] = self.tensors[0] / size
            self.gained += float(np.log(size))
        return self.gained - before

    def evolve_site(self, site: int, sign: int = 1) -> None:
        """Only the centre."""
        x = self.tensors[site]
        self.tensors[site] = self.exponential(self.environments.one_site(site, x.shape), x, sign)


class OneSiteTdvp(Tdvp):
    """Bonds stay as they are; norm and energy are conserved."""

    def step(self, truncation: Truncation) -> None:
        """One step; nothing is truncated."""
        last = len(self.tensors) - 1
        for site in range(last):
            self.evolve_site(site)
            self.pass_right(site)
        self.evolve_site(last)
        self.evolve_site(last)
        for site in reversed(range(last)):
            self.pass_left(site + 1)
            self.evolve_site(site)

    def pass_right(self, site: int) -> None:
        """Leave an isometry behind; the bond matrix goes back in time before it joins the next site."""
        self.tensors[site], bond = qr(self.tensors[site])
        self.environments.pass_right(site, self.tensors[site])
        bond = self.exponential(self.environments.bond(site, bond.shape), bond, -1)
        self.tensors[site + 1] = np.tensordot(bond, self.tensors[site + 1], 1)

    def pass_left(self, site: int) -> None:
        """The mirror image."""
        bond, self.tensors[site] = lq(self.tensors[site])
        self.environments.pass_left(site, self.tensors[site])
        bond = self.exponential(self.environments.bond(site - 1, bond.shape), bond, -1)
        self.tensors[site - 1] = np.tensordot(self.tensors[site - 1], bond, 1)


class TwoSiteTdvp(Tdvp):
    """Bonds grow as far as the truncation lets them."""

    def step(self, truncation: Truncation) -> None:
        """One step."""
        last = len(self.tensors) - 2
        for site in range(last + 1):
            self.evolve_pair(site, truncation, to_right=True)
            if site < last:
                self.evolve_site(site + 1, -1)
        for site in reversed(range(last + 1)):
            self.evolve_pair(site, truncation, to_right=False)
            if site > 0:
                self.evolve_site(site, -1)

    def evolve_pair(self, site: int, truncation: Truncation, to_right: bool) -> None:
        """A pair forward in time; the centre moves on."""
        pair, before = np.tensordot(self.tensors[site], self.tensors[site + 1], 1), self.tensors[site + to_right]
        pair = self.exponential(self.environments.two_sites(site, pair.shape), pair, 1)
        self.tensors[site], self.tensors[site + 1] = truncation.split(pair, to_right, before)
        if to_right:
            self.environments.pass_right(site, self.tensors[site])
        else:
            self.environments.pass_left(site + 1, self.tensors[site + 1])
