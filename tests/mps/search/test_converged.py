"""One meaning of "converged": searches that said so above the ground state, for all methods and kinds of states."""

import numpy as np
import pytest

from qad.mps import MPO, MPS, Lattice, OpSum, ground_state, heisenberg, ising, j1j2
from qad.mps.charges.exchange import exchanges
from qad.mps.search import converged
from qad.mps.search.pieces import in_pieces


def far_pairs():
    """``Z_0 Z_11 + 0.3 X_0 X_6 + 0.1 sum X``: neighbours know little of each other."""
    H = OpSum(12).add(1.0, "Z", 0, "Z", 11).add(0.3, "X", 0, "X", 6)
    for i in range(12):
        H = H.add(0.1, "X", i)
    return H


@pytest.mark.slow
def test_sweeps_of_sites_leave_sectors_of_wrong_dimensions():
    """They ended at -8.682452918, in sectors of dimensions (1, 4, 7, 4) instead of (1, 4, 6, 4, 1)."""
    found = ground_state(heisenberg(20), 16, "dmrg", conserve="Sz")
    assert found.converged
    assert found.energy == pytest.approx(-8.682468456, abs=2e-9)


@pytest.mark.parametrize("method", ["dmrg2", "dmrg"])
@pytest.mark.parametrize("options", [{}, {"conserve": "Sz", "sector": 1}])
@pytest.mark.sampled(1)
def test_a_start_that_is_excluded_is_left(options, method):
    ground = ground_state(heisenberg(5), 8, **options).state
    found = ground_state(heisenberg(5), 8, method, start=ground, excluded=[ground])
    assert found.converged
    assert abs(found.variance) < 1e-10
    assert abs(found.state @ ground) < 1e-4


@pytest.mark.parametrize("method", ["lbfgs", "riemannian"])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.sampled(1)
def test_gradients_do_not_end_in_a_local_minimum(method, seed):
    found = ground_state(far_pairs(), 16, method, seed=seed)
    assert found.converged
    assert found.energy == pytest.approx(-2.0440306509, abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["lbfgs", "riemannian", "dmrg", "dmrg2"])
@pytest.mark.sampled(1)
def test_gradients_open_sectors(method):
    """The state of greatest spin has Schmidt rank 7, and sectors that a random start lacks."""
    found = ground_state(-1.0 * heisenberg(12), 16, method, conserve="Sz", sector=0)
    assert found.converged
    assert found.energy == pytest.approx(-2.75, abs=1e-8)


def hops(n, pairs, sites="fermion"):
    """``-(Cdag_i C_j + Cdag_j C_i)`` of pairs."""
    H = OpSum(n, sites)
    for i, j in pairs:
        H = H.add(-1.0, "Cdag", i, "C", j).add(-1.0, "Cdag", j, "C", i)
    return H


def static_impurities():
    """Spinless fermions that hop on the even sites, past particles on the odd ones that do not."""
    H = hops(10, [(i, i + 2) for i in range(0, 8, 2)])
    for i in range(1, 10, 2):
        H = H.add(2.0, "N", i, "N", i - 1).add(-0.3 * i, "N", i)
    return H


def test_pieces_are_told_from_operators():
    rungs = OpSum(6)
    for i in (0, 2, 4):
        rungs = rungs.add(0.5, "Sp", i, "Sm", i + 1).add(0.5, "Sm", i, "Sp", i + 1).add(1.0, "Sz", i, "Sz", (i + 3) % 6)
    fields = OpSum(3).add(1.0, "Z", 0).add(1.0, "Z", 1)
    interleaved = hops(6, [(0, 2), (2, 4), (1, 3), (3, 5)])
    for H in (rungs, fields, interleaved, static_impurities(), hops(6, [(i, i + 1) for i in range(4)])):
        assert in_pieces(H.mpo().tensors)
    joined = interleaved.add(0.1, "Cdag", 0, "C", 5).add(0.1, "Cdag", 5, "C", 0)
    for H in (heisenberg(6), j1j2(8, 1.0, 0.3), joined.mpo(), ising(6, 1.0)):
        assert not in_pieces(H.tensors)


