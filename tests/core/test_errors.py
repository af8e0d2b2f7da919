"""Bad input: every message is one of ours, of the builtin kind that Python users expect, and names the way out."""

import numpy as np
import pytest
from scipy import special

import qad
from qad.core.errors import (
    ArgumentError,
    GradientTypeError,
    MissingRuleError,
    QadError,
    RecordedTensorError,
    ShapeError,
)

X = np.arange(6.0).reshape(2, 3)
Z = X + 1j
STACK = np.ones((4, 3, 2))
FIT = "do not fit in a matrix product"

MISFITS = {
    "matmul": (lambda x: x @ x, FIT),
    "matmul of a constant": (lambda x: np.ones((4, 4)) @ x, FIT),
    "matmul of a vector": (lambda x: np.matmul(x, np.ones(4)), FIT),
    "matmul of stacks": (lambda x: STACK @ (x * np.ones((3, 2, 3))), FIT),
    "dot": (lambda x: x.dot(x), FIT),
    "inner": (lambda x: np.inner(x, np.ones(4)), FIT),
    "vdot": (lambda x: np.vdot(x, np.ones(4)), "vdot of shape (2, 3) and (4,)"),
    "add": (lambda x: x + np.ones((4, 4)), "add of shape (2, 3) and (4, 4)"),
    "add to a constant": (lambda x: np.ones(5) + x, "add of shape (5,) and (2, 3)"),
    "ufunc": (lambda x: np.hypot(x, np.ones(5)), "insert one of length 1 with x[:, None]"),
    "einsum": (lambda x: np.einsum("ij,jk->ik", x, np.ones((4, 4))), "label 'j' has size 3 in operand 0"),
    "qad.einsum": (lambda x: qad.einsum("ij,jk->ik", x, x), "label 'j' has size 3 in operand 0"),
    "tensordot": (lambda x: np.tensordot(x, x, 1), "do not pair axes of equal sizes"),
    "reshape": (lambda x: x.reshape(4, 4), "reshape of shape (2, 3)"),
    "broadcast_to": (lambda x: np.broadcast_to(x, (5, 5)), "broadcast_to of shape (2, 3)"),
    "concatenate": (lambda x: np.concatenate([x, np.ones(2)]), "same number of dimensions"),
    "stack": (lambda x: np.stack([x, np.ones(2)]), "same shape"),
    "where": (lambda x: np.where(np.ones(7) > 0, x, 0), "broadcast"),
    "tr": (lambda x: qad.tr(x, x), "close a ring"),
}


@pytest.mark.parametrize("name", MISFITS)
def test_shapes_that_do_not_fit(name):
    """In reverse mode, one level up, in forward mode and on constant Tensors."""
    f, message = MISFITS[name]
    ways = [
        lambda: qad.vjp(f, X),
        lambda: qad.vjp(lambda x: qad.vjp(f, x)[0], X),
        lambda: qad.jvp(f, (X,), (X,)),
        lambda: f(qad.tensor(X)),
        lambda: f(qad.tensor(X, requires_grad=True)),
    ]
    for way in ways:
        with pytest.raises(ShapeError) as caught:
            way()
        assert isinstance(caught.value, ValueError)
        assert message in str(caught.value)


def test_a_value_error_of_a_users_primitive_keeps_its_words():
    @qad.extend.primitive
    def cool(x):
        raise ValueError("the temperature is negative")

    qad.extend.defvjp(cool, lambda g, y, x: g)
    with pytest.raises(ArgumentError, match="cool of shape .*: the temperature is negative") as caught:
        qad.grad(cool)(X)
    assert isinstance(caught.value.__cause__, ValueError)


REFUSED = [
    (lambda: qad.grad(np.sum)(Z), GradientTypeError, TypeError, "out.real"),
    (lambda: qad.grad(np.sin)(X), ShapeError, ValueError, "out.sum"),
    (lambda: qad.grad(np.sum)(np.arange(3)), GradientTypeError, TypeError, "dtype=float"),
    (lambda: qad.grad(lambda p: p["a"][0])({"a": [3]}), GradientTypeError, TypeError, r"0\['a'\]\[0\]"),
    (
        lambda: qad.vjp(lambda x: (x, x), X)[1](X),
        ArgumentError,
        ValueError,
        r"nested like \*, the output like \(\*, \*\)",
    ),
    (lambda: qad.hvp(np.sum, X, X), ArgumentError, ValueError, r"qad.hvp\(f, \(x,\), \(t,\)\)"),
    (lambda: qad.tensor(["a"]), GradientTypeError, TypeError, "dtype=float"),
    (lambda: qad.check_grads(np.sin, X), ArgumentError, ValueError, r"\(x,\)"),
    (lambda: qad.grad(lambda x: np.std(x, dtype=int))(X), GradientTypeError, TypeError, r"np.std\(x\).astype\(int"),
    (lambda: qad.grad(np.asarray)(X), RecordedTensorError, TypeError, r"x.numpy\(\)"),
    (lambda: qad.grad(lambda x: special.kelvin(x)[0].sum())(X), MissingRuleError, TypeError, r"defvjp\(kelvin, "),
    (lambda: qad.grad(lambda x: special.jv(x, 1.0).sum())(X), MissingRuleError, TypeError, "argument number 0"),
    (lambda: qad.grad(lambda x: np.busday_count(x, x).sum())(X), MissingRuleError, TypeError, "defvjp.np.busday_count"),
]


@pytest.mark.parametrize("call, kind, builtin, message", REFUSED)
def test_the_message_names_the_way_out(call, kind, builtin, message):
    assert issubclass(kind, QadError)
    assert issubclass(kind, builtin)
    with pytest.raises(kind, match=message):
        call()


def test_messages_say_numpys_names():
    """Primitives are called what users call them: in messages, in `repr` and in pictures."""
    for f in (
        np.sum, np.max, np.min, np.prod, np.cumsum, np.cumprod, np.sort, np.var, np.std, np.transpose, np.trace,
        np.sinc, np.nan_to_num,
    ):  # fmt: skip
        assert f"op={f.__name__})" in repr(f(qad.tensor(X, requires_grad=True)))
    assert "op=real)" in repr(qad.tensor(Z, requires_grad=True).real)
    x = qad.tensor(X, requires_grad=True)
    for y, name in (
        (np.concatenate([x, x]), "concatenate"), (np.stack([x, x]), "stack"), (x @ x.T, "matmul"),
        (np.where(X > 1, x, 0), "where"), (np.pad(x, 1), "pad"), (x.astype(np.float32), "astype"),
        (STACK @ x, "matmul"), (x[0], "getitem"),
    ):  # fmt: skip
        assert f"op={name})" in repr(y)
