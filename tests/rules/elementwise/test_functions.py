"""Elementwise functions: a line each, checked for every kind of operand."""

import operator

import numpy as np
import pytest

import qad
from tests.cases import Case


def real(low, high):
    """A sampler of real numbers in an interval."""
    return lambda rng, shape: rng.uniform(low, high, shape)


def around(centre, radius):
    """A sampler of complex numbers in a disc."""

    def sample(rng, shape):
        return centre + radius * np.sqrt(rng.uniform(0, 1, shape)) * np.exp(2j * np.pi * rng.uniform(0, 1, shape))

    return sample


ANY, POSITIVE, UNIT, LARGE = real(-1, 1), real(0.5, 2), real(-0.7, 0.7), real(1.5, 3)
PLANE, RIGHT, AWAY, UPPER = around(0, 1), around(1.5, 0.8), around(1 - 1j, 0.7), around(1.5j, 0.8)
LEFT, HIGH = real(-1, -0.2), real(0.2, 1)

TABLE = [  # function, domains of real operands, domains of complex operands
    (np.add, (ANY, ANY), (PLANE, PLANE)),
    (np.subtract, (ANY, ANY), (PLANE, PLANE)),
    (np.multiply, (ANY, ANY), (PLANE, PLANE)),
    (np.divide, (ANY, POSITIVE), (PLANE, RIGHT)),
    (np.power, (POSITIVE, ANY), (RIGHT, PLANE)),
    (np.float_power, (POSITIVE, ANY), (RIGHT, PLANE)),
    (np.remainder, (real(4.3, 4.4), real(1.12, 1.2)), ()),
    (np.fmod, (real(-4.4, -4.3), real(1.12, 1.2)), ()),
    (np.positive, (ANY,), (PLANE,)),
    (np.negative, (ANY,), (PLANE,)),
    (np.square, (ANY,), (PLANE,)),
    (np.reciprocal, (POSITIVE,), (RIGHT,)),
    (np.sqrt, (POSITIVE,), (AWAY,)),
    (np.cbrt, (POSITIVE,), ()),
    (np.hypot, (POSITIVE, ANY), ()),
    (np.exp, (ANY,), (PLANE,)),
    (np.exp2, (ANY,), (PLANE,)),
    (np.expm1, (ANY,), (PLANE,)),
    (np.log, (POSITIVE,), (AWAY,)),
    (np.log2, (POSITIVE,), (AWAY,)),
    (np.log10, (POSITIVE,), (AWAY,)),
    (np.log1p, (POSITIVE,), (RIGHT,)),
    (np.logaddexp, (ANY, ANY), ()),
    (np.logaddexp2, (ANY, ANY), ()),
    (np.sin, (ANY,), (PLANE,)),
    (np.cos, (ANY,), (PLANE,)),
    (np.tan, (ANY,), (PLANE,)),
    (np.arcsin, (UNIT,), (UPPER,)),
    (np.arccos, (UNIT,), (UPPER,)),
    (np.arctan, (ANY,), (RIGHT,)),
    (np.sinh, (ANY,), (PLANE,)),
    (np.cosh, (ANY,), (PLANE,)),
    (np.tanh, (ANY,), (around(0, 0.8),)),
    (np.arcsinh, (ANY,), (RIGHT,)),
    (np.arccosh, (LARGE,), (UPPER,)),
    (np.arctanh, (UNIT,), (UPPER,)),
    (np.arctan2, (ANY, POSITIVE), ()),
    (np.degrees, (ANY,), ()),
    (np.rad2deg, (ANY,), ()),
    (np.radians, (ANY,), ()),
    (np.deg2rad, (ANY,), ()),
    (np.maximum, (LEFT, HIGH), ()),
    (np.minimum, (LEFT, HIGH), ()),
    (np.fmax, (HIGH, LEFT), ()),
    (np.fmin, (HIGH, LEFT), ()),
    (np.copysign, (LEFT, HIGH), ()),
    (np.heaviside, (LEFT, ANY), ()),
    (np.unwrap, (ANY,), ()),
    (np.sinc, (ANY,), (PLANE,)),
    (np.absolute, (LEFT,), (RIGHT,)),
    (np.fabs, (LEFT,), ()),
    (qad.abs2, (ANY,), (PLANE,)),
    (np.angle, (HIGH,), (AWAY,)),
    (np.sign, (LEFT,), (RIGHT,)),
    (np.conjugate, (ANY,), (PLANE,)),
    (np.real, (ANY,), (PLANE,)),
    (np.imag, (ANY,), (PLANE,)),
    (np.nan_to_num, (ANY,), (PLANE,)),
]
EVERY = pytest.mark.parametrize("f, reals, complexes", TABLE, ids=lambda x: getattr(x, "__name__", ""))


