"""Constants that a plan holds: the same values and derivatives, contracted once, and gone with the plan."""

import gc
import pickle
import weakref

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, ShapeError
from tests.contract.networks import operands_for, random_network


def stretched(rng, text, shapes):
    """The shapes, one label of one operand of size 1."""
    number = int(rng.integers(len(shapes)))
    term = text.split("->")[0].split(",")[number]
    label = rng.choice(list(term)) if term else ""
    shape = tuple(1 if other == label else size for other, size in zip(term, shapes[number], strict=True))
    return [*shapes[:number], shape, *shapes[number + 1 :]]


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8])
def test_the_same_values_and_gradients(count):
    rng = np.random.default_rng(count)
    for _ in range(12):
        text, shapes = random_network(rng, count, hyper=True, repeat=True)
        shapes = stretched(rng, text, shapes)
        operands = operands_for(rng, shapes)
        chosen = sorted(rng.choice(count, rng.integers(0, count + 1), replace=False).tolist())
        rest = [number for number in range(count) if number not in chosen]
        whole = qad.plan(text, *shapes, variables=rest)
        held, given = whole.hold({n: operands[n] for n in chosen}), [operands[n] for n in rest]
        expected = whole(*operands)
        np.testing.assert_allclose(held(*given), expected, rtol=1e-11, atol=1e-11)
        assert held.flops <= whole.flops and held.flops_with_gradient <= whole.flops_with_gradient

        def loss(*given, plan=held):
            return (abs(plan(*given)) ** 2).sum()

        def whole_loss(*given, plan=whole, operands=operands, rest=rest):
            found = list(operands)
            for number, x in zip(rest, given, strict=True):
                found[number] = x
            return (abs(plan(*found)) ** 2).sum()

        if rest:
            numbers = tuple(range(len(rest)))
            found, wanted = (qad.grad(f, numbers)(*given) for f in (loss, whole_loss))
            for one, two in zip(found, wanted, strict=True):
                np.testing.assert_allclose(one, two, rtol=1e-10, atol=1e-10)


def ring(count=6, size=3):
    text = ",".join("abcdefghij"[i] + "abcdefghij"[(i + 1) % count] for i in range(count)) + "->"
    return text, operands_for(np.random.default_rng(3), [(size, size)] * count)


def test_all_orders():
    text, operands = ring()
    held = qad.plan(text, *operands, variables=[0, 3]).hold({n: operands[n] for n in (1, 2, 4, 5)})
    qad.check_grads(lambda x, y: held(x, y) ** 2, (operands[0], operands[3]))
    stack = np.stack([operands[0]] * 3)
    np.testing.assert_allclose(qad.vmap(lambda x: held(x, operands[3]))(stack), [qad.einsum(text, *operands)] * 3)
    frozen = qad.freeze(qad.grad(lambda x: held(x, operands[3]).real))
    np.testing.assert_allclose(frozen(operands[0]), qad.grad(lambda x: held(x, operands[3]).real)(operands[0]))


def test_what_constants_make_is_contracted_once(counter):
    text, operands = ring(8)
    whole = qad.plan(text, *operands, variables=[0])
    held = whole.hold(dict(enumerate(operands[1:], 1)))
    assert held.flops == 9 and len(held.constants) == 1
    counter.total = 0
    for _ in range(5):
        qad.grad(lambda x: held(x).real)(operands[0])
    assert counter.total == 5 * held.flops_with_gradient == 5 * 2 * 9


def test_constants_are_the_plans_own():
    text, operands = ring()
    held = qad.plan(text, *operands, variables=[0]).hold(dict(enumerate(operands[1:], 1)))
    before = held(operands[0])
    operands[1][...] = np.nan
    assert held(operands[0]) == before
    for x in held.constants:
        with pytest.raises(ValueError, match="read-only"):
            x[...] = 0


def test_constants_go_with_their_plan():
    text, operands = ring(6, 30)
    for wanted in ([0], []):
        held = qad.plan(text, *operands, variables=wanted).hold(dict(enumerate(operands[1:], 1)))
        held(operands[0])
        qad.grad(lambda x, plan=held: plan(x).real)(operands[0])
        array = weakref.ref(held.constants[0])
        del held
        gc.collect()
        assert array() is None


def test_plans_that_hold_are_values():
    text, operands = ring()
    whole = qad.plan(text, *operands, variables=[0])
    constants = dict(enumerate(operands[1:], 1))
    one, two = whole.hold(constants), whole.hold(constants)
    assert one == one and one != two and one != whole and len({one, two, whole}) == 3
    again = pickle.loads(pickle.dumps(one))
    assert again(operands[0]) == one(operands[0])
    assert "1 pairs" in repr(one) and "multiply-adds" in str(one)


def test_what_cannot_be_held():
    text, operands = ring()
    whole = qad.plan(text, *operands, variables=[0])
    for number in (6, -1, "x", 1.0):
        with pytest.raises(ArgumentError, match="number of an operand"):
            whole.hold({number: operands[1]})
    with pytest.raises(ShapeError, match="operand 2"):
        whole.hold({2: np.ones((3, 4))})
    with pytest.raises(ArgumentError, match="recorded"):
        qad.grad(lambda x: whole.hold({1: x})(operands[0]).real)(operands[1])
    with pytest.raises(ArgumentError, match="recorded"):
        qad.vmap(lambda x: whole.hold({1: x})(operands[0]).real)(np.stack(operands))
    assert whole.hold({1: qad.ones((3, 3))}).constants[0].dtype == float
    with pytest.raises(ArgumentError, match="already"):
        whole.hold({1: operands[1]}).hold({1: operands[2]})
    with pytest.raises(ArgumentError, match="memory limit"):
        qad.plan("abc,ade,bdf,cef->", *[(16, 16, 16)] * 4, memory_limit="800kB").hold({1: np.ones((16, 16, 16))})
    with pytest.raises(ShapeError, match="for operands of shapes"):
        whole.hold({1: operands[1]})(*operands)
