"""Hamiltonians of well-known chains, as matrix product operators.

A sum of terms on neighbours is a finite automaton that reads the chain from the left: state 0 has placed
nothing yet, one state per kind of term has placed its left half, and the last has placed a whole term.
"""

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import value_of
from qad.mps.chain import site_count
from qad.mps.operator import MPO

IDENTITY = np.eye(2)
RAISE = np.array([[0.0, 1.0], [0.0, 0.0]])  # spin up is basis state 0
LOWER = RAISE.T
SPIN_Z = np.diag([0.5, -0.5])
SIGMA_X = RAISE + LOWER
SIGMA_Z = 2 * SPIN_Z


def heisenberg(n, periodic=False):
    """The spin-1/2 Heisenberg chain ``H = sum_i S_i . S_(i+1)``.

    Parameters
    ----------
    n : int
        Number of sites, at least 2 (3 on a ring).
    periodic : bool
        Whether site n-1 couples to site 0; the operator's bond is then 8 instead of 5.

    Returns
    -------
    MPO
        Real, with outer bonds of dimension 1 in both cases.

    Examples
    --------
    >>> import numpy as np, qad
    >>> H = qad.mps.heisenberg(4)
    >>> float(np.linalg.eigvalsh(H.to_dense())[0].round(12))
    -1.616025403784
    """
    return xxz(n, 1.0, periodic)


def xxz(n, delta, periodic=False):
    """The spin-1/2 chain ``H = sum_i Sx_i Sx_(i+1) + Sy_i Sy_(i+1) + delta Sz_i Sz_(i+1)``.

    Parameters
    ----------
    n : int
        Number of sites, at least 2 (3 on a ring).
    delta : real number or Tensor
        Anisotropy; it may be differentiated.
    periodic : bool

    Returns
    -------
    MPO

    Examples
    --------
    >>> import qad
    >>> qad.mps.xxz(6, delta=0.5)
    MPO(6 sites, open, bonds 1-5-5-5-5-5-1, float64)
    """
    delta = real_number(delta, "delta")
    return neighbour_sum(n, [(0.5, RAISE, LOWER), (0.5, LOWER, RAISE), (delta, SPIN_Z, SPIN_Z)], (), periodic)


def ising(n, g, periodic=False):
    """The transverse-field Ising chain ``H = -sum_i sz_i sz_(i+1) - g sum_i sx_i`` of Pauli matrices.

    Parameters
    ----------
    n : int
        Number of sites, at least 2 (3 on a ring).
    g : real number or Tensor
        Transverse field; critical at 1.  It may be differentiated.
    periodic : bool

    Returns
    -------
    MPO

    Examples
    --------
    >>> import qad
    >>> qad.mps.ising(6, g=1.0)
    MPO(6 sites, open, bonds 1-3-3-3-3-3-1, float64)
    """
    g = real_number(g, "g")
    return neighbour_sum(n, [(-1.0, SIGMA_Z, SIGMA_Z)], [(-g, SIGMA_X)], periodic)


def neighbour_sum(n, couplings, fields, periodic):
    """The MPO of ``sum_i sum_k c_k L_k(i) R_k(i+1) + sum_i sum_m h_m F_m(i)``.

    Parameters
    ----------
    n : int
    couplings : list of (c, L, R)
    fields : list of (h, F)
        Coefficients are real numbers or Tensors, operators real 2x2 matrices.
    periodic : bool
        A ring keeps one more state per coupling: the right half of the term that closes it stands on site 0.
    """
    n = site_count(n, 3 if periodic else 2, "n of a ring" if periodic else "n")
    k = len(couplings)
    width = 2 + k * (2 if periodic else 1)
    wrapped = range(k + 1, width - 1)
    bulk = entry(width, 0, 0, IDENTITY) + entry(width, width - 1, width - 1, IDENTITY)
    first = last = 0
    for i, (c, left, right) in enumerate(couplings, 1):
        bulk = bulk + c * entry(width, 0, i, left) + entry(width, i, width - 1, right)
    for h, operator in fields:
        bulk = bulk + h * entry(width, 0, width - 1, operator)
    for i, (c, left, right) in zip(wrapped, couplings, strict=False):
        first = first + entry(width, 0, i, right)
        last = last + c * entry(width, i, width - 1, left)
    middle = bulk + sum(entry(width, i, i, IDENTITY) for i in wrapped)
    return MPO([(bulk + first)[:1], *[middle] * (n - 2), (bulk + last)[:, -1:]])


def entry(width, row, column, operator):
    """A site tensor of zeros but for one operator."""
    tensor = np.zeros((width, width, 2, 2))
    tensor[row, column] = operator
    return tensor


def real_number(x, name):
    """`x` if it is a finite real number, Tensors included."""
    value = np.asarray(value_of(x))
    if value.shape != () or value.dtype.kind not in "fiu" or not np.isfinite(value):
        raise ArgumentError(f"{name} must be a finite real number, so that H is Hermitian, but got {x!r}")
    return x
