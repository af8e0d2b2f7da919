"""Bad shapes and numbers are refused in plain words, on plain arrays as on Tensors; what NumPy has is here too."""

import numpy as np
import pytest

import qad
from qad import linalg as la
from qad.core.errors import MissingRuleError
from tests.linalg.draw import well

SQUARE = {
    "inv": la.inv, "det": la.det, "slogdet": lambda a: la.slogdet(a)[1], "cholesky": la.cholesky,
    "eig": lambda a: la.eig(a)[0], "eigvals": la.eigvals, "eigh": lambda a: la.eigh(a)[0], "eigvalsh": la.eigvalsh,
    "expm": la.expm, "logm": la.logm, "sqrtm": la.sqrtm, "schur": lambda a: la.schur(a)[0],
    "funm": lambda a: la.funm(np.cos, a), "funm_herm": lambda a: la.funm_herm(np.exp, a),
    "matrix_power": lambda a: la.matrix_power(a, 2), "solve": lambda a: la.solve(a, a),
    "solve_triangular": lambda a: la.solve_triangular(a, a), "truncated_eigh": lambda a: la.truncated_eigh(a, 1)[0],
}  # fmt: skip
OTHERS = {
    "svd": lambda a: la.svd(a)[1], "svdvals": la.svdvals, "qr": lambda a: la.qr(a)[1], "lq": lambda a: la.lq(a)[0],
    "polar": lambda a: la.polar(a)[1], "pinv": la.pinv, "lu": lambda a: la.lu(a)[2], "cond": la.cond,
    "funm_svd": lambda a: la.funm_svd(np.sin, a), "truncated_svd": lambda a: la.truncated_svd(a, 1)[1],
    "split": lambda a: la.split(a, 1)[0], "lstsq": lambda a: la.lstsq(a, a)[0],
}  # fmt: skip
ALL = SQUARE | OTHERS
named = pytest.mark.parametrize("name", ALL)


def both_ways(f, a):
    """On the plain array, and on a Tensor."""
    yield lambda: f(a)
    yield lambda: qad.grad(lambda a: np.sum(f(a)).real)(a)


@pytest.mark.parametrize("name", SQUARE)
def test_matrices_that_are_not_square(name):
    for call in both_ways(SQUARE[name], np.ones((2, 3))):
        with pytest.raises(qad.QadError, match=rf"^{name} .*square.*\(2, 3\)"):
            call()


@named
def test_vectors_are_no_matrices(name):
    for call in both_ways(ALL[name], np.ones(3)):
        with pytest.raises(qad.QadError, match=rf"^{name} .*\(3,\)"):
            call()


@named
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_that_are_not_finite(name, value):
    a = np.eye(2)
    a[0, 1] = value
    for call in both_ways(ALL[name], a):
        with pytest.raises(qad.QadError, match=rf"{name}: entry \[0, 1\] is {value}"):
            call()


@named
def test_lists_and_integers_are_matrices(name):
    expected = ALL[name](np.array([[2.0, 1.0], [1.0, 4.0]]))
    np.testing.assert_allclose(ALL[name]([[2, 1], [1, 4]]), expected)
    np.testing.assert_allclose(ALL[name](np.array([[2, 1], [1, 4]])), expected)


@pytest.mark.parametrize("name", sorted(set(ALL) - {"cond", "truncated_svd", "truncated_eigh", "split", "lstsq"}))
@pytest.mark.parametrize("shape", [(0, 2, 2), (0, 0)])
def test_empty_matrices(name, shape):
    a = np.zeros(shape)
    gradient = qad.grad(lambda a: np.sum(ALL[name](a)).real)(a)
    assert gradient.shape == shape
    assert qad.hvp(lambda a: np.sum(ALL[name](a)).real, (a,), (a,))[0].shape == shape


