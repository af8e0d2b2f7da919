"""Every special function against mpmath, over 600 decades and the whole plane, to second order."""

import mpmath as m
import numpy as np
import pytest
from scipy import special

import qad
from tests.sweeps import Swept, real_valued, sweep

# -- where references and SciPy's own functions have digits --------------------------------------------------


def moderate(x):
    """Where references that sum series take milliseconds; SciPy's Bessel functions give NaN far out."""
    return (abs(x) > 1e-3) & (abs(x) < 60) & ~((np.imag(x) == 0) & np.signbit(np.imag(x)))


def inside(x):
    """Away from branch points, around which SciPy's values of complex or broken degree have lost digits."""
    return moderate(x) & (abs(abs(x) - 1) > 0.01) & (abs(x) < 30)


def at_most(bound):
    return lambda x: abs(x) < bound


def away(*points):
    return lambda x: ~np.isin(x, points)


# -- references ----------------------------------------------------------------------------------------------


def ln(x):
    return m.log(x)


def ndtr(x):
    return m.erfc(-x / m.sqrt(2)) / 2


def dawsn(x):
    return m.sqrt(m.pi) / 2 * m.exp(-x * x) * m.erfi(x)


def exprel(x):
    return m.expm1(x) / x if x else 1 + x


def lower_gamma(a, x):
    """The regularised lower incomplete gamma function; that of mpmath calls itself without end below 0."""
    a = m.mpf(a)
    return x**a * m.hyp1f1(a, a + 1, -x) / m.gamma(a + 1)


UNIT = (0.02, 0.3, 0.5, 0.7, 0.98)
UNARY = {
    "gamma": Swept(special.gamma, m.gamma, "rc", moderate, 130),
    "rgamma": Swept(special.rgamma, m.rgamma, "rc", moderate, 130),
    "gammaln": Swept(special.gammaln, lambda x: m.log(abs(m.gamma(x))), "r", moderate, 130),
    "loggamma": Swept(special.loggamma, m.loggamma, "rc", lambda x: moderate(x) & (np.real(x) > 0)),
    "digamma": Swept(special.digamma, m.digamma, "rc", moderate, 350),
    "polygamma": Swept(lambda x: qad.special.polygamma(1, x), lambda x: m.polygamma(1, x), "rc", moderate, 130),
    "erf": Swept(special.erf, m.erf, "rc", at_most(1e3), 350),
    "erfc": Swept(special.erfc, m.erfc, "rc", at_most(1e3), 350),
    "erfcx": Swept(special.erfcx, lambda x: m.exp(x * x) * m.erfc(x), "rc", at_most(1e5), 350),
    "erfi": Swept(special.erfi, m.erfi, "rc", at_most(1e5), 350),
    "erfinv": Swept(special.erfinv, m.erfinv, "r", at_most(1), 130, extra=UNIT),
    "erfcinv": Swept(
        special.erfcinv, lambda x: m.erfinv(1 - x), "r", lambda x: (x > 1e-3) & (x < 1.9), 130, extra=UNIT
    ),
    "dawsn": Swept(special.dawsn, dawsn, "rc", at_most(1e3), 350),
    "wofz": Swept(special.wofz, lambda z: m.exp(-z * z) * m.erfc(-1j * z), "c", at_most(1e3), 350),
    "ndtr": Swept(special.ndtr, ndtr, "rc", at_most(1e3), 350),
    "log_ndtr": Swept(special.log_ndtr, lambda x: m.log(ndtr(x)), "rc", at_most(1e4), 350),
    "ndtri": Swept(
        special.ndtri, lambda p: m.sqrt(2) * m.erfinv(2 * p - 1), "r", lambda p: (p > 1e-3) & (p < 1), 130, extra=UNIT
    ),
    "exp2": Swept(special.exp2, lambda x: m.exp(x * ln(2)), "r"),
    "exp10": Swept(special.exp10, lambda x: m.exp(x * ln(10)), "r"),
    "expm1": m.expm1,
    "log1p": lambda x: m.log(1 + x),
    "cbrt": Swept(special.cbrt, lambda x: m.sign(x) * m.cbrt(abs(x)), "r", away(0)),
    "cosm1": Swept(special.cosm1, lambda x: m.cos(x) - 1, "r"),
    "expi": Swept(special.expi, m.ei, "r"),
    "exp1": Swept(special.exp1, m.e1),
    "expit": Swept(special.expit, lambda x: 1 / (1 + m.exp(-x)), "r"),
    "log_expit": Swept(special.log_expit, lambda x: -m.log1p(m.exp(-x)), "r"),
    "logit": Swept(special.logit, lambda p: m.log(p / (1 - p)), "r", extra=UNIT),
    "entr": Swept(special.entr, lambda x: -x * m.log(x), "r"),
    "exprel": Swept(qad.special.exprel, exprel),
    "lambertw": Swept(qad.special.lambertw, m.lambertw, "c"),
    "lambertw-1": Swept(lambda z: qad.special.lambertw(z, -1), lambda z: m.lambertw(z, -1), "c"),
    "j0": Swept(special.j0, lambda x: m.besselj(0, x), "r", at_most(1e4)),
    "j1": Swept(special.j1, lambda x: m.besselj(1, x), "r", at_most(1e4)),
    "y0": Swept(special.y0, lambda x: m.bessely(0, x), "r", moderate, 130, heavy=True),
    "y1": Swept(special.y1, lambda x: m.bessely(1, x), "r", moderate, 130, heavy=True),
    "i0": Swept(special.i0, lambda x: m.besseli(0, x), "r"),
    "i1": Swept(special.i1, lambda x: m.besseli(1, x), "r"),
    "k0": Swept(special.k0, lambda x: m.besselk(0, x), "r", moderate, 130, heavy=True),
    "k1": Swept(special.k1, lambda x: m.besselk(1, x), "r", moderate, 130, heavy=True),
    "hyp0f1": Swept(lambda z: special.hyp0f1(1.5, z), lambda z: m.hyp0f1(1.5, z), "rc", moderate),
    "hyp1f1": Swept(lambda z: special.hyp1f1(0.5, 1.5, z), lambda z: m.hyp1f1(0.5, 1.5, z), "rc", moderate, 350),
    "hyp2f1": Swept(
        lambda z: special.hyp2f1(0.5, 1.2, 2.5, z), lambda z: m.hyp2f1(0.5, m.mpf(1.2), 2.5, z), "rc", at_most(0.9), 350
    ),
    "airy": Swept(lambda z: special.airy(z)[0], m.airyai, "rc", lambda x: abs(x) < 30, 350),
    "airy-bi": Swept(lambda z: special.airy(z)[2], m.airybi, "rc", lambda x: moderate(x) & (abs(x) < 30), 350),
}
UNARY = {
    name: entry if isinstance(entry, Swept) else Swept(getattr(special, name), entry) for name, entry in UNARY.items()
}


