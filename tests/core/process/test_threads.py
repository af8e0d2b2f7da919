"""Gradients in parallel threads: levels, nodes and modes of one do not reach another."""

import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest

import qad
from tests.cases import normal

THREADS, ROUNDS = 8, 20


@pytest.fixture(autouse=True)
def many_switches():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def in_threads(work):
    """The results of ``work(k)`` in threads that start together, each round compared with one run alone."""
    barrier = Barrier(THREADS)

    def repeated(k):
        barrier.wait()
        return [work(k) for _ in range(ROUNDS)]

    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(repeated, range(THREADS)))
    for k, results in enumerate(found):
        expected = work(k)
        for result in results:
            for x, y in zip(result, expected, strict=True):
                np.testing.assert_array_equal(x, y)


def loss(z, w):
    h = np.tanh(np.abs(w @ z)) + np.sin(z.real)
    return np.sum(h * qad.abs2(z)) + np.linalg.norm(w)


def test_transforms():
    def work(k):
        z, w = normal(4, complex, seed=k), normal(4, 4, complex, seed=k)
        x = normal(3, 4, seed=k)
        value, gradients = qad.value_and_grad(loss, (0, 1))(z, w)
        products = qad.hvp(loss, (z, w), (w[0], w.T))
        rows = qad.vmap(qad.grad(lambda x: np.sum(np.sort(x) ** 3 * x[k % 4])))(x)
        hessian = qad.hessian(lambda z: loss(z, w))(z)
        return [value, *gradients, *products, rows, hessian.zz, hessian.zzbar]

    in_threads(work)


def test_a_mode_belongs_to_its_thread():
    def work(k):
        x = qad.tensor(normal(4, seed=k), requires_grad=True)
        if k % 2:
            with qad.no_grad():
                y = np.sum(x * x)
            return [y.requires_grad, y.numpy()]
        np.sum(np.sin(x) * x).backward()
        return [x.grad]

    in_threads(work)


def test_one_function_and_one_constant_serve_all():
    """Closed-over arrays, the jitted caches of contraction plans and rules are shared."""
    shared = normal(5, 5, complex)
    gradient = qad.value_and_grad(lambda a: qad.einsum("ij,jk,kl,li->", a, shared, a.conj(), shared.conj().T).real)

    def work(k):
        value, g = gradient(normal(5, 5, complex, seed=k))
        return [value, g]

    for _ in range(3):  # from the third time on a network runs compiled, which rounds in another order
        work(0)
    in_threads(work)
