"""Arrays of other libraries beside Tensors: JAX's become NumPy's, torch's are refused with the bridge to write."""

import operator

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError
from tests.strict_array import StrictArray

X = np.array([1.0, 2.0, 3.0]) / 7
EXPRESSIONS = {
    **{name: getattr(operator, name) for name in ("add", "sub", "mul", "truediv", "pow", "matmul", "mod")},
    "swapped": lambda x, y: y * x - y / x + y @ x,
    **{
        f"np.{f.__name__}": f for f in (np.add, np.multiply, np.maximum, np.arctan2, np.dot, np.inner, np.kron, np.vdot)
    },
    "np.where": lambda x, y: np.where(y > 0, x, y),
    "np.concatenate": lambda x, y: np.concatenate([y, x]),
    "np.stack": lambda x, y: np.stack([x, y]),
    "np.einsum": lambda x, y: np.einsum("i,i->", x, y),
    "qad.einsum": lambda x, y: qad.einsum("i,i->", x, y),
    "qad.array": lambda x, y: qad.array([x[0], y[0]]),
    "solve": lambda x, y: qad.linalg.solve(np.eye(3) + x[:, None] * x, y),
    "written": lambda x, y: written(x, y),
    "in place": lambda x, y: operator.iadd(qad.zeros(3) + x, y),
}


def written(x, y):
    buffer = qad.zeros(3)
    buffer[:] = y
    return buffer * x


def loss(f, y):
    return lambda x: np.sum(f(x, y) ** 2)


TRANSFORMS = {
    "grad": qad.grad,
    "jvp": lambda f: lambda x: qad.jvp(f, (x,), (x,))[1],
    "vmap": lambda f: lambda x: qad.vmap(f)(x[None]),
    "hvp": lambda f: lambda x: qad.hvp(f, (x,), (x,))[0],
    "freeze": lambda f: qad.freeze(qad.grad(f), constant="y"),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_arrays_of_jax_count_as_numpys(name, transform):
    """Also in derivatives, which JAX's arithmetic would compute in single precision."""
    jnp = pytest.importorskip("jax.numpy", reason="the optional package jax is not installed")
    y = np.array([0.25, 0.5, 1.0], "float32")
    found, wanted = (TRANSFORMS[transform](loss(EXPRESSIONS[name], each))(X) for each in (jnp.asarray(y), y))
    assert type(found) is type(wanted) and found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


def test_arrays_of_jax_as_arguments():
    jnp = pytest.importorskip("jax.numpy", reason="the optional package jax is not installed")
    x = jnp.asarray([1.0, 2.0])
    for found in (qad.grad(lambda x: np.sum(x**3))(x), qad.grad(lambda x: np.sum(x["a"] ** 3))({"a": x})["a"]):
        assert type(found) is np.ndarray
        np.testing.assert_array_equal(found, np.array([3.0, 12.0], "float32"))
    assert (qad.tensor([1.0, 5.0]) < x).tolist() == [False, False]


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_tensors_of_torch_are_refused_with_the_bridge(name, requires_grad):
    torch = pytest.importorskip("torch", reason="the optional package torch is not installed")
    y = torch.tensor([0.25, 0.5, 1.0], dtype=torch.float64, requires_grad=requires_grad)
    for transform in (qad.grad, TRANSFORMS["jvp"], TRANSFORMS["vmap"]):
        with pytest.raises(ArgumentError, match=r"qad\.interop\.torch\.wrap\(f\)"):
            transform(loss(EXPRESSIONS[name], y))(X)
        with pytest.raises(ArgumentError, match=r"qad\.interop\.torch\.wrap\(f\)"):
            EXPRESSIONS[name](qad.tensor(X), y)


def test_tensors_in_torchs_functions_and_torchs_as_arguments_are_refused():
    torch = pytest.importorskip("torch", reason="the optional package torch is not installed")
    for f in (torch.sin, lambda x: torch.stack([x, torch.ones(3)]), lambda x: torch.ones(3) == x):
        with pytest.raises(ArgumentError, match=r"qad\.interop\.torch\.primitive\(f\)"):
            qad.grad(f)(X)
    for transform in (qad.grad, qad.hessian, lambda f: lambda x: qad.jvp(f, (x,), (x,))):
        with pytest.raises(ArgumentError, match=r"qad\.interop\.torch\.wrap\(f\)"):
            transform(np.sum)(torch.ones(3))


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("name", [name for name in EXPRESSIONS if name != "qad.array"])  # which takes single numbers
def test_devices_mixed_in_one_expression_raise(name, swapped):
    """Either the Tensor or what it meets lies on a device; the stand-in is as strict as CuPy's arrays."""
    x, y = (X, StrictArray(X + 1)) if not swapped else (StrictArray(X.copy()), X + 1)
    for transform in TRANSFORMS.values():
        with pytest.raises(ArgumentError, match=r"cpu and cuda:0: .*qad\.to_device\(x, 'cuda:0'\)"):
            transform(loss(EXPRESSIONS[name], y))(x)


def test_devices_mixed_where_nothing_is_recorded_raise():
    for call in (lambda: qad.einsum("i,i->", X, StrictArray(X)), lambda: qad.linalg.solve(np.eye(3), StrictArray(X))):
        with pytest.raises(ArgumentError, match=r"qad\.to_device\(x, 'cuda:0'\)"):
            call()
