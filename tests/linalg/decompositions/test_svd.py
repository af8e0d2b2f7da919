"""Singular values that are zero, equal or nearly equal: a derivative of the loss is right, or refused."""

import numpy as np
import pytest

import qad

rng = np.random.default_rng(5)


def nuclear(a):
    return np.linalg.norm(a, "nuc")


SECOND = {
    "hvp": lambda f, a, e: qad.hvp(f, (a,), (e,))[0],
    "jvp of grad": lambda f, a, e: qad.jvp(qad.grad(f), (a,), (e,))[1],
    "grad of grad": lambda f, a, e: qad.grad(lambda a: np.sum(e * qad.grad(f)(a)))(a),
    "grad of jvp": lambda f, a, e: qad.grad(lambda a: qad.jvp(f, (a,), (e,))[1])(a),
    "jvp of jvp": lambda f, a, e: qad.jvp(lambda a: qad.jvp(f, (a,), (e,))[1], (a,), (e,))[1],
}
second = pytest.mark.parametrize("second", SECOND.values(), ids=SECOND)


# -- the nuclear norm at lower rank ------------------------------------------------------------------------------------


@second
@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (3, 5)], ids=str)
def test_the_nuclear_norm_has_one_derivative_at_lower_rank_and_no_second(second, shape):
    a = np.zeros(shape)
    a[0, 0], e = 1.0, np.ones(shape)
    expected = a.copy()  # the subgradient that is zero in the null spaces
    np.testing.assert_allclose(qad.grad(nuclear)(a), expected, atol=1e-14)
    assert qad.jvp(nuclear, (a,), (e,))[1] == pytest.approx(1.0)
    with pytest.raises(qad.QadError, match="order 2"):
        second(nuclear, a, e)


@pytest.mark.parametrize("small", [7e-15, 1e-13, 1e-11])
def test_the_nuclear_norm_of_a_value_that_is_nearly_zero_has_no_derivative(small):
    """It counted as zero: 0.6 were missing of the gradient."""
    for a in (np.diag([1.0, small]), np.diag([1.0, small, 0.0]), np.diag([1.0, 0.5, 0.2, small])[:, ::-1]):
        for derivative in (lambda a: qad.grad(nuclear)(a), lambda a: qad.jvp(nuclear, (a,), (np.ones_like(a),))):
            with pytest.raises(qad.QadError, match="zero"):
                derivative(a)
    right = qad.grad(nuclear)(np.diag([1.0, 1e-9]))
    np.testing.assert_allclose(right, np.eye(2), atol=1e-6)


# -- products by hand of a square matrix with a single zero ------------------------------------------------------------

LOW = np.array([[1.0, 2], [2, 4]]), rng.standard_normal((4, 3)) @ rng.standard_normal((3, 4))
JUMPS = {
    "the polar factor": lambda u, s, vh: u @ vh,
    "a function that is one at zero": lambda u, s, vh: (u * np.cos(s)) @ vh,
    "squares of entries": lambda u, s, vh: (u @ vh) ** 2,
    "with a projector": lambda u, s, vh: u @ vh + u[:, -1:] @ u[:, -1:].T,
}
SMOOTH = {
    "a cube": lambda u, s, vh: (u * s**3) @ u.T,
    "an odd power": lambda u, s, vh: (u * s**3) @ vh,
    "kept vectors": lambda u, s, vh: u[:, :-1] @ vh[:-1],
    "a kept space": lambda u, s, vh: u[:, :-1] @ u[:, :-1].T,
    "a null space": lambda u, s, vh: u[:, -1:] @ u[:, -1:].T,
    "the other null space": lambda u, s, vh: vh[-1:].T @ vh[-1:],
}


@pytest.mark.parametrize("f", JUMPS.values(), ids=JUMPS)
@pytest.mark.parametrize("a", [*LOW, LOW[1].astype(complex)], ids=["2", "4", "complex"])
def test_products_that_jump_at_a_single_zero_have_no_gradient(f, a):
    w = np.random.default_rng(7).standard_normal(a.shape)

    def loss(a):
        return np.sum(w * f(*np.linalg.svd(a))).real

    with pytest.raises(qad.QadError, match="zero"):
        qad.grad(loss)(a)
    with pytest.raises(qad.QadError):
        qad.hvp(loss, (a,), (w,))


def test_products_that_jump_at_a_single_zero_in_stacks():
    w = np.random.default_rng(7).standard_normal((4, 4))

    def loss(a):
        u, s, vh = np.linalg.svd(a)
        return np.sum(w * ((u * np.cos(s)[..., None, :]) @ vh))

    with pytest.raises(qad.QadError, match=r"batch entry \(1,\)"):
        qad.grad(loss)(np.stack([LOW[1] + np.eye(4), LOW[1]]))


