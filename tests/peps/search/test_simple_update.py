"""Imaginary time with weights of bonds: energies near known ones, and what it refuses."""

import numpy as np
import pytest

import qad
from qad import peps
from qad.core.errors import ArgumentError
from qad.peps.search.simple_update import OPPOSITE, PATHS, Weighted, neighbours

FOUR = ["AB", "CD"]


def test_it_comes_near_the_ground_state():
    state = peps.simple_update(peps.heisenberg(), bond=2)
    found = peps.energy(state, peps.heisenberg(), chi=12, tol=1e-8)
    assert -0.6603 < found < -0.645  # the best of this bond has -0.66023
    env = peps.environment(state, 12, tol=1e-8)
    sz, sx = (peps.local_expectations(state, name, env) for name in ("Sz", "Sx"))
    np.testing.assert_allclose(sz[0, 0], -sz[0, 1], atol=1e-3)
    assert np.hypot(sz, sx).min() > 0.3


def test_fields_and_bonds_are_weighed_rightly():
    """Without couplings each spin is an eigenvector of its own field, and couplings alone make products of pairs."""
    field = peps.Model([*peps.ising(0.7).terms[2:], peps.term(np.zeros((4, 4)), [(0, 0), (0, 1)])])
    state = peps.simple_update(field, bond=2, steps=((0.5, 60),))
    assert peps.energy(state, field, chi=4) == pytest.approx(-0.7, abs=1e-10)
    ferro = peps.ising(0.0)
    assert peps.energy(peps.simple_update(ferro, 2, steps=((0.5, 60),)), ferro, chi=4) == pytest.approx(-2, abs=1e-9)


@pytest.mark.slow
def test_the_transverse_ising_model_beyond_its_transition():
    state = peps.simple_update(peps.ising(3.6), bond=2)
    best = -3.7515893  # of one site of bond 2 with all symmetries
    assert best - 1e-4 < peps.energy(state, peps.ising(3.6), chi=8, tol=1e-8) < best + 5e-4


def test_diagonals_lower_the_energy_of_the_square_lattice():
    """Above the energy of nine sites (P. W. Anderson, Phys. Rev. 83, 1260 (1951)), below that of a Neel state."""
    model = peps.j1j2(1.0, 0.3)
    state = peps.simple_update(model, 2, FOUR, steps=((0.1, 40), (0.02, 30)))
    found = peps.energy(state, model, 12, tol=1e-8)
    assert nine_sites(0.3) < found < -0.5 + 0.3 / 2 - 0.1
    best = peps.ground_state(model, 2, 12, start=state, tol=1e-6, maxiter=10)
    assert best.energy - 1e-9 < found < best.energy + 2e-3


