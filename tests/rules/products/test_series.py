"""``qad.polynomial``: values are those of ``np.polynomial``, derivatives in coefficients and points."""

import numpy as np
import pytest

import qad
from qad.rules.products import series
from tests.cases import Case, normal

BASES = list(series.MODULES.items())
C, X = normal(4), normal(3)


def pair(name, kind):
    """qad's function and NumPy's."""
    short = {module: prefix for prefix, module in BASES}[name] + kind
    return getattr(getattr(qad.polynomial, name), short), getattr(getattr(np.polynomial, name), short)


CASES = []
for _name in series.__all__:
    ours = {kind: pair(_name, kind)[0] for kind in ("val", "der", "int", "mul", "fit")}
    CASES += [
        Case(lambda x, c, f=ours["val"]: f(x, c), (X, C), name=f"{_name}-val"),
        Case(lambda x, c, f=ours["val"]: f(x, c), (normal(2, complex), normal(3, complex)), name=f"{_name}-val"),
        Case(lambda c, f=ours["der"]: f(c, 2), C, name=f"{_name}-der"),
        Case(lambda c, f=ours["int"]: f(c, 2, [1.0, 2.0]), C, name=f"{_name}-int"),
        Case(lambda a, b, f=ours["mul"]: f(a, b), (C, normal(2)), name=f"{_name}-mul"),
        Case(lambda x, y, f=ours["fit"]: f(x, y, 2), (normal(6), normal(6)), name=f"{_name}-fit"),
    ]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    case.check()


@pytest.mark.parametrize("name", series.__all__)
def test_values_are_numpys(name):
    calls = {
        "val": [(X, C), (0.3, C), (X, normal(4, 2)), (normal(2), normal(4, 2), False)],
        "vander": [(X, 3), (X, 0)],
        "der": [(C,), (C, 3), (normal(4, 2), 1, 2.0), (normal(2, 4), 1, 1, 1)],
        "int": [(C,), (C, 2, [1.0, 2.0]), (C, 1, 3.0, 0.5, 2.0), (normal(2, 4), 1, [], 0, 1, 1), (C, 0)],
        "add": [(C, normal(2)), (normal(2), C)],
        "sub": [(C, normal(2)), (normal(2), C)],
        "mul": [(C, normal(2)), (normal(1), C)],
        "fit": [(normal(6), normal(6, 2), 2), (normal(6), normal(6), 3, None, False, np.arange(1.0, 7))],
    }
    for kind, several in calls.items():
        ours, numpys = pair(name, kind)
        for args in several:
            np.testing.assert_allclose(ours(*args), numpys(*args), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", series.__all__)
def test_numpys_own_functions_take_recorded_points(name):
    numpys = pair(name, "val")[1]
    Case(lambda x: numpys(x, C), X).check()


def test_numpys_own_functions_refuse_recorded_coefficients_and_its_classes_recorded_points():
    c = qad.tensor(C, requires_grad=True)
    for call in (
        lambda: np.polynomial.chebyshev.chebval(X, c),
        lambda: np.polynomial.legendre.legder(c),
        lambda: np.polynomial.Chebyshev(c),
        lambda: np.polynomial.Chebyshev(C)(c),
    ):
        with pytest.raises(qad.QadError, match=r"qad\.polynomial for np\.polynomial"):
            call()


def test_fits_of_several_degrees_are_refused():
    with pytest.raises(qad.errors.ArgumentError, match="degrees"):
        qad.polynomial.legendre.legfit(X, X, [0, 2])
