"""Statistics, polynomials, grids, sets, sparse matrices: functions that are made of others."""

import numpy as np
import pytest
from scipy import sparse

import qad
from tests.cases import Case, apart, normal
from tests.rules.points import check_values

R, C = normal(3, 4), normal(3, 4, complex)
V, W = normal(4), normal(4, complex)
F, A = np.array([1, 2, 1, 3]), np.array([0.5, 1.0, 2.0, 0.7])

STATISTICS = [
    *(Case(np.cov, x) for x in (R, C, V)),
    Case(lambda x, y: np.cov(x, y, bias=True), (R, V), name="cov-two"),
    Case(lambda x: np.cov(x, rowvar=False, ddof=0), C, name="cov-columns"),
    Case(lambda x, a: np.cov(x, fweights=F, aweights=a), (R, A), name="cov-weights"),
    Case(lambda x: np.cov(x, aweights=A, ddof=0), C, name="cov-aweights"),
    *(Case(np.corrcoef, x) for x in (R, C)),
    Case(lambda w: np.bincount([0, 2, 2, 5], w, minlength=7), V, name="bincount"),
    Case(lambda w: np.histogram([0.1, 0.5, 1.0, 0.9], 3, weights=w, range=(0, 1))[0], V, name="histogram"),
    Case(lambda w: np.histogram([0.1, 0.5, 1.0, 3.0], [0, 0.5, 1], weights=w, density=True)[0], A, name="density"),
]
POLYNOMIALS = [
    Case(np.polyval, (W, C)),
    Case(lambda x: np.polyval([1.0, 0.0, 2.0], x), R, name="polyval-list"),
    *(Case(f, (V[:2], W)) for f in (np.polyadd, np.polysub, np.polymul)),
    *(Case(lambda p, m=m: np.polyder(p, m), W, name=f"polyder-{m}") for m in (0, 1, 2)),
    Case(lambda p: np.polyint(p, 2, [3.0, 0.5]), W, name="polyint"),
    Case(np.polyint, V),
    *(Case(np.poly, x) for x in (V, W, normal(3, 3))),
    Case(lambda p: np.sum(np.roots(p) ** 3), normal(5), name="roots"),
    Case(lambda p: np.sum(np.roots(np.concatenate([p, [0.0]])) ** 3), W, name="roots-zero"),
    Case(np.vander, V),
    Case(lambda x: np.vander(x, 6, increasing=True), W, name="vander-increasing"),
    Case(lambda x, y: np.polyfit(x, y, 2), (normal(6), normal(6, seed=1)), name="polyfit"),
    Case(lambda y, w: np.polyfit(np.arange(4.0), y, 1, w=w), (normal(4, 2), A), name="polyfit-weights"),
]
GRIDS = [
    Case(lambda a, b: np.linspace(a, b, 5), (normal(), normal(3)), name="linspace"),
    Case(lambda a: np.linspace(a, 2.0, 4, False, True, axis=-1), W, name="linspace-step"),
    Case(lambda a, b: np.logspace(a, 1.0, 4, base=b), (np.array(0.3), np.array(2.5)), name="logspace"),
    Case(lambda a, b: np.geomspace(a, b, 4), (np.array(0.3), np.array([2.5, 4.0])), name="geomspace"),
    Case(lambda a: np.geomspace(a, 2.0 + 0j, 3), np.array(0.3 + 1j), name="geomspace-complex"),
    Case(lambda x, y: np.meshgrid(x, y, [1.0, 2.0]), (V, W), name="meshgrid"),
    Case(lambda x, y: np.meshgrid(x, y, indexing="ij", sparse=True), (V, W), name="meshgrid-sparse"),
    Case(lambda x, v: np.insert(x, 2, v, axis=1), (C, normal(3)), name="insert"),
    Case(lambda x, v: np.insert(x, [0, 3], v), (R, V[:2]), name="insert-flat"),
    Case(lambda x, v: np.insert(x, slice(0, 2), v, axis=0), (R, V), name="insert-slice"),
    Case(lambda x, v: np.insert(x, 1, v, axis=0), (R, normal(2, 4)), name="insert-rows"),
    Case(lambda x: np.resize(x, (2, 7)), C, name="resize"),
    Case(lambda x: np.trim_zeros(np.concatenate([[0.0], x, [0.0, 0.0]])), V, name="trim_zeros"),
    Case(lambda x: np.piecewise(x, [x < 0, x > 0.5], [np.exp, lambda v: v**2, 3.0]), R, name="piecewise"),
    Case(lambda x: np.piecewise(x, x > 0, [np.sin, 1.0]), V, name="piecewise-one"),
    Case(lambda x: np.apply_along_axis(np.outer, 0, x, x[:, 0]), R, name="apply_along_axis"),
    Case(lambda x: np.apply_along_axis(np.sum, 1, x), C, name="apply_along_axis-scalar"),
    Case(lambda x: np.apply_over_axes(np.sum, x, (0, -1)), C, name="apply_over_axes"),
    Case(lambda x: np.partition(x, 2, axis=0), apart(4, 3), name="partition"),
]
SETS = [
    Case(np.unique, apart(5)),
    Case(np.unique_values, apart(2, 3)),
    Case(np.unique, normal(2, 3, complex)),
    Case(np.union1d, (apart(3), apart(4, seed=1) + 0.05)),
    Case(lambda x: np.unique_all(x).values, apart(5), name="unique_all"),
    Case(lambda x: np.unique_counts(x)[0], apart(5), name="unique_counts"),
    Case(lambda x: np.unique_inverse(x).values, apart(5), name="unique_inverse"),
    Case(lambda x: np.unique(x, axis=0), apart(3, 2), name="unique-axis"),
]
MATRIX = sparse.coo_array(normal(3, 4) * (normal(3, 4, seed=1) > 0))
SPARSE = [
    Case(lambda x, A=A: np.matmul(A, x) if type(x) is qad.Tensor else A @ x, x, name=f"sparse-{type(A).__name__}")
    for A in (MATRIX.tocsr(), (MATRIX * 1j).tocsc(), sparse.csr_matrix(MATRIX))
    for x in (V, normal(4, 2, complex))
]
SPARSE += [
    Case(lambda x: x @ MATRIX, normal(3), name="vector-sparse"),
    Case(lambda x: x @ MATRIX.tocsr(), normal(2, 3, complex), name="matrix-sparse"),
    Case(lambda x: np.dot(MATRIX, x) if type(x) is qad.Tensor else MATRIX @ x, V, name="sparse-dot"),
]
MADE = STATISTICS + POLYNOMIALS + GRIDS + SETS
CASES = MADE + SPARSE


