"""Thermal states of small lattices: exact means and partition functions, with and without charges and fermions."""

from itertools import product

import numpy as np
import pytest

import qad
from qad import peps
from qad.core.errors import ArgumentError
from qad.mps import site
from qad.peps.finite import energy, local_expectations, log_norm2, thermal_state
from qad.peps.finite.terms import placed
from tests.peps.fermions import matrix_of


def exact(model, kind, shape, beta, name):
    """The mean energy, the logarithm of the partition function, and the mean of a local operator on each site."""
    places, kinds = list(product(*map(range, shape))), [kind] * int(np.prod(shape))
    total = sum(matrix_of(t.operator, [places.index(x) for x in t.sites], kinds) for t in placed(model, shape, False))
    levels, states = np.linalg.eigh(total)
    weights = np.exp(-beta * levels)
    rho = (states * (weights / weights.sum())) @ states.conj().T
    own = [np.trace(rho @ matrix_of(site(kind).operators[name], [i], kinds)).real for i in range(len(places))]
    return (weights @ levels) / weights.sum(), np.log(weights.sum()), np.reshape(own, shape)


def errors(model, kind, shape, name, conserve, steps):
    """How far the three are off at beta = 0.1."""
    hot = thermal_state(model, shape, 0.1, 12, steps=steps, conserve=conserve)
    found = energy(hot, model, chi=144), log_norm2(hot, chi=144), local_expectations(hot, name, chi=144)
    pairs = zip(found, exact(model, kind, shape, 0.1, name), strict=True)
    return np.array([np.max(np.abs(np.subtract(*pair))) for pair in pairs])


@pytest.mark.parametrize(
    "case",
    [
        (peps.heisenberg(h=0.3), "spin-1/2", (2, 2), "Sz", None),
        (peps.ising(1.1), "spin-1/2", (1, 3), "X", "parity x"),
        (peps.fermions(1.0, delta=0.6, mu=0.4), "fermion", (2, 2), "N", None),
    ],
    ids=["plain", "parity x", "pairing"],
)
def test_means_and_partition_functions_are_of_second_order_in_the_step(case):
    one, two = errors(*case, steps=1), errors(*case, steps=2)
    assert one.max() < 1e-4 and (two < 0.26 * one).all()


@pytest.mark.parametrize(
    "case, most",
    [
        ((peps.j1j2(1.0, 0.5, h=0.3), "spin-1/2", (2, 2), "Sz", "Sz"), 3e-5),
        pytest.param(
            (peps.tj(1.0, 0.5, t2=0.3, mu=0.7), "t-J", (2, 2), "N", ("N", "Sz")), 1e-3, marks=pytest.mark.slow
        ),
    ],
    ids=["J1-J2", "t-J"],
)
@pytest.mark.filterwarnings("ignore:the bond of 12:RuntimeWarning")
def test_diagonal_terms_are_as_good_as_bonds_are_large(case, most):
    assert errors(*case, steps=2).max() < most


@pytest.mark.slow
@pytest.mark.parametrize("mu, known", [(0, -0.092255), (2, -1.476636), (4, -2.944895)])
def test_published_energies_of_the_tj_model(mu, known):
    """Per site of 2x3 at J = t / 2 and beta = 0.05, the chemical potential included."""
    model = peps.tj(1.0, 0.5, mu=float(mu))
    hot = thermal_state(model, (2, 3), 0.05, 9, steps=5, conserve=("N", "Sz"))
    assert energy(hot, model, chi=64) / 6 == pytest.approx(known, abs=1.5e-6)


def test_cuts_that_show_are_told():
    with pytest.warns(RuntimeWarning, match="the bond of 2 cut a weight of .* off a thermal state"):
        thermal_state(peps.heisenberg(), (2, 2), 0.2, 2, steps=2)


def test_what_thermal_states_refuse():
    model = peps.heisenberg()
    for keywords in ({"shape": (1, 1)}, {"beta": np.inf}, {"steps": 0}):
        with pytest.raises(ArgumentError, match="two sites or more"):
            thermal_state(model, **{"shape": (1, 2), "beta": 0.1, "bond": 2} | keywords)
    with pytest.raises(ArgumentError, match="bond"):
        thermal_state(model, (1, 2), 0.1, 0)
    with pytest.raises(ArgumentError, match="two sites or more"):
        peps.finite.simple_update(peps.heisenberg(h=1.0), (1, 1), 2)
    with pytest.raises(ArgumentError, match="changes Sz"):
        thermal_state(peps.ising(1.0), (1, 2), 0.1, 2, conserve="Sz")
    with pytest.raises(ArgumentError, match="no derivatives"):
        qad.grad(lambda delta: log_norm2(thermal_state(peps.xxz(delta), (1, 2), 0.1, 2)))(1.0)
