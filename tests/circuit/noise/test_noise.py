"""Measurements, resets, conditions and channels: density matrices against sums over all records of plain matrices."""

from itertools import product

import numpy as np
import pytest

import qad
from qad.circuit import NoisyCircuit, amplitude_damping, depolarizing, entropy, flip, mixed_unitary, reduced_density
from qad.circuit.noise.jumps import plan_of
from qad.circuit.noise.replay import replayed
from qad.core.errors import ArgumentError, GradientTypeError, ShapeError

ENGINES = ["numpy", "compiled"]
H = qad.PauliSum({"ZYI": 1.0, "XXZ": 0.5, "IZZ": 0.3, "IYI": 0.2})
THETA = np.array([0.7, 1.1, -0.4])


def circuit(theta, p=0.3, **options):
    """Everything that there is: channels on one and two qubits, measurements, resets, conditions on 0 and on 1."""
    c = NoisyCircuit(3, bits=2, **options).ry(theta[0], 0).cx(0, 1).channel(amplitude_damping(p), 1).h(2)
    c.measure(0, into=1).if_(1, "rx", theta[1], 1, equals=0).if_(1, "reset", 2).ry(theta[2], 2)
    c.channel(depolarizing(0.2, qubits=2), 1, 2).measure(2, into=0).measure(1)
    return c.if_([0, 1], "u3", *theta, 1, equals=[1, 0]).channel(flip(p), 0).cx(0, 1)


def on(u, qubits, n=3):
    """The matrix (2**n, 2**n) of a matrix on some qubits."""
    rest = [q for q in range(n) if q not in qubits]
    whole = np.kron(u, np.eye(2 ** len(rest))).reshape((2,) * 2 * n)
    order = np.argsort([*qubits, *rest])
    return whole.transpose(*order, *(n + order)).reshape(2**n, 2**n)


def by_records(c, theta):
    """Density matrices by the values of bits, a sum over all Kraus matrices that may be taken one after the other."""
    fixed = {"measure": [np.diag([1, 0]), np.diag([0, 1])], "reset": [[[1, 0], [0, 0]], [[0, 1], [0, 0]]]}
    found = {(0,) * c.bits: np.diag([1.0] + [0.0] * (2**c.n - 1))}
    for o in c.operations:
        after = dict.fromkeys(product((0, 1), repeat=c.bits), np.zeros((2**c.n,) * 2))
        for bits, rho in found.items():
            if any(bits[bit] != value for bit, value in o.when):
                after[bits] = after[bits] + rho
                continue
            if o.gate.unitary:
                kraus = [o.gate.matrix(*(np.asarray(theta[s]) for s in o.slots))]
            else:
                kraus = fixed[o.gate.name] if o.given is None else c.matrices[o.given].kraus
            for k, one in enumerate(kraus):
                new = list(bits)
                if o.into is not None:
                    new[o.into] = k
                u = on(np.asarray(one), o.qubits)
                after[tuple(new)] = after[tuple(new)] + u @ rho @ u.conj().T
        found = after
    return found


@pytest.mark.parametrize("engine", ENGINES)
def test_density_matrices_and_bits(engine):
    c = circuit(THETA, engine=engine)
    exact = by_records(c, c.parameters)
    np.testing.assert_allclose(c.density_matrix(), sum(exact.values()), atol=1e-14)
    weights = [np.trace(exact[bits]).real for bits in product((0, 1), repeat=2)]
    np.testing.assert_allclose(c.bit_probabilities().ravel(), weights, atol=1e-14)
    np.testing.assert_allclose(c.expectation(H), np.trace(sum(exact.values()) @ H.matrix()).real, atol=1e-14)
    single = circuit(THETA, engine=engine, dtype=np.complex64).density_matrix()
    assert single.dtype == np.complex64
    np.testing.assert_allclose(single, c.density_matrix(), atol=1e-6)


