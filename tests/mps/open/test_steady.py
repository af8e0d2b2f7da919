"""Steady states, beside null vectors of dense superoperators and closed forms of free fermions."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, GradientTypeError, ShapeError
from qad.mps import MPS, OpSum, density_measure, density_trace, lindblad, steady_state
from tests.mps.open.test_generator import driven, flow, in_pairs, profile, superoperator
from tests.physics import exact


def model(n, conserving=False):
    """An XXZ chain with fields, and jumps on one site and on two; the dense density matrix that they leave."""
    spins = ["spin-1/2"] * n
    terms = [*exact.exchange(exact.row(n), 1.0, 0.6), *[(0.2 * i, "Sz", i) for i in range(n)]]
    pair = [(0.6, "Sm", 0, "Sp", 1)] if conserving else [(0.3 + 0.2j, "Sm", 0, "Sz", 1), (0.4, "Sx", 1)]
    single = [(0.5, "Sp", 0), (0.7, "Sm", n - 1), (0.2, "Sz", n - 1)]
    lost = [np.sqrt(rate) * exact.placed(spins, name, site).toarray() for rate, name, site in single]
    total = superoperator(exact.dense(spins, terms).toarray(), [*lost, exact.dense(spins, pair).toarray()])
    total[0] = np.eye(2**n).ravel()  # of the equations one is not needed; the trace is 1
    rho = np.linalg.solve(total, np.eye(4**n)[0]).reshape(2**n, 2**n)
    sums = exact.opsum(spins, terms)
    return sums, lindblad(sums, [*single, exact.opsum(spins, pair)], "Sz" if conserving else None), rho


@pytest.mark.parametrize("conserve", [None, "Sz"])
@pytest.mark.parametrize("n", [2, 3, 4])
def test_steady_states_are_null_vectors(n, conserve):
    H, G, rho = model(n, conserve is not None)
    found = steady_state(G, 16, conserve=conserve)
    assert (found.converged, found.method, found.state.conserved is None) == (True, "auto", conserve is None)
    np.testing.assert_allclose(found.state.to_dense(), in_pairs(rho.ravel(), n), atol=1e-7)
    assert found.residual == found.history[-1] <= 1e-8 < found.history[0]
    assert density_trace(found.state) == pytest.approx(1.0, abs=1e-12)
    energy = density_measure(found.state, H)  # of a Hermitian operator: real
    assert energy == pytest.approx(np.trace(rho @ H.mpo().to_dense()), abs=1e-7)
    assert abs(energy.imag) < 1e-7


def test_every_method_and_an_operator_find_the_same():
    _, G, rho = model(2)
    wanted = in_pairs(rho.ravel(), 2)
    slow = steady_state(G, 16, "evolution", tol=1e-6)
    assert (slow.converged, slow.method) == (True, "evolution")
    np.testing.assert_allclose(slow.state.to_dense(), wanted, atol=1e-5)
    near = steady_state(G.mpo(), 16, "variational", start=slow.state)
    np.testing.assert_allclose(near.state.to_dense(), wanted, atol=1e-7)
    assert near.history[0] == pytest.approx(slow.residual, rel=1e-6)


def test_fermions_and_jumps_beyond_neighbours():
    """Two levels far apart, filled and emptied: a flow through all three sites."""
    kinds, terms = ["fermion"] * 3, exact.hopping(exact.row(3), 1.0)
    jumps = [(0.7, "Cdag", 0), (0.4, "C", 2)]
    lost = [np.sqrt(rate) * exact.placed(kinds, name, site).toarray() for rate, name, site in jumps]
    total = superoperator(exact.dense(kinds, terms).toarray(), lost)
    total[0] = np.eye(8).ravel()
    rho = np.linalg.solve(total, np.eye(64)[0]).reshape(8, 8)
    found = steady_state(lindblad(exact.opsum(kinds, terms), jumps, conserve="N"), 16, conserve="N")
    wanted = [np.trace(exact.placed(kinds, "N", i).toarray() @ rho) for i in range(3)]
    assert density_measure(found.state, "N") == pytest.approx(np.array(wanted), abs=1e-7)


def test_one_site_and_units():
    """A spin turned up at rate a and down at rate b is up with a / (a + b); a unit of time changes nothing."""
    for unit in (1.0, 1e-9):
        G = lindblad(OpSum(1), [(0.3 * unit, "Sp", 0), (0.1 * unit, "Sm", 0)])
        found = steady_state(G, 2)
        assert density_measure(found.state, "Sz") == pytest.approx(np.array([0.25]), abs=1e-8)
        assert found.converged
        assert found.residual <= 1e-8 * unit


@pytest.mark.parametrize("n, rate", [(5, 0.7), pytest.param(20, 1.0, marks=pytest.mark.slow)])
def test_driven_chains_reach_their_closed_form(n, rate):
    """The steady state of the XX chain is a chain of bond 4: M. Znidaric, J. Phys. A 43, 415004 (2010)."""
    found = steady_state(driven(n, rate, "Sz")[1], 8, conserve="Sz", tol=1e-7)
    profiled, current = profile(n, rate)
    assert found.converged
    assert density_measure(found.state, "Sz") == pytest.approx(profiled, abs=1e-6)
    for i in (0, n // 2):
        measured = density_measure(found.state, exact.opsum(["spin-1/2"] * n, flow(n, i)))
        assert measured == pytest.approx(current, abs=1e-6)
    small, error = found.state.normalized().truncate(4)
    assert error < 1e-6
    assert density_measure(small, "Sz") == pytest.approx(profiled, abs=1e-5)


def test_small_bonds_tell_what_they_leave():
    G = model(3)[1]
    found = steady_state(G, 3)
    assert not found.converged
    assert "bond 3 leaves a residual" in found.message
    assert found.message.endswith("give a larger one")
    assert 1e-3 < found.residual < 0.3 * found.history[0]
    limited = steady_state(G, 16, maxiter=1)
    assert (len(limited.history), limited.message) == (2, "stopped at maxiter iterations")
    seen = []
    steady_state(G, 16, callback=lambda state, residual: seen.append(residual), maxiter=2)
    assert len(seen) == 2


def test_sweeps_that_stall_at_the_full_bond_ask_for_no_larger_one():
    """Two spins need no more than bond 4, and no residual is below 1e-18."""
    found = steady_state(model(2)[1], 4, tol=1e-18)
    assert not found.converged
    assert found.message.startswith("not converged: bond 4 leaves a residual of")
    assert "larger" not in found.message
    assert found.residual < 1e-8


SUM = exact.opsum(["spin-1/2"] * 3, exact.exchange(exact.row(3), 1.0))
RHO = MPS.product([np.eye(2).ravel()] * 3, kind="density of spin-1/2")
DRIVEN = driven(3, 1.0)[1]
REFUSED = {
    "a Hamiltonian": (lambda: steady_state(SUM), "whose sites are pairs"),
    "losses alone": (
        lambda: steady_state(lindblad(SUM, []) + OpSum(3, RHO.sites).add(-0.1j, "Sz ket", 0)),
        "loses norm",
    ),
    "gains": (lambda: steady_state(DRIVEN + OpSum(3, RHO.sites).add(0.1j, "Id", 0)), "gains or loses norm"),
    "a jump that breaks": (lambda: steady_state(lindblad(SUM, [(1.0, "Sx", 1)]), conserve="Sz"), "not conserve 'Sz'"),
    "an unknown method": (lambda: steady_state(DRIVEN, method="dmrg"), "'variational'"),
    "no tolerance": (lambda: steady_state(DRIVEN, tol=0.0), "tol must be positive"),
    "a state": (lambda: steady_state(DRIVEN, start=MPS.product([0, 1, 0])), "a density matrix is needed"),
    "another length": (lambda: steady_state(DRIVEN, start=MPS.product([0] * 4, kind="density of spin-1/2")), "4 sites"),
    "a sector without trace": (
        lambda: steady_state(
            lindblad(OpSum(1), [(1.0, "Sz", 0)]), start=MPS([np.array([0, 1.0, 0, 0])[None, :, None]])
        ),
        "no density matrix",
    ),
    "a derivative": (
        lambda: qad.grad(lambda x: steady_state(lindblad(SUM, [(x, "Sm", 0)])).residual)(1.0),
        "plain numbers",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_says_what_to_write(name):
    call, words = REFUSED[name]
    with pytest.raises((ArgumentError, GradientTypeError, ShapeError)) as caught:
        call()
    assert words in str(caught.value)
