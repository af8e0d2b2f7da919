"""Derivatives at spectra with gaps from 1e-14 to 1, against perturbation theory in many digits.

A matrix is made of eigenvectors whose entries are 0, ±1/2, ±i/2, 1 or ±sqrt(1/2) and of values of few bits, so that
it is known without rounding, and with it its spectrum.  A loss is ``tr X f(A)``; its derivatives are divided
differences of f (Daleckii and Krein), by mpmath with 60 digits: a function of the singular values is one of the
Hermitian matrix ``[[0, A], [A^H, 0]]``, a projector that of a step, a single level that of one that is one there only.

All errors are measured by the promise: a derivative is right to ``u`` times its condition number, u being `SUMS` units
of rounding times the root of the size, or refused.  The condition of order k is the k-th power of the size of the
spectrum over the least gap that is divided by; and of the distance from zero, where f or its vectors end.  A function
of the matrix divides by no gap but that of its cut, and must be right.  So must products of factors, whose gaps are
divided by only where they are wide enough not to be followed, and losses of whole clusters in the modes that have them.
All else divides by every gap, and is refused before less than a quarter of its digits are left.
"""

import mpmath
import numpy as np

import qad
from qad import linalg as la
from qad.linalg.support import tolerances
from tests.fuzz.perturbation import (
    FUNCTIONS,
    derivatives,
    dilated_derivatives,
    draw_values,
    even,
    exact_product,
    exact_unitary,
)
from tests.linalg.draw import apart

# -- programs ----------------------------------------------------------------------------------------------------------


def herm(a):
    return (a + a.conj().mT) / 2


def onto(v):
    return v @ v.conj().T


def trace(x, p):
    return np.sum(x.conj() * p).real


PRODUCTS = {  # ways to write V f(w) V^H
    "columns": lambda f, w, v: (v * f(w)) @ v.conj().T,
    "rows": lambda f, w, v: v @ (f(w)[:, None] * v.conj().mT),
    "diag": lambda f, w, v: v @ np.diag(f(w)) @ np.conj(v).T,
    "einsum": lambda f, w, v: qad.einsum("ij,j,kj->ik", v, f(w), v.conj()),
    "NumPy's einsum": lambda f, w, v: np.einsum("ij,kj,j->ik", v, v.conj(), f(w)),
    "sandwich": lambda f, w, v: (v * f(w)) @ (v.conj().T @ np.eye(len(w))),
    "halves": lambda f, w, v: (2.0 * v * f(w)) @ (v / 2.0).conj().T,
}


