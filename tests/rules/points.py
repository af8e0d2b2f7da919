"""Points of every kind at which the rules of one array are checked: dtypes, memory layouts, precision."""

import numpy as np

import qad
from qad.core.tape.tensor import value_of
from qad.core.trees import flatten, tree_map
from tests.cases import Case, normal


def both_kinds(table):
    """Cases for a table of (function, shape), at a real and a complex point each."""
    return [Case(f, normal(*shape, kind), name=label(f)) for f, shape in table for kind in (float, complex)]


def label(f) -> str:
    """A name for a function; lambdas are identified by their line."""
    name = getattr(f, "__name__", repr(f))
    return f"line{f.__code__.co_firstlineno}" if name == "<lambda>" else name


def layouts(shape):
    """Complex arrays of this shape that are transposed, strided, reversed and read-only in memory."""
    z = normal(*shape, complex)
    yield np.asfortranarray(z)
    wide = np.zeros([2 * n for n in shape], complex)
    strided = wide[tuple(slice(None, None, 2) for _ in shape)]
    strided[...] = z
    yield strided
    yield z[tuple(slice(None, None, -1) for _ in shape)]
    frozen = z.copy()
    frozen.flags.writeable = False
    yield frozen


def check_layouts(f, shape):
    """First derivatives at every layout, and in single precision."""
    for z in layouts(shape):
        Case(f, z, order=1).check()
    for kind in (np.float32, np.complex64):
        Case(f, normal(*shape, kind), order=1).check()


def check_values(case, rtol=1e-13):
    """The values on Tensors are NumPy's on plain arrays: shapes, dtypes and containers too."""
    expected = case.f(*case.point)
    found = tree_map(value_of, case.f(*tree_map(qad.tensor, case.point)))
    found, expected = flatten(found)[0], flatten(expected)[0]
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        assert np.shape(a) == np.shape(b)
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)
