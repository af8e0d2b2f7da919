"""Energies of small circuits as one node: the numbers of the steps, at every order."""

from contextlib import contextmanager

import numpy as np
import pytest

import qad
from qad.circuit.program import circuit
from qad.frozen.record.captures import Captures
from tests.cases import Case, normal
from tests.circuit.dense import needs_compiler

pytestmark = needs_compiler
RNG = np.random.default_rng(5)
TOLERANCE = {np.complex128: 1e-13, np.complex64: 1e-5}


def written(n, dtype=complex):
    """Every kind of instruction that one angle moves, some angles in two gates, and constants between them."""
    c = qad.Circuit(n, dtype=dtype)
    for _ in range(2):
        c.ry(RNG.normal(size=n), range(n)).h(range(n)).rz(RNG.normal(size=n), range(n)).rx(RNG.normal(), 0).s(n - 1)
        if n > 1:
            c.cx(0, 1).crx(0.3, 0, 1).rzz(0.4, 0, 1).cz(0, 1).swap(0, 1).cp(0.2, 0, 1)
        if n > 2:
            c.exp_pauli(0.3, "XYZ", (0, 1, 2)).ccx(0, 1, 2).rxx(0.3, 1, 2).cu1(0.3, 0, 2)
            c.exp_pauli(0.3, "ZZZ", (0, 1, 2)).cswap(0, 1, 2).controlled(1).exp_pauli(0.1, "ZZ", (0, 2))
    return c + c.inverse().ry(0.3, 0)


def observable(n):
    return qad.PauliSum({"Z" * n: 1.0, "X" * n: 0.3, "YY" * (n > 1) + "I" * (n - 2 * (n > 1)): 0.2, "I" * n: 0.1})


def of_angles(theta):
    c = qad.Circuit(3).ry(theta[:3], range(3)).cx(0, 1).rz(theta[3], 2).rzz(theta[0], 1, 2)
    return c.expectation(observable(3))


CASES = [Case(of_angles, normal(4), name="small circuit")]


@needs_compiler
@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    case.check()


@contextmanager
def in_steps(monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(circuit, "SMALL", 0)
        yield


def recorded(f, x):
    """The names of the primitives that a function records."""
    _, found, _, _ = qad.extend.recording.operations(f, x)
    return [operation.fn.__name__ for operation in found]


def orders(f, x, t):
    """The value and derivatives to the third order, by all roads."""
    rows, slope = np.stack([x, 2 * t, x - t]), qad.grad(f)

    def product(x):
        return qad.jvp(slope, (x,), (t,))[1]

    yield qad.value_and_grad(f)(x)[1]
    yield f(x), qad.jvp(f, (x,), (t,))[1]
    yield qad.hessian(f)(x)
    yield product(x), qad.grad(lambda x: (slope(x) * t).sum())(x)
    yield qad.grad(lambda x: qad.jvp(f, (x,), (t,))[1])(x)
    yield qad.grad(lambda x: (product(x) * t).sum())(x), qad.jvp(product, (x,), (t,))[1]
    yield qad.vmap(f)(rows), qad.vmap(slope)(rows), qad.vmap(qad.hessian(f))(rows)
    yield qad.vmap(lambda x, t: qad.jvp(slope, (x,), (t,))[1])(rows, rows[::-1])
    for transform in (qad.value_and_grad, qad.hessian):
        frozen = qad.freeze(transform(f))
        frozen(t)
        yield frozen(x)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.sampled(4)
def test_all_orders_are_those_of_the_steps(n, dtype, monkeypatch):
    c, H = written(n, dtype), observable(n)
    x, t = RNG.normal(size=(2, len(c.parameters)))

    def f(x):
        return c.with_parameters(x).expectation(H)

    assert recorded(f, x)[0] == "energy_of_angles"
    found = list(orders(f, x, t))
    with in_steps(monkeypatch):
        assert "evolve" in recorded(f, x)
        expected = list(orders(f, x, t))
    scale = np.abs(expected[2]).max() * len(x)
    for ours, theirs in zip(found, expected, strict=True):
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=TOLERANCE[dtype] * scale)
            assert np.asarray(a).dtype == np.asarray(b).dtype


def complex_sum():
    return qad.PauliSum({"YI": 1.0, "IX": 0.5})


@pytest.mark.parametrize(
    "make",
    [
        lambda t: qad.Circuit(2, initial=np.eye(4)[1]).ry(t, 0).expectation(observable(2)),
        lambda t: qad.Circuit(2).ry(np.ones((3, 2)) * t, [0, 1]).expectation(observable(2)),
        lambda t: qad.Circuit(2).ry(t, 0).u3(0.1, 0.2, 0.3, 1).expectation(observable(2)),
        lambda t: qad.Circuit(12).ry(np.ones(12) * t, range(12)).expectation(observable(12)),
        lambda t: qad.Circuit(1).ry(0.3, 0).expectation(qad.PauliSum([("Z", t)])),
    ],
    ids=["initial", "batch", "three angles", "large", "coefficients"],
)
def test_what_goes_in_steps(make):
    assert "energy_of_angles" not in recorded(make, np.array(0.4))


def test_the_coefficients_of_a_sum_never_change():
    for H in (qad.PauliSum({"Z": 1.0}), 2.0 * qad.PauliSum({"Z": 1.0}), qad.PauliSum([("Z", 0.0), ("X", 1.0)])):
        with pytest.raises(ValueError, match="read-only"):
            H.coefficients[0] = 5.0


def test_parameters_in_any_layout():
    c, H, x = qad.Circuit(2).ry(np.ones(2), range(2)), observable(2), RNG.normal(size=(2, 3))
    f = qad.value_and_grad(lambda x: c.with_parameters(x).expectation(H))
    for given in (x[:, 0], x[0, ::-2]):
        for ours, theirs in zip(f(given), f(given.copy()), strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_a_frozen_function_compares_no_analysis_of_a_circuit():
    c, H = qad.Circuit(2).ry(np.ones(2), range(2)), observable(2)
    c.state()
    f = qad.freeze(lambda x: c.with_parameters(x).expectation(H))
    f(np.ones(2))
    assert not [name for name, *_ in Captures(f.__wrapped__).listed() if "_program" in name]
