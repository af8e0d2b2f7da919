"""Arrays of other libraries: every case of every floor, and programs, on a stand-in that is as strict as CuPy's.

What fails is listed in ``exempt.py`` with its reason, and nothing else is there: a case that begins to pass leaves
the list.  Numbers that differ are never exempt.
"""

from collections import Counter

import numpy as np
import pytest

import qad
from qad.core.trees import flatten, tree_map
from qad.extend import Tensor, value_of
from tests.cases import KEYWORDS
from tests.properties.exempt import CASES, PROGRAMS_EXEMPT
from tests.properties.programs import PROGRAMS
from tests.properties.roads import noise
from tests.rules.test_registry import FLOORS, gathered
from tests.sampling import one_in
from tests.strict_array import HostArrayError, StrictArray, abroad

pytestmark = pytest.mark.filterwarnings("ignore")


def runs(case, f, point, given):
    """The value and the derivatives, by name; `given` are a cotangent, tangents, and a cotangent of the gradient."""
    w, v, u = given

    def gradient(*xs):
        return qad.vjp(f, *xs)[1](w)

    yield "value", lambda: f(*point)
    yield "reverse", lambda: gradient(*point)
    yield "forward", lambda: qad.jvp(f, point, v)
    if case.order > 1:
        yield "forward over reverse", lambda: qad.jvp(gradient, point, v)[1]
        yield "reverse over reverse", lambda: qad.vjp(gradient, *point)[1](u)


def outcome(case) -> str:
    """What goes wrong with a case on the device: nothing, "refused", or in words how its numbers differ."""
    f, point = case.f, case.point
    out, pullback = qad.vjp(f, *point)
    w, v = noise(out, 1), tuple(noise(point, 2))
    given = w, v, noise(pullback(w), 3)
    there = runs(case, abroad(f), abroad(point), abroad(given))
    for (name, here), (_, run) in zip(runs(case, f, point, given), there, strict=True):
        expected = here()
        try:
            found = run()
        except (TypeError, ValueError, AttributeError) as error:
            return f"refused: {name}: {type(error).__name__}: {error}"
        if words := differing(found, expected):
            return f"{name}: {words}"
    return ""


def differing(found, expected) -> str:
    """How what a program gives on the device differs from what it gives on the host."""
    founds, expecteds = (flatten(tree_map(bare, tree))[0] for tree in (found, expected))
    if len(founds) != len(expecteds):
        return "another number of arrays"
    for x, y in zip(founds, expecteds, strict=True):
        if isinstance(y, np.ndarray) and y.ndim and type(x) is not StrictArray:
            return f"a {type(x).__name__}, not an array of the device"
        x, y = np.asarray(x.held if type(x) is StrictArray else x), np.asarray(y)
        if x.shape != y.shape or x.dtype != y.dtype:
            return f"{x.dtype}{x.shape} instead of {y.dtype}{y.shape}"
        size = np.abs(y[np.isfinite(y)]).max(initial=0.0) if y.dtype.kind in "fc" else 0.0
        if y.dtype.kind in "fc" and not np.allclose(x, y, rtol=1e-9, atol=1e-9 * (1 + size), equal_nan=True):
            return f"{x} instead of {y}"
        if y.dtype.kind in "biu" and not np.array_equal(x, y):
            return f"{x} instead of {y}"
    return ""


def bare(x):
    return value_of(x) if type(x) is Tensor else x


@pytest.mark.parametrize("number", [12, pytest.param(1, marks=pytest.mark.slow)], ids=["one in twelve", "all"])
@pytest.mark.parametrize("floor", FLOORS)
def test_cases(floor, number):
    cases = one_in(number, gathered((floor,)))
    with np.errstate(all="ignore"):
        failed = [(str(case), words) for case in cases if (words := outcome(case))]
    wrong = [pair for pair in failed if not pair[1].startswith("refused")]
    assert not wrong
    listed = Counter(name for names in CASES.get(floor, {}).values() for name in names)
    refused = Counter(name for name, _ in failed)
    unlisted = [pair for pair in failed if pair[0] not in listed]
    assert not unlisted
    if number > 1 or not KEYWORDS:  # NumPy before 2.1 has fewer cases
        listed &= Counter(map(str, cases))
    assert refused == listed


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    f = PROGRAMS[name]
    expected = f()
    if name in PROGRAMS_EXEMPT:
        with pytest.raises((TypeError, ValueError)):
            abroad(f)()
        return
    assert differing(abroad(f)(), expected) == ""


def test_the_stand_in_is_strict():
    x, host = StrictArray(np.ones(3)), np.ones(3)
    for refused in (
        lambda: np.asarray(x),
        lambda: np.array([x, x]),
        lambda: x + host,
        lambda: host + x,
        lambda: np.concatenate([x, host]),
        lambda: np.einsum("i,i->", x, host),
        lambda: host.__setitem__(slice(None), x),
        lambda: x.__setitem__(slice(None), host),
        lambda: np.add(host, x, out=host),
        lambda: np.sum(x, out=host),
    ):
        with pytest.raises((HostArrayError, TypeError)):
            refused()


def test_the_stand_in_takes_what_such_arrays_take():
    x = StrictArray(np.arange(3.0))
    assert type(x + 1) is type(np.float64(2) * x) is type(x[0]) is type(np.zeros(2, like=x)) is StrictArray
    assert type(np.asarray(np.ones(2), like=x)) is StrictArray
    assert float(x[2]) == 2.0 and x[np.array([2, 0])].tolist() == [2.0, 0.0]


def test_exempt_programs_exist():
    assert PROGRAMS_EXEMPT.keys() <= PROGRAMS.keys()
