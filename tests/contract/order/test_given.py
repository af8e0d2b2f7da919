"""Orders from elsewhere that need no other library than opt_einsum; those of cotengra are in tests/interop."""

import numpy as np
import opt_einsum
import pytest

import qad
from qad.core.errors import ArgumentError

TEXT, SHAPES = "ab,bc,cd,da->", [(2, 3), (3, 4), (4, 5), (5, 2)]
OPERANDS = [np.random.default_rng(0).normal(size=shape) for shape in SHAPES]


@pytest.mark.parametrize(
    "search",
    [opt_einsum.RandomGreedy(max_repeats=2), opt_einsum.DynamicProgramming(), opt_einsum.BranchBound()],
    ids=lambda search: type(search).__name__,
)
def test_optimisers_of_opt_einsum(search):
    np.testing.assert_allclose(qad.einsum(TEXT, *OPERANDS, optimize=search), np.einsum(TEXT, *OPERANDS))
    qad.check_grads(lambda *x: qad.einsum(TEXT, *x, optimize=search), OPERANDS)


def test_a_plan_prescribes_its_order():
    """One that accounts for another gradient than is taken, and so has another order than the best."""
    plan = qad.plan("ab,bc,cd->ad", (2, 30), (30, 30), (30, 40), optimize=[(1, 2), (0, 1)])
    assert plan.path == ((1, 2), (0, 1)) != qad.plan("ab,bc,cd->ad", *plan.shapes).path
    assert qad.plan("ab,bc,cd->ad", *plan.shapes, optimize=plan).path == plan.path


@pytest.mark.parametrize("optimize", [3, object(), [], [(0, 1), (0, "x")], lambda *network: [(0, 5)]])
def test_what_is_no_order_is_refused(optimize):
    with pytest.raises(ArgumentError, match="optimize=|does not contract"):
        qad.einsum(TEXT, *OPERANDS, optimize=optimize)


def ladder(n):
    """A closed network of 2n operands, too many to be planned exactly, and its shapes."""
    up, down, rungs = ([chr(0x100 + k * n + i) for i in range(n)] for k in range(3))
    terms = [up[i] + up[(i + 1) % n] + rungs[i] for i in range(n)]
    terms += [down[i] + down[(i + 1) % n] + rungs[i] for i in range(n)]
    return ",".join(terms) + "->", [(2, 2, 3)] * (2 * n)


def test_planning_keeps_to_its_time(monkeypatch):
    """The clock is the test's: every look at it is a second, so that the number of looks is the time."""
    from qad.contract.order import timed

    text, shapes = ladder(8)
    costs = []
    for seconds in (3, 400):
        looks = iter(range(10**6))
        monkeypatch.setattr(timed, "monotonic", lambda looks=looks: next(looks))
        costs.append(qad.plan(text, *shapes, planning_seconds=seconds).flops_with_gradient)
        assert seconds <= next(looks) <= seconds + 5  # what is then under way looks once more
    assert costs[1] <= costs[0]


def test_planning_time_and_a_prescribed_order_exclude_each_other():
    with pytest.raises(ArgumentError, match="no optimize"):
        qad.plan(TEXT, *SHAPES, planning_seconds=1, optimize=[(0, 1)] * 3)
    with pytest.raises(ArgumentError, match="a positive number"):
        qad.plan(TEXT, *SHAPES, planning_seconds=0)
    with pytest.raises(ArgumentError, match="a positive number"):
        qad.plan(TEXT, *SHAPES, planning_seconds="1")


def test_what_is_no_order():
    class Unhashable:
        __hash__ = None

        def __call__(self, inputs, output, sizes, memory_limit=None):
            return [(0, 1)] * (len(inputs) - 1)

    operands = [np.ones(shape) for shape in SHAPES]
    with pytest.raises(ArgumentError, match="not hashable: give its bound method"):
        qad.einsum(TEXT, *operands, optimize=Unhashable())
    qad.einsum(TEXT, *operands, optimize=Unhashable().__call__)
    for wrong in ({}, {(0, 1)}, [1], 3, None):
        with pytest.raises(ArgumentError, match="is neither 'auto', a bool, a path"):
            qad.einsum(TEXT, *operands, optimize=wrong)
