"""Frozen functions: recorded once, replayed as a flat list of NumPy calls, beside eager code and compilers.

"trace product" is value and gradient of `tr(x1 @ x2)`, 30x30, against the hand-written baseline. "MPS energy" is
value and gradient of the n = 40 Heisenberg energy by the plain code of the peers (`benchmarks.mps_energy`);
"hermitian network" is the same energy written as one `qad.einsum(..., hermitian=True)`. "small operations" are 1000
operations on 8x8 complex matrices, against a bare Python loop of the same `out=` calls (the value alone).
"polynomial" is value and gradient of a polynomial of eight variables; its baseline is the value alone on NumPy's
scalars. "gates" is value and gradient of 40 rotations, each built of its own angle and multiplied with the next;
"elementwise" is that of a sum of elementwise functions of two arrays of 2^20 numbers.
The first call is the price of recording, or of compilation; qad plans in the second, which takes one to four times as
long as the first.
"""

from functools import partial
from itertools import pairwise

import numpy as np

from . import mps_energy, trace_product
from .case import Case, Contender
from .peers import with_jax, with_torch

OPERATIONS = 1000


def frozen_trace(x, y):
    """The transform of the function as a physicist writes it, frozen."""
    import qad

    function = qad.freeze(qad.value_and_grad(lambda a, b: qad.tr(a @ b).real, argnums=(0, 1)))
    return lambda: function(x, y)


def trace_case(dtype):
    """The blog's benchmark."""
    pair = trace_product.matrices(dtype)
    loss = partial(trace_product.product_loss, dtype=dtype)
    return Case(
        f"trace product, {dtype.__name__}",
        [
            Contender("NumPy by hand", partial(trace_product.by_hand, *pair), baseline=True),
            Contender("qad, eager", partial(trace_product.eager, *pair)),
            Contender("qad", partial(frozen_trace, *pair)),
            with_torch(loss, pair),
            with_jax(loss, pair),
        ],
    )


def frozen_sweep(sites, constants):
    """The peers' sweep, its gradient frozen."""
    import qad

    energy = mps_energy.make_loss(np)
    function = qad.freeze(qad.value_and_grad(lambda variables: energy(variables, constants)))
    return lambda: function(sites)


def hermitian_energy(sites, operators):
    """Energy and norm as one Hermitian network each."""
    import qad

    n = len(sites)
    kets = [[("b", i), ("s", i), ("b", i + 1)] for i in range(n)]
    bras = [[("c", i), ("t", i), ("c", i + 1)] for i in range(n)]
    mpo = [[("w", i), ("w", i + 1), ("t", i), ("s", i)] for i in range(n)]
    norm_bras = [[("c", i), ("s", i), ("c", i + 1)] for i in range(n)]
    names = {label: k for k, label in enumerate(dict.fromkeys(x for t in (*kets, *bras, *mpo) for x in t))}

    def network(variables, terms, others):
        tensors = [*variables, *[x.conj() for x in variables], *others]
        flat = [part for x, term in zip(tensors, terms, strict=True) for part in (x, [names[label] for label in term])]
        return qad.einsum(*flat, [], hermitian=True)

    def energy(variables):
        return network(variables, [*kets, *bras, *mpo], operators) / network(variables, [*kets, *norm_bras], [])

    function = qad.freeze(qad.value_and_grad(energy))
    return lambda: function(sites)


def energy_case(bond):
    """The energy of a chain of 40 sites."""
    import qad

    operators = [tensor.astype(complex) for tensor in qad.mps.heisenberg(mps_energy.SITES).tensors]
    constants = [np.ones((1, 1), complex), *mps_energy.operator_matrices(operators)]
    psi = qad.mps.MPS.random(n=mps_energy.SITES, bond=bond, phys=2, dtype=complex, seed=0)
    sites = list(psi.tensors)
    return Case(
        f"MPS energy, bond {bond}",
        [
            Contender("NumPy by hand", partial(mps_energy.by_hand, sites, operators), baseline=True),
            Contender("qad, eager", partial(mps_energy.peers_sweep, sites, constants)),
            Contender("qad", partial(frozen_sweep, sites, constants)),
            Contender("qad, hermitian network", partial(hermitian_energy, sites, operators)),
            with_torch(mps_energy.make_loss, sites, constants),
            with_jax(mps_energy.make_loss, sites, constants),
        ],
    )


