"""The Ising model in a transverse field by linked clusters: sums over rectangles of exact energies.

With W(m, n) what an m x n rectangle adds to all smaller ones in it, the energy per site is ``sum W(m, n)``; see
A. C. Irving and C. J. Hamer, Nucl. Phys. B 230, 361 (1984).  Beyond the transition rectangles have open boundaries;
below it all spins around them are up, which is the energy of the ordered phase.
"""

import numpy as np
import scipy.sparse.linalg


def energy_of(m, n, g, is_ordered):
    """The lowest energy of m x n spins; among spins that are up, less than that of all up."""
    k = m * n
    spins = 1 - 2 * ((np.arange(2**k)[:, None] >> np.arange(k)) & 1).reshape(-1, m, n)
    if is_ordered:
        spins = np.pad(spins, ((0, 0), (1, 1), (1, 1)), constant_values=1)
    inner = slice(1, -1) if is_ordered else slice(None)
    across, down = spins[:, inner, :-1] * spins[:, inner, 1:], spins[:, :-1, inner] * spins[:, 1:, inner]
    bonds = (across.sum((1, 2)) + down.sum((1, 2))).astype(float)
    bonds = bonds - bonds[0] if is_ordered else bonds

    def product(v):
        out, wide = -bonds * v.ravel(), v.reshape((2,) * k)
        for axis in range(k):
            out -= g * np.flip(wide, axis).ravel()
        return out

    if k < 4:
        return np.linalg.eigvalsh(np.stack([product(v) for v in np.eye(2**k)]))[0]
    operator = scipy.sparse.linalg.LinearOperator((2**k,) * 2, matvec=product, dtype=float)
    return scipy.sparse.linalg.eigsh(operator, k=1, which="SA", v0=np.exp(bonds / 4), return_eigenvectors=False)[0]


def energies(g, most, is_ordered):
    """The energy per site from all rectangles with ``m + n`` up to 2, 3, ..., `most`."""
    adds, sums = {}, []
    for half in range(2, most + 1):
        for m in range(1, half // 2 + 1):
            n = half - m
            smaller = ((m - a + 1) * (n - b + 1) * w for (a, b), w in adds.items() if a <= m and b <= n)
            adds[n, m] = adds[m, n] = energy_of(m, n, g, is_ordered) - sum(smaller)
        sums.append(sum(adds.values()) - 2 * is_ordered)
    return sums


def extrapolated(sums):
    """The limit of the last three as of a geometric series."""
    first, second, third = sums[-3:]
    return third - (third - second) ** 2 / ((third - second) - (second - first))
