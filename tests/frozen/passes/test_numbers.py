"""Frozen transforms of functions of Python's numbers, which have neither dtype nor methods in a replay."""

import numpy as np
import pytest

import qad

FUNCTIONS = {
    "tanh": lambda x: np.tanh(x).real,
    "size": np.abs,
    "square of the size": lambda x: np.abs(x) ** 2,
    "norm": lambda x: np.linalg.norm(np.atleast_1d(x)),
    "sinc": lambda x: np.real(np.sinc(x)) if not np.iscomplexobj(x) else np.real(x),
}
TRANSFORMS = {
    "grad": qad.grad,
    "jvp": lambda f: lambda x: qad.jvp(f, (x,), (x,))[1],
    "vjp": lambda f: lambda x: qad.vjp(f, x)[1](1.0),
    "hvp": lambda f: lambda x: qad.hvp(f, (x,), (x,))[0],
}


@pytest.mark.parametrize("x", [0.7, -1.3, 0.4 - 0.3j])
@pytest.mark.parametrize("f", FUNCTIONS.values(), ids=FUNCTIONS)
@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
def test_a_number_of_pythons(f, transform, x):
    frozen = qad.freeze(transform(f))
    for y in (x, 2 * x, x):
        found, expected = frozen(y), transform(f)(y)
        assert np.allclose(found, expected, rtol=1e-12, atol=1e-14)
        assert type(found) is type(expected)
    assert frozen.stats.recordings == 1


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("exponent", [-1, 0.5, 0, 1, 2])
def test_powers_at_infinity_are_those_of_the_operator(exponent, dtype):
    """NumPy's ``x ** -1`` and ``x ** 0.5`` are a reciprocal and a square root, and no powers."""
    entries = np.array([0.0, -0.0, 1.0, -1.0, 2.5, np.inf, -np.inf, np.nan])
    x = entries.astype(dtype)
    if np.iscomplexobj(x):
        x.imag = np.roll(entries, 3)
    frozen = qad.freeze(lambda x: x**exponent)
    with np.errstate(all="ignore"):
        for _ in range(3):
            np.testing.assert_array_equal(frozen(x), x**exponent)
