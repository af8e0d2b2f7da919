"""Wave functions of physics: products of states of sites, matrix product states, and free fermions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.vmc.space import as_space
from qad.vmc.wave_functions import normal

if TYPE_CHECKING:
    from qad.mps.chain.state import MPS
    from qad.typing import Array, DTypeLike, Seed
    from qad.vmc.space import Space
    from qad.vmc.wave_functions import LogPsi


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
    sites = np.arange(as_space(space).n)

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
    if list(state.phys) != [len(as_space(space).values)] * space.n:
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


def slater(space: Space, orbitals: Any = None, seed: Seed = 0) -> tuple[LogPsi, dict[str, Array]]:
    """Free fermions: a determinant of the orbitals on the occupied sites, for electrons one for each spin.

    Parameters
    ----------
    space : Fermions or Electrons
        With fixed numbers.
    orbitals : array (n, particles), or dict of them, optional
        Columns are orbitals, such as the lowest eigenvectors of the hopping matrix; a dict of "up" and "down" where
        they are not the same.  Those that are not needed are left out.  By default random ones, orthonormal.
    seed : int or numpy.random.Generator

    Returns
    -------
    log_psi : callable
        Complex, for it has the sign of the determinants, in the order of the operators of `qad.mps`: from site to site,
        and on each of them up before down.
    params : dict of arrays
        The orbitals (n, particles), by the names of the quantities of the space: "N", or "up" and "down".

    Raises
    ------
    ArgumentError
        If the numbers of particles are not fixed, or sites hold no fermions.
    ShapeError
        If orbitals have another shape.

    Examples
    --------
    >>> import numpy as np, qad
    >>> hopping = -(np.eye(6, k=1) + np.eye(6, k=-1))
    >>> space = qad.vmc.Fermions(6, total=2)
    >>> log_psi, params = qad.vmc.slater(space, np.linalg.eigh(hopping)[1])
    >>> psi = np.exp(log_psi(params, space.states()))
    >>> float((abs(psi) ** 2).sum().round(12))
    1.0
    """
    if not as_space(space).kind.fermionic or not space.totals:
        raise ArgumentError(f"a determinant is of Fermions or Electrons with fixed numbers, not of {space!r}")
    counts, rng, params = dict(zip(space.quantities, space.totals, strict=True)), np.random.default_rng(seed), {}
    for name, count in counts.items():
        given = orbitals[name] if isinstance(orbitals, dict) else orbitals
        given = np.linalg.qr(rng.normal(size=(space.n, space.n)))[0] if given is None else np.asarray(given)
        if given.ndim != 2 or len(given) != space.n or given.shape[1] < count:
            raise ShapeError(f"orbitals of {count} particles have shape ({space.n}, {count}), not {given.shape}")
        params[name] = given[:, :count]

    def log_psi(params, s):
        filled = [(space.indices(s) >> k) & 1 for k in range(len(counts))]
        total = 0.0
        for own, (name, count) in zip(filled, counts.items(), strict=True):
            sites = np.argsort(1 - own, axis=-1, kind="stable")[:, :count]
            sign, log = np.linalg.slogdet(params[name][sites])
            total = total + (log + np.log(sign + 0j))
        if len(filled) == 2:  # operators of spin up pass those of spin down on sites before theirs
            up, down = filled
            total = total + 1j * np.pi * ((up * (np.cumsum(down, -1) - down)).sum(-1) % 2)
        return total

    return log_psi, params
