"""What a primitive keeps for its rule: every primitive that does, under every transform, against a plain formula."""

import gc
import weakref

import numpy as np
import pytest

import qad
import qad.circuit.chains.sweeps  # which is loaded when it is first used
from qad.core.registry.define import PRIMITIVES
from qad.mps import MPS, heisenberg, ising
from qad.mps.chain.sandwich import operator_matrices, quotient, sandwich
from qad.mps.evolve.centre import exponential
from qad.mps.evolve.cut import centred_by_cuts, guessed
from qad.mps.kernels.dense import DenseKernel
from tests.cases import normal

H = heisenberg(4)
CHAIN = MPS.random(4, 2, dtype=float, seed=3)
OTHER = MPS.random(4, 4, dtype=float, seed=4)
PAIRS = ising(4, g=0.0)
WORDS = np.array([[0, 1, 1, 0], [1, 1, 0, 0], [0, 1, 1, 1]])
FIRST_PAIR = qad.mps.OpSum(3).add(1.0, "Z", 0, "Z", 1)
MATRICES = tuple(normal(3, 3, float, seed=k) for k in range(5))


def scaled(t):
    """A chain whose tensors depend on two numbers."""
    return MPS([CHAIN[0] * t[0], CHAIN[1] + t[1], *CHAIN[2:]])


def amplitudes(psi):
    """Entries of the dense state, one matrix product at a time."""
    rows = []
    for word in WORDS:
        row = np.ones((1, 1))
        for tensor, letter in zip(psi, word, strict=True):
            row = row @ tensor[:, letter]
        rows.append(row[0, 0])
    return np.stack(rows)


def network(t):
    a, b, c, d, e = MATRICES
    return qad.einsum("ij,jk,kl,lm,mi->", t[0] * a, b + t[1], c, d * t[1], e)


def pairs(t):
    a, b, c, d, e = MATRICES
    return np.trace((t[0] * a) @ (b + t[1]) @ c @ (d * t[1]) @ e)


def circuit(t):
    return qad.Circuit(3).ry(t[0], [0, 1]).cx([0, 1], [1, 2]).rx(t[1], 2).cx(0, 2)


def spins(t):
    """Overlap with a chain evolved by ZZ, whose gates are exact."""
    psi = qad.mps.evolve(scaled(t), PAIRS, 0.3, 2, "tebd", bond=16, cutoff=0.0).state
    return qad.abs2(qad.mps.overlap(OTHER, psi))


def phases(t):
    psi = np.exp(-0.3j * np.diag(PAIRS.to_dense())) * scaled(t).to_dense().reshape(-1)
    return qad.abs2(np.vdot(OTHER.to_dense(), psi)) / np.sum(qad.abs2(psi))


def thermal(t):
    """A thermal state of commuting terms."""
    H = qad.mps.OpSum(3)
    for i in range(2):
        H.add(t[0], "Z", i, "Z", i + 1)
    for i in range(3):
        H.add(t[1], "Z", i)
    return qad.mps.thermal_state(H, 0.6, cutoff=0.0)


def weights(t):
    """The weights of the states of three spins in it, and the products of the first two."""
    s = np.array([[1 - 2 * (k >> i & 1) for i in range(3)] for k in range(8)])
    bonds, fields = s[:, 0] * s[:, 1] + s[:, 1] * s[:, 2], s.sum(1)
    return np.exp(-0.6 * (t[0] * bonds + t[1] * fields)), s[:, 0] * s[:, 1]


def mean_of_weights(t):
    w, product = weights(t)
    return np.sum(w * product) / np.sum(w)


def of_rank_two(t):
    """A matrix whose rows two known ones span."""
    return np.stack([t, t[::-1] ** 2, t**3]) @ ROWS


def by_known_rows(t):
    q, c = guessed(of_rank_two(t), ROWS)
    return np.sum(qad.abs2(q @ c @ np.arange(4.0)))


PAIR, EDGE = heisenberg(2), np.ones((1, 1, 1), complex)
START, BRA = np.array([1.0, 2.0, -1.0, 0.5j]), np.array([0.3, 1.0, 1j, 1.0])


