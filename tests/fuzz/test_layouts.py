"""Random writes through reshapes, whatever the layout; see `tests.fuzz.layouts`."""

import numpy as np
import pytest

from tests.fuzz import layouts


def wrong(seeds):
    layouts.OUTCOMES.clear()
    with np.errstate(all="ignore"):
        return {seed: problems for seed in seeds if (problems := layouts.check(seed))}


@pytest.mark.filterwarnings("ignore")
def test_writes_through_reshapes():
    assert not wrong(range(200))
    for road in layouts.ROADS:
        most = 0.6 if "vmap" in road else 0.02
        assert layouts.OUTCOMES[road, "answered"] > 50
        assert layouts.OUTCOMES[road, "refused"] < most * sum(n for (r, _), n in layouts.OUTCOMES.items() if r == road)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_thousands_of_writes_through_reshapes():
    assert not wrong(range(1000, 11000))
