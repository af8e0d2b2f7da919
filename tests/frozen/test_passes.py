"""Each pass alone: its effect on a program, and that results stay what they are."""

import operator

import numpy as np
import pytest

import qad
from qad.frozen.passes import PASSES
from qad.frozen.program.functions import RESHAPE, TRANSPOSE
from tests.cases import normal
from tests.frozen.agree import difference


def improved(f, *args, passes):
    """The program of `f` under some passes; its results are compared with those of `f`."""
    frozen = qad.freeze(f, passes=passes)
    frozen(*args)
    assert difference(f(*args), frozen(*args), False) is None
    return frozen.program


def calls(program, fn):
    return sum(step.fn is fn for step in program.steps)


X, Y = normal(4, 4, complex), normal(4, 4, complex, seed=1)


def test_dead_code():
    def f(x):
        np.sin(x)
        return x * 2

    assert len(improved(f, X, passes=("dead",)).steps) == 1


def test_dead_code_keeps_guards_and_writes_that_are_read():
    def f(x):
        y = np.zeros_like(x)
        y[0] = x[0]
        return y * 2 if x[0, 0].real != 0 else x

    program = improved(f, X, passes=("dead",))
    assert calls(program, operator.setitem) == 1
    assert any("check" in step.fn.__name__ for step in program.steps)


def test_canonical():
    def f(x):
        return x.T.mT.swapaxes(0, 1).copy().conj().reshape(-1).ravel() + np.real(x.real).sum() * x.dot(x).flatten()

    program = improved(f, X, passes=("canonical",))
    assert calls(program, TRANSPOSE) == 3
    assert calls(program, RESHAPE) == 2
    assert calls(program, np.conjugate) == calls(program, np.dot) == 1


def test_conjugates_and_copies_of_real_arrays_vanish():
    program = improved(lambda x: np.conj(x.conj().real.copy()).T.conj() + 0, X.real, passes=("canonical",))
    assert [step.fn for step in program.steps] == [TRANSPOSE, np.add]


def test_common_subexpressions():
    program = improved(lambda x, y: x @ y + x @ y + np.sin(x) * np.sin(x), X, Y, passes=("canonical", "common"))
    assert calls(program, np.dot) == calls(program, np.sin) == 1


def test_a_users_primitive_is_not_merged():
    count = []

    @qad.extend.primitive
    def counted(x):
        count.append(1)
        return x + 0

    frozen = qad.freeze(lambda x: counted(x) + counted(x))
    frozen(X)
    del count[:]
    frozen(X)
    assert len(count) == 2


def test_equal_constants_are_one():
    program = improved(lambda x: x @ np.eye(4)[::-1] @ np.eye(4)[::-1], X, passes=("common", "dead"))
    assert len(program.constants) == 1


def test_constant_folding():
    program = improved(lambda x: x + np.sin(np.ones_like(x) * 2), X, passes=("constants", "dead", "canonical"))
    assert len(program.steps) == 1


def test_stacks_are_rows_and_concatenations():
    def f(x):
        return np.stack([x, x[::-1]], -1), np.stack((x[0, 0], x[1, 1])), np.concatenate([x, x])

    program = improved(f, X, passes=("canonical",))
    assert (calls(program, np.stack), calls(program, np.concatenate), calls(program, np.array)) == (0, 2, 1)
    gradient = improved(qad.grad(lambda x: qad.abs2(sum(y.sum() for y in f(x)))), X, passes=("canonical", "dead"))
    assert not any(
        step.fn.__name__ in ("stack", "concatenate") and step.fn is not np.concatenate for step in gradient.steps
    )


def test_traces_of_products_with_a_reshaped_matrix():
    """In the compiled loop the copy of what cannot be reshaped as it lies was in the order of its transpose."""

    def f(x, y):
        return sum(np.trace(np.dot(y * k, (x + k).transpose(0, 2, 1).reshape(4, 2))) for k in range(6))

    x, y = np.arange(8.0).reshape(2, 2, 2), np.arange(8.0).reshape(2, 4) - 3
    frozen = qad.freeze(f)
    frozen(x, y)
    assert frozen(x**2, y) == pytest.approx(f(x**2, y), rel=1e-14)


def test_traces():
    program = improved(lambda x, y: qad.tr(x @ y), X, Y, passes=("canonical", "traces", "dead"))
    (product,) = [step for step in program.steps if step.fn is np.dot]
    assert all(len(x.shape) == 1 for x in product.args)


def test_a_product_that_is_used_is_formed_once():
    program = improved(lambda x, y: (qad.tr(x @ y), x @ y), X, Y, passes=("canonical", "common", "traces", "dead"))
    assert sum(len(step.out.shape) == 2 for step in program.steps if step.fn is np.dot) == 1


def test_counts_and_names():
    program = improved(lambda x: np.sin(x) + np.sin(x), X, passes=None)
    assert program.counts["common"] == 1
    assert set(program.counts) == set(PASSES)
    with pytest.raises(qad.errors.ArgumentError, match="no pass 'magic'"):
        qad.freeze(np.sin, passes=("magic",))(X)


def test_real_constants_that_multiply_complex_arrays_are_complex():
    real = normal(4, 4)
    program = improved(lambda x: (real.T @ x * real) @ real, X, passes=("canonical", "constants"))
    assert all(var.dtype == complex for step in program.steps for var in step.reads())
    assert program.counts["constants"] == 3


def test_a_pass_that_left_is_refused_with_the_names_of_those_that_are_there():
    for name in ("equals", "zeros"):
        with pytest.raises(qad.errors.ArgumentError, match=f"no pass '{name}': the passes are canonical, .*compiled"):
            qad.freeze(np.sin, passes=(name,))


@pytest.mark.parametrize("left", PASSES)
def test_every_pass_can_be_left_out_and_can_stand_alone(left):
    def f(x, v):
        a = np.stack([np.stack([np.cos(t), -np.sin(t)]) for t in v]) * 1.0
        y = (x.transpose(1, 0).reshape(2, 8).conj().reshape((4, 4)).T @ np.eye(4)).real[1:][0] * a.sum()
        return np.sum(np.diag(v) * v) + y.sum() + np.abs(v @ v) ** 2 + np.trace(x @ x).real + v[0] * v[1] * v[0]

    v = normal(6, seed=2)
    for passes in ([name for name in PASSES if name != left], [left]):
        for g, args in ((f, (X, v)), (qad.value_and_grad(f, (0, 1)), (X, v)), (qad.hessian(lambda v: f(X, v)), (v,))):
            improved(g, *args, passes=passes)
