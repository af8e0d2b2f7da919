"""Compiled products of small matrices against NumPy's."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

import qad
from qad.contract.costs import BLAS_FROM, LONGEST
from qad.contract.run import small_matmul as stacks
from qad.contract.run.execute import Execution
from qad.contract.run.pair import pair
from tests.contract.networks import operands_for

pytest.importorskip("llvmlite")

SHAPES = [(1, 1, 1), (2, 3, 1), (1, 5, 7), (3, 2, 4), (7, 4, 11), (13, 6, 3), (33, 64, 40)]
TOLERANCE = {"f": 1e-5, "D": 1e-14}


@pytest.fixture(scope="module")
def compiled():
    """Products of pieces of blocks, compiled: a function for each dtype."""
    from qad.contract.run.compiled import FILES, kernel, symbols
    from qad.native import COMPLEX, INT, REAL, Block, Kernels

    def kernels(kind):
        def run(
            first: Block(kind), one: INT, second: Block(kind), two: INT, work: Block(kind), out: INT,
            m: INT, k: INT, n: INT, form: INT, room: Block(kind),
        ):  # fmt: skip
            kernel.multiply(first, one, second, two, work, out, m, k, n, form, room)

        return Kernels(run, files=[*FILES, Path(__file__)], fast=False, symbols=symbols)

    of = {"f": kernels(REAL), "c": kernels(COMPLEX)}

    def run(first, one, second, two, work, *rest):
        of[work.dtype.kind](work.dtype).run(first, one, second, two, work, *rest, np.empty(2**15, work.dtype))

    return run


def matrices(rng, kind, *shapes):
    return [x.astype(kind) for x in operands_for(rng, shapes, type(np.dtype(kind).type().item()))]


@pytest.mark.parametrize("kind", [np.dtype("D"), np.dtype("f")], ids=str)
@pytest.mark.parametrize("form", range(4))
@pytest.mark.sampled(1)
def test_products_in_blocks(kind, form, compiled):
    rng = np.random.default_rng(0)
    for m, k, n in SHAPES:
        a, b = matrices(rng, kind, (k, m) if form & 1 else (m, k), (n, k) if form & 2 else (k, n))
        first, second, work = (np.zeros(size + 5, kind) for size in (a.size, b.size, m * n))
        first[3:-2], second[1:-4] = a.ravel(), b.ravel()
        compiled(first, 3, second, 1, work, 2, m, k, n, form)
        expected = (a.T if form & 1 else a) @ (b.T if form & 2 else b)
        np.testing.assert_allclose(work[2:-3].reshape(m, n), expected, rtol=0, atol=k * TOLERANCE[kind.char])
        assert not work[:2].any() and not work[-3:].any()  # nothing else is written


def test_large_products_are_left_to_blas(compiled):
    rng = np.random.default_rng(0)
    for m, k, n in ((2, LONGEST + 1, 3), (128, 128, 65)):
        assert k > LONGEST or m * k * n > BLAS_FROM["c"]
        a, b = matrices(rng, "D", (m, k), (k, n))
        work = np.zeros(m * n, complex)
        compiled(a.ravel(), 0, b.ravel(), 0, work, 0, m, k, n, 0)
        np.testing.assert_allclose(work.reshape(m, n), a @ b, rtol=0, atol=1e-11)


def test_stacks_of_any_strides_and_broadcast():
    rng = np.random.default_rng(0)
    a, b = matrices(rng, "D", (5, 4, 6), (5, 6, 7))
    turned = np.ascontiguousarray(a.mT).mT, np.ascontiguousarray(b.mT).mT
    views = a[:, :, ::2], b[:, ::2, ::2]
    pairs = [*product((a, turned[0], a[:1], a[0]), (b, turned[1], b[:1], b[0])), views, (a[::-1], b[:, ::-1])]
    for x, y in [*pairs, (a[:0], b[:0])]:
        np.testing.assert_allclose(stacks.multiply(x, y), x @ y, rtol=0, atol=1e-13)


def test_what_is_no_stack_of_small_matrices_goes_to_numpy(monkeypatch):
    monkeypatch.setattr(stacks, "stack_product", lambda a, b: pytest.fail("compiled"))
    a, b = np.ones((2, 3, 4)), np.ones((2, 4, 5))
    frozen = a.copy()
    frozen.flags.writeable = False
    field = np.ones((2, 4, 5), [("number", complex), ("between", float)])["number"]  # steps of one and a half numbers
    long = np.ones((2, 2, LONGEST + 1)), np.ones((2, LONGEST + 1, 2))
    pairs = [(a, b + 0j), (a.astype(int), b.astype(int)), (a[0], b[0]), (a[None], b[None]), (frozen, b), long]
    for x, y in [*pairs, (a + 0j, field)]:
        np.testing.assert_array_equal(stacks.multiply(x, y), x @ y)


def test_a_network_of_stacks_uses_them(monkeypatch):
    used, compiled = [], stacks.stack_product
    monkeypatch.setattr(stacks, "stack_product", lambda a, b: used.append(a.dtype) or compiled(a, b))
    shapes, text = [(400, 9, 9)] * 4, "zab,zbc,zcd,zda->z"
    operands = operands_for(np.random.default_rng(0), shapes)
    weights, found = np.ones(400, complex), []
    for compiled_asked in (False, None):
        program = Execution(qad.plan(text, *shapes, compiled=compiled_asked), (0, 1, 2, 3))
        value, state = program.forward(list(operands))
        found.append((value, program.backward(weights, operands, state)))
        assert len(used) == (0 if compiled_asked is False else 7)  # all pairs, and backwards two that are no multiples
    (expected, cotangents), (value, found) = found
    np.testing.assert_allclose(value, expected, rtol=0, atol=1e-11)
    for number, cotangent in cotangents.items():
        np.testing.assert_allclose(found[number], cotangent, rtol=0, atol=1e-11)


@pytest.mark.slow
def test_a_frozen_function_may_be_the_first_that_compiles(monkeypatch, tmp_path):
    """What the compiler reads and writes is not the function's."""
    from qad.contract.run import compiled

    monkeypatch.setenv("QAD_CACHE_DIR", str(tmp_path))
    monkeypatch.setitem(compiled.TABLES, "c", compiled.tables(compiled.COMPLEX))
    monkeypatch.setitem(compiled.STACKS, "c", compiled.stacks(compiled.COMPLEX))
    f = qad.freeze(lambda x: (compiled.warm_up([complex]), x * 2)[1])
    np.testing.assert_array_equal(f(np.ones(2)), 2 * np.ones(2))
    made = {path.name.partition("-")[0] for path in tmp_path.iterdir()}
    assert {"replay", "stack_product"} <= made  # and others that this process has not met yet


def test_pairs_without_stacks_have_one_way():
    recipe = pair(((0, 1), (1, 2), (0, 2)), ((2, 3), (3, 4), (2, 4)))
    assert recipe.quick is recipe.run
    stack = pair(((0, 1, 2), (0, 2, 3), (0, 1, 3)), ((5, 2, 3), (5, 3, 4), (5, 2, 4)))
    assert stack.quick is not stack.run and "@" in stack.source
