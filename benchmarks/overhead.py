"""A chain of 1000 products of 4-element complex arrays: what one recorded operation costs.

`y = y * c`, a thousand times, then the real part of the sum and its gradient with respect to the start; times
are per product, forward and backward, the arithmetic included. "NumPy, forward alone" is the bare arithmetic
of the forward pass. Eager jax, at hundreds of µs a product, gets a few samples only; jitted jax sits out, for
its compiler melts the chain into one loop and no per-operation overhead is left to measure.
"""

from dataclasses import replace

import numpy as np

from .case import Case, Contender
from .peers import with_autograd, with_jax, with_torch

LENGTH = 1000


def chain(y, c):
    """The chain itself."""
    for _ in range(LENGTH):
        y = y * c
    return y


def make_loss(xp):
    """A real loss of the start of the chain, in any library's namespace."""
    return lambda variables, constants: xp.real(chain(variables[0], constants[0]).sum())


def bare(start, factor):
    """NumPy, value alone."""
    return lambda: (chain(start, factor).sum().real, None)


def tape(start, factor):
    """qad."""
    import qad

    function = qad.value_and_grad(lambda y: chain(y, factor).sum().real)

    def call():
        value, gradient = function(start)
        return value, [gradient]

    return call


def cases():
    """One chain; its factor is a phase, so that nothing grows."""
    start = np.array([1.0, 0.5 - 0.2j, -0.3j, 0.8 + 0.1j])
    factor = np.exp(1j * np.array([0.1, -0.2, 0.3, 0.05]))
    contenders = [
        Contender("NumPy, forward alone", lambda: bare(start, factor)),
        Contender("qad", lambda: tape(start, factor), needs="qad"),
        with_torch(make_loss, [start], [factor]),
        with_autograd(make_loss, [start], [factor]),
        replace(with_jax(make_loss, [start], [factor], name="jax, eager", jit=False), most_rounds=3),
    ]
    yield Case("1000 products", contenders, operations=LENGTH)
