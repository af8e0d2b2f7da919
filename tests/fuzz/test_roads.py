"""Random programs on the quick and on the plain roads; see `tests.fuzz.roads`."""

import numpy as np
import pytest

from tests.fuzz.roads import check


@pytest.mark.parametrize("seeds", [range(16), pytest.param(range(16, 400), marks=pytest.mark.slow)])
@pytest.mark.filterwarnings("ignore")
def test_random_programs_do_not_depend_on_the_road(seeds):
    with np.errstate(all="ignore"):
        problems = {seed: found for seed in seeds if (found := check(seed))}
    assert not problems
