"""qad's functions in JAX, compiled, mapped and differentiated, and JAX's in qad; conventions are converted."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError

pytest.importorskip("jax", reason="the optional package jax is not installed")

import jax
import jax.numpy as jnp

from qad.interop.jax import primitive, wrap


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True):
        yield


def with_qad(z, x):
    """Not holomorphic: of a complex and a real array, to a complex one."""
    return np.exp(1j * np.sum(x)) * z.conj() * z * np.sin(z) + x


def with_jax(z, x):
    return jnp.exp(1j * jnp.sum(x)) * z.conj() * z * jnp.sin(z) + x


def real(f):
    return lambda z, x: jnp.sum(jnp.abs(f(z, x)) ** 2)


def squares(tree):
    return sum(jnp.sum(jnp.abs(leaf) ** 2) for leaf in jax.tree.leaves(tree))


def along(f):
    """The derivative in a fixed direction."""
    return lambda z, x: jax.jvp(f, (z, x), ((1 + 2j) * z, x * x))[1]


def point():
    rng = np.random.default_rng(0)
    return jnp.asarray(rng.normal(size=(2, 3)) + 1j * rng.normal(size=(2, 3))), jnp.asarray(rng.normal(size=(2, 3)))


TRANSFORMS = {
    "value": lambda f: f,
    "grad": lambda f: jax.grad(real(f), (0, 1)),
    "jit of grad": lambda f: jax.jit(jax.grad(real(f), (0, 1))),
    "jvp": along,
    "grad of grad": lambda f: jax.grad(lambda z, x: squares(jax.grad(real(f), (0, 1))(z, x)), (0, 1)),
    "jvp of grad": lambda f: along(jax.grad(real(f), (0, 1))),
    "grad of jvp": lambda f: jax.grad(lambda z, x: squares(along(f)(z, x)), (0, 1)),
    "jit of vmap of grad": lambda f: jax.jit(jax.vmap(jax.grad(real(f), (0, 1)))),
    "grad of vmap": lambda f: jax.grad(lambda z, x: real(jax.vmap(f, in_axes=(0, None)))(z, x[0]), (0, 1)),
    "hessian": lambda f: jax.jit(jax.hessian(real(f), 1)),
    "vjp": lambda f: lambda z, x: jax.vjp(f, z, x)[1](z * x),
}


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.sampled(4)
def test_transforms_are_those_of_the_function_written_in_jax(name):
    ours, theirs = (TRANSFORMS[name](f)(*point()) for f in (wrap(with_qad), with_jax))
    for one, two in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-10, atol=1e-10)


def test_pytrees_and_what_is_no_array():
    f = wrap(lambda arrays, power: {"sum": arrays["a"] + 1.0, "power": arrays["a"] ** power})
    out, pullback = jax.vjp(lambda a: f({"a": a}, power=3), jnp.ones(2))
    np.testing.assert_allclose(pullback(out)[0], 2 + 3)
    assert set(out) == {"sum", "power"}


def test_derivatives_at_numbers_of_python():
    f = wrap(np.sin)
    np.testing.assert_allclose(jax.grad(f)(0.3), np.cos(0.3), rtol=1e-12)
    np.testing.assert_allclose(jax.hessian(f)(0.3), -np.sin(0.3), rtol=1e-12)
    np.testing.assert_allclose(jax.jvp(f, (0.3,), (2.0,))[1], 2 * np.cos(0.3), rtol=1e-12)
    assert jax.checkpoint(f)(0.3) == np.sin(0.3)


def test_single_precision_stays_single():
    with jax.enable_x64(False):
        assert wrap(lambda x: x * np.ones(2))(jnp.ones(2, "float32")).dtype == "float32"


def test_it_is_compiled_once_for_a_shape():
    calls = []

    def counted(x):
        calls.append(x.shape)
        return np.sum(x**2)

    compiled = jax.jit(jax.grad(wrap(counted)))
    for _ in range(3):
        compiled(jnp.ones(2)).block_until_ready()
    assert compiled._cache_size() == 1
    assert len(calls) <= 1 + 3 * 2  # a generic point for the shape; then forward and backward at most


def test_what_is_refused():
    with pytest.raises(ArgumentError, match="leave them out"):
        wrap(np.argmax)(jnp.ones(2))


# -- the other way ---------------------------------------------------------------------------------------------------


def test_jax_in_qad():
    z, x = map(np.asarray, point())
    f = primitive(with_jax)
    qad.check_grads(f, (z, x))
    np.testing.assert_allclose(qad.jacobian(f, 1)(z, x), qad.jacobian(with_qad, 1)(z, x), atol=1e-12)
    np.testing.assert_allclose(qad.vmap(f)(z, x), [f(*pair) for pair in zip(z, x, strict=True)], atol=1e-12)


def test_several_outputs_of_jax_in_qad():
    f = primitive(lambda x: (jnp.sin(x), jnp.cos(x)))
    np.testing.assert_allclose(qad.grad(lambda x: f(x)[1].sum())(np.ones(2)), -np.sin(np.ones(2)))
    assert all(type(y) is np.ndarray for y in f(np.ones(2)))


def test_how_many_outputs_there_are_depends_on_this_call_alone():
    f = primitive(lambda x: (x, 2 * x) if x.ndim else x)
    for _ in range(2):
        assert [y.shape for y in f(np.ones(2))] == [(2,), (2,)]
        assert f(np.ones(())).shape == ()


def test_arrays_of_jax_are_converted_among_operands():
    found = qad.einsum("ij,jk->ik", jnp.ones((2, 2)), np.ones((2, 2)))
    assert type(found) is np.ndarray


@pytest.mark.slow
def test_compiled_programs_of_jax_in_qad_in_jax():
    """The first call may be a compilation: shapes are found while JAX traces, and numbers have to remain numbers."""
    for f in (lambda x: jnp.sum(jnp.sin(x) ** 2), lambda x: jnp.outer(x, x) @ jnp.outer(x, x)):
        for transform in (lambda g: g, jax.jacrev, jax.hessian):
            found = jax.jit(transform(wrap(primitive(f))))(jnp.arange(3.0))
            np.testing.assert_allclose(found, transform(f)(jnp.arange(3.0)), atol=1e-12)
    found = jax.lax.map(lambda t: wrap(primitive(jnp.sin))(t), jnp.arange(3.0))
    np.testing.assert_allclose(found, np.sin(np.arange(3.0)))
