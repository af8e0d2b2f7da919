"""Real time with the default method: values and gradients, beside dense evolutions and free fermions."""

import numpy as np
import pytest

import qad
from qad import mps
from tests.physics import exact, free

STEPS = 2e-3  # what the second order leaves at these steps, of a number of order one
UP = mps.MPS.product


def z_of(H, start, time, steps, site):
    """``<Z>`` of one site after a time, as a physicist writes it."""
    return mps.local_expectations(mps.evolve(start, H, time, steps).state, "Z")[site].real


@pytest.mark.parametrize(
    "n, steps",
    [(10, 3), pytest.param(10, 10, marks=pytest.mark.slow), pytest.param(12, 10, marks=pytest.mark.slow)],
)
def test_the_first_gradient_of_a_quench(n, steps):
    """By the coupling, the field and the time; from a product state of as many sites as amplify inverses."""
    start, site = UP([0] * n), n // 2
    value = lambda j, g, t: z_of(mps.ising(n, g, j=j), start, t, steps, site)
    wanted = lambda j, g, t: free.quench_z(n, site, t, g, j)
    assert value(1.0, 1.0, 1.0) == pytest.approx(wanted(1.0, 1.0, 1.0), abs=1e-7)
    found = qad.grad(value, argnums=(0, 1, 2))(1.0, 1.0, 1.0)
    slopes = [
        exact.difference(lambda x: wanted(x, 1.0, 1.0), 1.0),
        exact.difference(lambda x: wanted(1.0, x, 1.0), 1.0),
        exact.difference(lambda x: wanted(1.0, 1.0, x), 1.0),
    ]
    assert np.array(found) == pytest.approx(np.array(slopes), abs=1e-6)
    assert found[0] == pytest.approx(exact.difference(lambda j: value(j, 1.0, 1.0), 1.0, 1e-2), abs=1e-6)


CASES = {  # terms, the site whose Z is looked at
    "second neighbours": (4, [(1.0, "X", 0, "X", 2)], 0),
    "second neighbours everywhere": (7, [(1.0, "X", i, "X", i + 2) for i in range(5)], 3),
    "clusters": (6, [(1.0, "X", i, "Z", i + 1, "X", i + 2) for i in range(4)], 2),
    "ends": (8, [(1.0, "X", 0, "X", 7), (0.5, "Y", 2, "Y", 6)], 7),
    "third neighbours": (8, exact.exchange(exact.row(8, 3), 2.0) + [(0.7, "X", i) for i in range(8)], 4),
    "ising": (6, exact.transverse(6, 1.0), 3),
}


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n == "ising")) for n in CASES])
def test_evolution_does_not_stand_still(name):
    n, terms, site = CASES[name]
    spins = ["spin-1/2"] * n
    h, z, time = exact.dense(spins, terms), exact.product(spins, "Z", site), 0.25
    wanted = exact.mean(z, exact.evolved(h, exact.basis(spins, [0] * n), time))
    H = exact.opsum(spins, terms)
    assert z_of(H, UP([0] * n), time, 6, site) == pytest.approx(wanted, abs=STEPS)
    slope = qad.grad(lambda t: z_of(H, UP([0] * n), t, 6, site))(time)
    right = exact.difference(lambda t: exact.mean(z, exact.evolved(h, exact.basis(spins, [0] * n), t)), time)
    assert slope == pytest.approx(right, abs=1e-7)


def test_second_neighbours_by_hand():
    """``exp(-i X X t)`` turns Z by twice the time: cos 1."""
    H = mps.OpSum(4).add(1.0, "X", 0, "X", 2)
    assert z_of(H, UP([0] * 4), 0.5, 10, 0) == pytest.approx(np.cos(1.0), abs=1e-6)


