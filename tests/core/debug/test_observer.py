"""Looking on: the first operation that is not finite, with the line that called it; time and memory per operation."""

import re

import numpy as np
import pytest

import qad
from qad.core.errors import NotFiniteError
from qad.core.tape.levels import mode

X = np.array([1.0, 0.0])


def take_log(x):
    return np.log(x).sum()  # this line


def take_root(x):
    square = x * x
    return np.sqrt(square).sum()  # that line


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: qad.grad(take_log)(X), r"log gave -inf at \[1\], in 1 of 2 entries.*# this line"),
        (lambda: qad.jvp(take_log, (X,), (X,)), r"log gave -inf.*# this line"),
        (lambda: qad.grad(take_root)(X), r"backward pass the cotangent of argument 0 of sqrt is inf.*# that line"),
        (lambda: qad.jvp(take_root, (X,), (X,)), r"sqrt gave (nan|inf).*# that line"),
        (lambda: qad.hvp(take_root, (X,), (X,)), r"# that line"),
        (lambda: qad.grad(lambda x: qad.grad(take_root)(x).sum())(X), r"in the derivative of sqrt.*# that line"),
        (lambda: qad.grad(lambda x: (x * np.nan).sum())(X), r"multiply gave nan.*has some already"),
        (lambda: take_log(qad.tensor(X)), r"log gave -inf"),
        (lambda: qad.grad(lambda x: np.einsum("i,i->", x, 1 / x))(X), "divide gave inf"),
    ],
)
def test_the_first_operation_is_named_with_its_line(call, message):
    with pytest.raises(NotFiniteError) as caught, qad.debug(nans=True):
        call()
    assert re.search(message, str(caught.value), re.DOTALL)
    assert __file__ in str(caught.value)


def test_a_pass_after_the_context_is_looked_at_too():
    x = qad.tensor(X, requires_grad=True)
    with qad.debug():
        y = take_root(x)
    with pytest.raises(NotFiniteError, match="sqrt"):
        y.backward()


def program(x):
    b = qad.zeros(2)
    b[0] = x.sum()
    m = np.outer(x, x + 2.0) @ np.ones((2, 2))
    return np.einsum("ij,i,j->", m, x, b) + np.linalg.svd(m + np.eye(2), compute_uv=False).sum() + m[0, 1]


@pytest.mark.parametrize("observer", [qad.debug, lambda: qad.profile(show=False)])
def test_looking_changes_nothing(observer):
    x = np.array([0.5, 1.5])
    with observer(), observer():
        seen = qad.grad(program)(x), qad.jvp(program, (x,), (x,)), qad.hvp(program, (x,), (x,))
        with qad.no_grad():
            assert not (qad.tensor(x, requires_grad=True) * 2).requires_grad
    assert mode() is None
    unseen = qad.grad(program)(x), qad.jvp(program, (x,), (x,)), qad.hvp(program, (x,), (x,))
    for a, b in zip(seen, unseen, strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_profile_counts(capsys):
    with qad.profile() as p:
        qad.grad(lambda x: np.sin(np.sin(x)).sum() + np.linalg.svd(x)[1].sum())(np.diag([1.0, 2.0, 4.0]))
    row = p.rows["sin"]
    assert (row.calls, row.bytes, row.backward_calls, row.backward_bytes) == (2, 144, 2, 144)
    assert 0 < row.seconds < p.seconds
    assert 0 < row.backward_seconds < p.seconds
    assert p.rows["svd"].backward_calls == 1
    assert sum(r.seconds + r.backward_seconds for r in p.rows.values()) < p.seconds
    table = capsys.readouterr().out
    assert re.search(r"^sin +2 +\d", table, re.MULTILINE)
    assert "in all" in table
    assert str(p) in table


def test_an_inner_operation_counts_in_the_outer_one():
    with qad.profile(show=False) as p:
        qad.grad(lambda x: qad.grad(lambda y: np.sum(y**3))(x).sum())(np.ones(2))
    assert p.rows["power"].calls == 1
