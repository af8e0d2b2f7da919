"""Compiled loops give what NumPy's functions give, and are used where they may be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qad.contract.run.compiler import has_compiler
from qad.symmetric import Leg, random, tensordot
from qad.symmetric.blocks import kernels
from qad.symmetric.blocks.gemms import gemms, multiplied, multiplied_plainly
from qad.symmetric.blocks.moves import between, copied, copied_plainly, move
from qad.symmetric.contraction import contraction
from qad.symmetric.tensor import moved
from tests.symmetric.draw import close, digits, pairs, some, tensors

needs_compiler = pytest.mark.skipif(not has_compiler(), reason="needs llvmlite")


@needs_compiler
@given(a=tensors(most=4), data=st.data())
@some
def test_moves(a, data):
    order = tuple(data.draw(st.permutations(range(a.ndim))))
    table = between(a.layout, moved(a, order, a.ndim).layout, order)
    if table is None:
        return
    x = a.data
    one, two, both = (np.zeros((*lead, table.write), a.dtype) for lead in ((), (), (2,)))
    copied(x, one, table)
    copied_plainly(x, two, table)
    np.testing.assert_array_equal(one, two)
    copied(np.stack([x, 2 * x]), both, table)
    np.testing.assert_array_equal(both, [two, 2 * two])


@needs_compiler
def test_blocks_of_many_axes():
    leg = Leg({0: 2, 1: 1}, +1)
    a = random((leg,) * 6, charge=2)
    order = (5, 3, 1, 0, 2, 4)
    np.testing.assert_array_equal(moved(a, order, 3).to_dense(), a.to_dense().transpose(order))
    table = between(a.layout, moved(a, order, 3).layout, order)
    assert max(len(view[2]) for view in table.views) > 4 and table.rows[0].size % 14 == 0


@needs_compiler
@given(case=pairs())
@some
def test_products(case):
    a, b, axes = case
    dtype = np.result_type(a.dtype, b.dtype)
    how = contraction(a.layout, b.layout, *map(tuple, axes))
    x = a.data if how.first is None else move(a.data, table=how.first)
    y = b.data if how.second is None else move(b.data, table=how.second)
    x, y = x.astype(dtype), y.astype(dtype)
    one, two, both = (np.zeros((*lead, how.plan.sizes[2]), dtype) for lead in ((), (), (2,)))
    multiplied(x, y, one, how.plan)
    multiplied_plainly(x, y, two, how.plan)
    close(one, two, digits(one))
    multiplied(np.stack([x, 2 * x]), np.stack([y, y]), both, how.plan)
    close(both, np.stack([two, 2 * two]), digits(one))


def test_without_a_compiler(monkeypatch):
    """Everything runs in NumPy's functions."""
    left, right = Leg({0: 2, 1: 3}, +1), Leg({1: 3, 0: 2}, -1)
    a, b = random((left, right), seed=0), random((right.conj(), left), charge=1, seed=1)
    expected = tensordot(a, b, ([1], [0])).to_dense()
    monkeypatch.setattr(kernels, "has_compiler", lambda: False)
    monkeypatch.setattr(kernels, "compiled", None)
    close(tensordot(a, b, ([1], [0])).to_dense(), expected, 1e-14)
    np.testing.assert_array_equal(a.T.to_dense(), a.to_dense().T)


@needs_compiler
def test_what_compiled_loops_cannot_read_goes_through_numpy():
    left = Leg({0: 2, 1: 3}, +1)
    a = random((left, left.conj()), seed=0)
    table, plan = between(a.layout, a.T.layout, (1, 0)), contraction(a.layout, a.layout, (1,), (0,)).plan
    whole = np.array([1, 2], ">f8"), np.arange(a.size), np.repeat(a.data, 2)[::2], a.data.astype(">f8")
    for x in whole[1:]:
        np.testing.assert_allclose(move(x, table=table), move(np.array(x, float), table=table))
        np.testing.assert_allclose(gemms(x, x, plan=plan), gemms(np.array(x, float), np.array(x, float), plan=plan))
    assert move(whole[1], table=table).dtype == whole[1].dtype
    frozen = a.data.copy()
    frozen.flags.writeable = False
    np.testing.assert_array_equal(move(frozen, table=table), move(a.data, table=table))