def exponential_of_a_pair(t):
    kernel = DenseKernel(PAIR.tensors, np.dtype(complex))
    y = exponential((START * t[0]).reshape(1, 2, 2, 1), -0.3j * t[1], EDGE, PAIR.tensors, EDGE, kernel=kernel, first=0)
    return qad.abs2(np.vdot(BRA, y.reshape(-1)))


def exponential_of_its_matrix(t):
    return qad.abs2(np.vdot(BRA, qad.linalg.expm(-0.3j * t[1] * PAIR.to_dense()) @ (START * t[0])))


LOSSES = {  # name of the primitive: a function of two numbers, and the same by a plain formula
    "network": (network, pairs),
    "energy_of": (
        lambda t: qad.mps.energy(scaled(t), H),
        lambda t: quotient(scaled(t).tensors, operator_matrices(H, float)),
    ),
    "amplitudes_of": (
        lambda t: np.sum(scaled(t).amplitudes(WORDS) ** 2),
        lambda t: np.sum(amplitudes(scaled(t)) ** 2),
    ),
    "measured": (
        lambda t: np.sum(circuit(t).mps().expectation(["ZZI", "XYZ", "IXX"]) ** 2),
        lambda t: np.sum(circuit(t).expectation(["ZZI", "XYZ", "IXX"]) ** 2),
    ),
    "evolved": (
        spins,
        phases,
    ),
    "cut": (
        lambda t: qad.abs2(qad.mps.overlap(OTHER, MPS(centred_by_cuts(scaled(t).tensors)))),
        lambda t: qad.abs2(np.vdot(OTHER.to_dense(), scaled(t).to_dense())),
    ),
    "measured_in": (
        lambda t: thermal(t).log_partition + 2 * thermal(t).expectation(FIRST_PAIR),
        lambda t: np.log(np.sum(weights(t)[0])) + 2 * mean_of_weights(t),
    ),
    "exponentiated": (exponential_of_a_pair, exponential_of_its_matrix),
    "guessed": (by_known_rows, lambda t: np.sum(qad.abs2(of_rank_two(t) @ np.arange(4.0)))),
}
FIRST_ONLY = {
    "exponentiated",
    "measured",
    "evolved",
    "cut",
    "guessed",
    "measured_in",
}  # which refuse higher derivatives
NOT_FROZEN = {
    "exponentiated",
    "evolved",
    "measured_in",
}  # where it cuts is decided by numbers, so that every other number is recorded anew
ROWS = np.array([[0.6, 0.8j, 0.0, 0.0], [0.0, 0.0, -0.8, 0.6]])
T, V = np.array([0.7, 0.4]), np.array([0.3, -1.1])


def observed(f):
    """The gradient while somebody looks on."""

    def looked_at(t):
        with qad.profile():
            return qad.grad(f)(t)

    return looked_at


def without_grad(f):
    """The value of recorded numbers where nothing is recorded."""

    def value(t):
        with qad.no_grad():
            return f(qad.tensor(t, requires_grad=True)).numpy()

    return value


FIRST = {
    "grad": qad.grad,
    "freeze(grad)": lambda f: qad.freeze(qad.grad(f)),
    "grad(freeze)": lambda f: qad.grad(qad.freeze(f)),
    "jvp": lambda f: lambda t: qad.jvp(f, (t,), (V,))[1],
    "no_grad": without_grad,
    "an observer": observed,
    "checkpoint": lambda f: qad.grad(qad.checkpoint(f)),
    "two sweeps": lambda f: lambda t: (lambda pull: pull(1.0)[0] + pull(2.0)[0])(qad.vjp(f, t)[1]),
}
HIGHER = {
    "grad(grad)": lambda f: qad.grad(lambda t: np.sum(qad.grad(f)(t) * V)),
    "vmap(grad)": lambda f: lambda t: qad.vmap(qad.grad(f))(np.stack([t, 2 * t, t + V])),
    "grad(vmap)": lambda f: qad.grad(lambda t: np.sum(qad.vmap(f)(np.stack([t, 2 * t])))),
    "jvp(grad)": lambda f: lambda t: qad.jvp(qad.grad(f), (t,), (V,))[1],
    "hessian": qad.hessian,
    "freeze(jvp(grad))": lambda f: qad.freeze(lambda t: qad.jvp(qad.grad(f), (t,), (V,))[1]),
    "grad(jvp(grad))": lambda f: qad.grad(lambda t: np.sum(qad.jvp(qad.grad(f), (t,), (V,))[1])),
}
RUNS = [
    (name, how)
    for name in LOSSES
    for how in (*FIRST, *HIGHER)
    if (name not in FIRST_ONLY or how not in HIGHER) and (name not in NOT_FROZEN or "freeze" not in how)
]


