"""Every algorithm of finite chains over plain arrays and over charges of all kinds: the numbers are the same."""

from functools import lru_cache

import numpy as np
import pytest

import qad
from qad import mps
from qad.core.errors import ArgumentError

CHAINS = {
    "Sz": (mps.xxz(6, 0.7), "Sz", 0, lambda x: mps.xxz(6, x)),
    "N and Sz": (mps.hubbard(3, 1.0, 4.0), ("N", "Sz"), (2, 0), lambda x: mps.hubbard(3, 1.0, 4.0 * x)),
    "parity of fermions": (mps.kitaev_chain(6, 1.0, 0.7, 0.4), "parity", 1, lambda x: mps.kitaev_chain(6, 1.0, x, 0.4)),
    "parity along x": (mps.ising(6, 1.1), "parity x", 0, lambda x: mps.ising(6, x)),
}
DIAGONAL = {"N and Sz": "Nup", "parity of fermions": "N", "parity along x": "X"}
HOPS = {"N and Sz": ("Cdagup", "Cup"), "parity of fermions": ("Cdag", "C"), "parity along x": ("Z", "Z")}


@lru_cache
def states(kind):
    """A random state with charges, another one, and both as plain ones."""
    H, conserve, sector, _ = CHAINS[kind]
    make = {"conserve": conserve, "sector": sector, "kind": H.sites, "phys": H[0].shape[2]}
    charged = [mps.MPS.random(len(H), 6, seed=seed, **make) for seed in (1, 2)]
    return charged, [psi.without_symmetry() for psi in charged]


def levels(kind):
    """The exact energies of the sector."""
    H, conserve, sector, _ = CHAINS[kind]
    n, size = len(H), H[0].shape[2]
    if conserve == "parity x":
        counted = np.array([[1.0, 1.0], [1.0, -1.0]]) / np.sqrt(2)
        charges, turn = [(0,), (1,)], counted
    else:
        names = (conserve,) if isinstance(conserve, str) else conserve
        charges, turn = list(zip(*(H.sites[0].charges[name] for name in names), strict=True)), np.eye(size)
    whole = np.eye(1)
    for _ in range(n):
        whole = np.kron(whole, turn)
    total = np.array([sum(np.array(charges[k]) for k in np.unravel_index(i, (size,) * n)) for i in range(size**n)])
    total = total % 2 if "parity" in conserve else total
    rows = (total == np.atleast_1d(sector)).all(axis=1)
    matrix = whole.T @ H.to_dense() @ whole
    return np.linalg.eigvalsh(matrix[np.ix_(rows, rows)])


def evolved(method, **options):
    """Energies and slopes by a coupling, through the state that an evolution ends in."""

    def measured(psi, other, H, name, hop, model):
        def energy(x):
            return mps.energy(mps.evolve(psi, model(x), 0.2, 2, method, bond=12, **options).state, H)

        return np.stack([energy(0.9), qad.grad(energy)(0.9)])

    return measured


def by_tensors(function):
    """A number, and the overlap of its gradient with the state: the same in every basis of the bonds."""

    def measured(psi, other, H, name, hop, model):
        value, slope = qad.value_and_grad(lambda psi: function(psi, other, H))(psi)
        return np.stack([value, np.sqrt(sum(np.linalg.norm(np.ravel(numbers(t))) ** 2 for t in slope))])

    return measured


def numbers(tensor):
    return tensor.data if hasattr(tensor, "data") and hasattr(tensor, "layout") else tensor


MEASURED = {
    "norm": lambda psi, other, H, name, hop, model: mps.norm(psi),
    "overlap": lambda psi, other, H, name, hop, model: psi.overlap(other),
    "canonical": lambda psi, other, H, name, hop, model: psi.canonicalize(2).overlap(other),
    "truncated": lambda psi, other, H, name, hop, model: psi.truncate(3)[0].overlap(other),
    "sum": lambda psi, other, H, name, hop, model: (psi + 2.0 * other).norm(),
    "operator": lambda psi, other, H, name, hop, model: (H @ psi).overlap(other),
    "expectation": lambda psi, other, H, name, hop, model: psi.expectation(H),
    "variance": lambda psi, other, H, name, hop, model: mps.variance(psi, H),
    "slope by a coupling": lambda psi, other, H, name, hop, model: qad.grad(lambda x: mps.energy(psi, model(x)))(0.8),
    "energy": by_tensors(lambda psi, other, H: mps.energy(psi, H)),
    "slope of the variance": by_tensors(lambda psi, other, H: mps.variance(psi, H)),
    "slope of an overlap": by_tensors(lambda psi, other, H: np.abs(psi.overlap(other)) ** 2),
    "measure": lambda psi, other, H, name, hop, model: mps.local_expectations(psi, name, kind=H.sites),
    "correlations": lambda psi, other, H, name, hop, model: mps.correlations(psi, *hop, kind=H.sites),
    "densities": lambda psi, other, H, name, hop, model: mps.reduced_density(psi, [0, 2]),
    "information": lambda psi, other, H, name, hop, model: mps.mutual_information(psi, [0], [2]),
    "entropy": lambda psi, other, H, name, hop, model: psi.entanglement_entropy(),
    "Schmidt values": lambda psi, other, H, name, hop, model: np.concatenate(mps.schmidt_values(psi)),
    "amplitudes": lambda psi, other, H, name, hop, model: psi.amplitudes(np.indices(psi.phys).reshape(len(psi), -1).T),
    "samples": lambda psi, other, H, name, hop, model: psi.sample(20, seed=3),
    "applied": lambda psi, other, H, name, hop, model: psi.apply(
        np.diag(np.arange(psi.phys[0]) % 2 * 1j + 1), 1
    ).norm(),
    "swapped": lambda psi, other, H, name, hop, model: psi.swap(0, 2).overlap(other),
    "tebd": evolved("tebd"),
    "tdvp": evolved("tdvp"),
    "tdvp2": evolved("tdvp2", reach=1.0),
    "imaginary time": evolved("tebd4", imaginary=True),
}
ALONG_Z = {"applied"}  # a matrix that is diagonal in the basis of the sites flips along x


