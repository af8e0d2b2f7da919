"""Transforms: forward mode beside the function itself, Hessians and batches beside jax and autograd.

"a batch of 1000" is the gradient of a small least-squares problem for each of 1000 right-hand sides; "loop" calls
`qad.grad` for each. The Hessians are those of functions of 50 real variables; jax is jitted and warm. The polynomial
has eight variables, `x[i]` everywhere; its times are per scalar operation, forward and backward.
"""

from itertools import product

import numpy as np

from .case import Case, Contender
from .peers import import_jax

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(2, 50, 50)) / 7
POINT = RNG.normal(size=50)
SMALL, RIGHT = RNG.normal(size=(6, 4)), RNG.normal(size=(1000, 6))
STEPS = 52  # scalar operations of the polynomial, indexing included


def layers(xp):
    """A perceptron of two layers."""
    return lambda x: xp.sum(xp.tanh(B @ xp.tanh(A @ x)) ** 2)


def rosenbrock(xp):
    """The chained Rosenbrock function."""
    return lambda x: xp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def partition(xp):
    """A logarithm of a sum of exponentials."""
    return lambda x: xp.log(xp.sum(xp.exp(A @ x))) + x @ x


def repulsion(xp):
    """25 particles in the plane."""

    def energy(x):
        r = xp.reshape(x, (25, 2))
        apart = r[:, None] - r[None]
        return xp.sum(1 / (xp.sum(apart * apart, -1) + xp.eye(25))) + xp.sum(r * r)

    return energy


def squares(xp):
    """A least-squares loss with a kink smoothed."""
    return lambda y: xp.sum(xp.sqrt(1 + (SMALL.T @ y) ** 2)) + xp.sum(y**4)


def polynomial(x):
    """The polynomial, as one writes it."""
    return (
        x[3] * x[0] ** 3 - 3 * x[3] * x[0] * x[6] ** 2 - x[1] * x[6] ** 3 + 3 * x[1] * x[6] * x[0] ** 2
        + x[4] * x[5] ** 3 - 3 * x[4] * x[5] * x[7] ** 2 - x[2] * x[7] ** 3 + 3 * x[2] * x[7] * x[5] ** 2 - 1.2342523
    )  # fmt: skip


def chain(x, y, z):
    """Elementwise functions of three matrices, and their sum."""
    a = np.sin(x) * y + np.exp(-x * x) / (1 + z * z)
    return np.sum(a * np.cos(y - z) + np.sqrt(1 + a * a))


def hessians():
    """Four functions of 50 variables."""
    for make in (layers, rosenbrock, partition, repulsion):

        def ours(make=make):
            import qad

            hessian = qad.hessian(make(np))
            return lambda: (np.float64(1.0), [hessian(POINT)])

        def frozen(make=make):
            import qad

            hessian = qad.freeze(qad.hessian(make(np)))
            return lambda: (np.float64(1.0), [hessian(POINT)])

        def jitted(make=make):
            jax = import_jax()
            hessian, x = jax.jit(jax.hessian(make(jax.numpy))), jax.numpy.asarray(POINT)
            return lambda: (np.float64(1.0), [np.asarray(hessian(x).block_until_ready())])

        def tape(make=make):
            import autograd
            import autograd.numpy as anp

            hessian = autograd.hessian(make(anp))
            return lambda: (np.float64(1.0), [hessian(POINT)])

        yield Case(
            f"Hessian, {make.__name__}",
            [
                Contender("qad", ours, needs="qad"),
                Contender("qad, frozen", frozen, needs="qad"),
                Contender("jax, jit", jitted, needs="jax"),
                Contender("autograd", tape, needs="autograd", most_rounds=5),
            ],
            tolerance=1e-8,
        )


def batches():
    """1000 small problems at once."""

    def batch():
        import qad

        gradient = qad.vmap(qad.grad(squares(np)))
        return lambda: (np.float64(1.0), [gradient(RIGHT)])

    def loop():
        import qad

        gradient = qad.grad(squares(np))
        return lambda: (np.float64(1.0), [np.stack([gradient(y) for y in RIGHT])])

    def jitted():
        jax = import_jax()
        gradient, y = jax.jit(jax.vmap(jax.grad(squares(jax.numpy)))), jax.numpy.asarray(RIGHT)
        return lambda: (np.float64(1.0), [np.asarray(gradient(y).block_until_ready())])

    yield Case(
        "a batch of 1000",
        [
            Contender("qad, vmap", batch, needs="qad"),
            Contender("qad, loop", loop, needs="qad", most_rounds=5),
            Contender("jax, vmap, jit", jitted, needs="jax"),
        ],
    )


def tangents():
    """Forward mode."""
    for n in (3, 100, 200):
        primals, moves = (tuple(RNG.normal(size=(3, n, n))) for _ in range(2))

        def function(primals=primals):
            return lambda: (chain(*primals), None)

        def forward(primals=primals, moves=moves):
            import qad

            def call():
                value, tangent = qad.jvp(chain, primals, moves)
                return value, [tangent]

            return call

        yield Case(
            f"jvp, {n}x{n}",
            [
                Contender("NumPy, the function alone", function, baseline=True),
                Contender("qad, jvp", forward, needs="qad"),
            ],
        )


def polynomials():
    """Real and complex."""
    for kind, x in product(("real", "complex"), (RNG.normal(size=8),)):
        start = x if kind == "real" else x + 1j * x[::-1]

        def bare(start=start):
            return lambda: (abs(polynomial(start)) ** 2, None)

        def tape(start=start):
            import qad

            function = qad.value_and_grad(lambda z: qad.abs2(polynomial(z)))

            def call():
                value, gradient = function(start)
                return value, [gradient]

            return call

        yield Case(
            f"polynomial, {kind}",
            [Contender("NumPy scalars, forward alone", bare), Contender("qad", tape, needs="qad")],
            operations=STEPS,
        )


def cases():
    """All of them."""
    yield from hessians()
    yield from batches()
    yield from tangents()
    yield from polynomials()