def test_derivatives_of_density_matrices():
    qad.check_grads(lambda theta, p: circuit(theta, p).expectation(H), (THETA, np.array(0.3)), order=2)
    f = qad.vmap(lambda t: circuit(THETA * t).expectation(H))
    np.testing.assert_allclose(f(np.array([0.5, 2.0])), [circuit(THETA * t).expectation(H) for t in (0.5, 2.0)])


def test_circuits_are_joined_and_copied():
    c = circuit(THETA)
    other = c.with_parameters(2 * c.parameters)
    np.testing.assert_allclose(other.density_matrix(), circuit(2 * THETA).density_matrix())
    joined = NoisyCircuit(3, bits=2).append(c) + NoisyCircuit(3).append(qad.Circuit(3).h(0))
    np.testing.assert_allclose(joined.density_matrix(), c.copy().h(0).density_matrix())
    assert len(c.operations) == len(other.operations) < len(joined.operations)
    with pytest.raises(ArgumentError, match="no inverse"):
        c.inverse()
    with pytest.raises(ArgumentError, match="append both to qad.circuit.NoisyCircuit"):
        qad.Circuit(3) + c
    with pytest.raises(ArgumentError, match="bits=2"):
        NoisyCircuit(3) + c


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", [complex, np.complex64])
@pytest.mark.sampled(2)
def test_trajectories_against_density_matrices(engine, dtype):
    c = circuit(THETA, engine=engine, dtype=dtype)
    found, shots = c.trajectories(2000, seed=3), 2000
    values = found.values(H)
    assert values.shape == (shots,) and found.states.dtype == dtype and len(found) == shots
    assert abs(values.mean() - c.expectation(H)) < 5 * found.error(H)
    assert found.expectation(H) == values.mean()
    p = c.bit_probabilities().ravel()
    counts = np.bincount(found.bits @ [2, 1], minlength=4)
    assert np.all(np.abs(counts - shots * p) < 5 * np.sqrt(shots * p * (1 - p)))
    p = c.probabilities().ravel()
    counts = np.bincount(found.sample(seed=1) @ [4, 2, 1], minlength=8)
    assert np.all(np.abs(counts - shots * p) < 5 * np.sqrt(shots * p * (1 - p)))
    np.testing.assert_allclose((np.abs(found.states.reshape(shots, -1)) ** 2).sum(1), 1, rtol=1e-5)


def test_trajectories_with_one_record_are_computed_once(monkeypatch):
    """1000 shots of two measurements have four records: gates and projectors meet 13 states, not 5000."""
    from qad.circuit.engines import reference

    states, apply = [], reference.apply
    monkeypatch.setattr(reference, "apply", lambda *args: states.append(len(args[2][0])) or apply(*args))
    c = NoisyCircuit(2, engine="numpy").h(0).measure(0).h(1).measure(1).h(0)
    c.trajectories(1000)
    assert states == [1, 2, 2, 4, 4]


