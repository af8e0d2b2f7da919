"""Kernels against the same source run by Python."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from qad.native import INT, Block, Kernels, row_dtype
from tests.native import sources

FILE = Path(sources.__file__)
STRICT = Kernels(sources.integers, sources.reals, sources.complexes, sources.records, files=[FILE], fast=False)
FAST = Kernels(sources.reals, sources.complexes, files=[FILE], fast=True)


@pytest.mark.parametrize("a, b", [(-17, 3), (4, 9), (0, 30), (9, -2), (16, 16), (5, 6)])
def test_integers(a, b):
    x, (found, expected) = np.array([a, b, 11]), np.zeros((2, 20), int)
    STRICT(np.dtype(float)).integers(x, found)
    sources.integers(x.tolist(), expected)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kernels", [STRICT, FAST], ids=["strict", "fast"])
@pytest.mark.parametrize("dtype", [np.dtype("f8"), np.dtype("f4")], ids=str)
def test_reals(kernels, dtype):
    x = np.array([[1.5, -2.0, 3.25], [0.75, -1.125, 7.0]], dtype)
    for scale in (0.3, 2.5, -1e-3):
        found, expected = np.zeros((2, 7), dtype)
        kernels(dtype).reals(x, scale, found)
        sources.reals(x, scale, expected)
        np.testing.assert_allclose(found, expected, rtol=8 * np.finfo(dtype).eps)


@pytest.mark.parametrize("kernels", [STRICT, FAST], ids=["strict", "fast"])
@pytest.mark.parametrize("dtype", [np.dtype("c16"), np.dtype("c8")], ids=str)
def test_complex_numbers(kernels, dtype):
    for x in ([1 + 2j, -3 + 0.5j], [1, 1], [2j, 2j]):
        x, r = np.array(x, dtype), np.array([0.5, -2.0], dtype).real.copy()
        found, expected = np.full((2, 7), 1 - 1j, dtype)
        kernels(dtype).complexes(x, r, found)
        sources.complexes(x, r, expected)
        np.testing.assert_allclose(found, expected, rtol=8 * np.finfo(dtype).eps)


def test_records_and_small_integers():
    rows = [sources.Row(3, 4), sources.Row(-2, 5), sources.Row(1, 1)]
    small, (found, expected) = np.array([40, 0], np.int32), np.zeros((2, 2), int)
    STRICT(np.dtype(float)).records(np.array(rows, row_dtype(sources.Row)), small, found)
    np.testing.assert_array_equal(small, [40, 33])
    sources.records(rows, np.array([40, 0]), expected)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "x",
    [np.zeros(3), np.zeros((3, 1), int), np.zeros(6, int)[::2], np.zeros(3, ">i8"), np.zeros(25, "i1")[1:].view(int)],
)
def test_what_is_no_array_of_the_kernel_is_refused(x):
    out = np.zeros(20, int)
    with pytest.raises(TypeError, match="argument 0 of integers: an aligned array of int64 and 1 axes in C order, not"):
        STRICT(np.dtype(float)).integers(x, out)
    assert not out.any()


def changed(x: Block(INT)):
    y = 1
    y = x[0] * 0.5
    x[0] = y


def unknown(x: Block(INT)):
    x[0] = missing(x)  # noqa: F821 - which is what has to be noticed


def keyword(x: Block(INT)):
    with x:
        pass


@pytest.mark.parametrize("function, message", [
    (changed, "a real number where an integer is needed"), (unknown, "missing"), (keyword, "_with"),
])  # fmt: skip
def test_what_is_no_kernel_is_refused(function, message):
    with pytest.raises((TypeError, KeyError, AttributeError), match=message) as error:
        Kernels(function, files=[Path(__file__)], fast=False).text("double")
    assert error.value.__notes__[0].startswith(f"in {function.__name__}: ")


def test_kernels_call_only_files_of_their_version():
    """What they call is part of their machine code, from whatever file."""
    with pytest.raises(ValueError, match="integers comes from a file that machine code does not go by"):
        Kernels(sources.integers, files=[Path(__file__)], fast=False).text("double")