def hermitian_program(rng, w, x, name):
    """Forms (function of a Hermitian matrix, f for the reference, whether it must be right), and the gap at the cut."""
    f, n = FUNCTIONS[name], len(w)
    k = int(rng.integers(1, n + 1))
    gap = w[k - 1] - w[k] if k < n else np.inf
    cut = gap < 0.05
    level, step = int(rng.integers(n)), (np.arange(n) < k) * 1.0
    alone = np.eye(n)[level]

    def kept(a):
        return onto(la.truncated_eigh(a, k, multiplets="cut")[1])

    def columns(a):
        return onto(np.linalg.eigh(a)[1][:, n - k :])

    def by_hand(product):
        return lambda a: trace(x, product(f[3], *np.linalg.eigh(a)))

    def some(a):
        w, v = np.linalg.eigh(a)
        w, v = w[n - k :], v[:, n - k :]
        return trace(x, (v * f[3](w)) @ v.conj().T)

    def truncated(a):
        w, v = la.truncated_eigh(a, k, multiplets="cut")[:2]
        return trace(x, (v * f[3](w)) @ v.conj().T)

    def other(a):
        w, v = np.linalg.eigh(a)
        return trace(x, (apart(v) * f[3](w)) @ v.conj().T)

    product, part = PRODUCTS[list(PRODUCTS)[rng.integers(len(PRODUCTS))]], (*f, step)

    return {
        "funm_herm": (lambda a: trace(x, la.funm_herm(f[3], a)), f, True),
        "projector, truncated": (lambda a: trace(x, kept(a)), (step, 0 * step), not cut),
        "projector, columns": (lambda a: trace(x, columns(a)), (step, 0 * step), not cut),
        "V f(w) V^H by hand": (by_hand(product), f, True),
        "V f(w) V^H, some columns": (some, part, not cut),
        "V f(w) V^H, truncated": (truncated, part, not cut),
        "V f(w) V^H out of sight": (other, f, False),
        "one level": (lambda a: np.linalg.eigvalsh(a)[n - 1 - level], (alone * w, alone), False),
        "sum of levels": (lambda a: np.linalg.eigvalsh(a)[n - k :].sum(), (step * w, step), False),
        "sum of f": (lambda a: f[3](np.linalg.eigvalsh(a)).sum(), f, True),
        "sum of some f": (lambda a: f[3](np.linalg.eigvalsh(a)[n - k :]).sum(), part, not cut),
        "one vector": (lambda a: trace(x, onto(np.linalg.eigh(a)[1][:, [n - 1 - level]])), (alone, 0 * alone), False),
        "eig": (lambda a: (f[3](np.linalg.eigvals(a)).sum()).real, f, False),
        "eig by hand": (lambda a: _rebuilt(a, f[3], x), f, False),
        "expm": (lambda a: trace(x, la.expm(a)), FUNCTIONS["exp"], True),
        "logm": (lambda a: trace(x, la.logm(a)), FUNCTIONS["log"], True),
    }, gap


def _rebuilt(a, f, x):
    w, v = np.linalg.eig(a)
    return trace(x, (v * f(w)) @ np.linalg.inv(v))


WITHOUT_VECTORS = {"one level", "sum of levels", "sum of f", "sum of some f", "eig"}


def singular_program(rng, s, x, xu, name):
    """As `hermitian_program`, of singular values; f is that of the values, "odd" or "even" its continuation."""
    f, k = FUNCTIONS[name], int(rng.integers(1, len(s) + 1))
    gap = s[k - 1] - s[k] if k < len(s) else np.inf
    cut = gap < 0.05
    step = (np.arange(len(s)) < k) * 1.0

    def truncated(a):
        return la.truncated_svd(a, k, multiplets="cut")[:3]

    def thin(a):
        return np.linalg.svd(a, full_matrices=False)

    def by_hand(a, factors):
        u, s, vh = factors(a)
        return trace(x, (u * s) @ vh)

    def function(a):
        u, s, vh = thin(a)
        return trace(x, (u * odd[3](s)) @ vh if k % 2 else u @ np.diag(odd[3](s)) @ vh)

    def squared(a):
        u, s, _ = thin(a)
        return trace(xu, (u * s**3) @ u.conj().T)

    def other(a):
        u, s, vh = thin(a)
        return trace(x, (apart(u) * s) @ vh)

    def rotation(a):
        u, _, vh = thin(a)
        return trace(x, u @ vh)

    def left(a, factors):
        return trace(xu, onto(factors(a)[0][:, :k]))

    def product(a):
        left, right = la.split(a, k, multiplets="cut")
        return trace(x, left @ right)

    one, odd = (s * 0 + 1, s * 0), FUNCTIONS["sin" if name in ("exp", "sin") else "cube"]
    return {
        "funm_svd": (lambda a: trace(x, la.funm_svd(lambda s: s**3, a)), "odd", FUNCTIONS["cube"], True),
        "polar": (lambda a: trace(x, la.polar(a)[0]), "odd", one, True),
        "polar by hand": (rotation, "odd", one, True),
        "split": (product, "odd", (step * s, step), not cut),
        "projector, truncated": (lambda a: left(a, truncated), "even", (step, 0 * step), not cut),
        "projector, thin": (lambda a: left(a, thin), "even", (step, 0 * step), not cut),
        "U S V^H truncated": (lambda a: by_hand(a, truncated), "odd", (step * s, step), not cut),
        "U f(S) V^H by hand": (function, "odd", odd, True),
        "U f(S) U^H by hand": (squared, "even", even(FUNCTIONS["cube"]), True),
        "U S V^H out of sight": (other, "odd", (s, s * 0 + 1), False),
        "sum of f(s)": (lambda a: f[3](np.linalg.svdvals(a)).sum(), "values", f, False),
        "nuclear norm": (lambda a: np.linalg.norm(a, "nuc"), "values", (abs, mpmath.sign, lambda x: 0 * x), False),
    }, gap


