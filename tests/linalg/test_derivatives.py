"""Every function of qad.linalg against differences: both modes, first and second order, real and complex."""

import numpy as np
import pytest

import qad
from qad.linalg.functions.det import cofactors
from tests.cases import Case
from tests.linalg.draw import draw, herm, positive, well


def svd_loss(full):
    """A loss that is invariant under the gauge of the SVD and mixes U, s and Vh."""

    def loss(a):
        u, s, vh = np.linalg.svd(a, full_matrices=full)
        k = s.shape[-1]
        u1, v1 = u[..., :, :k], vh[..., :k, :]
        function = (u1 * np.exp(-s)[..., None, :]) @ v1
        left = (u1 * (s * s)[..., None, :]) @ u1.conj().mT
        right = (v1.conj().mT * s[..., None, :]) @ v1
        null = u[..., :, k:] @ u[..., :, k:].conj().mT + left
        kernel = vh[..., k:, :].conj().mT @ vh[..., k:, :] + right
        w = draw(a.shape[-1], a.shape[-1], seed=5, real=a.dtype.kind == "f")
        return function @ w, null @ left @ function, kernel @ w @ right

    return loss


def eigh_loss(a):
    """A loss that is invariant under the gauge of eigh and mixes w and V."""
    w, v = np.linalg.eigh(herm(a))
    c = draw(a.shape[-1], a.shape[-1], seed=5, real=a.dtype.kind == "f")
    low = v[..., :2] @ v[..., :2].conj().mT
    return (v * np.exp(-w)[..., None, :]) @ v.conj().mT @ c @ low, w[..., :1, None] * low


def singular(n, r, real):
    """A random matrix of rank r."""
    return draw(n, r, real=real) @ draw(r, n, real=real, seed=1)


SVD_SHAPES = [(4, 4), (6, 3), (3, 6), (2, 4, 3), (2, 2, 2, 3), (1, 3), (3, 1)]

# name, function, arguments (drawn with real=...)
TABLE = [
    *((f"svd {s}", svd_loss(False), lambda real, s=s: (draw(*s, real=real),)) for s in SVD_SHAPES),
    *((f"svd full {s}", svd_loss(True), lambda real, s=s: (draw(*s, real=real),)) for s in SVD_SHAPES[:4]),
    ("svd values", lambda a: np.linalg.svd(a, compute_uv=False), lambda real: (draw(2, 3, 4, real=real),)),
    ("svdvals", np.linalg.svdvals, lambda real: (draw(4, 3, real=real),)),
    ("eigh", eigh_loss, lambda real: (draw(4, 4, real=real),)),
    ("eigh batch", eigh_loss, lambda real: (draw(2, 3, 3, real=real),)),
    ("eigh U", lambda a: np.linalg.eigh(herm(a), "U")[0], lambda real: (draw(3, 3, real=real),)),
    ("eigvalsh", lambda a: np.linalg.eigvalsh(herm(a)), lambda real: (draw(2, 3, 3, real=real),)),
    ("qr square", lambda a: tuple(np.linalg.qr(a)), lambda real: (well(3, 3, real=real),)),
    ("qr tall", lambda a: tuple(np.linalg.qr(a)), lambda real: (draw(5, 3, real=real),)),
    ("qr wide", lambda a: tuple(np.linalg.qr(a)), lambda real: (draw(3, 5, real=real),)),
    ("qr batch", lambda a: tuple(np.linalg.qr(a)), lambda real: (draw(2, 4, 3, real=real),)),
    ("qr wide batch", lambda a: tuple(np.linalg.qr(a)), lambda real: (draw(2, 2, 3, real=real),)),
    ("qr Q alone", lambda a: np.linalg.qr(a).Q, lambda real: (draw(3, 4, real=real),)),
    ("qr R alone", lambda a: np.linalg.qr(a, "r"), lambda real: (draw(3, 4, real=real),)),
    ("qr complete", lambda a: np.linalg.qr(a, "complete").R, lambda real: (draw(2, 3, real=real),)),
    ("solve", np.linalg.solve, lambda real: (well(3, 3, real=real), draw(3, 2, real=real))),
    ("solve vector", np.linalg.solve, lambda real: (well(3, 3, real=real), draw(3, real=real))),
    ("solve batch, vector", np.linalg.solve, lambda real: (well(2, 3, 3, real=real), draw(3, real=real))),
    ("solve one, batch", np.linalg.solve, lambda real: (well(3, 3, real=real), draw(2, 3, 1, real=real))),
    ("solve mixed", np.linalg.solve, lambda real: (well(3, 3, real=real), draw(2, 3, 2, real=not real))),
    ("inv", np.linalg.inv, lambda real: (well(2, 3, 3, real=real),)),
    ("det", np.linalg.det, lambda real: (draw(2, 3, 3, real=real),)),
    *((f"det {n} x {n} of rank {r}", np.linalg.det, lambda real, n=n, r=r: (singular(n, r, real),))
      for n, r in [(1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2), (4, 2), (4, 3), (5, 4)]),
    ("slogdet", lambda a: tuple(np.linalg.slogdet(a)), lambda real: (draw(2, 3, 3, real=real),)),
    ("slogdet sign", lambda a: np.linalg.slogdet(a)[0], lambda real: (draw(3, 3, real=real),)),
    ("slogdet log", lambda a: np.linalg.slogdet(a)[1], lambda real: (draw(3, 3, real=real),)),
    ("cholesky", lambda a: np.linalg.cholesky(herm(a)), lambda real: (positive(2, 3, 3, real=real),)),
    ("cholesky upper", lambda a: np.linalg.cholesky(herm(a), upper=True), lambda real: (positive(3, 3, real=real),)),
    *((f"vector norm {p}", lambda a, p=p: np.linalg.norm(a, p, axis=1), lambda real: (draw(3, 4, real=real),))
      for p in (None, 1, 2, 3, 1.5, 0.5, -1, np.inf, -np.inf)),
    *((f"norm {p}", lambda a, p=p: np.linalg.norm(a, p, (0, 2)), lambda real: (draw(3, 2, 4, real=real, seed=4),))
      for p in (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)),
    ("matrix norm, swapped axes", lambda a: np.linalg.norm(a, 1, (1, 0)), lambda real: (draw(3, 4, real=real),)),
    ("norm keepdims", lambda a: np.linalg.norm(a, 2, (0, 2), keepdims=True), lambda real: (draw(3, 2, 4, real=real),)),
    ("norm of all", np.linalg.norm, lambda real: (draw(2, 3, 2, real=real),)),
    ("vector_norm", lambda a: np.linalg.vector_norm(a, axis=(0, 1), ord=3), lambda real: (draw(2, 3, 2, real=real),)),
    ("matrix_norm", lambda a: np.linalg.matrix_norm(a, ord="nuc"), lambda real: (draw(2, 3, 2, real=real, seed=2),)),
]  # fmt: skip


