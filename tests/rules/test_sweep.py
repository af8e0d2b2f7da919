"""Every elementwise function against mpmath, over 600 decades and the whole plane, to second order."""

import mpmath as m
import numpy as np
import pytest

import qad
from qad.core.registry.define import PRIMITIVES
from qad.rules.making import casts
from qad.rules.protocol import structured_cotangents as lazy
from tests.sweeps import Swept, real_valued, reference, sweep


def away(*points):
    """Everywhere but at these points."""
    return lambda x: ~np.isin(x, points)


def ln(x):
    return m.log(x)


TABLE = {
    np.positive: lambda x: x,
    np.negative: lambda x: -x,
    np.square: lambda x: x * x,
    np.reciprocal: lambda x: 1 / x,
    np.sqrt: m.sqrt,
    np.cbrt: Swept(np.cbrt, lambda x: m.sign(x) * m.cbrt(abs(x)), "r", away(0)),
    np.exp: m.exp,
    np.exp2: lambda x: m.exp(x * ln(2)),
    np.expm1: m.expm1,
    np.log: m.log,
    np.log2: lambda x: m.log(x) / ln(2),
    np.log10: lambda x: m.log(x) / ln(10),
    np.log1p: lambda x: m.log(1 + x),
    np.sin: m.sin,
    np.cos: m.cos,
    np.tan: m.tan,
    np.arcsin: m.asin,
    np.arccos: m.acos,
    np.arctan: m.atan,
    np.sinh: m.sinh,
    np.cosh: m.cosh,
    np.tanh: m.tanh,
    np.arcsinh: m.asinh,
    np.arccosh: m.acosh,
    np.arctanh: m.atanh,
    np.degrees: Swept(np.degrees, m.degrees, "r"),
    np.rad2deg: Swept(np.rad2deg, m.degrees, "r"),
    np.radians: Swept(np.radians, m.radians, "r"),
    np.deg2rad: Swept(np.deg2rad, m.radians, "r"),
    np.sinc: lambda x: m.sinc(m.pi * x),
    np.i0: Swept(np.i0, lambda x: m.besseli(0, x), "r"),
    np.absolute: Swept(np.absolute, abs, "r", away(0)),
    np.fabs: Swept(np.fabs, abs, "r", away(0)),
}
TABLE = {f: entry if isinstance(entry, Swept) else Swept(f, entry) for f, entry in TABLE.items()}

SIZES = np.array([1.37e-300, 1.37e-160, 1.37e-10, 0.7, 1.0, 3.3, 47.1, 1.37e10, 1.37e160, 1.37e300])
SIGNED = np.concatenate([SIZES, -SIZES])
PARTS = (SIGNED, SIGNED)
PAIRS = {  # functions of two numbers; those of complex numbers with real values, of real and imaginary part
    np.add: (np.add, lambda a, b: a + b, PARTS),
    np.subtract: (np.subtract, lambda a, b: a - b, PARTS),
    np.multiply: (np.multiply, lambda a, b: a * b, PARTS),
    np.divide: (np.divide, lambda a, b: a / b, PARTS),
    np.hypot: (np.hypot, lambda a, b: m.sqrt(a * a + b * b), PARTS),
    np.arctan2: (np.arctan2, m.atan2, PARTS),
    np.logaddexp: (np.logaddexp, lambda a, b: max(a, b) + m.log1p(m.exp(-abs(a - b))), PARTS),
    np.logaddexp2: (np.logaddexp2, lambda a, b: max(a, b) + m.log1p(m.exp(-abs(a - b) * ln(2))) / ln(2), PARTS),
    np.power: (np.power, lambda a, b: a**b, (SIZES, SIGNED)),
    np.float_power: (np.float_power, lambda a, b: a**b, (SIZES, SIGNED)),
    qad.abs2: (lambda a, b: qad.abs2(a + 1j * b), lambda a, b: a * a + b * b, PARTS),
    "abs": (lambda a, b: np.abs(a + 1j * b), lambda a, b: m.sqrt(a * a + b * b), PARTS),
    np.angle: (lambda a, b: np.angle(a + 1j * b), lambda a, b: m.atan2(b, a), PARTS),
    np.sign: (lambda a, b: np.sign(a + 1j * b).real, lambda a, b: a / m.sqrt(a * a + b * b), PARTS),
}
STEPS = {  # choices, steps and roundings: exact at all magnitudes, by one product with 0, 1 or a power of 2
    np.remainder, np.fmod, np.ldexp, np.maximum, np.minimum, np.fmax, np.fmin, np.copysign, np.heaviside, np.nextafter,
    np.unwrap, np.conjugate,
}  # fmt: skip
INSIDE = {casts.replace_nonfinite, lazy.scatter}  # no functions of NumPy's


