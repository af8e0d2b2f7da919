"""Special functions: a line each, at real and complex points, and where their formulas change."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import special

import qad
from tests.cases import Case, normal

ANY = np.array([-1.3, -0.2, 0.4, 1.7])
POSITIVE = np.array([0.3, 0.9, 1.6, 4.2])
UNIT = np.array([0.11, 0.35, 0.6, 0.92])
PLANE = normal(3, complex)
RIGHT = PLANE + 3

TABLE = [  # function, real points, complex points
    (special.gamma, ANY, PLANE),
    (special.rgamma, ANY, PLANE),
    (special.gammaln, POSITIVE, None),
    (special.loggamma, POSITIVE, RIGHT),
    (special.digamma, POSITIVE, PLANE),
    (special.erf, ANY, PLANE),
    (special.erfc, ANY, PLANE),
    (special.erfcx, ANY, PLANE),
    (special.erfi, ANY, PLANE),
    (special.erfinv, UNIT, None),
    (special.erfcinv, UNIT, None),
    (special.dawsn, ANY, PLANE),
    (special.wofz, None, PLANE),
    (special.ndtr, ANY, PLANE),
    (special.log_ndtr, ANY, PLANE),
    (special.ndtri, UNIT, None),
    (special.exp2, ANY, None),
    (special.exp10, ANY, None),
    (special.expm1, ANY, PLANE),
    (special.log1p, UNIT, RIGHT),
    (special.cbrt, POSITIVE, None),
    (special.cosm1, ANY, None),
    (special.expi, ANY, RIGHT),
    (special.exp1, POSITIVE, RIGHT),
    (special.expit, ANY, None),
    (special.log_expit, ANY, None),
    (special.logit, UNIT, None),
    (special.entr, UNIT, None),
    (special.exprel, ANY, None),
    (special.j0, ANY, None),
    (special.j1, ANY, None),
    (special.y0, POSITIVE, None),
    (special.y1, POSITIVE, None),
    (special.i0, ANY, None),
    (special.i1, ANY, None),
    (special.k0, POSITIVE, None),
    (special.k1, POSITIVE, None),
    (np.i0, ANY, None),
]
CASES = [Case(f, x) for f, *points in TABLE for x in points if x is not None]
CASES += [
    Case(lambda z, f=f, v=v: f(v, z), z, name=f"{f.__name__}-{v}")
    for f in (special.jv, special.yv, special.iv, special.kv, special.hankel1, special.hankel2)
    for v in (0, 1.5, np.array([-1.0, 2.0, 0.5]))
    for z in (POSITIVE[:3], RIGHT)
    if not (f in (special.hankel1, special.hankel2) and z.dtype == float)
]
CASES += [Case(special.beta, (POSITIVE, UNIT)), Case(special.betaln, (POSITIVE[:, None], UNIT))]
CASES += [Case(f, (UNIT, POSITIVE)) for f in (special.xlogy, special.xlog1py, special.rel_entr, special.kl_div)]
CASES += [Case(special.xlogy, (PLANE, RIGHT)), Case(special.xlog1py, (PLANE, RIGHT))]
CASES += [Case(special.airy, x) for x in (ANY, PLANE)]
CASES += [
    Case(lambda x: special.gammainc(2.5, x), POSITIVE, name="gammainc"),
    Case(lambda x: special.gammaincc(2.5, x), POSITIVE, name="gammaincc"),
    Case(lambda x: special.betainc(1.5, 2.5, x), UNIT, name="betainc"),
    Case(lambda x: special.expn(4, x), POSITIVE, name="expn"),
    Case(lambda z: special.hyp0f1(1.5, z), PLANE, name="hyp0f1"),
    Case(lambda z: special.hyp1f1(0.5, 1.5, z), PLANE, name="hyp1f1"),
    Case(lambda z: special.hyp2f1(0.5, 1.2, 2.5, z), PLANE / 4, name="hyp2f1"),
]
CASES += [
    Case(lambda x, f=f, n=n: f(n, x), ANY / 2, name=f"{f.__name__}-{n}")
    for f in (
        special.eval_legendre, special.eval_chebyt, special.eval_chebyu, special.eval_laguerre, special.eval_hermite,
        special.eval_hermitenorm,
    )
    for n in (0, 1, 4)
]  # fmt: skip
CASES += [
    Case(lambda x: special.eval_genlaguerre(3, 0.5, x), ANY, name="eval_genlaguerre"),
    Case(lambda x: special.eval_gegenbauer(3, 0.5, x), ANY, name="eval_gegenbauer"),
    Case(lambda x: special.eval_jacobi([0, 1, 2, 3], 0.5, 1.5, x), ANY, name="eval_jacobi"),
]
CASES += [
    Case(lambda z, n=n: qad.special.polygamma(n, z), z, name=f"polygamma-{n}")
    for n in (0, 1, 3)
    for z in (POSITIVE, PLANE)
]
CASES += [
    Case(lambda z, k=k: qad.special.lambertw(z, k), z, name="lambertw") for k in (0, 1) for z in (POSITIVE, PLANE)
]
CASES += [Case(qad.special.exprel, x) for x in (ANY, PLANE, 10 * PLANE, np.zeros(2))]
CASES += [Case(lambda x, f=f: f(x, axis=0), x, name=f.__name__) for f in (qad.special.softmax, qad.special.log_softmax)
          for x in (normal(3, 2), normal(3, 2, complex))]  # fmt: skip
CASES += [
    Case(lambda a, b: qad.special.logsumexp(a, axis=1, b=b), (normal(2, 3), POSITIVE[:3]), name="logsumexp-weights"),
    Case(lambda a: qad.special.logsumexp(a, axis=1, keepdims=True), normal(2, 3, complex), name="logsumexp"),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    case.check()


def test_every_ufunc_of_the_namespace_is_in_the_table():
    covered = {node[1].fn for case in CASES for node in case.nodes()}
    ufuncs = {f for name in qad.special.__all__ if isinstance(f := getattr(qad.special, name), np.ufunc)}
    assert not [f.__name__ for f in ufuncs - covered]


def test_values_are_scipys():
    x = normal(3, 4)
    np.testing.assert_allclose(qad.special.softmax(x, axis=1), special.softmax(x, axis=1))
    np.testing.assert_allclose(qad.special.log_softmax(x), special.log_softmax(x))
    assert qad.special.softmax(0.3) == 1.0 and qad.special.log_softmax(3) == 0.0
    assert qad.grad(qad.special.softmax)(0.3) == 0.0
    np.testing.assert_allclose(qad.special.logsumexp(x, b=x**2, axis=0), special.logsumexp(x, b=x**2, axis=0))
    np.testing.assert_allclose(qad.special.polygamma(2, POSITIVE), special.polygamma(2, POSITIVE))
    np.testing.assert_allclose(qad.special.polygamma(2, POSITIVE + 0j), special.polygamma(2, POSITIVE), rtol=1e-13)
    np.testing.assert_allclose(qad.special.exprel(ANY * 20), special.exprel(ANY * 20), rtol=1e-13)
    assert qad.special.exprel(1) == special.exprel(1)


def test_exprel_keeps_its_digits_at_every_order():
    """Against the integral of ``t^n exp(t x)``, by Gauss's rule."""
    t, w = special.roots_legendre(60)
    t, w = (t + 1) / 2, w / 2
    for x in (-20.0, -4.0, -2.5, -1e-9, 0.3, 2.1, 5.0, 12.0):
        f = qad.special.exprel
        for n in range(4):
            np.testing.assert_allclose(f(x), np.sum(w * t**n * np.exp(t * x)), rtol=1e-11)
            f = qad.grad(f)


