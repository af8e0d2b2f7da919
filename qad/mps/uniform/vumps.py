"""Variational uniform matrix product states: a centre on every site of the cell, between infinite environments.

The state is held in mixed form, ``AC = AL C = C AR``: AL isometries from the left, AR from the right, C on the bonds.
Every step takes the lowest vectors of the effective operators of all AC and C, and the isometries that are nearest to
``AC C^-1`` and ``C^-1 AC``, from polar factors.  The gradient of the energy is ``H_AC AC - AL H_C C``; its norm says
how far the state is from a stationary point.

V. Zauner-Stauber et al., PRB 97, 045145 (2018).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from qad.mps.uniform.canonical import schmidt_form
from qad.mps.uniform.krylov import lowest_vector
from qad.mps.uniform.state import UniformMPS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.kernels.dense_terms import Apply
    from qad.mps.uniform.schur import Schur

MANY, FEW = 150, 3  # products of an effective operator in one step, at most: to its lowest vector, or on the way there
INNER = 0.1  # residuals of lowest vectors, beside the gradient
LEAST = 1e-14  # of all residuals, beside the scale of the Hamiltonian
NOTHING = 1e-9  # of the largest Schmidt coefficient: its square is beyond rounding
SPAN = 5  # steps that are compared with as many before, to extrapolate a slow approach
LEAST_RATIO, FARTHEST = 0.3, 100.0  # of their moves; and how many times the last one is added at most
BENT = 0.3  # how far both may differ in direction, beside what is left to go


@dataclass
class Mixed:
    """A state in mixed form: ``lefts[n] @ bonds[n]`` is ``bonds[n-1] @ rights[n]``, at a stationary point."""

    lefts: list[np.ndarray]
    rights: list[np.ndarray]
    bonds: list[np.ndarray]  # right of every site

    @classmethod
    def of(cls, psi: UniformMPS) -> Mixed:
        """The mixed form of a state, its bonds in the basis of Schmidt vectors."""
        state, weights = schmidt_form(psi)
        lefts = [left_isometry(w[:, None, None] * t) for w, t in zip(weights, state, strict=True)]
        bonds = [np.diag(w / np.linalg.norm(w)).astype(state.dtype) for w in (*weights[1:], weights[0])]
        return cls(lefts, list(state.tensors), bonds)

    @classmethod
    def nearest(cls, centres: Sequence[np.ndarray], bonds: Sequence[np.ndarray]) -> Mixed:
        """The isometries that carry these bonds into these centres best."""
        turns = [left_isometry(c[None])[0] for c in bonds]
        lefts = [left_isometry(x) @ u.conj().T for x, u in zip(centres, turns, strict=True)]
        rights = [np.tensordot(turns[n - 1].conj().T, right_isometry(x), 1) for n, x in enumerate(centres)]
        return cls(lefts, rights, list(bonds))

    def __len__(self) -> int:
        return len(self.lefts)

    @property
    def centres(self) -> list[np.ndarray]:
        """The tensors AC."""
        return [left @ c for left, c in zip(self.lefts, self.bonds, strict=True)]

    @property
    def dims(self) -> list[int]:
        """The dimensions of the bonds."""
        return list(map(len, self.bonds))

    @property
    def bond(self) -> int:
        """The largest bond dimension."""
        return max(self.dims)

    def vectors(self) -> list[np.ndarray]:
        """The centres and the bonds, each as a vector."""
        return [x.reshape(-1) for x in (*self.centres, *self.bonds)]

    def nearest_to(self, vectors: Sequence[np.ndarray]) -> Mixed:
        """`nearest` to centres and bonds that are given as `vectors` gives them."""
        shaped = [v.reshape(x.shape) for v, x in zip(vectors, (*self.lefts, *self.bonds), strict=True)]
        return Mixed.nearest(shaped[: len(self)], shaped[len(self) :])

    def densities(self) -> tuple[np.ndarray, np.ndarray]:
        """The densities right of the left isometries of a cell, and left of the right ones, legs (bra, ket)."""
        c = self.bonds[-1]
        return c @ c.conj().T, (c.conj().T @ c).conj()

    def slopes(self, sites: Sequence[Apply]) -> list[float]:
        """The norm of the gradient by every site, of which the effective operators are given."""
        return [
            outside(left.reshape(-1, left.shape[2]), apply(x.reshape(-1)).reshape(-1, x.shape[2]))
            for apply, x, left in zip(sites, self.centres, self.lefts, strict=True)
        ]

    def trimmed(self, least: float = NOTHING) -> Mixed:
        """The state without directions of no weight, which belong to no environment: or itself, if there are none."""
        parts = [np.linalg.svd(c) for c in self.bonds]
        kept = [np.count_nonzero(s > least * s[0]) for _, s, _ in parts]
        if all(k == len(c) for k, c in zip(kept, self.bonds, strict=True)):
            return self
        us = [u[:, :k] for (u, _, _), k in zip(parts, kept, strict=True)]
        vs = [vh[:k] for (_, _, vh), k in zip(parts, kept, strict=True)]
        lefts = [np.tensordot(us[n - 1].conj().T, x, 1) @ us[n] for n, x in enumerate(self.lefts)]
        rights = [np.tensordot(vs[n - 1], x, 1) @ vs[n].conj().T for n, x in enumerate(self.rights)]
        bonds = [np.diag(s[:k]).astype(c.dtype) for (_, s, _), k, c in zip(parts, kept, self.bonds, strict=True)]
        return Mixed([*map(left_isometry, lefts)], [*map(right_isometry, rights)], bonds)

    def state(self) -> UniformMPS:
        """The right isometries, their bonds in the basis of Schmidt vectors."""
        turns = [np.linalg.svd(c)[2] for c in self.bonds]  # C = U S V: the basis right of it is V
        tensors = [np.tensordot(turns[n - 1], x, 1) @ turns[n].conj().T for n, x in enumerate(self.rights)]
        return UniformMPS(list(map(right_isometry, tensors)))


def left_isometry(tensor: np.ndarray) -> np.ndarray:
    """The isometry from the left that is nearest to a site tensor."""
    u, _, vh = np.linalg.svd(tensor.reshape(-1, tensor.shape[2]), full_matrices=False)
    return (u @ vh).reshape(tensor.shape)


def right_isometry(tensor: np.ndarray) -> np.ndarray:
    """The isometry from the right that is nearest to a site tensor."""
    u, _, vh = np.linalg.svd(tensor.reshape(len(tensor), -1), full_matrices=False)
    return (u @ vh).reshape(tensor.shape)


class Vumps:
    """A search: the state, its environments, its energy per site, and the norm of the gradient.

    Attributes
    ----------
    scale : float
        Size of the terms of the Hamiltonian.
    most : int
        Products of an effective operator in one step.
    slope : float
        Norm of the gradient where the last step began.
    trail : list of arrays
        Centres and bonds of the last steps, since the last extrapolation.
    energies : list of float
        Of those steps.
    move : array or None
        The last step.
    """

    H: Schur
    psi: Mixed
    scale: float
    most: int
    energy: float
    slope: float
    lefts: list[np.ndarray] | None
    rights: list[np.ndarray] | None
    trail: list[np.ndarray]
    energies: list[float]
    move: np.ndarray | None

    def __init__(self, H: Schur, psi: Mixed, scale: float, most: int = MANY):
        self.H, self.psi, self.scale, self.most = H, psi, scale, most
        self.energy, self.slope = np.inf, 1e-3 * scale
        self.lefts = self.rights = None
        self.trail, self.energies, self.move = [], [], None

    def look(self) -> tuple[list[Apply], list[Apply]]:
        """Environments, energy and gradient of the present state; the effective operators of sites and of bonds.

        The residuals of environments follow the square of the gradient, as the gain in energy does.
        """
        psi, count = self.psi, len(self.psi)
        tol = max(LEAST * self.scale, min(1e-3, self.slope / self.scale) * self.slope)
        on_right, on_left = psi.densities()
        starts = self.lefts and self.lefts[0], self.rights and self.rights[-1]
        self.lefts, below = self.H.lefts(psi.lefts, on_right, starts[0], tol)
        self.rights, above = self.H.rights(psi.rights, on_left, starts[1], tol)
        self.energy = (below + above) / 2 / count
        sites, bonds = [], []
        for n, (left, right) in enumerate(zip(self.lefts, self.rights, strict=True)):
            m = (n + 1) % count
            sites.append(self.H.one_site(n, left, right, psi.lefts[n]))
            bonds.append(self.H.bond(m, self.lefts[m], right, psi.bonds[n]))
        self.slope = float(np.linalg.norm(psi.slopes(sites)) / np.sqrt(count))
        return sites, bonds

    def step(self) -> None:
        """The lowest centres between the present environments, and isometries from them."""
        sites, bonds = self.look()
        self.energies.append(self.energy)
        psi, tol = self.psi, max(LEAST * self.scale, INNER * self.slope)
        operators, before = (*sites, *bonds), psi.vectors()
        after = [lowest_vector(f, x, tol, self.most) for f, x in zip(operators, before, strict=True)]
        self.psi = psi.nearest_to(self.further(self.damped(before, after)))

    def trim(self) -> bool:
        """Leave out directions of no weight, whose own environments may not exist; whether there were any."""
        before, self.psi = self.psi.bond, self.psi.trimmed()
        self.trail, self.energies, self.move = [], [], None
        return self.psi.bond < before

    def damped(self, before: Sequence[np.ndarray], after: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The new centres and bonds; half the way to them where the step goes back on the last one.

        All of them change at once, so that they may overshoot together, and go round the solution.
        """
        move = np.concatenate([y - x for x, y in zip(before, after, strict=True)])
        back = self.move is not None and len(self.move) == len(move) and np.vdot(self.move, move).real < 0
        self.move = move
        return [(x + y) / 2 for x, y in zip(before, after, strict=True)] if back else list(after)

    def further(self, after: list[np.ndarray]) -> list[np.ndarray]:
        """The new centres and bonds; where the last steps went straight and shrank, what they lead to (Aitken).

        Steps that grow lead away from a saddle and are left alone.
        """
        self.trail = [*self.trail, np.concatenate(after)][-2 * SPAN - 1 :]
        if len(self.trail) <= 2 * SPAN:
            return after
        last, now = self.trail[SPAN] - self.trail[0], self.trail[-1] - self.trail[SPAN]
        ratio = np.vdot(last, now).real / np.vdot(last, last).real
        left = max(1 - ratio, 1 / FARTHEST)
        if not LEAST_RATIO < ratio < 1 or np.linalg.norm(now - ratio * last) > BENT * left * np.linalg.norm(now):
            return after
        self.trail, self.energies = [], []
        pieces = np.split(ratio / left * now, np.cumsum([x.size for x in after])[:-1])
        return [x + more for x, more in zip(after, pieces, strict=True)]


def outside(isometry: np.ndarray, moved: np.ndarray) -> float:
    """The norm of what lies out of the range of an isometry: of the gradient, where an effective operator moved it."""
    return float(np.linalg.norm(moved - isometry @ (isometry.conj().T @ moved)))
