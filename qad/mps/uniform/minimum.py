"""The ground state's energy as a function of couplings, with derivatives of every order: the state follows them.

In variables x without gauge, around the state that a search found (`qad.mps.uniform.nearby`), the state of lowest
energy solves ``x = x - dE/dx``, which is 0 for the couplings that the search was given, and is differentiated
implicitly; its linear equations have the gap of excitations at momentum 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, ConvergenceError
from qad.extend import any_traced, value_of
from qad.linalg.implicit.fixed_point import fixed_point
from qad.linalg.support.guarded import guarded
from qad.mps.operators.uniform_mpo import UniformMPO, size_of
from qad.mps.operators.uniform_opsum import UniformOpSum
from qad.mps.uniform.measures import ordinary
from qad.mps.uniform.nearby import Neighbourhood
from qad.mps.uniform.search import ground_state
from qad.mps.uniform.transfer import check_single

if TYPE_CHECKING:
    from typing import Any

    from qad.typing import Array, Real

STATIONARY = 1e-6  # gradient of the state that a search found, beside the size of the terms
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
    plain = UniformMPO([value_of(w) for w in H], H.sites)
    found = ground_state(plain, bond, cell, **search)
    if not found.converged:
        raise ConvergenceError(f"no ground state was found: {found.message}; allow more steps by maxiter=")
    state = ordinary(found.state)
    check_single(state)
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
