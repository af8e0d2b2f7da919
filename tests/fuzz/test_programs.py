"""Random programs against differences, and every transform against every other; see `tests.fuzz.transforms`.

Hypothesis chooses the programs, and shrinks one that fails to the shortest of its kind.
"""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz import work_arrays
from tests.fuzz.transforms import check

PROGRAMS = {"seed": st.integers(0, 2**32 - 1), "length": st.integers(0, 20).map(lambda k: 20 - k)}
ALWAYS = {"derandomize": True, "deadline": None, "database": None, "suppress_health_check": list(HealthCheck)}


@settings(max_examples=20, **ALWAYS)
@given(**PROGRAMS)
def test_random_programs(seed, length):
    with np.errstate(all="ignore"):
        assert not check(seed, length)


NOISE = {  # what no derivative can be right about
    4845,  # takes the sign of a number that is zero up to rounding, 1e-36
    5296,  # the maximum of two numbers that were scaled to the same size: single precision breaks the tie
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
def test_thousands_of_random_programs():
    with np.errstate(all="ignore"):
        problems = {seed: found for seed in range(1000, 11000) if seed not in NOISE and (found := check(seed))}
    assert not problems


@pytest.mark.parametrize("first", range(0, 11000, 20))
@pytest.mark.sampled(1)
def test_random_programs_that_reuse_work_arrays(first):
    assert not {seed: found for seed in range(first, first + 20) if (found := work_arrays.check(seed))}
