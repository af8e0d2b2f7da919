"""Implicit functions inside of each other: every kind finds its solution again where a program is replayed."""

import numpy as np
import pytest

import qad
from qad.linalg import dominant_eig, linear_solve, lowest_eig
from qad.linalg.implicit.closure import capture

RNG = np.random.default_rng(5)
H = RNG.standard_normal((5, 5)) + 1j * RNG.standard_normal((5, 5))
H = H + H.conj().T
V0 = RNG.standard_normal(5) + 1j * RNG.standard_normal(5)
A = RNG.standard_normal((5, 5)) + 1j * RNG.standard_normal((5, 5)) + 8 * np.eye(5)


def mean_field(h, coupling):
    """The density of the lowest orbital in its own field."""

    hermitian = (h + h.conj().T) / 2

    def density(rho):
        _, orbital = lowest_eig(lambda v: hermitian @ v + coupling * rho * v, V0)
        return qad.abs2(orbital)

    return qad.fixed_point(density, np.full(5, 1 / 5), tol=1e-14)


@pytest.mark.slow
def test_self_consistent_field():
    qad.check_grads(mean_field, (H, np.array(0.4)), rtol=1e-6)


@pytest.mark.slow
def test_linear_equations_in_a_fixed_point():
    def solution(a):
        return qad.fixed_point(lambda x: linear_solve(lambda y: a @ y, V0 - x), np.zeros(5, complex), tol=1e-14)

    expected = np.linalg.solve(A + np.eye(5), V0)
    assert np.allclose(solution(A), expected, rtol=0, atol=1e-12)
    qad.check_grads(solution, (A,), rtol=1e-7)


def check_replay(f, x, other):
    """A recorded program gives at another point what the function gives there."""
    program, captured = capture(f, x)
    assert captured == []
    assert np.allclose(program([other], [])[0], f(other), rtol=0, atol=1e-11)


def test_programs_find_solutions_again():
    other = A + 0.1 * H
    check_replay(lambda a: linear_solve(lambda x: a @ x, V0), A, other)
    check_replay(lambda a: qad.fixed_point(lambda x: np.tanh(a @ x / 40 + V0), V0), A, other)
    check_replay(lambda a: dominant_eig(a, V0)[1], A, other)
    check_replay(lambda h: lowest_eig(h, V0)[1], H, H + np.diag(np.arange(5)))