def of_order(name, function, reference, order, **options):
    where = options.pop("where", moderate)
    return {
        f"{name}({order})": Swept(lambda x: function(order, x), lambda x: reference(order, x), where=where, **options)
    }


ORDERED = {}
for _name, _reference in (
    ("jv", m.besselj), ("yv", m.bessely), ("iv", m.besseli), ("kv", m.besselk), ("hankel1", m.hankel1),
    ("hankel2", m.hankel2),
):  # fmt: skip
    for _order in (0, 2.5, -1.5):
        kinds = "c" if "h" in _name else "rc"
        ORDERED |= of_order(
            _name, getattr(special, _name), _reference, _order, kinds=kinds, most=130, heavy=_order == 0
        )
for _order in (0, 1, 2, 5):
    ORDERED |= of_order("expn", special.expn, m.expint, _order, kinds="r", most=350)
for _order in (0.3, 2.5):
    for _name, _of in (
        ("gammainc", lower_gamma),
        ("gammaincc", lambda a, x: m.gammainc(a, x, m.inf, regularized=True)),
    ):
        ORDERED |= of_order(_name, getattr(special, _name), _of, _order, kinds="r", most=130)
for _order in ((0.3, 0.7), (1.5, 2.5), (20.0, 3.0)):
    ORDERED[f"betainc{_order}"] = Swept(
        lambda x, ab=_order: special.betainc(*ab, x),
        lambda x, ab=_order: m.betainc(*map(m.mpf, ab), 0, x, regularized=True),
        "r",
        lambda x: (x > 1e-308) & (x < 0.999),
        130,
    )
