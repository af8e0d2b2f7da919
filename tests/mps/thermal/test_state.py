"""Thermal states against exact diagonalisation."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, BatchError, GradientTypeError, ShapeError
from qad.mps import heisenberg, ising, j1j2, metts, thermal_curve, thermal_state
from qad.mps.charges.quantities import conserved_by
from qad.mps.thermal.products import projector

ISING, HEISENBERG, J1J2 = ising(6, 1.0), heisenberg(6), j1j2(5, 1.0, 0.5)
ONE = qad.mps.MPO.identity(6)


def exact(H, beta, observable=None):
    """log Z, the energy, the specific heat, and the mean of another operator."""
    levels, vectors = np.linalg.eigh(H.to_dense())
    weights = np.exp(-beta * (levels - levels[0]))
    total = weights.sum()
    mean, square = levels @ weights / total, levels**2 @ weights / total
    other = (
        np.einsum("ik,ij,jk,k->", vectors.conj(), observable.to_dense(), vectors, weights) / total
        if observable
        else None
    )
    return np.log(total) - beta * levels[0], mean, beta**2 * (square - mean**2), other


@pytest.mark.parametrize(
    "H, beta",
    [(ISING, 0.0), (ISING, 1.0), (HEISENBERG, 2.0), (heisenberg(9), 2.0), (J1J2, 1.0), (ISING + 50.0 * ONE, 1.0)],
)
@pytest.mark.sampled(2)
def test_against_diagonalisation(H, beta):
    found, observable = thermal_state(H, beta), ising(len(H), 0.3)
    log_z, mean, _, other = exact(H, beta, observable)
    np.testing.assert_allclose(
        [found.log_partition, found.energy, found.expectation(observable)], [log_z, mean, other], atol=1e-7
    )
    assert qad.mps.norm(found.state) == pytest.approx(1.0) and found.beta == beta


def test_energies_and_specific_heats_are_derivatives():
    beta = 0.7
    _, mean, heat, _ = exact(ISING, beta)
    assert -qad.grad(lambda b: thermal_state(ISING, b).log_partition)(beta) == pytest.approx(mean, abs=1e-6)
    assert -(beta**2) * qad.grad(lambda b: thermal_state(ISING, b).energy)(beta) == pytest.approx(heat, abs=1e-6)
    field = qad.mps.OpSum(3).add(1.0, "X", 0).add(1.0, "X", 1).add(1.0, "X", 2).mpo()
    slope = qad.grad(lambda g: thermal_state(ising(3, g), beta).log_partition)(1.2)
    assert slope == pytest.approx(beta * exact(ising(3, 1.2), beta, field)[3], abs=1e-9)


@pytest.mark.slow
def test_the_norm_that_imaginary_time_gives():
    """Of plain states and of symmetric ones, by every method; near 0 in real time."""
    neel, H = qad.mps.MPS.random(6, 8, conserve="Sz", seed=1), heisenberg(6)
    vector = neel.without_symmetry().to_dense().reshape(-1)
    norm = np.linalg.norm(qad.linalg.expm(-0.4 * H.to_dense()) @ (vector / np.linalg.norm(vector)))
    for method in ("tebd4", "tdvp", "tdvp2"):
        for psi in (neel, neel.without_symmetry()):
            found = qad.mps.evolve(psi, H, 0.4, 8, method, imaginary=True)
            assert found.log_norm == pytest.approx(np.log(norm), abs=1e-4)
            assert qad.mps.evolve(psi, H, 0.4, 2, method).log_norm == pytest.approx(0.0, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("H", [heisenberg(4), j1j2(4, 1.0, 0.5)], ids=["neighbours", "beyond"])
def test_samples(H):
    """The mean of many, and that the chain of measurements keeps the ensemble: started in it, it stays."""
    found = metts(H, 1.0, 60, seed=3, steps=3)
    mean, error = found.expectation(H)
    assert error < 0.1
    assert abs(mean - exact(H, 1.0)[1]) < 4 * error
    again = metts(H, 1.0, 2, seed=3, steps=3)
    np.testing.assert_array_equal(again.states[0].to_dense(), found.states[0].to_dense())


def test_sums_are_taken_as_their_operators():
    H = qad.mps.OpSum(3).add(-1.0, "Z", 0, "Z", 1).add(-0.7, "Z", 1, "Z", 2).add(-0.3, "X", 1)
    assert thermal_state(H, 0.5).expectation(H) == pytest.approx(exact(H.mpo(), 0.5)[1], abs=1e-6)
    one, other = (metts(operator, 0.5, 3, warm_up=0, steps=2).expectation(operator) for operator in (H, H.mpo()))
    assert one == other


@pytest.mark.parametrize("wrong, error, message", [
    (lambda: thermal_state(ISING, -1.0), ArgumentError, "take -H"),
    (lambda: thermal_state(ISING, 1j), ArgumentError, "one real number"),
    (lambda: thermal_state(qad.mps.MPO([np.ones((2, 2, 2, 2))] * 3), 1.0), ShapeError, "open chain"),
    (lambda: thermal_state(1j * ISING, 1.0), ArgumentError, "not Hermitian"),
    (lambda: metts(ISING, 1.0, 2, method="dmrg"), ArgumentError, "tebd4"),
    (lambda: metts(J1J2, 1.0, 2, method="tebd"), ArgumentError, "beyond neighbours"),
    (lambda: thermal_state(np.eye(4), 1.0), ArgumentError, "an MPO is needed"),
    (lambda: thermal_state(ISING, 1.0).expectation(ising(4, 1.0)), ShapeError, "6 sites"),
    (lambda: qad.grad(lambda b: metts(ISING, b, 2).expectation(ISING)[0])(1.0), GradientTypeError, "thermal_state"),
    (lambda: metts(ISING, 1.0, 0), ArgumentError, "samples"),
    (lambda: thermal_state(HEISENBERG, 1.0, sector=0), ArgumentError, "give conserve="),
    (lambda: thermal_state(HEISENBERG, 1.0, conserve="Sz", sector=1), ArgumentError, "no state of these sites"),
    (lambda: qad.hessian(lambda b: thermal_state(ISING, b).energy)(1.0), ArgumentError, "first order"),
    (lambda: qad.vmap(lambda b: thermal_state(ISING, b).energy)(np.ones(2)), BatchError, "loop"),
])  # fmt: skip
def test_refusals(wrong, error, message):
    with pytest.raises(error, match=message):
        wrong()


def chain(n, p):
    """Couplings of XX, YY and ZZ, Dzyaloshinskii-Moriya terms, and a field."""
    return qad.mps.xyz(n, p[0], p[1], p[2], field=(p[4], 0, 0), dm=(0, 0, p[3]))


@pytest.mark.parametrize("p", [(1.0, 1.0, 1.0, 0.0, 0.0), (0.0, 0.0, -4.0, 0.0, -2.0), (1.0, 0.8, 0.5, 0.3, 0.2)])
@pytest.mark.sampled(1)
def test_derivatives_by_all_couplings_against_diagonalisation(p):
    """By those too that are zero or break a symmetry: nothing has to fit into the bonds of the state."""
    n, beta, p = 5, 0.8, np.array(p)
    observable = qad.mps.OpSum(n).add(1.0, "Y", 1, "Z", 2).add(0.5, "X", 3, "X", 4).mpo()

    def three(p, beta):
        hot = thermal_state(chain(n, p), beta)
        return np.stack([hot.log_partition, hot.energy, hot.expectation(observable).real])

    def dense(p, beta):
        H = chain(n, p).to_dense()
        rho = qad.linalg.expm(-beta * H)
        z = np.trace(rho).real
        means = [np.trace(rho @ x).real / z for x in (H, observable.to_dense())]
        return np.stack([np.log(z), *means])

    for row in range(3):
        found = qad.grad(lambda p, beta, row=row: three(p, beta)[row], (0, 1))(p, beta)
        exact_row = qad.grad(lambda p, beta, row=row: dense(p, beta)[row], (0, 1))(p, beta)
        np.testing.assert_allclose(found[0], exact_row[0], rtol=0, atol=2e-6)
        np.testing.assert_allclose(found[1], exact_row[1], rtol=0, atol=2e-6)


def test_means_of_operators_that_are_not_hermitian_and_that_vanish():
    """Real and imaginary parts, in a state with a current; spins 1; and an energy of zero."""
    H, hop = chain(4, (1.0, 1.0, 0.5, 0.6, 0.0)), qad.mps.OpSum(4).add(1.0, "Sp", 1, "Sm", 2).mpo()
    for part in (np.real, np.imag):
        found = qad.grad(lambda beta, part=part: part(thermal_state(H, beta).expectation(hop)))(0.5)
        sides = [part(thermal_state(H, beta, cutoff=1e-28).expectation(hop)) for beta in (0.499, 0.501)]
        assert found == pytest.approx((sides[1] - sides[0]) / 0.002, abs=1e-6)
    spins = qad.mps.aklt(3)
    heat = exact(spins, 0.3)[2] / 0.3**2
    assert -qad.grad(lambda beta: thermal_state(spins, beta).energy)(0.3) == pytest.approx(heat, abs=1e-6)
    zeros = qad.mps.OpSum(3).add(0.0, "Z", 0, "Z", 1).mpo()
    assert qad.grad(lambda beta: thermal_state(zeros, beta).energy)(0.5) == 0.0


@pytest.mark.parametrize("beta", [10.0, 40.0, 1e4])
@pytest.mark.sampled(1)
def test_cold_states(beta):
    """Each doubling of beta is one more square."""
    log_partition, energy, *_ = exact(HEISENBERG, beta)
    cold = thermal_state(HEISENBERG, beta)
    np.testing.assert_allclose(cold.log_partition, log_partition, rtol=3e-7)
    np.testing.assert_allclose(cold.energy, energy, rtol=1e-7)


def test_slopes_where_bonds_cut_the_state():
    """What a bond of 24 cuts off the state is not cut off the adjoint, whose bonds are larger."""
    H = qad.mps.xxz(10, 0.7)
    assert thermal_state(H, 2.0, bond=24).discarded > 1e-11
    heat = -4 * qad.grad(lambda beta: thermal_state(H, beta, bond=24).energy)(2.0)
    assert heat == pytest.approx(exact(H, 2.0)[2], abs=2e-4)


@pytest.mark.parametrize("H, conserve", [
    (qad.mps.xxz(5, 0.7), "Sz"), (j1j2(5, 1.0, 0.4), "Sz"), (qad.mps.hubbard(2, 1.0, 4.0), ("N", "Sz")),
    (qad.mps.kitaev_chain(5, 1.0, 0.6, 0.4), "parity"),
])  # fmt: skip
def test_sums_over_all_sectors_are_those_of_the_whole_space(H, conserve):
    """Values, the purification, and slopes by the temperature and by every tensor of the operator."""

    def values(beta, H, conserve=None):
        hot = thermal_state(H, beta, conserve=conserve)
        return hot.log_partition + 2.0 * hot.energy

    plain, charged = (thermal_state(H, 1.3, cutoff=1e-24, conserve=c) for c in (None, conserve))
    assert charged.log_partition == pytest.approx(plain.log_partition, abs=1e-10)
    assert charged.energy == pytest.approx(plain.energy, abs=1e-10)
    assert abs(plain.state.overlap(charged.state.without_symmetry())) == pytest.approx(1.0, abs=1e-10)
    slopes = [qad.grad(values)(1.3, H, c) for c in (None, conserve)]
    assert slopes[0] == pytest.approx(slopes[1], abs=1e-6)
    slopes = [qad.grad(lambda s, c=c: values(1.3, s * H, c))(1.0) for c in (None, conserve)]
    assert slopes[0] == pytest.approx(slopes[1], abs=1e-6)


def test_an_operator_that_changes_the_charge_is_refused_by_name():
    with pytest.raises(ArgumentError, match="does not conserve 'Sz'"):
        thermal_state(ISING, 1.0, conserve="Sz")


@pytest.mark.parametrize("conserve", [None, "Sz"])
def test_tensors_of_a_state_have_no_derivative_and_what_was_cut_is_a_number(conserve):
    def size(b):
        hot = thermal_state(HEISENBERG, b, conserve=conserve)
        assert type(hot.discarded) is float
        return qad.mps.norm(hot.state)

    with pytest.raises(ArgumentError, match="differentiate its energy"):
        qad.grad(size)(1.0)


@pytest.mark.parametrize("H, conserve, sector", [
    (qad.mps.xxz(7, 0.7), "Sz", 1), (j1j2(6, 1.0, 0.4), "Sz", 0), (qad.mps.xxz(6, 0.7), "Sz", -6),
    (qad.mps.hubbard(4, 1.0, 4.0), ("N", "Sz"), (3, 1)), (qad.mps.hubbard(4, 1.0, 4.0), ("N", "Sz"), (4, 0)),
    (qad.mps.kitaev_chain(5, 1.0, 0.6, 0.4), "parity", 1), (qad.mps.ising(6, 0.8), "parity x", 1),
])  # fmt: skip
@pytest.mark.sampled(3)
def test_one_sector_is_a_sum_over_its_states(H, conserve, sector):
    """Values, and slopes by the temperature and by all couplings at once."""
    H, beta = H.mpo() if hasattr(H, "mpo") else H, 1.3
    conserved = conserved_by(H, conserve)
    rows = projector(conserved, conserved.sector(sector)).to_dense()
    charges = sum_of_charges(conserved)
    if conserved.states[0] is None:
        np.testing.assert_array_equal(rows, np.diag([conserved.sector(sector) == q for q in charges]))
    levels, vectors = np.linalg.eigh(H.to_dense())
    within = np.einsum("ik,ij,jk->k", vectors.conj(), rows, vectors).real
    weights = within * np.exp(-beta * levels)
    mean, square = (weights @ levels**k / weights.sum() for k in (1, 2))
    hot = thermal_state(H, beta, bond=256, conserve=conserve, sector=sector)
    assert hot.log_partition == pytest.approx(np.log(weights.sum()), abs=1e-7)
    assert hot.energy == pytest.approx(mean, abs=1e-7)
    by_beta, by_scale = (
        qad.grad(f)(x)
        for f, x in (
            (lambda b: thermal_state(H, b, bond=256, conserve=conserve, sector=sector).energy, beta),
            (lambda s: thermal_state(s * H, beta, bond=256, conserve=conserve, sector=sector).log_partition, 1.0),
        )
    )
    assert by_beta == pytest.approx(mean**2 - square, abs=1e-5)
    assert by_scale == pytest.approx(-beta * mean, abs=1e-6)


def sum_of_charges(conserved):
    """Of every basis state of all sites."""
    found = [conserved.symmetry.neutral]
    for own in conserved.charges:
        found = [conserved.symmetry.plus(q, charge) for q in found for charge in own]
    return found


@pytest.mark.parametrize("sector", [None, 2])
@pytest.mark.sampled(1)
def test_samples_with_charges(sector):
    """Of all sectors, between which sites change, and of one."""
    H, rows = qad.mps.xxz(4, 0.7), [i for i in range(16) if sector in (None, 4 - 2 * bin(i).count("1"))]
    levels = np.linalg.eigvalsh(H.to_dense()[np.ix_(rows, rows)])
    weights = np.exp(-levels)
    found = metts(H, 1.0, 60, seed=5, steps=2, method="tebd", conserve="Sz", sector=sector)
    mean, error = found.expectation(H)
    assert abs(mean - levels @ weights / weights.sum()) < 4 * error < 0.5
    seen = {psi.sector for psi in found.states}
    assert seen == {2} if sector else {-2, 0, 2} <= seen <= {-4, -2, 0, 2, 4}


def test_results_are_shown_in_a_line():
    hot = thermal_state(qad.mps.xxz(4, 0.5), 1.0, conserve="Sz")
    assert repr(hot) == "ThermalState(4 sites, beta 1.0, Sz conserved, bond at most 64)"
    assert repr(metts(ISING, 0.0, 4)) == "Metts(4 samples of 6 sites)"


@pytest.mark.parametrize(
    "H, name, conserve",
    [(qad.mps.heisenberg(4), "Sz", None), (qad.mps.ising(4, 0.7), "X", None),
     (qad.mps.hubbard(3, 1.0, 4.0, mu=1.0), "Nup", ("N", "Sz"))],
    ids=["spins", "field", "electrons"],
)  # fmt: skip
def test_operators_of_a_purification_act_on_its_sites_alone(H, name, conserve):
    hot = qad.mps.thermal_state(H, 0.8, conserve=conserve)
    found = qad.mps.local_expectations(hot.state, name).real
    wanted = [hot.expectation(qad.mps.OpSum(len(H), H.sites).add(1.0, name, i)).real for i in range(len(H))]
    np.testing.assert_allclose(found, wanted, atol=1e-9)


@pytest.mark.parametrize(
    "make", [lambda H, **k: thermal_state(H, 4.0, **k), lambda H, **k: thermal_curve(H, [1.0, 4.0], **k)]
)
def test_a_bond_that_cuts_off_what_shows_is_told(make):
    """At the default bond four electrons were off by 1e-3 of the energy, and nothing said so but `discarded`."""
    H = qad.mps.hubbard(4, 1.0, 4.0)
    with pytest.warns(RuntimeWarning, match="the bond of 16 cut a weight of .* off a thermal state"):
        assert np.all(np.isfinite(make(H, bond=16, conserve="N", sector=4).energy))
    levels = np.linalg.eigvalsh(heisenberg(4).to_dense())
    weights = np.exp(-4.0 * levels)
    assert np.ravel(make(heisenberg(4)).energy)[-1] == pytest.approx(weights @ levels / weights.sum(), abs=1e-7)
