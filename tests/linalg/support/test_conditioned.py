"""Derivatives of factors and functions of nearly singular matrices: right, or refused by an error of qad."""

import mpmath
import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError


def with_least(rng, m, n, least, kind="f"):
    """A matrix of singular values 1 and `least`, in bases of no special form."""
    noise = [rng.standard_normal((2, k, k)) for k in (m, n)]
    u, v = (np.linalg.qr(x[0] + (1j * x[1] if kind == "c" else 0.0))[0] for x in noise)
    k = min(m, n)
    return (u[:, :k] * np.geomspace(1, least, k)) @ v[:k]


def right_or_refused(compute, right, size=1.0):
    """Whether a result is right; False where it is refused."""
    try:
        found = compute()
    except ArgumentError:
        return False
    assert np.abs(found - right).max() <= 1e-4 * size
    return True


# -- projectors made of Q ----------------------------------------------------------------------------------------------


def of_columns(a):
    q = np.linalg.qr(a)[0]
    return q @ (q.conj().T @ a)


def of_rows(a):
    q = qad.linalg.lq(a)[1]
    return (a @ q.conj().T) @ q


SHAPES = [(of_columns, (3, 2), "f"), (of_columns, (4, 3), "c"), (of_rows, (2, 3), "f"), (of_rows, (2, 3), "c")]


@pytest.mark.parametrize("least", [10.0**-k for k in range(2, 14)])
@pytest.mark.parametrize("product, shape, kind", [*SHAPES, (of_columns, (2, 3), "c"), (of_columns, (2, 2), "c")])
def test_projections_onto_columns_move_as_the_matrix_does_or_are_refused(product, shape, kind, least):
    rng = np.random.default_rng(0)
    a, (w, e) = with_least(rng, *shape, least, kind), rng.standard_normal((2, *shape))

    def loss(x):
        return np.sum(w * product(x)).real

    def slope(x):
        return qad.jvp(loss, (x,), (e,))[1]

    done = [
        right_or_refused(lambda: slope(a), np.sum(w * e)),
        right_or_refused(lambda: qad.jvp(slope, (a,), (e,))[1], 0.0),
        right_or_refused(lambda: qad.grad(slope)(a), 0.0),
    ]
    assert done[0] or least < 2e-10
    assert all(done) or least < 1e-4


def test_columns_of_other_sizes_keep_their_tangents():
    rng = np.random.default_rng(3)
    sizes = np.array([1e-9, 1e-5, 1.0])
    a, e, w = rng.standard_normal((3, 4, 3)) * sizes
    found = qad.jvp(lambda x: np.sum(w * of_columns(x)), (a,), (e,))[1]
    right = np.sum(w * e)
    assert abs(found - right) < 1e-6 * np.abs(w * e).sum()


# -- the zero matrix, and singular ones --------------------------------------------------------------------------------


def entropy(a):
    w = np.linalg.eigh(a + a.conj().T)[0]
    p = np.exp(-w)
    p = p / p.sum()
    return -np.sum(p * np.log(p))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", "fc")
def test_thermal_states_of_the_zero_matrix_are_right_or_refused(seed, kind):
    noise = np.random.default_rng(seed).standard_normal((2, 4, 4))
    e = noise[0] + (1j * noise[1] if kind == "c" else 0.0)
    a, h = np.zeros_like(e), e + e.conj().T
    right = -2 * (h / 4 - np.trace(h) / 16 * np.eye(4))
    right_or_refused(lambda: qad.hvp(entropy, (a,), (e,))[0], right)
    right_or_refused(lambda: qad.jvp(qad.grad(entropy), (a,), (e,))[1], right)
    w = noise[1] + 1j * noise[0]
    right_or_refused(lambda: qad.jvp(lambda x: np.sum(w * qad.grad(entropy)(x)), (a,), (e,))[1], np.sum(w * right))


def test_functions_of_the_zero_matrix_are_followed_still():
    rng = np.random.default_rng(0)
    w, e = rng.standard_normal((2, 4, 4))

    def loss(a):
        values, v = np.linalg.eigh((a + a.T) / 2)
        return np.sum(w * ((v * np.exp(values)) @ v.T))

    h, s = (e + e.T) / 2, (w + w.T) / 2
    np.testing.assert_allclose(qad.hvp(loss, (np.zeros((4, 4)),), (e,))[0], (h @ s + s @ h) / 2, atol=1e-12)


