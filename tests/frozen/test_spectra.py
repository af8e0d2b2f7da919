"""Frozen derivatives at spectra that have a cluster in one call and none in the next."""

import numpy as np
import pytest

import qad
from qad.core.errors import QadError

X, E = np.random.default_rng(0).standard_normal((2, 4, 4))
Q = np.linalg.qr(np.random.default_rng(1).standard_normal((4, 4)))[0]


def of_values(*w):
    a = (Q * w) @ Q.T
    return (a + a.T) / 2


def eigenvectors(a):
    v = np.linalg.eigh((a + a.T) / 2)[1]
    return np.sum(X * (v[:, 2:] @ v[:, 2:].T))


def singular_vectors(a):
    u = np.linalg.svd(a)[0]
    return np.sum(X * (u[:, :2] @ u[:, :2].T))


def polar_factor(a):
    u, _, vh = np.linalg.svd(a)
    return np.sum(X * (u[:, :2] @ vh[:2]))


def answer(f, a):
    """The number of a derivative, None where it is refused."""
    try:
        return f(a)
    except QadError:
        return None


@pytest.mark.parametrize("f", [eigenvectors, singular_vectors, polar_factor], ids=lambda f: f.__name__)
@pytest.mark.parametrize("gaps", [(1e-5, 1e-4), (1e-5, 0.1), (0.1, 1e-5), (1e-4, 1e-6)])
@pytest.mark.sampled(1)
def test_a_cluster_that_comes_or_goes(f, gaps):
    """The compiled loop read a matrix that only the first call had: memory of others."""
    second = {
        "hvp": lambda a: qad.hvp(f, (a,), (E,))[0],
        "hessian": qad.hessian(f),
        "reverse over reverse": qad.grad(lambda a: np.sum(E * qad.grad(f)(a))),
        "forward over forward": lambda a: qad.jvp(lambda a: qad.jvp(f, (a,), (E,))[1], (a,), (E,))[1],
    }
    for name, derivative in second.items():
        frozen, met = qad.freeze(derivative), 0
        for gap in (*gaps, *gaps):
            a = of_values(0.5, 1, 2, 2 + gap)
            ours, plain = answer(frozen, a), answer(derivative, a)
            tolerance = 1e-9 + min(1e-15 / gap**2, 1e-4) * ("over" in name)  # no frame
            if ours is not None:  # a program of vectors without a frame may be refused where a frame helps
                assert plain is not None, name
                atol = tolerance * np.abs(plain).max()
                np.testing.assert_allclose(ours, plain, rtol=0, atol=atol, err_msg=name)
                met += 1
        assert met, name
