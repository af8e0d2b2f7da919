"""Derivatives of `evolve` as it is first called: method and options left at their defaults, any model, any start."""

from functools import cache

import numpy as np
import pytest

import qad
from qad.linalg.krylov.lanczos import Krylov
from qad.mps import MPS, OpSum, evolve, heisenberg, ising, j1j2, xxz

METHODS = {"default": {}, "tebd": {"method": "tebd"}, "tebd4": {"method": "tebd4"}, "cut": {"bond": 4}}
WITH = ["coupling", "time", "start"]


def long_range(g, j, n):
    """Ising couplings that fall off with the third power of the distance, in a field."""
    H = OpSum(n)
    for a in range(n):
        H.add(-g, "X", a)
        for b in range(a + 1, n):
            H.add(-j / (b - a) ** 3, "Z", a, "Z", b)
    return H


def ladder(rung, leg, n):
    """Heisenberg couplings along two legs and on the rungs, site by site."""
    H = OpSum(n)
    for name in ("Sx", "Sy", "Sz"):
        for a in range(n - 2):
            H.add(leg, name, a, name, a + 2)
        for a in range(0, n - 1, 2):
            H.add(rung, name, a, name, a + 1)
    return H


MODELS = {
    "ising": lambda p, q, n: ising(n, p, j=q),
    "heisenberg": lambda p, q, n: p * heisenberg(n),
    "xxz": lambda p, q, n: q * xxz(n, p),
    "long-range": long_range,
    "ladder": ladder,
    "j1j2": lambda p, q, n: j1j2(n, q, p),
}


@cache
def ground(n):
    return qad.mps.ground_state(ising(n, 1.3), 16).state


