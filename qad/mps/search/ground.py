"""Ground states: one function, several methods."""

import numpy as np
from tqdm import tqdm

from qad.core.errors import ArgumentError, ShapeError
from qad.mps.canonical import schmidt_form
from qad.mps.chain import site_count
from qad.mps.observables import check_kind, check_operator, energy, overlap, variance
from qad.mps.operator import MPO
from qad.mps.search.checkpoint import Checkpoint
from qad.mps.search.dmrg import one_site, two_sites
from qad.mps.search.imaginary import tdvp, tebd
from qad.mps.search.lbfgs import lbfgs
from qad.mps.search.result import GroundState
from qad.mps.search.riemannian import riemannian
from qad.mps.search.watch import Finished, Watch
from qad.mps.state import MPS

METHODS = {
    "lbfgs": lbfgs,
    "riemannian": riemannian,
    "dmrg": one_site,
    "dmrg2": two_sites,
    "tebd": tebd,
    "tdvp": tdvp,
}
SMALL_START = ("dmrg", "dmrg2", "tebd", "tdvp")  # these grow their bonds, and start from small ones
SMALL = 8


def ground_state(
    H,
    bond=16,
    method="lbfgs",
    seed=0,
    progress=False,
    *,
    start=None,
    dtype=None,
    tol=1e-10,
    maxiter=2000,
    callback=None,
    excluded=(),
    weight=None,
    checkpoint=None,
):
    """The state of lowest energy among open matrix product states of a bond dimension.

    Parameters
    ----------
    H : MPO
        Hermitian.
    bond : int
        Bond dimension.
    method : str
        "lbfgs": L-BFGS on all site tensors at once, in rounds of 20 iterations.
        "riemannian": L-BFGS on the manifold of isometric chains, in the environment's metric.
        "dmrg", "dmrg2": sweeps of one site at a time, bonds grown by subspace expansion, or of two sites.
        "tebd", "tdvp": imaginary time evolution, by gates of neighbours or by the variational principle.
    seed : int or numpy.random.Generator
        Of the random state to start from.
    progress : bool
        Show a progress bar with the energy and the norm of its gradient.
    start : MPS, optional
        An open chain to start from instead; `seed` and `dtype` are not used then.  Its bonds are kept by "lbfgs" and
        "riemannian"; the others grow them up to `bond`.
    dtype : dtype, optional
        Of the random state; default float for a real `H`, else complex.
    tol : float
        Converged when a step ("lbfgs": 20 iterations, "riemannian": 10) lowers the energy by less than `tol` times
        the largest ``|E|``.
    maxiter : int
        Most steps: iterations, or sweeps to the right end and back.
    callback : callable, optional
        ``callback(state, energy)`` after every step; raising StopIteration in it ends the search.
    excluded : sequence of MPS
        Normalised states to which the result shall be orthogonal: for excited states.
    weight : float, optional
        What a squared overlap with an excluded state costs, in units of `H`; more than the gap.  Default: the
        magnitude of the excluded states' energies per site times 10, and at least 10.
    checkpoint : str or path, optional
        A file that is rewritten after every step, atomically.  If it exists, the search goes on from it; one of another
        search, or a damaged one, is refused and left alone.

    Returns
    -------
    GroundState
        Also after Ctrl-C: the best state so far.

    Raises
    ------
    ArgumentError
        For an unknown method, a parameter out of range, or a checkpoint that cannot be read.
    ShapeError
        If `start` does not fit `H`, or is periodic.

    Examples
    --------
    >>> import qad
    >>> result = qad.mps.ground_state(qad.mps.heisenberg(8), bond=16, method="dmrg2")
    >>> round(result.energy, 9)
    -3.374932599
    """
    if method not in METHODS:
        raise ArgumentError(f"unknown method {method!r}: choose one of {', '.join(map(repr, METHODS))}")
    maxiter = site_count(maxiter, 1, "maxiter")
    if not tol >= 0:
        raise ArgumentError(f"tol must not be negative, but got {tol!r}")
    bond = site_count(bond, 1, "bond")
    if start is None:
        start = start_state(H, min(bond, SMALL) if method in SMALL_START else bond, seed, dtype)
    check_operator(start, H)
    file = None if checkpoint is None else Checkpoint(checkpoint, H, method)
    with tqdm(total=maxiter, desc="energy", disable=not progress) as bar:
        watch = Watch(start, callback, file, bar, maxiter)
        resume(watch, bar)
        run(METHODS[method], H, watch, bond, tol, Excluded(excluded, weight, H))
    state, _ = schmidt_form(watch.state)
    return GroundState(
        state,
        float(energy(state, H)),
        float(variance(state, H)),
        np.array(watch.history),
        watch.gradient_norm,
        watch.converged,
        watch.message,
        watch.nfev,
    )


def resume(watch, bar):
    """Go on from the checkpoint, if there is one."""
    found = watch.checkpoint and watch.checkpoint.read()
    if found:
        watch.state, watch.history, watch.extra = found
        bar.update(len(watch.history) - 1)


def run(method, H, watch, bond, tol, excluded):
    """Let a method run until it, the user or the number of steps ends it."""
    try:
        if watch.history and watch.left <= 0:
            raise Finished("stopped at maxiter iterations")
        method(H, watch, bond, tol, excluded)
    except Finished as end:
        watch.message = str(end)
    except KeyboardInterrupt:
        if not watch.history:
            raise
        watch.message = "stopped by the user (Ctrl-C)"


def start_state(H, bond, seed, dtype):
    """A random open state on which `H` acts."""
    check_kind(H, MPO)
    phys = {size for w in H for size in w.shape[2:]}
    if len(phys) > 1:
        raise ShapeError(f"the sites of H have physical dimensions {sorted(phys)}: give a start state that fits them")
    return MPS.random(len(H), bond, phys.pop(), (H.dtype if dtype is None else dtype), seed)


class Excluded:
    """States to stay orthogonal to, and what an overlap with them costs."""

    def __init__(self, states, weight, H):
        states = [states] if isinstance(states, MPS) else list(states)
        for state in states:
            check_operator(state, H)
        self.states = [schmidt_form(state)[0] for state in states]
        if weight is None:
            weight = 10 * max([1.0, *(abs(float(energy(state, H))) / len(H) for state in self.states)])
        if not weight > 0:
            raise ArgumentError(f"weight must be positive, but got {weight!r}")
        self.weight = weight

    def cost(self, psi):
        """The penalty of a state, by its normalised overlaps; differentiable."""
        square = overlap(psi, psi).real
        return sum(self.weight * np.abs(overlap(state, psi)) ** 2 / square for state in self.states)
