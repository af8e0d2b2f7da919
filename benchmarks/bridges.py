"""What it costs to hand a function of qad to torch or jax: beside the least that each of them needs for it.

The function is ``sum(tanh(A x)^2)`` of 64 numbers, value and gradient. "Bare" is a hand-written
``torch.autograd.Function``, and in jax a compiled ``pure_callback`` for the value and one for the gradient under a
``custom_vjp``: they know the one function, in one precision, and neither forward mode nor second derivatives. "The
same, fused" has both in one callback, which a rule that also serves forward mode cannot have.
"""

import numpy as np

from .case import Case, Contender

SIZE = 64


def of(matrix):
    """The function of qad, of NumPy's arrays."""
    return lambda x: np.sum(np.tanh(matrix @ x) ** 2)


def torch_bare(matrix, x):
    """A torch.autograd.Function for this function."""
    import torch

    import qad

    both = qad.value_and_grad(of(matrix))

    class Bare(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            value, ctx.slope = both(x.numpy())
            return torch.as_tensor(value)

        @staticmethod
        def backward(ctx, cotangent):
            return cotangent * torch.from_numpy(ctx.slope)

    return called_in_torch(Bare.apply, x)


def torch_wrap(matrix, x):
    """qad's bridge."""
    from qad.interop.torch import wrap

    return called_in_torch(wrap(of(matrix)), x)


def called_in_torch(f, x):
    """Value and gradient of a function of tensors, as torch's users ask for them."""
    import torch

    def call():
        tensor = torch.tensor(x, requires_grad=True)
        value = f(tensor)
        value.backward()
        return float(value), [tensor.grad.numpy()]

    return call


def jax_bare(matrix, x, fused=False):
    """pure_callback under a custom_vjp, for this function."""
    import jax

    import qad

    jax.config.update("jax_enable_x64", True)
    function, both = of(matrix), qad.value_and_grad(of(matrix))
    number, vector = jax.ShapeDtypeStruct((), float), jax.ShapeDtypeStruct((SIZE,), float)
    value = jax.custom_vjp(lambda x: jax.pure_callback(lambda x: np.asarray(function(np.asarray(x))), number, x))

    def run(x):
        found, slope = both(np.asarray(x))
        return np.asarray(found), slope

    def pulled(x, c):
        return c * qad.grad(function)(np.asarray(x))

    if fused:
        value.defvjp(lambda x: jax.pure_callback(run, (number, vector), x), lambda slope, c: (c * slope,))
    else:
        value.defvjp(lambda x: (value(x), x), lambda x, c: (jax.pure_callback(pulled, vector, x, c),))
    return called_in_jax(value, x)


def jax_wrap(matrix, x):
    """qad's bridge."""
    import jax

    from qad.interop.jax import wrap

    jax.config.update("jax_enable_x64", True)
    return called_in_jax(wrap(of(matrix)), x)


def called_in_jax(f, x):
    """Value and gradient of a function of JAX, compiled."""
    import jax

    both, x = jax.jit(jax.value_and_grad(f)), jax.numpy.asarray(x)

    def call():
        value, slope = jax.block_until_ready(both(x))
        return float(value), [np.asarray(slope)]

    return call


def cases():
    """One for each library."""
    rng = np.random.default_rng(0)
    matrix, x = rng.normal(size=(SIZE, SIZE)) / SIZE, rng.normal(size=SIZE)
    yield Case("torch", [
        Contender("bare autograd.Function", lambda: torch_bare(matrix, x), needs="torch"),
        Contender("qad.interop.torch.wrap", lambda: torch_wrap(matrix, x), needs="torch"),
    ])  # fmt: skip
    yield Case("jax", [
        Contender("bare pure_callback", lambda: jax_bare(matrix, x), needs="jax"),
        Contender("the same, fused", lambda: jax_bare(matrix, x, fused=True), needs="jax"),
        Contender("qad.interop.jax.wrap", lambda: jax_wrap(matrix, x), needs="jax"),
    ])  # fmt: skip
