"""Lindblad generators and density matrices, beside superoperators of dense matrices and closed forms."""

import numpy as np
import pytest
import scipy.linalg

import qad
from qad.core.errors import ArgumentError, ShapeError
from qad.mps import MPS, OpSum, density, density_measure, density_trace, evolve, lindblad
from tests.physics import exact

SPINS = ["spin-1/2"] * 3
EXCHANGE = exact.exchange(exact.row(3), 1.0, 0.6)
FLIP = np.array([[0, 1j], [0.5, 0.2]])
PAIR = [(0.3 + 0.2j, "Sm", 0, "Sz", 1), (0.1, "Sz", 1)]  # one jump of two sites
JUMPS = [(0.5, "Sm", 0), (0.2, "Sz", 1), exact.opsum(SPINS, PAIR), (0.3, FLIP, 2)]
CONSERVING = [(0.5, "Sm", 0), (0.2, "Sz", 1), (0.3, "Sp", 2)]


def superoperator(h, jumps):
    """``d/dt`` on density matrices written row after row."""
    one = np.eye(len(h))
    total = -1j * (np.kron(h, one) - np.kron(one, h.T))
    for jump in jumps:
        square = jump.conj().T @ jump
        total = total + np.kron(jump, jump.conj()) - (np.kron(square, one) + np.kron(one, square.T)) / 2
    return total


def dense_jumps():
    names = [np.sqrt(rate) * exact.placed(SPINS, name, site).toarray() for rate, name, site in JUMPS[:2]]
    return [*names, exact.dense(SPINS, PAIR).toarray(), np.sqrt(0.3) * np.kron(np.eye(4), FLIP)]


def in_pairs(vector, n):
    """A density matrix row after row, as amplitudes of pairs (ket, bra) site by site."""
    return vector.reshape([2] * (2 * n)).transpose([axis for i in range(n) for axis in (i, n + i)]).reshape([4] * n)


def mean(operator, rho):
    return np.trace(operator @ rho) / np.trace(rho)


@pytest.mark.parametrize("of_mpo", [False, True])
def test_generators_are_superoperators(of_mpo):
    h = exact.dense(SPINS, EXCHANGE).toarray()
    total = superoperator(h, dense_jumps())
    sums = exact.opsum(SPINS, EXCHANGE)
    found = lindblad(sums.mpo() if of_mpo else sums, JUMPS)
    psi = MPS.random(3, 2, seed=3)
    v = psi.to_dense().ravel()
    rho = np.outer(v, v.conj()).ravel()
    np.testing.assert_allclose(density(psi).to_dense(), in_pairs(rho, 3), atol=1e-15)
    wanted = in_pairs(1j * total @ rho, 3)
    operator = found if of_mpo else found.mpo()
    np.testing.assert_allclose((operator @ density(psi)).to_dense(), wanted, atol=1e-14)


@pytest.mark.parametrize("method", ["tebd4", "tdvp2"])
def test_density_matrices_evolve(method):
    h, psi = exact.dense(SPINS, EXCHANGE).toarray(), MPS.random(3, 2, seed=3)
    v = psi.to_dense().ravel()
    rho = (scipy.linalg.expm(0.7 * superoperator(h, dense_jumps())) @ np.outer(v, v.conj()).ravel()).reshape(8, 8)
    sums = exact.opsum(SPINS, EXCHANGE)
    found = evolve(density(psi), lindblad(sums, JUMPS), 0.7, 14, method, hermitian=False)
    assert density_trace(found.state) * np.exp(found.log_norm) == pytest.approx(1.0, abs=1e-7)
    for name in ("Sz", "Sp"):
        wanted = [mean(exact.placed(SPINS, name, i).toarray(), rho) for i in range(3)]
        assert density_measure(found.state, name) == pytest.approx(np.array(wanted), abs=1e-7)
    assert density_measure(found.state, sums) == pytest.approx(mean(h, rho), abs=1e-7)
    assert density_measure(found.state, FLIP, 1) == pytest.approx(
        mean(np.kron(np.kron(np.eye(2), FLIP), np.eye(2)), rho), abs=1e-7
    )


def test_charges_of_the_ket_less_those_of_the_bra():
    G = lindblad(exact.opsum(SPINS, EXCHANGE), CONSERVING, conserve="Sz")
    psi = MPS.random(3, 2, seed=3, conserve="Sz", sector=1)
    rho, plain = density(psi), density(psi.without_symmetry())
    np.testing.assert_allclose(rho.to_dense(), plain.to_dense(), atol=1e-15)
    found, other = (evolve(x, G, 0.5, 5, "tebd4", hermitian=False).state for x in (rho, plain))
    assert (found.sector, found.conserved is None, other.conserved) == (0, False, None)
    assert density_measure(found, "Sz") == pytest.approx(density_measure(other, "Sz"), abs=1e-9)


