"""Python's floats, NumPy's numbers and arrays have the same derivatives, in all modes and to second order."""

import fractions
import statistics
from functools import partial

import numpy as np
import pytest
from scipy import special

import qad
from qad.core.errors import ArgumentError, RecordedTensorError

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
VALUES = (-2.5, -1.0, -0.3, 0.0, 0.3, 1.0, 2.5)
KINDS = (float, np.float64, np.array, lambda x: np.array([x]))
BEFORE = {  # parameters before the argument
    **dict.fromkeys(("jv", "yv", "iv", "kv", "jn", "hankel1", "hankel2", "polygamma"), (1,)),
    **dict.fromkeys(("hyp0f1", "gammainc", "gammaincc"), (0.7,)),
    **dict.fromkeys(("eval_genlaguerre", "eval_gegenbauer"), (2, 0.5)),
    **dict.fromkeys((n for n in qad.special.__all__ if n.startswith("eval_")), (3,)),
    "hyp1f1": (0.5, 1.5), "hyp2f1": (0.5, 1.2, 2.5), "betainc": (0.5, 1.5), "expn": (2,),
    "eval_genlaguerre": (2, 0.5), "eval_gegenbauer": (2, 0.5), "eval_jacobi": (2, 0.5, 1.5),
}  # fmt: skip
PAIRS = ("beta", "betaln", "xlogy", "xlog1py", "rel_entr", "kl_div")
UFUNCS = "sqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh "
UFUNCS += "arccosh arctanh degrees radians square reciprocal negative absolute sign floor"
OF_TWO = "add subtract multiply divide remainder fmod hypot power float_power logaddexp logaddexp2 arctan2 maximum fmin"


def real(f):
    """`f` as real numbers have it: the real part of what is complex."""
    return lambda x: y.real if (y := f(x)).dtype.kind == "c" else y


def functions():
    for name in qad.special.__all__:
        f = getattr(qad.special, name)
        if name in PAIRS:
            yield name, lambda x, f=f: f(0.7, x)
            yield name + "-1", lambda x, f=f: f(x, 0.7)
        elif name == "airy":
            yield name, lambda x: special.airy(x)[2]
        elif name != "logsumexp":
            yield name, partial(f, *BEFORE.get(name, ()))
    for name in UFUNCS.split():
        yield "np." + name, getattr(np, name)
    for name in OF_TWO.split():
        f = getattr(np, name)
        yield "np." + name, lambda x, f=f: f(0.7, x)
        yield f"np.{name}-1", lambda x, f=f: f(x, 0.7)
    for p in (2, -1, 0.5, 1.5, 0, np.float64(1.5)):
        yield f"** {p!r}", lambda x, p=p: x**p


def derivatives(f, x):
    """First and second derivative: by reverse mode, by forward mode, and by one over the other."""
    one = np.ones(np.shape(x))[()]

    def total(t):
        return np.sum(f(t))

    def slope(t):
        return qad.jvp(f, (t,), (one,))[1]

    first = [qad.grad(total)(x), slope(x)]
    return first, [qad.hvp(total, (x,), (one,))[0], qad.jvp(slope, (x,), (one,))[1]]


@pytest.mark.parametrize("name, f", [pytest.param(n, real(f), id=n) for n, f in functions()])
@pytest.mark.sampled(40)
def test_all_kinds_of_numbers_agree(name, f):
    for x in VALUES:
        found = [derivatives(f, kind(x)) for kind in KINDS]
        for order in (0, 1):
            values = [float(np.ravel(value)[0]) for each in found for value in each[order]]
            np.testing.assert_allclose(values, values[-2], rtol=1e-11, err_msg=f"{name} at {x}, order {order + 1}")


def test_erfcx_of_negative_numbers():
    for x in (-1.0, np.float64(-1.0), np.float32(-1.0)):
        assert qad.grad(special.erfcx)(x) == pytest.approx(-11.14633932862008, rel=1e-6)


@pytest.mark.parametrize("p", [1.5, 2.5, -1.5, np.float64(1.5)])
def test_powers_of_minus_infinity(p):
    """NumPy's square root of an array makes NaN of it, its power of a number inf."""
    values = [np.ravel(qad.grad(lambda x: np.sum(x**p))(kind(-np.inf)))[0] for kind in KINDS]
    np.testing.assert_array_equal(values, values[-1])


@pytest.mark.parametrize("f", [np.cbrt, special.cbrt])
def test_the_curvature_of_cube_roots_at_0(f):
    """As that of square roots: infinite from the right."""
    for kind in KINDS:
        first, second = derivatives(f, kind(0.0))
        assert np.all(np.ravel(first) == np.inf)
        assert np.all(np.ravel(second) == -np.inf)


REDUCTIONS = "sum mean var std prod max min median average nanmean nanprod nanmedian any argmax cumsum ptp"


@pytest.mark.parametrize("name", [*REDUCTIONS.split(), "quantile", "nanpercentile"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3)], ids=str)
def test_axes_that_are_not_there(name, shape):
    """Tensors say what arrays say."""
    x, more = np.ones(shape), (0.5,) if "ntile" in name else ()
    for axis in (0, 1, 2, -1, -2, -3):
        try:
            getattr(np, name)(x, *more, axis=axis)
        except np.exceptions.AxisError:
            with pytest.raises(np.exceptions.AxisError):
                getattr(np, name)(qad.tensor(x, requires_grad=True), *more, axis=axis)


@pytest.mark.parametrize("ask", [lambda x: x.tobytes(), lambda x: x.dumps(), statistics.mean, statistics.stdev])
def test_recorded_tensors_do_not_give_their_values_away(ask):
    with pytest.raises(RecordedTensorError, match="cut it off"):
        ask(qad.tensor([1.0, 2.0], requires_grad=True))


def test_values_of_constant_tensors():
    x = qad.tensor([1.0, 2.0])
    assert x.tobytes() == np.array([1.0, 2.0]).tobytes()
    with pytest.raises(TypeError, match="tolist"):
        statistics.mean(x)
    with pytest.raises(TypeError):
        fractions.Fraction(x[0])


def test_what_changes_arrays_in_place():
    x = qad.tensor(np.ones((3, 3)), requires_grad=True)
    with pytest.raises(ArgumentError, match="reshape"):
        x.shape = (9,)
    with pytest.raises(ArgumentError, match="astype"):
        x.dtype = int
    for name in ("setfield", "getfield", "setflags"):
        with pytest.raises(ArgumentError, match="write"):
            getattr(x, name)()
