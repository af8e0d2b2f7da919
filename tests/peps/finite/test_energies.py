"""Finite PEPS by boundary MPS against the dense state: values, gradients, samples, and what is refused."""

import numpy as np
import pytest

import qad
from qad.peps import finite
from tests.peps.dense import J1J2, bonds_of, dense_energy, spin_terms

SX, SZ = np.array([[0.0, 0.5], [0.5, 0.0]]), np.diag([0.5, -0.5])


def largest(tree):
    return max(np.abs(t).max() for row in tree for t in row)


def difference(a, b):
    return max(np.abs(s - t).max() for x, y in zip(a, b, strict=True) for s, t in zip(x, y, strict=True))


@pytest.mark.parametrize(
    "rows, columns, cylinder, dtype, chi",
    [
        (1, 1, False, float, 1),
        (1, 4, False, complex, 1),
        (4, 1, False, float, 1),
        (3, 3, False, float, 16),
        (3, 3, False, complex, 16),
        (2, 3, True, complex, 16),
        (3, 2, True, float, 64),
        (4, 4, False, float, 16),
    ],
)
@pytest.mark.sampled(2)
def test_energy_and_gradient_are_those_of_the_dense_state(rows, columns, cylinder, dtype, chi):
    state = finite.FinitePEPS.random(rows, columns, bond=2, dtype=dtype, cylinder=cylinder, seed=1)
    terms = spin_terms(rows, columns, cylinder, dtype)
    exact, slope = qad.value_and_grad(lambda s: dense_energy(s.to_dense(), terms, columns))(state)
    value, gradient = qad.value_and_grad(finite.energy)(state, terms, chi)
    assert isinstance(gradient, finite.FinitePEPS)
    assert value == pytest.approx(exact, abs=2e-14)
    assert difference(gradient, slope) < 2e-13 * max(1, largest(slope))
    assert finite.log_norm2(state, chi) == pytest.approx(np.log(np.sum(np.abs(state.to_dense()) ** 2)), abs=1e-12)


def test_a_model_is_repeated_where_it_fits():
    state = finite.FinitePEPS.random(3, 3, bond=2, seed=2)
    terms = bonds_of(J1J2, 3, 3)
    assert len(terms) == 12 + 8
    assert finite.energy(state, J1J2, chi=16) == pytest.approx(finite.energy(state, terms, chi=16), abs=1e-13)
    ring = finite.FinitePEPS.random(3, 3, bond=2, seed=2, cylinder=True)
    exact = dense_energy(ring.to_dense(), bonds_of(J1J2, 3, 3, cylinder=True), 3)
    assert finite.energy(ring, J1J2, chi=16) == pytest.approx(exact, abs=1e-13)


def test_derivatives_by_couplings_and_of_second_order():
    state = finite.FinitePEPS.random(2, 3, bond=2, seed=3)

    def loss(tensors, coupling):
        return finite.energy(
            finite.FinitePEPS([tensors[:3], tensors[3:]]), [(coupling * SZ, [(0, 1)]), (SX, [(1, 2)])], chi=4
        )

    flat = [t for row in state for t in row]
    qad.check_grads(loss, (flat, np.array(0.7)), rtol=1e-6)


@pytest.mark.slow
def test_cut_boundaries_have_the_gradient_of_what_they_compute():
    state, other = (finite.FinitePEPS.random(4, 4, bond=2, seed=s) for s in (1, 5))
    terms = bonds_of(J1J2, 4, 4)

    def along(x):
        moved = [[a + x * b for a, b in zip(p, q, strict=True)] for p, q in zip(state, other, strict=True)]
        return finite.energy(finite.FinitePEPS(moved), terms, chi=10)

    h = 1e-3
    difference = (8 * (along(h) - along(-h)) - along(2 * h) + along(-2 * h)) / (12 * h)
    assert qad.grad(along)(0.0) == pytest.approx(difference, rel=1e-7)
    exact = dense_energy(state.to_dense(), terms, 4)
    assert finite.energy(state, terms, chi=10) == pytest.approx(exact, abs=5e-3)
    assert finite.energy(state, terms, chi=16) == pytest.approx(exact, abs=1e-13)


def test_product_states():
    """In larger bonds they have boundaries of rank one: values are right, derivatives that miss states refused."""
    rng = np.random.default_rng(0)
    shapes = [[t.shape for t in row] for row in finite.FinitePEPS.random(4, 4, bond=2)]
    rows = [[rng.standard_normal(2) for _ in row] for row in shapes]
    pairs = [zip(*pair, strict=True) for pair in zip(rows, shapes, strict=True)]
    state = finite.FinitePEPS([[embedded(v, shape) for v, shape in row] for row in pairs])
    found = finite.local_expectations(state, SZ, chi=3)
    assert found == pytest.approx(np.array([[v @ SZ @ v / (v @ v) for v in row] for row in rows]), abs=1e-14)
    with pytest.raises(qad.core.errors.ArgumentError, match="add a little noise"):
        qad.grad(finite.energy)(state, [(SZ, [(0, 0)])], 3)
    gradient = qad.grad(finite.energy)(state, [(SZ, [(0, 0)])], 64)
    assert all(np.isfinite(t).all() for row in gradient for t in row)


