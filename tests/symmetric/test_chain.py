"""A chain of symmetric tensors: its energy, gradient and Hessian-vector product are those of the dense chain."""

from math import comb

import numpy as np
import pytest

import qad
from qad.symmetric import Leg, SymTensor, from_dense, random, scale, svd, tensordot
from tests.symmetric.draw import close

N, SPIN = 6, Leg({1: 1, -1: 1}, +1)
CHANNELS = Leg({0: 3, 2: 1, -2: 1}, +1)  # start, Sz, done; after S+; after S-


def bond(i, total, most):
    """The bond left of site i: charges that the sites on its left can have, and those on its right complete."""
    charges = [q for q in range(-i, i + 1, 2) if abs(total - q) <= N - i]
    return {q: min(most, comb(i, (i + q) // 2), comb(N - i, (N - i + total - q) // 2)) for q in charges}


def state(total, dtype, seed=0, most=2):
    legs = [Leg(bond(i, total, most), +1) for i in range(N + 1)]
    return [random((legs[i], SPIN, legs[i + 1].conj()), dtype=dtype, seed=[seed, i]) for i in range(N)]


def operators():
    """The Heisenberg chain, legs (left, right, out, in)."""
    up, sz, one = np.array([[0.0, 1.0], [0, 0]]), np.diag([0.5, -0.5]), np.eye(2)
    w = np.zeros((5, 5, 2, 2))  # channels in the order of the leg
    w[0, 0] = w[2, 2] = one
    w[0, 1] = w[1, 2] = sz
    w[0, 3], w[3, 2] = up / 2, up.T
    w[0, 4], w[4, 2] = up.T / 2, up
    first, last = Leg({0: 1}, +1), Leg({0: 1}, -1)

    def cut(w, left, right):
        return from_dense(w, (left, right, SPIN, SPIN.conj()))

    inner = cut(w, CHANNELS, CHANNELS.conj())
    return [cut(w[:1], first, CHANNELS.conj()), *[inner] * (N - 2), cut(w[:, 2:3], CHANNELS, last)]


def energy(sites, operators):
    """<psi|H|psi> / <psi|psi>; environments have the legs (bra, operator, ket)."""
    left, right = sites[0].legs[0], sites[-1].legs[2].conj()
    trivial = Leg({0: 1}, -1)
    h = from_dense(np.ones((1, 1, 1)), (left, trivial, left.conj()))
    n = from_dense(np.ones((1, 1)), (left, left.conj()))
    for a, w in zip(sites, operators, strict=True):
        h = qad.einsum("bwk,ksr,wxts,btq->qxr", h, a, w, a.conj())
        n = qad.einsum("bk,ksr,bsq->qr", n, a, a.conj())
    end = from_dense(np.ones((1, 1, 1)), (right.conj(), trivial.conj(), right))
    return qad.einsum("bwk,bwk->", h, end).real / qad.einsum("bb->", n).real


def dense_energy(arrays):
    return qad.mps.energy(qad.mps.MPS(arrays), qad.mps.heisenberg(N))


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("total", [0, 2, -4])
def test_derivatives_are_those_of_the_dense_chain(total, dtype):
    sites, towards, ws = state(total, dtype), state(total, dtype, seed=1), operators()
    dense, tangents = ([a.to_dense() for a in row] for row in (sites, towards))
    inside = [a.to_dense() != 0 for a in sites]
    value, g = qad.value_and_grad(energy)(sites, ws)
    expected, h = qad.value_and_grad(dense_energy)(dense)
    assert value == pytest.approx(expected, rel=1e-12)
    for found, whole, own in zip(g, h, inside, strict=True):
        close(found.to_dense(), whole, 1e-12)  # off the blocks the dense gradient vanishes, too
        assert not np.asarray(whole)[~own].any() or np.abs(np.asarray(whole)[~own]).max() < 1e-13
    (found,), (expected,) = (
        qad.hvp(f, (point,), (t,))
        for f, point, t in ((lambda s: energy(s, ws), sites, towards), (dense_energy, dense, tangents))
    )
    for one, two in zip(found, expected, strict=True):
        close(one.to_dense(), two, 1e-11)


def test_the_lowest_state_of_a_sector():
    total = 2
    sites, ws = state(total, float, most=20), operators()
    found = qad.optimize.minimize(lambda s: energy(s, ws), sites)
    hamiltonian = qad.mps.heisenberg(N).to_dense()
    charges = sum(np.where(np.indices((2,) * N)[i] == 0, 1, -1) for i in range(N)).ravel()
    block = np.flatnonzero(charges == total)
    exact = np.linalg.eigvalsh(hamiltonian[np.ix_(block, block)])[0]
    assert exact - 1e-12 < found.fun < exact + 1e-7
    assert all(type(a) is SymTensor for a in found.params)


def test_moving_the_centre_keeps_the_state():
    """As two-site searches do it: contract two sites, decompose, put the values to the right."""
    sites = state(0, complex)
    dense = qad.mps.MPS([a.to_dense() for a in sites]).to_dense()
    for i in range(N - 1):
        u, s, v = svd(tensordot(sites[i], sites[i + 1], 1), 2)
        sites[i], sites[i + 1] = u, scale(v, s, 0)
        assert u.charge == 0 and u.legs[2].flow == -1
    close(qad.mps.MPS([a.to_dense() for a in sites]).to_dense(), dense, 1e-12)
    assert np.isclose(sites[-1].norm(), np.linalg.norm(dense))
