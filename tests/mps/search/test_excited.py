"""Eigenstates of disordered chains in the middle of the spectrum, beside exact ones."""

import numpy as np
import pytest
from scipy.sparse.linalg import eigsh

import qad
from qad.core.errors import ArgumentError, GradientTypeError, ShapeError
from qad.mps import MPS, excited_state
from tests.physics import exact


def disordered(n, seed, strength=8.0):
    """The Heisenberg chain in random fields, as terms."""
    fields = np.random.default_rng(seed).uniform(-strength, strength, n)
    return [*exact.exchange(exact.row(n)), *((h, "Sz", i) for i, h in enumerate(fields))]


def operators(n, seed):
    """The operator, its dense matrix in the sector of Sz = 0, and the basis states of that."""
    spins, terms = ["spin-1/2"] * n, disordered(n, seed)
    kept = [i for i in range(2**n) if i.bit_count() == n // 2]
    return exact.opsum(spins, terms).mpo(), exact.dense(spins, terms).tocsr()[kept][:, kept], kept


def neel(n, **how):
    return MPS.product(["up", "down"] * (n // 2), dtype=float, **how)


@pytest.mark.parametrize("how", [{}, {"conserve": "Sz"}], ids=["plain", "Sz"])
def test_the_eigenstate_that_is_most_like_the_start(how):
    n = 12
    H, h, kept = operators(n, seed=1)
    levels, states = np.linalg.eigh(h.toarray())
    like = int(np.abs(states[kept.index(int("01" * (n // 2), 2))]).argmax())
    found = excited_state(H, neel(n, **how))
    assert found.converged and found.message.startswith("converged")
    assert found.energy == pytest.approx(levels[like], abs=1e-9)
    assert found.history[-1] == pytest.approx(found.variance, abs=1e-12)
    amplitudes = found.state.to_dense().reshape(-1)[kept]
    assert np.linalg.norm(h @ amplitudes - levels[like] * amplitudes) ** 2 == pytest.approx(found.variance, abs=1e-11)
    assert found.variance < 1e-7
    assert abs(states[:, like] @ amplitudes) == pytest.approx(1.0, abs=1e-8)
    whole = np.zeros(2**n)
    whole[kept] = states[:, like]
    entropies = [exact.entropy(exact.schmidt(whole.reshape((2,) * n), left) ** 2) for left in range(1, n)]
    np.testing.assert_allclose(found.state.entanglement_entropy(), entropies, atol=1e-6)
    assert 100 < like < len(levels) - 100 and max(entropies) > 0.1


def test_resonances_take_several_sweeps():
    H, h, _ = operators(10, seed=3)
    found = excited_state(H, neel(10, conserve="Sz"))
    assert found.converged
    assert np.abs(np.linalg.eigvalsh(h.toarray()) - found.energy).min() < 1e-9
    assert found.history[0] < found.history[1]


def test_near_an_energy():
    H, h, _ = operators(10, seed=3)
    levels = np.linalg.eigvalsh(h.toarray())
    for energy in (-4.0, 0.0, 5.0):
        found = excited_state(H, neel(10, conserve="Sz"), energy=energy)
        assert found.converged
        assert np.abs(levels - found.energy).min() < 1e-9
        assert abs(found.energy - energy) < 0.7


def test_large_centres_are_solved_by_products(monkeypatch):
    H, h, _ = operators(10, seed=1)
    monkeypatch.setattr("qad.mps.search.excited.SMALL", 8)
    found = excited_state(H, neel(10, conserve="Sz"))
    assert found.converged
    assert np.abs(np.linalg.eigvalsh(h.toarray()) - found.energy).min() < 1e-8


def test_units_do_not_matter():
    H, _, _ = operators(8, seed=0)
    one, two = excited_state(H, neel(8)), excited_state(1e6 * H, neel(8))
    assert two.converged and two.energy == pytest.approx(1e6 * one.energy, rel=1e-12)


def test_bonds_that_are_too_small():
    H, _, _ = operators(10, seed=3)
    found = excited_state(H, neel(10), bond=2)
    assert not found.converged and "larger bond" in found.message and found.variance > 1e-6
    assert excited_state(H, neel(10), maxiter=1).message == "stopped at maxiter sweeps"


def test_refusals():
    H, _, _ = operators(4, seed=0)
    with pytest.raises(ArgumentError, match="single site"):
        excited_state(qad.mps.OpSum(1).add(1.0, "Sz", 0), MPS.product([0]))
    with pytest.raises(ArgumentError, match="energy one number"):
        excited_state(H, neel(4), energy=np.nan)
    with pytest.raises(ArgumentError, match="not Hermitian"):
        excited_state(1j * H, neel(4))
    with pytest.raises(ShapeError):
        excited_state(H, neel(6))
    with pytest.raises(GradientTypeError):
        qad.grad(lambda g: excited_state(g * H, neel(4)).energy)(1.0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_sixteen_sites(seed):
    H, h, kept = operators(16, seed)
    found = excited_state(H, neel(16, conserve="Sz"))
    assert found.converged
    amplitudes = found.state.to_dense().reshape(-1)[kept]
    assert np.linalg.norm(h @ amplitudes - found.energy * amplitudes) < 3e-4
    levels, states = eigsh(h.tocsc(), 3, sigma=found.energy + 1e-6)
    nearest = np.abs(levels - found.energy).argmin()
    assert levels[nearest] == pytest.approx(found.energy, abs=1e-8)
    assert abs(states[:, nearest] @ amplitudes) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.slow
def test_entropies_and_level_statistics():
    """Every product state has its eigenstate; a few resonances share one, which leaves the statistics."""
    spins, terms = ["spin-1/2"] * 8, disordered(8, 1)
    kept = [i for i in range(2**8) if i.bit_count() == 4]
    levels, states = np.linalg.eigh(exact.dense(spins, terms).tocsr()[kept][:, kept].toarray())
    H, energies = exact.opsum(spins, terms).mpo(), []
    for word in kept:
        found = excited_state(H, MPS.product([int(bit) for bit in f"{word:08b}"], kind="spin-1/2", conserve="Sz"))
        assert found.converged
        vector = np.zeros(2**8)
        vector[kept] = states[:, np.abs(levels - found.energy).argmin()]
        p = np.linalg.svd(vector.reshape(16, 16), compute_uv=False) ** 2
        entropy = -np.sum(p * np.log(np.maximum(p, 1e-300)))
        assert found.state.entanglement_entropy(4) == pytest.approx(entropy, abs=1e-5)
        energies.append(found.energy)
    different = np.unique(np.round(energies, 8))
    assert len(different) >= 65
    assert ratio_of_gaps(different) == pytest.approx(ratio_of_gaps(levels), abs=0.02)


def ratio_of_gaps(levels):
    """The mean of the smaller over the larger one of neighbouring gaps."""
    gaps = np.diff(levels)
    return (np.minimum(gaps[1:], gaps[:-1]) / np.maximum(gaps[1:], gaps[:-1])).mean()