# -- checks ------------------------------------------------------------------------------------------------------------


def modes(f, a, e):
    """The derivatives, each with its order and whether it is a number along `e`."""
    g = qad.grad(f)

    def inner(x, y):
        return np.sum(x.conj() * y).real

    return {
        "grad": (lambda: g(a), 1, False),
        "jvp": (lambda: qad.jvp(f, (a,), (e,))[1], 1, True),
        "hvp": (lambda: qad.hvp(f, (a,), (e,))[0], 2, False),
        "vmap of hvp": (lambda: qad.vmap(lambda e: qad.hvp(f, (a,), (e,))[0])(np.stack([e, e]))[1], 2, False),
        "hvp of vmap": (lambda: qad.hvp(lambda a: qad.vmap(f)(a).sum(), (_two(a),), (_two(e),))[0][0], 2, False),
        "reverse over reverse": (lambda: qad.grad(lambda a: inner(e, g(a)))(a), 2, False),
        "reverse over forward": (lambda: qad.grad(lambda a: qad.jvp(f, (a,), (e,))[1])(a), 2, False),
        "forward over forward": (
            lambda: qad.jvp(lambda a: qad.jvp(f, (a,), (e,))[1], (a,), (e,))[1], 2, True,
        ),
    }  # fmt: skip


def _two(a):
    return np.stack([a, a])


SINGULAR = "singular values"


def draw(seed):
    """A program and its point, direction and derivatives: (name, f, a, e, (gradient, hvp, sizes), must be right, gaps).

    Gaps, relative to the largest value, are the least that a function of the matrix has to divide by, and of all.
    """
    rng = np.random.default_rng(seed)
    single, kind = rng.random() < 0.15, "rc"[rng.integers(2)]
    name = list(FUNCTIONS)[rng.integers(len(FUNCTIONS))]
    values, program = ("eigenvalues", _hermitian) if rng.random() < 0.55 else (SINGULAR, _singular)
    form, f, a, e, expected, sure, gap, least = program(rng, single, kind, name)
    if single:
        a, e = (x.astype(np.complex64 if x.dtype.kind == "c" else np.float32) for x in (a, e))
    return f"{form} ({name} of {values}, {a.dtype}{a.shape}, gap {gap:.1e})", f, a, e, expected, sure, least


def _gaps(values, cut):
    """The least gap, of the largest value: at the cut or from zero, and of all."""
    own = min(values.min(), cut)
    return own / values.max(), min(own, *np.abs(np.diff(values))) / values.max()


def _random(rng, shape, kind):
    x = rng.integers(-8, 9, size=shape) / 8.0
    return x + 1j * rng.integers(-8, 9, size=shape) / 8.0 if kind == "c" else x


def _hermitian(rng, single, kind, name):
    n = int(rng.integers(2, 6))
    (w, gap), u = draw_values(rng, n, single), exact_unitary(rng, n, kind)
    x, e = (herm(_random(rng, (n, n), kind)) for _ in range(2))
    programs, cut = hermitian_program(rng, w, x, name)
    form = list(programs)[rng.integers(len(programs))]
    f, function, sure = programs[form]
    weights = np.eye(n) if form in WITHOUT_VECTORS else x
    expected, least = derivatives(function, w, u, weights, e), _gaps(w, cut if form in CHOICES else np.inf)
    return form, lambda a: f(herm(a)), exact_product(u, w, u), e, expected, sure, gap, least


