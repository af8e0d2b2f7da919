"""Levels: whoever is the highest among the operands is asked; modes stand above, for the context that entered them."""

import asyncio

import numpy as np
import pytest

import qad
from qad.core.errors import LeakedTensorError
from qad.core.modes import no_grad
from qad.core.structured import form_of
from qad.core.tape.levels import Level, mode
from qad.core.tape.operands import PLAIN, highest, split
from qad.core.tape.reverse import TAPE, Reverse
from qad.core.tape.tensor import CONSTANT, Tensor

X = np.array([0.5, 1.0])


class Counting(Level):
    """A level of another kind, which nobody else knows: it notes what is done to its Tensors."""

    __slots__ = ("names",)

    def __init__(self):
        super().__init__()
        self.names = []

    def apply(self, primitive, operands, keywords):
        values, _ = split(operands, self)
        self.names.append(primitive.name)
        return Tensor(primitive.fn(*values, **keywords), None, self)


def test_a_level_of_another_kind_needs_nobody_else():
    with Counting() as level:
        y = np.sum(np.sin(Tensor(X, None, level)) * X) + 1.0
    assert level.names == ["sin", "multiply", "sum", "add"]
    assert y.value == np.sum(np.sin(X) * X) + 1.0


def test_levels_of_different_kinds_nest():
    def f(x):
        with Counting() as level:
            y = np.sum(np.sin(Tensor(x, None, level)) * x)
        assert level.names == ["sin", "multiply", "sum"]
        return y.value

    expected = np.sin(X) + X * np.cos(X)
    np.testing.assert_allclose(qad.grad(f)(X), expected, rtol=1e-14)
    np.testing.assert_allclose(qad.vmap(qad.grad(f))(np.stack([X, X])), [expected, expected], rtol=1e-14)


def test_the_highest_level_is_found():
    with Reverse() as outer, Reverse() as inner:
        x, y = Tensor(X, None, outer), Tensor(X, None, inner)
        assert highest((X, 1.0)) is PLAIN
        assert highest((X, Tensor(X))) is CONSTANT
        assert highest((y, x, X)) is highest((x, y)) is inner
    assert PLAIN.number < CONSTANT.number < TAPE.number < outer.number < inner.number


@pytest.mark.parametrize("kind", [Reverse, Counting])
def test_what_leaks_from_a_level_is_refused(kind):
    with kind() as level:
        x = Tensor(X, None, level)
    with pytest.raises(LeakedTensorError):
        np.sin(x)


def test_a_mode_makes_levels_ask_for_it_from_then_on():
    with Reverse() as level:
        assert level.quick
        with no_grad():
            assert not level.quick
            with Reverse() as inner:
                assert inner.quick  # the barrier does not concern it
        assert mode() is None and not level.quick  # a task may have inherited the barrier
        assert (Tensor(X, [0, None, None, None, X, ()], level) * 2).level is level
    assert not inner.quick and not level.quick


def test_a_task_keeps_the_mode_that_it_inherited():
    x = qad.tensor(X, requires_grad=True)

    async def child(left):
        await left.wait()
        return (x * 2).requires_grad, qad.grad(lambda y: np.sum(y * y))(X)

    async def parent():
        left = asyncio.Event()
        with qad.no_grad():
            task = asyncio.create_task(child(left))
            await asyncio.sleep(0)
        assert (x * 2).requires_grad
        left.set()
        return await task

    recorded, gradient = asyncio.run(parent())
    assert not recorded
    np.testing.assert_array_equal(gradient, 2 * X)


def test_levels_that_open_while_somebody_looks_on_are_seen():
    with qad.profile(show=False) as seen, Reverse() as level:
        assert not level.quick
        qad.grad(lambda x: np.sum(np.sin(x)))(X)
    assert "sin" in str(seen)


def test_a_node_is_a_place_on_the_tape_and_nothing_else():
    """Tangents, layouts of batches and structures stand elsewhere."""
    seen = {}

    def noted(name):
        def f(x):
            seen[name] = y = x * 2.0
            return y

        return f

    qad.grad(lambda x: np.sum(noted("reverse")(x)))(X)
    qad.jvp(noted("forward"), (X,), (X,))
    qad.vmap(noted("batch"))(X)

    def of_factors(a):
        w, v = np.linalg.eigh(a)
        return np.trace((noted("structured")(v) * np.exp(w)) @ v.T)

    qad.grad(of_factors)(np.eye(2))  # of equal eigenvalues
    assert {name: type(y.node) for name, y in seen.items() if y.node is not None} == {"reverse": list}
    assert [name for name, y in seen.items() if form_of(y) is not None] == ["structured"]
    assert [name for name, y in seen.items() if y.tangent is not None] == ["forward"]
    assert np.array_equal(seen["forward"].tangent, 2.0 * X)


def test_what_a_transform_was_given_is_a_leaf():
    seen = []

    def f(x):
        seen.append((x.is_leaf, (2.0 * x).is_leaf))
        return np.sum(x)

    qad.grad(f)(X)
    qad.jvp(f, (X,), (X,))
    qad.vmap(f)(np.ones((2, 2)))
    assert seen == 3 * [(True, False)]
