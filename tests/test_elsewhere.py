"""Names of TeNPy, ITensor, quimb, PennyLane, JAX and torch are answered with ours, and are nowhere else to be seen."""

import importlib
import operator
import re

import numpy as np
import pytest

import qad
from qad import elsewhere, mps

OBJECTS = {  # of the classes that answer
    "MPS": mps.MPS.random(4, 2, seed=0), "MPO": mps.heisenberg(4), "Circuit": qad.Circuit(2),
    "PauliSum": qad.PauliSum({"ZI": 1.0}), "Tensor": qad.tensor([1.0, 2.0]),
}  # fmt: skip
# the letters by which what to write calls objects
LETTERS = {"psi": ("MPS",), "H": ("MPO", "PauliSum"), "c": ("Circuit",), "x": ("Tensor",)}


def asked(place):
    """The module or object of that name."""
    return OBJECTS[place] if place in OBJECTS else importlib.import_module(place)


@pytest.mark.parametrize("place", elsewhere.NAMES)
def test_a_name_of_others_is_answered_with_ours(place):
    for name, ours in elsewhere.ours_of(place).items():
        with pytest.raises(AttributeError) as caught:
            getattr(asked(place), name)
        said = str(caught.value)
        assert f"has no attribute {name!r}" in said and said.endswith(f"write {ours}")
        assert caught.value.name is None or place == "Circuit"  # else Python adds a name that is near
        assert name not in dir(asked(place))


def found(words):
    """Whether all that is written in qad's and NumPy's names is there."""
    modules = {"qad": qad, "np": np}
    for root, path in re.findall(r"(?<![\w.])(\w+)((?:\.[A-Za-z_]\w*)+)", words):
        owners = [modules[root]] if root in modules else [OBJECTS[kind] for kind in LETTERS[root]]
        path = path.partition(".torch")[0]  # a bridge to what may be missing
        for name in path.split(".")[1:]:
            owners = [getattr(owner, name) for owner in owners if hasattr(owner, name)]
        if not owners:
            return False
    return True


@pytest.mark.parametrize("place", elsewhere.NAMES)
def test_what_is_to_be_written_is_there(place):
    assert [words for words in elsewhere.NAMES[place] if not found(words)] == []


@pytest.mark.parametrize("place", elsewhere.NAMES)
def test_no_name_stands_twice_and_none_hides_one_of_ours(place):
    names = " ".join(elsewhere.NAMES[place].values()).split()
    assert len(names) == len(set(names))
    public = getattr(asked(place), "__all__", None) or [
        name for kind in type(asked(place)).__mro__[1:] for name in vars(kind)
    ]
    assert set(names).isdisjoint(public)


@pytest.mark.parametrize("name", ["from_product_state", "from_lat_product_state", "from_random_unitary_evolution"])
def test_constructors_of_others_are_answered_by_the_class(name):
    with pytest.raises(AttributeError, match="write qad.mps.MPS."):
        getattr(mps.MPS, name)


def test_where_we_have_nothing_python_looks_for_a_near_name():
    with pytest.raises(AttributeError) as caught:
        operator.attrgetter("heisenburg")(mps)
    assert (caught.value.name, caught.value.obj) == ("heisenburg", mps)


def test_wires_are_qubits_after_the_angles():
    with pytest.raises(TypeError, match="no keyword 'wires': write angles, then qubits"):
        qad.Circuit(1).rx(0.3, wires=0)
