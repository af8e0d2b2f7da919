"""Products of matrices by SciPy's BLAS inside of kernels."""

from pathlib import Path

import numpy as np
import pytest

import qad
from tests.contract.networks import operands_for

pytest.importorskip("llvmlite")

SHAPES = [(1, 1, 1), (2, 3, 1), (1, 5, 7), (7, 4, 11), (33, 64, 40)]
TOLERANCE = {"f": 1e-5, "D": 1e-14}


@pytest.fixture(scope="module")
def product():
    """Products of pieces of blocks, compiled: a function for each dtype."""
    from qad.contract.run.compiled.blas import multiplied, symbols
    from qad.native import COMPLEX, INT, REAL, Block, Kernels

    def kernels(kind):
        def run(
            first: Block(kind), one: INT, second: Block(kind), two: INT, work: Block(kind), out: INT,
            m: INT, k: INT, n: INT, form: INT,
        ):  # fmt: skip
            multiplied(first, one, second, two, work, out, m, k, n, form)

        return Kernels(run, files=[Path(__file__)], fast=False, symbols=symbols)

    of = {"f": kernels(REAL), "c": kernels(COMPLEX)}
    return lambda *given: of[given[0].dtype.kind](given[0].dtype).run(*given)


@pytest.mark.parametrize("kind", [np.dtype("D"), np.dtype("f")], ids=str)
@pytest.mark.parametrize("form", range(4))
def test_products_in_blocks(kind, form, product):
    rng = np.random.default_rng(0)
    for m, k, n in SHAPES:
        shapes = (k, m) if form & 1 else (m, k), (n, k) if form & 2 else (k, n)
        a, b = (x.astype(kind) for x in operands_for(rng, shapes, type(kind.type().item())))
        first, second, work = (np.zeros(size + 5, kind) for size in (a.size, b.size, m * n))
        first[3:-2], second[1:-4] = a.ravel(), b.ravel()
        product(first, 3, second, 1, work, 2, m, k, n, form)
        expected = (a.T if form & 1 else a) @ (b.T if form & 2 else b)
        np.testing.assert_allclose(work[2:-3].reshape(m, n), expected, rtol=0, atol=k * TOLERANCE[kind.char])
        assert not work[:2].any() and not work[-3:].any()  # nothing else is written


@pytest.mark.slow
def test_a_frozen_function_may_be_the_first_that_compiles(monkeypatch, tmp_path):
    """What the compiler reads and writes is not the function's."""
    from qad.contract.run import compiled

    monkeypatch.setenv("QAD_CACHE_DIR", str(tmp_path))
    monkeypatch.setitem(compiled.TABLES, "c", compiled.tables(compiled.COMPLEX))
    f = qad.freeze(lambda x: (compiled.warm_up([complex]), x * 2)[1])
    np.testing.assert_array_equal(f(np.ones(2)), 2 * np.ones(2))
    assert "replay" in {path.name.partition("-")[0] for path in tmp_path.iterdir()}