@pytest.mark.parametrize("f", SMOOTH.values(), ids=SMOOTH)
@pytest.mark.parametrize("a", LOW, ids=["2", "4"])
def test_losses_without_both_null_vectors_keep_their_gradient_at_a_single_zero(f, a):
    w, e = np.random.default_rng(7).standard_normal((2, *a.shape))

    def loss(a):
        return np.sum(w * f(*np.linalg.svd(a)))

    h = 1e-5
    exact = (loss(a + h * e) - loss(a - h * e)) / (2 * h)
    np.testing.assert_allclose(np.sum(e * qad.grad(loss)(a)), exact, rtol=1e-6, atol=1e-6)


# -- equal values in forward mode --------------------------------------------------------------------------------------

SINGLE = {
    "svdvals": lambda a: qad.linalg.svdvals(a)[0],
    "svd": lambda a: np.linalg.svd(a, compute_uv=False)[0],
    "eigvalsh": lambda a: np.linalg.eigvalsh((a + a.T) / 2)[1],
}
SYMMETRIC = {
    "a sum": lambda a: np.sum(qad.linalg.svdvals(a)),
    "powers": lambda a: np.sum(qad.linalg.svdvals(a) ** 3),
    "nuc": nuclear,
    "fro": lambda a: np.linalg.norm(a),
}


@pytest.mark.parametrize("f", SINGLE.values(), ids=SINGLE)
def test_tangents_that_split_equal_values_refuse_single_ones_in_any_basis(f):
    with pytest.raises(qad.QadError, match="degenerate"):
        qad.jvp(f, (np.eye(2),), (np.diag([-1.0, 1.0]),))
    with pytest.raises(qad.QadError, match="degenerate"):
        qad.jvp(f, (np.eye(2),), (np.array([[0.0, 1.0], [1.0, 0.0]]),))
    np.testing.assert_allclose(qad.jvp(f, (np.eye(2),), (np.array([[2.0, 1.0], [-1.0, 2.0]]),))[1], 2.0)


@pytest.mark.parametrize("f", SYMMETRIC.values(), ids=SYMMETRIC)
@pytest.mark.parametrize("e", [np.diag([-1.0, 3.0]), rng.standard_normal((2, 2))], ids=["diagonal", "any"])
def test_symmetric_functions_of_equal_values_keep_their_tangents(f, e):
    a, h = 2 * np.eye(2), 1e-6
    exact = (f(a + h * e) - f(a - h * e)) / (2 * h)
    np.testing.assert_allclose(qad.jvp(f, (a,), (e,))[1], exact, rtol=1e-7)


# -- the largest and the smallest value --------------------------------------------------------------------------------


def smallest(a):
    return np.linalg.norm(a, -2)


def largest(a):
    return np.linalg.norm(a, 2)


def slopes(f, values):
    """Of the diagonal entries, in both modes."""
    a = np.diag(values)
    back = np.diag(qad.grad(f)(a))
    along = [qad.jvp(f, (a,), (np.diag(e),))[1] for e in np.eye(len(values))]
    np.testing.assert_allclose(back, along, rtol=1e-10, atol=1e-10 * np.abs(back).max())
    return back


def test_the_smallest_of_small_values_has_its_own_derivative():
    np.testing.assert_allclose(slopes(smallest, [1.0, 1e-9, 9e-10]), [0, 0, 1])
    np.testing.assert_allclose(slopes(np.linalg.cond, [1.0, 1e-9, 9e-10]), [1 / 9e-10, 0, -1 / 9e-10**2], rtol=1e-6)
    np.testing.assert_allclose(slopes(smallest, [1.0, 1e-9, 1e-9]), [0, 0.5, 0.5])
    np.testing.assert_allclose(slopes(largest, [1.0, 1.0 - 1e-15, 0.5]), [0.5, 0.5, 0])
    np.testing.assert_allclose(slopes(largest, [1.0, 1.0 - 1e-10, 0.5]), [1, 0, 0])


@pytest.mark.parametrize("f", [smallest, np.linalg.cond])
@pytest.mark.parametrize("values", [[1.0, 1e-11, 9e-12], [1.0, 1e-9, 1e-9 + 1e-12]], ids=str)
def test_smallest_values_whose_vectors_are_not_known_are_refused(f, values):
    with pytest.raises(qad.QadError, match="less than four digits|zero|singular"):
        qad.grad(f)(np.diag(values))
    with pytest.raises(qad.QadError, match="less than four digits|zero|singular"):
        qad.jvp(f, (np.diag(values),), (np.eye(3),))


@pytest.mark.parametrize("f", [largest, np.linalg.cond])
def test_largest_values_whose_vectors_are_not_known_are_refused(f):
    with pytest.raises(qad.QadError, match=r"batch entry \(1,\)"):
        qad.vmap(qad.grad(f))(np.stack([np.diag([1.0, 2.0]), np.diag([1.0, 1.0 + 1e-13])]))
