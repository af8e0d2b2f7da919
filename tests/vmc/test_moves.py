"""Moves: Markov chains that accept all of them, but for the ratio of proposals, are uniform over the space."""

import numpy as np
import pytest

import qad
from qad.vmc import Bosons, Electrons, Fermions, Spins, exchanges
from qad.vmc.moves import move

WALKS = {
    "flips": (Spins(4), None),
    "flips of spins 1": (Spins(3, spin=1), None),
    "flips of electrons": (Electrons(2), None),
    "exchanges": (Spins(6, total=0), None),
    "exchanges of neighbours": (Spins(5, total=1), exchanges([(0, 1), (1, 2), (2, 3), (3, 4)])),
    "exchanges of fermions": (Fermions(5, total=2), None),
    "exchanges of t-J": (Electrons(4, up=1, down=2, double=False), None),
    "hops of spins 1": (Spins(4, spin=1, total=0), None),
    "hops of bosons": (Bosons(4, most=3, total=4), None),
    "hops of electrons": (Electrons(4, up=2, down=1), None),
    "hops of fermions": (Fermions(5, total=2), "hops"),
    "hops without totals": (Electrons(3, up=0, down=3), "hops"),
}


@pytest.mark.parametrize("name", WALKS)
def test_walks_are_uniform(name):
    space, given = WALKS[name]
    rng, propose = np.random.default_rng(5), move(space, given)
    rows = np.repeat(space.states()[:1], 100 * space.size, 0)  # all chains begin in one configuration
    for _ in range(60 if given is None else 150):
        found = propose(rows, rng)
        proposed, ratio = found if isinstance(found, tuple) else (found, np.zeros(len(rows)))
        assert proposed.dtype == rows.dtype
        accept = (np.log(rng.random(len(rows))) < ratio) & (rng.random(len(rows)) < 0.7)  # mix odd and even steps
        rows = np.where(accept[:, None], space.check(proposed), rows)
    counts = np.bincount(space.numbers(rows), minlength=space.size)
    chi2 = ((counts - 100) ** 2 / 100).sum()
    assert abs(chi2 - (space.size - 1)) < 5 * np.sqrt(2 * max(1, space.size - 1))


def test_what_cannot_move_stays():
    rng = np.random.default_rng(0)
    for space, name in [(Spins(3, total=3), "exchanges"), (Fermions(2, total=2), "hops"), (Bosons(1, 3, 2), "hops")]:
        rows = space.random(4, rng)
        found = move(space, name)(rows, rng)
        assert (rows == (found[0] if isinstance(found, tuple) else found)).all()


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: move(Spins(3), "flip"), "'flips', 'exchanges', 'hops', or a function of your own, not 'flip'"),
        (lambda: move(Spins(4, total=0), "flips"), r"flips change what Spins\(4, total=0\) keeps fixed"),
        (lambda: move(Spins(3, total=1), lambda s, rng: -s)(np.array([[1, 1, -1]]), None), r"\[-1, -1, 1\], is not in"),
        (lambda: move(Spins(3), lambda s, rng: s[:1])(np.ones((2, 3), int), None), r"\(2, 3\) proposes as many"),
        (lambda: exchanges([(0, 3)])(np.ones((2, 3), int), np.random.default_rng(0)), "up to 3 do not fit 3 sites"),
        (lambda: exchanges([0, 1]), r"pairs of sites \(pairs, 2\)"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(qad.QadError, match=words):
        call()
