"""Everything public has a docstring, and functions an example."""

import inspect

import pytest

import qad

PUBLIC = sorted(
    name
    for name, value in vars(qad).items()
    if not name.startswith("_") and getattr(value, "__module__", "").startswith("qad.") and callable(value)
)


@pytest.mark.parametrize("name", PUBLIC)
def test_public_names_are_documented(name):
    value = getattr(qad, name)
    doc = inspect.getdoc(value) or ""
    assert len(doc) > 20, f"qad.{name} has no docstring"
    if inspect.isfunction(value):
        assert ">>>" in doc, f"qad.{name} shows no example"
