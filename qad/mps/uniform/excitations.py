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
from qad.core.threads import blas_for
from qad.mps.chain import site_count
from qad.mps.couplings import real_number
from qad.mps.environments import past_left, past_right
from qad.mps.uniform.krylov import solution
from qad.mps.uniform.measures import check_single, check_term, ordinary
from qad.mps.uniform.operator import UniformMPO, of_neighbours, size_of
from qad.mps.uniform.opsum import UniformOpSum
from qad.mps.uniform.schur import PRODUCTS, Schur
from qad.mps.uniform.vumps import Mixed, Vumps

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from qad.mps.effective import Apply
    from qad.mps.uniform.conserving.state import SymmetricUniformMPS
    from qad.mps.uniform.state import UniformMPS
    from qad.typing import ArrayLike

PRECISION = 1e-10  # residuals, beside the scale of the Hamiltonian
STATIONARY = 1e-4  # gradient of the ground state, beside the scale, above which it is none


def excitations(
    h: ArrayLike | UniformMPO | UniformOpSum, state: UniformMPS | SymmetricUniformMPS, momentum: float, k: int = 1
) -> NDArray[np.float64]:
    """The lowest energies of excitations of a momentum above the ground state, by the quasi-particle ansatz; plain.

    Parameters
    ----------
    h : UniformMPO, UniformOpSum, or array (d, d, d, d)
        The Hamiltonian, as for `ground_state`.
    state : UniformMPS or SymmetricUniformMPS
        Its ground state; the cell is a multiple of the Hamiltonian's.
    momentum : float
        Per site, in radians; in a cell of several sites momenta count modulo ``2 pi / cell``.
    k : int
        How many.

    Returns
    -------
    array (k,)
        Ascending.  A single particle has few changed sites, so that its energy is soon that of the exact one; what lies
        in a continuum comes out too high.

    Raises
    ------
    ArgumentError
        If `h` is not Hermitian or does not fit, or the state is a sum of several, or not a stationary point.
    ConvergenceError
        If the eigenvalue solver does not converge.

    Examples
    --------
    >>> import qad
    >>> H = qad.mps.uniform.ising(2.0)
    >>> found = qad.mps.uniform.ground_state(H, bond=8, cell=1)
    >>> round(float(qad.mps.uniform.excitations(H, found.state, 0.0)[0]), 6)  # exact: 2 (g - 1)
    2.0
    """
    h, state = h.mpo() if isinstance(h, UniformOpSum) else h, ordinary(state)
    check_term(state, h)
    check_single(state)
    momentum, k = float(real_number(momentum, "momentum")), site_count(k, 1, "k")
    H = (h if isinstance(h, UniformMPO) else of_neighbours(h)).repeated(len(state))
    with blas_for(state.bond):
        return Particle(H, state, momentum * len(state)).lowest(k)


