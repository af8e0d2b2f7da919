"""Measurements of all sites of a chain, after which it is a product of sites or of pairs of them.

S. R. White, PRL 102, 190601 (2009); with charges: M. Binder and T. Barthel, PRB 95, 195148 (2017).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.mps.amplitudes.sectors import drawn
from qad.mps.chain.state import MPS
from qad.mps.charges.make import product_tensors
from qad.mps.charges.quantities import conserved_by
from qad.mps.charges.uniform import random_word
from qad.mps.evolve.cut import MOST_CUTOFF
from qad.mps.evolve.tebd import swept
from qad.mps.evolve.truncation import Truncation
from qad.symmetric.generic import as_map, of_map

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.mps.charges.quantities import Names, Quantities
    from qad.mps.evolve.evolution import Evolution
    from qad.mps.operators.mpo import MPO


class Sites:
    """Sites are measured in their own basis, and in turn in its Fourier transform."""

    def __init__(self, H: MPO, rng: np.random.Generator):
        self.rng: np.random.Generator = rng
        self.fourier: list[np.ndarray] = [np.fft.fft(np.eye(w.shape[2]), norm="ortho") for w in H]

    def start(self) -> MPS:
        """A product state at random."""
        return MPS.product([np.eye(len(u))[self.rng.integers(len(u))] for u in self.fourier])

    def after(self, psi: MPS, k: int) -> list[MPS]:
        """The product state that the measurement after sample k leaves."""
        if k % 2:
            return [MPS.product([np.eye(d)[bit] for d, bit in zip(psi.phys, psi.sample(1, self.rng)[0], strict=True)])]
        seen = MPS([u.conj() @ t for u, t in zip(self.fourier, psi, strict=True)])
        return [MPS.product([u[bit] for u, bit in zip(self.fourier, seen.sample(1, self.rng)[0], strict=True)])]

    def chosen(self, runs: Sequence[Evolution]) -> MPS:
        """Of what such states have become the next sample."""
        return runs[0].state


class Sectors:
    """Sites are measured in their own basis, and in turn pairs of them in random bases that conserve.

    Where all sectors count, the product of sites may change the state of one of them: as Metropolis decides, by the
    weights ``<i|exp(-beta H)|i>`` of both, which are the squared norms that the evolution gives.
    """

    def __init__(self, H: MPO, conserve: Names, sector: Any, rng: np.random.Generator):
        self.rng: np.random.Generator = rng
        self.conserved: Quantities = conserved_by(H, conserve)
        self.total: Any = None if sector is None else self.conserved.sector(sector)

    def start(self) -> MPS:
        """A product of basis states at random, of the total charge if that is given."""
        if self.total is None:
            return self.product([self.rng.integers(len(own)) for own in self.conserved.charges])
        return self.product(random_word(self.conserved, self.total, self.rng))

    def product(self, states: Sequence[int]) -> MPS:
        """The product of basis states."""
        return MPS(product_tensors(states, self.conserved, complex), self.conserved)

    def after(self, psi: MPS, k: int) -> list[MPS]:
        """The state that the measurement after sample k leaves, and perhaps one that may take its place."""
        if k % 2:
            states = self.drawn(psi)
            changed, site = states.copy(), self.rng.integers(len(psi))
            changed[site] = (changed[site] + self.rng.integers(1, psi.phys[site])) % psi.phys[site]
            return [self.product(x) for x in ((states, changed) if self.total is None else (states,))]
        gates: list[Any] = [None] * (len(psi) - 1)
        for site in range(k // 2 % 2, len(gates), 2):
            gates[site] = self.turn(site)
        states = self.drawn(self.turned(psi, gates))
        back = [None if gate is None else gate.conj().transpose(2, 3, 0, 1) for gate in gates]
        return [self.turned(self.product(states), back)]

    def drawn(self, psi: MPS) -> np.ndarray:
        """The states of the sites that are measured, those that are counted."""
        return drawn(psi.tensors, self.conserved, 1, self.rng)[0]

    def chosen(self, runs: Sequence[Evolution]) -> MPS:
        """Of what such states have become the next sample."""
        gained = 2 * (runs[-1].log_norm - runs[0].log_norm)
        return runs[-1 if np.log(self.rng.random()) < gained else 0].state

    def turn(self, site: int) -> Any:
        """A unitary map of a pair of sites, random within every charge (Haar)."""
        shape = [len(own) for own in self.conserved.charges[site : site + 2]] * 2
        where, matrices = as_map(self.conserved.term(np.ones(shape), site, np.inf), 2)
        found = []
        for matrix in matrices:
            q, r = np.linalg.qr(self.rng.standard_normal((*matrix.shape, 2)) @ [1, 1j])
            found.append(q * (r.diagonal() / np.abs(r.diagonal())))
        return of_map(where, found)

    def turned(self, psi: MPS, gates: list[Any]) -> MPS:
        """The state after gates."""
        tensors = [t.astype(complex) for t in psi.canonicalize(0)]
        swept(gates, tensors, Truncation(psi.bond * 2 * max(psi.phys), MOST_CUTOFF), to_right=True)
        return psi._made_of(tensors)