STARTS = {
    "up": lambda n: MPS.product([0] * n),
    "neel": lambda n: MPS.product([0, 1] * (n // 2)),
    "tilted": lambda n: MPS.product([np.array([0.9, 0.43589 * np.exp(0.3j * (i % 3))]) for i in range(n)]),
    "random": lambda n: MPS.random(n, 4, seed=3),
    "ground": ground,
}


def program(model, start, n, by, imaginary=False, time=0.3, steps=3, **how):
    """A function of one number, a measurement after an evolution; where it is taken; and the dense one."""
    psi = STARTS[start](n)

    def operands(x):
        p, t, tensors = x if by == "coupling" else 0.8, x if by == "time" else time, list(psi)
        if by == "start":
            turn = np.cos(x) * np.eye(2) - 1j * np.sin(x) * np.array([[0.0, 1.0], [1.0, 0.0]])
            tensors[n // 2] = np.einsum("st,atb->asb", turn, tensors[n // 2])
        return MPS(tensors), MODELS[model](p, 1.1, n), t

    def chain(x):
        state, H, t = operands(x)
        return measured(evolve(state, H, t, steps, imaginary=imaginary, **how).state)

    def dense(x):
        state, H, t = operands(x)
        H = H.mpo() if isinstance(H, OpSum) else H
        final = qad.linalg.expm((-t if imaginary else -1j * t) * H.to_dense()) @ state.to_dense().reshape(-1)
        return measured(MPS.from_dense((final / np.linalg.norm(final)).reshape((2,) * n)))

    return chain, {"coupling": 0.8, "time": time, "start": 0.2}[by], dense


def measured(psi):
    """Of one site, of two neighbours and of two far away."""
    n, z = len(psi), qad.mps.local_expectations(psi, "Z").real
    x = qad.mps.correlations(psi, "X", "X").real
    return z[n // 2] + 0.3 * z[1] + 0.5 * x[n // 2, n // 2 - 1] + 0.2 * x[1, n - 2]


def difference(f, x, h=2e-2):
    """By seven points, so far apart that steps of 5e-9 in the value, where a direction of a bond comes or goes, count
    for less than 1e-6; larger ones of small bonds ask for points nearby."""
    first, second, third = (f(x + k * h) - f(x - k * h) for k in (1, 2, 3))
    return (45 * first - 9 * second + third) / (60 * h)


def drawn(seed, most):
    """A random program of at most so many sites."""
    rng = np.random.default_rng(seed)
    model, start, by = (str(rng.choice(list(x))) for x in (MODELS, STARTS, WITH))
    n = int(rng.choice([k for k in (6, 8, 10, 12, 16) if k <= most]))
    how = str(rng.choice(list(METHODS)))
    if how.startswith("tebd") and model not in ("ising", "heisenberg", "xxz"):
        how = "default"
    return model, start, n, by, bool(rng.random() < 0.25), METHODS[how]


def check(model, start, n, by, imaginary=False, how=None, dense=False):
    chain, x, exact = program(model, start, n, by, imaginary, **(how or {}))
    value, found = qad.value_and_grad(chain)(x)
    assert value == pytest.approx(chain(x), abs=1e-6)
    apart = 2e-3 if how and "bond" in how else 2e-2
    assert found == pytest.approx(difference(chain, x, apart), abs=1e-6)
    if dense:
        assert found == pytest.approx(qad.grad(exact)(x), abs=1e-5)


@pytest.mark.parametrize("n, exact", [(8, 0.956858), (10, 0.956896)])
@pytest.mark.slow
def test_the_first_gradient_of_a_quench(n, exact):
    """From a product state, by the default method: it was -350191 for ten spins."""

    def f(j):
        final = evolve(MPS.product([0] * n), ising(n, 1.0, j=j), 1.0, 10).state
        return qad.mps.local_expectations(final, "Z")[n // 2].real

    assert qad.grad(f)(1.0) == pytest.approx(exact, abs=2e-6)


@pytest.mark.slow
def test_the_gradient_of_a_quench_of_forty_spins():
    def f(j):
        final = evolve(MPS.product([0] * 40), ising(40, 1.0, j=j), 1.0, 20, bond=32).state
        return qad.mps.local_expectations(final, "Z")[20].real

    assert qad.grad(f)(1.0) == pytest.approx(difference(f, 1.0), abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("by", WITH)
@pytest.mark.parametrize(
    "model, start", [("long-range", "up"), ("long-range", "tilted"), ("xxz", "up"), ("ladder", "up")]
)
def test_none_is_refused_from_product_states(model, start, by):
    """Also where the state stays what it is, and bonds have nothing in directions that a change fills."""
    check(model, start, 6, by, dense=True)


@pytest.mark.parametrize(
    "model, start, by, imaginary",
    [
        ("j1j2", "neel", "coupling", False),
        ("j1j2", "neel", "time", True),
        ("ladder", "tilted", "start", False),
        ("ladder", "up", "coupling", True),
        ("long-range", "up", "time", False),
        ("long-range", "random", "start", True),
        ("xxz", "up", "start", False),
    ],
)
@pytest.mark.sampled(1)
def test_the_adjoint_chain_agrees_with_exact_states(model, start, by, imaginary):
    """A `cutoff` that is given keeps short chains from their amplitudes: they go the way of those of any length."""
    check(model, start, 6, by, imaginary, {"cutoff": 1e-18}, dense=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    "model, start, by", [("xxz", "up", "start"), ("j1j2", "up", "start"), ("j1j2", "neel", "time")]
)
def test_chains_of_more_than_twelve_sites(model, start, by):
    """Terms beyond neighbours were up to 1.5e-4 off there, and states that stay what they are refused."""
    check(model, start, 14, by, how={"time": 0.2, "steps": 2})


@pytest.mark.slow
def test_a_state_that_changes_leave_as_it_is_has_a_derivative_of_zero():
    """The adjoint state is exactly zero there; it was cut to nothing."""

    def up(p):
        final = evolve(MPS.product([0] * 14), j1j2(14, 1.0, p), 0.2, 2).state
        return qad.mps.local_expectations(final, "Z")[7].real

    assert qad.grad(up)(1.0) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.slow
def test_couplings_of_any_range_from_all_spins_up():
    """Random pairs far apart, which no coupling changes, filled the bonds: the derivative was refused."""

    def f(g):
        final = evolve(MPS.product([0] * 14), qad.mps.long_range_ising(14, 1.0, g), 0.2, 2).state
        return qad.mps.local_expectations(final, "Z")[7].real

    assert qad.grad(f)(1.0) == pytest.approx(difference(f, 1.0), abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("power", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("start", ["up", "neel", "tilted"])
def test_couplings_of_any_range_from_product_states(power, start):
    """Changes had the errors of two evolutions that were both cut at the largest bond: derivatives were refused.

    From a Neel state, 1/r^0.5, differences of points 2e-2 apart are 1.2e-6 from the derivative, of 4e-2 3.7e-7.
    """

    def f(g):
        final = evolve(STARTS[start](16), qad.mps.long_range_ising(16, power, g), 0.2, 2).state
        return measured(final)

    assert qad.grad(f)(0.8) == pytest.approx(difference(f, 0.8, 4e-2), abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("model, start", [("j1j2", "neel"), ("xxz", "up"), ("long-range", "tilted")])
def test_chains_of_twenty_four_sites(model, start):
    check(model, start, 24, "coupling", how={"time": 0.2, "steps": 2})


@pytest.mark.slow
@pytest.mark.parametrize("by", WITH)
@pytest.mark.parametrize("start", ["up", "neel", "tilted", "ground"])
@pytest.mark.parametrize("model", ["j1j2", "ladder", "long-range", "xxz"])
def test_sixteen_sites(model, start, by):
    check(model, start, 16, by)


@pytest.mark.slow
def test_a_coupling_that_breaks_a_symmetry_of_a_long_chain():
    """All spins up stay up; two spins far apart turn together where the couplings of X and Y differ."""

    def together(difference, n, **how):
        psi = evolve(MPS.product([0] * n), qad.mps.xyz(n, 1 + difference, 1 - difference, 0.7), 0.4, 4, **how).state
        c = qad.mps.correlations(psi, "X", "Y").real
        return c[1, 2] + 0.5 * c[2, 4] + 0.3 * c[1, 5] + qad.mps.local_expectations(psi, "Z")[3].real

    exact = qad.grad(together)(0.0, 8)
    assert abs(exact) > 0.1
    assert qad.grad(together)(0.0, 8, cutoff=1e-18) == pytest.approx(exact, abs=5e-7)
    assert qad.grad(together)(0.0, 14) == pytest.approx(difference(lambda d: together(d, 14), 0.0), abs=2e-6)


def test_many_steps_of_a_state_that_stays_what_it_is():
    """What changes on the way make of it grew by the square of its norm from step to step, until it overflowed."""

    def together(difference, **how):
        psi = evolve(MPS.product([0] * 4), qad.mps.xyz(4, 1 + difference, 1 - difference, 0.7), 0.3, 12, **how).state
        return qad.mps.correlations(psi, "X", "Y").real[0, 1]

    exact = qad.grad(together)(0.0)
    assert abs(exact) > 0.1
    assert qad.grad(together)(0.0, cutoff=1e-18) == pytest.approx(exact, abs=1e-6)


@pytest.mark.slow
def test_fidelity_and_entropy_after_terms_beyond_neighbours():
    other, start = MPS.random(6, 4, seed=1), STARTS["neel"](6)

    def measures(p, **how):
        psi = evolve(start, j1j2(6, 1.1, p), 0.4, 4, **how).state
        return qad.abs2(qad.mps.overlap(other, psi)) + qad.mps.entanglement_entropy(psi, 2)

    exact = qad.grad(measures)(0.8)
    assert qad.grad(lambda p: measures(p, cutoff=1e-18))(0.8) == pytest.approx(exact, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_random_programs(seed):
    model, start, n, by, imaginary, how = drawn(seed, 8)
    check(model, start, n, by, imaginary, how)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 160))
def test_random_programs_of_more_sites(seed):
    check(*drawn(seed, 16))


@pytest.mark.slow
def test_the_products_of_a_gradient_are_in_proportion_to_those_of_the_value(monkeypatch):
    """Of effective operators: as many for each of nine steps as for each of three, and few times the value's."""
    counted, extend = [], Krylov.extend
    monkeypatch.setattr(Krylov, "extend", lambda *args: (counted.append(0), extend(*args))[1])
    per_step = []
    for steps in (3, 9):
        chain, x, _ = program("long-range", "random", 8, "coupling", time=0.1 * steps, steps=steps, cutoff=1e-20)
        del counted[:]
        chain(x)
        value = len(counted)
        qad.grad(chain)(x)
        per_step.append((len(counted) - value) / steps)
        assert len(counted) - value < 6 * value
    assert per_step[1] < 1.5 * per_step[0]
