"""Ground states of infinite chains: the same Riemannian optimiser as for finite ones, or imaginary time."""

from dataclasses import dataclass, field, replace

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import value_of
from qad.mps.chain import bare, site_count
from qad.mps.search.isometric import IsometricChain, Point, complement
from qad.mps.sites import random_gaussian
from qad.mps.uniform.canonical import uniform_schmidt_form
from qad.mps.uniform.evolution import InfiniteGates
from qad.mps.uniform.measures import check_term, density_from, energy_density
from qad.mps.uniform.state import UniformMPS
from qad.mps.uniform.transfer import isometric_environments, pass_right
from qad.optimize import minimize_on

WINDOW = 10  # iterations over which the gain is judged
COARSE = 1e-6  # gain at which a smaller bond is good enough to grow from
NOISE = 1e-2
STEPS = (0.1, 0.02, 0.005)  # of imaginary time
JUDGED = 0.5  # the time over which a gain is judged


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


def ground_state(
    h, bond=8, cell=2, method="riemannian", seed=0, progress=False, *, start=None, dtype=None, tol=1e-10, maxiter=2000
):
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
    progress : bool
    start : UniformMPS, optional
        To start from; `bond`, `cell`, `seed` and `dtype` are not used then.
    dtype : dtype, optional
        Default float for a real `h`, else complex.
    tol : float
        Converged when 10 iterations gain less than this, relative to the energy.
    maxiter : int

    Returns
    -------
    UniformGroundState

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
    bond, maxiter = site_count(bond, 1, "bond"), site_count(maxiter, 1, "maxiter")
    rng = np.random.default_rng(seed)
    bonds = [bond]
    if start is None:
        dtype = np.result_type(h.dtype, float) if dtype is None else dtype
        start = UniformMPS.random(1, h.shape[0], cell, dtype, rng)
        bonds = growing(bond)
    check_term(start, h)
    if method == "riemannian":
        history = []
        for size in bonds:
            enough = tol if size == bond else max(tol, COARSE)
            start = enlarged(start, size, rng)
            found = riemannian(h, start, progress, enough, maxiter)
            history.extend(found.history)
            start = found.state
        return replace(found, history=np.array(history))
    if method == "itebd":
        return itebd(h, start, bond, tol, maxiter)
    raise ArgumentError(f"unknown method {method!r}: choose one of 'riemannian', 'itebd'")


def growing(bond):
    """Bond dimensions on the way: a random state of a large bond may fall into a sum of states, a growing one not."""
    sizes = [bond]
    while sizes[-1] > 1:
        sizes.append((sizes[-1] + 1) // 2)
    return sizes[::-1]


def enlarged(state, bond, rng):
    """`state` with larger bonds, filled with a little noise."""
    if bond <= state.bonds[0]:
        return state
    tensors = []
    for tensor in state:
        larger = random_gaussian(rng, bond, tensor.shape[1], bond, tensor.dtype) * tensor.dtype.type(NOISE)
        larger[: tensor.shape[0], :, : tensor.shape[2]] += tensor
        tensors.append(larger)
    return UniformMPS(tensors)


def riemannian(h, start, progress, tol, maxiter):
    """Minimise over cells of isometries."""
    manifold = IsometricCell(start)
    history, gained = [], []

    def loss(psi):
        lefts, rights = isometric_environments(psi, manifold.left)
        manifold.left = value_of(lefts[0])
        return density_from(psi, h, lefts, rights)

    def step(psi, value):
        history.append(value)
        if len(history) > WINDOW and history[-1 - WINDOW] - value <= tol * abs(value):
            gained.append(history[-1 - WINDOW] - value)
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
    return UniformGroundState(found.params, found.fun, found.history, converged, message)


class IsometricCell(IsometricChain):
    """Cells of right-canonical tensors; the metric comes from the transfer operator's fixed point."""

    def __init__(self, state):
        super().__init__(state)
        self.left = None  # the latest left environment of the cell, up to scale

    def point(self, params):
        """One stack for every site."""
        state, _ = uniform_schmidt_form(params)
        self.phys = [t.shape[1] for t in state]
        isometries = [t.reshape(1, len(t), -1) for t in state]
        return Point(isometries, [complement(a) for a in isometries])

    def params(self, point):
        """The cell."""
        tensors = [a.reshape(a.shape[1], d, -1) for a, d in zip(point.isometries, self.phys, strict=True)]
        return bare(UniformMPS, tensors, None)

    def densities(self, point):
        """Reduced density matrices of what stands left of each site."""
        density = np.eye(point.isometries[0].shape[1]) if self.left is None else self.left
        found = []
        for tensor in self.params(point):
            density = density / np.trace(density)
            found.append(((density + density.conj().T) / 2)[None])
            density = pass_right(density, tensor)
        return found


def itebd(h, start, bond, tol, maxiter):
    """Imaginary time in ever shorter steps; the energy errs by the fourth power of the last."""
    if len(start) > 2:
        raise ArgumentError(f"itebd takes cells of one or two sites, not {len(start)}")
    gates = InfiniteGates(start, h, -1.0, bond, 1e-16)
    history = [float(energy_density(start, h))]
    for dt in STEPS:
        converged = False
        for _ in range(maxiter):
            for _ in range(round(JUDGED / dt)):
                gates.step(dt)
            history.append(float(energy_density(gates.state, h)))
            if converged := history[-2] - history[-1] <= tol * abs(history[-1]):
                break
    state, _ = uniform_schmidt_form(gates.state)
    message = f"converged: steps of {STEPS[-1]} gain nothing any more" if converged else "stopped at maxiter rounds"
    return UniformGroundState(state, history[-1], np.array(history), converged, message)
