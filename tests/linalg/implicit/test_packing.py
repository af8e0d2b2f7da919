"""Lists of arrays as vectors, there and back."""

import numpy as np
import pytest

from qad.linalg.implicit.packing import Packing

RNG = np.random.default_rng(0)


def arrays(*kinds):
    """Arrays of these dtypes, of shapes (2, 3), () and (0, 4) in turn, and a NumPy scalar of the last dtype."""
    made = [
        (RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)).astype(kind)
        if np.dtype(kind).kind == "c"
        else np.asarray(RNG.standard_normal(shape), kind)
        for kind, shape in zip(kinds, [(2, 3), (), (0, 4)], strict=False)
    ]
    return [*made, made[0].reshape(-1)[0]]


@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize(
    "kinds, dtype",
    [
        ((float, float, float), float),
        ((np.float32, np.float32), np.float32),
        ((complex, complex, complex), complex),
        ((np.complex64,), np.complex64),
        ((float, complex, float), float),
        ((np.float32, np.complex64), np.float32),
        ((np.complex64, float), float),
    ],
)
def test_there_and_back(kinds, dtype, real):
    leaves = arrays(*kinds)
    packing = Packing(leaves, real=real)
    vector = packing.pack(leaves)
    assert vector.dtype == packing.dtype == (np.empty(0, dtype).real.dtype if real else dtype)
    assert vector.size == sum(x.size * (1 + (x.dtype.kind == "c" and vector.dtype.kind != "c")) for x in leaves)
    for x, y in zip(leaves, packing.unpack(vector), strict=True):
        assert (x.shape, x.dtype, type(x)) == (y.shape, y.dtype, type(y))
        np.testing.assert_array_equal(x, y)


def test_what_comes_back_is_in_memory_of_its_own():
    leaves = [np.ones(3), np.zeros((2, 2), complex)]
    packing = Packing(leaves)
    vector = packing.pack(leaves)
    vector[:] = 7.0
    assert leaves[0].tolist() == [1.0, 1.0, 1.0]
    parts = packing.unpack(vector)
    vector[:] = 0.0
    assert parts[0].tolist() == [7.0, 7.0, 7.0] and (parts[1] == 7 + 7j).all()


def test_inner_products():
    """Of complex vectors ``<a, b>``, of real ones its real part."""
    a, b = arrays(complex, complex), arrays(complex, complex)
    inner = sum(np.vdot(x, y) for x, y in zip(a, b, strict=True))
    for real, expected in ((False, inner), (True, inner.real)):
        packing = Packing(a, real=real)
        assert np.vdot(packing.pack(a), packing.pack(b)) == pytest.approx(expected)
    mixed, other = arrays(float, complex), arrays(float, complex)
    packing = Packing(mixed)
    inner = sum(np.vdot(x, y).real for x, y in zip(mixed, other, strict=True))
    assert packing.pack(mixed) @ packing.pack(other) == pytest.approx(inner)


def test_a_dtype_may_be_asked_for():
    leaves = [np.ones(2, np.float32), np.ones(2, np.complex64)]
    packing = Packing(leaves, real=True, dtype=float)
    assert packing.pack(leaves).dtype == np.float64
    assert [x.dtype for x in packing.unpack(packing.pack(leaves))] == [np.float32, np.complex64]
