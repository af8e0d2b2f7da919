"""The examples in the docstrings of qad.linalg run as written."""

import doctest
import inspect

import pytest

import qad

OURS = [name for name in qad.linalg.__all__ if getattr(qad.linalg, name).__module__.startswith("qad.")]


@pytest.mark.parametrize("name", OURS)
def test_example(name):
    function = getattr(qad.linalg, name)
    assert ">>>" in inspect.getdoc(function), f"qad.linalg.{name} shows no example"
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for test in doctest.DocTestFinder(recurse=False).find(function, name, globs={}):
        assert runner.run(test).failed == 0
