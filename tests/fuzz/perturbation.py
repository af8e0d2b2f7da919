"""Perturbation theory in many digits, for `tests.fuzz.spectra`: divided differences over a known spectrum."""

from functools import lru_cache

import mpmath
import numpy as np

FUNCTIONS = {  # f, f', f'' for mpmath, and f for NumPy
    "exp": (mpmath.exp, mpmath.exp, mpmath.exp, np.exp),
    "cube": (lambda x: x**3, lambda x: 3 * x**2, lambda x: 6 * x, lambda x: x**3),
    "log": (mpmath.log, lambda x: 1 / x, lambda x: -1 / x**2, np.log),
    "sin": (mpmath.sin, mpmath.cos, lambda x: -mpmath.sin(x), np.sin),
}


class Differences:
    """Divided differences of a function over points ``w``: analytic where they coincide, else from its values.

    `f` is a triple of functions (and NumPy's, and the numbers by which it is multiplied at each point), or a pair of
    arrays, the values and slopes at the points: then it is linear where two coincide.
    """

    def __init__(self, f, w):
        self.w = [mpmath.mpf(float(x)) for x in w]
        if callable(f[0]):
            times = f[4] if len(f) > 4 else np.ones(len(w))
            self.value, self.slope, self.bend = (
                [g(x) if n else mpmath.mpf(0) for x, n in zip(self.w, times, strict=True)] for g in f[:3]
            )
        else:
            self.value, self.slope = ([mpmath.mpf(float(x)) for x in numbers] for numbers in f)
            self.bend = [mpmath.mpf(0)] * len(w)
        self.one = lru_cache(None)(self.one)
        self.two = lru_cache(None)(self.two)

    def one(self, i, j):
        gap = self.w[j] - self.w[i]
        return (self.value[j] - self.value[i]) / gap if gap else self.slope[i]

    def two(self, i, j, k):
        i, j, k = sorted((i, j, k), key=lambda n: self.w[n])
        gap = self.w[k] - self.w[i]
        return (self.one(j, k) - self.one(i, j)) / gap if gap else self.bend[i] / 2

    def first(self):
        n = range(len(self.w))
        return np.array([[float(self.one(min(i, j), max(i, j))) for j in n] for i in n])

    def second(self):
        n = range(len(self.w))
        return np.array([[[float(self.two(*sorted((i, j, k)))) for j in n] for k in n] for i in n])  # [i, k, j]


def derivatives(f, w, v, x, e):
    """The gradient of ``tr x f(A)``, ``A = v diag(w) v^H``, its derivative along `e`, and how large they could be."""
    with mpmath.workdps(60):
        differences = Differences(f, w)
        first, second = differences.first(), differences.second()
    sizes = np.abs(first).max() * np.abs(x).max(), np.abs(second).max() * np.abs(x).max() * np.abs(e).max()
    x, e = (v.conj().T @ y @ v for y in (x, e))
    curved = np.einsum("ikj,ik,kj->ij", second, x, e) + np.einsum("ikj,ik,kj->ij", second, e, x)
    return v @ (first * x) @ v.conj().T, v @ curved @ v.conj().T, sizes


def dilated_derivatives(parity, f, s, u, v, x, xu, e):
    """Of a function of singular values, as one of the eigenvalues of ``[[0, A], [A^H, 0]]``: "odd" or "even".

    The sum of a function of the "values" is the trace of an even one, which is taken as zero at zero.
    """
    (m, n), k = x.shape, len(s)
    rest, zeros = np.zeros((m + n, m + n - 2 * k), u.dtype), np.zeros(m + n - 2 * k)
    rest[:m, : m - k], rest[m:, m - k :] = u[:, k:], v[:, k:]
    pairs = np.block([[u[:, :k], u[:, :k]], [v[:, :k], -v[:, :k]]]) * np.sqrt(0.5)
    basis, w = np.concatenate([pairs, rest], axis=1), np.concatenate([s, -s, zeros])
    weights, dilated = np.zeros((2, m + n, m + n), u.dtype)
    dilated[:m, m:], dilated[m:, :m] = e, e.conj().T
    if parity == "odd":
        weights[:m, m:], weights[m:, :m] = x, x.conj().T
    elif parity == "even":
        weights[:m, :m] = 2 * xu
    else:
        weights, f = np.eye(m + n), even(f)
    if len(f) > 4:
        f = *f[:4], np.concatenate([f[4], f[4], zeros])
    if not callable(f[0]):
        sign = -1 if parity == "odd" else 1
        f = np.concatenate([f[0], sign * f[0], zeros]), np.concatenate([f[1], -sign * f[1], zeros])
    gradient, curved, sizes = derivatives(f, w, basis, weights, dilated)
    return gradient[:m, m:], curved[:m, m:], sizes


def even(f):
    """``f(|x|)`` away from zero, and nothing at zero."""
    return (
        lambda x: f[0](abs(x)) if x else mpmath.mpf(0),
        lambda x: mpmath.sign(x) * f[1](abs(x)) if x else mpmath.mpf(0),
        lambda x: f[2](abs(x)) if x else mpmath.mpf(0),
    )


# -- exact matrices ----------------------------------------------------------------------------------------------------


def exact_unitary(rng, n, kind):
    """Columns with entries of one bit (or ±sqrt(1/2), always two at a time)."""
    two = np.array([[1, 1], [1, -1]]) * np.sqrt(0.5)
    four = np.kron([[1, 1], [1, -1]], [[1, 1], [1, -1]]) / 2
    if kind == "c":
        four = 1j ** (np.outer(range(4), range(4)) % 4) / 2
    blocks = {1: [], 2: [two], 3: [two], 4: [four], 5: [four]}[n]
    u = np.eye(n, dtype=complex if kind == "c" else float)
    for block in blocks:
        u[: len(block), : len(block)] = block
    return u[rng.permutation(n)]


def exact_product(u, w, v):
    """``u diag(w) v^H``, which has few bits: those of sqrt(1/2)**2 are rounded away."""
    scale = 2.0**52
    return np.round(((u * w) @ v.conj().T) * scale) / scale


def draw_values(rng, n, single):
    """Values in descending order between 0.125 and 2, with a pair or a triple at a gap; the gap."""
    quantum = 2.0 ** -(19 if single else 49)
    gap = 10 ** rng.uniform(-6 if single else -14, 0) if rng.random() < 0.95 else 0.0
    gap = round(0.5 * gap / quantum) * quantum
    members = min(n, int(rng.integers(2, 4)))
    base = np.sort(rng.choice(np.arange(8), n - members + 1, replace=False))[::-1] * 0.21875 + 0.25
    at = int(rng.integers(len(base)))
    cluster = base[at] - gap * np.arange(members) * (0.25 if gap > 0.05 else 1.0)
    cluster = cluster + max(0.0, 0.125 - cluster[-1])  # derivatives grow without end towards 0
    w = np.concatenate([base[:at], cluster, base[at + 1 :]])
    order = np.argsort(-w, kind="stable")
    return w[order], gap
