"""Excitations of infinite chains against exact dispersions."""

import numpy as np
import pytest

from qad.core.errors import ArgumentError
from qad.mps import uniform
from qad.mps.uniform import UniformMPS, UniformOpSum
from qad.mps.uniform.canonical import shortest
from qad.mps.uniform.excitations import Particle


@pytest.mark.parametrize("cell, dtype", [(1, float), (2, float), (3, float), (2, complex), (4, complex)])
@pytest.mark.sampled(1)
def test_the_ising_chain(cell, dtype):
    """``2 sqrt(1 + g**2 - 2 g cos p)``: cells do not fold the zone of a state that translations leave as it is."""
    H = uniform.ising(2.0)
    found = uniform.ground_state(H, 6, cell, dtype=dtype)
    for p in (0.0, 0.7, np.pi, -2.0):
        exact = 2 * np.sqrt(5 - 4 * np.cos(p))
        assert uniform.excitations(H, found.state, p, 1) == pytest.approx([exact], abs=1e-8)


@pytest.mark.parametrize("cell, conserve", [(2, None), (2, "Sz"), (3, None)])
@pytest.mark.sampled(1)
def test_magnons_of_aklt_in_larger_cells(cell, conserve):
    """D. P. Arovas, A. Auerbach, F. D. M. Haldane, PRL 60, 531 (1988): ``(10/27) (5 + 3 cos p)``, lowest at pi."""
    total = UniformOpSum(kind="spin-1")
    for a in ("Sx", "Sy", "Sz"):
        total.add(1.0, a, 0, a, 1)
        for b in ("Sx", "Sy", "Sz"):
            total.add(1 / 3, a, 0, b, 0, a, 1, b, 1)
    state = uniform.ground_state(total, 2, cell, conserve=conserve).state
    assert len(state) == cell
    for p in (np.pi / 2, np.pi):
        exact = 10 / 27 * (5 + 3 * np.cos(p))
        assert uniform.excitations(total, state, p, 3) == pytest.approx([exact] * 3, abs=1e-7)


def test_a_site_whose_isometry_is_complete():
    """Singlets of bonds 1-2-1: nothing stands beside the first site, and a triplet of the second costs 1."""
    H = uniform.j1j2(1.0, 0.5)
    state = uniform.ground_state(H, 4).state
    assert state.bonds in ((1, 2, 1), (2, 1, 2))
    assert uniform.excitations(H, state, 0.3, 2) == pytest.approx([1.0, 1.0], abs=1e-8)


@pytest.mark.slow
def test_triplets_of_spins_one_half_in_their_cell_of_two():
    """J. des Cloizeaux and J. J. Pearson 1962, ``pi/2 |sin p|``: the same at p and p + pi, which are one momentum."""
    H = uniform.heisenberg()
    state = uniform.ground_state(H, 12, starts=1).state
    levels = [uniform.excitations(H, state, q)[0] for q in (1.0, 1.0 + np.pi)]
    assert levels == pytest.approx([np.pi / 2 * np.sin(1.0)] * 2, abs=0.02)
    assert levels[0] == pytest.approx(levels[1], abs=1e-7)


def test_kinks_in_larger_cells():
    """Both states are taken with the shorter cell, and momenta are those of the whole zone."""
    H, g = uniform.ising(0.5), 0.5
    up = uniform.ground_state(H, 6, cell=2, tol=1e-13).state
    for p in (0.0, np.pi):
        exact = 2 * np.sqrt(1 + g**2 - 2 * g * np.cos(p))
        assert uniform.excitations(H, up, p, other=turned(up)) == pytest.approx([exact], abs=1e-8)


def test_the_shortest_cell():
    """Any gauge of a repeated state is folded; states that translations change are left alone."""
    rng = np.random.default_rng(0)
    for dtype in (float, complex):
        one = UniformMPS.random(3, phys=2, cell=2, dtype=dtype, seed=1)
        turns = [np.linalg.qr(rng.standard_normal((3, 3)))[0] for _ in range(6)]
        cell = [turns[n] @ np.tensordot(one[n % 2], turns[(n + 1) % 6].T, 1).transpose(1, 0, 2) for n in range(6)]
        repeated = UniformMPS([x.transpose(1, 0, 2) for x in cell])
        short = shortest(repeated, 1)
        assert len(short) == 2
        assert uniform.fidelity(short, one) == pytest.approx(1.0, abs=1e-12)
        assert shortest(one, 1) is one
    neel = UniformMPS([np.eye(2)[n].reshape(1, 2, 1) for n in (0, 1)])
    assert shortest(neel, 1) is neel


@pytest.mark.slow
@pytest.mark.parametrize("bond, above", [(16, 1e-3), pytest.param(48, 1e-6, marks=pytest.mark.slow)])
def test_the_haldane_gap(bond, above):
    found = uniform.ground_state(uniform.heisenberg(1), bond, cell=1, tol=1e-9)
    triplet = uniform.excitations(uniform.heisenberg(1), found.state, np.pi, 3)
    assert triplet == pytest.approx([0.41047925] * 3, abs=above)  # S. R. White and I. Affleck 2008


