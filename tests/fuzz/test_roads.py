"""Random programs on the quick and on the plain roads; see `tests.fuzz.roads`."""

import numpy as np
import pytest

from tests.fuzz.roads import check


@pytest.mark.filterwarnings("ignore")
def test_random_programs_do_not_depend_on_the_road():
    with np.errstate(all="ignore"):
        problems = {seed: found for seed in range(120) if (found := check(seed))}
    assert not problems