def nine_sites(j2):
    """A bound from below: each bond of the lattice is shared among all blocks of 3x3 sites that hold it."""
    spins = [np.array(m) / 2 for m in ([[0, 1], [1, 0]], [[0, -1j], [1j, 0]], [[1, 0], [0, -1]])]
    at = [[np.kron(np.kron(np.eye(2**i), s), np.eye(2 ** (8 - i))) for s in spins] for i in range(9)]
    total = np.zeros((512, 512))
    for i in range(9):
        for j in range(i):
            shape = sorted((abs(i // 3 - j // 3), abs(i % 3 - j % 3)))
            share = {(0, 1): 1 / 6, (1, 1): j2 / 4}.get(tuple(shape), 0.0)
            total = total + share * sum(x @ y for x, y in zip(at[i], at[j], strict=True)).real
    return np.linalg.eigvalsh(total)[0]


def test_diagonals_alone_are_two_lattices():
    """Products of bond 1 have the energy of the plain antiferromagnet."""
    model = peps.j1j2(0.0, 1.0)
    state = peps.simple_update(model, 1, FOUR, steps=((0.5, 30),))
    assert peps.energy(state, model, 4) == pytest.approx(-0.5, abs=1e-10)


@pytest.mark.slow
def test_diagonals_alone_are_two_lattices_of_entangled_spins():
    """A bond carries those of both: four states are two for each, which alone have -0.66023109 at best."""
    model = peps.j1j2(0.0, 1.0)
    state = peps.simple_update(model, 4, FOUR, steps=((0.1, 60), (0.02, 60)))
    assert -0.66023109 < peps.energy(state, model, 16, tol=1e-5) < -0.65


@pytest.mark.parametrize("path", [path for paths in PATHS.values() for path in paths], ids=str)
@pytest.mark.parametrize("dtype", [float, complex])
def test_a_gate_acts_on_both_ends_of_a_path(path, dtype):
    """With bonds that leave nothing out the three sites are those of before times the gate, up to a factor."""
    rng = np.random.default_rng(0)
    network = Weighted({}, neighbours(tuple(FOUR)))
    network.sites = {name: rng.standard_normal((2, 2, 2, 2, 2)).astype(dtype) for name in "ABCD"}
    network.weights = {key: rng.uniform(0.2, 1, 2) for key in network.weights}
    gate = rng.standard_normal((2, 2, 2, 2)) * (1 if dtype is float else 1 + 0.5j)
    expected = np.einsum("xyab,ambr->xmyr", gate, three(network, path))
    names = network.along("A", path)
    untouched = network.sites[({*"ABCD"} - {*names}).pop()].copy()
    network.update_through("A", *path, gate, 100)
    found = three(network, path)
    factor = np.vdot(expected, found) / np.vdot(expected, expected)
    np.testing.assert_allclose(found, factor * expected, atol=1e-10 * abs(factor))
    np.testing.assert_array_equal(network.sites[({*"ABCD"} - {*names}).pop()], untouched)
    for at in (network.bond_at(names[0], path[0]), network.bond_at(names[1], path[1])):
        assert np.linalg.norm(network.weights[at]) == pytest.approx(1)
    network.update_through("A", *path, gate, 2)
    assert {network.sites[name].shape for name in names} == {(2, 2, 2, 2, 2)}


def three(network, path):
    """The sites on a path with all weights of their legs: the physical legs in order, then all others as one."""
    names, (to, after) = network.along("A", path), path
    legs = [[10 * i + leg for leg in range(5)] for i in range(3)]
    legs[1][OPPOSITE[to]], legs[2][OPPOSITE[after]] = legs[0][to], legs[1][after]
    without = (), (OPPOSITE[to],), (OPPOSITE[after],)
    sites = [network.scaled(name, 1.0, *but) for name, but in zip(names, without, strict=True)]
    shared = {legs[0][to], legs[1][after]}
    rest = [leg for row in legs for leg in row[1:] if leg not in shared]
    operands = [part for pair in zip(sites, legs, strict=True) for part in pair]
    return np.einsum(*operands, [0, 10, 20, *rest]).reshape(2, 2, 2, -1)


def test_what_it_refuses():
    far = peps.Model([*peps.heisenberg().terms, peps.term(peps.spin_spin(), [(0, 0), (0, 2)])])
    ring = peps.Model([*peps.heisenberg().terms, peps.term(np.eye(8), [(0, 0), (0, 1), (1, 1)])])
    for model in (far, ring):
        with pytest.raises(ArgumentError, match="neighbours and diagonals"):
            peps.simple_update(model, 2)
    with pytest.raises(ArgumentError, match="joins two sites 'A'"):
        peps.simple_update(peps.j1j2(1.0, 0.5), 2)
    for search in (peps.simple_update, peps.cluster_update):
        with pytest.raises(ArgumentError, match='^the neighbours of \'A\' are not always .*"AB", "BA"'):
            search(peps.heisenberg(), 2, cell=["A"])
    with pytest.raises(ArgumentError, match="whole"):
        peps.simple_update(peps.heisenberg(), 0)
    with pytest.raises(ArgumentError, match="whole"):
        peps.simple_update(peps.heisenberg(), np.nan)
    for search in (peps.simple_update, peps.cluster_update):
        with pytest.raises(ArgumentError, match="no derivatives"):
            qad.grad(lambda delta, search=search: search(peps.xxz(delta), 2)[0, 0].sum())(1.0)