def test_seeds():
    c = circuit(THETA)
    first, again, other = (c.trajectories(50, seed=s).choices for s in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_all_records_together_have_the_derivative_of_the_density_matrix():
    """What is drawn with probability p_k contributes one part of an exact sum over p_k: so estimates are unbiased."""

    def small(theta, p):
        c = NoisyCircuit(2, bits=1).ry(theta[0], 0).channel(amplitude_damping(p), 0).cx(0, 1).measure(1, into=0)
        return c.if_(0, "rx", theta[1], 0).channel(depolarizing(0.1), 0).reset(1).ry(theta[2], 1).if_(0, "reset", 0)

    def by_sum(theta, p):
        c = small(theta, p)
        plan = plan_of(2, c._size, tuple(c.operations))
        every = np.array(list(product((0, 1), (0, 1), range(4), (0, 1), (-1, 0, 1))))
        every = every[(every[:, 1] == 1) == (every[:, -1] >= 0)]  # the last is conditional on the second
        return replayed(c, every, plan.kraus(c.matrices), False).expectation("XZ").sum()

    for f in (lambda g: g, lambda g: qad.grad(g, argnums=(0, 1)), qad.hessian):
        found, wanted = f(by_sum)(THETA, 0.3), f(lambda *x: small(*x).expectation("XZ"))(THETA, 0.3)
        for a, b in zip(*((x if type(x) is tuple else (x,)) for x in (found, wanted)), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-12)


def estimates(f, seeds):
    """Mean and standard error of an estimate over seeds."""
    found = np.array([f(seed) for seed in seeds])
    return found.mean(0), found.std(0, ddof=1) / np.sqrt(len(seeds))


def test_gradients_of_estimates_with_jumps():
    def gradient(seed):
        g, slope = qad.grad(lambda t, p: circuit(t, p).trajectories(100, seed).expectation(H), argnums=(0, 1))(
            THETA, 0.3
        )
        return [*g, slope]

    g, slope = qad.grad(lambda t, p: circuit(t, p).expectation(H), argnums=(0, 1))(THETA, 0.3)
    mean, error = estimates(gradient, range(20))
    assert np.all(np.abs(mean - [*g, slope]) < 5 * error) and error.max() < 0.1


def test_second_derivatives_and_directions_of_estimates():
    v = np.array([1.0, -0.5, 0.3])

    def f(seed):
        return lambda t: circuit(t).trajectories(100, seed).expectation(H)

    def exact(t):
        return circuit(t).expectation(H)

    mean, error = estimates(lambda seed: qad.hvp(f(seed), (THETA,), (v,))[0], range(12))
    assert np.all(np.abs(mean - qad.hvp(exact, (THETA,), (v,))[0]) < 5 * error)
    mean, error = estimates(lambda seed: qad.jvp(f(seed), (THETA,), (v,))[1], range(12))
    assert abs(mean - qad.jvp(exact, (THETA,), (v,))[1]) < 5 * error


def test_pathwise_gradients_are_those_of_the_drawn_circuits():
    """Pauli errors of fixed probabilities: the estimate is a plain mean of circuits, and so is its gradient."""

    def energy(theta, c=None):
        c = NoisyCircuit(2).ry(theta[0], 0).channel(depolarizing(0.5), 0).cx(0, 1).rx(theta[1], 1)
        return c.channel(flip(0.4), 1).ry(theta[2], 0)

    def by_hand(theta):
        choices, total = energy(THETA).trajectories(20, seed=5).choices, 0.0
        for first, second in choices:
            c = qad.Circuit(2).ry(theta[0], 0).gate(["id", "x", "y", "z"][first], 0).cx(0, 1).rx(theta[1], 1)
            total = total + c.gate(["id", "x"][second], 1).ry(theta[2], 0).expectation("XZ")
        return total / 20

    found = qad.value_and_grad(lambda t: energy(t).trajectories(20, seed=5).expectation("XZ"))(THETA)
    for a, b in zip(found, qad.value_and_grad(by_hand)(THETA), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)


def test_an_observable_may_be_recorded():
    c = circuit(THETA).trajectories(30)
    g = qad.grad(lambda a: c.expectation(qad.PauliSum({"ZYI": a, "XXZ": 0.5})))(2.0)
    np.testing.assert_allclose(g, c.values("ZYI").mean(), atol=1e-12)


def test_what_is_refused():
    c = NoisyCircuit(2, bits=1)
    for call, message in {
        lambda: c.measure(2, into=0): "no qubit 2",
        lambda: c.measure(0, into=1): "no classical bit 1 among 1",
        lambda: c.measure([0, 1], into=0): "as many bits",
        lambda: NoisyCircuit(1).measure(0, into=0): "bits=...",
        lambda: NoisyCircuit(1).if_(0, "x", 0): "no classical bits",
        lambda: c.if_(1, "x", 0): "no classical bit 1",
        lambda: c.if_(0, "xx", 0): "no gate 'xx'",
        lambda: c.if_(0, "x", 0, equals=2): "given by 1 bits",
        lambda: c.if_(0, lambda c: c.measure(0, into=0)): "bit of its own condition",
        lambda: NoisyCircuit(1, bits=-1): "number of classical bits",
        lambda: c.channel(np.stack([np.eye(2), np.eye(2)]), 0): "do not add up",
        lambda: mixed_unitary([0.5, 0.4], [np.eye(2)] * 2): "add up to 0.9",
        lambda: mixed_unitary([0.5, 0.5], [np.eye(2), np.ones((2, 2))]): "not unitary",
        lambda: mixed_unitary([1.5, -0.5], [np.eye(2)] * 2): "between 0 and 1",
        lambda: mixed_unitary([1.0], [np.eye(2)] * 2): "for each of 2",
        lambda: c.unitary(np.ones((2, 2)), 0): "not unitary",
        lambda: c.trajectories(0): "positive whole number",
        lambda: NoisyCircuit(1).operator(np.diag([1.0, 0.5]), 0).trajectories(2): "as a c.channel",
        lambda: NoisyCircuit(1).trajectories(1).error("Z"): "two trajectories",
        lambda: NoisyCircuit(40).density_matrix(): "trajectories",
        lambda: NoisyCircuit(20).trajectories(10**6): "fewer at a time",
    }.items():  # fmt: skip
        with pytest.raises(ArgumentError, match=message):
            call()
    assert c.operations == []
    with pytest.raises(ShapeError, match="each example"):
        NoisyCircuit(1).rx(np.array([0.1, 0.2]), 0).trajectories(2)
    with pytest.raises(AttributeError, match="NoisyCircuit"):
        qad.Circuit(1).measure(0)

    def f(t):
        return circuit(t).trajectories(3).expectation(H)

    for call in (lambda: qad.freeze(f)(THETA), lambda: qad.vmap(f)(np.stack([THETA] * 2))):
        with pytest.raises(qad.errors.QadError):  # the drawn numbers would be lost to the program
            call()
    for lost in (lambda found: found.values(H).mean(), lambda found: found.states.real.sum(), lambda f: f.error(H)):
        with pytest.raises(GradientTypeError, match=r"expectation\(H\) has one"):
            qad.grad(lambda t, lost=lost: lost(circuit(t).trajectories(3)))(THETA)


@pytest.mark.parametrize("inner", [0, 1])
@pytest.mark.parametrize("outer", [0, 1])
def test_conditions_within_conditions_on_the_same_bit(inner, outer):
    """They hold together or never, for gates and for channels."""

    def nested(t):
        def inside(c):
            return c.ry(t, 1).channel(amplitude_damping(0.4), 1)

        c = NoisyCircuit(2, bits=1).h(0).measure(0, into=0)
        return c.if_(0, lambda c: c.if_(0, inside, equals=inner), equals=outer)

    def z(t):
        return (1 + 0.4 + 0.6 * np.cos(t)) / 2 if inner == outer else 1.0 + 0 * t

    np.testing.assert_allclose(nested(0.7).expectation("IZ"), z(0.7), atol=1e-12)
    np.testing.assert_allclose(qad.grad(lambda t: nested(t).expectation("IZ"))(0.7), qad.grad(z)(0.7), atol=1e-12)
    found = nested(0.7).trajectories(2000, seed=1)
    assert abs(found.expectation("IZ") - z(0.7)) <= 5 * found.error("IZ") + 1e-12


def test_gradients_of_trajectories_by_an_observable_that_is_an_array():
    found = NoisyCircuit(1).ry(0.3, 0).measure(0).trajectories(20, seed=0)
    slope = qad.grad(lambda a: found.expectation(a * np.diag([1.0, -1.0])))(0.5)
    np.testing.assert_allclose(slope, found.expectation("Z"), atol=1e-12)


def test_samples_variances_and_parts_of_noisy_circuits_are_those_of_their_density_matrix():
    c = circuit(THETA)
    rho, matrix = c.density_matrix(), H.matrix()
    p = c.probabilities().ravel()
    drawn = np.bincount(c.sample(4000, seed=2) @ [4, 2, 1], minlength=8)
    assert np.all(np.abs(drawn - 4000 * p) < 5 * np.sqrt(4000 * p * (1 - p)))
    assert c.counts(4000, seed=2) == {f"{k:03b}": m for k, m in enumerate(drawn) if m}
    np.testing.assert_allclose(c.probabilities([2, 0]), c.probabilities().sum(1).T, atol=1e-15)
    exact = np.trace(rho @ matrix @ matrix).real - np.trace(rho @ matrix).real ** 2
    np.testing.assert_allclose([c.variance(H), c.variance(matrix)], exact, atol=1e-12)
    tensor = rho.reshape((2,) * 6)
    np.testing.assert_allclose(reduced_density(c, [2, 0]), np.einsum("abcdbf->cafd", tensor).reshape(4, 4), atol=1e-15)
    for qubits in ([0, 1, 2], [2, 0], [1]):
        levels = np.linalg.eigvalsh(reduced_density(c, qubits))
        for order, wanted in ((1, -(levels * np.log(levels)).sum()), (3, np.log((levels**3).sum()) / -2)):
            np.testing.assert_allclose(entropy(c, qubits, order), wanted, atol=1e-12)
    qad.check_grads(lambda t: circuit(t).variance(H) + entropy(circuit(t), [0, 2]), (THETA,), order=2)


def test_a_noisy_circuit_without_noise_is_a_circuit():
    plain, noisy = (c.ry(0.4, 0).cx(0, 1).rx(0.3, 2).cz(1, 2) for c in (qad.Circuit(3), NoisyCircuit(3)))
    for of in (lambda c: c.variance(H), lambda c: c.probabilities([1, 0]), lambda c: reduced_density(c, [2, 1]),
               lambda c: entropy(c, [0, 2]), lambda c: entropy(c, [1], 2), lambda c: c.counts(50, seed=3)):  # fmt: skip
        a, b = of(plain), of(noisy)
        assert a == b if isinstance(a, dict) else np.allclose(a, b, atol=1e-12)


def test_the_entropy_of_a_density_matrix_that_noise_begins_to_mix_has_no_derivative():
    """The slope of ``-p log p`` at 0 is infinite; a finite number would be given without its eigenvalue."""

    def mixed(p, order):
        return entropy(NoisyCircuit(1).channel(depolarizing(p), 0), [0], order)

    with pytest.raises(ArgumentError, match="order=2"):
        qad.grad(mixed)(0.0, 1)
    np.testing.assert_allclose(qad.grad(mixed)(0.0, 2), 8 / 3 / 2, atol=1e-12)
    assert abs(mixed(0.0, 1)) < 1e-12


def test_second_derivatives_of_entanglement_at_product_states_are_refused():
    """The first is 0; ``-t**2 / 4 log t**2`` has no second at t = 0, where 1/2 was given."""

    def of(t, order=1):
        return entropy(qad.Circuit(2).ry(t, 0).cx(0, 1), [0], order)

    assert qad.grad(of)(0.0) == 0 and abs(qad.jvp(of, (0.0,), (1.0,))[1]) < 1e-12
    for second in (qad.hessian(of), qad.grad(qad.grad(of)), lambda t: qad.jvp(qad.grad(of), (t,), (1.0,)),
                   lambda t: qad.hvp(of, (t,), (1.0,)),
                   lambda t: qad.jvp(lambda t: qad.jvp(of, (t,), (1.0,))[1], (t,), (1.0,))):  # fmt: skip
        with pytest.raises(ArgumentError, match="order=2"):
            second(0.0)
    np.testing.assert_allclose(qad.hessian(lambda t: of(t, 2))(0.0), 1.0, atol=1e-12)
    np.testing.assert_allclose(qad.hessian(of)(np.pi / 2), -1.0, atol=1e-12)
