"""Wave functions to begin with, each a few lines of NumPy: logarithms of amplitudes, and parameters.

Every one returns a function ``log_psi(params, s)`` of parameters and configurations (B, n), which gives (B,) numbers,
and parameters to begin with.  They are meant to be copied and changed; sums of them are products of wave functions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.mps.chain.chain import site_count
from qad.vmc.log_cosh import log_cosh

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from qad.mps.chain.state import MPS
    from qad.typing import Array, DTypeLike, Seed
    from qad.vmc.space import Space

    LogPsi: TypeAlias = Callable[[Any, Any], Any]


def normal(rng: np.random.Generator, scale: float, shape: Sequence[int], dtype: DTypeLike) -> np.ndarray:
    """Real or complex Gaussian numbers of this standard deviation."""
    x = rng.normal(size=(2, *shape))
    return scale * ((x[0] + 1j * x[1]) / np.sqrt(2) if np.dtype(dtype).kind == "c" else x[0]).astype(dtype)


def rbm(
    n: int, alpha: float = 1, dtype: DTypeLike = complex, seed: Seed = 0, scale: float = 0.05
) -> tuple[LogPsi, dict[str, Array]]:
    """A restricted Boltzmann machine, ``psi(s) = exp(a . s) prod_k 2 cosh(b_k + sum_i s_i W_ik)`` but for a factor.

    Parameters
    ----------
    n : int
    alpha : number
        Hidden units for each site.
    dtype : complex or float
        Of the parameters, and of ``log psi``; psi is positive where it is real.
    seed : int or numpy.random.Generator
    scale : float
        Standard deviation of the first parameters.

    Returns
    -------
    log_psi : callable
    params : dict of arrays
        "a" (n,), "b" (alpha n,), "W" (n, alpha n).

    Notes
    -----
    G. Carleo and M. Troyer, Science 355, 602 (2017).  The signs of an antiferromagnet on two sublattices are
    ``a = i pi / 2`` on one of them.

    Examples
    --------
    >>> import qad
    >>> log_psi, params = qad.vmc.rbm(10, alpha=2)
    >>> log_psi(params, qad.vmc.Spins(10).random(3, rng=0)).shape
    (3,)
    """
    rng, hidden = np.random.default_rng(seed), round(site_count(n, 1, "n") * alpha)
    params = {name: normal(rng, scale, shape, dtype) for name, shape in
              (("a", (n,)), ("b", (hidden,)), ("W", (n, hidden)))}  # fmt: skip

    def log_psi(params, s):
        return s @ params["a"] + log_cosh(params["b"] + s @ params["W"]).sum(-1)

    return log_psi, params


def jastrow(n: int, dtype: DTypeLike = float, seed: Seed = 0, scale: float = 0.05) -> tuple[LogPsi, dict[str, Array]]:
    """A Jastrow wave function, ``psi(s) = exp(sum_i v_i s_i + sum_(i<j) J_ij s_i s_j)``.

    Parameters
    ----------
    n : int
        At least 2.
    dtype, seed, scale
        As of `rbm`.

    Returns
    -------
    log_psi : callable
    params : dict of arrays
        "v" (n,), and "J" of all pairs, (n (n - 1) / 2,).

    Notes
    -----
    R. Jastrow, Phys. Rev. 98, 1479 (1955).

    Examples
    --------
    >>> import numpy as np, qad
    >>> log_psi, params = qad.vmc.jastrow(3)
    >>> log_psi({"v": np.zeros(3), "J": np.array([1.0, 10.0, 100.0])}, np.array([[1, 1, -1]]))
    array([-109.])
    """
    rng, (one, two) = np.random.default_rng(seed), np.triu_indices(site_count(n, 2, "n"), 1)
    params = {"v": normal(rng, scale, (n,), dtype), "J": normal(rng, scale, (len(one),), dtype)}

    def log_psi(params, s):
        return s @ params["v"] + (s[:, one] * s[:, two]) @ params["J"]

    return log_psi, params


def mean_field(space: Space, dtype: DTypeLike = float, seed: Seed = 0, scale: float = 0.05) -> tuple[LogPsi, Array]:
    """A product of states of the sites, ``psi(s) = prod_i exp(params[i, s_i])``.

    Parameters
    ----------
    space : Space
    dtype, seed, scale
        As of `rbm`.

    Returns
    -------
    log_psi : callable
    params : array (n, d)
        Logarithms of the amplitudes of each basis state on each site.

    Examples
    --------
    >>> import numpy as np, qad
    >>> log_psi, params = qad.vmc.mean_field(qad.vmc.Bosons(2, most=2))
    >>> log_psi(np.array([[0.0, 1.0, 2.0], [0.0, 10.0, 20.0]]), np.array([[1, 2]]))
    array([21.])
    """
    sites = np.arange(space.n)

    def log_psi(params, s):
        return params[sites, space.indices(s)].sum(-1)

    return log_psi, normal(np.random.default_rng(seed), scale, (space.n, len(space.values)), dtype)


def chain(state: MPS, space: Space) -> tuple[LogPsi, MPS]:
    """A matrix product state, whose parameters are its tensors.

    Parameters
    ----------
    state : MPS
        Of the sites of the space.
    space : Space

    Returns
    -------
    log_psi : callable
        Complex.
    params : MPS
        The state.

    Raises
    ------
    ArgumentError
        If the state conserves charges, or is a ring.
    ShapeError
        If the sites do not fit.

    Notes
    -----
    Samples can be drawn directly: ``Direct(lambda psi, count, rng: space.of_indices(psi.sample(count, rng)))``.

    Examples
    --------
    >>> import numpy as np, qad
    >>> log_psi, params = qad.vmc.chain(qad.mps.MPS.product([np.array([0.6, 0.8])] * 3), qad.vmc.Spins(3))
    >>> np.exp(log_psi(params, np.array([[1, 1, -1]]))).real.round(6)
    array([0.288])
    """
    if state.conserved is not None or state.bonds[0] != 1:
        raise ArgumentError("chain takes an open state of plain arrays: give state.without_symmetry()")
    if list(state.phys) != [len(space.values)] * space.n:
        raise ShapeError(
            f"{state!r} has sites of {tuple(state.phys)} states, {space!r} {space.n} of {len(space.values)}"
        )

    def log_psi(params, s):
        rows, left, log = np.arange(len(s)), np.ones((len(s), 1)), 0.0
        for tensor, states in zip(params.tensors, space.indices(s).T, strict=True):
            bond, phys, _ = tensor.shape
            left = (left @ tensor.reshape(bond, -1)).reshape(len(s), phys, -1)[rows, states]
            size = np.abs(left).max(1, keepdims=True)
            size = np.where(size > 0, size, 1.0)
            left, log = left / size, log + np.log(size)
        return (np.log(left + 0j) + log)[:, 0]

    return log_psi, state
