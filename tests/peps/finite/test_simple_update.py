"""Starts on finite lattices: near exact levels, in the sector that is asked for, and searches that begin there."""

import numpy as np
import pytest

import qad
from qad import peps
from qad.core.errors import ArgumentError
from qad.peps import finite
from tests.peps.fermions import dense, lowest_of_hubbard


@pytest.mark.parametrize("numbers", [(2, 2), pytest.param((2, 1), marks=pytest.mark.slow)])
def test_four_electrons_and_three(numbers):
    model, sector = peps.hubbard(1.0, 8.0), (sum(numbers), numbers[0] - numbers[1])
    near = finite.simple_update(model, (2, 2), 8, conserve=("N", "Sz"), sector=sector, steps=((0.1, 60), (0.02, 40)))
    assert near.conserved.names == ("N", "Sz", "fermions") and near.kind == qad.mps.site("electron")
    assert np.sum(finite.local_expectations(near, "N", 64)) == pytest.approx(sector[0])
    exact = lowest_of_hubbard(2, 2, numbers, 8.0)
    assert exact < finite.energy(near, model, 64) < exact + 0.05


@pytest.mark.slow
def test_a_search_finds_six_electrons():
    model, exact = peps.hubbard(1.0, 8.0), lowest_of_hubbard(2, 3, (3, 3), 8.0)
    near = finite.simple_update(model, (2, 3), 8, conserve=("N", "Sz"), sector=(6, 0))
    found = qad.optimize.minimize(lambda state: finite.energy(state, model, 64), near, maxiter=250)
    assert exact < found.fun < exact + 2e-4


def test_spins_with_and_without_charges():
    model = peps.heisenberg()
    exact = np.linalg.eigvalsh(dense(peps.Model(model.terms, "spin-1/2"), (2, 3)))[0]
    for conserve in (None, "Sz"):
        near = finite.simple_update(model, (2, 3), 4, conserve=conserve, steps=((0.1, 60), (0.02, 40)))
        assert (near.conserved is None) == (conserve is None)
        assert exact < finite.energy(near, model, 16) < 0.98 * exact


def test_what_does_not_fit_is_refused():
    with pytest.raises(ArgumentError, match=r"the term on \(\(0, 0\),\) changes Sz by -?1"):
        finite.simple_update(peps.ising(1.0), (2, 2), 2, conserve="Sz")
    with pytest.raises(ArgumentError, match="do not fit the filling"):
        finite.simple_update(peps.heisenberg(), (2, 2), 2, conserve="Sz", sector=1)
    for shape in (2, (0, 2), (2.0, 2)):
        with pytest.raises(ArgumentError, match="two positive whole numbers"):
            finite.simple_update(peps.heisenberg(), shape, 2)
    with pytest.raises(ArgumentError, match="give conserve= too"):
        finite.simple_update(peps.hubbard(1.0, 8.0), (2, 2), 2, sector=4)
    with pytest.raises(ArgumentError, match="a Model is needed"):
        finite.simple_update([], (2, 2), 2)
