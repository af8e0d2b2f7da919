"""Networks of several dtypes: what is summed first must hold what NumPy's result does."""

import numpy as np
import pytest

import qad

TRUE, SMALL, LARGE = np.ones(5, bool), np.full(200, 100, np.int8), np.full(3, 1e30, np.float32)


@pytest.mark.parametrize("subscripts, operands", [
    (",d->", (1.5, TRUE)), ("d,d,e->e", (TRUE, TRUE, np.array([1.5, 2]))),  # how many, not any
    (",d->", (1.5, SMALL)), ("d,d,->", (SMALL, SMALL, 1.5)), ("d,d,->", (SMALL, SMALL, np.int64(3))),  # of few bits
    ("d,d,e->e", (LARGE, LARGE, np.array([1e-30, 2.0]))), ("d,d,e->e", (LARGE, LARGE, np.array([1e-30, 2j]))),
    ("d->", (np.arange(3.0, dtype=">f8"),)), ("d,d->", (np.arange(3.0, dtype=">c16"), np.arange(3.0))),  # swapped
    ("d->", (TRUE,)), ("d->", (SMALL,)),
])  # fmt: skip
@pytest.mark.parametrize("contract", [qad.einsum, lambda s, *x: qad.plan(s, *x)(*x)], ids=["einsum", "plan"])
def test_sums_of_networks_of_mixed_dtypes(subscripts, operands, contract):
    operands = [np.asarray(x) for x in operands]
    found, expected = contract(subscripts, *operands), np.einsum(subscripts, *operands)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_gradients_of_networks_of_mixed_dtypes():
    value = qad.value_and_grad(lambda x, y: qad.einsum("d,d,e,f->", x, x, y, TRUE), argnums=(0, 1))
    found, (first, second) = value(LARGE, np.array([1e-30, 2.0]))
    np.testing.assert_allclose(found, 5 * 3e60 * 2, rtol=1e-6)
    assert first.dtype == np.float32 and second.dtype == float
    np.testing.assert_allclose(first, np.float32(2e31), rtol=1e-6)
    np.testing.assert_allclose(second, 1.5e61, rtol=1e-6)


def test_held_constants_are_summed_in_one_precision():
    plan = qad.plan("d,d,e->e", (3,), (3,), (2,))
    large = LARGE.astype(float)
    expected = np.einsum("d,d,e->e", LARGE, large, np.ones(2))
    np.testing.assert_allclose(plan.hold({0: LARGE, 1: large})(np.ones(2)), expected, rtol=1e-6)
    with pytest.raises(qad.errors.ArgumentError, match="sums of int8 numbers may not fit: write operand 0 as .astype"):
        plan.hold({0: np.full(3, 100, np.int8), 1: np.full(3, 100, np.int8)})