@pytest.mark.slow
def test_nine_fermions_in_pieces():
    """One share of six particles among two bonds, three levels and two free sites is lowest; 1.0244 was "converged"."""
    H = hops(9, [(2, 3), (4, 5)]) * 0.5
    for coupling, *where in ((-1.0, 2, 3), (-0.698, 4, 5), (1.0, 4), (1.05, 5), (0.5, 0), (0.5, 6), (1.0, 2)):
        H = H.add(coupling, *[x for i in where for x in ("N", i)])
    found = []
    for exact in lowest_of(H, 6, 2):
        found.append(ground_state(H, seed=34, conserve="N", sector=6, excluded=[f.state for f in found]))
        assert found[-1].converged and found[-1].energy == pytest.approx(exact, abs=1e-8)


def lowest_of(H, number, levels):
    """Levels of a sector of fermions, by diagonalisation."""
    total = sum(np.indices((2,) * len(H.sites))).reshape(-1)
    keep = total == number
    return np.linalg.eigvalsh(H.mpo().to_dense()[np.ix_(keep, keep)])[:levels]


@pytest.mark.parametrize("options", [{}, {"conserve": "N", "sector": 6}])
@pytest.mark.sampled(1)
def test_static_impurities(options):
    H = static_impurities()
    exact = lowest_of(H, 6, 1)[0] if options else min(lowest_of(H, number, 1)[0] for number in range(11))
    found = ground_state(H, 32, **options)
    assert found.converged and found.energy == pytest.approx(exact, abs=1e-8)


@pytest.mark.parametrize("charges", [{}, {"conserve": "N", "sector": 2}])
def test_pieces_of_an_operator_that_does_not_know_its_sites(charges):
    """What joins the pieces said that its sites are of a kind of its own, which no fermions are."""
    levels = OpSum(4, "fermion").add(-1.0, "N", 0).add(-2.0, "N", 1).add(0.5, "N", 2).add(0.25, "N", 3)
    start = MPS.random(4, 2, kind="fermion", **charges)
    assert ground_state(MPO(levels.mpo().tensors), start=start).energy == pytest.approx(-3.0, abs=1e-9)


@pytest.mark.parametrize("conserve", [None, "N"])
@pytest.mark.sampled(1)
def test_degenerate_ground_states_of_pieces(conserve):
    """The last site takes part in no term: each level is there twice, and the second one was missed."""
    H = hops(4, [(0, 1), (1, 2)])
    options = {"conserve": "N", "sector": 2} if conserve else {}
    first = ground_state(H, **options)
    second = ground_state(H, excluded=[first.state], **options)
    assert first.converged and second.converged
    assert [first.energy, second.energy] == pytest.approx([-np.sqrt(2)] * 2, abs=1e-9)


@pytest.mark.slow
def test_close_excited_levels_are_told_apart():
    """The third level, -3.35772962, was passed over for the fourth, 2.8e-4 above it, whose variance is 1e-12."""
    H = OpSum(7)
    for coupling, i in ((0.067, 1), (1.097, 0), (1.0, 3), (-0.078, 5), (-0.118, 2), (1.562, 4)):
        H = H.add(coupling, "X", i, "Y", i + 1)
    for i in range(7):
        H = H.add(0.118, "X", i)
    exact, found = np.linalg.eigvalsh(H.mpo().to_dense())[:3], []
    for seed in (49, 71, 40):
        found.append(ground_state(H, seed=seed, excluded=[f.state for f in found]))
    assert all(f.converged for f in found)
    assert [f.energy for f in found] == pytest.approx(exact, abs=1e-8)


def test_levels_at_zero_energy_converge():
    """What is left to gain was compared with the energy itself, 1e-32, for 2000 sweeps."""
    H = hops(3, [(0, 1), (1, 2)])
    first = ground_state(H, conserve="N", sector=1)
    second = ground_state(H, conserve="N", sector=1, excluded=[first.state])
    assert second.converged and len(second.history) < 20
    assert abs(second.energy) < 1e-9


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("conserve", [None, "Sz"])
@pytest.mark.parametrize("method", ["dmrg2", "dmrg", "riemannian"])
@pytest.mark.parametrize("scale", [1e-300, 1e150])
@pytest.mark.sampled(4)
def test_energies_of_any_size(scale, method, conserve):
    """Squares of terms vanished or overflowed: half an energy, "converged", errors of LAPACK, or refusals."""
    terms = OpSum(4)
    for i in range(3):
        terms = terms.add(scale / 2, "Sp", i, "Sm", i + 1).add(scale / 2, "Sm", i, "Sp", i + 1)
        terms = terms.add(scale, "Sz", i, "Sz", i + 1)
    found = ground_state(terms if conserve else scale * heisenberg(4), 8, method, conserve=conserve)
    assert found.converged and not np.isnan(found.variance)
    assert found.energy / scale == pytest.approx(-1.6160254037844386, abs=1e-9)


