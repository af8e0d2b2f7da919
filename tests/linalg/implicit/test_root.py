"""Linear equations without a matrix, and the implicit rule that everything iterative rests on."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, ConvergenceError
from qad.linalg.implicit.root import linear_solve
from qad.linalg.krylov.gmres import Report
from tests.cases import Case


def random(*shape, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


A, B = random(5, 5) + 4 * np.eye(5), random(5, seed=1)


def test_against_the_dense_solution():
    report = Report()
    x = linear_solve(lambda x: A @ x, B, report=report)
    assert np.allclose(x, np.linalg.solve(A, B), rtol=0, atol=1e-13)
    assert 0 < report.iterations < 12
    assert report.residual < 1e-12


def test_gradient_against_the_dense_formula():
    g = random(5, seed=2)
    _, pullback = qad.vjp(lambda a, b: linear_solve(lambda x: a @ x, b), A, B)
    by_a, by_b = pullback(g)
    y = np.linalg.solve(A.conj().T, g)
    assert np.allclose(by_b, y, rtol=0, atol=1e-12)
    assert np.allclose(by_a, -np.outer(y, np.linalg.solve(A, B).conj()), rtol=0, atol=1e-12)


def solution(a, b):
    return linear_solve(lambda x: a @ x, b)


def real_linear(a, c, b):
    return linear_solve(lambda x: a @ x + c * x.conj(), b)


def tree(a, b):
    return linear_solve(lambda x: {"u": a @ x["u"] + x["v"], "v": 3 * x["v"]}, b)


def mixed(a, b):
    return linear_solve(lambda x: (a @ x[0], 2 * x[1]), (b, b.real))


CASES = [
    Case(solution, (A, B)),
    Case(solution, (A.real, B.real)),
    Case(solution, (A.real, B)),
    Case(solution, (A, np.zeros(5, complex))),
    Case(real_linear, (A, random(5, seed=3), B)),
    Case(tree, (A, {"u": B, "v": random(5, seed=4)})),
    Case(mixed, (A, B)),
    Case(lambda a: linear_solve(lambda x: (a @ a.conj().T) @ x + x, B), A, name="work without x"),
]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.sampled(2)
def test_derivatives(case):
    case.check()


def test_linear_over_the_real_numbers_only():
    c = random(5, seed=3)
    x = real_linear(A, c, B)
    assert np.allclose(A @ x + c * x.conj(), B)


def test_closures_over_every_level():
    def loss(a):
        def inner(b):
            return qad.abs2(linear_solve(lambda x: a @ x, b)).sum()

        return (qad.grad(inner)(B) * B.conj()).real.sum()

    qad.check_grads(loss, (A,), order=2)


def test_the_tape_in_pytorchs_style():
    a = qad.tensor(A, requires_grad=True)
    loss = qad.abs2(linear_solve(lambda x: a @ x, B)).sum()
    loss.backward()
    expected = qad.grad(lambda a: qad.abs2(linear_solve(lambda x: a @ x, B)).sum())(A)
    assert np.allclose(a.grad, expected)


def test_nothing_is_recorded_where_nothing_is_asked_for():
    a = qad.tensor(A, requires_grad=True)
    with qad.no_grad():
        assert not linear_solve(lambda x: a @ x, B).requires_grad
    assert isinstance(linear_solve(lambda x: a.detach() @ x, B), np.ndarray)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_scales(scale):
    assert np.allclose(linear_solve(lambda x: A @ x, scale * B) / scale, np.linalg.solve(A, B))


def test_singular_operators_raise_with_numbers():
    projector = np.diag([1.0, 1, 1, 1, 0]).astype(complex)
    with pytest.raises(ConvergenceError, match=r"relative residual of 0\.\d+"):
        linear_solve(lambda x: projector @ x, B)


def test_wrong_shapes_and_kinds_raise():
    with pytest.raises(ArgumentError, match="shape"):
        linear_solve(lambda x: x[:2], B)
    with pytest.raises(ArgumentError, match="complex"):
        linear_solve(lambda x: 1j * x, B.real)