def test_a_ladder_of_free_fermions():
    ladder = mps.Lattice.ladder(4)
    kinds, filling = ["fermion"] * 8, [1, 0, 0, 0, 0, 1, 0, 1]
    H = exact.opsum(kinds, exact.hopping(ladder.bonds(), 1.0))
    single = np.zeros((8, 8))
    for i, k in ladder.bonds():
        single[i, k] = single[k, i] = -1.0
    final = mps.evolve(UP(filling), H, 0.25, 10).state
    found = np.real(mps.local_expectations(final, "N", kind="fermion"))
    assert found == pytest.approx(free.densities(single, filling, 0.25), abs=STEPS)


def test_a_cylinder_from_the_state_of_neel():
    cylinder = mps.Lattice.cylinder(3, 3)
    spins, start = ["spin-1/2"] * 9, [0, 1, 0, 1, 0, 1, 0, 1, 0]
    h = exact.dense(spins, exact.exchange(cylinder.bonds()))
    wanted = exact.mean(exact.product(spins, "Z", 4), exact.evolved(h, exact.basis(spins, start), 0.1))
    assert z_of(mps.heisenberg(cylinder), UP(start), 0.1, 4, 4) == pytest.approx(wanted, abs=1e-8)


STARTS = {
    "product": lambda n: UP([0, 1] * (n // 2)),
    "tilted": lambda n: UP([np.array([0.8, 0.6])] * n),
    "random": lambda n: mps.MPS.random(n, 4, seed=1),
    "ground": lambda n: mps.ground_state(mps.ising(n, 0.5)).state,
}


@pytest.mark.parametrize(
    "start, n, model",
    [
        *[(start, 6, "long range") for start in ("product", "tilted", "ground")],  # random ones of all sizes at night
        *[
            pytest.param(start, 10, model, marks=pytest.mark.slow)
            for start in STARTS
            for model in ("neighbours", "long range")
        ],
    ],
)
def test_gradients_from_every_start(start, n, model):
    """Where nothing is quick: beside differences of the dense evolution, by coupling and time."""
    psi, spins = STARTS[start](n), ["spin-1/2"] * n

    def terms(j):
        tail = [(-j * 0.5 ** (k - i - 1), "Z", i, "Z", k) for i in range(n) for k in range(i + 1, n)]
        return exact.transverse(n, 0.9, j) if model == "neighbours" else tail + [(-0.9, "X", i) for i in range(n)]

    x, dense = exact.product(spins, "X", 4), psi.to_dense()
    wanted = lambda j, t: exact.mean(x, exact.evolved(exact.dense(spins, terms(j)), dense, t))
    value = lambda j, t: mps.local_expectations(
        mps.evolve(psi, exact.opsum(spins, terms(j)), t, 3).state, "X")[4].real  # fmt: skip
    found = qad.grad(value, argnums=(0, 1))(1.0, 0.2)
    slopes = [exact.difference(lambda j: wanted(j, 0.2), 1.0), exact.difference(lambda t: wanted(1.0, t), 0.2)]
    assert np.array(found) == pytest.approx(np.array(slopes), abs=1e-7)


def test_gradient_by_the_state():
    """Of a product state by its angle."""
    H, spins = mps.j1j2(6, 1.0, 0.4), ["spin-1/2"] * 6
    value = lambda a: z_of(H, UP([qad.array([np.cos(a), np.sin(a)])] * 3 + [0, 1, 0]), 0.2, 3, 2)
    h = exact.dense(spins, exact.exchange(exact.row(6)) + exact.exchange(exact.row(6, 2), 0.4))

    def wanted(a):
        psi = np.ones(())
        for v in [np.array([np.cos(a), np.sin(a)])] * 3 + [np.eye(2)[k] for k in (0, 1, 0)]:
            psi = np.multiply.outer(psi, v)
        return exact.mean(exact.product(spins, "Z", 2), exact.evolved(h, psi, 0.2))

    assert value(0.4) == pytest.approx(wanted(0.4), abs=STEPS)
    assert qad.grad(value)(0.4) == pytest.approx(exact.difference(wanted, 0.4), abs=1e-7)


@pytest.mark.parametrize("method", ["tebd", "tebd4"])
def test_gates(method):
    H, start = mps.ising(8, 1.0), UP([0] * 8)
    value = lambda t: mps.local_expectations(mps.evolve(start, H, t, 20, method).state, "Z")[4].real
    assert value(0.5) == pytest.approx(free.quench_z(8, 4, 0.5), abs=STEPS)
    assert qad.grad(value)(0.5) == pytest.approx(exact.difference(lambda t: free.quench_z(8, 4, t), 0.5), abs=STEPS)


def test_an_exponential_of_the_operator():
    H, start = mps.ising(6, 0.9), UP([0] * 6)
    step = mps.mpo_exp(H, -0.002j)
    h, psi = exact.dense(["spin-1/2"] * 6, exact.transverse(6, 0.9)), start
    for _ in range(5):
        psi = (step @ psi).truncate()[0]
    zipped = mps.apply_mpo(step, psi)[0]
    wanted = exact.evolved(h, start.to_dense(), 0.01)
    assert abs(np.vdot(wanted, psi.to_dense().reshape(-1))) == pytest.approx(1.0, abs=1e-6)
    assert zipped.to_dense() == pytest.approx((step @ psi).to_dense(), abs=1e-12)


def test_what_a_flipped_spin_becomes():
    H = mps.xxz(6, 0.0)
    psi = mps.ground_state(H).state
    found = mps.spectral_function(psi, H, "Sz", "Sz", [np.pi], [0.0, 1.0], time=1.0, steps=5)
    spins, terms = ["spin-1/2"] * 6, exact.exchange(exact.row(6), 1.0, 0.0)
    levels, states = np.linalg.eigh(exact.dense(spins, terms).toarray())
    rows = [states.T @ exact.dense(spins, [(1.0, "Sz", x)]) @ states[:, 0] for x in range(6)]
    wanted = np.exp(-1j * np.outer(found.times, levels - levels[0])) @ (np.array(rows) * rows[3]).T
    np.testing.assert_allclose(found.correlations, wanted, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("n", [40, 100])
def test_long_quenches_and_their_gradients(n):
    start, site = UP([0] * n), n // 2
    fields = np.full(n, 1.0)

    def value(j, g, t):
        final = mps.evolve(start, mps.ising(n, g, j=j), t, 20, bond=32).state
        return mps.local_expectations(final, "Z")[site].real

    assert value(1.0, fields, 1.0) == pytest.approx(free.quench_z(n, site, 1.0), abs=1e-2)
    by_j, by_g, by_t = qad.grad(value, argnums=(0, 1, 2))(1.0, fields, 1.0)
    assert by_j == pytest.approx(exact.difference(lambda x: free.quench_z(n, site, 1.0, 1.0, x), 1.0), abs=2e-2)
    assert by_t == pytest.approx(exact.difference(lambda x: free.quench_z(n, site, x), 1.0), abs=2e-2)
    for k in (site, site - 3, 0):
        moved = lambda x, k=k: free.quench_z(n, site, 1.0, fields + (x - 1) * np.eye(n)[k])
        assert by_g[k] == pytest.approx(exact.difference(moved, 1.0), abs=1e-2)
    same = exact.difference(lambda x: value(x, fields, 1.0), 1.0, 1e-2)
    assert by_j == pytest.approx(same, abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("n", [12, 16])
def test_gradients_where_nothing_is_exact(n):
    """A frustrated chain from three starts, beside differences of the same call."""
    at = (1.0, 0.3, 0.4)
    for start in (UP([0, 1] * (n // 2)), mps.MPS.random(n, 4, seed=3), mps.ground_state(mps.ising(n, 1.0), 32).state):
        value = lambda j1, j2, t, start=start: z_of(mps.j1j2(n, j1, j2), start, t, 10, n // 2 - 1)
        found = qad.grad(value, argnums=(0, 1, 2))(*at)
        for k, which in enumerate(("j1", "j2", "time")):
            moved = lambda x, k=k, value=value: value(*at[:k], x, *at[k + 1 :])
            assert found[k] == pytest.approx(exact.difference(moved, at[k], 1e-2), abs=1e-3), which
