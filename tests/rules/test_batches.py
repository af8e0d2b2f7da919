"""Every primitive under `qad.vmap`: values, derivatives of examples and derivatives of a batch against a loop.

It walks the cases of all floors; the ordinary run takes a third of those that bring something new, the slow one all.
"""

from operator import itemgetter

import numpy as np
import pytest

import qad
from qad.core.trees import flatten, tree_map
from qad.core.vmap import rules as batching
from qad.rules.shapes.gather import HOLE, gather, gathered_back
from tests.cases import Case, normal
from tests.rules.test_registry import fresh, gathered, nodes_of
from tests.sampling import one_in

ROWS = np.array([0, 2, 2])
CASES = [
    Case(lambda x: gather(x, ROWS, pattern=(slice(None), HOLE)), normal(2, 3), name="gather"),
    Case(
        lambda g: gathered_back(g, ROWS, pattern=(HOLE, slice(None)), shape=(3, 2), dtype=g.dtype),
        normal(3, 2, complex),
        name="gathered_back",
    ),
]
FACTORS = (1.0, 1.125, 0.875)  # which leave matrices definite, and numbers where functions of them are defined
# Chains with bonds of their own.
ITERATE = ("measured", "measured_in")
REFUSED = ()
LOOPING = {
    "qad.linalg.implicit.root.root",  # iterations of which each example needs its own number
    "qad.linalg.implicit.root._rule",
    "qad.contract.run.slices.sum_slices",  # slices bound the memory of one example: all at once would exceed it
    "qad.rules.reductions.sets.representatives",  # as many as there are different values
    "qad.rules.products.sparse.sparse_times",  # SciPy's, of one matrix
}
HERE = ("qad.rules", "qad.linalg", "qad.contract", "recipe")  # all of whose primitives work on stacks


def batch(x):
    x = np.asarray(x)
    return np.stack([(x * factor).astype(x.dtype) for factor in FACTORS])


def pullback_of(f):
    def pull(*args):
        out, pullback = qad.vjp(f, *args)
        return pullback(tree_map(lambda y: np.ones(y.shape, y.dtype) * (1 if y.dtype.kind == "f" else 1 - 0.5j), out))

    return pull


def pushforward_of(f):
    return lambda *args: qad.jvp(f, args, tree_map(lambda x: x * 0 + 1, args))[1]


def by_loop(f, stacks):
    outs = [f(*tree_map(itemgetter(i), stacks)) for i in range(len(FACTORS))]
    return tree_map(lambda *xs: np.stack(xs), *outs)


def complaint(case, orders):
    """What differs between `vmap` and a loop for a case, or None."""
    stacks = tree_map(batch, case.point)
    f, slope = case.f, pullback_of(case.f)
    pairs = [(qad.vmap(f), f), (qad.vmap(slope), slope), (pullback_of(qad.vmap(f)), slope)]
    pairs.append((qad.vmap(pushforward_of(f)), pushforward_of(f)))
    if orders > 1 and case.order > 1:
        pairs.append((qad.vmap(pullback_of(slope)), pullback_of(slope)))
    single = any(np.asarray(x).dtype.itemsize * (1 + (x.dtype.kind != "c")) < 16 for x in flatten(stacks)[0])
    for number, (batched, looped) in enumerate(pairs):
        expected = flatten(by_loop(looped, stacks))[0]
        try:
            found = flatten(batched(*stacks))[0]
        except (qad.QadError, ValueError, TypeError) as error:
            return f"{case}: comparison {number} raises {type(error).__name__}: {error}"
        for x, y in zip(found, expected, strict=True):
            tolerance = (1e-3 if single else 1e-10) * (1 + np.abs(np.nan_to_num(y)).max(initial=0))
            if x.shape != y.shape or not np.allclose(x, y, rtol=0, atol=tolerance, equal_nan=True):
                return f"{case}: comparison {number} differs"
    return None


def refused(case):
    """Whether `qad.vmap` says that it cannot do this."""
    names = {node[1].name for node in nodes_of(case)}
    if names & {"isometric", "guessed", "orthonormal"}:  # called once per example, in reverse mode alone
        return True
    if not (names & {*ITERATE, *REFUSED} or str(case).startswith(REFUSED)):
        return False
    with pytest.raises((qad.errors.BatchError, qad.errors.RecordedTensorError)):
        qad.vmap(case.f)(*tree_map(batch, case.point))
    return True


def looped(cases, orders, monkeypatch):
    """Check the cases against a loop; the functions of `HERE`, and of a recipe, that were called once per example."""
    looped = set()
    one_by_one = batching.one_by_one

    def noted(fn, *rest):
        name = f"{getattr(fn, '__module__', None)}.{getattr(fn, '__name__', fn)}"
        if name.startswith(HERE):
            looped.add(name)
        return one_by_one(fn, *rest)

    monkeypatch.setattr(batching, "one_by_one", noted)
    complaints = [complaint(case, orders) for case in cases if not refused(case)]
    assert not any(complaints), "\n".join(filter(None, complaints))
    return looped


def check(cases, orders, monkeypatch):
    missing = looped(cases, orders, monkeypatch) - LOOPING
    assert not missing, f"the rule says no batch=: {', '.join(sorted(missing))}"


@pytest.mark.filterwarnings("ignore:'where' used without")  # by the loop, on plain arrays
def test_batches_are_loops(monkeypatch):
    check(one_in(3, list(fresh(gathered()))), 1, monkeypatch)


@pytest.mark.filterwarnings("ignore:'where' used without")  # by the loop, on plain arrays
@pytest.mark.slow
def test_batches_are_loops_to_second_order(monkeypatch):
    check(gathered(), 2, monkeypatch)


@pytest.mark.parametrize("shape", [(100, 20, 3), (3000, 2), (40, 30, 1, 4), (50, 30, 9), (100, 3, 20)])
def test_gradients_of_sums_over_short_rows(shape):
    x = np.random.default_rng(0).normal(size=shape)

    def loss(x):
        return np.sum(np.exp(np.sum(x * x, -1))) + np.sum(x**3)

    found = qad.vmap(qad.grad(loss))(x)
    np.testing.assert_allclose(found, np.stack([qad.grad(loss)(each) for each in x]), rtol=1e-13)
    found[...] = 0
