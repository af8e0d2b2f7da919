"""Random functions with captured state, frozen, against themselves; see `tests.fuzz.frozen`."""

import pytest

from tests.fuzz import frozen

BLOCK = 20


@pytest.fixture(scope="module")
def drawn():
    """The seeds of a run; of all their functions together hardly any is refused."""
    seeds, before = [], frozen.REFUSALS["count"]
    yield seeds
    assert frozen.REFUSALS["count"] - before <= frozen.ALLOWED * len(seeds)


@pytest.mark.parametrize("first", range(0, 11000, BLOCK))
@pytest.mark.sampled(2)
def test_random_functions_with_captured_state(first, drawn):
    seeds = range(first, first + BLOCK)
    drawn += seeds
    assert not {seed: wrong for seed in seeds if (wrong := frozen.check(seed))}
