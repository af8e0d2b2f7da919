"""Classical partition functions, and states of two dimensions, at the defaults."""

import numpy as np
import pytest
from scipy.integrate import quad

import qad
from qad import peps
from qad.peps import classical, finite
from tests.peps.fermions import dense as dense_fermions
from tests.peps.fermions import lowest_of_hubbard
from tests.physics import exact

CATALAN = 0.915965594177219
X, Z = exact.KINDS["spin-1/2"]["X"], exact.KINDS["spin-1/2"]["Z"]


def onsager(beta):
    """``ln Z`` per site of the square lattice (L. Onsager, Phys. Rev. 65, 117 (1944))."""
    k = 2 * np.sinh(2 * beta) / np.cosh(2 * beta) ** 2
    inner = lambda t: np.log((1 + np.sqrt(abs(1 - (k * np.sin(t)) ** 2))) / 2)
    whole = quad(inner, 0, np.pi / 2, epsabs=1e-13, points=[np.pi / 2 - 1e-3], limit=200)[0]
    return float(np.log(2 * np.cosh(2 * beta)) + whole / np.pi)


def onsager_energy(beta):
    """Minus the derivative."""
    return -exact.difference(onsager, beta, 1e-4)


@pytest.mark.parametrize("beta", [0.46, 0.6, *[pytest.param(b, marks=pytest.mark.slow) for b in (0.2, 1.0)]])
def test_onsager(beta):
    value = lambda b: peps.partition_function(classical.ising(b))
    found, slope = qad.value_and_grad(value)(beta)
    assert found == pytest.approx(onsager(beta), abs=1e-7)
    assert slope == pytest.approx(-onsager_energy(beta), abs=1e-5)


@pytest.mark.slow
def test_onsager_at_the_critical_point():
    """``ln 2 / 2 + 2 G / pi``, with Catalan's constant."""
    beta = np.log(1 + np.sqrt(2)) / 2
    value = classical.partition_function(classical.ising(beta))
    assert value == pytest.approx(np.log(2) / 2 + 2 * CATALAN / np.pi, abs=1e-5)


def test_magnetisation_below_the_critical_temperature():
    """C. N. Yang, Phys. Rev. 85, 808 (1952), in a field of which little is felt."""
    slope = qad.grad(lambda h: peps.partition_function(classical.ising(0.6, h)))(1e-3)
    assert slope == pytest.approx((1 - np.sinh(1.2) ** -4) ** 0.125, abs=1e-3)


def test_energy_and_specific_heat():
    found = classical.thermodynamics(lambda b: peps.partition_function(classical.ising(b)), 0.3)
    assert found.log_z == pytest.approx(onsager(0.3), abs=1e-9)
    assert found.energy == pytest.approx(onsager_energy(0.3), abs=1e-7)
    heat = -(0.3**2) * exact.difference(onsager_energy, 0.3, 1e-2)
    assert found.specific_heat == pytest.approx(heat, abs=1e-5)


CONSTANTS = {
    "hard squares": (classical.hard_squares(), np.log(1.5030480824753322643)),  # R. J. Baxter, Ann. Comb. 3, 191 (1999)
    "potts of two colours": (classical.potts(0.6, 2), 0.6 + onsager(0.3)),
    "clock of two": (classical.clock(0.3, 2), onsager(0.3)),
    "clock of four": (classical.clock(0.6, 4), 2 * onsager(0.3)),
    "spins": (classical.spins(np.exp(0.3 * np.array([[1.0, -1.0], [-1.0, 1.0]]))), onsager(0.3)),
}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] * (n == "clock of four")) for n in CONSTANTS]
)
def test_constants(name):
    tensor, wanted = CONSTANTS[name]
    assert classical.partition_function(tensor) == pytest.approx(wanted, abs=1e-8)


COVERINGS, ORIENTATIONS = {2: 8, 4: 272}, {2: 18, 4: 2970}  # of square tori: OEIS A212800 and A054759


def count_on_a_torus(tensor, n):
    """The trace of a power of the transfer matrix of rows, with legs (up, left, down, right)."""
    rows = tensor = np.transpose(tensor, (1, 0, 2, 3))
    for _ in range(n - 1):
        rows = np.einsum("luda,aUDr->luUdDr", rows, tensor)
        rows = rows.reshape(2, rows.shape[1] * 2, rows.shape[3] * 2, 2)
    return np.trace(np.linalg.matrix_power(np.einsum("ludl->ud", rows), n))


@pytest.mark.parametrize("n", [2, 4])
def test_coverings_and_orientations_of_a_torus(n):
    assert count_on_a_torus(classical.dimers(), n) == COVERINGS[n]
    assert count_on_a_torus(classical.six_vertex(), n) == pytest.approx(ORIENTATIONS[n], rel=1e-12)


@pytest.mark.slow
def test_vertices_with_a_gap():
    """``a = b`` in the antiferroelectric phase (R. J. Baxter, Exactly Solved Models, section 8.9, at v = 0)."""
    a, c = 0.2, 0.6
    rate, m = np.arccosh((c * c - 2 * a * a) / (2 * a * a)), np.arange(1, 60)
    wanted = np.log(a) + rate / 2 + np.sum(np.exp(-m * rate) * np.tanh(m * rate) / m)
    assert peps.partition_function(classical.six_vertex(a, a, c)) == pytest.approx(wanted, abs=1e-8)


