"""Free fermions, by matrices of the number of sites: transverse Ising and hopping chains; and Bethe's equations."""

import numpy as np
from scipy.linalg import expm
from scipy.optimize import fsolve


def filled(values, n):
    """One number for all, or an array, as an array."""
    return np.broadcast_to(np.asarray(values, float), (n,))


# -- the transverse-field Ising chain, H = -sum j Z Z - sum g X, open --------------------------------------------------


def ising_levels(n, g=1.0, j=1.0):
    """Energies of the modes: the singular values of the bidiagonal matrix of fields and couplings.

    E. Lieb, T. Schultz, D. Mattis, Ann. Phys. 16, 407 (1961); P. Pfeuty, Ann. Phys. 57, 79 (1970).
    """
    matrix = np.diag(filled(g, n)) + np.diag(filled(j, n - 1), 1)
    return np.linalg.svd(matrix, compute_uv=False)


def ising_energy(n, g=1.0, j=1.0):
    """Of the ground state."""
    return -float(ising_levels(n, g, j).sum())


def ising_log_partition(n, beta, g=1.0, j=1.0):
    """``ln tr exp(-beta H)``."""
    x = beta * ising_levels(n, g, j)
    return float(np.sum(x + np.log1p(np.exp(-2 * x))))


def ising_thermal_energy(n, beta, g=1.0, j=1.0):
    """``<H>`` at an inverse temperature."""
    levels = ising_levels(n, g, j)
    return -float(np.sum(levels * np.tanh(beta * levels)))


def ising_correlations(g, distance, n=4000):
    """``<Z_0 Z_r>`` and ``<X_0 X_r>`` of the infinite chain, r = 1 ... distance: Toeplitz determinants (P. Pfeuty)."""
    k = (np.arange(n) + 0.5) * 2 * np.pi / n
    level = np.sqrt(1 + g * g + 2 * g * np.cos(k))
    pair = {r: np.mean((g * np.cos(k * r) + np.cos(k * (r - 1))) / level) for r in range(-distance, distance + 1)}
    along = [np.linalg.det([[pair[1 + i - j] for j in range(r)] for i in range(r)]) for r in range(1, distance + 1)]
    across = [pair[0] ** 2 - pair[r] * pair[-r] for r in range(1, distance + 1)]
    return np.array(along), np.array(across)


def majorana_generator(g, j):
    """A of ``H = i/4 sum A_mn c_m c_n``, where ``X_k = i c_2k c_2k+1`` and ``Z_k Z_k+1 = i c_2k+1 c_2k+2``."""
    n = len(g)
    upper = np.zeros((2 * n, 2 * n))
    for k in range(n):
        upper[2 * k, 2 * k + 1] = -2 * g[k]
    for k in range(n - 1):
        upper[2 * k + 1, 2 * k + 2] = -2 * j[k]
    return upper - upper.T


def quench_z(n, site, time, g=1.0, j=1.0):
    """``<Z_site(t)>`` after the start in which all Z are 1.

    An idle site before the chain makes ``Z_site`` the even product ``Z_idle Z_site`` in the Gaussian superposition of
    all up and all down; it is the Pfaffian of the covariance of the Majorana operators between them.
    """
    fields, bonds = np.r_[0.0, filled(g, n)], np.r_[0.0, filled(j, n - 1)]
    turn = expm(majorana_generator(fields, bonds) * time)
    start = np.zeros((2 * n + 2, 2 * n + 2))
    for k in range(n):
        start[2 * k + 1, 2 * k + 2] = 1
    start[0, 2 * n + 1] = 1
    covariance = turn @ (start - start.T) @ turn.T
    return pfaffian(covariance[1 : 2 * site + 3, 1 : 2 * site + 3])


def quench_x(n, site, time, g=1.0, j=1.0):
    """``<X_site(t)>`` after the same start: the mean over two superpositions, whose ends pair up oppositely."""
    turn = expm(majorana_generator(filled(g, n), filled(j, n - 1)) * time)
    start = np.zeros((2 * n, 2 * n))
    for k in range(n - 1):
        start[2 * k + 1, 2 * k + 2] = 1
    return float((turn @ (start - start.T) @ turn.T)[2 * site, 2 * site + 1])