def test_single_precision_stays():
    for f in (qad.special.erf, qad.special.exprel, lambda x: qad.special.polygamma(1, x)):
        assert qad.grad(lambda x, f=f: f(x).sum())(POSITIVE.astype(np.float32)).dtype == np.float32


def test_orders_are_constants():
    for f in (lambda v: special.jv(v, 1.0), lambda v: special.gammainc(v, 1.0)):
        with pytest.raises(qad.errors.MissingRuleError, match="argument number 0"):
            qad.grad(f)(0.5)
        with pytest.raises(qad.errors.MissingRuleError, match="argument number 0"):
            qad.jvp(f, (0.5,), (1.0,))
    with pytest.raises(qad.errors.ArgumentError, match="integer"):
        qad.special.polygamma(0.5, 1.0)


def test_rules_are_loaded_at_first_use():
    """`import qad` does without SciPy's special functions; a rule of one's own comes before and stays."""
    code = """
import sys, qad
assert "scipy.special" not in sys.modules
from scipy import special
assert "qad.special" not in sys.modules
qad.extend.defvjp(special.erfc, lambda g, y, x: 7 * g, elementwise=True)
assert abs(qad.grad(special.erf)(0.0) - 1.1283791670955126) < 1e-15
assert qad.grad(special.erfc)(0.0) == 7
"""
    subprocess.run([sys.executable, "-c", code], check=True)
