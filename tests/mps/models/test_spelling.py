"""One spelling: a model has the same couplings in finite and infinite chains and in two dimensions."""

import inspect

import pytest

from qad import mps, peps

ROOMS = {"infinite chains": mps.uniform, "two dimensions": peps}
SIZES = ("n", "periodic")  # which only finite chains have


def couplings(model):
    parameters = inspect.signature(model).parameters.values()
    return [(p.name, p.kind, p.default) for p in parameters if p.name not in SIZES]


@pytest.mark.parametrize("room", ROOMS)
def test_models_have_the_same_couplings_in_the_same_order(room):
    names = [name for name in ("heisenberg", "xxz", "ising", "j1j2") if hasattr(ROOMS[room], name)]
    assert len(names) == 4
    for name in names:
        assert couplings(getattr(ROOMS[room], name)) == couplings(getattr(mps, name)), name
        named = {parameter: 0.5 for parameter, _, _ in couplings(getattr(mps, name))}
        getattr(ROOMS[room], name)(**named)
        getattr(mps, name)(n=3, **named)
