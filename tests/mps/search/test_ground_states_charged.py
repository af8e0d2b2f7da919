"""Ground states by sector against exact diagonalisation and reference energies."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError
from qad.mps import MPS, OpSum, ground_state


def exact(H, conserve, sector):
    """The lowest level of a sector, of the dense matrix."""
    sites, total = H.sites, 0
    for i, kind in enumerate(sites):
        shape = [1] * len(sites)
        shape[i] = kind.phys
        total = total + np.array(kind.charges[conserve]).reshape(shape)
    kept = np.flatnonzero(np.asarray(total).ravel() == sector)
    return np.linalg.eigvalsh(H.to_dense()[np.ix_(kept, kept)])[0]


@pytest.mark.slow
@pytest.mark.parametrize("sector, energy", [(0, -4.6558329915), (2, -4.3807916101)])
def test_reference_energies(sector, energy):
    """J1-J2 of 12 spins, exact."""
    H = qad.mps.j1j2(12, 1.0, 0.3)
    found = ground_state(H, 64, "dmrg2", conserve="Sz", sector=sector)
    assert found.energy == pytest.approx(energy, abs=6e-11)
    assert found.converged and found.state.sector == sector and abs(found.variance) < 1e-10
    assert qad.mps.energy(found.state.without_symmetry(), H) == pytest.approx(found.energy, abs=1e-12)
    assert qad.mps.norm(found.state) == pytest.approx(1.0)


@pytest.mark.slow
@pytest.mark.parametrize("sector, energy", [(0, -7.7969385452), (2, -7.6227324658)])
def test_reference_energies_of_20_spins(sector, energy):
    found = ground_state(qad.mps.j1j2(20, 1.0, 0.3), 64, "dmrg2", conserve="Sz", sector=sector)
    assert found.energy == pytest.approx(energy, abs=6e-11)


@pytest.mark.slow
@pytest.mark.parametrize("sector, energy", [(0, -23.5160044703), (2, -23.4537916113)])
def test_reference_energies_of_60_spins(sector, energy):
    """To the digits on which the history of truncations has no say."""
    found = ground_state(qad.mps.j1j2(60, 1.0, 0.3), 64, "dmrg2", conserve="Sz", sector=sector)
    assert found.energy == pytest.approx(energy, abs=2.5e-9)


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("number, spin", [(4, 0), (3, 1), (2, 2), (5, -1)])
@pytest.mark.sampled(4)
def test_electrons_by_sector(number, spin, periodic):
    H = qad.mps.hubbard(4, 1.0, 4.0, periodic)
    sites, charges = H.sites[0], 0
    for i in range(4):
        shape = [1] * 4 + [2]
        shape[i] = 4
        charges = charges + np.array([sites.charges["N"], sites.charges["Sz"]]).T.reshape(shape)
    kept = np.flatnonzero((charges.reshape(-1, 2) == (number, spin)).all(axis=1))
    expected = np.linalg.eigvalsh(H.to_dense()[np.ix_(kept, kept)])[0]
    found = ground_state(H, 32, "dmrg2", conserve=("N", "Sz"), sector=(number, spin))
    assert found.energy == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("number", [2, 3, 4])
@pytest.mark.sampled(1)
def test_tj_by_sector(number):
    H = qad.mps.tj(5, 1.0, 0.4)
    found = ground_state(H, 40, "dmrg2", conserve="N", sector=number)
    assert found.energy == pytest.approx(exact(H, "N", number), abs=1e-10)


def test_free_electrons():
    """Three and two of either spin on five sites fill the lowest levels."""
    levels = np.sort(-2 * np.cos(np.pi * np.arange(1, 6) / 6))
    found = ground_state(qad.mps.hubbard(5, 1.0, 0.0), 16, "dmrg2", conserve=("N", "Sz"), sector=(5, 1))
    assert found.energy == pytest.approx(levels[:3].sum() + levels[:2].sum(), abs=1e-9)


def test_a_poor_start_finds_its_sectors():
    """All charge at one end, so that most sectors are missing at first."""
    H = qad.mps.j1j2(10, 1.0, 0.3)
    start = MPS.product([0] * 5 + [1] * 5, conserve="Sz", dtype=float)
    found = ground_state(H, 32, "dmrg2", conserve="Sz", start=start)
    assert found.energy == pytest.approx(exact(H, "Sz", 0), abs=1e-10)


def test_complex_operators():
    H = qad.mps.OpSum(6)
    for i in range(5):
        H.add(0.5 * np.exp(0.4j), "Sp", i, "Sm", i + 1).add(0.5 * np.exp(-0.4j), "Sm", i, "Sp", i + 1)
        H.add(0.7, "Sz", i, "Sz", i + 1)
    H = H.mpo()
    found = ground_state(H, 8, "dmrg2", conserve="Sz", sector=0)
    assert found.state.dtype == complex
    assert found.energy == pytest.approx(exact(H, "Sz", 0), abs=1e-10)


def test_the_same_twice():
    """No state that the caller does not see: the second search gives the first one's numbers, bit by bit."""
    H = qad.mps.j1j2(8, 1.0, 0.3)
    one, two = (ground_state(H, 12, "dmrg2", conserve="Sz", sector=2, seed=5) for _ in range(2))
    np.testing.assert_array_equal(one.history, two.history)
    for a, b in zip(one.state, two.state, strict=True):
        np.testing.assert_array_equal(a.data, b.data)


def test_the_user_ends_it():
    seen = []

    def stop(state, energy):
        seen.append((state.sector, energy))
        if len(seen) == 2:
            raise StopIteration

    found = ground_state(qad.mps.heisenberg(6), 8, "dmrg2", conserve="Sz", sector=2, callback=stop)
    assert not found.converged and found.message == "stopped by the callback"
    assert [sector for sector, _ in seen] == [2, 2]
    assert ground_state(qad.mps.heisenberg(6), 8, "dmrg2", conserve="Sz", maxiter=1).nfev == 1


