"""Infinite states: patterns, legs that meet, symmetries, trees."""

import numpy as np
import pytest

import qad
from qad import peps
from qad.core.errors import ArgumentError, ShapeError
from qad.core.trees import tree_map
from qad.peps.infinite.cells import cell_of
from qad.peps.infinite.symmetry import elements, symmetrised


def test_the_pattern_names_the_tensors():
    state = peps.PEPS.random(2, ["AB", "BA"], 0)
    assert len(state.tensors) == 2
    assert state[0, 0] is state[1, 1] is state[-1, 3] is state.tensors[0]
    assert state[0, 1] is state[1, 0] is state.tensors[1]
    assert (state.rows, state.columns, state.bond, state.phys, state.dtype) == (2, 2, 2, 2, np.dtype(complex))


def test_a_state_is_a_tree_of_its_tensors():
    state = peps.PEPS.random(2, ["AB"], 0, dtype=complex)
    doubled = tree_map(lambda x: 2 * x, state)
    assert isinstance(doubled, peps.PEPS)
    np.testing.assert_array_equal(doubled.tensors[1], 2 * state.tensors[1])
    gradient = qad.grad(lambda s: sum(qad.abs2(x).sum() for x in s.tensors))(state)
    np.testing.assert_allclose(gradient.tensors[0], 2 * state.tensors[0])


@pytest.mark.parametrize(
    "make, error, message",
    [
        (lambda a: peps.PEPS([a], ["AB"]), ArgumentError, "2 tensors|1 tensors|tensors are given"),
        (lambda a: peps.PEPS([a], []), ArgumentError, "a cell is a list of strings"),
        (lambda a: peps.PEPS([a, a], ["AB", "B"]), ArgumentError, "a cell is a list of strings"),
        (lambda a: peps.PEPS([a[0]]), ShapeError, "a site has the legs"),
        (lambda a: peps.PEPS([a, a + 0j], ["AB"]), ArgumentError, "make them all float or complex"),
        (lambda a: peps.PEPS([a.astype(int)]), ArgumentError, "float or complex"),
        (lambda a: peps.PEPS([a * np.nan]), ArgumentError, "not finite"),
        (lambda a: peps.PEPS([a[:, :, :1]]), ShapeError, "the right leg of site"),
        (lambda a: peps.PEPS([a], symmetry="d4"), ArgumentError, "unknown symmetry"),
        (lambda a: peps.PEPS([a, a], ["AB"], "c4v"), ArgumentError, "cells of one letter"),
        (lambda a: peps.PEPS([a[:, :, :1, :, :1]], symmetry="c4v"), ArgumentError, "equal bonds"),
        (lambda a: peps.PEPS.random(2.5), ArgumentError, "positive whole numbers"),
        (lambda a: peps.PEPS.random(2, dtype=int), ArgumentError, "in double precision"),
        (lambda a: peps.PEPS([a.astype(np.float32)]), ArgumentError, "in double precision"),
    ],
)
def test_bad_input(make, error, message):
    with pytest.raises(error, match=message):
        make(np.ones((2, 2, 2, 2, 2)))


@pytest.mark.parametrize("name, size", [("c4v", 8), ("c4", 4), ("c2v", 4)])
@pytest.mark.parametrize("dtype", [float, complex])
def test_the_symmetric_part_is_symmetric(name, size, dtype):
    site = peps.PEPS.random(2, seed=3, dtype=dtype).tensors[0]
    part = symmetrised(site, name)
    group = elements(name)
    assert len(group) == size
    steps = np.array([(-1, 0), (0, -1), (1, 0), (0, 1)])
    for legs, reflects, matrix in group:
        image = part.transpose(0, *(1 + leg for leg in legs))
        np.testing.assert_allclose(image.conj() if reflects and name == "c4v" else image, part, atol=1e-15)
        np.testing.assert_array_equal(steps[list(legs)] @ matrix.T, steps)  # legs and positions turn alike
        assert round(np.linalg.det(matrix)) == (-1 if reflects else 1)
    np.testing.assert_allclose(symmetrised(part, name), part, atol=1e-15)


def test_a_site_without_a_symmetric_part_is_refused():
    site = np.zeros((2, 2, 2, 2, 2))
    site[0, 1, 0, 0, 0], site[0, 0, 0, 1, 0] = 1, -1
    with pytest.raises(ArgumentError, match="no part with the symmetry"):
        symmetrised(site, "c4v")


def test_sites_that_translations_exchange_are_of_one_kind():
    assert cell_of(("AB", "BA")).places == ((0, 1), (1, 0))
    assert cell_of(("AA", "AA")).first == ((0, 0),)
    assert len(cell_of(("AB", "CD")).first) == 4
    assert len(cell_of(("ABC", "CAB", "BCA")).first) == 3
