"""Generators that are not Hermitian, beside exponentials of dense matrices."""

from functools import partial

import numpy as np
import pytest
import scipy.linalg

import qad
from qad.core.errors import ArgumentError, GradientTypeError
from qad.mps import MPS, OpSum, evolve, local_expectations
from tests.physics import exact

N = 4
ERRORS = {"tebd": 2e-4, "tebd4": 1e-8, "tdvp2": 1e-4}  # of the logarithm of the norm, at steps of 0.05
START = [0, 1, 0, 1]


def terms(loss=0.4, n=N):
    """Exchange that prefers one direction, and fields that lose or gain."""
    skewed = [(0.2j, "Sp", i, "Sm", k) for i, k in exact.row(n)]
    return exact.exchange(exact.row(n), 1.0, 0.7) + skewed + [(-1j * loss * (1 + 0.3 * i), "Sz", i) for i in range(n)]


def dense(loss=0.4, n=N):
    return exact.dense(["spin-1/2"] * n, terms(loss, n)).toarray()


def model(loss=0.4, n=N):
    return exact.opsum(["spin-1/2"] * n, terms(loss, n))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("method", ERRORS)
@pytest.mark.parametrize("conserve", [None, "Sz"])
@pytest.mark.parametrize("imaginary", [False, True])
def test_states_and_norms_are_those_of_the_exponential(method, conserve, imaginary):
    psi = MPS.product(START, conserve=conserve)
    wanted = scipy.linalg.expm((-0.5 if imaginary else -0.5j) * dense()) @ psi.to_dense().ravel()
    size = np.linalg.norm(wanted)
    found = evolve(psi, model(), 0.5, 10, method, hermitian=False, imaginary=imaginary)
    assert found.log_norm == pytest.approx(np.log(size), abs=ERRORS[method])
    assert abs(np.vdot(wanted, found.state.to_dense().ravel())) / size == pytest.approx(1.0, abs=1e-8)
    assert found.state.conserved == psi.conserved


def test_single_sites_of_the_variational_principle():
    """Bonds that hold every state: tdvp is as right as tdvp2."""
    psi = MPS.random(N, 4, seed=1)
    wanted = scipy.linalg.expm(-0.5j * dense()) @ psi.to_dense().ravel()
    found = evolve(psi, model(), 0.5, 10, "tdvp", hermitian=False)
    assert abs(np.vdot(wanted, found.state.to_dense().ravel())) / np.linalg.norm(wanted) == pytest.approx(1, abs=1e-7)


def test_what_decays_and_what_grows_is_told():
    """Twelve sites that lose, or gain, each at a rate of its own: the norm is a product."""
    rates = np.linspace(0.1, 0.9, 12)
    for sign in (-1, 1):
        H = OpSum(12, "fermion")
        for i, rate in enumerate(rates):
            H.add(sign * 0.5j * rate, "N", i)
        found = evolve(MPS.product([1] * 12, kind="fermion"), H, 2.0, 2, hermitian=False)
        assert found.log_norm == pytest.approx(sign * rates.sum(), rel=1e-9)
        assert found.state.norm() == pytest.approx(1.0)


def test_a_generator_that_changes_in_time():
    found = evolve(MPS.product(START), lambda t: model(t), 0.5, 10, "tebd4", hermitian=False)
    whole = np.eye(2**N)
    for k in range(10):
        whole = scipy.linalg.expm(-0.05j * dense((k + 0.5) / 20)) @ whole
    wanted = whole @ MPS.product(START).to_dense().ravel()
    assert found.log_norm == pytest.approx(np.log(np.linalg.norm(wanted)), abs=1e-7)


def observed(loss, time, n, bond):
    """A mean and a norm after gates."""
    found = evolve(MPS.product([0, 1] * (n // 2)), model(loss, n), time, 4, "tebd4", bond, hermitian=False)
    return local_expectations(found.state, "Sz").real[1] + found.log_norm


@pytest.mark.parametrize(
    "n, bond", [(4, 64), pytest.param(8, 9, marks=pytest.mark.slow), pytest.param(8, 4, marks=pytest.mark.slow)]
)
def test_gates_have_derivatives(n, bond):
    """Of all amplitudes, by an adjoint state, and of a chain that is cut."""
    value = partial(observed, n=n, bond=bond)
    found = qad.grad(value, argnums=(0, 1))(0.4, 0.5)
    slopes = [exact.difference(lambda x: value(x, 0.5), 0.4), exact.difference(lambda x: value(0.4, x), 0.5)]
    assert np.array(found) == pytest.approx(np.array(slopes), abs=1e-6)


def test_what_is_refused_says_what_to_write():
    psi = MPS.product(START)
    with pytest.raises(ArgumentError, match="evolve with hermitian=False"):
        evolve(psi, model(), 1.0, 2)
    with pytest.raises(GradientTypeError, match='give method="tebd4"'):
        qad.grad(lambda loss: evolve(psi, model(loss), 1.0, 2, hermitian=False).log_norm)(0.4)