@pytest.mark.parametrize("n", [1, 2])
def test_short_chains(n):
    total = qad.mps.OpSum(n).add(0.3, "Sz", n - 1)
    if n == 2:
        total.add(0.5, "Sp", 0, "Sm", 1).add(0.5, "Sm", 0, "Sp", 1)
    H = total.mpo()
    for sector in (-n, 2 - n):
        assert ground_state(H, 2, "dmrg2", conserve="Sz", sector=sector).energy == pytest.approx(exact(H, "Sz", sector))


@pytest.mark.parametrize(
    "options, message",
    [
        ({"method": "dmrg3", "conserve": "Sz"}, "unknown method 'dmrg3'"),
        ({"sector": 2}, "conserve="),
        ({"conserve": "Sz", "sector": 1}, "no state of these sites has Sz = 1"),
        ({"conserve": "N"}, "knows no charges 'N'"),
        ({"conserve": "Sz", "start": MPS.product([0, 1] * 3)}, "starts from a state that does"),
        ({"conserve": "parity", "start": MPS.product([0, 1] * 3, conserve="Sz")}, "the start state conserves"),
        ({"sector": 2, "start": MPS.product([0, 1] * 3, conserve="Sz")}, "lies in the sector 0"),
        ({"conserve": "Sz", "checkpoint": "nowhere/x.npz"}, "there is no folder nowhere"),
        ({"conserve": "Sz", "excluded": [MPS.product([0, 1] * 3)]}, "excludes states that conserve the same"),
        ({"conserve": "Sz", "excluded": MPS.product([0, 1] * 3, conserve="parity")}, "excludes states"),
        ({"conserve": "Sz", "excluded": MPS.product([0, 1] * 3, conserve="Sz"), "weight": -1.0}, "must be positive"),
        ({"method": "tebd", "conserve": "Sz", "excluded": MPS.product([0, 1] * 3, conserve="Sz")}, "cannot exclude"),
        ({"excluded": MPS.product([0, 1] * 3, conserve="Sz")}, "without_symmetry"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(ArgumentError, match=message):
        ground_state(qad.mps.heisenberg(6), 8, **({"method": "dmrg2"} | options))


def test_sums_are_split_into_parts_of_definite_charge():
    total = OpSum(6)
    for i in range(5):
        for name in ("Sx", "Sy", "Sz"):
            total.add(1.0, name, i, name, i + 1)
    found = ground_state(total, 8, "dmrg2", conserve="Sz", sector=2)
    assert found.energy == pytest.approx(exact(qad.mps.heisenberg(6), "Sz", 2), abs=1e-9)


def test_operators_that_do_not_conserve():
    one = r"does not conserve 'Sz': the term that takes basis state 1 to 0 on site 5 adds 2"
    with pytest.raises(ArgumentError, match=one):
        ground_state(qad.mps.ising(6, 1.0), 8, "dmrg2", conserve="Sz")
    two = OpSum(4).add(1.0, "Z", 3).add(1.0, "Sx", 0, "Sx", 2)
    with pytest.raises(ArgumentError, match=r"the term Sx\(0\) Sx\(2\) does not conserve 'Sz'"):
        ground_state(two, 8, "dmrg2", conserve="Sz")
    with pytest.raises(ArgumentError, match="state 1 to 0 on site 0 and 1 to 0 on site 2 adds 4"):
        ground_state(two.mpo(), 8, "dmrg2", conserve="Sz")
    with pytest.raises(ArgumentError, match="norm 0"):
        ground_state(qad.mps.heisenberg(4), 8, "dmrg2", start=0.0 * MPS.product([0, 1] * 2, conserve="Sz"))
    arrays = qad.mps.MPO(list(qad.mps.hubbard(4, 1.0, 4.0)))
    with pytest.raises(ArgumentError, match="does not say what stands on its sites"):
        ground_state(arrays, 8, "dmrg2", conserve="N", sector=4)


def kitaev(n, t, gap, mu):
    """The Kitaev chain as an operator, and the matrix whose singular values are its quasiparticles."""
    total, matrix = OpSum(n, "fermion"), -mu * np.eye(n)
    for i in range(n):
        total.add(-mu, "N", i)
        for j in [i + 1] * (i + 1 < n):
            for c, one, two in ((-t, "Cdag", "C"), (gap, "Cdag", "Cdag")):
                total.add(c, one, i, two, j)
                total.add(c, "C" if two == "Cdag" else "Cdag", j, "C", i)
            matrix[i, j] = -t + gap  # A + B of H = c* A c + (c* B c* + h.c.) / 2, A symmetric, B antisymmetric
            matrix[j, i] = -t - gap
    return total.mpo(conserve="parity"), matrix


@pytest.mark.parametrize("mu", [0.8, 2.6], ids=["topological", "trivial"])
@pytest.mark.parametrize("parity", [0, 1])
@pytest.mark.sampled(1)
def test_kitaev_chain_against_free_fermions(mu, parity):
    """The vacuum of Bogoliubov's quasiparticles is even where det(A + B) > 0; the other parity has the lowest one."""
    H, matrix = kitaev(14, 1.0, 0.7, mu)
    modes = np.linalg.svd(matrix, compute_uv=False)
    exact = (np.trace(matrix) - modes.sum()) / 2
    if parity != (np.linalg.det(matrix) < 0):
        exact += modes.min()
    found = ground_state(H, 24, "dmrg2", conserve="parity", sector=parity)
    assert found.energy == pytest.approx(exact, abs=1e-9)
    assert found.state.sector == parity
