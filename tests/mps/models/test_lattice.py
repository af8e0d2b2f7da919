"""Ladders and cylinders: neighbours by their distance, the order of sites, drawings; models on them."""

import re

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError
from qad.mps import Lattice


@pytest.mark.parametrize(
    "lattice, first, second",
    [
        (Lattice.chain(5), 4, 3),
        (Lattice.chain(5, periodic=True), 5, 5),
        (Lattice.ladder(4), 4 + 2 * 3, 2 * 3),
        (Lattice.ladder(3, legs=3, periodic=True), 6 + 9, 4 * 3),
        (Lattice.cylinder(3, 4), 12 + 8, 2 * 8),
        (Lattice(3, 3, along=True, around=True), 18, 18),
    ],
    ids=str,
)
def test_pairs_are_counted(lattice, first, second):
    assert len(lattice.pairs()) == first
    assert len(lattice.pairs(2)) == second
    whole = [pair for shell in range(1, len(lattice.shells) + 1) for pair in lattice.pairs(shell)]
    n = len(lattice)
    assert sorted(whole) == [(i, j) for i in range(n) for j in range(i + 1, n)]


def test_places():
    lattice = Lattice.cylinder(4, 3)
    assert [lattice.site(*lattice.position(i)) for i in range(12)] == list(range(12))
    assert lattice.site(1, -1) == lattice.site(1, 2) == 5
    assert lattice == Lattice(4, 3, around=True) != Lattice(4, 3)
    assert hash(lattice) == hash(Lattice.cylinder(4, 3))


def test_a_chain_is_a_chain():
    for periodic in (False, True):
        H = qad.mps.j1j2(Lattice.chain(6, periodic), 1.0, 0.3).to_dense()
        np.testing.assert_allclose(H, qad.mps.j1j2(6, 1.0, 0.3, periodic).to_dense(), atol=1e-14)


def test_a_cylinder_is_the_sum_of_its_bonds():
    lattice, coupling = Lattice.cylinder(2, 3), np.random.default_rng(0).normal(size=9)
    expected = sum(c * (heisenberg_pair(6, i, j)) for c, (i, j) in zip(coupling, lattice.pairs(), strict=True))
    expected = expected + 0.5 * sum(heisenberg_pair(6, i, j) for i, j in lattice.pairs(2))
    np.testing.assert_allclose(qad.mps.j1j2(lattice, coupling, 0.5).to_dense(), expected, atol=1e-13)
    np.testing.assert_allclose(
        qad.mps.heisenberg(lattice).to_dense(), sum(heisenberg_pair(6, i, j) for i, j in lattice.pairs()), atol=1e-13
    )


def heisenberg_pair(n, i, j):
    """``S_i . S_j``, half of the exchange of both sites less a quarter."""
    exchange = np.eye(2**n).reshape((2,) * (2 * n)).swapaxes(i, j).reshape(2**n, 2**n)
    return exchange / 2 - np.eye(2**n) / 4


def test_drawing():
    shown = Lattice.cylinder(3, 4).draw(shells=2).svg
    assert re.findall(r"<text[^>]*>([^<]*)<", shown) == [str(i) for i in range(12)]
    assert shown.count("<circle") == 12
    stubs = shown.count("stroke-dasharray")
    assert stubs == 2 * (3 + 2 * 2)  # of 3 bonds around, and 4 diagonals
    assert shown.count("<path") == 1 + 20 + 16 + stubs // 2  # the path, the bonds, and a second stub of some
    figure = pytest.importorskip("matplotlib.figure").Figure()
    Lattice.ladder(2).draw(ax=figure.add_subplot())
    assert [text.get_text() for text in figure.axes[0].texts] == ["0", "1", "2", "3"]


@pytest.mark.parametrize(
    "wrong, match",
    [
        (lambda: Lattice.cylinder(4, 2), "at least 3"),
        (lambda: Lattice.ladder(0), "length"),
        (lambda: Lattice.ladder(3).pairs(9), "no neighbours of shell 9"),
        (lambda: Lattice.ladder(3).bonds("diagonal"), "'nearest', 'next_nearest' or a number"),
        (lambda: qad.mps.uniform.UniformOpSum(Lattice.ladder(3)), "cell must be a whole number"),
        (lambda: Lattice.ladder(3).site(3, 0), r"no site at \(3, 0\)"),
        (lambda: Lattice.ladder(3).position(6), "0 to 5"),
        (lambda: qad.mps.heisenberg(Lattice.ladder(3), periodic=True), "leave out periodic"),
    ],
    ids=["cylinder", "length", "shell", "name", "cell", "site", "position", "periodic"],
)
def test_bad_input(wrong, match):
    with pytest.raises(ArgumentError, match=match):
        wrong()


def test_bonds_that_close_go_on_as_on_a_ring():
    ring, dm = Lattice.chain(4, periodic=True), (0.1, 0.2, 0.6)
    pairing = [qad.mps.kitaev_chain(n, 1.0, 0.7, 0.3, **kw) for n, kw in ((4, {"periodic": True}), (ring, {}))]
    np.testing.assert_allclose(pairing[0].to_dense(), pairing[1].to_dense(), atol=1e-15)
    spins = [qad.mps.xyz(n, 1.0, 1.0, 1.0, dm=dm, **kw) for n, kw in ((4, {"periodic": True}), (ring, {}))]
    np.testing.assert_allclose(spins[0].to_dense(), spins[1].to_dense(), atol=1e-15)
    lattice = Lattice.cylinder(2, 3)
    assert lattice.bonds() == [(0, 1), (2, 0), (0, 3), (1, 2), (1, 4), (2, 5), (3, 4), (5, 3), (4, 5)]
    assert [tuple(sorted(bond)) for bond in lattice.bonds()] == lattice.pairs()


def test_bonds_of_farther_shells_go_on_by_the_shortest_way():
    assert Lattice.cylinder(2, 3).bonds("next_nearest") == [(0, 4), (0, 5), (1, 3), (1, 5), (2, 3), (2, 4)]
    torus = Lattice(3, 3, along=True, around=True)
    assert {(0, 4), (0, 5), (7, 0), (8, 0), (3, 7), (5, 6)} <= set(torus.bonds(2))
    steps = {(x, y) for i, j in torus.bonds("next_nearest") for x, y in [np.subtract(divmod(j, 3), divmod(i, 3)) % 3]}
    assert steps == {(1, 1), (1, 2)}  # one column on, one site up or down
    assert Lattice.ladder(3).bonds("nearest") == Lattice.ladder(3).bonds(1) == Lattice.ladder(3).pairs("nearest")


def test_sums_on_a_lattice():
    lattice = Lattice.cylinder(2, 3)
    total = qad.mps.OpSum(lattice)
    for i, j in total.lattice.bonds("nearest"):
        for name in ("Sx", "Sy", "Sz"):
            total += 1.0, name, i, name, j
    for i, j in lattice.bonds("next_nearest"):
        for name in ("Sx", "Sy", "Sz"):
            total.add(0.5, name, i, name, j)
    np.testing.assert_allclose(total.mpo().to_dense(), qad.mps.j1j2(lattice, 1.0, 0.5).to_dense(), atol=1e-14)
    assert (2.0 * total + total.dagger()).lattice is lattice
    assert qad.mps.OpSum(6).lattice is None