class Particle:
    """The effective Hamiltonian of the tensors B of a cell, at a momentum per cell.

    Attributes
    ----------
    phase : complex or float
        Of a step by one cell.
    ground : float
        What the effective operator of a site gives for the ground state.
    bases : list of arrays
        Orthonormal columns beside the left isometry of every site; B is one of them times a matrix of `shapes`.
    """

    H: Schur
    psi: Mixed
    dtype: np.dtype[Any]
    scale: float
    phase: complex
    ground: float
    lefts: list[np.ndarray]
    rights: list[np.ndarray]
    sites: list[Apply]
    bases: list[np.ndarray]
    shapes: list[tuple[int, int]]

    def __init__(self, H: UniformMPO, state: UniformMPS, momentum: float):
        self.scale = size_of(H) or 1.0
        self.phase = np.exp(1j * momentum)
        if abs(self.phase.imag) < 1e-15:
            self.phase = self.phase.real
        self.dtype = np.result_type(H.dtype, state.dtype, self.phase, np.float64)
        energy = self._prepared(H, state)
        tensors = [w.astype(self.dtype) for w in H]
        for w in tensors:
            w[0, -1] -= energy * np.eye(w.shape[2])  # the ground state has energy 0 from here on
        self.H = Schur(UniformMPO(tensors), self.dtype)
        search = Vumps(self.H, self.psi, self.scale)
        search.slope = PRECISION * self.scale
        sites, _ = search.look()
        self.lefts, self.rights, self.sites = search.lefts, search.rights, sites
        centre = self.psi.centres[0].reshape(-1)
        self.ground = np.vdot(centre, sites[0](centre)).real
        self.bases = [
            np.linalg.svd(x.reshape(-1, x.shape[2]))[0][:, x.shape[2] :] for x in self.psi.lefts
        ]  # fmt: skip
        self.shapes = [(basis.shape[1], x.shape[2]) for basis, x in zip(self.bases, self.psi.lefts, strict=True)]

    def _prepared(self, H: UniformMPO, state: UniformMPS) -> float:
        """The mixed form of the state; the energy per site.  Raises unless the state is a stationary point."""
        self.psi = Mixed.of(type(state)([t.astype(self.dtype) for t in state]))
        search = Vumps(Schur(H, self.dtype), self.psi, self.scale)
        search.look()
        search.slope = PRECISION * self.scale
        search.look()
        if search.slope > STATIONARY * self.scale:
            raise ArgumentError(
                f"the state is no ground state: the energy's gradient has norm {search.slope:.1e}; search for it first"
            )
        return search.energy

    def lowest(self, k: int) -> np.ndarray:
        """The lowest levels."""
        size = sum(rows * columns for rows, columns in self.shapes)
        if k > size:
            raise ArgumentError(f"this bond dimension has {size} excitations, not {k}")
        if size <= max(2 * k + 2, 20):
            matrix = np.array([self.apply(x) for x in np.eye(size, dtype=self.dtype)]).T
            return np.linalg.eigvalsh((matrix + matrix.conj().T) / 2)[:k]
        operator = scipy.sparse.linalg.LinearOperator((size, size), self.apply, dtype=self.dtype)
        start = np.random.default_rng(0).standard_normal(size).astype(self.dtype)
        try:
            found = scipy.sparse.linalg.eigsh(operator, k, which="SA", v0=start, tol=1e-8, return_eigenvectors=False)
        except scipy.sparse.linalg.ArpackNoConvergence as error:
            raise ConvergenceError(f"the {k} lowest excitations were not found: ask for more, or for fewer") from error
        return np.sort(found)

    def apply(self, x: np.ndarray) -> np.ndarray:
        """The effective Hamiltonian, less the energy of the ground state, on all B as one vector."""
        x = x.reshape(-1)
        cuts = np.cumsum([rows * columns for rows, columns in self.shapes])[:-1]
        parts = [piece.reshape(shape) for piece, shape in zip(np.split(x, cuts), self.shapes, strict=True)]
        changed = [
            (basis @ part).reshape(left.shape)
            for basis, part, left in zip(self.bases, parts, self.psi.lefts, strict=True)
        ]
        before, after = self.from_the_left(changed), self.from_the_right(changed)
        out = []
        for n, (basis, part) in enumerate(zip(self.bases, parts, strict=True)):
            w, b = self.H.tensors[n], changed[n]
            here = self.sites[n](b.reshape(-1)).reshape(b.shape)
            here = here + opened(before[n], self.psi.rights[n], w, self.rights[n])
            here = here + opened(self.lefts[n], self.psi.lefts[n], w, after[n])
            out.append(basis.conj().T @ here.reshape(len(basis), -1) - self.ground * part)
        return np.concatenate([part.reshape(-1) for part in out])

    def from_the_left(self, changed: Sequence[np.ndarray]) -> list[np.ndarray]:
        """For every site, environments in which B stands anywhere on the left."""

        def passed(x, sources=None):
            found = [x]
            for n, w in enumerate(self.H.tensors):
                x = past_left(x, self.psi.rights[n], self.psi.lefts[n], w)
                x = x if sources is None else x + past_left(self.lefts[n], sources[n], self.psi.lefts[n], w)
                found.append(x)
            return found

        nothing = np.zeros_like(self.lefts[0])
        c = self.psi.bonds[-1]
        first = self.series(passed, nothing, passed(nothing, changed)[-1], np.conj(self.phase), c, c.conj(), -1)
        return passed(first, changed)[:-1]

    def from_the_right(self, changed: Sequence[np.ndarray]) -> list[np.ndarray]:
        """For every site, environments in which B stands anywhere on the right."""

        def passed(x, sources=None):
            found = [x]
            for n in reversed(range(len(changed))):
                w = self.H.tensors[n]
                x = past_right(x, self.psi.lefts[n], self.psi.rights[n], w)
                x = x if sources is None else x + past_right(self.rights[n], sources[n], self.psi.rights[n], w)
                found.append(x)
            return found

        nothing = np.zeros_like(self.rights[-1])
        c = self.psi.bonds[-1].T
        last = self.series(passed, nothing, passed(nothing, changed)[-1], self.phase, c, c.conj(), 0)
        return passed(last, changed)[:-1][::-1]

    def series(
        self,
        passed: Callable[[np.ndarray], list[np.ndarray]],
        nothing: np.ndarray,
        source: np.ndarray,
        phase: complex,
        fixed: np.ndarray,
        other: np.ndarray,
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
                    moved = moved - phase * fixed * (other * y[:, places]).sum()
                return v - moved.reshape(-1)

            if channel is not None:
                b = b - fixed * (other * b).sum()
            if np.linalg.norm(b) > PRECISION * self.scale * 1e-3:
                tol = PRECISION * max(self.scale, 1.0)
                x[:, places] = solution(apply, b.reshape(-1), np.zeros(b.size, b.dtype), tol, PRODUCTS).reshape(b.shape)
        return x


def opened(left: np.ndarray, ket: np.ndarray, w: np.ndarray, right: np.ndarray) -> np.ndarray:
    """A site between two environments, the legs (a', s', b') of the bra left open."""
    half = np.tensordot(left, ket, ((2,), (0,)))  # a' u s b
    half = np.tensordot(half, w, ((1, 2), (0, 3)))  # a' b v s'
    return np.tensordot(half, right, ((2, 1), (1, 2)))  # a' s' b'
