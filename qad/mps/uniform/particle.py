"""Excitations of infinite chains: one changed tensor, in a superposition of all places with a momentum.

Left of the tensor B stand the left isometries of the ground state, right of it the right ones.  B is kept orthogonal to
the left isometry of its site, so that norms are those of vectors and the ground state is left out.  What the effective
Hamiltonian adds from places of B left and right of the site in question are geometric series, as environments are, with
the phase of the momentum.

J. Haegeman et al., PRB 85, 100408 (2012); L. Vanderstraeten, J. Haegeman, F. Verstraete, SciPost Phys. Lect. Notes 7
(2019), section 6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy

from qad.core.errors import ArgumentError, ConvergenceError
from qad.mps.charges.axes import in_basis
from qad.mps.charges.uniform import beside_by_charge, carrying
from qad.mps.kernels.cells import DenseCell
from qad.mps.kernels.dense import past_left, past_right
from qad.mps.operators.uniform_mpo import UniformMPO, size_of
from qad.mps.uniform.canonical import DIFFERENT
from qad.mps.uniform.mixed import Mixed
from qad.mps.uniform.schur import solution
from qad.mps.uniform.state import UniformMPS
from qad.mps.uniform.transfer import largest_two, leading
from qad.mps.uniform.vumps import Vumps
from qad.symmetric.generic import dense

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from qad.mps.kernels.terms import Apply
    from qad.symmetric.groups import Charge

PRECISION = 1e-10  # residuals, beside the scale of the Hamiltonian
EQUAL = 1e-5  # differences of two ground states, beside the scale: of finite bonds, half of it errors of kinks
STATIONARY = 1e-4  # gradient of the ground state, beside the scale, above which it is none


class Particle:
    """The effective Hamiltonian of the tensors B of a cell, at a momentum per cell.

    Attributes
    ----------
    phase : complex or float
        Of a step by one cell.
    beyond : Mixed
        The ground state right of B: the one left of it, but for kinks.
    form : Mixed
        The last ground state that was prepared, as it was given: with charges, or without.
    ground : float
        What the effective operator of a site gives for the ground state.
    bases : list of arrays
        Orthonormal columns beside the left isometry of every site; B is one of them times a matrix of `shapes`.
    kept : array of int or None
        The coefficients of all B that carry the charge that is asked for.
    """

    H: DenseCell
    psi: Mixed
    beyond: Mixed
    dtype: np.dtype[Any]
    scale: float
    phase: complex
    ground: float
    lefts: list[np.ndarray]
    rights: list[np.ndarray]
    sites: list[Apply]
    form: Mixed
    bases: list[np.ndarray]
    shapes: list[tuple[int, int]]
    kept: np.ndarray | None

    def __init__(
        self, H: UniformMPO, state: UniformMPS, momentum: float, other: UniformMPS | None = None,
        charge: Charge | None = None,
    ):  # fmt: skip
        self.scale = size_of(H) or 1.0
        self.phase = np.exp(1j * momentum) * (1 if other is None else sign_between(state, other))
        if abs(self.phase.imag) < 1e-15:
            self.phase = self.phase.real
        dtypes = [H.dtype, state.dtype, *([] if other is None else [other.dtype])]
        self.dtype = np.result_type(*dtypes, self.phase, np.float64)
        self.psi, energy = self._prepared(H, state)
        self.beyond, second = (self.psi, energy) if other is None else self._prepared(H, other)
        self.check_equal(energy, second, "energies per site")
        tensors = [w.astype(self.dtype) for w in H]
        for w in tensors:
            w[0, -1] -= energy * np.eye(w.shape[2])  # the ground state has energy 0 from here on
        self.H = DenseCell(tensors, self.dtype)
        self.lefts, rights, self.ground = self._around(self.psi)
        _, self.rights, second = (self.lefts, rights, self.ground) if other is None else self._around(self.beyond)
        self.check_equal(self.ground, second, "energies across a bond")
        self.ground = (self.ground + second) / 2
        if charge is None:
            flat = [x.reshape(-1, x.shape[2]) for x in self.psi.lefts]
            self.bases, labels = [np.linalg.svd(x)[0][:, x.shape[1] :] for x in flat], None
        else:
            sites = zip(self.form.lefts, state.conserved.frames, strict=True)
            pairs = [beside_by_charge(left, frame) for left, frame in sites]
            self.bases, labels = [basis for basis, _ in pairs], [found for _, found in pairs]
        self.shapes = [(b.shape[1], x.shape[2]) for b, x in zip(self.bases, self.beyond.rights, strict=True)]
        self.kept = None if labels is None else carrying(charge, labels, self.form.rights)
        self.sites = [
            self.H.effective(n, 1, self.lefts[n], self.rights[n], self.tensor(n, np.zeros(shape)))[0]
            for n, shape in enumerate(self.shapes)
        ]

    def _prepared(self, H: UniformMPO, state: UniformMPS) -> tuple[Mixed, float]:
        """The mixed form of a state and its energy per site.  Raises unless the state is a stationary point."""
        self.form = Mixed.of(UniformMPS([t.astype(self.dtype) for t in state], state.conserved))
        psi = dense_form(self.form)
        search = Vumps(DenseCell(list(H), self.dtype), psi, self.scale)
        search.look()
        search.slope = PRECISION * self.scale
        search.look()
        if search.slope > STATIONARY * self.scale:
            raise ArgumentError(
                f"the state is no ground state: the energy's gradient has norm {search.slope:.1e}; search for it first"
            )
        return psi, search.energy

    def _around(self, psi: Mixed) -> tuple[list[np.ndarray], list[np.ndarray], float]:
        """The environments of a ground state, and what its effective operators give for itself."""
        search = Vumps(self.H, psi, self.scale)
        search.slope = PRECISION * self.scale
        sites, _ = search.look()
        centre = psi.centres[0].reshape(-1)
        return search.lefts, search.rights, np.vdot(centre, sites[0](centre)).real

    def check_equal(self, one: float, two: float, what: str) -> None:
        """Raise unless both ground states have this in common: else the energy of a kink would have no zero."""
        if abs(one - two) > EQUAL * self.scale:
            raise ArgumentError(
                f"the two states have different {what}, {one:.8g} and {two:.8g}: kinks join ground states that a "
                "symmetry of single sites relates; search for both to a smaller tol="
            )

    def tensor(self, site: int, part: np.ndarray) -> np.ndarray:
        """The tensor B of a site from its coefficients."""
        return (self.bases[site] @ part).reshape(*self.psi.lefts[site].shape[:2], -1)

    def lowest(self, k: int) -> np.ndarray:
        """The lowest levels."""
        size = sum(rows * columns for rows, columns in self.shapes) if self.kept is None else len(self.kept)
        if k > size:
            raise ArgumentError(f"this bond dimension has {size} excitations, not {k}")
        if size <= max(2 * k + 2, 20):
            matrix = np.array([self.among(x) for x in np.eye(size, dtype=self.dtype)]).T
            return np.linalg.eigvalsh((matrix + matrix.conj().T) / 2)[:k]
        operator = scipy.sparse.linalg.LinearOperator((size, size), self.among, dtype=self.dtype)
        start = np.random.default_rng(0).standard_normal(size).astype(self.dtype)
        try:
            found = scipy.sparse.linalg.eigsh(operator, k, which="SA", v0=start, tol=1e-8, return_eigenvectors=False)
        except scipy.sparse.linalg.ArpackNoConvergence as error:
            raise ConvergenceError(f"the {k} lowest excitations were not found: ask for more, or for fewer") from error
        return np.sort(found)

    def among(self, x: np.ndarray) -> np.ndarray:
        """`apply` among the coefficients that carry the charge; what conserves leads to no others."""
        if self.kept is None:
            return self.apply(x)
        whole = np.zeros(sum(rows * columns for rows, columns in self.shapes), self.dtype)
        whole[self.kept] = x.reshape(-1)
        return self.apply(whole)[self.kept]

    def apply(self, x: np.ndarray) -> np.ndarray:
        """The effective Hamiltonian, less the energy of the ground state, on all B as one vector."""
        x = x.reshape(-1)
        cuts = np.cumsum([rows * columns for rows, columns in self.shapes])[:-1]
        parts = [piece.reshape(shape) for piece, shape in zip(np.split(x, cuts), self.shapes, strict=True)]
        changed = [self.tensor(n, part) for n, part in enumerate(parts)]
        before, after = self.with_changed(changed, True), self.with_changed(changed, False)
        out = []
        for n, (basis, part) in enumerate(zip(self.bases, parts, strict=True)):
            w, b = self.H.sites[n], changed[n]
            here = self.sites[n](b.reshape(-1)).reshape(b.shape)
            here = here + opened(before[n], self.beyond.rights[n], w, self.rights[n])
            here = here + opened(self.lefts[n], self.psi.lefts[n], w, after[n])
            out.append(basis.conj().T @ here.reshape(len(basis), -1) - self.ground * part)
        return np.concatenate([part.reshape(-1) for part in out])

    def with_changed(self, changed: Sequence[np.ndarray], ahead: bool) -> list[np.ndarray]:
        """For every site, environments in which B stands anywhere on its left (`ahead`), or on its right."""
        past, beside = (past_left, self.lefts) if ahead else (past_right, self.rights)
        kets, bras = self.beyond.rights, self.psi.lefts
        if not ahead:
            kets, bras = bras, kets
        order = range(len(changed))[:: 1 if ahead else -1]

        def passed(x, sources=None):
            found = [x]
            for n in order:
                w = self.H.sites[n]
                x = past(x, kets[n], bras[n], w)
                x = x if sources is None else x + past(beside[n], sources[n], bras[n], w)
                found.append(x)
            return found

        nothing = self.nothing(beside[order[0]].shape[1])
        nothing = nothing if ahead else nothing.swapaxes(0, 2)
        c, phase = (self.fixed_point(), np.conj(self.phase)) if ahead else (self.fixed_point().T, self.phase)
        first = self.series(passed, nothing, passed(nothing, changed)[-1], phase, c, -1 if ahead else 0)
        return passed(first, changed)[:-1][:: 1 if ahead else -1]

    def nothing(self, channels: int) -> np.ndarray:
        """An environment of zeros, between a bra of the left state and a ket of the right one."""
        return np.zeros((len(self.psi.bonds[-1]), channels, len(self.beyond.bonds[-1])), self.dtype)

    def fixed_point(self) -> np.ndarray:
        """The fixed point of the transfer operator between both sides: zero where their states differ."""
        return self.psi.bonds[-1] if self.beyond is self.psi else self.nothing(1)[:, 0]

    def series(
        self,
        passed: Callable[[np.ndarray], list[np.ndarray]],
        nothing: np.ndarray,
        source: np.ndarray,
        phase: complex,
        fixed: np.ndarray,
        ended: int,
    ) -> np.ndarray:
        """``x = phase (source + T(x))``, channel by channel: nothing placed yet, terms begun, terms that have ended.

        The part along the fixed point, which is singular at momentum 0, leads to the ground state and is left out.
        """
        x = nothing.copy()
        for channel in (-1 - ended, None, ended):  # 0 or -1, those in between, -1 or 0
            known = passed(x)[-1] + source
            places = slice(1, -1) if channel is None else channel
            b = phase * known[:, places]
            if channel is None and self.H.steps is not None:
                for _ in range(self.H.steps):
                    x[:, places] = b
                    b = phase * (passed(x)[-1] + source)[:, places]
                x[:, places] = b
                continue

            def apply(v, places=places, b=b, channel=channel):
                y = np.zeros_like(nothing)
                y[:, places] = v.reshape(b.shape)
                moved = phase * passed(y)[-1][:, places]
                if channel is not None:
                    moved = moved - phase * fixed * np.vdot(fixed, y[:, places])
                return v - moved.reshape(-1)

            if channel is not None:
                b = b - fixed * np.vdot(fixed, b)
            if np.linalg.norm(b) > PRECISION * self.scale * 1e-3:
                tol = PRECISION * max(self.scale, 1.0)
                x[:, places] = solution(apply, b.reshape(-1), np.zeros(b.size, b.dtype), tol).reshape(b.shape)
        return x


def opened(left: np.ndarray, ket: np.ndarray, w: np.ndarray, right: np.ndarray) -> np.ndarray:
    """A site between two environments, the legs (a', s', b') of the bra left open."""
    half = np.tensordot(left, ket, ((2,), (0,)))  # a' u s b
    half = np.tensordot(half, w, ((1, 2), (0, 3)))  # a' b v s'
    return np.tensordot(half, right, ((2, 1), (1, 2)))  # a' s' b'


def sign_between(one: UniformMPS, two: UniformMPS) -> complex:
    """The phase of the overlap of two states per cell; raises where they are the same."""
    values, _ = leading(two.tensors, one.tensors)
    first = values[np.argmax(abs(values))]
    norms = [largest_two(psi.tensors)[1] for psi in (one, two)]
    if abs(first) > (1 - DIFFERENT) * np.sqrt(norms[0] * norms[1]):
        raise ArgumentError("both states are the same, and no kink joins them: leave out other=")
    return 1.0 if abs(first) < DIFFERENT else complex(first / abs(first))


def dense_form(psi: Mixed) -> Mixed:
    """A mixed form of arrays, the basis of sites in their own order."""
    if psi.conserved is None:
        return psi
    frames, rows = psi.conserved.frames, (psi.lefts, psi.rights)
    lefts, rights = ([in_basis(dense(x), frame, 1) for x, frame in zip(row, frames, strict=True)] for row in rows)
    return Mixed(lefts, rights, [dense(c) for c in psi.bonds])