@pytest.mark.parametrize(
    "a", [np.zeros((2, 2)), np.ones((2, 2)), np.diag([1.0, 0.0, 0.0]), np.diag([1.0, 1e-20]), np.ones((3, 2))]
)
def test_condition_numbers_of_singular_matrices_have_no_derivative(a):
    for take in (
        lambda: qad.grad(np.linalg.cond)(a),
        lambda: qad.jvp(np.linalg.cond, (a,), (a + 1.0,)),
        lambda: qad.hvp(np.linalg.cond, (a,), (a + 1.0,)),
    ):
        with pytest.raises(ArgumentError):
            take()
    found = qad.value_and_grad(lambda x: np.sum(x) if np.linalg.cond(x) > 1e10 else np.sum(x**2))(a)[1]
    np.testing.assert_array_equal(found, np.ones_like(a))


def test_condition_numbers_that_do_not_matter_may_be_infinite():
    a = np.array([np.diag([4.0, 2.0]), np.diag([1.0, 0.0])])
    found = qad.grad(lambda x: np.sum(np.where(np.arange(2) == 0, np.linalg.cond(x), 0.0)))(a)
    np.testing.assert_allclose(found, [np.diag([0.5, -1.0]), np.zeros((2, 2))])
    assert (qad.vmap(qad.grad(np.linalg.cond))(a[:1]) == found[:1]).all()


def test_condition_numbers_of_nearly_singular_matrices_keep_their_derivatives():
    a = np.diag([1.0, 1e-9])
    np.testing.assert_allclose(qad.grad(np.linalg.cond)(a), np.diag([1e9, -1e18]))
    np.testing.assert_allclose(qad.hvp(np.linalg.cond, (a,), (np.diag([0.0, 1.0]),))[0], np.diag([-1e18, 2e27]))
    np.testing.assert_allclose(qad.grad(lambda x: np.linalg.cond(x, -2))(a), np.diag([-1e-9, 1.0]))


# -- first derivatives of polar factors and pseudoinverses -------------------------------------------------------------


def digits(matrix):
    return mpmath.matrix([[mpmath.mpc(complex(x)) for x in row] for row in matrix])


def precise_slope(function, a, e):
    """The derivative of a function of mpmath's matrices, by a central difference of 80 digits."""
    with mpmath.workdps(80):
        a, e, h = digits(a), digits(e), mpmath.mpf(10) ** -25
        d = (function(a + h * e) - function(a - h * e)) / (2 * h)
        return np.array(d.tolist(), complex).reshape(d.rows, d.cols)


def precise_polar(a):
    w, v = mpmath.eighe(a.H * a)
    return a * v * mpmath.diag([1 / mpmath.sqrt(x) for x in w]) * v.H


def precise_pinv(a):
    return mpmath.inverse(a.H * a) * a.H


def factor(a):
    return qad.linalg.polar(a)[0]


@pytest.mark.parametrize("least", [10.0**-k for k in range(8, 15)])
@pytest.mark.parametrize("compute, precise", [(factor, precise_polar), (np.linalg.pinv, precise_pinv)])
@pytest.mark.parametrize("shape, kind", [((3, 2), "f"), ((3, 2), "c"), ((2, 2), "f"), ((2, 2), "c")])
@pytest.mark.sampled(20)
def test_first_derivatives_near_lower_rank_are_right_or_refused(compute, precise, shape, kind, least):
    rng = np.random.default_rng(1)
    a, e = with_least(rng, *shape, least, kind), rng.standard_normal(shape)
    right = precise_slope(precise, a, e)
    w = rng.standard_normal(right.shape)
    size = np.abs(right).max()
    done = right_or_refused(lambda: qad.jvp(compute, (a,), (e,))[1], right, size)
    backward = right_or_refused(
        lambda: np.sum(e * qad.grad(lambda x: np.sum(w * compute(x)).real)(a)).real, np.sum(w * right).real, size
    )
    assert done == backward
    assert done or least < 1e-10


def test_pseudoinverses_of_lower_rank_keep_their_derivatives():
    u, v, e = np.random.default_rng(0).standard_normal((3, 4, 2))
    found = qad.jvp(lambda u: np.linalg.pinv(u @ v.T), (u,), (e,))[1]
    right = np.linalg.pinv(v.T) @ precise_slope(precise_pinv, u, e).real
    np.testing.assert_allclose(found, right, atol=1e-10)


def test_polar_factors_of_real_square_matrices_divide_by_no_single_value():
    a = np.diag([1.0, 0.5, 1e-13])
    e = np.random.default_rng(0).standard_normal((3, 3))
    right = precise_slope(precise_polar, a, e).real
    np.testing.assert_allclose(qad.jvp(factor, (a,), (e,))[1], right, atol=1e-9)