POLYNOMIALS = {
    "eval_legendre": lambda n, x: m.hyp2f1(-n, n + 1, 1, (1 - x) / 2),
    "eval_chebyt": lambda n, x: m.hyp2f1(-n, n, m.mpf(1) / 2, (1 - x) / 2),
    "eval_chebyu": lambda n, x: (n + 1) * m.hyp2f1(-n, n + 2, m.mpf(3) / 2, (1 - x) / 2),
    "eval_laguerre": lambda n, x: m.hyp1f1(-n, 1, x),
    "eval_hermite": m.hermite,
    "eval_hermitenorm": lambda n, x: m.mpf(2) ** (-m.mpf(n) / 2) * m.hermite(n, x / m.sqrt(2)),
    "eval_genlaguerre": lambda n, x: m.laguerre(n, m.mpf(0.5), x),
    "eval_gegenbauer": lambda n, x: m.gegenbauer(n, m.mpf(0.5), x),
    "eval_jacobi": lambda n, x: m.jacobi(n, m.mpf(0.5), m.mpf(1.5), x),
}


def shaped(name):
    """SciPy's function of degree and point."""
    return lambda n, x: getattr(special, name)(n, *SHAPES.get(name, ()), x)


def exactly(reference):
    return lambda n, x: reference(m.mpf(n), x)


def near_origin(x):
    """Where SciPy's confluent series of broken degree has nine digits: they go beyond 20, along the imaginary axis."""
    return inside(x) & (abs(x) < 20)


SHAPES = {"eval_genlaguerre": (0.5,), "eval_gegenbauer": (0.5,), "eval_jacobi": (0.5, 1.5)}
for _name, _of in POLYNOMIALS.items():
    for _order in (0.3, 0.7, 1, 1.6, 2, 5):
        if "hermite" not in _name:
            where = near_origin if "laguerre" in _name and _order != int(_order) else inside
            broken = {"kinds": "rc", "where": where, "most": 350, "heavy": _order in (0.3, 0.7)}  # 1.6 stands for all
            ORDERED |= of_order(_name, shaped(_name), exactly(_of), _order, **broken)
        elif _order == int(_order):
            ORDERED |= of_order(_name, getattr(special, _name), _of, _order, kinds="r", where=at_most(1e30))
TABLE = UNARY | ORDERED

SIZES = np.array([1.37e-300, 1.37e-160, 1.37e-10, 0.7, 1.0, 3.3, 47.1, 1.37e10, 1.37e160, 1.37e300])
MIDDLE = np.array([0.02, 0.7, 1.0, 3.3, 47.1, 1e3])
PAIRS = {
    "xlogy": (lambda a, b: a * m.log(b), np.concatenate([SIZES, -SIZES]), SIZES),
    "xlog1py": (lambda a, b: a * m.log1p(b), np.concatenate([SIZES, -SIZES]), np.concatenate([SIZES, -SIZES[:4]])),
    "rel_entr": (lambda a, b: a * m.log(a / b), SIZES, SIZES),
    "kl_div": (lambda a, b: a * m.log(a / b) - a + b, SIZES, SIZES),
    "beta": (m.beta, MIDDLE, MIDDLE),
    "betaln": (lambda a, b: m.log(m.beta(a, b)), MIDDLE, MIDDLE),
}
SAME = {"psi": "digamma", "jn": "jv"}
SUMS = {"logsumexp", "softmax", "log_softmax", "sinc"}  # in tests/special/test_slopes.py and tests/rules/test_sweep.py


@pytest.mark.parametrize("name", [name for name in TABLE if not TABLE[name].heavy])
@pytest.mark.sampled(5)
def test_functions_of_one_number(name):
    TABLE[name].check()


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLE)
def test_functions_of_one_number_densely(name):
    TABLE[name].check(dense=True)


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.sampled(3)
def test_functions_of_two_numbers(name):
    check_pairs(name, 3)


def check_pairs(name, step):
    expected, *sides = PAIRS[name]
    a, b = (x.ravel()[::step] for x in np.meshgrid(*sides))
    bad, known = sweep(getattr(special, name), real_valued(expected), (a, b), most=350)
    assert known >= 20
    assert not bad, f"{len(bad)} of {known}:\n" + "\n".join(map(str, bad[:8]))


@pytest.mark.slow
@pytest.mark.parametrize("name", PAIRS)
def test_functions_of_two_numbers_densely(name):
    check_pairs(name, 1)


def test_every_special_function_has_a_reference():
    swept = {name.partition("(")[0].partition("-")[0] for name in (*TABLE, *PAIRS)} | SUMS
    assert {SAME.get(name, name) for name in qad.special.__all__} - swept == set()
