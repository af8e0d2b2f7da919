"""Changes of dtype and copies: nothing is cast silently."""

import numpy as np
import pytest

import qad
from tests.cases import Case, normal

CASES = [
    Case(lambda x: x.astype(complex), normal(3)),
    Case(lambda x: np.astype(x, np.complex128).real.astype(float), normal(3)),
    Case(lambda z: z.astype("complex128", copy=False), normal(3, complex)),
    Case(lambda x: x.astype(complex) * (1 + 1j), normal(2, np.float32)),
    Case(np.copy, normal(2, 2, complex)),
    Case(lambda x: x.copy("F") * x, normal(2, 2)),
    Case(np.nan_to_num, normal(3, complex)),
    Case(lambda x: np.full_like(np.ones(3), 0.0) + np.full_like(x, 2.0) * x, normal(3)),
    Case(lambda x: np.full_like(x, x[0]) * x, normal(3)),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    case.check()


def test_precision_goes_back_with_the_cotangent():
    x = qad.tensor(normal(3, np.float32), requires_grad=True)
    y = x.astype(np.float64)
    assert y.dtype == np.float64
    (y * y).sum().backward()
    assert x.grad.dtype == np.float32


def test_integers_and_booleans_come_back_plain():
    t = qad.tensor([1.7, -0.2], requires_grad=True)
    for dtype in (int, bool, np.uint8):
        assert type(t.astype(dtype)) is np.ndarray


REDUCTIONS = (
    np.sum, np.prod, np.mean, np.cumsum, np.cumprod, np.trace, np.add.reduce, np.multiply.reduce, np.add.accumulate,
)  # fmt: skip


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, bool, np.float32, np.complex64])
@pytest.mark.parametrize("f", REDUCTIONS, ids=lambda f: getattr(f, "__qualname__", str(f)))
def test_reductions_answer_in_the_dtype_asked_for(f, dtype):
    """Also where NumPy's sums of it are wider: of bytes modulo 256, of booleans `any` and `all`."""
    for a in (np.array([[200, 100], [3, 0]]), np.array([[1.5, 2.5], [3.0, 0.0]])):
        expected = f(a, dtype=dtype)
        found = f(qad.tensor(a, requires_grad=a.dtype == float), dtype=dtype)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(qad.stop_gradient(found), expected)


def test_complex_to_real_is_refused():
    with pytest.raises(qad.errors.GradientTypeError, match=r"write x\.real"):
        qad.grad(lambda z: z.astype(float).sum())(np.array([1j]))


def test_what_was_not_finite_is_constant():
    x = np.array([np.nan, np.inf, 2.0])
    np.testing.assert_array_equal(qad.grad(lambda x: np.nan_to_num(x, posinf=1.0).sum())(x), [0, 0, 1])
    z = np.array([complex(np.nan, 2.0), complex(1.0, np.inf)])
    np.testing.assert_array_equal(qad.grad(lambda z: qad.abs2(np.nan_to_num(z, posinf=3.0)).sum())(z), [4j, 2.0])
    np.nan_to_num(qad.tensor(x), copy=False)
    assert np.isnan(x[0])