def test_partners_of_a_multiplet_are_exchanged():
    """The middle bond kept {-2: 6, 2: 7, -4: 1, 4: 1}, and the search ended 2.5e-6 of the energy above."""
    found = ground_state(heisenberg(Lattice.cylinder(3, 4)), 24, seed=1, conserve="Sz")
    assert found.converged
    assert found.energy == pytest.approx(-7.5218679126, abs=1e-8)


def test_the_least_weight_gives_way_to_near_ones():
    weights = [np.array([0.5, 0.1]), np.array([0.2, 0.11, 0.1]), np.array([0.09]), np.array([0.05])]
    assert list(exchanges(weights, [1, 2, 0, 0])) == [[2, 1, 0, 0], [1, 1, 1, 0]]
    assert list(exchanges(weights, [2, 3, 1, 1])) == []


@pytest.mark.slow
@pytest.mark.parametrize("method", ["dmrg2", "dmrg"])
@pytest.mark.parametrize("seed", range(8))
def test_cylinders_end_alike_for_every_seed(method, seed):
    """At bond 24 they ended at -7.5219, -7.5217 or, with charges, at -7.5214."""
    for options in ({}, {"conserve": "Sz"}):
        found = ground_state(heisenberg(Lattice.cylinder(3, 4)), 24, method, seed=seed, **options)
        close = 1e-8 if options else 3e-5
        assert not found.converged or found.energy == pytest.approx(-7.5218679126, abs=close)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_narrow_cylinders_end_alike_for_every_seed(seed):
    """Five of eight ended 1.8e-5 of the energy above, converged."""
    found = ground_state(heisenberg(Lattice.cylinder(3, 4)), 16, seed=seed, conserve="Sz")
    assert found.converged
    assert found.energy == pytest.approx(-7.5073196651, abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize(
    "H, energy", [(j1j2(24, 1.0, 1.0), -11.4559361144), (heisenberg(Lattice.cylinder(6, 4)), -15.6367459732)]
)
def test_slow_polishing_ends(H, energy):
    found = ground_state(H, 16, maxiter=2000)
    assert len(found.history) <= 2001
    assert found.energy <= energy * (1 - 1e-9)


@pytest.mark.slow
def test_a_probe_that_cannot_be_passed_is_no_convergence(monkeypatch):
    """All sweeps are spent before what a probe found could be polished, or every probe finds more."""
    found = ground_state(heisenberg(16), 8, "dmrg", conserve="Sz", maxiter=8)
    assert not found.converged
    assert "maxiter" in found.message
    monkeypatch.setattr(converged, "refuted", refusing)
    found = ground_state(heisenberg(4), 4)
    assert not found.converged
    assert "again and again" in found.message


def refusing(watch, *args, **options):
    watch.converged = False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("conserve", [None, "Sz"])
def test_a_probe_costs_one_way_of_pairs_and_one_of_sites(monkeypatch, conserve):
    """Where a cut takes nothing away that matters."""
    seen = []
    probed = converged.probed

    def counted(state, pairs, least, **options):
        def noting(state):
            sweeps = pairs(state)
            for way in (sweeps.to_right, sweeps.to_left):
                setattr(sweeps, way.__name__, lambda way=way: (seen.append((way.__name__, sweeps.size)), way())[1])
            return sweeps

        return probed(state, noting, least, **options)

    monkeypatch.setattr(converged, "probed", counted)
    found = ground_state(j1j2(20, 1.0, 0.3), 64, conserve=conserve)
    assert found.converged
    assert seen == [("to_right", 2), ("to_left", 1)]
    np.testing.assert_allclose(found.history[-1], found.energy, rtol=1e-9)
