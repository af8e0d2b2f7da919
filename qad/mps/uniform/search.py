"""Ground states of infinite chains: variational, by Riemannian optimisation, or by imaginary time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, GradientTypeError, ShapeError
from qad.core.keywords import keywords_told
from qad.core.threads import blas_for
from qad.extend import Tensor
from qad.mps.chain.chain import site_count
from qad.mps.chain.site_tensors import random_isometry
from qad.mps.charges.channels import UniformChannels
from qad.mps.charges.spelling import conserve_for
from qad.mps.evolve.tebd import LEAST_CUTOFF
from qad.mps.operators.uniform_mpo import UniformMPO
from qad.mps.operators.uniform_opsum import UniformOpSum
from qad.mps.uniform import sectors
from qad.mps.uniform.canonical import schmidt_form
from qad.mps.uniform.evolution import InfiniteGates
from qad.mps.uniform.measures import check_term, energy_from, known
from qad.mps.uniform.mixed import Mixed
from qad.mps.uniform.result import UniformGroundState
from qad.mps.uniform.riemannian import grown, riemannian
from qad.mps.uniform.state import UniformMPS
from qad.mps.uniform.transfer import environments
from qad.mps.uniform.variational import FIRST, Run, variational
from qad.optimize.progress import bar_for, note
from qad.optimize.result import BY_USER

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.mps.charges.quantities import Charge, Quantities
    from qad.typing import ArrayLike, DTypeLike, Progress, Seed

METHODS = ("vumps", "riemannian", "itebd")
COARSE = 1e-6  # gain at which a smaller bond is good enough to grow from
STEPS = (0.1, 0.02, 0.005)  # of imaginary time
JUDGED = 0.5  # the time over which a gain is judged
COOLING = 100  # steps of imaginary time before a search


@keywords_told
def ground_state(
    h: ArrayLike | UniformMPO | UniformOpSum,
    bond: int = 8,
    cell: int | None = None,
    method: str = "vumps",
    seed: Seed = 0,
    progress: bool = False,
    *,
    start: UniformMPS | None = None,
    dtype: DTypeLike | None = None,
    tol: float = 1e-10,
    maxiter: int = 2000,
    starts: int = 3,
    conserve: str | Sequence[str] | None = None,
    sector: int | tuple[int, ...] | None = None,
) -> UniformGroundState:
    """The uniform state of lowest energy per site.

    Parameters
    ----------
    h : UniformMPO, UniformOpSum, or array (d, d, d, d)
        The Hamiltonian; an array is a Hermitian term of two neighbours, legs (out, out, in, in), of all bonds, in which
        a field is shared out between the bonds.
    bond, cell : int
        Bond dimension, and number of sites of the cell: a multiple of the Hamiltonian's, by default that, or 2 if it is
        one site (antiferromagnets need 2).
    method : str
        "vumps": variational, centres between infinite environments; bonds grow where H asks for it.  "riemannian":
        L-BFGS on isometric tensors in the environment's metric, with implicit gradients of the dominant eigenvectors.
        "itebd": imaginary time, for a term of two neighbours and cells of two sites.
    seed : int or numpy.random.Generator
    progress : bool or tqdm
        As in `qad.mps.ground_state`.
    start : UniformMPS, optional
        To start from; `cell`, `seed`, `dtype` and `starts` are not used then, nor `bond` but by "vumps", which
        grows smaller bonds.
    dtype : dtype, optional
        Default float for a real `h`, else complex.
    tol : float
        Converged when 10 iterations gain less than this, relative to the energy ("vumps": to the size of the terms),
        and all further iterations too, extrapolated as a geometric series.  "vumps" asks for a gradient below
        ``sqrt(tol) / 200``, in the same units, as well.
    maxiter : int
        Most iterations from one start at one bond dimension.
    starts : int
        From how many random states the search begins, at small bonds, for there are local minima.  The lowest energy is
        gone on with.
    conserve : str or sequence of str, optional
        Quantities that `h` conserves, "Sz", "N", both, or "parity" (of flips along x where `h` conserves that one): the
        search is one among symmetric states of one charge per cell, by "vumps", and its state has symmetric tensors.
        Quicker from bond 64 or so on.  Not converged where domains of basis states, of other charges but the same mean,
        are lower, as below the highest spin of a ferromagnet.
    sector : int or tuple of int, optional
        The charge of a cell, one number for each quantity (2 Sz for spins); by default 0.

    Returns
    -------
    UniformGroundState
        Also after Ctrl-C: the best state so far, whose bond may be smaller than `bond`.

    Raises
    ------
    ArgumentError
        If `h` is not Hermitian or does not fit the cell; for an unknown method; if `h` does not conserve a quantity of
        `conserve`, or no state of a cell has the charge.
    GradientTypeError
        Where a derivative is asked for: `ground_energy` has one.

    Examples
    --------
    >>> import numpy as np, qad
    >>> H = qad.mps.uniform.UniformOpSum().add(-1.0, "Z", 0, "Z", 1).add(-1.5, "X", 0)  # the Ising chain at g = 1.5
    >>> found = qad.mps.uniform.ground_state(H, bond=6, cell=1)
    >>> round(found.energy, 6), found.converged  # exact: -1.671926221536195
    (-1.671926, True)
    """
    bond, maxiter, starts = (site_count(x, 1, n) for x, n in ((bond, "bond"), (maxiter, "maxiter"), (starts, "starts")))
    if method not in METHODS:
        raise ArgumentError(f"unknown method {method!r}: choose one of {', '.join(map(repr, METHODS))}")
    if not tol >= 0:
        raise ArgumentError(f"tol must not be negative, but got {tol!r}")
    if isinstance(h, (UniformMPO, UniformOpSum)):
        conserve = conserve_for(h, conserve, UniformChannels)
    if charged := conserve is not None or getattr(start, "conserved", None) is not None:
        h, cell = sectors.hamiltonian(h, conserve, start, method), cell if start is None else len(start)
    elif sector is not None:
        raise ArgumentError(f"sector={sector!r} is the charge of what conserve= names: give both")
    h, sites, cell = checked(h, cell)
    rng = np.random.default_rng(seed)
    dtype = dtype_for(h, dtype)
    if charged:
        kept = sectors.known(h, cell, conserve, sector, start)
        return with_charges(h, bond, *kept, start, dtype, rng, progress, tol, maxiter, starts)
    return without_charges(h, sites, bond, method, start, dtype, rng, progress, tol, maxiter, starts)


def with_charges(
    H: UniformMPO, bond: int, conserved: Quantities, total: Charge, start: UniformMPS | None, dtype: np.dtype,
    rng: np.random.Generator, progress: bool, tol: float, maxiter: int, starts: int,
) -> UniformGroundState:  # fmt: skip
    """The search among states of a charge per cell."""
    dtype = dtype if start is None else np.result_type(start.dtype, least_dtype(H))
    wide = np.result_type(dtype, H.dtype, np.float64)
    with blas_for(max(bond, start.bond if start else 1)), bar_for(progress, "energy") as bar:
        run = sectors.SectorRun(H, conserved, total, bar, maxiter, wide)
        if start is None:
            begin = sectors.random_starts(conserved, total, bond, starts, rng, wide)
        else:
            begin = [Mixed.of(UniformMPS([t.astype(wide) for t in start], conserved))]
        return run.one_phase(variational(run, begin, bond, tol, rng, dtype))


def without_charges(
    h: np.ndarray | UniformMPO, sites: tuple[int, ...], bond: int, method: str, start: UniformMPS | None,
    dtype: np.dtype, rng: np.random.Generator, progress: bool, tol: float, maxiter: int, starts: int,
) -> UniformGroundState:  # fmt: skip
    """The search among all uniform states of a cell, by the given method."""

    def random(size=1):
        return UniformMPS([random_isometry(rng, size, d, size, dtype) for d in sites])

    check_term(random() if start is None else start, h)
    if start is not None:
        start = UniformMPS([t.astype(np.result_type(t.dtype, least_dtype(h)), copy=False) for t in start])
    with blas_for(max(bond, start.bond if start else 1)), bar_for(progress, "energy") as bar:
        if method == "vumps":
            begin = [start] if start else [random(min(bond, FIRST)) for _ in range(starts)]
            run = Run(h, len(sites), bar, maxiter, np.result_type(begin[0].dtype, h.dtype, np.float64))
            dtype = np.result_type(begin[0].dtype, least_dtype(h))
            return variational(run, [Mixed.of(psi) for psi in begin], bond, tol, rng, dtype)
        if method == "itebd":
            return itebd(h, start or random(), bond, bar, tol, maxiter)
        if start is not None:
            return riemannian(h, start, bar, tol, maxiter)
        return by_gradients(h, random, bond, starts, rng, bar, tol, maxiter)


def least_dtype(h: np.ndarray | UniformMPO) -> type:
    """The least dtype that a state of lowest energy may have, and that eigenvectors take."""
    return np.complex64 if h.dtype.kind == "c" else np.float32


def dtype_for(h: np.ndarray | UniformMPO, dtype: DTypeLike | None) -> np.dtype:
    """The dtype of random states for a Hamiltonian; raises where they cannot hold its ground state."""
    dtype = np.result_type(h.dtype, float) if dtype is None else np.dtype(dtype)
    if dtype.kind not in "fc" or not np.can_cast(least_dtype(h), dtype):
        raise ArgumentError(f"states of dtype {dtype} cannot hold the ground state of a {h.dtype} Hamiltonian")
    return dtype


def checked(
    h: ArrayLike | UniformMPO | UniformOpSum, cell: int | None
) -> tuple[np.ndarray | UniformMPO, tuple[int, ...], int]:
    """The Hamiltonian as an operator or a two-site term, the dimensions of the sites of the cell, and their number."""
    h = known(h)
    if not isinstance(h, UniformMPO) and h.ndim != 4:
        raise ShapeError(f"a two-site term has shape (d, d, d, d) (out, out, in, in), not {h.shape}")
    tensors, sites = (h.tensors, h.phys) if isinstance(h, UniformMPO) else ((h,), h.shape[:1])
    if any(type(x) is Tensor for x in tensors):
        raise GradientTypeError("searches take plain numbers: differentiate qad.mps.uniform.ground_energy(h, bond)")
    cell = max(2, len(sites)) if cell is None else site_count(cell, 1, "cell")
    if cell % len(sites):
        raise ArgumentError(f"a cell of {cell} sites does not repeat the Hamiltonian's {len(sites)}: give a multiple")
    return h, sites * (cell // len(sites)), cell


def by_gradients(
    h: np.ndarray | UniformMPO,
    random: Callable[[], UniformMPS],
    bond: int,
    starts: int,
    rng: np.random.Generator,
    bar: Progress,
    tol: float,
    maxiter: int,
) -> UniformGroundState:
    """The lowest of several Riemannian searches, by growing bonds and by imaginary time, gone on with."""
    found = [grown(h, random(), bond, rng, bar, max(tol, COARSE), maxiter)]
    try:
        while len(found) < starts and found[-1].message != BY_USER:
            begin = random()
            if len(begin) == 2 and len(found) % 2 and not isinstance(h, UniformMPO):
                begin = cooled(h, begin, bond)
            found.append(grown(h, begin, bond, rng, bar, max(tol, COARSE), maxiter))
    except KeyboardInterrupt:
        found[-1] = replace(found[-1], message=BY_USER)
    best = min(found, key=lambda result: result.energy)
    if found[-1].message == BY_USER:
        return replace(best, converged=False, message=BY_USER)
    last = riemannian(h, best.state, bar, tol, maxiter)
    return replace(last, history=np.concatenate([best.history, last.history]))


def cooled(h: np.ndarray, start: UniformMPS, bond: int) -> UniformMPS:
    """What imaginary time makes of a state, coarsely."""
    gates = InfiniteGates(start, h, -1.0, bond, LEAST_CUTOFF)
    for _ in range(COOLING):
        gates.step(STEPS[0] / max(np.linalg.norm(h.reshape(h.shape[0] ** 2, -1), 2), 1e-300))
    return gates.state


def itebd(
    h: np.ndarray | UniformMPO, start: UniformMPS, bond: int, bar: Progress, tol: float, maxiter: int
) -> UniformGroundState:
    """Imaginary time in ever shorter steps; the energy errs by the fourth power of the last."""
    if isinstance(h, UniformMPO):
        raise ArgumentError("itebd takes a two-site term of shape (d, d, d, d): other Hamiltonians go by 'vumps'")
    if len(start) > 2:
        raise ArgumentError(f"itebd takes cells of one or two sites, not {len(start)}")
    gates = InfiniteGates(start, h, -1.0, bond, 1e-16)

    def energy(psi: UniformMPS) -> float:
        return float(energy_from(psi, h, *environments(psi)))

    history, state = [energy(start)], start
    converged, message = False, "stopped at maxiter rounds"
    try:
        for dt in STEPS:
            converged = False
            for _ in range(maxiter):
                for _ in range(round(JUDGED / dt)):
                    gates.step(dt)
                history.append(energy(gates.state))
                state = gates.state
                note(bar, history)
                if converged := history[-2] - history[-1] <= tol * abs(history[-1]):
                    break
    except KeyboardInterrupt:
        converged, message = False, BY_USER
    state, _ = schmidt_form(state)
    history.append(energy(state))
    message = f"converged: steps of {STEPS[-1]} gain nothing any more" if converged else message
    return UniformGroundState(state, history[-1], np.array(history), converged, message)
