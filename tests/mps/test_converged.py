"""One meaning of "converged": searches that said so above the ground state, for all methods and kinds of states."""

import numpy as np
import pytest

from qad.mps import Lattice, OpSum, ground_state, heisenberg, j1j2
from qad.mps.search import converged


def far_pairs():
    """``Z_0 Z_11 + 0.3 X_0 X_6 + 0.1 sum X``: neighbours know little of each other."""
    H = OpSum(12).add(1.0, "Z", 0, "Z", 11).add(0.3, "X", 0, "X", 6)
    for i in range(12):
        H = H.add(0.1, "X", i)
    return H


def test_sweeps_of_sites_leave_sectors_of_wrong_dimensions():
    """They ended at -8.682452918, in sectors of dimensions (1, 4, 7, 4) instead of (1, 4, 6, 4, 1)."""
    found = ground_state(heisenberg(20), 16, "dmrg", conserve="Sz")
    assert found.converged
    assert found.energy == pytest.approx(-8.682468456, abs=2e-9)


@pytest.mark.parametrize("method", ["dmrg2", "dmrg"])
@pytest.mark.parametrize("options", [{}, {"conserve": "Sz", "sector": 1}])
def test_a_start_that_is_excluded_is_left(options, method):
    ground = ground_state(heisenberg(5), 8, **options).state
    found = ground_state(heisenberg(5), 8, method, start=ground, excluded=[ground])
    assert found.converged
    assert abs(found.variance) < 1e-10
    assert abs(found.state @ ground) < 1e-4


@pytest.mark.parametrize("method", ["lbfgs", "riemannian"])
@pytest.mark.parametrize("seed", range(4))
def test_gradients_do_not_end_in_a_local_minimum(method, seed):
    found = ground_state(far_pairs(), 16, method, seed=seed)
    assert found.converged
    assert found.energy == pytest.approx(-2.0440306509, abs=1e-8)


@pytest.mark.parametrize("method", ["lbfgs", "riemannian", "dmrg", "dmrg2"])
def test_gradients_open_sectors(method):
    """The state of greatest spin has Schmidt rank 7, and sectors that a random start lacks."""
    found = ground_state(-1.0 * heisenberg(12), 16, method, conserve="Sz", sector=0)
    assert found.converged
    assert found.energy == pytest.approx(-2.75, abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["dmrg2", "dmrg"])
@pytest.mark.parametrize("seed", range(4))
def test_cylinders_end_alike_for_every_seed(method, seed):
    """At bond 24 they ended at -7.5219, -7.5217 or, of definite charge, at -7.5214."""
    for options in ({}, {"conserve": "Sz"}):
        found = ground_state(heisenberg(Lattice.cylinder(3, 4)), 24, method, seed=seed, **options)
        assert not found.converged or found.energy == pytest.approx(-7.521868, abs=3e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    "H, energy", [(j1j2(24, 1.0, 1.0), -11.4559361144), (heisenberg(Lattice.cylinder(6, 4)), -15.6367459732)]
)
def test_slow_polishing_ends(H, energy):
    found = ground_state(H, 16, maxiter=2000)
    assert len(found.history) <= 2001
    assert found.energy <= energy * (1 - 1e-9)


def test_a_probe_that_cannot_be_passed_is_no_convergence(monkeypatch):
    """All sweeps are spent before what a probe found could be polished, or every probe finds more."""
    found = ground_state(heisenberg(20), 16, "dmrg", conserve="Sz", maxiter=15)
    assert not found.converged
    assert "maxiter" in found.message
    monkeypatch.setattr(converged, "refuted", refusing)
    found = ground_state(heisenberg(4), 4)
    assert not found.converged
    assert "again and again" in found.message


def refusing(watch, *args, **options):
    watch.converged = False
    return True


@pytest.mark.parametrize("conserve", [None, "Sz"])
def test_a_probe_costs_a_sweep_of_pairs_and_one_of_sites(monkeypatch, conserve):
    """Where a cut takes nothing away that matters."""
    seen = []
    probed = converged.probed

    def counted(state, pairs, sites, least, **options):
        def noting(kind, make):
            def made(state):
                sweeps = make(state)
                sweep = sweeps.sweep
                sweeps.sweep = lambda: (seen.append(kind), sweep())[1]
                return sweeps

            return made

        return probed(state, noting("pairs", pairs), noting("sites", sites), least, **options)

    monkeypatch.setattr(converged, "probed", counted)
    found = ground_state(j1j2(20, 1.0, 0.3), 64, conserve=conserve)
    assert found.converged
    assert seen == ["pairs", "sites"]
    np.testing.assert_allclose(found.history[-1], found.energy, rtol=1e-9)
