"""Ground states by minimisation of the energy."""

from dataclasses import dataclass, field

import numpy as np
from tqdm import tqdm

from qad.core.errors import ArgumentError, ShapeError
from qad.mps.canonical import schmidt_form
from qad.mps.chain import site_count
from qad.mps.observables import check_kind, check_operator, energy, variance
from qad.mps.operator import MPO
from qad.mps.state import MPS
from qad.optimize import minimize

ROUND = 20  # iterations between two choices of gauge; as many steps as L-BFGS remembers
FIRST_FLOOR, FLOORS = 1e-2, (1e-5, 1e-1)  # Schmidt coefficients below the floor are not divided out any further


@dataclass(frozen=True)
class GroundState:
    """What `ground_state` found.

    Attributes
    ----------
    state : MPS
        Normalised, in right-canonical gauge.
    energy : float
        ``<H>`` in it.
    variance : float
        ``<H^2> - <H>^2`` in it: its distance from an eigenstate.
    history : ndarray
        The energy at the start and after every iteration.
    gradient_norm : float
        Norm of the gradient in the variables of the last round.
    converged : bool
        Whether the last round gained less than the tolerance.
    message : str
        Why the search ended.
    nfev : int
        Number of evaluations of the energy and its gradient.
    """

    state: MPS
    energy: float = field(metadata={"static": True})
    variance: float = field(metadata={"static": True})
    history: np.ndarray = field(metadata={"static": True})
    gradient_norm: float = field(metadata={"static": True})
    converged: bool = field(metadata={"static": True})
    message: str = field(metadata={"static": True})
    nfev: int = field(metadata={"static": True})

    def __repr__(self):
        return (
            f"GroundState(energy={self.energy!r}, variance={self.variance:.3g}, converged={self.converged}, "
            f"message={self.message!r}, nfev={self.nfev}, state={self.state!r})"
        )


def ground_state(
    H,
    bond=16,
    method="lbfgs",
    seed=0,
    progress=False,
    *,
    start=None,
    dtype=complex,
    tol=1e-10,
    maxiter=2000,
    callback=None,
):
    """The state of lowest energy among open matrix product states of a bond dimension.

    Parameters
    ----------
    H : MPO
        Hermitian.
    bond : int
        Bond dimension.
    method : str
        "lbfgs": L-BFGS on all site tensors at once.
    seed : int or numpy.random.Generator
        Of the random state to start from.
    progress : bool
        Show a progress bar with the energy and the norm of its gradient.
    start : MPS, optional
        An open chain to start from instead, whose bonds are kept; `bond`, `seed` and `dtype` are not used then.
    dtype : dtype
        Of the random state.
    tol : float
        Converged when 20 iterations lower the energy by less than `tol` times the largest ``|E|`` so far.
    maxiter : int
        Most iterations.
    callback : callable, optional
        ``callback(state, energy)`` after every iteration; raising StopIteration in it ends the search.

    Returns
    -------
    GroundState
        Also after Ctrl-C: the best state so far.

    Raises
    ------
    ArgumentError
        For an unknown method or a parameter out of range.
    ShapeError
        If `start` does not fit `H`, or is periodic.

    Notes
    -----
    The raw tensors are badly conditioned variables.  In right-canonical gauge a change ``dA`` of one tensor moves the
    state by ``sum_a w[a]**2 |dA[a]|**2``, ``w`` the Schmidt coefficients of its left bond, which span many orders of
    magnitude.  So L-BFGS runs on ``M[a] = A[a] sqrt(w[a]**2 + floor**2)``, in which that is nearly the
    Euclidean norm, and every 20 iterations gauge and coefficients are chosen anew.  The floor follows the error that
    is left, ``w**2`` below which is not worth resolving yet: 0.3 times the root of the last round's relative
    gain.  It is the preconditioner of M. Hauru, M. Van Damme and J. Haegeman, SciPost Phys. 10, 040 (2021), held
    fixed for a while.

    Examples
    --------
    >>> import qad
    >>> result = qad.mps.ground_state(qad.mps.heisenberg(8), bond=16)
    >>> round(result.energy, 9)
    -3.374932599
    """
    if method != "lbfgs":
        raise ArgumentError(f"unknown method {method!r}: there is 'lbfgs'")
    maxiter = site_count(maxiter, 1, "maxiter")
    if not tol >= 0:
        raise ArgumentError(f"tol must not be negative, but got {tol!r}")
    search = Search(H, start_state(H, bond, seed, dtype) if start is None else start, callback)
    with tqdm(total=maxiter, desc="energy", disable=not progress) as bar:
        search.run(tol, maxiter, bar)
    return search.result()


def start_state(H, bond, seed, dtype):
    """A random open state on which `H` acts."""
    check_kind(H, MPO)
    phys = {size for w in H for size in w.shape[2:]}
    if len(phys) > 1:
        raise ShapeError(f"the sites of H have physical dimensions {sorted(phys)}: give a start state that fits them")
    return MPS.random(len(H), bond, phys.pop(), dtype, seed)


class Search:
    """Rounds of L-BFGS, each in a gauge of its own."""

    def __init__(self, H, start, callback):
        check_operator(start, H)
        self.H, self.callback = H, callback
        self.state, self.history = start, []
        self.gradient_norm, self.nfev, self.floor = np.inf, 0, FIRST_FLOOR
        self.converged, self.message = False, ""

    def run(self, tol, maxiter, bar):
        """Minimise until converged, interrupted or out of iterations."""
        try:
            while len(self.history) <= maxiter and self.round(min(ROUND, maxiter + 1 - len(self.history)), tol, bar):
                pass
        except KeyboardInterrupt:  # between two rounds
            if not self.history:
                raise
            self.converged, self.message = False, "stopped by the user (Ctrl-C)"

    def round(self, iterations, tol, bar):
        """One round; returns whether to go on."""
        state, weights = schmidt_form(self.state)
        scales = [(1 / np.hypot(w, self.floor)).astype(w.dtype)[:, None, None] for w in weights]

        def chain(variables):
            return MPS([m * scale for m, scale in zip(variables, scales, strict=True)])

        found = minimize(
            lambda variables: energy(chain(variables), self.H),
            [a / scale for a, scale in zip(state, scales, strict=True)],
            callback=self.callback and (lambda variables, value: self.callback(chain(variables), value)),
            progress=bar,
            gtol=0.0,
            ftol=0.0,
            maxiter=iterations,
            memory=ROUND,
        )
        self.state = chain(found.params)
        self.history += list(found.history[1 if self.history else 0 :])
        self.gradient_norm = found.gradient_norm
        self.nfev += found.nfev
        return self.judge(found, tol)

    def judge(self, found, tol):
        """Note why a round ended; returns whether to go on."""
        gain, scale = found.history[0] - found.fun, np.abs(self.history).max()
        self.floor = np.clip(0.3 * np.sqrt(gain / scale), *FLOORS) if gain > 0 else FLOORS[0]
        self.converged = not found.interrupted and gain <= tol * scale
        if self.converged:
            self.message = f"converged: the last {found.nit} iterations gained {gain:.1e}"
        else:
            self.message = found.message if found.interrupted else "stopped at maxiter iterations"
        return not (self.converged or found.interrupted)

    def result(self):
        """All that was found."""
        state, _ = schmidt_form(self.state)
        return GroundState(
            state,
            float(energy(state, self.H)),
            float(variance(state, self.H)),
            np.array(self.history),
            self.gradient_norm,
            self.converged,
            self.message,
            self.nfev,
        )
