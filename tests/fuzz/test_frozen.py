"""Random functions with captured state, frozen, against themselves; see `tests.fuzz.frozen`."""

import pytest

from tests.fuzz import frozen


def problems(seeds):
    """What is wrong, by seed; and that hardly anything was refused."""
    before = frozen.REFUSALS["count"]
    found = {seed: wrong for seed in seeds if (wrong := frozen.check(seed))}
    assert frozen.REFUSALS["count"] - before <= frozen.ALLOWED * len(seeds)
    return found


def test_random_functions_with_captured_state():
    assert not problems(range(40))


@pytest.mark.slow
def test_thousands_of_random_functions_with_captured_state():
    assert not problems(range(1000, 11000))