def test_every_primitive_that_keeps_is_here():
    keeping = {p.raw.__name__ for p in PRIMITIVES.values() if p.keeps and p.raw.__module__.startswith("qad.")}
    assert keeping == set(LOSSES)


@pytest.mark.parametrize("name, how", RUNS, ids=[f"{name} {how}" for name, how in RUNS])
def test_transforms(name, how):
    transform = {**FIRST, **HIGHER}[how]
    found, expected = (transform(f)(T) for f in LOSSES[name])
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("name", sorted(LOSSES.keys() - NOT_FROZEN))
def test_frozen_elsewhere(name):
    """What was kept while a program was recorded does not serve it at other numbers."""
    f = LOSSES[name][0]
    frozen = qad.freeze(qad.grad(f))
    frozen(T)
    np.testing.assert_allclose(frozen(T + V), qad.grad(f)(T + V), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", sorted(LOSSES.keys() - FIRST_ONLY))
def test_run_again_at_other_numbers(name):
    """A fixed point records its function once, and runs it again on what it closed over, whose levels lie below."""

    def solved(f):
        return lambda t: np.sum(qad.fixed_point(lambda x: 0.05 * np.tanh(f(t + x)) * x + t, t) ** 2)

    (found, expected), (g, h) = ([transform(solved(f)) for f in LOSSES[name]] for transform in (qad.grad, qad.hessian))
    np.testing.assert_allclose(found(T), expected(T), rtol=1e-8)
    np.testing.assert_allclose(g(T), h(T), rtol=1e-6, atol=1e-8)


def test_what_is_kept_goes_with_the_node():
    alive = []

    @qad.extend.primitive(keeps=True)
    def square(x):
        kept = 2 * x
        alive.append(weakref.ref(kept))
        return x * x, kept

    given = []
    qad.extend.defvjp(square, lambda g, ans, x, kept=None: given.append(kept is not None) or g * 2 * x)
    _, pullback = qad.vjp(lambda x: square(x).sum(), normal(3))
    assert alive[-1]() is not None
    pullback(1.0)
    assert given == [True]
    del pullback
    gc.collect()
    assert alive[-1]() is None
    square(normal(3))
    assert alive[-1]() is None  # a plain call gives the answer alone
    qad.hvp(lambda x: square(x).sum(), (normal(3),), (normal(3),))
    assert given[1:] and not any(given[1:])


def test_operators_measured_in_a_plain_circuit():
    """Where no gate is differentiated, derivatives by the operator are of any order."""
    run, words = qad.Circuit(3).h(0).cx([0, 1], [1, 2]).ry(0.3, 1).mps(), ("ZZI", "XXX")

    def value(c):
        return run.expectation(qad.PauliSum(zip(words, c, strict=True)))

    parts = [run.expectation(word) for word in words]
    np.testing.assert_allclose(qad.grad(value)(T), parts, atol=1e-14)
    np.testing.assert_allclose(qad.hessian(lambda c: value(c) ** 2)(T), 2 * np.outer(parts, parts), atol=1e-13)
    np.testing.assert_allclose(qad.vmap(value)(np.stack([T, V])), [value(T), value(V)], atol=1e-14)
    assert sandwich(run.final.tensors, run.final.tensors)[0] == pytest.approx(1.0)