@pytest.mark.parametrize("f", TABLE, ids=lambda f: f.__name__)
@pytest.mark.sampled(4)
def test_functions_of_one_number(f):
    TABLE[f].check()


@pytest.mark.slow
@pytest.mark.parametrize("f", TABLE, ids=lambda f: f.__name__)
def test_functions_of_one_number_densely(f):
    TABLE[f].check(dense=True)


def representable(f, a, b):
    """Pairs without those at which a factor of the second derivative overflows though their product does not."""
    if f in (np.power, np.float_power):
        return (abs(b) > 1e-9) | (a > 1e-100)
    if f in (np.angle, np.sign):
        return np.minimum(abs(a), abs(b)) > 1e-150  # where one part of 1 / z^2 overflows the other is NaN
    return a == a


@pytest.mark.parametrize("f", PAIRS, ids=lambda f: getattr(f, "__name__", f))
@pytest.mark.sampled(2)
def test_functions_of_two_numbers(f):
    check_pairs(f, 7)


def check_pairs(f, step):
    function, expected, sides = PAIRS[f]
    a, b = (x.ravel()[::step] for x in np.meshgrid(*sides))
    kept = representable(f, a, b)
    bad, known = sweep(function, real_valued(expected), (a[kept], b[kept]), lenient=f in (np.power, np.float_power))
    assert known >= 50
    assert not bad, f"{len(bad)} of {known}:\n" + "\n".join(map(str, bad[:8]))


@pytest.mark.slow
@pytest.mark.parametrize("f", PAIRS, ids=lambda f: getattr(f, "__name__", f))
def test_functions_of_two_numbers_densely(f):
    check_pairs(f, 1)


def test_every_elementwise_function_has_a_reference():
    names = {f for f, p in PRIMITIVES.items() if p.elementwise and getattr(np, f.__name__, None) is f}
    names |= {f for f, p in PRIMITIVES.items() if p.elementwise and getattr(f, "__module__", "") == "numpy"}
    missing = names - set(TABLE) - set(PAIRS) - STEPS
    assert not [f.__name__ for f in missing]


@pytest.mark.parametrize("f", TABLE, ids=lambda f: f.__name__)
def test_single_precision(f):
    """The formulas of singles and doubles are the same: derivatives have the digits that a single has."""
    entry = TABLE[f]
    for kind, points in (("r", [-3.1, -0.6, 1e-6, 0.3, 0.9, 1.7, 11.0]), ("c", [0.3 + 0.2j, -2 + 1e-3j, 1e4j, 3 - 4j])):
        if kind in entry.kinds:
            x = np.array(points, np.float32 if kind == "r" else np.complex64)
            ref = real_valued(entry.reference) if kind == "r" else entry.reference
            bad, _ = sweep(entry.f, ref, (x,), 2e-5, valued=1e-5)
            assert not bad, bad[:5]


@pytest.mark.parametrize("f", [f for f in TABLE if f is not np.i0], ids=lambda f: f.__name__)
def test_long_doubles_keep_their_digits(f):
    """Constants such as log(2) have the digits of the operand."""
    if np.finfo(np.longdouble).eps > 1e-17:
        pytest.skip("long doubles are doubles here")
    entry = TABLE[f]
    for x in (0.375, 1.75, 12.5):
        with np.errstate(all="ignore"):
            y, pull = qad.vjp(entry.f, np.array([x], np.longdouble))
            found = pull(np.ones_like(y))[0]
        true = reference(real_valued(entry.reference), [x], (0,))
        assert found.dtype == np.longdouble
        if true is not None and np.isfinite(y[0]):
            with m.workdps(30):
                digits = m.mpf(np.format_float_scientific(found[0], unique=False, precision=25))
                assert abs(digits - true) <= 1e-17 * abs(true), (x, digits, true)
