"""Ground states of infinite chains: the same Riemannian optimiser as for finite ones, or imaginary time."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.core.threads import blas_for
from qad.extend import value_of
from qad.mps.chain import bare, site_count
from qad.mps.environments import past_left
from qad.mps.evolve.tebd import LEAST_CUTOFF
from qad.mps.search.isometric import IsometricChain, Point, complement
from qad.mps.search.monitor import is_settled
from qad.mps.sites import random_gaussian
from qad.mps.uniform.canonical import uniform_schmidt_form
from qad.mps.uniform.evolution import InfiniteGates
from qad.mps.uniform.measures import check_term, density_from, energy_density
from qad.mps.uniform.state import UniformMPS
from qad.mps.uniform.transfer import isometric_environments
from qad.optimize import minimize_on
from qad.optimize.progress import bar_for, note
from qad.optimize.result import BY_USER, result_card

if TYPE_CHECKING:
    from qad.typing import ArrayLike, DTypeLike, Progress, Seed

WINDOW = 10  # iterations over which the gain is judged
COARSE = 1e-6  # gain at which a smaller bond is good enough to grow from
NOISE = 1e-2
STEPS = (0.1, 0.02, 0.005)  # of imaginary time
JUDGED = 0.5  # the time over which a gain is judged
COOLING = 100  # steps of imaginary time before a search


@dataclass(frozen=True)
class UniformGroundState:
    """What `ground_state` found on an infinite chain.

    Attributes
    ----------
    state : UniformMPS
        Right-canonical.
    energy : float
        Per site.
    history : ndarray
        The energy at the start and after every iteration.
    converged : bool
    message : str
    """

    state: UniformMPS
    energy: float = field(metadata={"static": True})
    history: np.ndarray = field(metadata={"static": True})
    converged: bool = field(metadata={"static": True})
    message: str = field(metadata={"static": True})

    def _repr_html_(self) -> str:
        return result_card(self)


def ground_state(
    h: ArrayLike,
    bond: int = 8,
    cell: int = 2,
    method: str = "riemannian",
    seed: Seed = 0,
    progress: bool = False,
    *,
    start: UniformMPS | None = None,
    dtype: DTypeLike | None = None,
    tol: float = 1e-10,
    maxiter: int = 2000,
    starts: int = 3,
) -> UniformGroundState:
    """The uniform state of lowest energy per site.

    Parameters
    ----------
    h : array (d, d, d, d)
        Hermitian term of two neighbours, legs (out, out, in, in); a field is shared out between the bonds.
    bond, cell : int
        Bond dimension, and number of sites of the cell (antiferromagnets need 2).
    method : str
        "riemannian": L-BFGS on isometric tensors in the environment's metric, with implicit gradients of the dominant
        eigenvectors.  "itebd": imaginary time, for cells of two sites.
    seed : int or numpy.random.Generator
    progress : bool or tqdm
        As in `qad.mps.ground_state`.
    start : UniformMPS, optional
        To start from; `bond`, `cell`, `seed`, `dtype` and `starts` are not used then.
    dtype : dtype, optional
        Default float for a real `h`, else complex.
    tol : float
        Converged when 10 iterations gain less than this, relative to the energy, and all further ones too if gains
        form a geometric series.
    maxiter : int
        Most iterations from one start at one bond dimension.
    starts : int
        From how many random states "riemannian" begins, for there are local minima: by growing bonds and, in cells of
        two sites, by imaginary time.  The lowest energy is gone on with.

    Returns
    -------
    UniformGroundState
        Also after Ctrl-C: the best state so far, whose bond may be smaller than `bond`.

    Examples
    --------
    >>> import numpy as np, qad
    >>> sz, sx = np.diag([1.0, -1.0]), np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> field = np.kron(sx, np.eye(2)) + np.kron(np.eye(2), sx)
    >>> h = -np.kron(sz, sz) - 1.5 / 2 * field  # the Ising chain at g = 1.5
    >>> found = qad.mps.uniform.ground_state(h.reshape(2, 2, 2, 2), bond=6, cell=1)
    >>> round(found.energy, 6)  # exact: -1.671926221536195
    -1.671926
    """
    bond, maxiter, starts = (site_count(x, 1, n) for x, n in ((bond, "bond"), (maxiter, "maxiter"), (starts, "starts")))
    if method not in ("riemannian", "itebd"):
        raise ArgumentError(f"unknown method {method!r}: choose one of 'riemannian', 'itebd'")
    rng, given = np.random.default_rng(seed), start is not None
    dtype = np.result_type(h.dtype, float) if dtype is None else dtype

    def random():
        return UniformMPS.random(1, h.shape[0], cell, dtype, rng)

    start = start if given else random()
    check_term(start, h)
    with blas_for(max(bond, *start.bonds)), bar_for(progress, "energy") as bar:
        if method == "itebd":
            return itebd(h, start, bond, bar, tol, maxiter)
        if given:
            return riemannian(h, start, bar, tol, maxiter)
        found = [grown(h, start, bond, rng, bar, max(tol, COARSE), maxiter)]
        try:
            while len(found) < starts and found[-1].message != BY_USER:
                begin = cooled(h, random(), bond) if cell == 2 and len(found) % 2 else random()
                found.append(grown(h, begin, bond, rng, bar, max(tol, COARSE), maxiter))
        except KeyboardInterrupt:
            found[-1] = replace(found[-1], message=BY_USER)
        best = min(found, key=lambda result: result.energy)
        if found[-1].message == BY_USER:
            return replace(best, converged=False, message=BY_USER)
        last = riemannian(h, best.state, bar, tol, maxiter)
    return replace(last, history=np.concatenate([best.history, last.history]))


def grown(
    h: np.ndarray, start: UniformMPS, bond: int, rng: np.random.Generator, progress: Progress, tol: float, maxiter: int
) -> UniformGroundState:
    """The ground state of a bond dimension, coarsely, by those of smaller ones: a random one may be a sum of states."""
    history = []
    for size in growing(bond):
        if size >= start.bonds[0]:
            found = riemannian(h, enlarged(start, size, rng), progress, tol, maxiter)
            history.extend(found.history)
            start = found.state
            if found.message == BY_USER:
                break
    return replace(found, history=np.array(history))


def cooled(h: np.ndarray, start: UniformMPS, bond: int) -> UniformMPS:
    """What imaginary time makes of a state, coarsely."""
    gates = InfiniteGates(start, h, -1.0, bond, LEAST_CUTOFF)
    for _ in range(COOLING):
        gates.step(STEPS[0] / max(np.linalg.norm(h.reshape(h.shape[0] ** 2, -1), 2), 1e-300))
    return gates.state


def growing(bond: int) -> list[int]:
    """Bond dimensions on the way."""
    sizes = [bond]
    while sizes[-1] > 1:
        sizes.append((sizes[-1] + 1) // 2)
    return sizes[::-1]


def enlarged(state: UniformMPS, bond: int, rng: np.random.Generator) -> UniformMPS:
    """`state` with larger bonds, filled with a little noise."""
    if bond <= state.bonds[0]:
        return state
    tensors = []
    for tensor in state:
        larger = random_gaussian(rng, bond, tensor.shape[1], bond, tensor.dtype) * tensor.dtype.type(NOISE)
        larger[: tensor.shape[0], :, : tensor.shape[2]] += tensor
        tensors.append(larger)
    return UniformMPS(tensors)


def riemannian(h: np.ndarray, start: UniformMPS, progress: Progress, tol: float, maxiter: int) -> UniformGroundState:
    """Minimise over cells of isometries."""
    manifold = IsometricCell(start)
    history, gained = [], []

    def loss(psi):
        lefts, rights = isometric_environments(psi, manifold.left)
        manifold.left = value_of(lefts[0])
        return density_from(psi, h, lefts, rights)

    def step(psi, value):
        history.append(value)
        if len(history) > 2 * WINDOW:
            last, before = (history[-k - WINDOW] - history[-k] for k in (1, 1 + WINDOW))
            if is_settled(last / abs(value), before / abs(value), tol):
                gained.append(last)
                raise StopIteration

    found = minimize_on(
        manifold,
        loss,
        start,
        callback=step,
        progress=progress,
        gtol=0.0,
        ftol=0.0,
        maxiter=maxiter,
        metric=manifold.metric,
    )
    converged = bool(gained) or found.success
    message = f"converged: the last {WINDOW} iterations gained {gained[0]:.1e}" if gained else found.message
    return UniformGroundState(found.params, float(energy_density(found.params, h)), found.history, converged, message)


class IsometricCell(IsometricChain):
    """Cells of right-canonical tensors; the metric comes from the transfer operator's fixed point."""

    def __init__(self, state: UniformMPS):
        super().__init__(state)
        self.left: np.ndarray | None = None  # the latest left environment of the cell, up to scale

    def point(self, params: UniformMPS) -> Point:
        """One stack for every site."""
        state, _ = uniform_schmidt_form(params)
        self.phys: list[int] = [t.shape[1] for t in state]
        isometries = [t.reshape(1, len(t), -1) for t in state]
        return Point(isometries, [complement(a) for a in isometries])

    def retract(self, point: Point, vector: np.ndarray) -> tuple[Point, np.ndarray]:
        """Cayley's transform, its rounding taken out: the environments hold only for isometries.

        Long steps lose many digits of ``A A^H = 1``, and the energy would be wrong by as much.
        """
        new, velocity = super().retract(point, vector)
        isometries = [orthonormal(a) for a in new.isometries]
        complements = [orthonormal(n - (n @ a.conj().mT) @ a) for a, n in zip(isometries, new.complements, strict=True)]
        return Point(isometries, complements), velocity

    def params(self, point: Point) -> UniformMPS:
        """The cell."""
        tensors = [a.reshape(a.shape[1], d, -1) for a, d in zip(point.isometries, self.phys, strict=True)]
        return bare(UniformMPS, tensors, None)

    def densities(self, point: Point) -> list[np.ndarray]:
        """Reduced density matrices of what stands left of each site."""
        density = np.eye(point.isometries[0].shape[1]) if self.left is None else self.left
        found = []
        for tensor in self.params(point):
            density = density / np.trace(density)
            found.append(((density + density.conj().T) / 2)[None])
            density = past_left(density, tensor)
        return found