@pytest.mark.slow
def test_critical_coverings():
    """P. W. Kasteleyn, Physica 27, 1209 (1961); E. H. Lieb, Phys. Rev. 162, 162 (1967)."""
    assert peps.partition_function(classical.dimers()) == pytest.approx(CATALAN / np.pi, abs=1e-3)
    assert peps.partition_function(classical.six_vertex()) == pytest.approx(1.5 * np.log(4 / 3), abs=1e-3)


# -- finite lattices ---------------------------------------------------------------------------------------------------

STATE = finite.FinitePEPS.random(2, 3, bond=2, dtype=float)


def dense_peps(state):
    """Amplitudes of a lattice of two rows and three columns, contracted here."""
    a, b, c = (np.asarray(state[0, k])[:, 0] for k in range(3))  # (physical, left, down, right)
    d, e, f = (np.asarray(state[1, k])[:, :, :, 0] for k in range(3))  # (physical, up, left, right)
    top = np.einsum("aldr,brem->abdeml", a, b)
    top = np.einsum("abdeml,cmfn->abcdefln", top, c)[..., 0, 0]
    low = np.einsum("aulr,bvrm->abuvml", d, e)
    low = np.einsum("abuvml,cwmn->abcuvwln", low, f)[..., 0, 0]
    return np.einsum("abcdef,ghkdef->abcghk", top, low)


def test_finite_lattices():
    psi, kinds = dense_peps(STATE), ["spin-1/2"] * 6
    pairs = [
        ((0, 0), (0, 1)),
        ((0, 1), (0, 2)),
        ((1, 0), (1, 1)),
        ((1, 1), (1, 2)),
        *[((0, k), (1, k)) for k in range(3)],
    ]
    model = [(np.kron(Z, Z), list(pair)) for pair in pairs] + [(X, [(r, c)]) for r in range(2) for c in range(3)]
    h = sum(exact.product(kinds, "Z", 3 * a[0] + a[1], "Z", 3 * b[0] + b[1]) for a, b in pairs)
    h = h + sum(exact.product(kinds, "X", k) for k in range(6))
    energy = exact.mean(h, psi)
    assert finite.energy(STATE, model) == pytest.approx(energy, abs=1e-10)
    assert finite.variance(STATE, model) == pytest.approx(exact.mean(h @ h, psi) - energy**2, abs=1e-8)
    assert finite.norm2(STATE) == pytest.approx(np.linalg.norm(psi) ** 2, rel=1e-10)
    assert finite.log_norm2(STATE) == pytest.approx(2 * np.log(np.linalg.norm(psi)), abs=1e-10)
    found = finite.expectation(STATE, np.kron(Z, Z), [(0, 0), (1, 2)])
    assert found == pytest.approx(exact.mean(exact.product(kinds, "Z", 0, "Z", 5), psi), abs=1e-10)
    wanted = [exact.mean(exact.product(kinds, "X", k), psi) for k in range(6)]
    assert np.ravel(finite.local_expectations(STATE, "X")).real == pytest.approx(wanted, abs=1e-10)
    shots = 1 - 2.0 * finite.sample(STATE, 2000)
    mean = exact.mean(exact.product(kinds, "Z", 0, "Z", 1), psi)
    assert abs((shots[:, 0, 0] * shots[:, 0, 1]).mean() - mean) < 5 / np.sqrt(2000)
    slope = qad.grad(finite.energy)(STATE, model)[0, 1]

    def moved(x):
        rows = [[np.array(STATE[r, c]) for c in range(3)] for r in range(2)]
        rows[0][1][0, 0, 1, 0, 1] = x
        return exact.mean(h, dense_peps(finite.FinitePEPS(rows)))

    assert slope[0, 0, 1, 0, 1] == pytest.approx(exact.difference(moved, STATE[0, 1][0, 0, 1, 0, 1]), abs=1e-7)


# -- infinite lattices -------------------------------------------------------------------------------------------------


def product(angle):
    """The same spin everywhere."""
    return peps.PEPS([np.stack([np.cos(angle), np.sin(angle)]).reshape(2, 1, 1, 1, 1)])