def test_one_spin_decays_and_rates_have_derivatives():
    rho = MPS.product(["up", "up"], kind="density of spin-1/2")

    def left(rate, time):
        G = lindblad(OpSum(2), [(rate, "Sm", 0)])
        return density_measure(evolve(rho, G, time, 1, "tebd", hermitian=False).state, "Sz", 0).real + 0.5

    assert left(0.4, 3.0) == pytest.approx(np.exp(-1.2), abs=1e-12)
    assert qad.grad(left, argnums=(0, 1))(0.4, 3.0) == pytest.approx((-3 * np.exp(-1.2), -0.4 * np.exp(-1.2)), abs=1e-9)


def test_fermions_carry_their_strings():
    """A particle that is lost behind another one: gates refuse its string, the variational principle takes it."""
    kinds = ["fermion"] * 3
    terms = exact.hopping(exact.row(3), 1.0)
    G = lindblad(exact.opsum(kinds, terms), [(0.7, "C", 2)])
    psi = MPS.product(["full", "full", "empty"], kind="fermion")
    v, lost = psi.to_dense().ravel(), np.sqrt(0.7) * exact.placed(kinds, "C", 2).toarray()
    total = superoperator(exact.dense(kinds, terms).toarray(), [lost])
    rho = (scipy.linalg.expm(total * 0.8) @ np.outer(v, v.conj()).ravel()).reshape(8, 8)
    found = evolve(density(psi), G, 0.8, 16, hermitian=False).state
    wanted = [mean(exact.placed(kinds, "N", i).toarray(), rho) for i in range(3)]
    assert density_measure(found, "N") == pytest.approx(np.array(wanted), abs=1e-4)
    with pytest.raises(ArgumentError, match="beyond neighbours"):
        evolve(density(psi), G, 0.8, 2, "tebd", hermitian=False)


# -- a chain between two baths -----------------------------------------------------------------------------------------


def driven(n, rate, conserve=None):
    """The XX chain whose first spin is turned up and whose last one down."""
    terms = exact.exchange(exact.row(n), 1.0, 0.0)
    return terms, lindblad(exact.opsum(["spin-1/2"] * n, terms), [(rate, "Sp", 0), (rate, "Sm", n - 1)], conserve)


def flow(n, i):
    """What flows from a site to the next one."""
    return [(0.5j, "Sp", i, "Sm", i + 1), (-0.5j, "Sm", i, "Sp", i + 1)]


def profile(n, rate):
    """Of free fermions: the magnetisation is flat between the ends, and the current does not know of the length.

    With ``C_ij = <c_i^+ c_j>`` and hopping t = 1/2, the loss of C_12 at the end is ``rate / 2``, which t times the step
    ``n_1 - n_2 = m`` balances, and ``2 t |C_12| = rate (1/2 - m)`` is what enters.
    """
    m = rate**2 / (1 + rate**2) / 2
    return np.array([m, *[0.0] * (n - 2), -m]), rate / (1 + rate**2) / 2


@pytest.mark.parametrize("n", [4, pytest.param(5, marks=pytest.mark.slow)])
def test_the_closed_form_is_that_of_dense_superoperators(n):
    spins = ["spin-1/2"] * n
    for rate in (0.5, 1.0):
        terms, G = driven(n, rate)
        ends = [np.sqrt(rate) * exact.placed(spins, *end).toarray() for end in (("Sp", 0), ("Sm", n - 1))]
        total = superoperator(exact.dense(spins, terms).toarray(), ends)
        total[0] = np.eye(2**n).ravel()  # of the equations one is not needed; the trace is 1
        rho = np.linalg.solve(total, np.eye(4**n)[0]).reshape(2**n, 2**n)
        profiled, current = profile(n, rate)
        for i in range(n):
            assert mean(exact.placed(spins, "Sz", i).toarray(), rho) == pytest.approx(profiled[i], abs=1e-10)
        for i in range(n - 1):
            assert mean(exact.dense(spins, flow(n, i)).toarray(), rho) == pytest.approx(current, abs=1e-10)
        chain = MPS.from_dense(in_pairs(rho.ravel(), n))
        assert np.abs((G.mpo() @ chain).to_dense()).max() < 1e-10
        assert density_measure(chain, exact.opsum(spins, flow(n, 1))) == pytest.approx(current, abs=1e-10)


