"""Value and gradient of <psi|H|psi> / <psi|psi>, a matrix product state on the Heisenberg chain, n = 40.

The gradient is with respect to every tensor; the state and the operator are the same for all. "qad" is
`qad.value_and_grad(qad.mps.energy)`. The peers sweep from left to right, site by site, with the layouts chosen
by hand so that every contraction is one matrix product; that was faster in torch than `einsum` and `tensordot`, and
as fast in jitted jax. "qad, peers' sweep" differentiates that same code. "NumPy by hand" is what one writes without
a tape: environments from both sides, and then, by Hermiticity, the bra half of the gradient alone. "its matrix
products" is one large product with as many multiply-adds as qad's own products of the whole gradient, no
result. The last columns give the value alone, and how many times that the value with its gradient costs. The first
call of jitted jax compiles.
"""

from functools import partial

import numpy as np

from .case import Case, Contender
from .peers import with_autograd, with_jax, with_torch

SITES = 40
CASES = (*((bond, complex) for bond in (8, 16, 32, 64, 128)), (32, float), (64, float), (64, np.complex64))
PRODUCTS, LARGE = 28, 1024  # qad's multiply-adds in units of bond**3 a site; rows and columns of a large product


def absorb_operator(environment, site, matrix):
    """Environment (bra operator, ket) times site, then operator: (bra out, operator ket)."""
    left, physical, right = site.shape
    half = environment.reshape(-1, left) @ site.reshape(left, physical * right)
    half = matrix @ half.reshape(left, -1, right)
    return half.reshape(left * physical, -1)


def absorb_site(environment, site):
    """The same without an operator: (bra physical, ket)."""
    left, physical, right = site.shape
    return (environment @ site.reshape(left, physical * right)).reshape(left * physical, right)


def bra(xp, site):
    """The conjugate of a site as the matrix (right, left physical)."""
    left, physical, right = site.shape
    return xp.conj(site.reshape(left * physical, right)).T


def operator_matrices(operators):
    """Every operator (left, right, out, in) as the matrix (out right, left in) of `absorb_operator`."""
    return [np.ascontiguousarray(w.transpose(2, 1, 0, 3).reshape(2 * w.shape[1], -1)) for w in operators]


def make_loss(xp):
    """The energy as a sweep from the left, in any library's namespace."""

    def energy(sites, constants):
        environment, *matrices = constants
        overlap = environment
        for site, matrix in zip(sites, matrices, strict=True):
            environment = bra(xp, site) @ absorb_operator(environment, site, matrix)
            overlap = bra(xp, site) @ absorb_site(overlap, site)
        return xp.real(environment[0, 0] / overlap[0, 0])

    return energy


def by_hand(sites, operators):
    """NumPy without a tape: the sweep from the left keeps its halves, the one from the right closes them."""
    matrices = operator_matrices(operators)
    mirrored = [np.ascontiguousarray(w.transpose(0, 2, 3, 1).reshape(2 * w.shape[0], -1)) for w in operators]

    def call():
        left, overlap, halves = np.ones((1, 1)), np.ones((1, 1)), []
        for site, matrix in zip(sites, matrices, strict=True):
            halves.append((absorb_operator(left, site, matrix), absorb_site(overlap, site)))
            left, overlap = (bra(np, site) @ half for half in halves[-1])
        norm = overlap[0, 0].real
        energy = left[0, 0].real / norm
        return energy, close_from_right(sites, mirrored, halves, energy, norm)

    return call


def close_from_right(sites, mirrored, halves, energy, norm):
    """2 (H - E) A / norm at every site: left halves times environments (ket, operator, bra) of the right."""
    right, overlap, gradients = np.ones((1, 1, 1)), np.ones((1, 1)), []
    for site, matrix, (half, plain) in zip(sites[::-1], mirrored[::-1], halves[::-1], strict=True):
        _, bond, width = site.shape[0], site.shape[2], right.shape[1]
        closed = half @ right.swapaxes(0, 1).reshape(width * bond, bond) - energy * (plain @ overlap)
        gradients.append(2 / norm * closed.reshape(site.shape))
        row = site.conj().reshape(site.shape[0], -1).T
        overlap = (site @ overlap).reshape(site.shape[0], -1) @ row
        right = site.reshape(-1, bond) @ right.reshape(bond, width * bond)
        right = matrix @ right.reshape(site.shape[0], -1, bond)
        right = (right.reshape(-1, row.shape[0]) @ row).reshape(site.shape[0], -1, site.shape[0])
    return gradients[::-1]


def chain_energy(psi, operator):
    """qad's own energy; its gradient is a state."""
    import qad

    function = qad.value_and_grad(qad.mps.energy)
    return lambda: function(psi, operator)


def chain_value(psi, operator):
    """The same without a gradient."""
    import qad

    return lambda: qad.mps.energy(psi, operator)


def peers_sweep(sites, constants):
    """qad's gradient of the sweep that the peers make."""
    import qad

    energy = make_loss(np)
    function = qad.value_and_grad(lambda variables: energy(variables, constants))
    return lambda: function(sites)


def large_product(psi):
    """One large matrix product with the multiply-adds of qad's products."""
    bonds = np.array(psi.bonds, float)
    work = PRODUCTS * (bonds[:-1] * bonds[1:] * np.maximum(bonds[:-1], bonds[1:])).sum()
    a = np.ones((max(1, round(work / LARGE**2)), LARGE), psi.dtype)
    b = np.ones((LARGE, LARGE), psi.dtype)
    return lambda: a @ b


def case(bond, dtype):
    """One bond dimension and dtype."""
    import qad

    operator = qad.mps.heisenberg(SITES)
    operators = [tensor.astype(dtype) for tensor in operator.tensors]  # torch multiplies no real with complex
    constants = [np.ones((1, 1), dtype), *operator_matrices(operators)]
    psi = qad.mps.MPS.random(n=SITES, bond=bond, phys=2, dtype=dtype, seed=0)
    sites = list(psi.tensors)
    value = partial(partial, make_loss(np), sites, constants)
    contenders = [
        Contender("NumPy by hand", partial(by_hand, sites, operators), baseline=True, forward=value),
        Contender(
            "qad",
            partial(chain_energy, psi, operator),
            lambda output: (output[0], output[1].tensors),
            forward=partial(chain_value, psi, operator),
        ),
        Contender("its matrix products", partial(large_product, psi), result=None),
        Contender("qad, peers' sweep", partial(peers_sweep, sites, constants), forward=value),
        with_torch(make_loss, sites, constants, forward=True),
        with_jax(make_loss, sites, constants, forward=True),
        with_autograd(make_loss, sites, constants, forward=True),
    ]
    name = f"bond {bond}" if dtype is complex else f"bond {bond}, {np.dtype(dtype).name}"
    return Case(name, contenders, tolerance=1e-3 if dtype is np.complex64 else 1e-10)


def cases():
    """Five bond dimensions, and other dtypes."""
    for bond, dtype in CASES:
        yield case(bond, dtype)
