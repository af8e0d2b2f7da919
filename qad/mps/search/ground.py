"""Ground states: one function, several methods."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, GradientTypeError, ShapeError
from qad.core.process.threads import blas_for
from qad.keywords import keywords_told
from qad.mps.chain.canonical import is_recorded, schmidt_form
from qad.mps.chain.chain import site_count
from qad.mps.chain.checks import as_operator, operator_of
from qad.mps.chain.state import MPS
from qad.mps.charges.channels import conserve_for
from qad.mps.charges.exchange import Exchanging
from qad.mps.energy.hamiltonian import of_order_one
from qad.mps.energy.node import prepared
from qad.mps.measure.observables import energy, variance
from qad.mps.operators.mpo import MPO
from qad.mps.search.checkpoint import Checkpoint
from qad.mps.search.converged import until_converged
from qad.mps.search.methods import check_excludes, chosen
from qad.mps.search.monitor import Watch
from qad.mps.search.penalty import Excluded
from qad.mps.search.pieces import way_out
from qad.mps.search.result import GroundState
from qad.mps.search.start import begin
from qad.mps.search.sweeps import TwoSites
from qad.showing.progress import bar_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from qad.mps.operators.opsum import OpSum
    from qad.mps.search.method import Method
    from qad.mps.search.sweeps import Sweeps
    from qad.typing import DTypeLike, FilePath, Progress, Seed


@keywords_told
def ground_state(
    H: MPO | OpSum,
    bond: int = 16,
    method: str | Method = "auto",
    seed: Seed = 0,
    progress: Progress = None,
    *,
    start: MPS | None = None,
    dtype: DTypeLike | None = None,
    conserve: str | Sequence[str] | None = None,
    sector: int | tuple[int, ...] | None = None,
    tol: float = 1e-10,
    maxiter: int = 2000,
    callback: Callable[[MPS, float], object] | None = None,
    excluded: Sequence[MPS] = (),
    weight: float | None = None,
    checkpoint: FilePath | None = None,
) -> GroundState:
    """The state of lowest energy among open matrix product states of a bond dimension.

    Parameters
    ----------
    H : MPO or OpSum
        Hermitian.
    bond : int
        Bond dimension.
    method : str or qad.mps.search.method.Method
        "auto" (default): "dmrg2", the quickest for nearly every chain; `GroundState.method` says so.
        "lbfgs": L-BFGS on all site tensors at once, in the environment's metric, in rounds of 20 iterations.
        "riemannian": another name of it.
        "dmrg", "dmrg2": sweeps of one site at a time, bonds grown by subspace expansion, or of two sites.
        "tebd", "tdvp": imaginary time evolution, by gates of neighbours or by the variational principle.
        Or one of your own, as a record.
    seed : int or numpy.random.Generator
        Of the random state to start from; with `conserve` its charges are spread evenly over the sites.
    progress : bool or tqdm, optional
        None for a bar after two seconds, where someone looks: energy, gain and time, in a terminal or a notebook.  True
        for one at once that stays, False for none; or a bar that is moved.
    start : MPS, optional
        An open chain to start from instead; `seed` and `dtype` are not used then.  Its bonds are kept by "lbfgs" and
        "riemannian"; the others grow them up to `bond`.
    dtype : dtype, optional
        Of the random state; default float for a real `H`, else complex, as it must be then.
    conserve : str or sequence of str, optional
        Quantities that `H` conserves, such as "Sz" or ("N", "Sz"), or "parity" (of spins that of their states along z,
        or along x where `H` conserves that, as the Ising chain does): the lowest state of one sector, of which only
        the blocks are kept.  All methods open sectors that bonds lack.
    sector : int or tuple of int, optional
        The total charges in the sites' whole numbers, 2 Sz for spins; by default 0, or those of `start`.  Numbers
        of particles, which are 0 in the vacuum alone, have no default.
    tol : float
        Relative to the largest ``|E|`` or, where levels are near 0, to the size of the terms.  Converged, for every
        method, when a step gains less than `tol` ("lbfgs": 20 iterations); when all further steps
        together gain less, extrapolated as a geometric series; when solving the local problems gains less (for
        "lbfgs": the gradient's squared norm is less); and when a probe, pairs from slightly
        noisy centres, cut to the same bond, and then single sites, ends lower by at most ``max(10 tol, 1e-9)``,
        else the search goes on from there; and when squared overlaps with `excluded` are at most 1e-4.  Of pieces that
        no term joins, a second probe searches the best share of the charge.  With `conserve`, no exchange of the state
        of least weight on a full bond for one that another sector lacks ends lower by that much, either.
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
        A file that is rewritten after every step, atomically.  A search goes on from it, to a larger `bond` too; one of
        another `H`, `method`, `sector`, `start` or `excluded`, of a larger bond, or damaged, is refused and left alone.

    Returns
    -------
    GroundState
        Also after Ctrl-C: the latest state.  `converged` speaks of states of this bond dimension, and of the probes: a
        local minimum that they do not leave is not noticed.  Where a bond is far too small, and `variance` large, ends
        may differ by the seed: by 2e-6 of the energy for one of eight seeds on a 4x3 cylinder at bond 16, whose energy
        is 3e-3 above that of large bonds.

    Raises
    ------
    ArgumentError
        For an unknown method, a parameter out of range, an operator that is not Hermitian, a real `dtype` where `H` or
        a state among `excluded` is complex, or a checkpoint that cannot be read.
    ShapeError
        If `start` does not fit `H`, or is periodic.
    GradientTypeError
        Where a derivative is asked for.  That of the energy is that of ``energy(found.state, H)``, with the state found
        outside of the function that is differentiated (Hellmann and Feynman).

    Examples
    --------
    >>> import qad
    >>> result = qad.mps.ground_state(qad.mps.heisenberg(8), bond=16)
    >>> round(result.energy, 9), result.method
    (-3.374932599, 'dmrg2')
    """
    maxiter, bond = site_count(maxiter, 1, "maxiter"), site_count(bond, 1, "bond")
    if not tol >= 0:
        raise ArgumentError(f"tol must not be negative, but got {tol!r}")
    conserve = conserve_for(H, conserve)
    H = operator_of(H, conserve) if conserve is not None else as_operator(H, start)
    check_searched(H)
    excluded = [excluded] if isinstance(excluded, MPS) else list(excluded)
    method = chosen(method)
    check_dtype(dtype, H, excluded)
    first = begin(H, bond, method.grows, conserve, sector, start, dtype, seed, excluded)
    file = None
    if checkpoint is not None:
        file = Checkpoint(checkpoint, H, method, bond, first, start, dtype, excluded, weight)
    if any(state.dtype.kind == "c" for state in excluded) and first.dtype.kind == "f":
        first = first * (1 + 0j)  # the complement of complex states is complex
    with blas_for(max(bond, first.bond)), bar_for(progress, "energy") as bar:
        return searched(H, bond, method, Watch(first, callback, file, bar, maxiter), tol, excluded, weight)


def check_searched(H: MPO) -> None:
    """Raise for an operator that no method takes."""
    if is_recorded(H.tensors):
        raise GradientTypeError("searches take plain numbers: derivatives are those of qad.mps.energy(found.state, H)")
    if H.periodic:
        raise ShapeError(
            f"the operator is a ring, with an outer bond of {H.bonds[0]}: searches take open ones; qad.mps.OpSum, or a "
            "model with periodic=True, closes the ring inside of an open operator"
        )


def check_dtype(dtype: DTypeLike | None, H: MPO, excluded: Sequence[MPS]) -> None:
    """Raise for a dtype, if one is asked for, of which the ground state cannot be."""
    if dtype is None:
        return
    above = [("a state above complex ones", state.dtype) for state in excluded]
    for what, of in [(f"the ground state of a {H.dtype} Hamiltonian", H.dtype), *above]:
        least = np.complex64 if of.kind == "c" else np.float32
        if np.dtype(dtype).kind not in "fc" or not np.can_cast(least, dtype):
            raise ArgumentError(f"states of dtype {np.dtype(dtype)} cannot hold {what}")


def searched(
    H: MPO, bond: int, method: Method, watch: Watch, tol: float, excluded: Sequence[MPS], weight: float | None
) -> GroundState:
    """What a search from the state of its watch finds; see `ground_state`."""
    prepared(H)
    tensors, unit = of_order_one(H.tensors)  # by a power of 2, so that nothing is rounded
    scaled = H if unit == 1 else MPO(tensors)
    others = Excluded(excluded, weight, scaled, watch.state, unit)
    watch.unit = unit
    watch.resume()
    search(method, scaled, watch, bond, tol, others)
    state = watch.state._made_of(schmidt_form(watch.state.tensors)[0])._on(H.sites)
    return GroundState(
        state, float(energy(state, scaled)) * unit, float(variance(state, scaled)) * unit * unit,
        np.array(watch.history), watch.gradient_norm * unit, watch.converged, watch.message, watch.nfev, method.name,
    )  # fmt: skip


def search(method: Method, H: MPO, watch: Watch, bond: int, tol: float, excluded: Excluded) -> None:
    """Run a method until it has converged, or the user or the number of steps ends it."""

    def sweeps(kind: type[Sweeps], H: MPO, state: Any) -> Sweeps:
        return kind(H, state, bond if method.grows else watch.state.bond, excluded)

    check_excludes(method, excluded)
    run, pairs = partial(method.run, H, watch, bond, tol, excluded), partial(sweeps, TwoSites)
    exchanging = None if watch.state.conserved is None else partial(sweeps, Exchanging, H)
    until_converged(run, watch, tol, excluded, partial(pairs, H), way_out(H, watch.state, pairs), exchanging)
