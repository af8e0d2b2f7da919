"""The short-cuts change no result: every case of every floor, with them and without them.

They are, by where they stand:

* ``core/fast/recorders.py``: `unary`, `unary_with_metadata`, `binary` with its choice of the variant that
  broadcasts and Python's operators for NumPy's scalars, `product`;
* ``core/fast/pushes.py``: `push_one`, `push_two`, `push_product`, `batch_two`;
* ``core/fast/sweep.py``: the held contribution and the stack in front of the heap, sums in arrays that the
  sweep owns (``fresh``), ``adds``, ``consumes``, and the `Lazy` cotangents, which rules take as they are (``accepts``).

`plain_roads` switches all of them off.  What an operation means is no short-cut: ``Primitive.canonical`` and
``Primitive.root`` are asked on every road, and the ``scaled`` rules are told the end of the pass on every road.
"""

import operator

import numpy as np
import pytest

import qad
from qad.core.debug.observer import plain_roads
from qad.core.fast import recorders, sweep
from qad.core.tape.levels import mode
from qad.core.trees import tree_map
from qad.core.vmap import rules as batching
from tests.properties.roads import differing
from tests.rules.test_registry import FLOORS, fresh, gathered
from tests.sampling import one_in

pytestmark = pytest.mark.filterwarnings("ignore")  # at kinks NumPy warns
KINKS = {  # of norms, of products and extrema with ties; single numbers are 0, then 1
    "zeros": np.zeros_like,
    "ones and zeros": lambda x: np.ones_like(x) * ((np.arange(x.size).reshape(x.shape) + 1) % 2),
}


def few(cases):
    """One in ten of the cases, as far as they bring something new."""
    return fresh(one_in(10, cases))


everything = pytest.mark.parametrize("chosen", [few, pytest.param(list, marks=pytest.mark.slow)], ids=["few", "all"])


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


def plain():
    """Whether short-cuts step aside."""
    return mode() is not None and mode().plain


def report(cases):
    """What differs in one of these pairs of a case and a point, a line each."""
    found = [f"{case}: {words}" for case, point in cases for words in differing(case.f, point, case.order)[:1]]
    return "\n".join(found)


@everything
@pytest.mark.parametrize("floor", FLOORS)
def test_every_case_is_the_same_on_both_roads(floor, chosen):
    cases = [(case, case.point) for case in chosen(gathered((floor,)))]
    assert cases
    assert not (words := report(cases)), words


@everything
@pytest.mark.parametrize("kink", KINKS)
def test_every_rule_is_the_same_on_both_roads_where_it_may_have_a_kink(kink, chosen):
    cases = list(chosen(gathered(("rules", "special"))))
    points = [(c, tree_map(lambda x: np.asarray(KINKS[kink](x)), c.point)) for c in cases]
    fitting = [(case, point) for case, point in points if runs(case, point)]
    assert len(fitting) > 0.9 * len(points)
    assert not (words := report(fitting)), words


def runs(case, point):
    try:
        case.f(*point)
    except (ValueError, TypeError, ArithmeticError, IndexError):
        return False
    return True


SHORT_CUTS = [
    (recorders, "push_one"), (recorders, "push_two"), (recorders, "push_product"), (recorders, "batch_two"),
    (sweep, "added"), (sweep, "collect"),
]  # fmt: skip


@pytest.mark.parametrize("module, name", SHORT_CUTS, ids=lambda x: x if isinstance(x, str) else "")
def test_no_short_cut_is_taken_on_the_plain_roads(module, name, monkeypatch):
    calls = []
    taken = getattr(module, name)

    def counted(*args):
        calls.append(1)
        return taken(*args)

    monkeypatch.setattr(module, name, counted)
    for level, function in recorders.TWO.items():
        monkeypatch.setitem(recorders.TWO, level, counted if function is taken else function)
    a, x = np.ones((3, 3)), np.array([0.5, 1.0, 1.5])

    def f(x):
        y = np.sin(a @ x) * x * np.exp(x)
        return np.sum(y * y) + y[0] * y[1] * np.sum((np.outer(y, x) @ a) @ a) * x[2] + np.sum(y[1:])

    def all_of_them():
        qad.grad(f)(x)
        qad.jvp(f, (x,), (x,))
        qad.jvp(lambda m: m @ a @ m, (a,), (a,))
        qad.vmap(f)(np.stack([x, x]))
        qad.vmap(lambda m: m @ a @ m)(np.stack([a, a]))
        qad.hessian(f)(x)
        qad.jacobian(lambda x: np.concatenate([np.sin(x), np.cos(x) * x, np.exp(x), x * 2.0, x / 3.0, x - 1.0, x]))(x)

    with plain_roads():
        all_of_them()
    assert not calls
    all_of_them()
    assert calls


def test_the_switch_is_off_by_default_and_nests():
    assert not plain()
    with plain_roads(), qad.profile(show=False):
        assert plain()
    with qad.profile(show=False):
        assert not plain()
    assert batching and not plain()


def test_a_short_cut_that_changes_a_result_is_noticed():
    @qad.extend.primitive
    def twice(x):
        return 2 * x

    qad.extend.defvjp(twice, lambda g, ans, x: 2 * g, elementwise=True)
    wrong = qad.extend.quick(twice, operator=lambda x: 3 * x)
    assert any("reverse" in words for words in differing(wrong, (np.float64(1.0),)))
    product = qad.extend.quick(np.multiply, operator=operator.add)
    assert differing(lambda x: product(x[0], x[1]), (np.array([2.0, 5.0]),))


def test_another_structure_is_noticed():
    def f(x):
        return x * x if plain() else np.sin(x) ** 0 * x

    assert any("records" in words for words in differing(f, (np.ones(2),)))