def pfaffian(a):
    """Of an antisymmetric matrix, by elimination with pivots (M. Wimmer, ACM TOMS 38, 30 (2012))."""
    a, result = np.array(a, float), 1.0
    for k in range(0, len(a) - 1, 2):
        pivot = k + 1 + np.argmax(abs(a[k + 1 :, k]))
        if pivot != k + 1:
            a[[k + 1, pivot]], result = a[[pivot, k + 1]], -result
            a[:, [k + 1, pivot]] = a[:, [pivot, k + 1]]
        if a[k + 1, k] == 0:
            return 0.0
        result *= a[k, k + 1]
        ratio = a[k, k + 2 :] / a[k, k + 1]
        a[k + 2 :, k + 2 :] += np.outer(ratio, a[k + 2 :, k + 1]) - np.outer(a[k + 2 :, k + 1], ratio)
    return float(result)


# -- hopping, H = sum h_ij cdag_i c_j; the XX chain is Sx Sx + Sy Sy = (cdag c + h.c.) / 2 -----------------------------


def hops(n, t=1.0, mu=0.0):
    """The matrix of ``-t`` between neighbours and ``-mu`` on the sites."""
    t = filled(t, n - 1)
    return -np.diag(t, 1) - np.diag(t, -1) - mu * np.eye(n)


def filled_energy(h, number=None):
    """The lowest levels filled: all negative ones, or a number of them."""
    levels = np.linalg.eigvalsh(h)
    return float(levels[levels < 0].sum() if number is None else levels[:number].sum())


def thermal_energy(h, beta):
    """``<H>`` at an inverse temperature, at all numbers of particles."""
    levels = np.linalg.eigvalsh(h)
    return float(np.sum(levels / (1 + np.exp(beta * levels))))


def densities(h, start, time):
    """``<n_i(t)>`` from a product state of modes that are full or empty."""
    turn = expm(-1j * h * time)
    return np.sum(abs(turn[:, np.flatnonzero(start)]) ** 2, axis=1)


def half_filled_entropy(h, number, left):
    """Von Neumann's entropy of the first `left` modes in the state of the lowest `number` levels."""
    _, modes = np.linalg.eigh(h)
    p = np.linalg.eigvalsh(modes[:left, :number] @ modes[:left, :number].T).clip(1e-16, 1 - 1e-16)
    return float(-np.sum(p * np.log(p) + (1 - p) * np.log(1 - p)))


# -- Bethe's equations -------------------------------------------------------------------------------------------------


def heisenberg_open(n):
    """The ground state energy of ``sum S.S`` on an open chain of an even number of spins 1/2.

    F. C. Alcaraz et al., J. Phys. A 20, 6397 (1987), at vanishing fields.
    """
    numbers = np.arange(1, n // 2 + 1)

    def wrong(x):
        others = np.arctan(x[:, None] - x) + np.arctan(x[:, None] + x)
        np.fill_diagonal(others, 0.0)
        return 2 * n * np.arctan(2 * x) - np.pi * numbers - others.sum(axis=1)

    x = np.tan(np.pi * numbers / (2 * n + 2)) / 2
    x = fsolve(wrong, x, xtol=1e-13)
    assert np.max(abs(wrong(x))) < 1e-10
    return (n - 1) / 4 - float(np.sum(2 / (1 + 4 * x**2)))


def heisenberg_ring(n):
    """The same on a ring (H. Bethe, Z. Phys. 71, 205 (1931))."""
    numbers = np.arange(n // 2) - (n // 2 - 1) / 2

    def wrong(x):
        return n * np.arctan(2 * x) - np.pi * numbers - np.arctan(x[:, None] - x).sum(axis=1)

    x = fsolve(wrong, np.tan(np.pi * numbers / n) / 2, xtol=1e-13)
    assert np.max(abs(wrong(x))) < 1e-10
    return n / 4 - float(np.sum(2 / (1 + 4 * x**2)))