@pytest.mark.parametrize("what", MEASURED)
@pytest.mark.parametrize("kind", CHAINS)
@pytest.mark.sampled(12)
def test_numbers_are_those_of_the_plain_state(kind, what):
    if what in ALONG_Z and kind == "parity along x":
        with pytest.raises(ArgumentError, match="does not conserve"):
            MEASURED[what](*states(kind)[0], CHAINS[kind][0], "X", None, None)
        return
    H, _, _, model = CHAINS[kind]
    name, hop = DIAGONAL.get(kind, "Sz"), HOPS.get(kind, ("Sp", "Sm"))
    found, exact = (np.asarray(MEASURED[what](*pair, H, name, hop, model)) for pair in states(kind))
    if what == "Schmidt values":
        found, exact = (np.sort(x[x > 1e-12]) for x in (found, exact))
    np.testing.assert_allclose(found, exact, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("method", ["dmrg", "dmrg2", "lbfgs", "riemannian", "tebd", "tdvp"])
@pytest.mark.parametrize("kind", CHAINS)
@pytest.mark.sampled(3)
def test_searches_find_the_lowest_level_of_a_sector(kind, method):
    """By imaginary time, which comes near slowly, to six digits."""
    (H, conserve, sector, _), slow = CHAINS[kind], method in ("tebd", "tdvp")
    found = mps.ground_state(H, 16, method, conserve=conserve, sector=sector, tol=1e-7 if slow else 1e-11)
    assert found.energy == pytest.approx(levels(kind)[0], abs=3e-6 if slow else 1e-10)


@pytest.mark.parametrize("kind", CHAINS)
@pytest.mark.sampled(2)
def test_excited_states_of_a_sector(kind):
    H, conserve, sector, _ = CHAINS[kind]
    exact = levels(kind)
    lowest = mps.ground_state(H, 16, conserve=conserve, sector=sector)
    found = mps.ground_state(H, 16, conserve=conserve, sector=sector, excluded=[lowest.state])
    assert found.energy == pytest.approx(exact[1], abs=1e-9)
    assert abs(found.variance) < 1e-8 and abs(found.state.overlap(lowest.state)) < 1e-5


@pytest.mark.parametrize("kind", CHAINS)
@pytest.mark.sampled(1)
def test_thermal_states(kind):
    _, conserve, _, model = CHAINS[kind]

    def values(x, conserve):
        hot = mps.thermal_state(model(x), 0.5, cutoff=1e-22, conserve=conserve)
        return np.stack([hot.log_partition, hot.energy])

    found, exact = (values(0.8, name) for name in (conserve, None))
    np.testing.assert_allclose(found, exact, atol=1e-10)


def test_slopes_of_thermal_states():
    """By a coupling, of all that is measured."""

    def energy(x, conserve):
        return mps.thermal_state(mps.xxz(4, x), 0.5, cutoff=1e-22, conserve=conserve).energy

    slopes = [qad.grad(energy)(0.8, name) for name in ("Sz", None)]
    assert slopes[0] == pytest.approx(slopes[1], abs=1e-10)


@pytest.mark.slow
def test_parity_of_an_ising_chain_is_along_x():
    """It is found by what the operator conserves; a chain that conserves both is counted along z."""
    assert mps.ground_state(CHAINS["parity along x"][0], 4, conserve="parity").state.conserved.names == ("parity x",)
    assert mps.ground_state(mps.xxz(4, 0.3), 4, conserve="parity").state.conserved.names == ("parity",)
    total = mps.OpSum(6).add(1.0, "Z", 0, "Z", 5).add(0.3, "X", 2)
    assert set(mps.sectors(total, "parity x")) == {0, 1}
    assert mps.ground_state(total, 4, conserve="parity").energy == pytest.approx(-1.3, abs=1e-10)


@pytest.mark.parametrize("wrong, message", [
    (lambda: mps.MPS.random(4, 2, conserve="Sz", periodic=True), "open chains"),
    (lambda: mps.MPS.random(4, 2, conserve=("Sz", "parity x")), "along x or along z"),
    (lambda: mps.metts(mps.xxz(4, 0.3), 1.0, 1, sector=0), "conserve="),
    (lambda: mps.ground_state(mps.ising(4, 1.0), conserve="Sz"), "does not conserve 'Sz'"),
])  # fmt: skip
def test_what_takes_no_charges_says_so(wrong, message):
    with pytest.raises(ArgumentError, match=message):
        wrong()
