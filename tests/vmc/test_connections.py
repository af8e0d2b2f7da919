"""Elements of operators between configurations, beside dense matrices over the basis of the chain."""

from itertools import product

import numpy as np
import pytest

import qad
from qad.mps import Lattice, OpSum
from qad.vmc import Bosons, Connections, Electrons, Fermions, Spins


def random_hops(n, kind="fermion", species=("",), seed=0):
    """All hops of particles with random complex amplitudes, long ones included, and their adjoints."""
    rng, total = np.random.default_rng(seed), OpSum(n, kind)
    for i, j, s in product(range(n), range(n), species):
        total.add(rng.normal() + 1j * rng.normal(), "Cdag" + s, i, "C" + s, j)
    return total + total.dagger()


def random_strings(n, count, seed=1):
    rng = np.random.default_rng(seed)
    words = ["".join(rng.choice([*"IXYZ"], n)) for _ in range(count)]
    return qad.PauliSum([(word, rng.normal() + 1j * rng.normal()) for word in words])


def spins_with_electrons():
    H = random_hops(4, "electron", ("up", "dn"))
    for i, j in product(range(4), range(4)):
        H.add(0.3 + i, "Sp", i, "Sm", j).add(0.3 + i, "Sp", j, "Sm", i).add(0.7 * j, "NupNdn", i, "N", j)
    return H + H.dagger()


def plaquettes(n):
    """Ring exchange, and a chirality, which is complex."""
    H = OpSum(n).add(0.7, "Sp", 0, "Sm", 1, "Sp", 2, "Sm", 4).add(0.7, "Sm", 0, "Sp", 1, "Sm", 2, "Sp", 4)
    for a, b, c, sign in [("Sx", "Sy", "Sz", 1), ("Sy", "Sz", "Sx", 1), ("Sz", "Sx", "Sy", 1)]:
        H.add(sign, a, 0, b, 2, c, 3).add(-sign, b, 0, a, 2, c, 3)
    return H


