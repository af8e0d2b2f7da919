"""Norms and phases of stacks of corners and edges."""

import numpy as np
import pytest

from qad.peps.infinite.iteration import Around, by_overlap, scaled, unit
from tests.cases import Case

AXES = (1, 2), (1, 2, 3)


def drawn(rng, stack):
    return Around(
        *(rng.standard_normal((*stack, *x)) + 1j * rng.standard_normal((*stack, *x)) for x in ((3, 3), (3, 2, 3)))
    )


PAIRS = zip(drawn(np.random.default_rng(0), (2,)), drawn(np.random.default_rng(1), (2,)), strict=True)
CASES = [Case(lambda x, y=y: by_overlap(x, at=y), x, name="overlap") for x, y in PAIRS]


def test_corners_and_edges_have_norm_one_and_phases_of_the_last_ones():
    rng, stack = np.random.default_rng(0), (4,)
    new, at = drawn(rng, stack), drawn(rng, stack)
    for x, y, z, axes in zip(unit(new, at), new, at, AXES, strict=True):
        np.testing.assert_allclose(np.sum(np.abs(x) ** 2, axes), np.ones(stack))
        overlap = np.sum(z.conj() * x, axes)
        np.testing.assert_allclose(overlap, np.abs(overlap), atol=1e-12)
        np.testing.assert_allclose(np.abs(x), np.abs(y) / np.sqrt(np.sum(np.abs(y) ** 2, axes, keepdims=True)))
    for x, y, axes in zip(unit(new, None), new, AXES, strict=True):
        np.testing.assert_allclose(x, y / np.sqrt(np.sum(np.abs(y) ** 2, axes, keepdims=True)))
    for x, z, axes in zip(scaled(new, at), at, AXES, strict=True):
        np.testing.assert_allclose(np.sum(z.conj() * x, axes), np.ones(stack))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives_of_overlaps_of_one(case):
    case.check()