MESSAGES = [
    (lambda: la.solve(np.eye(3), np.ones(2)), r"needs 3 rows .* not an array of shape \(2,\)"),
    (lambda: la.solve(np.eye(3), np.ones((2, 1))), r"needs 3 rows .* not an array of shape \(2, 1\)"),
    (lambda: la.solve(np.ones((2, 3, 3)), np.ones((4, 3, 1))), r"batches .*\(2, 3, 3\) and \(4, 3, 1\)"),
    (lambda: la.solve(np.eye(2), np.array([1, np.nan])), "right-hand side.*is nan"),
    (lambda: la.solve_triangular(np.eye(3), np.ones(2)), "needs 3 rows"),
    (lambda: la.lstsq(np.ones((3, 2)), np.ones(2)), r"needs 3 rows .* not an array of shape \(2,\)"),
    (lambda: la.cond(np.ones((0, 2))), "no condition number"),
    (lambda: la.lowest_eig(np.diag([1.0, np.nan]), np.ones(2)), r"entry \[1, 1\] is nan"),
    (lambda: la.linear_solve(lambda x: x, np.array([1, np.nan])), r"starts from finite numbers: entry \[1\] is nan"),
    (lambda: la.linear_solve(lambda x: np.nan * x, np.ones(2)), "operator returns numbers that are not finite"),
    (lambda: la.expm_multiply(np.eye(2), np.array([np.inf, 1])), r"entry \[0\] is inf"),
    (lambda: la.dominant_eig(np.eye(3), np.ones(2)), r"matrix of shape \(3, 3\), the vector has shape \(2,\)"),
    (lambda: qad.grad(lambda x: np.concatenate([x, x[None]]).sum())(np.ones(2)), "^concatenate of shape"),
]


@pytest.mark.parametrize("call, words", MESSAGES)
def test_messages(call, words):
    with pytest.raises(qad.QadError, match=words):
        call()


SINGULAR = np.stack([np.eye(2), np.diag([2.0, 0.0])])


@pytest.mark.parametrize(
    "f, words",
    [
        (la.inv, r"inv: the matrix of batch entry \(1,\) is singular: its smallest singular value is 0, its largest 2"),
        (lambda a: la.solve(a, a), r"solve: .*smallest singular value is 0"),
        (la.cholesky, r"cholesky: the matrix of batch entry \(1,\) .* lowest eigenvalue is 0"),
    ],
)
def test_singular_matrices(f, words):
    for call in both_ways(f, SINGULAR):
        with pytest.raises(np.linalg.LinAlgError, match=words):
            call()


def third(f):
    """A third derivative of ``sum f(A)``."""
    v = np.eye(3)
    return lambda a: qad.grad(lambda a: np.sum(v * qad.hvp(lambda a: np.sum(f(a) ** 2).real, (a,), (v,))[0]))(a)


@pytest.mark.parametrize("name", ["funm", "funm_herm", "funm_svd"])
def test_third_derivatives_of_spectral_functions_raise(name):
    with pytest.raises(MissingRuleError, match=f"{name} has two derivatives; here is a third one"):
        third(ALL[name])(np.diag([1.0, 2.0, 3.0]))


MIRRORED = {
    "vecdot": lambda m, x: m.vecdot(x, x[::-1] * 2j, axis=1), "matrix_transpose": lambda m, x: m.matrix_transpose(x),
    "outer": lambda m, x: m.outer(x[0, 0], x[1, 1]), "trace": lambda m, x: m.trace(x, offset=1),
    "diagonal": lambda m, x: m.diagonal(x, offset=-1), "cross": lambda m, x: m.cross(x, x[::-1], axis=1),
    "vector_norm": lambda m, x: m.vector_norm(x, axis=(0, 1)), "matrix_norm": lambda m, x: m.matrix_norm(x, ord="nuc"),
    "tensordot": lambda m, x: m.tensordot(x, x, axes=([0], [0])), "matmul": lambda m, x: m.matmul(x, x),
    "svdvals": lambda m, x: m.svdvals(x), "multi_dot": lambda m, x: m.multi_dot([x[0], x[1], x[0]]),
}  # fmt: skip


@pytest.mark.parametrize("name", MIRRORED)
def test_the_array_apis_functions(name):
    x = well(2, 3, 3)
    here, numpys = (lambda x, m=m: MIRRORED[name](m, x) for m in (la, np.linalg))
    np.testing.assert_allclose(here(x), numpys(x))
    qad.check_grads(here, (x,), order=1)
    np.testing.assert_array_equal(
        qad.grad(lambda x: np.sum(here(x)).real)(x), qad.grad(lambda x: np.sum(numpys(x)).real)(x)
    )


def test_nothing_of_numpys_is_missing():
    assert {n for n in np.linalg.__all__ if n not in ("LinAlgError", "test")} <= set(la.__all__)


def test_norms_of_empty_matrices_in_batches():
    for norm in (np.linalg.norm, qad.linalg.vector_norm):
        np.testing.assert_array_equal(qad.vmap(lambda x, norm=norm: norm(x) + x.sum())(np.ones((2, 0, 3))), [0.0, 0.0])
