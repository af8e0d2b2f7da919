"""Lattices of wave functions: translations, sums over symmetries, signs of sublattices, and convolutions."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.mps.chain.chain import site_count
from qad.rules.elementwise.logsumexp import logsumexp
from qad.vmc.log_cosh import log_cosh
from qad.vmc.wave_functions import normal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Array, ArrayLike, DTypeLike, Seed
    from qad.vmc.wave_functions import LogPsi


def translations(shape: int | Sequence[int]) -> np.ndarray:
    """The translations of a periodic lattice, as permutations of its sites.

    Parameters
    ----------
    shape : int or sequence of int
        The length of a ring, or the lengths of a lattice, whose last one is that of neighbouring numbers: those of
        `qad.mps.Lattice`, length and width.

    Returns
    -------
    int array (n, n)
        The identity is the first one.

    Examples
    --------
    >>> import qad
    >>> qad.vmc.translations(3)
    array([[0, 1, 2],
           [1, 2, 0],
           [2, 0, 1]])
    """
    lengths = [site_count(length, 1, "a length") for length in np.atleast_1d(shape)]
    sites, axes = np.arange(np.prod(lengths)).reshape(lengths), tuple(range(len(lengths)))
    steps = product(*map(range, lengths))
    return np.array([np.roll(sites, [-step for step in each], axes).ravel() for each in steps])


def symmetrized(log_psi: LogPsi, permutations: ArrayLike, characters: ArrayLike = 1.0) -> LogPsi:
    """The sum of a wave function over symmetries, ``sum_g chi_g psi(s_g(0), s_g(1), ...)``.

    Parameters
    ----------
    log_psi : callable
        ``log_psi(params, configurations (B, n)) -> (B,)``.
    permutations : int array (symmetries, n)
        Such as `translations`.
    characters : array (symmetries,)
        What each one is multiplied by; with ``exp(-ikx)``, or signs, log_psi has to be complex.

    Returns
    -------
    callable
        As `log_psi`, of the same parameters; its cost is that of `log_psi` for all of the symmetries.

    Raises
    ------
    ShapeError
        If these are no rows of permutations.

    Examples
    --------
    >>> import numpy as np, qad
    >>> log_psi, params = qad.vmc.rbm(6)
    >>> even = qad.vmc.symmetrized(log_psi, qad.vmc.translations(6))
    >>> s = qad.vmc.Spins(6).random(1, rng=0)
    >>> bool(np.isclose(even(params, s), even(params, np.roll(s, 2, axis=1)))[0])
    True
    """
    rows = np.asarray(permutations)
    if rows.ndim != 2 or (np.sort(rows, -1) != np.arange(rows.shape[-1])).any():
        raise ShapeError(f"permutations are rows of the numbers 0 to n - 1, not an array of shape {rows.shape}")
    weights = np.asarray(characters)
    logs = np.log(weights if weights.dtype.kind != "c" and (weights > 0).all() else weights + 0j)

    def summed(params, s):
        each = log_psi(params, s[:, rows].reshape(-1, rows.shape[1]))
        return logsumexp(each.reshape(-1, len(rows)) + logs, axis=-1)

    return summed


def marshall(log_psi: LogPsi, sites: Sequence[int]) -> LogPsi:
    """A wave function of spins with the signs of an antiferromagnet: spins of one sublattice turned around z by pi.

    Parameters
    ----------
    log_psi : callable
    sites : sequence of int
        One of the two sublattices.

    Returns
    -------
    callable
        Complex: ``psi(s) exp(i pi sum_sites s_i / 2)``.

    Notes
    -----
    W. Marshall, Proc. R. Soc. A 232, 48 (1955): on two sublattices, the ground state of Heisenberg's model has these
    signs.  The same is done to the model itself, for real functions, by ``qad.mps.xxz(lattice, -1.0, j=-1.0)``.

    Examples
    --------
    >>> import qad
    >>> log_psi, params = qad.vmc.rbm(4, dtype=float)
    >>> found = qad.vmc.marshall(log_psi, [0, 2])(params, qad.vmc.Spins(4, total=0).states())
    >>> (found.imag / 3.141592653589793).round(6)
    array([ 0.,  1.,  0.,  0., -1.,  0.])
    """
    chosen = np.asarray(sites, int)

    def signed(params, s):
        return log_psi(params, s) + 0.5j * np.pi * s[:, chosen].sum(-1)

    return signed


def convolution(
    shape: int | Sequence[int],
    features: Sequence[int] = (8, 8),
    kernel: int = 3,
    dtype: DTypeLike = complex,
    seed: Seed = 0,
    scale: float = 1.0,
) -> tuple[LogPsi, list[tuple[Array, Array]]]:
    """A small convolutional network on a ring or a periodic lattice, the same after every translation.

    Layers are ``h'_x = log cosh(b + sum_d h_(x+d) W_d)``, over the sites d of a kernel, and ``log psi`` is the last
    one, summed over all sites and features.

    Parameters
    ----------
    shape : int or sequence of int
        As of `translations`.
    features : sequence of int
        How many numbers the layers have for each site.
    kernel : int
        How many sites wide the convolutions are, along each direction.
    dtype : complex or float
        Of the parameters and of ``log psi``.
    seed : int or numpy.random.Generator
    scale : float
        Standard deviation of the first parameters, times the root of how many are summed.

    Returns
    -------
    log_psi : callable
    params : list of pairs of arrays
        W (sites of a kernel, features before, features) and b (features,) of each layer.

    Notes
    -----
    K. Choo, T. Neupert and G. Carleo, Phys. Rev. B 100, 125124 (2019).

    Examples
    --------
    >>> import numpy as np, qad
    >>> log_psi, params = qad.vmc.convolution((4, 4), features=(3, 2))
    >>> [W.shape for W, b in params]
    [(9, 1, 3), (9, 3, 2)]
    >>> s = qad.vmc.Spins(16).random(2, rng=0)
    >>> bool(np.allclose(log_psi(params, s), log_psi(params, s[:, qad.vmc.translations((4, 4))[7]])))
    True
    """
    lengths = np.atleast_1d(shape)
    if site_count(kernel, 1, "kernel") > lengths.min():
        raise ArgumentError(f"a kernel of {kernel} sites does not fit on the lattice {tuple(lengths.tolist())}")
    near = np.indices((kernel,) * len(lengths)).reshape(len(lengths), -1)
    sites = translations(shape)[np.ravel_multi_index(near, lengths)]  # (sites of a kernel, n)
    rng, params = np.random.default_rng(seed), []
    for before, after in zip((1, *features), features, strict=False):
        size = scale / np.sqrt(len(sites) * before)
        params.append((normal(rng, size, (len(sites), before, after), dtype), np.zeros(after, dtype)))

    def log_psi(params, s):
        h = s[:, :, None]
        for W, b in params:
            h = log_cosh(sum(np.take(h, moved, axis=1) @ w for moved, w in zip(sites, W, strict=True)) + b)
        return h.sum((-1, -2))

    return log_psi, params