def small_matrices():
    """Two small complex matrices."""
    rng = np.random.default_rng(0)
    return (rng.standard_normal((2, 8, 8)) + 1j * rng.standard_normal((2, 8, 8))) / 4


def chain(a, b):
    """1000 small operations."""
    x = a
    for _ in range(OPERATIONS // 4):
        x = ((x @ b + a) * b).conj()
    return x


def bare_loop(a, b):
    """The same operations in two buffers, as a loop over calls that are looked up beforehand."""
    x, y = np.empty_like(a), np.empty_like(a)
    calls = []
    for k in range(OPERATIONS // 4):
        source = a if k == 0 else x
        calls += [(source.dot, (b, y)), (np.add, (y, a, y)), (np.multiply, (y, b, y)), (np.conjugate, (y, x))]

    def call():
        for fn, args in calls:
            fn(*args)
        return x.copy()

    return call


def small_case():
    """What a replay adds to the calls themselves."""
    import qad

    a, b = small_matrices()

    def frozen():
        function = qad.freeze(chain)
        return lambda: function(a, b)

    def result(x):
        return np.abs(x).sum(), [x]

    return Case(
        "small operations",
        [
            Contender("bare loop", partial(bare_loop, a, b), result, baseline=True),
            Contender("NumPy, eager", lambda: partial(chain, a, b), result),
            Contender("qad", frozen, result),
        ],
        operations=OPERATIONS,
    )


def polynomial(x):
    """The forum's polynomial of eight variables."""
    return (
        x[2] * x[7] ** 3 - 3 * x[2] * x[7] * x[5] ** 2 - x[0] * x[5] ** 3 + 3 * x[0] * x[5] * x[7] ** 2
        + x[3] * x[4] ** 3 - 3 * x[3] * x[4] * x[6] ** 2 - x[1] * x[6] ** 3 + 3 * x[1] * x[6] * x[4] ** 2 - 1.2342523
    )  # fmt: skip


def polynomial_case():
    """Value and gradient, against the value alone."""
    import qad

    x = np.random.default_rng(0).standard_normal(8)

    def gradient(wrap):
        function = wrap(qad.value_and_grad(polynomial))
        return lambda: function(x)

    def result(output):
        return output[0], [output[1]]

    return Case(
        "polynomial",
        [
            Contender("qad", partial(gradient, qad.freeze), result),
            Contender("qad, eager", partial(gradient, lambda f: f), result),
            Contender("NumPy, value alone", lambda: partial(polynomial, x), lambda y: (y, None), baseline=True),
        ],
    )


def gates_loss(xp):
    """Rotations by many angles, one by one, and the traces of products of neighbours."""

    def rotation(angle):
        c, s = xp.cos(angle), xp.sin(angle)
        return xp.stack([xp.stack([c, -s]), xp.stack([s, c])])

    def loss(variables, _):
        (angles,) = variables
        gates = [rotation(angles[i]) for i in range(angles.shape[0])]
        return sum(xp.trace(a @ b @ a) for a, b in pairwise(gates))

    return loss


def elementwise_loss(xp):
    """A sum of elementwise functions."""
    return lambda variables, _: xp.sum(xp.exp(-(variables[0] ** 2)) * xp.sin(variables[1]) * variables[0])


def loss_case(name, make_loss, variables):
    """Value and gradient of a loss of arrays, frozen and eager, beside the peers."""
    import qad

    def gradient(wrap):
        function = wrap(qad.value_and_grad(lambda *xs: make_loss(np)(xs, ()), tuple(range(len(variables)))))
        return lambda: function(*variables)

    return Case(
        name,
        [
            Contender("NumPy, value alone", lambda: lambda: (make_loss(np)(variables, ()), None), baseline=True),
            Contender("qad, eager", partial(gradient, lambda f: f)),
            Contender("qad", partial(gradient, qad.freeze)),
            with_torch(make_loss, variables),
            with_jax(make_loss, variables),
        ],
    )


def cases():
    """All of them."""
    yield trace_case(float)
    yield trace_case(complex)
    for bond in (8, 32, 64):
        yield energy_case(bond)
    yield small_case()
    yield polynomial_case()
    rng = np.random.default_rng(0)
    yield loss_case("gates", gates_loss, [rng.standard_normal(40)])
    yield loss_case("elementwise", elementwise_loss, list(rng.standard_normal((2, 1 << 20))))
