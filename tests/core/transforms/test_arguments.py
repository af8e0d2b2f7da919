"""What may be differentiated, and what a function may return: each refusal names the way out."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, GradientTypeError, RecordedTensorError

X = np.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    "argnums, message",
    [
        ((0, 0), "twice"),
        ((0, -2), "twice"),
        ([0, 1], "tuple of integers"),
        ("a", "tuple of integers"),
        (None, "tuple of integers"),
        ((0, 2), "there are 2 positional"),
    ],
)
def test_argnums(argnums, message):
    with pytest.raises(ArgumentError, match=message):
        qad.grad(lambda a, b: (a * b).sum(), argnums=argnums)(X, X)


def test_arguments_by_keyword():
    for transform in (qad.grad, qad.jacobian, qad.hessian):
        with pytest.raises(ArgumentError, match="by position"):
            transform(lambda x: x.sum())(x=X)


@pytest.mark.parametrize("out", [None, "text", 3, np.arange(3), True], ids=repr)
def test_outputs_without_derivative(out):
    """A forgotten `return` would be a gradient of zero."""
    for transform in (qad.grad, qad.value_and_grad, qad.jacobian):
        with pytest.raises(GradientTypeError, match="float or complex"):
            transform(lambda x: out)(X)


def test_containers_are_no_output_of_grad():
    with pytest.raises(GradientTypeError, match="qad.vjp or qad.jacobian"):
        qad.grad(lambda x: [x.sum(), x.sum()])(X)


def test_constant_floats_are_outputs():
    np.testing.assert_array_equal(qad.grad(lambda x: 3.0)(X), np.zeros(3))
    np.testing.assert_array_equal(qad.jacobian(lambda x: 3.0)(X), np.zeros(3))


def test_has_aux_asks_for_a_pair():
    with pytest.raises(ArgumentError, match="pair"):
        qad.grad(lambda x: x.sum(), has_aux=True)(X)


@pytest.mark.parametrize("argnums", [0, (0, 1)])
def test_leaves_of_a_hessian_without_derivative_are_named(argnums):
    for transform in (qad.hessian, qad.jacobian):
        with pytest.raises(GradientTypeError, match=r"argument 0\['a'\]\[1\]"):
            transform(lambda t, x: (t["a"][0] ** 2).sum(), argnums)({"a": [X, np.arange(2)]}, X)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # of matrices
@pytest.mark.parametrize("make", [lambda: np.ma.masked_array(X, mask=[0, 1, 0]), lambda: np.asmatrix(X)])
def test_arrays_with_an_arithmetic_of_their_own_are_refused(make):
    """A mask would be lost in silence, and ``*`` of matrices is another product."""
    odd = make()
    for f in (
        lambda x: (x * odd).sum(),
        lambda x: np.add(odd, x).sum(),
        lambda x: np.concatenate([x[None], odd.reshape(1, -1)]).sum(),
        lambda x: np.where(x > 1, x, odd).sum(),
        lambda x: (x @ odd.T).sum(),
    ):
        with pytest.raises(ArgumentError, match="np.asarray"):
            qad.grad(f)(X)
    for f in (
        lambda: qad.grad(lambda x: (x * x).sum())(odd),
        lambda: qad.tensor(odd, requires_grad=True),
        lambda: qad.vjp(lambda x: x * x, X)[1](odd),
        lambda: qad.jvp(lambda x: x * x, (X,), (odd,)),
    ):
        with pytest.raises(ArgumentError, match="np.asarray"):
            f()


def test_object_arrays_are_refused():
    odd = X.astype(object)
    for f in (lambda x: (x * odd).sum(), lambda x: (odd * x).sum(), lambda x: x @ odd, lambda x: np.append(x, odd)):
        with pytest.raises((ArgumentError, GradientTypeError), match="astype"):
            qad.grad(f)(X)


def test_a_recorded_tensor_is_not_copied_into_a_constant():
    with pytest.raises(RecordedTensorError, match="keep it a Tensor"):
        qad.grad(lambda x: (qad.tensor(x) * x).sum())(X)
    constant = qad.tensor(qad.tensor(X).detach())
    assert not constant.requires_grad and constant.value is not X


def test_tensors_that_no_rule_sees():
    """By keyword, or through a closure, a Tensor would reach a primitive and leave no trace."""

    @qad.extend.primitive
    def scaled(x, by=1.0):
        return x * by

    qad.extend.defvjp(scaled, lambda g, y, x, by=1.0: g * by)
    for f in (lambda x: scaled(x, by=x.sum()).sum(), lambda x: scaled(x * 1, by=x[0]).sum()):
        with pytest.raises(ArgumentError, match="positional"):
            qad.grad(f)(X)
        with pytest.raises(ArgumentError, match="positional"):
            qad.jvp(f, (X,), (X,))
