"""Excitations of infinite chains, and kinks between two of their ground states, by the quasi-particle ansatz."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.core.errors import ArgumentError
from qad.core.keywords import keywords_told
from qad.core.process.threads import blas_for
from qad.mps.chain.chain import site_count
from qad.mps.operators.algebra import finite_number
from qad.mps.operators.uniform_mpo import UniformMPO
from qad.mps.operators.uniform_opsum import UniformOpSum
from qad.mps.uniform.canonical import shortest
from qad.mps.uniform.measures import check_single, check_term, operator_of, ordinary
from qad.mps.uniform.particle import Particle

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from qad.mps.uniform.state import UniformMPS
    from qad.typing import ArrayLike


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
    with blas_for(state.bond):
        if charge is not None:
            quantum = state.conserved.symmetry.charge(charge)
            return Particle(H.repeated(len(state)), state, momentum * len(state), charge=quantum).lowest(k)
        short = [shortest(psi, len(H)) for psi in (state, other) if psi is not None]
        if len({len(psi) for psi in short}) == 1:
            state, other = short[0], None if other is None else short[1]
        return Particle(H.repeated(len(state)), state, momentum * len(state), other).lowest(k)