def orthonormal(rows: np.ndarray) -> np.ndarray:
    """Rows that are nearly orthonormal made so, by a step of Newton's method for the polar factor."""
    return rows - 0.5 * (rows @ rows.conj().mT - np.eye(rows.shape[1])) @ rows


def itebd(h: np.ndarray, start: UniformMPS, bond: int, bar: Progress, tol: float, maxiter: int) -> UniformGroundState:
    """Imaginary time in ever shorter steps; the energy errs by the fourth power of the last."""
    if len(start) > 2:
        raise ArgumentError(f"itebd takes cells of one or two sites, not {len(start)}")
    gates = InfiniteGates(start, h, -1.0, bond, 1e-16)
    history, state = [float(energy_density(start, h))], start
    converged, message = False, "stopped at maxiter rounds"
    try:
        for dt in STEPS:
            converged = False
            for _ in range(maxiter):
                for _ in range(round(JUDGED / dt)):
                    gates.step(dt)
                history.append(float(energy_density(gates.state, h)))
                state = gates.state
                note(bar, history)
                if converged := history[-2] - history[-1] <= tol * abs(history[-1]):
                    break
    except KeyboardInterrupt:
        converged, message = False, BY_USER
    state, _ = uniform_schmidt_form(state)
    message = f"converged: steps of {STEPS[-1]} gain nothing any more" if converged else message
    return UniformGroundState(state, history[-1], np.array(history), converged, message)
