"""Random programs of views and writes against NumPy; see `tests.fuzz.views`."""

import numpy as np
import pytest

from tests.fuzz import views

MOST = 0.3  # the share of programs of which something may be refused: views of results that are no buffers


def problems_of(seeds, *looks):
    """What is wrong, by seed, and the share of what was refused."""
    views.REFUSALS.clear()
    with np.errstate(all="ignore"):
        found = {seed: problems for seed in seeds if (problems := views.check(seed, *looks))}
    programs = views.REFUSALS.pop("programs")
    return found, sum(views.REFUSALS.values()) / programs


@pytest.mark.parametrize("seeds, looks", [(range(30), ()), (range(80, 150), ("eager", "constant", "batches"))])
@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
def test_random_programs_of_views_and_writes(seeds, looks):
    """Frozen functions, which take most of the time, of some."""
    found, refused = problems_of(seeds, *looks)
    assert not found
    assert refused <= MOST


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
def test_thousands_of_programs_of_views_and_writes():
    found, refused = problems_of(range(1000, 6000))
    assert not found
    assert refused <= MOST


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
