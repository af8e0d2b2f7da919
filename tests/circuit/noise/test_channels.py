"""Derivatives by the rates of channels, at zero and one as elsewhere, beside dense matrices written here."""

import warnings

import numpy as np
import pytest

import qad
from qad.circuit import NoisyCircuit, amplitude_damping, depolarizing, flip, mixed_unitary

RATES = [0.0, 1e-12, 1e-3, 0.3, 1.0]
PAULIS = [np.eye(2), np.array([[0, 1], [1, 0]]), np.array([[0, -1j], [1j, 0]]), np.diag([1.0, -1.0])]
A = np.array([[0.3, 0.7], [0.7, -1.1]])  # an observable, on the second qubit, of populations and coherences
ENGINES = ["numpy", "compiled"]


def ry(t):
    return np.array([[np.cos(t / 2), -np.sin(t / 2)], [np.sin(t / 2), np.cos(t / 2)]])


def mixture(p, rho, others):
    """The channel, and its slope by p, of one of some unitary matrices with probability p, all as likely."""
    changed = sum(u @ rho @ u.conj().T for u in others) / len(others)
    return (1 - p) * rho + p * changed, changed - rho


def on(u, q):
    return np.kron(u, np.eye(2)) if q == 0 else np.kron(np.eye(2), u)


def damped(p, rho, q):
    """Amplitude damping of one of two qubits, entry by entry: populations, and coherences with ``sqrt(1 - p)``."""
    bit = np.arange(4) >> (1 - q) & 1
    root, slope_root = np.sqrt(1 - p), -0.5 / np.sqrt(1 - p) if p < 1 else -np.inf
    equal = bit[:, None] == bit
    factor = np.where(equal, np.where(bit, 1 - p, 1.0), root)
    with np.errstate(invalid="ignore"):
        slope = np.where(rho == 0, 0, np.where(equal, np.where(bit, -1.0, 0.0), slope_root) * rho)
    lowering = on(np.array([[0, 1], [0, 0]]), q)
    fallen = lowering @ rho @ lowering.T
    return factor * rho + p * fallen, slope + fallen


MIXTURES = {
    "depolarizing": (depolarizing, PAULIS[1:]),
    "flip X": (flip, PAULIS[1:2]),
    "flip Y": (lambda p: flip(p, "Y"), PAULIS[2:3]),
    "flip Z": (lambda p: flip(p, "Z"), PAULIS[3:]),
    "mixed_unitary": (lambda p: mixed_unitary(np.stack([1 - p, p / 2, p / 2]), PAULIS[:3]), PAULIS[1:3]),
}  # fmt: skip


def dense(p, theta, steps):
    """The value and slope by p of two channels in a row, a CNOT between them, from ``steps(p, rho, q)``."""
    cx = np.eye(4)[[0, 1, 3, 2]]
    psi = np.kron(ry(theta)[:, 0], ry(0.9)[:, 0])
    rho, slope = steps(p, np.outer(psi, psi), 0)
    rho, slope = cx @ rho @ cx, cx @ slope @ cx
    after, new = steps(p, rho, 1)
    return np.trace(on(A, 1) @ after).real, np.trace(on(A, 1) @ (new + steps(p, slope, 1)[0])).real


def ours(p, channel, theta=0.4, **options):
    c = NoisyCircuit(2, **options).ry(theta, 0).ry(0.9, 1).channel(channel(p), 0).cx(0, 1)
    return c.channel(channel(p), 1)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", MIXTURES)
@pytest.mark.parametrize("p", RATES)
@pytest.mark.sampled(8)
def test_derivatives_by_rates_of_mixtures_are_those_of_the_channel(name, p, engine):
    channel, others = MIXTURES[name]

    def f(p):
        return ours(p, channel, engine=engine).expectation(np.kron(np.eye(2), A))

    def steps(p, rho, q):
        return mixture(p, rho, [on(u, q) for u in others])

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first = [qad.grad(f)(p), qad.jvp(f, (p,), (1.0,))[1], *qad.vmap(qad.grad(f))(np.array([p, 0.5]))[:1]]
        second = [qad.grad(qad.grad(f))(p), qad.hessian(f)(p), qad.hvp(f, (p,), (1.0,))[0]]
        second.append(qad.vmap(qad.grad(qad.grad(f)))(np.array([p, 0.5]))[0])
    value, slope = dense(p, 0.4, steps)
    np.testing.assert_allclose([f(p), *first], [value] + 3 * [slope], atol=1e-12)
    ends = [dense(end, 0.4, steps)[1] for end in (0.0, 1.0)]  # the value is quadratic in p
    np.testing.assert_allclose(np.ravel(second), ends[1] - ends[0], atol=1e-12)


def test_the_slope_of_a_depolarized_rotation_at_zero_is_exact():
    for qubits, wanted in ((1, -4 / 3), (2, -16 / 15)):  # of 4**k - 1 strings, 2 * 4**(k-1) change the sign of Z
        slope = qad.grad(lambda p, k=qubits: NoisyCircuit(2).ry(0.4, 0).channel(depolarizing(p, k), *range(k))
                         .expectation("ZI"))(0.0)  # fmt: skip
        np.testing.assert_allclose(slope, wanted * np.cos(0.4), atol=1e-12)


