"""Spaces: how many configurations, which ones, and uniform samples of them."""

from math import comb

import numpy as np
import pytest

import qad
from qad.vmc import Bosons, Electrons, Fermions, Spins

SPACES = {
    "spins": (Spins(5), 2**5),
    "spins of a total": (Spins(7, total=3), comb(7, 2)),
    "spins 1": (Spins(4, spin=1, total=0), 19),  # the central trinomial coefficient of 4
    "spins 3/2": (Spins(3, spin=1.5), 4**3),
    "bosons": (Bosons(3, most=2), 27),
    "bosons of a total": (Bosons(5, most=3, total=3), comb(7, 3)),
    "fermions": (Fermions(4), 16),
    "fermions of a total": (Fermions(8, total=3), comb(8, 3)),
    "electrons": (Electrons(3), 4**3),
    "electrons of totals": (Electrons(5, up=2, down=3), comb(5, 2) * comb(5, 3)),
    "electrons of t-J": (Electrons(5, up=2, down=1, double=False), 5 * comb(4, 2)),
}


@pytest.mark.parametrize("name", SPACES)
def test_spaces_list_themselves(name):
    space, size = SPACES[name]
    states = space.states()
    assert space.size == size
    assert states.shape == (size, space.n)
    assert states.dtype == np.int8
    assert (space.check(states) == states).all()
    assert (space.of_indices(space.indices(states)) == states).all()
    assert (space.numbers(states) == np.arange(size)).all()
    digits = space.indices(states) @ space.kind.phys ** np.arange(space.n)[::-1]
    assert (np.diff(digits) > 0).all()  # all different, in the order of the chain's basis


@pytest.mark.parametrize("name", SPACES)
def test_random_configurations_are_uniform(name):
    space, size = SPACES[name]
    counts = np.bincount(space.numbers(space.random(100 * size, rng=3)), minlength=size)
    chi2 = ((counts - 100) ** 2 / 100).sum()
    assert abs(chi2 - (size - 1)) < 4 * np.sqrt(2 * (size - 1))


def test_sizes_beyond_64_bits():
    space = Spins(200, total=0)
    assert space.size == comb(200, 100)
    rows = space.random(50, rng=0)
    assert not rows.sum(1, dtype=int).any()
    assert abs(rows.mean(0)).max() < 0.7
    assert (Fermions(1100, total=1090).random(5, rng=0).sum(1, dtype=int) == 1090).all()
    with pytest.raises(qad.QadError, match="too many to be numbered"):
        space.numbers(rows)
    with pytest.raises(qad.QadError, match="lists hold at most 1048576"):
        space.states()


def test_names():
    assert [repr(space) for space, _ in SPACES.values()][::2] == [
        "Spins(5)", "Spins(4, spin=1, total=0)", "Bosons(3, most=2)", "Fermions(4)", "Electrons(3)",
        "Electrons(5, up=2, down=1, double=False)",
    ]  # fmt: skip
    assert [Spins(3).moves, Spins(4, total=0).moves, Bosons(4, 2, total=2).moves] == ["flips", "exchanges", "hops"]


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: Spins(4, total=1), r"Spins\(4, total=1\) has no configuration"),
        (lambda: Spins(4, total=6), r"Spins\(4, total=6\) has no configuration"),
        (lambda: Bosons(2, most=2, total=5), "has no configuration"),
        (lambda: Fermions(3, total=-1), "has no configuration"),
        (lambda: Electrons(3, up=2, down=2, double=False), "has no configuration"),
        (lambda: Electrons(3, up=2), "both spins"),
        (lambda: Spins(0), "n must be a whole number of at least 1"),
        (lambda: Spins(3, spin=0.3), "a spin is 1/2"),
        (lambda: Spins(3).check([[1, 0, 1]]), r"configuration 0, \[1, 0, 1\], is not in Spins\(3\)"),
        (lambda: Fermions(2, total=1).check([[1, 0], [1, 1]]), r"configuration 1, \[1, 1\]"),
        (lambda: Fermions(2, total=1).numbers([[1, 1]]), r"configuration 0, \[1, 1\], is not in"),
        (lambda: Spins(3).check([1, 1, 1]), r"shape \(how many, 3\)"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(qad.QadError, match=words):
        call()