@pytest.mark.parametrize("case", MADE, ids=str)
def test_values(case):
    check_values(case, 1e-11)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    case.check()


def test_sparse_values():
    np.testing.assert_allclose(np.matmul(MATRIX, qad.tensor(V)).numpy(), MATRIX.toarray() @ V)
    np.testing.assert_allclose((qad.tensor(R.T) @ MATRIX).numpy(), R.T @ MATRIX.toarray())


def test_equal_values_share_their_derivative():
    g = qad.grad(lambda x: (np.unique(x) * [1.0, 6.0]).sum())(np.array([2.0, 1.0, 2.0, 2.0]))
    np.testing.assert_allclose(g, [2.0, 1.0, 2.0, 2.0])
    counts = np.unique(qad.tensor([2.0, 1.0, 2.0]), return_counts=True)[1]
    np.testing.assert_array_equal(counts, [1, 2])
    assert np.unique_all(qad.tensor([[2.0, 1.0]])).inverse_indices.shape == (1, 2)


def test_what_is_left_of_a_set():
    """No case for batches: what is left differs in number."""
    Case(lambda x: np.setdiff1d(x, x[1:3]), apart(5)).check()
    np.testing.assert_array_equal(np.setdiff1d(qad.tensor([3.0, 1.0, 3.0]), [1.0]).numpy(), [3.0])


def test_counts_are_plain():
    t = qad.tensor([0.1, 0.9, 0.8], requires_grad=True)
    np.testing.assert_array_equal(np.histogram(t, bins=2, range=(0, 1))[0], [1, 2])
    np.testing.assert_array_equal(np.histogramdd(np.stack([t, t], 1), bins=2)[0].sum(), 3)
    assert np.einsum_path("i,i->", t, t)[0] == np.einsum_path("i,i->", t.numpy(), t.numpy())[0]


REFUSED = [
    (lambda x: MATRIX @ x, qad.errors.RecordedTensorError, r"qad\.sparse"),
    (lambda x: np.eye(4).dot(x), qad.errors.RecordedTensorError, r"np.matmul\(a, x\)"),
    (lambda x: x + MATRIX, qad.errors.ArgumentError, "toarray"),
    (lambda x: np.matmul(MATRIX, np.ones((2, 4, 1)) * x[:, None]), qad.errors.ArgumentError, "toarray"),
    (lambda x: np.matmul(MATRIX.T, x), qad.errors.ShapeError, "transpose one"),
    (lambda x: np.intersect1d(x, x), qad.errors.ArgumentError, "np.isin"),
    (lambda x: np.put(x, [0], 1.0), qad.errors.ArgumentError, r"y = x.copy\(\)"),
    (lambda x: np.save("x.npy", x), qad.errors.ArgumentError, r"x.numpy\(\)"),
    (lambda x: np.polydiv(x, x), qad.errors.ArgumentError, "np.polyval"),
    (lambda x: np.polyfit(x, x, 1, cov=True), qad.errors.ArgumentError, "np.vander"),
    (lambda x: np.sort_complex(x), qad.errors.ArgumentError, "no order"),
    (lambda x: x.sort(), qad.errors.ArgumentError, "argument of a transform"),
    (lambda x: x.fill(0.0), qad.errors.ArgumentError, r"y = x.copy\(\)"),
    (lambda x: np.histogram2d(x, x, weights=x), qad.errors.ArgumentError, "np.bincount"),
]


@pytest.mark.parametrize("call, kind, message", REFUSED)
def test_refusals(call, kind, message):
    with pytest.raises(kind, match=message):
        qad.vjp(call, V)