@pytest.mark.parametrize("n, time", [(6, 2.0), pytest.param(20, 6.0, marks=pytest.mark.slow)])
def test_long_chains_between_baths_are_free_fermions(n, time):
    """``dC/dt = W C + C W^+ + rate P_1``, W = i h - rate (P_1 + P_n) / 2: strings leave numbers of particles alone."""
    rate, G = 0.7, driven(n, 0.7)[1]
    ends = np.diag([1.0, *[0.0] * (n - 2), 1.0])
    w = 0.5j * (np.eye(n, k=1) + np.eye(n, k=-1)) - rate / 2 * ends
    steady = scipy.linalg.solve_continuous_lyapunov(w, -rate * np.diag(np.eye(n)[0]))
    moved = scipy.linalg.expm(w * time)
    c = steady + moved @ (np.eye(n) / 2 - steady) @ moved.conj().T
    rho = MPS.product([np.eye(2).ravel()] * n, kind="density of spin-1/2")
    found = evolve(rho, G, time, round(5 * time), "tebd4", bond=40, cutoff=1e-11, hermitian=False).state
    assert density_measure(found, "Sz").real == pytest.approx(c.diagonal().real - 0.5, abs=2e-5)
    current = density_measure(found, exact.opsum(["spin-1/2"] * n, flow(n, n // 2)))
    assert abs(current) == pytest.approx(abs(c[n // 2, n // 2 + 1].imag), abs=2e-5)


# -- what is refused ---------------------------------------------------------------------------------------------------

SUM, PSI = exact.opsum(SPINS, EXCHANGE), MPS.product([0, 1, 0])
RHO = density(PSI)


def test_a_trace_that_cuts_have_changed_is_told():
    """A Neel state between baths by a bond of 8 of 64: its means are off by 0.25, and nothing said so."""
    n, word, G = 6, ["up", "down"] * 3, driven(6, 0.5)[1]
    rho = MPS.product(word, kind="density of spin-1/2")
    with pytest.warns(RuntimeWarning, match="the trace of the density matrix went from 1 to 0.49.*larger bond"):
        cut = evolve(rho, G, 3.0, 30, "tebd4", 8, hermitian=False).state
    whole = evolve(rho, G, 3.0, 30, "tebd4", 64, hermitian=False).state  # 4**3: warnings are errors
    assert np.abs(density_measure(cut, "Sz") - density_measure(whole, "Sz")).max() == pytest.approx(0.25, abs=0.02)
    coherence = MPS.product([np.eye(4)[1], *word[1:]], kind="density of spin-1/2")  # |up><down|, of trace 0
    evolve(coherence, G, 3.0, 30, "tebd4", 8, hermitian=False)
    lossy = OpSum(n, "density of spin-1/2").add(-0.1j, "Id", 0)
    assert evolve(rho, lossy, 1.0, 2, hermitian=False).log_norm == pytest.approx(-0.1)


REFUSED = {
    "a jump that breaks": (lambda: lindblad(SUM, [*CONSERVING, (0.1, "Sx", 1)], conserve="Sz"), "jump 3, Sx(1),"),
    "a field that breaks": (
        lambda: lindblad(OpSum(3).add(1.0, "Sx", 0), [], conserve="Sz"),
        "H does not conserve 'Sz'",
    ),
    "a negative rate": (lambda: lindblad(SUM, [(-1.0, "Sz", 0)]), "rates are not negative"),
    "a name alone": (lambda: lindblad(SUM, ["Sz"]), "(rate, operator, site)"),
    "one jump for a list": (lambda: lindblad(SUM, (1.0, "Sz", 0)), "(rate, operator, site)"),
    "a jump elsewhere": (lambda: lindblad(SUM, [(1.0, "Sz", 9)]), "out of range"),
    "a jump of others": (lambda: lindblad(SUM, [OpSum(2)]), "of other sites than H"),
    "losses in H": (lambda: lindblad(1j * SUM, []), "not Hermitian"),
    "no operator": (lambda: lindblad(3, []), "an MPO is needed"),
    "a generator as it is": (lambda: evolve(RHO, lindblad(SUM, JUMPS), 1.0, 2), "hermitian=False"),
    "samples of its squares": (lambda: RHO.sample(2), "trajectories(...).sample()"),
    "a ring": (lambda: density(MPS.random(3, 2, periodic=True)), "psi.opened()"),
    "charges along x": (lambda: density(MPS.product([0, 0], conserve="parity x")), "knows no charges"),
    "means of a state": (lambda: density_measure(PSI, "Sz"), "a density matrix is needed"),
    "a density matrix as a state": (lambda: qad.mps.measure(RHO, "Sz"), "has no operator 'Sz'"),
    "an unknown name": (lambda: density_measure(RHO, "Sq"), "has no operator 'Sq ket'"),
    "a larger matrix": (lambda: density_measure(RHO, np.eye(3)), "does not fit site 0"),
    "a longer operator": (lambda: density_measure(RHO, OpSum(4).add(1.0, "Sz", 0)), "the operator others"),
    "too much was cut off": (
        lambda: density_measure(1.2 * density(MPS.product([0])) - 0.2 * density(MPS.product([1])), "Sz"),
        "probability",
    ),
    "nothing": (lambda: density_measure(0 * RHO, "Sz"), "trace zero"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_says_what_to_write(name):
    call, words = REFUSED[name]
    with pytest.raises((ArgumentError, ShapeError)) as caught:
        call()
    assert words in str(caught.value)


def test_kinds_are_kept_in_files(tmp_path):
    RHO.save(tmp_path / "rho.npz")
    found = MPS.load(tmp_path / "rho.npz")
    assert found.sites == RHO.sites
    assert density_measure(found, "Sz").real == pytest.approx([0.5, -0.5, 0.5])