def at(domains, *shapes):
    """A point with operands of these shapes, repeated to as many as there are domains."""
    rng = np.random.default_rng(len(domains))
    return tuple(np.asarray(d(rng, s)) for d, s in zip(domains, shapes * 2, strict=False))


CASES = [Case(f, at(domains, (3, 2))) for f, *kinds in TABLE for domains in kinds if domains]
CASES += [
    Case(lambda x: np.ldexp(x, np.array([1, -2, 3])), at([ANY], (3,)), name="ldexp"),
    Case(lambda x: np.nextafter(x, 2.0), at([ANY], (3,)), name="nextafter"),
    Case(lambda x: np.modf(x)[0], at([real(2.1, 2.9)], (3,)), name="modf"),
    Case(lambda x: np.frexp(x)[0], at([real(2.1, 2.9)], (3,)), name="frexp"),
    Case(lambda x: np.divmod(x, 0.7)[1], at([real(2.2, 2.7)], (3,)), name="divmod"),
    Case(lambda x, h: np.heaviside(x * 0, h), at([ANY, ANY], (3,)), name="heaviside-at-0"),
    Case(lambda z: np.angle(z, deg=True), at([AWAY], (3,)), name="angle-degrees"),
    Case(np.real_if_close, at([PLANE], (3,))),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    case.check()


@EVERY
def test_layouts(f, reals, complexes):
    """0-d, empty, transposed, strided, reversed; functions of an axis take no 0-d."""
    for domains in filter(None, (reals, complexes)):
        if f is not np.unwrap:
            Case(f, at(domains, ())).check()
        Case(f, at(domains, (2, 0))).check()
        big = at(domains, (4, 6))
        for change in (lambda x: np.asfortranarray(x[:2, :2]), lambda x: x[::3, 1::3], lambda x: x[1::-1, :2].T):
            Case(f, tuple(map(change, big)), order=1).check()


@EVERY
def test_single_precision(f, reals, complexes):
    for domains, dtype in ((reals, np.float32), (complexes, np.complex64)):
        if domains:
            Case(f, tuple(x.astype(dtype) for x in at(domains, (2, 2)))).check()


@EVERY
def test_broadcasting_and_mixed_kinds(f, reals, complexes):
    if len(reals) < 2:
        return
    kinds = [reals]
    if complexes:
        kinds += [complexes, (reals[0], complexes[1]), (complexes[0], reals[1])]
    for domains in kinds:
        for shapes in (((3, 1), (2,)), ((), (2,)), ((2, 1), ()), ((1, 2), (2, 1)), ((0, 1), (2,)), ((3,), (3,))):
            Case(f, at(domains, *shapes)).check()


@EVERY
def test_constants_on_either_side(f, reals, complexes):
    if len(reals) < 2:
        return
    x, y = at(reals, (3,))
    for a in (float(x[0]), x[0], x):
        Case(lambda b, a=a: f(a, b), (y,)).check()
    for b in (float(y[0]), y[0], y):
        Case(lambda a, b=b: f(a, b), (x,)).check()


@EVERY
def test_the_function_is_reachable_from_qad(f, reals, complexes):
    assert getattr(qad, f.__name__) is f


OPERATORS = [
    (operator.add, np.add), (operator.sub, np.subtract), (operator.mul, np.multiply), (operator.truediv, np.divide),
    (operator.pow, np.power), (operator.mod, np.remainder),
]  # fmt: skip


@pytest.mark.parametrize("op, f", OPERATORS, ids=lambda x: x.__name__)
@pytest.mark.parametrize("other", [2.0, 3, np.float64(1.5), np.array([1.5, 2.5]), [1.5, 2.5]], ids=repr)
def test_operators_agree_with_functions(op, f, other):
    x = np.array([0.7, 1.2])
    for by_operator, by_function in (
        (lambda t: op(t, other), lambda t: f(t, other)),
        (lambda t: op(other, t), lambda t: f(other, t)),
        (lambda t: op(t, t), lambda t: f(t, t)),
    ):
        for a, b in zip(qad.jvp(by_operator, (x,), (x,)), qad.jvp(by_function, (x,), (x,)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-14)
        w = np.array([1.0, -2.0])
        (a,), (b,) = qad.vjp(by_operator, x)[1](w), qad.vjp(by_function, x)[1](w)
        np.testing.assert_allclose(a, b, rtol=1e-14)


def test_recorded_scalars_beside_arrays():
    for z in (np.array([0.5, -1.5]), np.array([0.5 - 1j, 2j])):
        Case(lambda z: z.sum() * z + (z - z.sum()) / z[0], z).check()
        Case(lambda z: z.sum() + 2.0 * z.sum() * np.ones((2, 1)) - np.float64(3) * z, z).check()
        Case(lambda a, b: a * b.sum() - b / a.sum(), (z, z + 1)).check()


def test_unary_operators():
    x = np.array([-0.7, 1.2])
    for op, f in ((operator.neg, np.negative), (operator.pos, np.positive), (abs, np.absolute)):
        np.testing.assert_array_equal(qad.vjp(op, x)[1](x)[0], qad.vjp(f, x)[1](x)[0])


def test_comparisons_give_plain_arrays():
    t, x = qad.tensor([1.0, 2.0], requires_grad=True), np.array([1.5, 1.5])
    for op in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge, operator.floordiv):
        for a, b in ((t, x), (x, t), (t, 1.5), (1.5, t), (t, t)):
            found, expected = op(a, b), op(getattr(a, "value", a), getattr(b, "value", b))
            assert type(found) is np.ndarray
            np.testing.assert_array_equal(found, expected)
    assert type(round(t, 1)) is type(~(t > x)) is np.ndarray


def test_imaginary_unit_times_a_scalar():
    """``1j * np.float64`` alone would be a Python complex."""
    g = qad.grad(lambda x: qad.abs2(1j * x.sum() + 1.0))(np.array([1.0, 2.0]))
    np.testing.assert_allclose(g, [6.0, 6.0])


def test_exponents_of_a_base_in_another_dtype():
    """The logarithm is taken in the dtype of the power: single to double precision, negative to complex."""
    p, z = np.array([0.5, 1.5]), np.array([0.5 + 1j, 2 - 1j])
    for base in (np.float32(1.7), np.array([1.7, 0.3], np.float32), np.complex64(1 + 2j), True, 2, np.int64(3)):
        Case(lambda p, base=base: base**p, (p,)).check()
        Case(lambda z, base=base: base**z, (z,)).check()
    for base in (-2, -2.0, np.float64(-2), np.array([-2.0, -0.5]), np.array([-2, -1])):
        Case(lambda z, base=base: base**z, (z,)).check()


def test_second_derivatives_at_the_kink_of_a_modulus():
    """Zero by convention, as those of abs."""
    x = np.zeros(2)
    for f in (np.hypot, np.arctan2):
        for product in qad.hvp(lambda a, b, f=f: f(a, b).sum(), (x, x), (np.ones(2), np.ones(2) * 2)):
            np.testing.assert_array_equal(product, x)


def test_unwrap_with_options_by_position():
    Case(lambda x: np.unwrap(3 * x, 3.0, 0), at([ANY], (3, 2))).check()


def test_a_tensor_times_itself_is_its_square():
    Case(lambda x: (x * x) * np.sin(x) + x * (x + 0), (np.array([0.5, -2.0]),)).check()
    Case(lambda z: (z * z) * z + z * z.conj(), (np.array([0.5 - 1j, 2.0]),)).check()
    Case(lambda x: x[0] * x[0] * x[1] * x[1], (np.array([0.5, -2.0]),)).check()
    graph = qad.tensor([0.5, -2.0], requires_grad=True)
    assert "op=square" in repr(graph * graph)
    zero = np.zeros(2, complex)
    np.testing.assert_array_equal(qad.hvp(lambda z: np.sum((r := abs(z)) * r), (zero,), (zero + 1j,))[0], zero + 2j)
    mask = qad.tensor([True, False])
    assert (mask * mask).dtype == bool
    assert (qad.vmap(lambda m: m * m)(np.array([True, False]))).dtype == bool