@pytest.mark.parametrize("p", RATES)
def test_derivatives_by_the_rate_of_a_decay(p):
    def f(p, H):
        return ours(p, amplitude_damping).expectation(H)

    if p < 1:
        np.testing.assert_allclose(
            [f(p, np.kron(np.eye(2), A)), qad.grad(f)(p, np.kron(np.eye(2), A))], dense(p, 0.4, damped), atol=1e-12
        )
        qad.check_grads(lambda p: f(p, np.kron(np.eye(2), A)), (0.4,), order=2)
    a, b = np.sin(0.2) ** 2, np.sin(0.45) ** 2  # populations: of 1 after the CNOT, a (1-p) (1-b) + (1 - a (1-p)) b

    def kept(p):
        after = a * (1 - p)
        return 1 - 2 * (1 - p) * (after * (1 - b) + (1 - after) * b)

    slope = -2 * (-2 * (1 - p) * a * (1 - 2 * b) - b)
    np.testing.assert_allclose(f(p, "IZ"), kept(p), atol=1e-12)
    if p < 1:
        np.testing.assert_allclose([qad.grad(f)(p, "IZ"), qad.jvp(lambda p: f(p, "IZ"), (p,), (1.0,))[1]], slope)
        np.testing.assert_allclose(qad.grad(qad.grad(f))(p, "IZ"), -4 * a * (1 - 2 * b), atol=1e-12)


def test_derivatives_at_the_end_of_a_decay_are_refused():
    def f(p):
        return NoisyCircuit(1).ry(0.4, 0).channel(amplitude_damping(p), 0).expectation("Z")

    assert f(1.0) == pytest.approx(1)
    for derivative in (qad.grad(f), qad.hessian(f), lambda p: qad.jvp(f, (p,), (1.0,)),
                       lambda p: qad.vmap(qad.grad(f))(np.array([0.5, p]))):  # fmt: skip
        with pytest.raises(qad.errors.GradientTypeError, match="infinite derivatives of coherences"):
            derivative(1.0)
    assert qad.grad(f)(1 - 1e-9) == pytest.approx(2 * np.sin(0.2) ** 2)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("p", RATES)
@pytest.mark.parametrize("channel", [depolarizing, flip, amplitude_damping])
@pytest.mark.sampled(8)
def test_trajectories_have_derivatives_by_rates_that_are_zero_or_one(channel, p, engine):
    """Branches without probability have a derivative of it: they are drawn for the sake of it."""

    def f(p, seed):
        return ours(p, channel, engine=engine).trajectories(400, seed).expectation("IZ")

    if channel is amplitude_damping and p == 1:
        with pytest.raises(qad.errors.GradientTypeError, match="infinite derivatives of coherences"):
            qad.grad(f)(p, 0)
        return
    found = np.array([[*qad.value_and_grad(f)(p, s), qad.grad(qad.grad(f))(p, s)] for s in range(8)])
    np.testing.assert_allclose(found[0, 0], f(p, 0), rtol=1e-14)
    np.testing.assert_allclose(qad.jvp(lambda p: f(p, 0), (p,), (1.0,))[1], found[0, 1], rtol=1e-10, atol=1e-12)

    def exact(p):
        return ours(p, channel).expectation("IZ")

    mean, error = found[:, 1:].mean(0), found[:, 1:].std(0, ddof=1) / np.sqrt(8)
    assert np.all(np.abs(mean - [qad.grad(exact)(p), qad.grad(qad.grad(exact))(p)]) < 5.5 * error + 1e-9)
    assert error[0] < 0.3


def test_gradients_of_trajectories_by_angles_beside_rates_of_zero():
    """A rate of zero under the gradient changes how records are drawn, also where measurements depend on angles."""

    def c(x):
        noisy = (
            NoisyCircuit(2, bits=1).ry(x[0], 0).channel(depolarizing(x[1]), 0).measure(0, into=0).if_(0, "ry", x[0], 1)
        )
        return noisy.channel(amplitude_damping(x[1]), 1)  # fmt: skip

    x = np.array([1.2, 0.0])
    slopes = np.array([qad.grad(lambda x, s=s: c(x).trajectories(500, s).expectation("ZX"))(x) for s in range(10)])
    exact = qad.grad(lambda x: c(x).expectation("ZX"))(x)
    assert np.all(np.abs(slopes.mean(0) - exact) < 5 * slopes.std(0, ddof=1) / np.sqrt(10))
    H = qad.PauliSum({"ZX": 1.0})
    both = qad.grad(lambda p, a: c(np.stack([1.2, p])).trajectories(500).expectation(H * a), argnums=(0, 1))(0.0, 1.0)
    np.testing.assert_allclose(both[0], slopes[0][1], atol=1e-12)


def test_the_kraus_matrices_of_a_channel():
    found = amplitude_damping(0.36)
    with pytest.raises(qad.errors.ArgumentError, match="channel.kraus"):
        np.asarray(found)
    np.testing.assert_allclose(found.kraus, np.array([[[1, 0], [0, 0.8]], [[0, 0.6], [0, 0]]]))
    assert len(found) == 2
    np.testing.assert_allclose(
        NoisyCircuit(1).h(0).channel(found.kraus, 0).density_matrix(),
        NoisyCircuit(1).h(0).channel(found, 0).density_matrix(), atol=1e-15)  # fmt: skip
