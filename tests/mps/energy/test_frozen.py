"""Frozen energies of chains: two steps, whatever the operator is, and the numbers of the function itself."""

import numpy as np
import pytest

import qad
from qad.mps.energy.hamiltonian import Hamiltonian
from qad.mps.energy.node import energy_of
from tests.cases import Case

PSI, H = qad.mps.MPS.random(n=6, bond=4, dtype=complex, seed=1), qad.mps.heisenberg(6)
OTHER = qad.mps.MPS.random(n=6, bond=4, dtype=complex, seed=2)
VALUE_AND_SLOPES = qad.value_and_grad(qad.mps.energy)


FEW, OPERATOR = qad.mps.MPS.random(n=3, bond=2, seed=3), qad.mps.ising(3, 0.4)
CASES = [Case(lambda *t: energy_of(*t, *OPERATOR, H=3), FEW.tensors, name="frozen energy")]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    case.check()


def agree(found, expected):
    assert found[0] == pytest.approx(expected[0], rel=1e-13)
    for a, b in zip(found[1], expected[1], strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-13)


def test_a_replay_sweeps_twice(monkeypatch):
    calls, swept = [], Hamiltonian.swept
    monkeypatch.setattr(Hamiltonian, "swept", lambda *args, **given: calls.append(args) or swept(*args, **given))
    frozen = qad.freeze(VALUE_AND_SLOPES)
    frozen(PSI, H)
    calls.clear()
    frozen(OTHER, H)
    assert len(calls) == 2  # for the value, and for the slopes


def test_operators_as_arguments_and_closed_over():
    for frozen, rest in ((qad.freeze(VALUE_AND_SLOPES), (H,)), (qad.freeze(lambda p: VALUE_AND_SLOPES(p, H)), ())):
        agree(frozen(PSI, *rest), VALUE_AND_SLOPES(PSI, H))
        agree(frozen(OTHER, *rest), VALUE_AND_SLOPES(OTHER, H))
        assert frozen.stats.recordings == 1 and frozen.stats.replays == 1


def test_another_operator_of_the_same_shape():
    frozen, twice = qad.freeze(VALUE_AND_SLOPES), qad.mps.MPO([2 * H[0], *H[1:]])
    frozen(PSI, H)
    agree(frozen(PSI, twice), VALUE_AND_SLOPES(PSI, twice))
    H0 = qad.mps.MPO([t.copy() for t in H])
    frozen(PSI, H0)
    H0[0][...] *= 3  # what is remembered of an operator goes by what it holds
    agree(frozen(PSI, H0), VALUE_AND_SLOPES(PSI, qad.mps.MPO([3 * H[0], *H[1:]])))


def test_an_operator_that_is_not_hermitian_is_refused_in_a_replay():
    first = H[0].copy()
    first[..., 0, 1] += 1.0
    frozen, wrong = qad.freeze(VALUE_AND_SLOPES), qad.mps.MPO([first, *H[1:]])
    frozen(PSI, H)
    with pytest.raises(qad.core.errors.ArgumentError, match="not Hermitian"):
        frozen(PSI, wrong)


def test_the_second_order():
    direction = [t.copy() for t in OTHER]

    def product(p):
        return qad.jvp(lambda *ts: VALUE_AND_SLOPES(qad.mps.MPS(list(ts)), H)[1], tuple(p), tuple(direction))[1]

    frozen, expected = qad.freeze(product), product(PSI)
    frozen(PSI)
    for a, b in zip(frozen(PSI), expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-12)


def test_the_gradient_by_the_operator():
    f = qad.grad(lambda w: qad.mps.energy(PSI, qad.mps.MPO([w * H[0], *H[1:]])))
    frozen = qad.freeze(f)
    frozen(1.0)
    assert frozen(2.0) == pytest.approx(f(2.0), rel=1e-12) == pytest.approx(qad.mps.energy(PSI, H), rel=1e-12)