CASES = [
    Case(f, make(real), name=f"{name}, {'real' if real else 'complex'}")
    for real in (False, True)
    for name, f, make in TABLE
]
CASES += [Case(cofactors, well(3, 3), name="cofactors")]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    qad.check_grads(case.f, case.point, rtol=1e-6)


@pytest.mark.parametrize("n, r", [(3, 3), (3, 2), (3, 1)])
def test_the_gradient_of_det_is_its_cofactors(n, r):
    """Minors of a complex matrix, also where it has no inverse: the gradient of the real part is their conjugate."""
    a = singular(n, r, False)
    minors = [
        [np.linalg.det(np.delete(np.delete(a, i, 0), j, 1)) * (-1) ** (i + j) for j in range(n)] for i in range(n)
    ]
    gradient = qad.grad(lambda a: np.linalg.det(a).real)(a)
    np.testing.assert_allclose(gradient, np.conj(minors), atol=1e-13 * np.abs(a).max() ** 2)


@pytest.mark.parametrize("real", [False, True], ids=["complex", "real"])
def test_third_derivative_of_det(real):
    qad.check_grads(np.linalg.det, (well(3, 3, real=real),), order=3, rtol=1e-7)
    with pytest.raises(qad.QadError, match="third derivatives"):
        qad.check_grads(np.linalg.det, (singular(3, 2, real),), order=3, rtol=1e-7)


NAMES = [
    ("svd", lambda f, a: f(a, full_matrices=False)[1]),
    ("svdvals", lambda f, a: f(a)),
    ("eigh", lambda f, a: f(herm(a))[0]),
    ("eigvalsh", lambda f, a: f(herm(a))),
    ("qr", lambda f, a: f(a)[1]),
    ("inv", lambda f, a: f(a)),
    ("det", lambda f, a: f(a)),
    ("solve", lambda f, a: f(a, a + 1)),
    ("slogdet", lambda f, a: f(a)[1]),
    ("cholesky", lambda f, a: f(a @ a.conj().mT)),
    ("norm", lambda f, a: f(a)),
    ("vector_norm", lambda f, a: f(a)),
    ("matrix_norm", lambda f, a: f(a)),
]  # fmt: skip


@pytest.mark.parametrize("name, use", NAMES, ids=[n for n, _ in NAMES])
def test_both_names_give_the_same(name, use):
    """``np.linalg.f`` and ``qad.linalg.f``, on Tensors and on plain arrays."""
    a = well(2, 3, 3)
    ours, numpys = getattr(qad.linalg, name), getattr(np.linalg, name)
    assert type(use(ours, a)) is type(use(numpys, a))
    np.testing.assert_array_equal(use(ours, a), use(numpys, a))
    gradients = [qad.grad(lambda a, f=f: np.sum(use(f, a).real))(a) for f in (ours, numpys)]
    np.testing.assert_array_equal(*gradients)
    np.testing.assert_allclose(qad.vjp(lambda a: use(ours, a), a)[0], use(numpys, a), rtol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
@pytest.mark.parametrize("name, use", NAMES, ids=[n for n, _ in NAMES])
def test_single_precision(name, use, dtype):
    a = (well(3, 3, real=dtype is np.float32)).astype(dtype)
    gradient = qad.grad(lambda a: np.sum(use(getattr(np.linalg, name), a).real))
    g, wide = gradient(a), gradient(a.astype(np.result_type(dtype, np.float64)))
    assert g.dtype == dtype
    np.testing.assert_allclose(g, wide, rtol=2e-4, atol=2e-4)