def _singular(rng, single, kind, name):
    m, n = (int(k) for k in rng.integers(2, 6, size=2))
    k = min(m, n)
    s, gap = draw_values(rng, k, single)
    u, v = exact_unitary(rng, m, kind), exact_unitary(rng, n, kind)
    x, xu, e = _random(rng, (m, n), kind), herm(_random(rng, (m, m), kind)), _random(rng, (m, n), kind)
    programs, cut = singular_program(rng, s, x, xu, name)
    form = list(programs)[rng.integers(len(programs))]
    f, parity, function, sure = programs[form]
    expected = dilated_derivatives(parity, function, s, u, v, x, xu, e)
    least = _gaps(s, cut if form in CHOICES else np.inf)
    return form, f, exact_product(u[:, :k], s, v[:, :k]), e, expected, sure, gap, least


FUNCTIONS_OF_MATRICES = {"funm_herm", "funm_svd", "polar", "split", "expm", "logm"}
ALWAYS_RIGHT = {  # in every mode: these, and products of factors
    *FUNCTIONS_OF_MATRICES, "V f(w) V^H by hand", "V f(w) V^H, some columns",
    "V f(w) V^H, truncated", "sum of f", "sum of some f", "polar by hand", "U S V^H truncated", "U f(S) V^H by hand",
    "U f(S) U^H by hand",
}  # fmt: skip
CHOICES = {  # where a multiplet is cut
    "projector, truncated", "projector, columns", "projector, thin", "one vector", "one level", "U S V^H truncated",
    "V f(w) V^H, truncated", "V f(w) V^H, some columns", "split",
}  # fmt: skip
CLUSTERS = {"grad", "hvp", "vmap of hvp", "hvp of vmap"}  # where losses of whole clusters are right at every gap


def _divided_by(form, gaps, order, dtype):
    """The gap by which a form that must be right divides."""
    own, least = gaps
    return own if form in FUNCTIONS_OF_MATRICES else min(own, max(least, tolerances.followed(dtype, order)))


def _unit(dtype, gap):
    """u at this gap: what LAPACK's SVD drops off the diagonal (dbdsqr: tol) turns vectors whose values are closer."""
    dropped = (tolerances.unit(dtype) / 2) ** (7 / 8)
    return max(tolerances.sums(dtype), dropped) if gap < dropped else tolerances.sums(dtype)


def check(seed) -> list:
    """What is wrong with the program of this seed, in words."""
    name, f, a, e, expected, sure, least = draw(seed)
    found, u = [], _unit(a.dtype, least[1] if SINGULAR in name else 1.0) * np.sqrt(max(a.shape))
    always = name.split(" (")[0] in ALWAYS_RIGHT
    if "gap 0.0e+00" in name and not sure and name.split(" (")[0] in CHOICES:
        return []  # a vector that LAPACK has chosen, which may happen to suit the weights or the direction
    for mode, (derivative, order, along) in modes(f, a, e).items():
        right = expected[order - 1]
        scale = max(np.abs(right).max(), expected[2][order - 1], 0.3 / np.linalg.norm(a, 2) ** order)
        if along:  # <e, D> of a D that is known to a part of `scale` is known to that part times the norm of e
            right, scale = np.sum(e.conj() * right).real, scale * np.linalg.norm(e)
        must = sure and (always or mode in CLUSTERS)
        gap = _divided_by(name.split(" (")[0], least, order, a.dtype) if must else least[1]
        tolerance = min(u / max(gap, 1e-15) ** order, tolerances.quarter(a.dtype))
        try:
            error = np.abs(derivative() - right).max()
        except qad.QadError as refusal:
            if must:
                found.append(f"{name}, {mode}: refused: {str(refusal)[:120]}")
            continue
        if not error <= tolerance * scale:
            found.append(f"{name}, {mode}: off by {error:.1e} of {scale:.1e}")
    return found