def embedded(vector, shape):
    out = np.zeros(shape)
    out[:, 0, 0, 0, 0] = vector
    return out


def test_expectations_of_the_same_operator_agree():
    state = finite.FinitePEPS.random(3, 3, bond=2, dtype=complex, seed=4)
    local = finite.local_expectations(state, "Sz", chi=16)
    single = [[finite.expectation(state, SZ, [(r, c)], chi=16) for c in range(3)] for r in range(3)]
    assert local == pytest.approx(np.array(single), abs=1e-14)
    swapped = np.kron(SZ, SX), np.kron(SX, SZ)
    for first, second in (((0, 0), (1, 2)), ((2, 1), (1, 1)), ((1, 0), (1, 2))):
        a = finite.expectation(state, swapped[0], [first, second], chi=16)
        assert a == pytest.approx(finite.expectation(state, swapped[1], [second, first], chi=16), abs=1e-14)
    plaquette = np.kron(swapped[0], swapped[0])
    sites = [(0, 0), (1, 0), (1, 1), (0, 1)]
    exact = dense_energy(state.to_dense(), [(plaquette, sites)], 3)
    assert finite.expectation(state, plaquette, sites, chi=16) == pytest.approx(exact, abs=1e-14)


@pytest.mark.parametrize("cylinder", [False, True])
def test_samples_have_the_probabilities_of_the_state(cylinder):
    state = finite.FinitePEPS.random(2, 3, bond=2, seed=0, cylinder=cylinder)
    shots = finite.sample(state, 3_000, chi=16, seed=1)
    assert shots.shape == (3_000, 2, 3)
    exact = (state.to_dense() ** 2).ravel()
    exact /= exact.sum()
    counts = np.bincount(shots.reshape(-1, 6) @ 2 ** np.arange(6)[::-1], minlength=64)
    chi_squared = np.sum((counts - 3_000 * exact) ** 2 / (3_000 * exact))
    assert chi_squared < 63 + 5 * np.sqrt(2 * 63)


def test_samples_with_cut_boundaries_stay_close():
    state = finite.FinitePEPS.random(4, 3, bond=2, seed=0)
    exact, cut = (finite.sample(state, 200, chi=chi, seed=3) for chi in (64, 10))
    assert np.mean(exact == cut) > 0.9  # the same random numbers, nearly the same probabilities


def test_dtypes():
    state = finite.FinitePEPS.random(3, 3, bond=2, dtype=np.float32)
    value, gradient = qad.value_and_grad(finite.energy)(state, [(SZ.astype(np.float32), [(1, 1)])], 8)
    assert value.dtype == gradient.dtype == np.float32


ONE = np.ones((2, 1, 1, 1, 1))


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda s: finite.FinitePEPS([[ONE, ONE.astype(complex)]]), "mixed dtypes"),
        (lambda s: finite.FinitePEPS([[ONE], [ONE, ONE]]), "rows of equal length"),
        (lambda s: finite.FinitePEPS([[ONE[0]]]), "legs are"),
        (lambda s: finite.FinitePEPS([[np.ones((2, 1, 1, 1, 2)), ONE]]), "bond to the right"),
        (lambda s: finite.FinitePEPS([[np.ones((2, 1, 1, 3, 1))], [ONE]]), "do not fit"),
        (lambda s: finite.FinitePEPS.random(0, 2, bond=2), "rows is 0"),
        (lambda s: finite.energy(s, [(SZ, [(0, 5)])]), "not all of which are among"),
        (lambda s: finite.energy(s, [(np.kron(SZ, SZ), [(0, 0), (0, 0)])]), "all different"),
        (lambda s: finite.energy(s, [(np.kron(SZ, SZ), [(0, 0), (2, 0)])]), "more than two rows"),
        (lambda s: finite.energy(s, [(np.eye(3), [(0, 0)])]), "of dimensions"),
        (lambda s: finite.energy(s, [(np.eye(6), [(0, 0), (0, 1)])]), "has no shape"),
        (lambda s: finite.energy(s, []), "list of pairs"),
        (lambda s: finite.energy(s, [SZ]), "list of pairs"),
        (lambda s: finite.energy(s, [(SZ, [(0, 0)])], chi=0), "chi is 0"),
        (lambda s: finite.energy(list(s), [(SZ, [(0, 0)])]), "a qad.peps.finite.FinitePEPS is needed"),
        (lambda s: finite.sample(s, 0), "shots is 0"),
        (lambda s: finite.norm2(finite.FinitePEPS([[1e200 * ONE] * 3] * 2)), "take log_norm2"),
        (lambda s: finite.log_norm2(finite.FinitePEPS([[0 * ONE]])), "the state is zero"),
    ],
)
def test_what_does_not_fit_is_refused(call, message):
    state = finite.FinitePEPS.random(3, 3, bond=2)
    with pytest.raises(qad.QadError, match=message):
        call(state)
