"""The ground state's energy as a function of couplings, with derivatives of every order: the state follows them.

Around the state that a search found, all states of its bonds near it are ``A + x N / w``, N the rows beside the
isometry A of every site and w the Schmidt values left of it: so x has no gauge, and the metric of states is 1.  The
state of lowest energy solves ``x = x - dE/dx``, which is 0 for the couplings that the search was given, and is
differentiated implicitly; its linear equations have the gap of excitations at momentum 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, ConvergenceError
from qad.extend import any_traced, value_and_grad, value_of
from qad.linalg.implicit.fixed_point import fixed_point
from qad.linalg.support.guarded import guarded
from qad.mps.operators.uniform_mpo import UniformMPO, size_of
from qad.mps.operators.uniform_opsum import UniformOpSum
from qad.mps.uniform.canonical import uniform_schmidt_form
from qad.mps.uniform.measures import energy_from, ordinary
from qad.mps.uniform.search import ground_state
from qad.mps.uniform.state import UniformMPS
from qad.mps.uniform.transfer import environments

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.typing import Array, Real

STATIONARY = 1e-6  # gradient of the state that a search found, beside the size of the terms
LEAST_WEIGHT = 1e-6  # of Schmidt coefficients that are divided by: rounding is, by their squares
EXACT = 1e-2  # least one of these in a state whose spectra end, rather than decay below what is left out
PRECISION = 1e-8  # of the linear equations of derivatives, relative


def ground_energy(h: UniformMPO | UniformOpSum, bond: int = 8, cell: int | None = None, **search: Any) -> Real:
    """The energy per site of the lowest uniform state of a bond dimension, differentiable by the couplings.

    Parameters
    ----------
    h : UniformMPO or UniformOpSum
        The Hamiltonian, whose coefficients may be recorded.
    bond, cell, **search
        As in `ground_state`, by "vumps".

    Returns
    -------
    real scalar
        With derivatives of every order.  The first one is the expectation value of what the coupling multiplies (H.
        Hellmann 1937, R. P. Feynman 1939); further ones follow the state by implicit differentiation, as
        ``x = x - dE/dx`` for the state x.  Directions of weights below 1e-6 are left out.  Where ground states of
        several slopes meet (a transition of first order), the slope is that of the state found.

    Raises
    ------
    ConvergenceError
        If the search does not converge to a small gradient; in a derivative, if another state is as low nearby.
    ArgumentError
        As `ground_state`; if the state is a sum of several; in a frozen function; in a second derivative, if the ground
        state is exactly one of a smaller bond (products, singlets, AKLT): couplings open the others at a branch point.
    BatchError
        Under `qad.vmap`: take the Hamiltonians in a loop.

    Examples
    --------
    >>> import qad
    >>> def energy(g):
    ...     return qad.mps.uniform.ground_energy(qad.mps.uniform.ising(g), bond=6, cell=1)
    >>> round(float(qad.grad(energy)(1.5)), 6)  # - <X>
    -0.877328
    >>> round(float(qad.grad(qad.grad(energy))(1.5)), 5)  # exact: -0.18316
    -0.18316
    """
    H = h.mpo() if isinstance(h, UniformOpSum) else h
    if not isinstance(H, UniformMPO):
        raise ArgumentError("ground_energy takes a UniformOpSum or a UniformMPO: write the terms as one")
    if any_traced(*H):
        raise ArgumentError("ground_energy searches, for as long as numbers ask for: call it outside of qad.freeze")
    plain = UniformMPO([value_of(w) for w in H])
    plain.sites = H.sites
    found = ground_state(plain, bond, cell, **search)
    if not found.converged:
        raise ConvergenceError(f"no ground state was found: {found.message}; allow more steps by maxiter=")
    state = ordinary(found.state)
    around = Neighbourhood(state)
    if around.bond < bond and around.least > EXACT:
        return guarded(around.energy(around.nowhere(), H), check=refuse_second)
    x = fixed_point(
        lambda x: around.downhill(x, H), around.nowhere(), method="given", tol=STATIONARY, adjoint_tol=PRECISION,
        norm=lambda change, x: np.sqrt(sum(np.linalg.norm(y) ** 2 for y in change)) / (size_of(plain) or 1.0),
    )  # fmt: skip
    return around.energy(x, H)


def refuse_second(g: Array, order: int) -> None:
    """Raise for derivatives of an exact state other than first ones: other directions open with couplings then."""
    if order > 1:
        raise ArgumentError(
            "the ground state needs fewer directions than its bonds may have, and second derivatives open the others "
            "at a branch point: take differences of first derivatives, or couplings a percent away"
        )


class Neighbourhood:
    """All states near one of the same bonds, without gauge.

    Parameters
    ----------
    state : UniformMPS
        Not a sum of several.

    Attributes
    ----------
    bond : int
        The largest bond in directions that have weight; others are left as they are.
    least : float
        The least of these weights, beside the largest of its bond.
    """

    def __init__(self, state: UniformMPS):
        form, weights = uniform_schmidt_form(state)
        kept = [w > LEAST_WEIGHT * w.max() for w in weights]
        self.bond: int = max(map(np.count_nonzero, kept))
        self.least: float = min((w[rows] / w.max()).min() for w, rows in zip(weights, kept, strict=True))
        self.tensors: list[np.ndarray] = list(form)
        self.factors: list[np.ndarray] = [np.diag(1 / w)[:, rows] for w, rows in zip(weights, kept, strict=True)]
        self.beside: list[np.ndarray] = [np.linalg.svd(t.reshape(len(t), -1))[2][len(t) :] for t in form]

    def nowhere(self) -> list[np.ndarray]:
        """The variables of the state itself."""
        return [np.zeros((w.shape[1], len(n)), n.dtype) for w, n in zip(self.factors, self.beside, strict=True)]

    def energy(self, x: Sequence[Array], H: UniformMPO) -> Real:
        """The energy per site of a state."""
        parts = zip(self.tensors, self.factors, self.beside, x, strict=True)
        psi = UniformMPS([t + (w @ y @ n).reshape(t.shape) for t, w, n, y in parts])
        lefts, rights = environments(psi)
        return energy_from(psi, H, lefts[0], rights[-1])

    def downhill(self, x: Sequence[Array], H: UniformMPO) -> list[Array]:
        """One step along the gradient of the energy of a cell."""
        _, slopes = value_and_grad(lambda x: self.energy(x, H))(list(x))
        return [y - len(self.tensors) * g.conj() for y, g in zip(x, slopes, strict=True)]
