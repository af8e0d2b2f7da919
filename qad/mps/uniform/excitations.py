"""Excitations of infinite chains, and kinks between two of their ground states, by the quasi-particle ansatz.

One tensor is changed, in a superposition of all places with a momentum.  Left of the tensor B stand the left isometries
of the ground state, right of it the right ones.  B is kept orthogonal to the left isometry of its site, so that norms
are those of vectors and the ground state is left out.  What the effective Hamiltonian adds from places of B left and
right of the site in question are geometric series, as environments are, with the phase of the momentum.

J. Haegeman et al., PRB 85, 100408 (2012); L. Vanderstraeten, J. Haegeman, F. Verstraete, SciPost Phys. Lect. Notes 7
(2019), section 6.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
import scipy

from qad.core.errors import ArgumentError, ConvergenceError
from qad.core.process.threads import blas_for
from qad.keywords import keywords_told
from qad.mps.chain.chain import site_count
from qad.mps.charges.uniform import counted_from_mean
from qad.mps.kernels.cells import cell_of
from qad.mps.operators.algebra import finite_number
from qad.mps.operators.uniform_mpo import size_of
from qad.mps.uniform.canonical import DIFFERENT, shortest
from qad.mps.uniform.measures import check_term, operator_of, ordinary
from qad.mps.uniform.mixed import Mixed
from qad.mps.uniform.schur import Side
from qad.mps.uniform.state import UniformMPS
from qad.mps.uniform.transfer import check_single, largest_two, leading, matrix_of, nothing_between
from qad.mps.uniform.vumps import Vumps
from qad.showing.progress import bar_for
from qad.symmetric.generic import aligned_numbers, as_map, join, laid_out, numbers, rows_and_bond, with_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray

    from qad.mps.operators.uniform_mpo import UniformMPO
    from qad.mps.operators.uniform_opsum import UniformOpSum
    from qad.symmetric.groups import Charge
    from qad.typing import ArrayLike

PRECISION = 1e-10  # residuals, beside the scale of the Hamiltonian
EQUAL = 1e-5  # differences of two ground states, beside the scale: of finite bonds, half of it errors of kinks
STATIONARY = 1e-4  # gradient of the ground state, beside the scale, above which it is none


@keywords_told
def excitations(
    h: ArrayLike | UniformMPO | UniformOpSum,
    state: UniformMPS,
    momentum: float,
    k: int = 1,
    *,
    other: UniformMPS | None = None,
    charge: int | tuple[int, ...] | None = None,
) -> NDArray[np.float64]:
    """The lowest energies of excitations of a momentum above the ground state, by the quasi-particle ansatz; plain.

    Parameters
    ----------
    h : UniformMPO, UniformOpSum, or array (d, d, d, d)
        The Hamiltonian, as for `ground_state`.
    state : UniformMPS
        Its ground state; the cell is a multiple of the Hamiltonian's.
    momentum : float
        Per site, in radians; that of the ground state is 0.  A state that is the same after fewer sites than its cell
        has is taken with the shorter cell, and every momentum has its own energies.  Where translations change the
        state, as in a Neel state or in singlets on every second bond, its period of n sites leaves momenta modulo
        ``2 pi / n``: p and ``p + 2 pi / n`` are one and the same.  For an antiferromagnet they differ where
        every second spin is turned, by pi about y, and the state found with ``cell=1``: Sx and Sz of neighbours change
        their sign in H then, Sy does not, and momenta count from pi for what changes it.
    k : int
        How many.
    other : UniformMPS, optional
        Another ground state, of the same energy, which stands right of the excitation: then these are kinks.  A
        symmetry of single sites has to relate both.  Their momentum counts from where the overlap of both states per
        cell is positive.
    charge : int or tuple of int, optional
        For a state that conserves: only excitations that add this charge, such as 2 for a spin flipped up (in units of
        2 Sz).  Momenta are those of the state's own cell then.

    Returns
    -------
    array (k,)
        Ascending.  A single particle has few changed sites, so that its energy is soon that of the exact one; what lies
        in a continuum comes out too high.

    Raises
    ------
    ArgumentError
        If `h` is not Hermitian or does not fit, or a state is a sum of several, or not a stationary point; if both
        states are the same, or have different energies; for a `charge` of kinks, or of a state that conserves nothing.
    ConvergenceError
        If the eigenvalue solver does not converge.

    Examples
    --------
    >>> import qad
    >>> H = qad.mps.uniform.ising(2.0)
    >>> found = qad.mps.uniform.ground_state(H, bond=8, cell=1)
    >>> round(float(qad.mps.uniform.excitations(H, found.state, 0.0)[0]), 6)  # exact: 2 (g - 1)
    2.0
    >>> H = qad.mps.uniform.ising(0.5)
    >>> up = qad.mps.uniform.ground_state(H, bond=8, cell=1).state
    >>> down = qad.mps.uniform.UniformMPS([tensor[:, ::-1] for tensor in up])  # all spins turned
    >>> round(float(qad.mps.uniform.excitations(H, up, 0.0, other=down)[0]), 6)  # exact: 2 (1 - g)
    1.0
    """
    if charge is not None and (getattr(state, "conserved", None) is None or other is not None):
        raise ArgumentError("charge= is of excitations of one state that conserves, of ground_state(..., conserve=)")
    H, other = operator_of(h), ordinary(other)
    state = ordinary(state) if charge is None else state
    for psi in (state, other)[: 1 if other is None else 2]:
        check_term(psi, H)
        check_single(psi)
    if other is not None and len(other) != len(state):
        raise ArgumentError(f"cells of {len(state)} and {len(other)} sites do not join: search for both with one cell=")
    momentum, k = float(finite_number(momentum, "momentum", real=True)), site_count(k, 1, "k")
    with blas_for(state.bond), bar_for(label="excitations") as bar:
        if charge is not None:
            quantum = state.conserved.symmetry.charge(charge)
            return Particle(H.repeated(len(state)), state, momentum * len(state), charge=quantum).lowest(k, bar)
        short = [shortest(psi, len(H)) for psi in (state, other) if psi is not None]
        if len({len(psi) for psi in short}) == 1:
            state, other = short[0], None if other is None else short[1]
        return Particle(H.repeated(len(state)), state, momentum * len(state), other).lowest(k, bar)


class Particle:
    """The effective Hamiltonian of the tensors B of a cell, at a momentum per cell.

    Attributes
    ----------
    phase : complex or float
        Of a step by one cell.
    ground : float
        What the effective operator of a site gives for the ground state.
    bases, parts : lists of arrays or SymTensors
        Orthonormal columns beside the left isometry of every site; B is one of them times a matrix like its part, which
        carries the charge that is asked for.
    fixed : tuple of arrays or SymTensors, or None
        The fixed points of the transfer operator between both sides; None where B, or a kink, leaves none.
    sides : list of Side
        How environments with B on their side, left or right, pass the cell.
    sites : list of tuples
        What does not change by site: the effective operator with a centre that it takes, environments with B on the
        left and on the right but for B, and what the other sites' B meet here.
    """

    def __init__(
        self, H: UniformMPO, state: UniformMPS, momentum: float, other: UniformMPS | None = None,
        charge: Charge | None = None,
    ):  # fmt: skip
        self.scale: float = size_of(H) or 1.0
        self.phase: Any = np.exp(1j * momentum) * (1 if other is None else sign_between(state, other))
        if abs(self.phase.imag) < 1e-15:
            self.phase = self.phase.real
        states = [state] if other is None else [state, other]
        self.dtype: np.dtype[Any] = np.result_type(H.dtype, *(x.dtype for x in states), self.phase, np.float64)
        counted = None if state.conserved is None else counted_from_mean(state.conserved, state.total)
        tensors = [w.astype(self.dtype) for w in H]
        psis = [Mixed.of(UniformMPS([t.astype(self.dtype) for t in x], x.conserved)) for x in states]
        self.H: Any = cell_of(tensors, self.dtype, counted)
        energy = self._around(psis[0])[0].energy
        for w in tensors:
            w[0, -1] -= energy * np.eye(w.shape[2])  # the ground state has energy 0 from here on
        self.H = cell_of(tensors, self.dtype, counted)
        found = [self._around(psi) for psi in psis]
        (one, ground), (two, second) = found[0], found[-1]
        self.check_equal(energy, energy + two.energy, "energies per site")
        self.check_equal(ground, second, "energies across a bond")
        self.ground: float = (ground + second) / 2
        kets, bras = two.psi.rights, one.psi.lefts
        self.bases: list[Any] = [columns_beside(x) for x in bras]
        self.parts: list[Any] = [nothing_between(y, 2, x, 2, charge) for y, x in zip(self.bases, kets, strict=True)]
        fixed = one.psi.bonds[-1]
        self.fixed: Any = None if other is not None or any(charge or ()) else (fixed.transpose(1, 0), fixed)
        left = Side(self.H, [kets[0] * np.conj(self.phase), *kets[1:]], bras, True, often=True)
        self.sides: list[Side] = [left, Side(self.H, [*bras[:-1], bras[-1] * self.phase], kets, False, often=True)]
        self.sites: list[tuple[Any, ...]] = [self._site(n, one, two) for n in range(len(kets))]

    def _around(self, psi: Mixed) -> tuple[Vumps, float]:
        """A state and its environments, and what its effective operators give for itself; raises unless stationary."""
        search = Vumps(self.H, psi, self.scale)
        search.slope = PRECISION * self.scale
        effective, centre = search.look()[0][0], psi.vectors()[0]
        if search.slope > STATIONARY * self.scale:
            raise ArgumentError(
                f"the state is no ground state: the energy's gradient has norm {search.slope:.1e}; search for it first"
            )
        return search, np.vdot(centre, effective(centre)).real

    def _site(self, n: int, one: Vumps, two: Vumps) -> tuple[Any, ...]:
        """What does not change at a site between the environments of the ground states."""
        basis, bra, ket, w = self.bases[n], one.psi.lefts[n], two.psi.rights[n], self.H.sites[n]
        effective, centre = self.H.effective(n, 1, one.lefts[n], two.rights[n], join(basis, self.parts[n]))
        left, right = join(one.lefts[n], w, ((1,), (0,))), join(w, two.rights[n], ((1,), (1,)))
        begun = join(join(bra.conj(), left, ((0, 1), (0, 3))), basis, ((1, 3), (0, 1)))  # b' v m
        ended = join(right, ket.conj(), ((1, 3), (1, 2)))  # u s b a'
        meets_after = join(basis.conj(), join(left, bra, ((1, 4), (0, 1))), ((0, 1), (0, 2)))  # m v b
        meets_before = join(right, ket, ((2, 4), (1, 2)))  # u s' b' a
        return effective, centre, begun, ended, meets_before, meets_after

    def check_equal(self, one: float, two: float, what: str) -> None:
        """Raise unless both ground states have this in common: else the energy of a kink would have no zero."""
        if abs(one - two) > EQUAL * self.scale:
            raise ArgumentError(
                f"the two states have different {what}, {one:.8g} and {two:.8g}: kinks join ground states that a "
                "symmetry of single sites relates; search for both to a smaller tol="
            )

    def lowest(self, k: int, bar: Any) -> np.ndarray:
        """The lowest levels; the bar counts products."""

        def product(x: np.ndarray) -> np.ndarray:
            bar.update()
            return self.apply(x)

        size = sum(numbers(part).size for part in self.parts)
        if k > size:
            raise ArgumentError(f"this bond dimension has {size} excitations, not {k}")
        if size <= max(2 * k + 2, 20):
            matrix = matrix_of(product, size, self.dtype)
            return np.linalg.eigvalsh((matrix + matrix.conj().T) / 2)[:k]
        operator = scipy.sparse.linalg.LinearOperator((size, size), product, dtype=self.dtype)
        start = np.random.default_rng(0).standard_normal(size).astype(self.dtype)
        try:
            found = scipy.sparse.linalg.eigsh(operator, k, which="SA", v0=start, tol=1e-8, return_eigenvectors=False)
        except scipy.sparse.linalg.ArpackNoConvergence as error:
            raise ConvergenceError(f"the {k} lowest excitations were not found: ask for more, or for fewer") from error
        return np.sort(found)

    def apply(self, x: np.ndarray) -> np.ndarray:
        """The effective Hamiltonian, less the energy of the ground state, on all B as one vector."""
        pieces = np.split(x.reshape(-1), np.cumsum([numbers(part).size for part in self.parts])[:-1])
        parts = [with_numbers(part, piece) for part, piece in zip(self.parts, pieces, strict=True)]
        changed = [join(basis, part) for basis, part in zip(self.bases, parts, strict=True)]
        begun = [join(site[2], part) for site, part in zip(self.sites, parts, strict=True)]
        ended = [join(b, site[3], ((1, 2), (1, 2))) for site, b in zip(self.sites, changed, strict=True)]
        before = self.with_changed(self.sides[0], begun, np.conj(self.phase))
        after = self.with_changed(self.sides[1], [y.transpose(2, 1, 0) for y in ended], self.phase)
        out = []
        for n, (effective, centre, _, _, meets_before, meets_after) in enumerate(self.sites):
            here = with_numbers(centre, effective(aligned_numbers(centre, changed[n])))
            here = here + join(before[n], meets_before, ((1, 2), (0, 3)))
            kept = join(self.bases[n].conj(), here, ((0, 1), (0, 1))) + join(meets_after, after[n], ((1, 2), (1, 2)))
            out.append(numbers(laid_out(kept, 1)) - self.ground * pieces[n])
        return np.concatenate(out)

    def with_changed(self, side: Side, new: Sequence[Any], phase: complex) -> list[Any]:
        """For every site, environments in which B stands anywhere on this side, from those with B on the last site."""
        order = side.order
        found = [self.series(side, reduce(lambda x, n: side.past(x, n) + new[n], order[1:], new[order[0]]))]
        for n in order[:-1]:
            found.append(side.past(found[-1], n) + new[n])
        found[0] = found[0] * phase
        return found[:: 1 if side.ahead else -1]

    def series(self, side: Side, source: Any) -> Any:
        """``x = source + T(x)``, channel by channel: nothing placed yet, terms begun, terms that have ended.

        The part along the fixed point, which is singular at momentum 0, leads to the ground state and is left out.
        """
        begun, tol = self.H.taken(source, 0 if side.ahead else 1, side.ahead), PRECISION * max(self.scale, 1.0)
        fixed = begun * 0.0 if self.fixed is None else laid_out(self.fixed[side.ahead], 1)
        first, _ = side.alone(begun, fixed, fixed, tol)
        return side.environment(first, fixed, fixed, tol, source)[0]


def columns_beside(isometry: Any) -> Any:
    """Orthonormal columns beside those of an isometry (a, s, b), of every charge."""
    where, projectors = as_map(join(isometry, isometry.conj(), ((2,), (2,))), 2)
    pairs = [np.linalg.eigh(projector) for projector in projectors]
    return rows_and_bond(where, [vectors[:, values < 0.5] for values, vectors in pairs])


def sign_between(one: UniformMPS, two: UniformMPS) -> complex:
    """The phase of the overlap of two states per cell; raises where they are the same."""
    values, _ = leading(two.tensors, one.tensors)
    first = values[np.argmax(abs(values))]
    norms = [largest_two(psi.tensors)[1] for psi in (one, two)]
    if abs(first) > (1 - DIFFERENT) * np.sqrt(norms[0] * norms[1]):
        raise ArgumentError("both states are the same, and no kink joins them: leave out other=")
    return 1.0 if abs(first) < DIFFERENT else complex(first / abs(first))
