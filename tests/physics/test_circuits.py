"""Circuits at their defaults, beside Kronecker products."""

import numpy as np
import pytest
from scipy.linalg import expm

import qad
from qad import circuit
from tests.fuzz.physics_circuits import full_string
from tests.physics import exact

ANGLES = np.random.default_rng(3).normal(size=(2, 4, 2))
STRINGS = {"ZZII": 1.0, "IXXI": 0.7, "IIZY": -0.4}
H = sum(c * full_string(s) for s, c in STRINGS.items())


def layers(angles):
    """The ansatz of the tests."""
    return circuit.hardware_efficient(qad.Circuit(4), angles)


def dense_layers(angles):
    """Its state: turns about Y and Z, then CNOTs of neighbours."""
    psi = np.eye(16)[0].astype(complex)
    for layer in angles:
        for turn in range(2):
            for q in range(4):
                letters = "I" * q + "YZ"[turn] + "I" * (3 - q)
                psi = expm(-0.5j * layer[q, turn] * full_string(letters)) @ psi
        for q in range(3):
            up, x = "I" * q + "Z" + "I" * (3 - q), "I" * (q + 1) + "X" + "I" * (2 - q)
            control = (np.eye(16) - full_string(up)) / 2
            psi = (np.eye(16) - control + control @ full_string(x)) @ psi
    return psi


PSI = dense_layers(ANGLES)
TOTAL = qad.PauliSum(STRINGS)


def test_expectation_variance_and_state():
    angles = np.moveaxis(ANGLES, 2, 1)
    c = layers(angles)
    assert c.state().reshape(-1) == pytest.approx(PSI, abs=1e-12)
    assert c.expectation(TOTAL) == pytest.approx(exact.mean(H, PSI), abs=1e-12)
    assert c.variance(TOTAL) == pytest.approx(exact.mean(H @ H, PSI) - exact.mean(H, PSI) ** 2, abs=1e-11)
    assert c.probabilities().reshape(-1) == pytest.approx(abs(PSI) ** 2, abs=1e-12)
    assert c.amplitude("0110") == pytest.approx(PSI[6], abs=1e-12)
    assert c.mps().expectation(TOTAL) == pytest.approx(exact.mean(H, PSI), abs=1e-10)
    assert circuit.pruned(c, "ZIII").expectation("ZIII") == pytest.approx(
        exact.mean(full_string("ZIII"), PSI), abs=1e-12
    )


def test_gradients():
    angles = np.moveaxis(ANGLES, 2, 1)
    found = qad.grad(lambda x: layers(x).expectation(TOTAL))(angles)

    def moved(x):
        changed = ANGLES.copy()
        changed[1, 2, 0] = x
        return exact.mean(H, dense_layers(changed))

    assert found[1, 0, 2] == pytest.approx(exact.difference(moved, ANGLES[1, 2, 0]), abs=1e-9)
    shifted = circuit.parameter_shift(layers(angles), TOTAL)
    assert np.sort(shifted) == pytest.approx(np.sort(found.ravel()), abs=1e-10)


def test_geometry():
    """The metric of ry and rz by hand, of the layers by differences of states."""
    f = lambda x: layers(np.moveaxis(x.reshape(2, 4, 2), 2, 1))
    flat, rows = ANGLES.ravel(), []
    for k in range(3):
        step = np.eye(16)[k] * 1e-4
        rows.append(
            (dense_layers((flat + step).reshape(2, 4, 2)) - dense_layers((flat - step).reshape(2, 4, 2))) / 2e-4
        )
    rows = np.array(rows)
    wanted = rows.conj() @ rows.T - np.outer(rows.conj() @ PSI, PSI.conj() @ rows.T)
    assert circuit.geometric_tensor(f)(flat)[:3, :3] == pytest.approx(wanted, abs=1e-6)
    assert circuit.metric(f)(flat)[:3, :3] == pytest.approx(wanted.real, abs=1e-6)
    assert circuit.fisher(f)(flat)[:3, :3] == pytest.approx(4 * wanted.real, abs=4e-6)
    g = np.arange(16.0)
    whole = circuit.metric(f)(flat)
    assert circuit.natural_gradient(whole, g) == pytest.approx(np.linalg.solve(whole + 1e-6 * np.eye(16), g), rel=1e-6)