# -- errors of qad's own -----------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:logm result may be inaccurate")
@pytest.mark.parametrize("least", [1e-3, 1e-6, 1e-8, 1e-10])
def test_second_derivatives_of_logarithms_are_right_or_refused(least):
    rng = np.random.default_rng(0)
    q = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    a, (w, e) = (q * [1.0, 0.36, least]) @ q.T, rng.standard_normal((2, 3, 3))
    a, w, e = (a + a.T) / 2, (w + w.T) / 2, (e + e.T) / 2

    def second(log):
        return qad.grad(lambda x: np.sum(e * qad.grad(lambda y: np.sum(w * log(y)).real)(x)))(a)

    right = second(lambda x: qad.linalg.funm_herm(np.log, x))
    assert right_or_refused(lambda: second(qad.linalg.logm), right, np.abs(right).max()) or least < 1e-6


@pytest.mark.parametrize("shift", [0.0, 2.0])
@pytest.mark.parametrize("n", [2, 3])
def test_defective_matrices_are_refused_by_an_error_of_qad(n, shift):
    a = np.diag(np.ones(n - 1), 1) + shift * np.eye(n)

    def loss(x):
        return np.sum(np.linalg.eigvals(x) ** 3).real

    for take in (
        lambda: qad.jvp(loss, (a,), (np.ones((n, n)),)),
        lambda: qad.hvp(loss, (a,), (np.ones((n, n)),)),
        lambda: qad.jvp(lambda x: np.linalg.eig(x)[1], (a,), (np.ones((n, n)),)),
    ):
        with pytest.raises(ArgumentError, match="eig: "):
            take()
    right = 3 * np.linalg.matrix_power(a, 2).T
    right_or_refused(lambda: qad.grad(loss)(a), right)


# -- products of factors at zeros --------------------------------------------------------------------------------------


def rebuilt(a, f):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return (u * f(s)) @ vh


@pytest.mark.parametrize("shape", [(1, 3), (3, 1), (1, 1), (2, 2), (3, 3), (4, 4), (2, 3)])
@pytest.mark.parametrize("kind", "fc")
@pytest.mark.parametrize("is_zero", [False, True])
@pytest.mark.sampled(12)
def test_products_of_factors_are_followed_where_one_singular_value_vanishes(shape, kind, is_zero):
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((6, *shape)) + (1j * rng.standard_normal((6, *shape)) if kind == "c" else 0.0)
    w, e, u, v = noise[:4]
    k = 0 if is_zero else min(shape) - 1
    a = u[:, :k] @ v[:k] if k else 0.0 * u

    def loss(x):
        return np.sum(w * rebuilt(x, lambda s: s)).real

    def slope(x):
        return qad.jvp(loss, (x,), (e,))[1]

    np.testing.assert_allclose(qad.grad(loss)(a), w.conj(), atol=1e-12)
    np.testing.assert_allclose(slope(a), np.sum(w * e).real, atol=1e-12)
    np.testing.assert_allclose(qad.hvp(loss, (a,), (e,))[0], 0.0, atol=1e-12)
    np.testing.assert_allclose(qad.jvp(slope, (a,), (e,))[1], 0.0, atol=1e-12)


@pytest.mark.parametrize(
    "f, precise", [(np.square, lambda s: s**2), (np.sin, mpmath.sin), (np.expm1, mpmath.expm1), (lambda s: s**3, None)]
)
def test_functions_of_a_vanishing_singular_value_are_right_or_refused(f, precise):
    rng = np.random.default_rng(0)
    a = np.outer([1.0, 2.0], [1.0, 2.0])
    w, e = rng.standard_normal((2, 2, 2))

    def loss(x):
        return np.sum(w * rebuilt(x, f))

    def exact(h):
        u, s, v = mpmath.svd_r(digits(a).apply(mpmath.re) + h * digits(e).apply(mpmath.re))
        values = [x**3 if precise is None else precise(x) for x in s]
        return mpmath.fsum(w[i, j] * (u * mpmath.diag(values) * v)[i, j] for i in range(2) for j in range(2))

    with mpmath.workdps(60):
        h = mpmath.mpf(10) ** -15
        first = float((exact(h) - exact(-h)) / (2 * h))
        second = [float((exact(2 * d) - 2 * exact(d) + exact(0)) / h**2) for d in (h, -h)]
    np.testing.assert_allclose(np.sum(e * qad.grad(loss)(a)), first, rtol=1e-10)
    np.testing.assert_allclose(qad.jvp(loss, (a,), (e,))[1], first, rtol=1e-10)
    smooth = abs(second[0] - second[1]) < 1e-9 * abs(second[0])
    followed = right_or_refused(lambda: np.sum(e * qad.hvp(loss, (a,), (e,))[0]), second[0], abs(second[0]))
    assert followed == smooth


def test_rotations_of_singular_matrices_are_refused():
    for f in (np.exp, np.sqrt, np.ones_like):
        with pytest.raises(ArgumentError):
            qad.grad(lambda x, f=f: np.sum(np.array([[0.0, 1.0], [2.0, 0.0]]) * rebuilt(x, f)))(np.ones((2, 2)))