def test_products_of_spins():
    """Every model and measure on a product state, by hand."""
    state, z, x = product(0.3), np.cos(0.6), np.sin(0.6)
    env = peps.environment(state, 1)
    assert peps.energy(state, peps.ising(1.5), 1) == pytest.approx(-2 * z * z - 1.5 * x, abs=1e-10)
    assert peps.energy(state, peps.heisenberg(), 1) == pytest.approx(0.5, abs=1e-10)
    assert peps.energy(state, peps.xxz(0.5), 1) == pytest.approx(0.5 * x * x + 0.25 * z * z, abs=1e-10)
    assert peps.energy(state, peps.j1j2(1.0, 0.4), 1) == pytest.approx(0.5 + 0.2, abs=1e-10)
    triangular = peps.triangular(peps.spin_spin())
    assert peps.energy(state, triangular, 1) == pytest.approx(0.75, abs=1e-10)
    assert peps.expectation(state, peps.term(Z, [(0, 0)]), env) == pytest.approx(z, abs=1e-10)
    assert np.real(peps.local_expectations(state, "X", env))[0, 0] == pytest.approx(x, abs=1e-10)
    v = np.array([np.cos(0.3), np.sin(0.3)])
    rho = np.reshape(peps.reduced_density(state, [(0, 0)], env), (2, 2))
    assert rho == pytest.approx(np.outer(v, v), abs=1e-10)
    assert peps.structure_factor(state, Z / 2, (np.pi, np.pi), 1) == pytest.approx((1 - z * z) / 4, abs=1e-8)
    assert qad.grad(lambda a: peps.energy(product(a), peps.ising(1.5), 1))(0.3) == pytest.approx(
        8 * z * x - 3 * z, abs=1e-8
    )


def test_two_sites_of_fermions():
    """Two electrons, a singlet of the t-J model, and a pair of spinless fermions: levels of matrices of two rows."""
    lowest = lambda model: np.linalg.eigvalsh(dense_fermions(model, (1, 2)))[0]
    assert lowest(peps.hubbard(1.0, 8.0, mu=4.0)) == pytest.approx(-4 - np.sqrt(16 + 4), abs=1e-10)
    assert lowest(peps.tj(0.3, 1.0)) == pytest.approx(-1.0, abs=1e-10)
    assert lowest(peps.fermions(0.2, delta=1.0, mu=0.5)) == pytest.approx(-0.5 - np.sqrt(0.25 + 1), abs=1e-10)


def test_electrons_on_four_sites():
    """Half filled, by imaginary time: near the lowest level of a matrix, with the filling that it was asked for."""
    model, exact = peps.hubbard(1.0, 8.0), lowest_of_hubbard(2, 2, (2, 2), 8.0)
    near = finite.simple_update(model, (2, 2), 6, conserve=("N", "Sz"), sector=(4, 0))
    assert exact < finite.energy(near, model) < exact + 0.1
    assert finite.local_expectations(near, "N") == pytest.approx(np.ones((2, 2)), abs=1e-6)


def test_warm_electrons():
    """Three sites of the t-J model: bonds of nine cut nothing but the error of steps."""
    model = peps.tj(1.0, 0.5, mu=2.0)
    levels = np.linalg.eigvalsh(dense_fermions(model, (1, 3)))
    weights = np.exp(-0.5 * levels)
    hot = finite.thermal_state(model, (1, 3), 0.5, 9)
    assert finite.energy(hot, model) == pytest.approx(levels @ weights / weights.sum(), abs=2e-3)
    assert finite.log_norm2(hot) == pytest.approx(np.log(weights.sum()), abs=2e-3)


def test_letters_of_a_cell():
    state = peps.PEPS.random(2, ["AB", "BA"])
    assert [state.letter(row, column) for row, column in ((0, 0), (0, 1), (5, 3), (-1, 0))] == [0, 1, 0, 1]


def test_products_on_other_lattices():
    """Cells of two spins and of three: honeycomb, Kitaev's model and kagome, all spins along z."""
    cell = lambda d: peps.PEPS([np.eye(d)[0].reshape(d, 1, 1, 1, 1)])
    assert peps.energy(cell(4), peps.honeycomb(peps.spin_spin()), 1) == pytest.approx(0.75, abs=1e-10)
    assert peps.energy(cell(4), peps.kitaev(), 1) == pytest.approx(-0.25, abs=1e-10)
    assert peps.energy(cell(8), peps.kagome(peps.spin_spin()), 1) == pytest.approx(1.5, abs=1e-10)


def test_a_search_in_a_strong_field():
    """Second order in 1/g, ``-g - 1/(2 g)``; the fourth is at most as large as 1/g**3."""
    g = 8.0
    found = peps.ground_state(peps.ising(g), 2, 8, "c4v")
    assert found.energy == pytest.approx(-g - 1 / (2 * g), abs=g**-3)
    env = peps.environment(found.state, 8)
    assert 0 < peps.correlation_length(env) < 1
    levels = peps.entanglement_spectrum(env, 4)
    assert np.exp(-levels).sum() == pytest.approx(1.0, abs=1e-10)


@pytest.mark.slow
def test_heisenberg_of_the_square_lattice():
    """Bond 2: -0.66023 (M. Rader, A. M. Laeuchli, PRX 8, 031030 (2018))."""
    best = peps.ground_state(peps.heisenberg().rotated(), 2, 24, "c4v")
    assert best.energy == pytest.approx(-0.66023, abs=2e-5)


def test_updates_of_the_square_lattice():
    """They end above the lowest energy of this bond."""
    model = peps.heisenberg()
    for state in (peps.simple_update(model, 2), peps.cluster_update(model, 2, steps=((0.05, 40),))):
        assert -0.66024 < peps.energy(state, model, 16) < -0.64
