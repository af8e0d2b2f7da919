"""Value and gradient of tr(x1 @ x2), 30x30: the overhead of a tape around two BLAS calls.

The benchmark of the blog post that the project grew from. The complex loss is the real part of the trace.
"NumPy by hand" is its baseline: the trace of the product, then `I @ x2^H` and `x1^H @ I` with a ready
identity. The entries marked "fused" never form the product: the trace is a sum over `x1 * x2^T`, and
`qad.tr(x1, x2)` knows that by itself.
"""

from functools import partial

import numpy as np

from .case import Case, Contender
from .peers import with_autograd, with_jax, with_torch

SIZE = 30


def matrices(dtype):
    """Two random matrices."""
    rng = np.random.default_rng(0)
    pair = rng.standard_normal((2, SIZE, SIZE)) / np.sqrt(SIZE)
    if dtype is complex:
        pair = pair + 1j * rng.standard_normal((2, SIZE, SIZE)) / np.sqrt(SIZE)
    return list(pair)


def by_hand(x, y):
    """Two products for the gradient, as a tape without structured cotangents makes them."""
    identity = np.eye(SIZE, dtype=x.dtype)
    if np.isrealobj(x):
        return lambda: (np.trace(x @ y), (identity @ y.T, x.T @ identity))
    return lambda: (np.trace(x @ y).real, (identity @ y.conj().T, x.conj().T @ identity))


def by_hand_fused(x, y):
    """No product at all: the gradient of one factor is the other one."""
    if np.isrealobj(x):
        return lambda: ((x * y.T).sum(), (y.T.copy(), x.T.copy()))
    return lambda: ((x * y.T).sum().real, (y.conj().T, x.conj().T))


def product_loss(xp, dtype):
    """The trace of the product, in any library's namespace."""
    if dtype is float:
        return lambda variables, _: xp.trace(variables[0] @ variables[1])
    return lambda variables, _: xp.real(xp.trace(variables[0] @ variables[1]))


def fused_loss(xp, dtype):
    """The same without the product."""
    if dtype is float:
        return lambda variables, _: (variables[0] * variables[1].T).sum()
    return lambda variables, _: xp.real((variables[0] * variables[1].T).sum())


def eager(x, y):
    """qad's transform of the function as a physicist writes it."""
    import qad

    function = qad.value_and_grad(lambda a, b: qad.tr(a @ b).real, argnums=(0, 1))
    return lambda: function(x, y)


def tape(x, y):
    """The same on Tensors, PyTorch style."""
    import qad

    a, b = qad.tensor(x, requires_grad=True), qad.tensor(y, requires_grad=True)

    def call():
        a.zero_grad()
        b.zero_grad()
        value = qad.tr(a @ b).real
        value.backward()
        return value.numpy(), (a.grad, b.grad)

    return call


def fused(x, y):
    """The trace of several factors, one primitive."""
    import qad

    function = qad.value_and_grad(lambda a, b: qad.tr(a, b).real, argnums=(0, 1))
    return lambda: function(x, y)


def cases():
    """Real and complex."""
    for dtype in (float, complex):
        pair = matrices(dtype)
        product, without = partial(product_loss, dtype=dtype), partial(fused_loss, dtype=dtype)
        contenders = [
            Contender("NumPy by hand", partial(by_hand, *pair), baseline=True),
            Contender("NumPy by hand, fused", partial(by_hand_fused, *pair)),
            Contender("qad", partial(eager, *pair), needs="qad"),
            Contender("qad, backward()", partial(tape, *pair), needs="qad"),
            Contender("qad, fused", partial(fused, *pair), needs="qad"),
            with_torch(product, pair),
            with_torch(without, pair, name="torch, fused"),
            with_jax(product, pair),
            with_jax(without, pair, name="jax, jitted, fused"),
            with_autograd(product, pair),
        ]
        yield Case(dtype.__name__, contenders)
