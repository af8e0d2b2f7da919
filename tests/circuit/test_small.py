"""Small circuits as a whole: the numbers of the steps, at every order, in fewer calls."""

from contextlib import contextmanager

import numpy as np
import pytest

import qad
from qad.circuit import circuit, small
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
        patched.setattr(circuit, "small_energy", lambda *args: None)
        yield


class Counted:
    """How often each method of `Whole` is called."""

    def __init__(self, monkeypatch):
        from qad.circuit.compiled.whole_calls import Whole

        self.calls = []
        for name in ("energy", "slopes", "curvatures"):
            monkeypatch.setattr(Whole, name, self.counting(name, getattr(Whole, name)))

    def counting(self, name, method):
        def call(*args):
            self.calls.append(name)
            return method(*args)

        return call

    def since(self):
        found, self.calls = self.calls, []
        return found


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
def test_all_orders_are_those_of_the_steps(n, dtype, monkeypatch):
    c, H = written(n, dtype), observable(n)
    x, t = RNG.normal(size=(2, len(c.parameters)))

    def f(x):
        return c.with_parameters(x).expectation(H)

    counted = Counted(monkeypatch)
    found = list(orders(f, x, t))
    assert set(counted.since()) == {"energy", "slopes", "curvatures"}
    with in_steps(monkeypatch):
        expected = list(orders(f, x, t))
        assert counted.since() == []
    scale = np.abs(expected[2]).max() * len(x)
    for ours, theirs in zip(found, expected, strict=True):
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=TOLERANCE[dtype] * scale)
            assert np.asarray(a).dtype == np.asarray(b).dtype


def test_how_many_calls_there_are(monkeypatch):
    c, H = qad.Circuit(3).ry(np.ones(3), range(3)).cx((0, 1), (1, 2)).rz(np.ones(3), range(3)), observable(3)

    def f(x):
        return c.with_parameters(x).expectation(H)

    x, counted = RNG.normal(size=6), Counted(monkeypatch)
    qad.value_and_grad(f)(x)
    assert counted.since() == ["energy", "slopes"]
    qad.hessian(f)(x)
    assert counted.since().count("curvatures") == 1
    frozen = qad.freeze(qad.value_and_grad(f))
    frozen(x)
    counted.since()
    frozen(2 * x)
    assert counted.since() == ["energy", "slopes"]


def complex_sum():
    return qad.PauliSum({"YI": 1.0, "IX": 0.5})


@pytest.mark.parametrize(
    "c, H",
    [
        (qad.Circuit(2, initial=np.eye(4)[1]).ry(0.3, 0), observable(2)),
        (qad.Circuit(2).ry(np.ones((3, 2)), [0, 1]), observable(2)),
        (qad.Circuit(2).ry(0.3, 0).u3(0.1, 0.2, 0.3, 1), observable(2)),
        (qad.Circuit(2, engine="numpy").ry(0.3, 0), observable(2)),
        (qad.Circuit(2).ry(0.3, 0), complex_sum()),
        (qad.Circuit(2).h(0), observable(2)),
        (qad.Circuit(12).ry(np.ones(12), range(12)), observable(12)),
    ],
    ids=["initial", "batch", "three angles", "numpy", "Y", "no angle", "large"],
)
def test_what_goes_in_steps(c, H, monkeypatch):
    counted = Counted(monkeypatch)
    c.expectation(H)
    assert counted.since() == []


def test_coefficients_may_be_differentiated(monkeypatch):
    c, counted = qad.Circuit(1).ry(0.3, 0), Counted(monkeypatch)
    slope = qad.grad(lambda a: c.expectation(qad.PauliSum([("Z", a)])))(2.0)
    assert counted.since() == [] and slope == pytest.approx(np.cos(0.3), abs=1e-15)


def test_coefficients_that_change_before_the_gradient():
    H = qad.PauliSum({"Z": 1.0})
    _, pullback = qad.vjp(lambda t: qad.Circuit(1).ry(t, 0).expectation(H), np.array(0.3))
    H.coefficients[0] = 5.0
    np.testing.assert_allclose(pullback(1.0)[0], -np.sin(0.3), atol=1e-15)


def test_a_frozen_energy_follows_its_observable():
    H, c = qad.PauliSum({"Z": 1.0}), qad.Circuit(1).ry(0.0, 0)
    f = qad.freeze(lambda t: c.with_parameters(t).expectation(H))
    x = np.array([0.3])
    f(x), f(x)
    H.coefficients[0] = 5.0
    np.testing.assert_allclose(f(x), 5 * np.cos(0.3), atol=1e-14)


def test_parameters_in_any_layout():
    c, H, x = qad.Circuit(2).ry(np.ones(2), range(2)), observable(2), RNG.normal(size=(2, 3))
    f = qad.value_and_grad(lambda x: c.with_parameters(x).expectation(H))
    for given in (x[:, 0], x[0, ::-2]):
        for ours, theirs in zip(f(given), f(given.copy()), strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_threads_share_the_directions(monkeypatch):
    c, H = qad.Circuit(6), observable(6)
    for _ in range(3):
        c.ry(RNG.normal(size=6), range(6)).cx(range(5), range(1, 6)).rz(RNG.normal(size=6), range(6))
    f = qad.hessian(lambda x: c.with_parameters(x).expectation(H))
    found = []
    for threads in (1, 3):
        monkeypatch.setattr("qad.circuit.compiled.whole_calls.threads_for", lambda *args, t=threads: t)
        found.append(f(c.parameters))
    np.testing.assert_array_equal(*found)


def test_a_tape_holds_one_node():
    c, H = qad.Circuit(2).ry(np.ones(2), range(2)), observable(2)
    _, found, _, _ = qad.extend.recording.operations(lambda x: c.with_parameters(x).expectation(H), np.ones(2))
    assert [operation.fn for operation in found] == [small.energy_of_angles]
