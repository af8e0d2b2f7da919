"""Stand-ins for the array libraries that tensornetwork's test files import at their top.

The conformance run keeps the tests of one backend; the stand-ins only let the files be imported.
"""

import sys
import types
import unittest

import numpy as np


class Anything(type):
    """A class that has every attribute: another such class."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        made = Anything(name, (), {})
        setattr(cls, name, made)
        return made


class StandIn(types.ModuleType):
    """A module that has every attribute: classes under capitalised names, modules otherwise, all callable."""

    __path__ = ()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        made = Anything(name, (), {}) if name[0].isupper() else StandIn(name)
        setattr(self, name, made)
        return made

    def __call__(self, *args, **kwargs):
        return self


class TestCase(unittest.TestCase):
    """What the tests use of tensorflow's own test case."""

    def assertAllClose(self, actual, expected):
        np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-6)


def install():
    """Put the stand-ins in place of the real libraries, installed or not."""
    for name in ("jax", "jax.config", "jax.numpy", "tensorflow", "torch"):
        sys.modules[name] = StandIn(name)
    sys.modules["tensorflow"].test = types.SimpleNamespace(TestCase=TestCase)
