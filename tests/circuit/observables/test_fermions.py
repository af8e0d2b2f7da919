"""Fermions on qubits: anticommutators, and coupled clusters against exponentials of matrices."""

from itertools import product

import numpy as np
import pytest
import scipy.linalg

import qad
from qad.circuit import bravyi_kitaev, cluster_excitations, coupled_cluster, hardware_efficient, jordan_wigner
from qad.core.errors import ArgumentError

MAPS = {"jordan_wigner": jordan_wigner, "bravyi_kitaev": bravyi_kitaev}


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("n", [1, 3, 4, 5])
def test_anticommutators(name, n):
    a = [MAPS[name]({f"{j}": 1.0}, n).matrix() for j in range(n)]
    for i, j in product(range(n), repeat=2):
        np.testing.assert_allclose(a[i] @ a[j] + a[j] @ a[i], 0, atol=1e-15)
        np.testing.assert_allclose(a[i] @ a[j].T + a[j].T @ a[i], (i == j) * np.eye(2**n), atol=1e-15)
        hop = MAPS[name]([([(i, 1), (j, 0)], 1.0)], n)
        np.testing.assert_allclose(hop.matrix(), a[i].T @ a[j], atol=1e-15)
    assert np.linalg.norm(a[0][:, 0]) == 0  # nothing is annihilated in the state without fermions


def test_strings_of_the_maps():
    """J. T. Seeley et al., J. Chem. Phys. 137, 224109 (2012): occupations and partial sums."""
    assert jordan_wigner({"2": 2.0}).terms == {"ZZX": 1.0, "ZZY": 1j}
    assert bravyi_kitaev({"3^ 3": 1.0}).terms == {"IIII": 0.5, "IZZZ": -0.5}
    assert bravyi_kitaev({"0^ 0": 1.0}, 8).strings == ("I" * 8, "Z" + "I" * 7)
    assert max(len(s.replace("I", "")) for s in bravyi_kitaev({"31": 1.0}).strings) <= 6
    H = jordan_wigner({"0^ 1": -1.0, "1^ 0": -1.0, "0^ 0 1^ 1": 2.0, "": 0.5})
    assert H.coefficients.dtype == float
    spectra = [np.linalg.eigvalsh(MAPS[name]({"0^ 1": -1.0, "1^ 0": -1.0, "0^ 0 1^ 1": 2.0}).matrix()) for name in MAPS]
    np.testing.assert_allclose(spectra[0], [-1, 0, 1, 2], atol=1e-14)
    np.testing.assert_allclose(spectra[1], spectra[0], atol=1e-14)
    g = qad.grad(lambda t: jordan_wigner({"0^ 1": t, "1^ 0": t}).coefficients.real.sum())(2.0)
    assert g == 1.0


@pytest.mark.parametrize("encoding", MAPS)
def test_coupled_clusters(encoding):
    every, theta = cluster_excitations(4, 2), np.array([0.3, -0.2, 0.5])
    assert every == [((0,), (2,)), ((1,), (3,)), ((0, 1), (2, 3))]
    u = np.eye(16)
    for t, (full, empty) in zip(theta, every, strict=True):
        there = [*((q, 1) for q in empty), *((q, 0) for q in reversed(full))]
        T = MAPS[encoding]([(there, 1.0)], 4).matrix()
        u = scipy.linalg.expm(t * (T - T.conj().T)) @ u
    start = qad.Circuit(4).ry([0.3, 0.5, 0.7, 1.1], range(4))
    wanted = u @ start.state().ravel()
    found = coupled_cluster(start.copy(), theta, every, encoding)
    np.testing.assert_allclose(found.state().ravel(), wanted, atol=1e-14)
    batch = coupled_cluster(start.copy(), np.stack([theta, 0 * theta]), every, encoding).state()
    np.testing.assert_allclose(batch, [found.state(), start.state()], atol=1e-14)
    assert len(cluster_excitations(6, 2)) == 2 * 2 + 4 and cluster_excitations(2, 0) == []


def test_hardware_efficient_layers():
    theta = np.random.default_rng(0).normal(size=(2, 2, 3))
    c = qad.Circuit(3)
    for ry, rz in theta:
        c.ry(ry, range(3)).rz(rz, range(3)).cx(0, 1).cx(1, 2).cx(2, 0)
    found = hardware_efficient(qad.Circuit(3), theta, ring=True)
    np.testing.assert_array_equal(found.state(), c.state())
    assert len(hardware_efficient(qad.Circuit(3), theta)) == 16
    assert len(hardware_efficient(qad.Circuit(1), theta[:, :, :1])) == 4

    def f(t):
        return hardware_efficient(qad.Circuit(3), t).expectation("ZZX")

    qad.check_grads(f, (theta,), order=1)


def test_what_is_refused():
    for call, message in {
        lambda: jordan_wigner({"2 + 1": 1.0}): "is written '2\\^ 0'",
        lambda: jordan_wigner({"-1": 1.0}): "is written",
        lambda: jordan_wigner({"2": 1.0}, 2): "no mode 2 among 2",
        lambda: cluster_excitations(2, 3): "hold 0 to 2",
        lambda: coupled_cluster(qad.Circuit(2), np.zeros(2), [((0,), (1,))]): "an angle for each of 1",
        lambda: coupled_cluster(qad.Circuit(2), np.zeros(1), [((0,), (0,))]): "from some modes to others",
        lambda: coupled_cluster(qad.Circuit(2), np.zeros(1), [((0,), (1,))], "other"): "'bravyi_kitaev'",
        lambda: hardware_efficient(qad.Circuit(2), np.zeros((2, 2))): "layers, 2, 2",
    }.items():
        with pytest.raises(ArgumentError, match=message):
            call()
