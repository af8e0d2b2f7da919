"""Finite lattices with charges and fermions against matrices of Jordan and Wigner: energies, gradients, searches."""

import numpy as np
import pytest

import qad
from qad import peps
from qad.core.errors import ArgumentError, ShapeError
from qad.peps import finite
from tests.peps.fermions import dense

SPINLESS = peps.fermions(1.0, delta=0.7, v=0.5, mu=0.8)
ELECTRONS = peps.hubbard(1.0, 4.0, v=0.3, t2=0.2, mu=0.5, h=0.3)
TJ = peps.tj(1.0, 0.5, t2=0.2, mu=0.5, h=0.3)
XXZ = peps.Model(peps.xxz(0.6, h=0.2).terms, "spin-1/2")
ISING = peps.Model(peps.ising(1.3).terms, "spin-1/2")
CASES = {
    "fermions, even": (SPINLESS, None, [["empty"] * 3] * 2, False),
    "fermions, odd": (SPINLESS, None, [["full", "empty", "full"], ["empty", "full", "empty"][:3]], False),
    "nine fermions, odd": (SPINLESS, None, [["full", "empty", "full"]] * 2 + [["full", "empty", "empty"]], False),
    "fermions on a cylinder": (SPINLESS, None, [["full", "empty", "full"], ["empty", "full", "full"]], True),
    "fermions that are counted": (
        peps.fermions(1.0, v=1.0),
        "N",
        [["full", "empty"], ["empty", "full"], ["full"] * 2],
        False,
    ),
    "electrons": (ELECTRONS, ("N", "Sz"), [["up", "down"], ["down", "up"]], False),
    "electrons, odd": (ELECTRONS, ("N", "Sz"), [["up", "full"], ["down", "up"]], False),
    "electrons by their parity": (ELECTRONS, "parity", [["up", "down"], ["empty", "up"]], False),
    "electrons on a ring": (ELECTRONS, ("Sz", "N"), [["up", "down", "up"]], True),
    "t-J": (TJ, ("N", "Sz"), [["up", "down"], ["empty", "up"]], False),
    "spins": (XXZ, "Sz", [["up", "down", "up"], ["down", "up", "down"]], False),
    "spins on a cylinder": (XXZ, "Sz", [["up", "down", "up"], ["down", "up", "up"]], True),
    "spins along x": (ISING, "parity x", [[0, 1, 0], [0, 0, 0]], False),
}


def made(name, bond, dtype=complex, seed=0):
    model, conserve, states, cylinder = CASES[name]
    shape = len(states), len(states[0])
    return finite.FinitePEPS.random(
        *shape, bond, dtype=dtype, seed=seed, cylinder=cylinder, kind=model.kind, conserve=conserve, states=states
    )


def mean(h, psi):
    psi = psi.reshape(-1)
    return np.sum(psi.conj() * (h @ psi)).real / np.sum(psi.conj() * psi).real


@pytest.mark.parametrize("name", CASES)
def test_energies_and_gradients_are_those_of_matrices_with_strings(name):
    model, _, states, cylinder = CASES[name]
    state, h = made(name, 3), dense(model, (len(states), len(states[0])), cylinder)
    assert finite.energy(state, model, 256) == pytest.approx(mean(h, state.to_dense()), abs=1e-12)
    value, slope = qad.value_and_grad(lambda s: mean(h, s.to_dense()))(state)
    found, gradient = qad.value_and_grad(finite.energy)(state, model, 256)
    assert found == pytest.approx(value, abs=1e-12)
    for x, y in zip(sum(slope.tensors, ()), sum(gradient.tensors, ()), strict=True):
        np.testing.assert_allclose(x.data, y.data, atol=1e-11 * max(1.0, np.abs(x.data).max()))
