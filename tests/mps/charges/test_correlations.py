"""Measurements of symmetric states against those of the plain states that they are."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError
from qad.mps import MPS, correlations, entanglement_entropy, local_expectations, reduced_density, schmidt_values
from tests.mps.charges.chains import CHAINS, charges_of, random


def matrices(psi, dtype=complex, seed=0):
    """A matrix without any symmetry for every site."""
    rng = np.random.default_rng(seed)
    found = [rng.normal(size=(d, d)) + 1j * rng.normal(size=(d, d)) for d in psi.phys]
    return [m.astype(dtype) if dtype is complex else m.real for m in found]


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.sampled(4)
def test_local_numbers(name, dtype):
    psi = 3.0 * random(name, dtype)[0]
    plain = psi.without_symmetry()
    one, two = matrices(psi, dtype), matrices(psi, complex, 1)
    np.testing.assert_allclose(local_expectations(psi, one), local_expectations(plain, one), atol=1e-13)
    np.testing.assert_allclose(correlations(psi, one, two), correlations(plain, one, two), atol=1e-13)
    for sites in ([0], [1, 3], [0, 1, 2], [2, 3], [3]):
        np.testing.assert_allclose(reduced_density(psi, sites), reduced_density(plain, sites), atol=1e-14)


def test_operators_that_change_the_charge():
    """Sp alone has no expectation value; with Sm it has one."""
    psi = random("second neighbours")[0]
    sites = qad.mps.site("spin-1/2").operators
    np.testing.assert_array_equal(local_expectations(psi, sites["Sp"]), 0)
    np.testing.assert_array_equal(local_expectations(psi, 0 * sites["Sp"]), 0)
    found = correlations(psi, sites["Sp"], sites["Sm"])
    np.testing.assert_allclose(found, correlations(psi.without_symmetry(), sites["Sp"], sites["Sm"]), atol=1e-14)
    np.testing.assert_array_equal(correlations(psi, sites["Sp"], sites["Sz"]), 0)


@pytest.mark.parametrize("name", CHAINS)
def test_entanglement(name):
    psi = 2.0 * random(name)[0]
    plain = psi.without_symmetry()
    entropies = entanglement_entropy(psi)
    np.testing.assert_allclose(entropies, entanglement_entropy(plain), atol=1e-12)
    for bond, sectors in enumerate(entanglement_entropy(psi, by_sector=True), 1):
        assert sum(p for p, _ in sectors.values()) == pytest.approx(1.0)
        assert sum(p * (s - np.log(p)) for p, s in sectors.values()) == pytest.approx(entropies[bond - 1])
        by_charge = schmidt_values(psi, bond, by_sector=True)
        assert set(by_charge) >= set(sectors)
        for charge, (p, _) in sectors.items():
            assert (by_charge[charge] ** 2).sum() == pytest.approx(p)
        whole, expected = schmidt_values(psi, bond), schmidt_values(plain, bond)
        assert (np.diff(whole) <= 0).all()
        np.testing.assert_allclose(whole, expected[: len(whole)], atol=1e-12)
        assert not expected[len(whole) :].any() or expected[len(whole) :].max() < 1e-12


@pytest.mark.parametrize("name", CHAINS)
def test_weights_of_charges_are_those_of_amplitudes(name):
    psi = random(name)[0]
    bond = 2
    amplitudes = psi.without_symmetry().to_dense().reshape(np.prod(psi.phys[:bond]), -1)
    before = type(psi.conserved)(psi.conserved.names, psi.conserved.charges[:bond])
    weights = {}
    for charge, row in zip(map(tuple, charges_of(before).tolist()), amplitudes, strict=True):
        weights[charge] = weights.get(charge, 0.0) + np.vdot(row, row).real
    sectors = entanglement_entropy(psi, bond, by_sector=True)
    found = {tuple(np.atleast_1d(charge).tolist()): weight for charge, (weight, _) in sectors.items()}
    for charge, weight in weights.items():
        assert found.get(charge, 0.0) == pytest.approx(weight, abs=1e-13)


@pytest.mark.parametrize("name", ["ring", "electrons"])
def test_derivatives_are_those_of_the_ordinary_state(name):
    psi, _ = random(name)
    one, two = matrices(psi), matrices(psi, seed=1)
    losses = [
        lambda psi: (abs(correlations(psi, one, two)) ** 2).sum() + (local_expectations(psi, one).imag ** 2).sum(),
        lambda psi: entanglement_entropy(psi).sum(),
        lambda psi: entanglement_entropy(psi, order=2).sum() + schmidt_values(psi, 2)[0],
        lambda psi: (abs(reduced_density(psi, [1, 2])) ** 2).sum(),
    ]
    for loss in losses:
        gradient, expected = qad.grad(loss)(psi), qad.grad(loss)(psi.without_symmetry())
        for a, b in zip(gradient.without_symmetry(), expected, strict=True):
            np.testing.assert_allclose(a, b * (a != 0), atol=1e-11)


def test_entropies_by_sector_are_differentiable():
    psi, _ = random("ring", float, bond=4)
    qad.check_grads(lambda psi: entanglement_entropy(psi, 3, by_sector=True)[1].entropy, (psi,), order=1)
    qad.check_grads(lambda psi: entanglement_entropy(psi, 3, by_sector=True)[-1].weight, (psi,), order=1)


def test_operators_may_be_differentiated():
    psi, _ = random("ring", float)
    qad.check_grads(
        lambda m: local_expectations(psi, m).sum(), (np.random.default_rng(0).normal(size=(2, 2)),), order=1
    )


@pytest.mark.parametrize("name", CHAINS)
def test_samples_and_amplitudes(name):
    """Every sample has the charge of the state; frequencies are those of the amplitudes."""
    psi = random(name)[0]
    words = psi.sample(4000, seed=3)
    np.testing.assert_array_equal(words, psi.without_symmetry().sample(4000, seed=3))
    charges = charges_of(psi.conserved).reshape(*psi.phys, -1)
    assert (charges[tuple(words.T)] == np.atleast_1d(psi.sector)).all()
    dense = psi.without_symmetry().to_dense()
    np.testing.assert_allclose(psi.amplitudes(words[:50]), dense[tuple(words[:50].T)], atol=1e-14)
    logs = psi.log_amplitudes(words[:50])
    np.testing.assert_allclose(np.exp(logs), psi.amplitudes(words[:50]), atol=1e-13)
    every = np.random.default_rng(0).permutation(np.argwhere(np.ones(psi.phys)))[:300]  # in the sector and outside
    np.testing.assert_allclose(psi.amplitudes(every), dense[tuple(every.T)], atol=1e-14)
    outside = every[(charges[tuple(every.T)] != np.atleast_1d(psi.sector)).any(axis=1)]
    assert len(outside) and (psi.log_amplitudes(outside).real == -np.inf).all()
    counts = np.zeros(psi.phys)
    np.add.at(counts, tuple(words.T), 1)
    p = abs(dense) ** 2
    assert (abs(counts / 4000 - p) <= 6 * np.sqrt(p / 4000) + 1e-3).all()


def test_sums_are_split_into_parts_of_definite_charge():
    """Also where only several terms together conserve."""
    psi = random("ring")[0]
    total = qad.mps.OpSum(6)
    for i in range(5):
        for s in ("Sx", "Sy", "Sz"):
            total.add(1.0, s, i, s, i + 1)
    H = qad.mps.heisenberg(6)
    assert qad.mps.energy(psi, total) == pytest.approx(qad.mps.energy(psi, H))
    assert qad.mps.expectation(2.0 * psi, total) == pytest.approx(4 * qad.mps.energy(psi, H))
    assert qad.mps.variance(psi, total) == pytest.approx(qad.mps.variance(psi.without_symmetry(), total))
    assert qad.mps.expectation(psi.without_symmetry(), total) == pytest.approx(qad.mps.energy(psi, H))
    with pytest.raises(ArgumentError, match=r"the term Sx\(2\) does not conserve"):
        qad.mps.expectation(psi, total.add(1.0, "Sx", 2))


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda psi: entanglement_entropy(psi, 0), "bonds are 1 to 5"),
        (lambda psi: schmidt_values(psi, 6), "bonds are 1 to 5"),
        (lambda psi: entanglement_entropy(psi.without_symmetry(), 1, by_sector=True), "by_sector="),
        (lambda psi: schmidt_values(psi.without_symmetry(), by_sector=True), "by_sector="),
        (lambda psi: entanglement_entropy(psi, 1, order=2, by_sector=True), "order 1 only"),
        (lambda psi: local_expectations(0.0 * psi, np.eye(2)), "nothing can be measured"),
        (lambda psi: local_expectations(psi, np.eye(3)), "does not fit site 0"),
        (lambda psi: reduced_density(psi, [3, 1]), "must ascend"),
        (lambda psi: psi.sample(0), "shots must be a whole number"),
        (lambda psi: (0.0 * psi).sample(1), "nothing to draw from"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call(random("ring")[0])


LOSSES = {
    "expectation": lambda psi, m, H: qad.mps.expectation(psi, H),
    "local": lambda psi, m, H: local_expectations(psi, m).sum(),
    "correlations": lambda psi, m, H: correlations(psi, m, m).sum(),
    "density": lambda psi, m, H: (reduced_density(psi, [1, 2]) ** 2).sum(),
    "entropies": lambda psi, m, H: entanglement_entropy(psi).sum(),
    "canonical": lambda psi, m, H: qad.mps.expectation(psi.canonicalize(2), H),
    "normalised": lambda psi, m, H: qad.mps.expectation(psi.normalized(), H),
    "truncated": lambda psi, m, H: qad.mps.expectation(psi.truncate(3)[0], H),
    "amplitudes": lambda psi, m, H: (psi.amplitudes(np.array([[0, 1, 0, 1, 0, 0]])) ** 2).sum(),
}


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.sampled(4)
def test_programs(name):
    """Frozen, over stacks, and derived twice."""
    psi, H = random("second neighbours", float, bond=4)
    other = random("second neighbours", float, bond=4, seed=3)[0]
    m = np.random.default_rng(0).normal(size=(2, 2))

    def loss(psi):
        return LOSSES[name](psi, m, H)

    frozen = qad.freeze(loss)
    for state in (psi, other):
        np.testing.assert_allclose(frozen(state), loss(state), atol=1e-13)
    if name == "truncated":
        return  # examples keep different sectors

    def of_data(data):
        tensors = [qad.symmetric.SymTensor(t.layout, d) for t, d in zip(psi, data, strict=True)]
        return loss(qad.mps.MPS(tensors, psi.conserved))

    stacks = [np.stack([a.data, b.resplit(a.layout.split).data]) for a, b in zip(psi, other, strict=True)]
    np.testing.assert_allclose(qad.vmap(of_data)(stacks), [loss(psi), loss(other)], atol=1e-13)
    slopes = qad.vmap(qad.grad(of_data))(stacks)
    for found, expected in zip(slopes, qad.grad(loss)(psi), strict=True):
        np.testing.assert_allclose(found[0], expected.data, atol=1e-12)
    (curved,) = qad.hvp(loss, (psi,), (other,))
    (expected,) = qad.hvp(loss, (psi.without_symmetry(),), (other.without_symmetry(),))
    for one, two in zip(curved.without_symmetry(), expected, strict=True):
        np.testing.assert_allclose(one, two * (one != 0), atol=1e-11)


def test_slopes_by_operators_that_vanish():
    first, second = (MPS.product(states, conserve="Sz") for states in ([0, 1, 0], [0, 0, 1]))
    psi, z, up = (first + second).normalized(), np.diag([1.0, -1.0]), np.array([[0.0, 1.0], [0.0, 0.0]])
    losses = {
        "measure": (lambda x: qad.mps.measure(psi, x * z, 0).real, 1.0),
        "pair": (lambda x: qad.mps.correlations(psi, x * up, up.T)[1, 2].real, 0.5),
        "string": (lambda x: qad.mps.correlations(psi, z, z, string=x * z)[0, 2].real, -1.0),
    }
    for name, (loss, slope) in losses.items():
        assert abs(qad.grad(loss)(0.0) - slope) < 1e-14, name
        assert abs(loss(1.0) - slope) < 1e-14, name