def test_entanglement():
    c = layers(np.moveaxis(ANGLES, 2, 1))
    rho = exact.reduced(PSI.reshape((2,) * 4), [1, 3])
    assert circuit.reduced_density(c, [1, 3]) == pytest.approx(rho, abs=1e-12)
    assert circuit.entropy(c, [1, 3]) == pytest.approx(exact.entropy(np.linalg.eigvalsh(rho)), abs=1e-10)


def test_overlaps():
    one, two = layers(np.moveaxis(ANGLES, 2, 1)), layers(np.moveaxis(ANGLES + 0.1, 2, 1))
    other = dense_layers(ANGLES + 0.1)
    assert circuit.overlap(one, two) == pytest.approx(np.vdot(PSI, other), abs=1e-12)
    assert circuit.bracket(one, TOTAL, two) == pytest.approx(np.vdot(PSI, H @ other), abs=1e-12)


def test_shots():
    c = layers(np.moveaxis(ANGLES, 2, 1))
    z = 1 - 2.0 * c.sample(4000)[:, 2]
    wanted = exact.mean(full_string("IIZI"), PSI)
    assert abs(z.mean() - wanted) < 5 * np.sqrt((1 - wanted**2) / 4000)
    assert abs(circuit.estimate(c, TOTAL, 4000) - exact.mean(H, PSI)) < 5 * 2.1 / np.sqrt(4000)
    counts = c.counts(1000)
    assert sum(counts.values()) == 1000


@pytest.mark.parametrize("encoding", ["jordan_wigner", "bravyi_kitaev"])
def test_fermions(encoding):
    """Free hops, their spectrum filled in all ways."""
    hops = {f"{i}^ {k}": -1.0 for i in range(4) for k in range(4) if abs(i - k) == 1}
    encode = {"jordan_wigner": circuit.jordan_wigner, "bravyi_kitaev": circuit.bravyi_kitaev}[encoding]
    matrix = np.asarray(encode(hops).matrix())
    kinds = ["fermion"] * 4
    wanted = exact.lowest(exact.dense(kinds, exact.hopping(exact.row(4), 1.0)), 16)[0]
    assert np.linalg.eigvalsh(matrix) == pytest.approx(wanted, abs=1e-12)


def test_coupled_clusters_reach_hydrogen_like_levels():
    """Two electrons in two levels that interact: the double excitation alone diagonalises."""
    terms = {"0^ 0": -1.0, "1^ 1": -1.0, "2^ 2": 0.5, "3^ 3": 0.5, "0^ 1^ 3 2": 0.3, "2^ 3^ 1 0": 0.3}
    total = circuit.jordan_wigner(terms)
    moves = [move for move in circuit.cluster_excitations(4, 2) if len(move[0]) == 2]
    energy = lambda x: circuit.coupled_cluster(qad.Circuit(4).x([0, 1]), x, moves).expectation(total)
    found = qad.optimize.minimize(energy, np.array([0.1]))
    assert found.fun == pytest.approx(-0.5 - np.hypot(1.5, 0.3), abs=1e-9)


def test_trotter_steps_approach_the_exponential():
    c = qad.Circuit(4).h(range(4)).evolve(TOTAL, 0.3, steps=20)
    wanted = expm(-0.3j * H) @ np.full(16, 0.25)
    assert abs(np.vdot(wanted, c.state().reshape(-1))) == pytest.approx(1.0, abs=1e-6)


def test_own_gates():
    name = "turned_swap"
    circuit.register_gate(name, 1, lambda t: circuit.matrix([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]]))
    value = lambda t: qad.Circuit(1).gate(name, t, 0).expectation("Z")
    assert value(0.3) == pytest.approx(np.cos(0.6), abs=1e-12)
    assert qad.grad(value)(0.3) == pytest.approx(-2 * np.sin(0.6), abs=1e-12)
