"""Pictures of networks: every tensor, every leg and every bond with its dimension."""

import re

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError
from qad.mps import MPS

SHAPES = {"disc": "<circle", "box": "rx="}


def words(picture):
    return re.findall(r"<text[^>]*>([^<]*)<", picture.svg)


def bonds_of_plane(state):
    return [state[i, k].shape[leg] for i in range(state.shape[0]) for k in range(state.shape[1]) for leg in (3, 4)]


@pytest.mark.parametrize(
    "make, tensors, numbers",
    [
        (lambda: MPS.random(6, 4), 6, [2, 4, 4, 4, 2] + 6 * [2]),
        (lambda: MPS.random(1, 1), 1, [2]),
        (lambda: qad.mps.heisenberg(4), 4, 3 * [5] + 8 * [2]),
        (lambda: MPS.uniform([np.ones((3, 2, 3))], 4), 4, 4 * [3] + 4 * [2]),
        (lambda: qad.mps.uniform.UniformMPS.random(5, cell=2), 2, 3 * [5] + 2 * [2]),
        (lambda: MPS.random(4, 6, conserve="Sz", sector=0), 4, [2, 4, 2] + 4 * [2]),
    ],
    ids=["open", "one site", "operator", "ring", "infinite", "symmetric"],
)
def test_chains(make, tensors, numbers):
    picture = qad.viz.network(make())
    assert sorted(map(int, words(picture))) == sorted(numbers)
    assert picture.svg.count("<circle") + picture.svg.count('rx="3"') == tensors


def test_long_chains_leave_out_their_middle():
    picture = qad.draw(MPS.random(100, 8))
    assert picture.svg.count("<circle") == 12
    assert words(picture).count("· · ·") == 1
    assert picture.alt == repr(MPS.random(100, 8))


def test_planes():
    state = qad.peps.finite.FinitePEPS.random(2, 3, bond=3)
    picture = qad.draw(state)
    assert sorted(int(w) for w in words(picture) if w) == sorted(b for b in bonds_of_plane(state) if b > 1)
    assert picture.svg.count("<circle") == 6
    ring = qad.draw(qad.peps.finite.FinitePEPS.random(2, 3, bond=3, cylinder=True))
    assert ring.svg.count("stroke-dasharray") == 4
    cell = qad.draw(qad.peps.PEPS.random(2, ["AB", "BA"]))
    assert [w for w in words(cell) if w.isalpha()] == ["A", "B", "B", "A"]
    assert cell.svg.count("stroke-dasharray") == 8


def test_what_is_no_network():
    with pytest.raises(ArgumentError, match="no network can be drawn of int"):
        qad.viz.network(3)
