"""Random physics at the defaults, beside dense matrices; see `tests.fuzz.physics`."""

import pytest

from tests.fuzz.physics import SMALL, check


@pytest.mark.parametrize("seeds", [range(14), pytest.param(range(14, 40), marks=pytest.mark.slow)])
@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
def test_random_physics(seeds):
    """Of at most four sites; what fails on larger ones alone is found at night."""
    assert not {seed: found for seed in seeds if (found := check(seed, size=SMALL))}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
def test_two_thousand_programs_of_random_physics():
    assert not {seed: found for seed in range(1000, 3000) if (found := check(seed))}