@pytest.mark.slow
def test_terms_of_any_range_and_complex():
    """The effective Hamiltonian is Hermitian, and momenta reverse where the chain is reflected."""
    H = UniformOpSum().add_exponential(-0.8, 0.4, "Z", "Z").add(-3.0, "X", 0)
    H = H.add(0.3, "X", 0, "Y", 1, "Z", 2).add(0.5, "Y", 0, "Z", 2)
    mirrored = UniformOpSum().add_exponential(-0.8, 0.4, "Z", "Z").add(-3.0, "X", 0)
    mirrored = mirrored.add(0.3, "Z", 0, "Y", 1, "X", 2).add(0.5, "Z", 0, "Y", 2)
    one, two = (uniform.ground_state(x, 5, cell=1, dtype=complex, starts=1, tol=1e-13) for x in (H, mirrored))
    particle = Particle(H.mpo(), one.state, 0.8)
    size = sum(part.size for part in particle.parts)
    matrix = np.array([particle.apply(x) for x in np.eye(size, dtype=complex)]).T
    np.testing.assert_allclose(matrix, matrix.conj().T, atol=1e-6)
    level = uniform.excitations(H, one.state, 0.8)
    assert level == pytest.approx(uniform.excitations(mirrored, two.state, -0.8), abs=1e-6)
    assert abs(level - uniform.excitations(H, one.state, -0.8)) > 1e-3
    np.testing.assert_allclose(level, np.linalg.eigvalsh(matrix)[:1], atol=1e-6)


def turned(psi):
    return UniformMPS([tensor[:, ::-1] for tensor in psi])


def test_kinks_of_the_ising_chain():
    """``2 sqrt(1 + g**2 - 2 g cos p)``, whatever the signs of both states' tensors; and both ways round."""
    H, g = uniform.ising(0.5), 0.5
    up = uniform.ground_state(H, 6, cell=1, tol=1e-13).state
    down = UniformMPS([-tensor for tensor in turned(up)])
    for p, left, right in ((0.0, up, down), (-2.0, down, up), (np.pi, up, down)):
        exact = 2 * np.sqrt(1 + g**2 - 2 * g * np.cos(p))
        assert uniform.excitations(H, left, p, other=right) == pytest.approx([exact], abs=1e-8)


@pytest.mark.slow
def test_kinks_between_states_of_two_searches():
    """Spinons of the XXZ chain, beside a symmetric state, and beside its own mirror image."""
    H = uniform.xxz(4.0)
    neel = uniform.ground_state(H, 8, conserve="Sz", starts=1, tol=1e-13).state
    plain, found = neel.without_symmetry(), uniform.ground_state(H, 8, starts=1, tol=1e-13).state
    same = np.prod([uniform.local_expectations(x, np.diag([0.5, -0.5]))[0] for x in (plain, found)]) > 0
    level = uniform.excitations(H, neel, 0.4, other=turned(found) if same else found)
    assert level == pytest.approx(uniform.excitations(H, plain, 0.4, other=turned(plain)), abs=1e-5)
    with pytest.raises(ArgumentError, match="the same"):
        uniform.excitations(H, plain, 0.4, other=neel)


def test_kinks_that_have_no_zero_are_refused():
    singlets = uniform.ground_state(uniform.j1j2(1.0, 0.5), 4).state
    moved = UniformMPS([singlets[1], singlets[0]])
    with pytest.raises(ArgumentError, match="energies across a bond"):
        uniform.excitations(uniform.j1j2(1.0, 0.5), singlets, 0.3, other=moved)
    H = uniform.ising(0.8)
    one, two = (uniform.ground_state(H, bond, cell=1, starts=1).state for bond in (6, 2))
    same = np.prod([uniform.local_expectations(x, np.diag([0.5, -0.5]))[0] for x in (one, two)]) > 0
    with pytest.raises(ArgumentError, match="per site"):
        uniform.excitations(H, one, 0.0, other=turned(two) if same else two)
    with pytest.raises(ArgumentError, match="do not join"):
        uniform.excitations(H, one, 0.0, other=UniformMPS(one.tensors * 2))


def test_bad_input():
    H = uniform.ising(2.0)
    with pytest.raises(ArgumentError, match="no ground state"):
        uniform.excitations(H, UniformMPS.random(3, seed=0), 0.0)
    state = uniform.ground_state(H, 2, cell=1).state
    with pytest.raises(ArgumentError, match="excitations, not 9"):
        uniform.excitations(H, state, 0.0, 9)
    with pytest.raises(ArgumentError, match="momentum"):
        uniform.excitations(H, state, 1j)


@pytest.mark.slow
@pytest.mark.parametrize("make, cell, bond", [(lambda: uniform.heisenberg(1), 1, 12), (lambda: uniform.xxz(3.0), 2, 8)])
def test_excitations_by_charge_are_those_of_all(make, cell, bond):
    """Of spins 1 the triplet at pi, a third each; of domain walls in pairs."""
    H = make()
    state = uniform.ground_state(H, bond, cell, conserve="Sz", starts=1).state
    momentum = np.pi / cell
    found = [uniform.excitations(H, state, momentum, 2, charge=q) for q in (-2, 0, 2)]
    np.testing.assert_allclose(found[0], found[2], atol=1e-6)
    every = uniform.excitations(H, uniform.UniformMPS(state.without_symmetry().tensors), momentum, 3)
    np.testing.assert_allclose(np.sort(np.concatenate(found))[:3], every, atol=1e-7)
    with pytest.raises(ArgumentError, match="charge= is of excitations of one state that conserves"):
        uniform.excitations(H, state.without_symmetry(), momentum, charge=2)
