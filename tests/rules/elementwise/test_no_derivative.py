"""What has no derivative gives plain answers; every name in ``qad`` takes Tensors."""

import numpy as np
import pytest

import qad
from qad.core.tape.dispatch import UFUNCS
from qad.extend.recording import takes_tensors
from qad.rules.protocol.refused import REFUSED

X = np.array([[1.0, -2.5], [0.0, 3.0]])
PLAIN = [
    np.isnan, np.isfinite, np.isinf, np.signbit, np.floor, np.ceil, np.trunc, np.rint, np.round,
    np.shape, np.ndim, np.size, np.argmax, np.argmin, np.argsort, np.argwhere, np.nonzero,
    np.flatnonzero, np.count_nonzero, np.iscomplexobj, np.isrealobj, np.isreal, np.iscomplex,
    np.any, np.all, np.array_repr, np.array2string, np.logical_not,
    np.result_type, np.spacing, np.isposinf,
]  # fmt: skip


@pytest.mark.parametrize("f", PLAIN, ids=lambda f: f.__name__)
def test_answers_are_plain_and_numpys(f):
    found, expected = f(qad.tensor(X, requires_grad=True)), f(X)
    assert type(found) is type(expected)
    for a, b in zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]:
        np.testing.assert_array_equal(a, b)


def test_functions_of_two_arguments():
    t = qad.tensor(X, requires_grad=True)
    for f in (np.equal, np.less, np.logical_and, np.floor_divide, np.isclose, np.isin):
        np.testing.assert_array_equal(f(t, 2.0), f(X, 2.0))
        np.testing.assert_array_equal(f(X, t * t + 1.0), f(X, X * X + 1.0))
    assert np.allclose(t, X)
    assert np.array_equal(X, t)
    assert np.result_type(t, np.complex64) == np.complex128
    np.testing.assert_array_equal(np.zeros((2,), like=t), 0)


@pytest.mark.parametrize("name", ["argmax", "argmin", "argsort", "any", "all", "nonzero", "round"])
def test_methods(name):
    found, expected = getattr(qad.tensor(X, requires_grad=True), name)(), getattr(X, name)()
    assert type(found) is type(expected)
    np.testing.assert_array_equal(found, expected)


def test_steps_have_gradient_zero():
    np.testing.assert_array_equal(qad.grad(lambda x: (x * np.floor(x)).sum())(X), np.floor(X))


def test_qad_has_every_function_of_numpy_that_takes_tensors():
    """Under NumPy's name; what is refused, and what qad has of its own, aside."""
    names = {name for name, fn in vars(np).items() if takes_tensors(fn) and fn not in REFUSED}
    others = {name for name in names if getattr(qad, name, None) is not getattr(np, name)}
    assert len(names) > 300
    assert others == {*qad.rules.making.creation.__all__} & names | {"einsum", "tensordot"}
    assert names <= {*qad.__all__}


def test_every_ufunc_is_decided():
    """With a rule, or passing through."""
    ufuncs = {f for f in vars(np).values() if isinstance(f, np.ufunc)}
    assert not [f.__name__ for f in ufuncs if f not in UFUNCS]
