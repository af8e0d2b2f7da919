"""Symmetric infinite chains: against exact energies, and the search that knows no charges."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, GradientTypeError, ShapeError
from qad.mps import uniform
from qad.mps.charges.quantities import quantities
from qad.mps.charges.uniform import domains
from qad.mps.uniform import UniformMPS, UniformOpSum, uniform_schmidt_form


def spins(total, coupling, i, j, delta=1.0):
    total.add(coupling / 2, "Sp", i, "Sm", j).add(coupling / 2, "Sm", i, "Sp", j)
    return total.add(coupling * delta, "Sz", i, "Sz", j)


def hopping(kind="fermion", *names):
    hop = UniformOpSum(1, kind)
    for suffix in names or ("",):
        hop.add(-1.0, "Cdag" + suffix, 0, "C" + suffix, 1)
    return hop + hop.dagger()


@pytest.mark.slow
@pytest.mark.parametrize("delta, bond, exact, above", [
    (1.0, 16, 0.25 - np.log(2), 5e-5), (0.0, 12, -1 / np.pi, 1.1e-4),
])  # fmt: skip
def test_spin_chains(delta, bond, exact, above):
    """L. Hulthen 1938; free fermions.  The number that is returned is that of the state, which is right-canonical."""
    found = uniform.ground_state(uniform.xxz(delta), bond, conserve="Sz", starts=1)
    assert found.state.conserved.names == ("Sz",)
    assert found.converged
    assert 0 < found.energy - exact < above
    assert found.state.bonds == (bond,) * 3
    plain = found.state.without_symmetry()
    assert uniform.energy_density(plain, uniform.xxz(delta)) == pytest.approx(found.energy, abs=1e-13)
    for tensor in plain:
        rows = tensor.reshape(len(tensor), -1)
        np.testing.assert_allclose(rows @ rows.T, np.eye(len(rows)), atol=1e-13)
    assert sum(uniform.local_expectations(found.state, np.diag([0.5, -0.5]))) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("make", [
    lambda: spins(spins(UniformOpSum(), 1.0, 0, 1, 2.0), 0.1, 0, 2),
    lambda: spins(UniformOpSum(), 1.0, 0, 1, 3.0).add_exponential(0.3, -0.5, "Sz", "Sz").add_exponential(
        0.1, -0.4, "Sp", "Sm").add_exponential(0.1, -0.4, "Sm", "Sp"),
    lambda: spins(UniformOpSum(), 1.0, 0, 1, 3.0).add(0.2j, "Sp", 0, "Sz", 1, "Sm", 2).add(
        -0.2j, "Sm", 0, "Sz", 1, "Sp", 2),
])  # fmt: skip
@pytest.mark.sampled(1)
def test_gapped_chains_are_those_without_charges(make):
    charged = uniform.ground_state(make(), 12, conserve="Sz", starts=1)
    plain = uniform.ground_state(make(), 12, starts=1)
    assert charged.converged
    assert charged.energy == pytest.approx(plain.energy, abs=1e-7)  # either may be a local minimum
    assert charged.state.dtype == plain.state.dtype


@pytest.mark.slow
def test_a_product_of_singlets_and_terms_that_conserve_together():
    """C. K. Majumdar and D. K. Ghosh 1969, written in Sx, Sy and Sz: their parts are put together, across cells too."""
    total = UniformOpSum(2)
    for i, j in ((0, 1), (1, 2), (0, 2), (1, 3)):
        for name in ("Sx", "Sy", "Sz"):
            total.add(1.0 if j == i + 1 else 0.5, name, i, name, j)
    found = uniform.ground_state(total, 6, conserve="Sz")
    assert found.energy == pytest.approx(-0.375, abs=1e-12)
    assert sorted(found.state.bonds[:2]) == [1, 2] or found.converged
    assert total.mpo("Sz").dtype == float
    assert uniform.energy_density(found.state, total) == pytest.approx(-0.375, abs=1e-12)
    with pytest.raises(ArgumentError, match="Sx.0. Sx.1. does not conserve"):
        uniform.ground_state(UniformOpSum().add(1.0, "Sx", 0, "Sx", 1), 4, conserve="Sz")


@pytest.mark.slow
def test_fermions_at_a_filling():
    """``-2 sin(pi n) / pi``: charges are counted from the mean, so that any filling has a cell."""
    found = uniform.ground_state(hopping(), 12, 3, conserve="N", sector=1, starts=1, tol=1e-8)
    assert 0 < found.energy + 2 * np.sin(np.pi / 3) / np.pi < 2.2e-4
    assert found.state.sector == 1
    assert sum(uniform.local_expectations(found.state, np.diag([0.0, 1.0]))) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.slow
def test_electrons_of_two_charges():
    """E. H. Lieb and F. Y. Wu 1968, at half filling and U = 4."""
    hubbard = hopping("electron", "up", "dn").add(4.0, "NupNdn", 0)
    found = uniform.ground_state(hubbard, 24, conserve=("N", "Sz"), sector=(2, 0), starts=1)
    assert found.converged
    assert 0 < found.energy - -0.573729367 < 5e-4
    assert found.state.sector == (2, 0)


@pytest.mark.slow
def test_spins_one_have_cells_of_one_site_and_pairs_a_parity():
    """S. R. White and D. A. Huse 1993; Kitaev's chain, whose ground state after the string is a broken symmetry's."""
    found = uniform.ground_state(uniform.heisenberg(1), 16, cell=1, conserve="Sz", starts=1)
    assert 0 < found.energy - -1.4014840389 < 1e-4
    wires = hopping().add(-1.0, "Cdag", 0, "Cdag", 1).add(1.0, "C", 0, "C", 1).add(-1.0, "N", 0)
    found = uniform.ground_state(wires, 8, 1, conserve="parity", starts=1)
    k = (np.arange(4000) + 0.5) * np.pi / 4000
    exact = -0.5 - np.sqrt((2 * np.cos(k) + 1) ** 2 + 4 * np.sin(k) ** 2).mean() / 2
    assert found.energy == pytest.approx(exact, abs=1e-6)
    assert "break the symmetry" in found.message


@pytest.mark.slow
def test_correlations_by_charge_and_entanglement():
    found = uniform.ground_state(uniform.xxz(2.0), 12, conserve="Sz", starts=1)
    state, plain = found.state, found.state.without_symmetry()
    lengths = [uniform.correlation_length(state, q) for q in (0, 2, -2)]
    assert lengths[1] == pytest.approx(lengths[2], rel=1e-6)
    assert uniform.correlation_length(state) == pytest.approx(max(lengths), rel=1e-9)
    assert uniform.correlation_length(plain) == pytest.approx(max(lengths), rel=1e-9)
    assert uniform.entanglement_entropy(state) == pytest.approx(uniform.entanglement_entropy(plain), abs=1e-10)
    assert uniform.fidelity(state, plain) == pytest.approx(1.0, abs=1e-10)
    with pytest.raises(ArgumentError, match="states that conserve"):
        uniform.correlation_length(plain, 2)


def rough_copy(state):
    rng = np.random.default_rng(1)
    tensors = [t + 0.3 * qad.symmetric.random(t.legs, seed=rng, split=1) for t in state]
    return UniformMPS(tensors, state.conserved)


@pytest.mark.slow
def test_any_gauge_has_a_schmidt_form():
    """Random symmetric tensors, not canonical: the same entropies and energies as of the dense ones."""
    state = uniform.ground_state(uniform.xxz(1.0), 8, conserve="Sz", starts=1, maxiter=3).state
    rough = rough_copy(state)
    again, weights = uniform_schmidt_form(rough)
    for w, values in zip(weights, uniform.uniform_schmidt_form(rough.without_symmetry())[1], strict=True):
        np.testing.assert_allclose(np.sort(w)[::-1], values, atol=1e-7)
    energy = uniform.energy_density(rough, uniform.xxz(1.0))
    assert uniform.energy_density(again, uniform.xxz(1.0)) == pytest.approx(energy, abs=1e-10)
    low = uniform.ground_state(uniform.xxz(1.0), 8, start=rough)
    assert low.converged
    assert low.energy < energy


@pytest.mark.slow
def test_starts_grow_and_derivatives_pass():
    assert (
        uniform.ground_state(uniform.xxz(2.0), 4, conserve="Sz", starts=1, dtype=np.float32).state.dtype == np.float32
    )
    small = uniform.ground_state(uniform.xxz(2.0), 6, conserve="Sz", starts=1)
    large = uniform.ground_state(uniform.xxz(2.0), 12, start=small.state)
    assert large.state.bonds == (12, 12, 12)
    assert large.energy < small.energy
    zz = 0.25 * np.diag([1.0, -1.0, -1.0, 1.0]).reshape((2,) * 4)
    slope = qad.grad(lambda delta: uniform.energy_density(large.state, uniform.xxz(delta)))(2.0)
    assert slope == pytest.approx(uniform.energy_density(large.state, zz), abs=1e-10)
    gradient = qad.grad(lambda psi: uniform.energy_density(psi, uniform.xxz(2.0)))(large.state)
    assert isinstance(gradient, UniformMPS) and gradient.conserved == large.state.conserved
    assert max(float(g.norm()) for g in gradient) < 1e-6  # a minimum


@pytest.mark.slow
def test_files_hold_states(tmp_path):
    state = uniform.ground_state(hopping(), 4, 2, conserve=("N", "parity"), sector=(1, 1), starts=1).state
    state.save(tmp_path / "state.npz")
    again = UniformMPS.load(tmp_path / "state.npz")
    assert again.sector == (1, 1)
    assert all(np.array_equal(a.data, b.data) and a.legs == b.legs for a, b in zip(state, again, strict=True))
    state.without_symmetry().save(tmp_path / "plain.npz")
    assert UniformMPS.load(tmp_path / "plain.npz").conserved is None
    qad.mps.MPS.random(4, 2).save(tmp_path / "finite.npz")
    with pytest.raises(ArgumentError, match="holds no UniformMPS"):
        UniformMPS.load(tmp_path / "finite.npz")


@pytest.mark.slow
def test_bad_input():
    H = uniform.heisenberg()
    for arguments, match in [
        ({"conserve": "Sz", "cell": 1}, "larger cell="),
        ({"conserve": "Sz", "sector": 5}, "no state of 2 sites"),
        ({"conserve": "N"}, "knows no charges"),
        ({"sector": 0}, "give both"),
        ({"conserve": "Sz", "method": "riemannian"}, "vumps"),
        ({"conserve": "Sz", "start": uniform.UniformMPS.random(2, cell=2)}, "starts from a state that does"),
    ]:
        with pytest.raises(ArgumentError, match=match):
            uniform.ground_state(H, 4, **arguments)
    with pytest.raises(ArgumentError, match="does not conserve 'Sz'"):
        uniform.ground_state(uniform.ising(1.0), 4, conserve="Sz")
    with pytest.raises(ArgumentError, match="UniformOpSum"):
        uniform.ground_state(np.zeros((2,) * 4), 4, conserve="Sz")
    with pytest.raises(GradientTypeError, match="ground_energy"):
        qad.grad(lambda d: uniform.ground_state(uniform.xxz(d), 4, conserve="Sz").energy)(1.0)
    state = uniform.ground_state(H, 4, conserve="Sz", starts=1).state
    with pytest.raises(ArgumentError, match="leave one out"):
        uniform.ground_state(H, 4, start=state, sector=2)
    with pytest.raises(ArgumentError, match="say the same"):
        uniform.ground_state(H, 4, start=state, conserve="parity")
    with pytest.raises(ShapeError, match="does not fit"):
        uniform.ground_state(uniform.heisenberg(1), 4, start=state)
    raising = np.zeros((2,) * 4)
    raising[0, 0, 1, 0] = raising[1, 0, 0, 0] = 1.0
    with pytest.raises(ArgumentError, match="charges"):
        uniform.evolve(state, raising, 0.1, 1)
    with pytest.raises(ShapeError, match="site 0 needs a SymTensor"):
        UniformMPS([state[0].conj(), state[1]], state.conserved)
    wider = uniform.ground_state(H, 6, start=state, maxiter=1).state
    with pytest.raises(ShapeError, match="bond left of site 0"):
        UniformMPS([wider[0], state[1]], state.conserved)


@pytest.mark.slow
@pytest.mark.parametrize("delta, bond", [(-1.0, 8), (-1.5, 2)])
def test_charges_that_part_are_not_called_converged(delta, bond):
    """Domains up and down have ``delta / 4`` per site, the exact energy (C. N. Yang and C. P. Yang 1966)."""
    for seed in (0, 1):
        found = uniform.ground_state(uniform.xxz(delta), bond, conserve="Sz", seed=seed, starts=1)
        assert found.energy > delta / 4 + 1e-4 and not found.converged
        assert "domains of |0 0> and |1 1>" in found.message
    whole = uniform.ground_state(uniform.xxz(delta), bond, conserve="Sz", sector=2, starts=1)
    assert whole.converged and whole.energy == pytest.approx(delta / 4, abs=1e-12)


def test_domains_of_products():
    """Couplings of any range: ``sum_r rate**r / 4`` of one domain; pairs of electrons, and their holes."""
    H = UniformOpSum().add_exponential(-1.0, 0.5, "Sz", "Sz").add(0.3, "Sz", 0, "Sz", 1, "Sz", 2, "Sz", 3).mpo()
    energy, words = domains(H.repeated(2), quantities("Sz", ["spin-1/2"] * 2), (0,))
    assert energy == pytest.approx(-0.25 + 0.3 / 16, abs=1e-14)
    assert words == "|0 0> and |1 1>"
    pairs = hopping("electron", "up", "dn").add(-4.0, "NupNdn", 0).add(-3.0, "N", 0, "N", 1).mpo()
    conserved = quantities(("N", "Sz"), ["electron"] * 2)
    assert domains(pairs.repeated(2), conserved, (1, 0)) == (pytest.approx(-16.0 / 4), "|0 0> and |3 3>")
    assert domains(pairs.repeated(2), conserved, (5, 0))[0] == np.inf


@pytest.mark.slow
def test_sectors_are_looked_for_until_none_is_lower():
    """Every seed ends in the same sectors; chosen once, at a bond larger by a quarter, they were 2e-3 too high."""
    for U, exact, seeds in ((4.0, -2.573729367, (0,)), (8.0, -4.327530534, (0, 1))):
        H = hopping("electron", "up", "dn").add(U, "NupNdn", 0).add(-U / 2, "N", 0)
        found = [uniform.ground_state(H, conserve=("N", "Sz"), sector=(2, 0), seed=seed) for seed in seeds]
        assert all(x.converged and 0 < x.energy - exact < 4.5e-3 for x in found)
        assert found[0].energy == pytest.approx(found[-1].energy, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("method, imaginary", [("tebd", False), ("tebd4", True)])
def test_evolutions_are_those_without_charges(method, imaginary):
    """A quench of the coupling; sectors of the bonds are found on the way."""
    state = uniform.ground_state(uniform.xxz(3.0), 6, conserve="Sz", starts=1).state
    exchange = np.zeros((4, 4))
    exchange[1, 2] = exchange[2, 1] = 0.5
    h = (exchange + np.diag([0.1, -0.1, -0.1, 0.1])).reshape((2,) * 4)
    args = {"time": 0.4, "steps": 8, "bond": 24, "method": method, "imaginary": imaginary}
    found, plain = (uniform.evolve(psi, h, **args).state for psi in (state, state.without_symmetry()))
    assert found.conserved == state.conserved and found.bond == plain.bond
    assert uniform.energy_density(found, h) == pytest.approx(uniform.energy_density(plain, h), abs=1e-10)
    assert uniform.fidelity(found, plain) == pytest.approx(1.0, abs=1e-10)
    assert uniform.entanglement_entropy(found) == pytest.approx(uniform.entanglement_entropy(plain), abs=1e-9)


@pytest.mark.slow
def test_flips_along_x_are_counted():
    """The Ising chain above its transition, whose particles are single flips: their gap is ``2 (g - 1)``."""
    H = uniform.ising(1.5)
    found = uniform.ground_state(H, 8, cell=1, conserve="parity", starts=1)
    assert found.state.conserved.names == ("parity x",)
    assert found.energy == pytest.approx(-1.671926221536195, abs=1e-10)
    assert uniform.local_expectations(found.state, "X")[0] == pytest.approx(0.877328, abs=1e-5)
    assert uniform.excitations(H, found.state, 0.0, charge=1)[0] == pytest.approx(1.0, abs=1e-6)
    assert uniform.excitations(H, found.state, 0.0, charge=0)[0] > 2.0
