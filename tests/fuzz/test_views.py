"""Random programs of views and writes against NumPy; see `tests.fuzz.views`."""

from collections import Counter

import numpy as np
import pytest

from tests.fuzz import views

MOST = 0.3  # the share of programs of which something may be refused: views of results that are no buffers
BLOCK, QUICK = 30, 70


@pytest.fixture(scope="module")
def refused():
    """What the programs of a run were refused; of all of them together that is little."""
    found = Counter()
    yield found
    assert found.total() - found["programs"] <= MOST * found["programs"]


def problems_of(seeds, refused, *looks):
    """What is wrong, by seed."""
    views.REFUSALS.clear()
    with np.errstate(all="ignore"):
        found = {seed: problems for seed in seeds if (problems := views.check(seed, *looks))}
    refused += views.REFUSALS
    return found


@pytest.mark.parametrize("first", range(0, 6000, BLOCK))
@pytest.mark.sampled(1)
@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
def test_random_programs_of_views_and_writes(first, refused):
    assert not problems_of(range(first, first + BLOCK), refused)


@pytest.mark.parametrize("first", range(6000, 13000, QUICK))
@pytest.mark.sampled(1)
@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
def test_random_programs_that_are_not_frozen(first, refused):
    """Frozen functions take most of the time."""
    assert not problems_of(range(first, first + QUICK), refused, "eager", "constant", "batches")


@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
@pytest.mark.parametrize(
    "seed",
    [
        5015583,
        6005422,
        7001200,
        7007367,
        101377,
        9030160,
        20003210,
        30099719,
        40000426,
        40006966,
        40146078,
        50110429,
        80050833,
        80127328,
        80132528,
        96008480,
    ],
)
def test_programs_that_once_failed(seed):
    assert not views.check(seed)


def test_a_frozen_gradient_that_becomes_complex_by_its_entries():
    assert views.check(300809) == []
