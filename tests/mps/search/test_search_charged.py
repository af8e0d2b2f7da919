"""Every method of search over symmetric states: each sector, excited states, checkpoints."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError
from qad.mps import MPS, ground_state
from tests.mps.charges.chains import CHAINS, charges_of, levels, random

METHODS = ["dmrg2", "dmrg", "lbfgs", "riemannian", "tdvp"]


def exact(name):
    H, _, sector = CHAINS[name]
    return levels(H, random(name)[0].conserved, sector)


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("method", METHODS[:4])
@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.sampled(3)
def test_the_lowest_state(name, method, dtype):
    start, H = random(name, dtype, bond=64)
    found = ground_state(H, 64, method, start=start)
    assert found.energy == pytest.approx(exact(name)[0], abs=1e-11)
    assert found.converged and found.state.dtype == dtype and found.state.sector == start.sector
    assert qad.mps.norm(found.state) == pytest.approx(1.0)
    assert qad.mps.energy(found.state.without_symmetry(), H) == pytest.approx(found.energy, abs=1e-12)
    assert np.isfinite(found.gradient_norm) == (method in ("lbfgs", "riemannian"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["spin 1", "electrons"])
def test_imaginary_time(name):
    start, H = random(name, bond=4)
    found = ground_state(H, 64, "tdvp", start=start)
    assert found.energy == pytest.approx(exact(name)[0], abs=1e-9) and found.converged


@pytest.mark.slow
def test_imaginary_time_by_gates():
    H = qad.mps.heisenberg(4)
    found = ground_state(H, 8, "tebd", conserve="Sz", sector=2)
    assert found.energy == pytest.approx(levels(H, found.state.conserved, 2)[0], abs=1e-7)


@pytest.mark.parametrize("conserve", ["Sz", ("N", "Sz"), "parity"])
@pytest.mark.sampled(1)
def test_the_lowest_state_of_each_sector(conserve):
    H = qad.mps.hubbard(2, 1.0, 4.0)
    sectors = qad.mps.sectors(H, conserve)
    assert sum(sectors.values()) == 4**2
    for sector, size in sectors.items():
        found = ground_state(H, 16, "dmrg", conserve=conserve, sector=sector)
        spectrum = levels(H, found.state.conserved, sector)
        assert len(spectrum) == size
        assert found.energy == pytest.approx(spectrum[0], abs=1e-10)


@pytest.mark.slow
def test_a_reference_energy_by_single_sites():
    found = ground_state(qad.mps.j1j2(20, 1.0, 0.3), 32, "dmrg", conserve="Sz", sector=2)
    assert found.energy == pytest.approx(-7.6227324658, abs=2e-8)
    assert found.state.bond == 32


@pytest.mark.slow
@pytest.mark.parametrize("sector, energy", [(0, -7.7969385452), (2, -7.6227324658)])
def test_reference_energies_by_single_sites_to_all_digits(sector, energy):
    found = ground_state(qad.mps.j1j2(20, 1.0, 0.3), 64, "dmrg", conserve="Sz", sector=sector)
    assert found.energy == pytest.approx(energy, abs=6e-11)


def test_single_sites_open_sectors():
    """From a product state all bonds have one sector."""
    H = qad.mps.j1j2(8, 1.0, 0.3)
    found = ground_state(H, 32, "dmrg", start=MPS.product([0, 1] * 4, conserve="Sz", dtype=float))
    assert found.energy == pytest.approx(levels(H, found.state.conserved, 0)[0], abs=1e-11)


@pytest.mark.slow
def test_single_sites_choose_the_sectors_of_truncated_bonds():
    """None worse than two sites choose, whether they start from a product state or from a random one."""
    H = qad.mps.hubbard(6, 1.0, 4.0)
    conserve = {"conserve": ("N", "Sz"), "kind": "electron", "dtype": float}
    neel = MPS.product([1, 2] * 3, **conserve)
    pairs = ground_state(H, 16, "dmrg2", start=neel)
    for start in (neel, MPS.random(6, 8, sector=(6, 0), seed=3, **conserve)):
        found = ground_state(H, 16, "dmrg", start=start)
        assert found.state.bond == pairs.state.bond == 16
        assert found.energy < pairs.energy + 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("method", ["dmrg2", "dmrg", "lbfgs", "riemannian"])
@pytest.mark.parametrize("name", ["ring", "t-J"])
def test_excited_states(name, method):
    spectrum, below = exact(name), []
    for k in range(3 if method == "dmrg2" else 2):
        start, H = random(name, float, seed=k + 3, bond=64)
        found = ground_state(H, 64, method, start=start, excluded=below)
        assert found.converged and found.energy == pytest.approx(spectrum[k], abs=1e-8)
        assert all(abs(found.state @ state) < 1e-4 for state in below)
        below.append(found.state)


@pytest.mark.slow
def test_excluded_states_of_other_sectors_are_no_matter():
    H = qad.mps.heisenberg(6)
    other = ground_state(H, 8, "dmrg2", conserve="Sz", sector=2).state
    one, two = (ground_state(H, 8, "dmrg2", conserve="Sz", excluded=e) for e in ([], other))
    np.testing.assert_array_equal(one.history, two.history)


def test_excluded_complex_states():
    H = qad.mps.heisenberg(6)
    lowest = ground_state(H, 8, "dmrg2", conserve="Sz").state
    found = ground_state(H, 8, "dmrg2", conserve="Sz", excluded=[1j * lowest], seed=2)
    assert found.state.dtype == complex
    assert found.energy == pytest.approx(levels(H, lowest.conserved, 0)[1], abs=1e-9)


def test_a_weight_below_the_gap_is_no_convergence():
    H = qad.mps.heisenberg(6)
    lowest = ground_state(H, 8, "dmrg2", conserve="Sz").state
    found = ground_state(H, 8, "dmrg2", conserve="Sz", excluded=[lowest], weight=1e-3)
    assert not found.converged and "give a larger weight" in found.message


@pytest.mark.parametrize("method", [*METHODS, "tebd"])
@pytest.mark.sampled(1)
def test_a_search_goes_on_where_it_stopped(tmp_path, method):
    H, path = qad.mps.heisenberg(4), tmp_path / "search.npz"
    options = {"method": method, "conserve": "Sz", "sector": 2, "checkpoint": path}
    error = 1e-9
    if method == "tebd":  # whose steps grow short before it is accurate
        options["tol"], error = 1e-5, 1e-4
    energy = levels(H, MPS.random(4, 1, conserve="Sz").conserved, 2)[0]
    first = ground_state(H, 8, maxiter=3, **options)
    assert len(first.history) == 4 and not first.converged
    second = ground_state(H, 8, seed=5, **options)
    np.testing.assert_array_equal(second.history[:4], first.history)
    assert second.energy == pytest.approx(energy, abs=error) and second.converged
    third = ground_state(H, 8, maxiter=len(second.history) - 1, **options)
    assert third.energy == pytest.approx(second.energy, abs=error) and "maxiter" in third.message


@pytest.mark.slow
def test_a_resumed_search_is_the_same_search(tmp_path):
    """It remembers bond, mixing and phase: energies go on as if it had never stopped."""
    H, path = qad.mps.j1j2(10, 1.0, 0.3), tmp_path / "search.npz"
    whole = ground_state(H, 16, "dmrg2", conserve="Sz")
    for steps in range(1, len(whole.history)):
        part = ground_state(H, 16, "dmrg2", conserve="Sz", checkpoint=path, maxiter=steps)
    np.testing.assert_allclose(part.history, whole.history, atol=1e-9)


def test_files_of_other_searches_are_refused(tmp_path):
    H, path = qad.mps.heisenberg(4), tmp_path / "search.npz"
    ground_state(H, 4, "dmrg2", conserve="Sz", sector=2, checkpoint=path, maxiter=2)
    before = path.read_bytes()
    for options, what in (({"sector": 0}, "sector"), ({"conserve": "parity", "sector": 0}, "conserve")):
        with pytest.raises(ArgumentError, match=f"its {what} is"):
            ground_state(H, 4, "dmrg2", checkpoint=path, **({"conserve": "Sz"} | options))
    with pytest.raises(ArgumentError, match="its conserve is"):
        ground_state(H, 4, "dmrg2", checkpoint=path)
    with pytest.raises(ArgumentError, match="its method is"):
        ground_state(H, 4, "dmrg", conserve="Sz", sector=2, checkpoint=path)
    assert path.read_bytes() == before
    ground_state(H, 4, "dmrg2", checkpoint=tmp_path / "plain.npz", maxiter=1)
    with pytest.raises(ArgumentError, match="its conserve is None"):
        ground_state(H, 4, "dmrg2", conserve="Sz", checkpoint=tmp_path / "plain.npz")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("power", [-30, 30])
@pytest.mark.sampled(2)
def test_energies_have_no_unit(method, power):
    """H is scaled by a power of 2 within, so that histories scale with it."""
    H = qad.mps.heisenberg(6)
    unit = 8.0**power
    options = {"method": method, "conserve": "Sz", "maxiter": 4}
    one, two = ground_state(H, 8, **options), ground_state(unit * H, 8, **options)
    np.testing.assert_allclose(two.history / unit, one.history, rtol=1e-12)


def test_operators_that_are_not_hermitian_are_refused():
    H = qad.mps.OpSum(4).add(1.0, "Sp", 0, "Sm", 1).mpo()
    for method in METHODS:
        with pytest.raises(ArgumentError, match="Hermitian"):
            ground_state(H, 4, method, conserve="Sz")


def test_a_loss_of_ones_own():
    """States are pytrees: any optimiser takes them."""
    H = qad.mps.heisenberg(6)
    target = ground_state(H, 8, "dmrg2", conserve="Sz").state
    start = MPS.random(6, 8, dtype=float, conserve="Sz", seed=4)
    found = qad.optimize.minimize(lambda psi: 1 - qad.abs2(psi @ target) / qad.mps.norm2(psi), start)
    assert found.fun < 1e-8 and found.params.sector == 0


def test_sectors():
    conserved = random("electrons")[0].conserved
    H = CHAINS["electrons"][0]
    every, counts = np.unique(charges_of(conserved), axis=0, return_counts=True)
    assert qad.mps.sectors(H, ("N", "Sz")) == dict(zip(map(tuple, every.tolist()), counts.tolist(), strict=True))
    assert sum(qad.mps.sectors(qad.mps.heisenberg(200), "Sz").values()) == 2**200
    with pytest.raises(ArgumentError, match="knows no charges 'N'"):
        qad.mps.sectors(qad.mps.heisenberg(4), "N")


@pytest.mark.parametrize("conserve", ["N", ("N", "Sz")])
def test_the_vacuum_is_searched_only_where_it_is_asked_for(conserve):
    """Without sector= the ground state of Hubbard's chain was the vacuum, of energy 0."""
    H = qad.mps.hubbard(4, 1.0, 4.0)
    with pytest.raises(ArgumentError, match="needs sector=, how much of it there is: 'N' is 0 in the vacuum alone"):
        qad.mps.ground_state(H, 8, conserve=conserve)
    assert qad.mps.ground_state(H, 8, conserve=conserve, sector=0 if conserve == "N" else (0, 0)).energy == 0


def test_sectors_are_those_of_finite_chains():
    with pytest.raises(ArgumentError, match=r"functions of infinite ones are in qad\.mps\.uniform"):
        qad.mps.sectors(qad.mps.uniform.UniformMPS.random(2, 2), "Sz")