TORUS = Lattice(3, 3, along=True, around=True)
MODELS = {
    "heisenberg": (lambda: qad.mps.heisenberg(7, periodic=True), Spins(7, total=1)),
    "heisenberg, all totals": (lambda: qad.mps.heisenberg(5, h=0.3), Spins(5)),
    "j1j2 on a torus": (lambda: qad.mps.j1j2(TORUS, 1.0, 0.5), Spins(9, total=-1)),
    "ising": (lambda: qad.mps.ising(6, 0.7), Spins(6)),
    "long range": (lambda: qad.mps.long_range_ising(6, 0.4, 0.7), Spins(6)),
    "family": (lambda: OpSum(5).add_exponential(1.0, 0.5, "X", "Z").add(0.3, "Y", 2).add(2.0), Spins(5)),
    "spin 1": (lambda: qad.mps.blbq(4, 0.4), Spins(4, spin=1, total=2)),
    "spin 1, all totals": (lambda: OpSum(3, "spin-1").add(1.0, "Sx", 0, "Sy", 2).add(0.5, "Sx", 1), Spins(3, spin=1)),
    "ring exchange and chirality": (lambda: plaquettes(6), Spins(6, total=0)),
    "bosons": (lambda: qad.mps.bose_hubbard(4, 1.0, 3.0, most=3), Bosons(4, most=3, total=4)),
    "bosons, all totals": (lambda: OpSum(3, "boson-2").add(1j, "B", 0).add(-1j, "Bdag", 0), Bosons(3, most=2)),
    "long hops": (lambda: random_hops(7), Fermions(7, total=3)),
    "ring of fermions": (lambda: OpSum(5, "fermion").add(-1.0, "Cdag", 4, "C", 0), Fermions(5)),
    "pairing": (lambda: qad.mps.kitaev_chain(6, 1.0, 0.3, 0.2), Fermions(6)),
    "hubbard": (lambda: qad.mps.hubbard(5, 1.0, 4.0, periodic=True), Electrons(5, up=2, down=3)),
    "hubbard on a lattice": (lambda: qad.mps.hubbard(Lattice(2, 2), 1.0, 4.0), Electrons(4, up=1, down=2)),
    "t-J": (lambda: qad.mps.tj(Lattice(2, 3, around=True), 1.0, 0.4), Electrons(6, up=2, down=2, double=False)),
    "spins with electrons": (spins_with_electrons, Electrons(4, up=2, down=2)),
    "pauli strings": (lambda: random_strings(6, 60), Spins(6)),
    "jordan-wigner": (
        lambda: qad.circuit.jordan_wigner({f"{i}^ {j}": 1.0 + i + j for i in range(7) for j in range(7)}),
        Spins(7, total=1),
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_elements_are_those_of_the_dense_matrix(name):
    make, space = MODELS[name]
    H = make()
    dense = H.matrix() if isinstance(H, qad.PauliSum) else (H.mpo() if isinstance(H, OpSum) else H).to_dense()
    states = space.states()
    chosen = space.indices(states) @ space.kind.phys ** np.arange(space.n)[::-1]
    expected = dense[np.ix_(chosen, chosen)]
    found = Connections(H, space)
    np.testing.assert_allclose(found.matrix().toarray(), expected, atol=1e-13)
    np.testing.assert_allclose(found.diagonal(states), expected.diagonal(), atol=1e-13)
    assert found.complex == bool(np.abs(expected.imag).max() > 1e-13)


def test_no_element_is_zero_and_no_pair_appears_twice():
    space = Electrons(5, up=2, down=3)
    samples, connected, elements = Connections(random_hops(5, "electron", ("up", "dn")), space).of(space.states())
    assert elements.all()
    assert connected.dtype == np.int8
    pairs = samples * space.size + space.numbers(space.check(connected))
    assert len(np.unique(pairs)) == len(pairs)
    assert (samples != space.numbers(connected)).all()


def test_sums_and_operators_agree():
    H, space = random_hops(6), Fermions(6, total=2)
    difference = Connections(H, space).matrix() - Connections(H.mpo(), space).matrix()
    assert np.abs(difference.toarray()).max() < 1e-13


def test_operators_on_a_ring_of_bonds():
    rng = np.random.default_rng(3)
    ring = qad.mps.MPO([rng.normal(size=(3, 3, 2, 2)) for _ in range(4)])
    np.testing.assert_allclose(Connections(ring, Spins(4)).matrix().toarray(), ring.to_dense(), atol=1e-12)


def test_long_strings_take_no_tables():
    """Forty spins: a string of Paulis is one move, its sign a parity."""
    space = Spins(40)
    H = Connections(qad.PauliSum({"XY" * 20: 2.0, "Z" * 40: 0.5}), space)
    rows = space.random(64, rng=2)
    samples, connected, elements = H.of(rows)
    assert (connected == -rows[samples]).all()
    np.testing.assert_array_equal(H.diagonal(rows), 0.5 * rows.prod(1))  # and <s|Y|-s> is -i s
    np.testing.assert_allclose(elements, 2.0 * (-1j) ** 20 * rows[samples, 1::2].prod(1), atol=1e-13)


@pytest.mark.parametrize(
    "H, space, words",
    [
        (lambda: qad.mps.ising(4, 1.0), Spins(4, total=0), r"the term Sx\(3\) does not conserve 'Sz'"),
        (lambda: OpSum(4).add(1.0, "Sp", 0, "Sm", 1).add(0.5, "Sp", 1, "Sp", 0), Spins(4, total=0), r"Sp\(0\) Sp\(1\)"),
        (lambda: OpSum(3, "fermion").add(1.0, "C", 0, "C", 1), Fermions(3, total=1), r"the term C\(0\) C\(1\)"),
        (lambda: OpSum(3, "electron").add(1.0, "Sp", 2), Electrons(3, up=1, down=1), r"the term Sp\(2\)"),
        (lambda: qad.mps.heisenberg(4), Spins(5), "acts on 4 sites of kind 'spin-1/2', .* has 5"),
        (lambda: qad.mps.heisenberg(4), 4, "a space is Spins, .*, but got 4"),
        (lambda: qad.mps.heisenberg(4), Fermions(4), "of 'fermion'"),
        (lambda: qad.mps.MPO.identity(3), Spins(3, spin=1), "3 sites of kind 'spin-1/2', .* 3 of 'spin-1'"),
        (lambda: np.eye(16), Spins(4), "an OpSum, a PauliSum or an MPO, but got ndarray"),
        (lambda: qad.mps.MPO.from_dense(np.random.default_rng(0).normal(size=(2**8,) * 2)), Spins(8), "products of"),
    ],
)
def test_refusals(H, space, words):
    with pytest.raises(qad.QadError, match=words):
        Connections(H(), space)


def test_recorded_couplings_are_refused():
    with pytest.raises(qad.QadError, match="no derivative by the couplings"):
        qad.grad(lambda j: Connections(qad.mps.heisenberg(4, j=j), Spins(4)).diagonal(np.ones((1, 4)))[0])(1.0)


@pytest.mark.parametrize("ask", ["of", "diagonal"])
def test_configurations_outside_of_the_space_are_refused(ask):
    H = Connections(qad.mps.heisenberg(3), Spins(3, total=1))
    with pytest.raises(qad.QadError, match=r"configuration 1, \[1, 1, 1\], is not in Spins\(3, total=1\)"):
        getattr(H, ask)([[1, 1, -1], [1, 1, 1]])
