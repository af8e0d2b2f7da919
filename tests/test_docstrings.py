"""Everything public has a docstring in NumPy's form, with an example that tests/test_docs.py runs."""

import inspect
import re

import pytest

import qad

PLACES = {
    "qad": qad,
    "qad.linalg": qad.linalg,
    "qad.mps": qad.mps,
    "qad.peps": qad.peps,
    "qad.circuit": qad.circuit,
    "qad.vmc": qad.vmc,
    "qad.optimize": qad.optimize,
    "qad.special": qad.special,
    "qad.symmetric": qad.symmetric,
    "qad.extend": qad.extend,
}
PUBLIC = {
    f"{place}.{name}": getattr(module, name)
    for place, module in PLACES.items()
    for name in module.__all__
    if callable(getattr(module, name)) and (getattr(getattr(module, name), "__module__", None) or "").startswith("qad.")
}
FUNCTIONS = sorted(name for name, value in PUBLIC.items() if inspect.isfunction(value))


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_public_names_are_documented(name):
    assert len(inspect.getdoc(PUBLIC[name]) or "") > 40


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_show_an_example(name):
    assert re.search(r"Examples\n-+\n>>> ", inspect.getdoc(PUBLIC[name]))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_parameters_that_are_listed_exist(name):
    """And the other way round: a section that lists parameters lists all of them."""
    section = re.search(r"Parameters\n-+\n(.*?)(?:\n\n[A-Z]\w+\n--|\Z)", inspect.getdoc(PUBLIC[name]), re.DOTALL)
    if section is None:
        return
    lines = re.findall(r"^(\S[^:\n]*?)(?: :.*)?$", section[1], re.MULTILINE)
    listed = {word.strip().lstrip("*") for line in lines for word in line.split(",")}
    assert listed == {p for p in inspect.signature(PUBLIC[name]).parameters if not p.startswith("_")}


def test_the_public_api_is_tidy():
    """`dir(qad)` is what `__init__` offers, no module of ours that nobody was meant to see."""
    assert set(dir(qad)) == {"__version__", *qad.__all__}
    assert len(qad.__all__) == len(set(qad.__all__))
    assert {"core", "rules", "testing"}.isdisjoint(dir(qad))
    assert all(hasattr(qad, name) for name in dir(qad))
    assert re.fullmatch(r"\d+\.\d+\.\d+\w*", qad.__version__)
