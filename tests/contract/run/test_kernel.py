"""Compiled products of small matrices against NumPy's."""

from pathlib import Path

import numpy as np
import pytest

from tests.contract.networks import operands_for

pytest.importorskip("llvmlite")

SHAPES = [(1, 1, 1), (2, 3, 1), (1, 5, 7), (3, 2, 4), (7, 4, 11), (13, 6, 3), (33, 64, 40)]
TOLERANCE = {"f": 1e-5, "D": 1e-14}


@pytest.fixture(scope="module")
def product():
    """Products of pieces of a block, compiled: a function for each dtype."""
    from qad.contract.run.compiled import FILES, kernel, symbols
    from qad.native import COMPLEX, INT, REAL, Block, Kernels

    def kernels(kind):
        def run(work: Block(kind), one: INT, two: INT, out: INT, m: INT, k: INT, n: INT, form: INT, room: Block(kind)):
            kernel.multiply(work, one, two, out, m, k, n, form, room)

        return Kernels(run, files=[*FILES, Path(__file__)], fast=False, symbols=symbols)

    of = {"f": kernels(REAL), "c": kernels(COMPLEX)}
    return lambda work, *rest: of[work.dtype.kind](work.dtype).run(work, *rest, np.empty(2**15, work.dtype))


@pytest.mark.parametrize("kind", [np.dtype("D"), np.dtype("f")], ids=str)
@pytest.mark.parametrize("form", range(4))
@pytest.mark.parametrize("shape", [*SHAPES, (2, 600, 3)], ids=str)
@pytest.mark.sampled(16)
def test_products_in_a_block(kind, form, shape, product):
    """The last shape has sums so long that BLAS makes them."""
    (m, k, n), rng = shape, np.random.default_rng(0)
    shapes = (k, m) if form & 1 else (m, k), (n, k) if form & 2 else (k, n)
    a, b = (x.astype(kind) for x in operands_for(rng, shapes, type(kind.type().item())))
    work = np.concatenate([np.zeros(3), a.ravel(), b.ravel(), np.zeros(m * n + 4)]).astype(kind)
    out = 3 + a.size + b.size + 1
    before = work.copy()
    product(work, 3, 3 + a.size, out, m, k, n, form)
    expected = (a.T if form & 1 else a) @ (b.T if form & 2 else b)
    np.testing.assert_allclose(work[out:-3].reshape(m, n), expected, rtol=0, atol=k * TOLERANCE[kind.char])
    work[out:-3] = 0
    np.testing.assert_array_equal(work, before)  # nothing else is written
