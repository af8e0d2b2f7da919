"""Measurements of chains, values and slopes, beside dense states."""

import numpy as np
import pytest

import qad
from qad import mps
from tests.fuzz.physics import contracted, information, unit
from tests.physics import exact, free

N = 6
BASE, OTHER = (mps.MPS.random(N, 5, seed=seed).tensors for seed in (1, 2))
SPINS = ["spin-1/2"] * N


def chain(x):
    """A chain that moves with x."""
    return mps.MPS([a + x * b for a, b in zip(BASE, OTHER, strict=True)])


def dense(x):
    """The same, contracted here."""
    return contracted([a + x * b for a, b in zip(BASE, OTHER, strict=True)])


def op(*factors):
    """On all sites."""
    return exact.product(SPINS, *factors)


def negativity(psi, one, other):
    """From the partial transpose of a density matrix."""
    d = 2 ** len(one)
    rho = exact.reduced(psi, [*one, *other]).reshape(d, -1, d, 2 ** len(other))
    values = np.linalg.eigvalsh(rho.transpose(0, 3, 2, 1).reshape(d * rho.shape[1], -1))
    return (abs(values).sum() - 1) / 2


PAIRS = [[exact.product(["spin-1/2"] * N, "Sz", i, "Sz", k) for k in range(N)] for i in range(N)]


def factor(psi, q):
    """``S(q)`` of Sz."""
    table = [[exact.mean(pair, psi) for pair in row] for row in PAIRS]
    wave = np.exp(1j * q * np.arange(N))
    return float((wave @ np.array(table) @ wave.conj()).real / N)


H = exact.dense(SPINS, exact.exchange(exact.row(N)))
HEISENBERG = mps.heisenberg(N)
SP, Y = exact.KINDS["spin-1/2"]["Sp"], exact.KINDS["spin-1/2"]["Y"]
MEASURES = {
    "energy": (lambda p: mps.energy(p, HEISENBERG), lambda v: exact.mean(H, v)),
    "expectation": (lambda p: mps.expectation(p, HEISENBERG).real, lambda v: np.vdot(v, H @ v.ravel()).real),
    "variance": (lambda p: mps.variance(p, HEISENBERG), lambda v: exact.mean(H @ H, v) - exact.mean(H, v) ** 2),
    "norm": (mps.norm, np.linalg.norm),
    "norm2": (mps.norm2, lambda v: np.linalg.norm(v) ** 2),
    "log_norm2": (mps.log_norm2, lambda v: 2 * np.log(np.linalg.norm(v))),
    "overlap": (lambda p: mps.overlap(mps.MPS(BASE), p).real, lambda v: np.vdot(dense(0.0), v).real),
    "local": (lambda p: mps.local_expectations(p, "X")[2].real, lambda v: exact.mean(op("X", 2), v)),
    "measure": (lambda p: mps.measure(p, "Z", 3).real, lambda v: exact.mean(op("Z", 3), v)),
    "matrix": (lambda p: mps.measure(p, np.kron(SP, Y), (1, 4)).real, lambda v: exact.mean(op("Sp", 1, "Y", 4), v)),
    "correlation": (lambda p: mps.correlations(p, "Sp", "Sm")[1, 4].real,
                    lambda v: exact.mean(op("Sp", 1, "Sm", 4), v)),
    "structure": (lambda p: mps.structure_factor(p, "Sz", "Sz", [2.0])[0].real, lambda v: factor(v, 2.0)),
    "multipoint": (lambda p: mps.multipoint(p, ("X", "Y", "Z"), [0, 3, 5]).real,
                   lambda v: exact.mean(op("X", 0, "Y", 3, "Z", 5), v)),
    "density": (lambda p: mps.reduced_density(p, [1, 4])[0, 0].real,
                lambda v: exact.reduced(unit(v), [1, 4])[0, 0].real),
    "entropy": (lambda p: mps.entanglement_entropy(p, 2), lambda v: exact.entropy(exact.schmidt(unit(v), 2) ** 2)),
    "schmidt": (lambda p: mps.schmidt_values(p, 2)[0], lambda v: exact.schmidt(unit(v), 2)[0]),
    "spectrum": (lambda p: mps.entanglement_spectrum(p, 2)[0], lambda v: -2 * np.log(exact.schmidt(unit(v), 2)[0])),
    "information": (lambda p: mps.mutual_information(p, 1, 4), lambda v: information(unit(v), 1, 4)),
    "negativity": (lambda p: mps.negativity(p, [0, 1], [2, 3]), lambda v: negativity(unit(v), [0, 1], [2, 3])),
    "apply": (lambda p: mps.apply(p, exact.KINDS["spin-1/2"]["Sp"], 3).measure("X", 2).real,
              lambda v: exact.mean(op("X", 2), op("Sp", 3) @ v.ravel())),
    "swap": (lambda p: mps.swap(p, 1, 4).measure("X", 1).real, lambda v: exact.mean(op("X", 4), v)),
}  # fmt: skip


@pytest.mark.parametrize("name", MEASURES)
def test_measures_and_their_slopes(name):
    ours, wanted = MEASURES[name]
    assert ours(chain(0.3)) == pytest.approx(wanted(dense(0.3)), rel=1e-10, abs=1e-11)
    slope = exact.difference(lambda x: wanted(dense(x)), 0.3)
    assert qad.grad(lambda x: ours(chain(x)))(0.3) == pytest.approx(slope, rel=1e-7, abs=1e-8)


def test_transfer_operators():
    ring = mps.MPS.random(4, 3, periodic=True, seed=0)
    matrix = mps.transfer(ring).to_dense()
    assert np.trace(matrix).real == pytest.approx(np.linalg.norm(ring.to_dense()) ** 2, rel=1e-10)


def test_entropy_of_free_fermions():
    found = mps.ground_state(exact.opsum(["fermion"] * 14, exact.hopping(exact.row(14), 1.0)), 64)
    for cut in (4, 7):
        wanted = free.half_filled_entropy(free.hops(14), 7, cut)
        assert mps.entanglement_entropy(found.state, cut) == pytest.approx(wanted, abs=1e-6)


def test_momentum_distribution_of_fermions():
    found = mps.ground_state(exact.opsum(["fermion"] * 8, exact.hopping(exact.row(8), 1.0)))
    _, modes = np.linalg.eigh(free.hops(8))
    table = mps.correlations(found.state, "Cdag", "C", kind="fermion")
    assert np.real(table) == pytest.approx(modes[:, :4] @ modes[:, :4].T, abs=1e-6)


def test_pairs_of_free_electrons():
    """Each spin fills two modes of hops G: singlets on (i, j) and (k, l) have ``G_ik G_jl + G_il G_jk``."""
    found = mps.ground_state(mps.hubbard(4, 1.0, 0.0), 16, conserve=("N", "Sz"), sector=(4, 0))
    _, modes = np.linalg.eigh(free.hops(4))
    G, bonds = modes[:, :2] @ modes[:, :2].T, [(0, 1), (1, 3), (2, 2)]
    wanted = [[G[i, k] * G[j, m] + G[i, m] * G[j, k] for k, m in bonds] for i, j in bonds]
    assert np.real(mps.pair_correlations(found.state, bonds)) == pytest.approx(np.array(wanted), abs=1e-6)


def test_kinds_of_sites():
    assert mps.site("spin-1").operators["Sz"].real.diagonal() == pytest.approx([1.0, 0.0, -1.0])
