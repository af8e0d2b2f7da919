"""Random matrices for the tests of linear algebra."""

import numpy as np


def draw(*shape, real=False, seed=0):
    """Normal random numbers of this shape."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    return x if real else x + 1j * rng.standard_normal(shape)


def unitary(n, seed=0, real=False):
    """A random unitary (orthogonal) matrix."""
    return np.linalg.qr(draw(n, n, seed=seed, real=real))[0]


def with_values(s, m=None, n=None, seed=0, real=False):
    """A random m x n matrix with the singular values `s`."""
    k = len(s)
    u, v = unitary(m or k, seed, real), unitary(n or k, seed + 1, real)
    return (u[:, :k] * np.asarray(s)) @ v[:, :k].conj().T


def with_eigenvalues(w, seed=0, real=False):
    """A random Hermitian matrix with the eigenvalues `w`."""
    v = unitary(len(w), seed, real)
    a = (v * np.asarray(w)) @ v.conj().T
    return (a + a.conj().T) / 2


def apart(v):
    """`v`, by operations after which nobody knows that it is a factor of a decomposition."""
    return np.stack([v])[0]


def herm(a):
    """Hermitian part over the last two axes."""
    return (a + a.conj().mT) / 2


def well(*shape, real=False, seed=0):
    """A well-conditioned random (..., n, n) matrix."""
    return draw(*shape, real=real, seed=seed) + 3 * np.eye(shape[-1])


def positive(*shape, real=False, seed=0):
    """A Hermitian positive definite (..., n, n) matrix."""
    a = draw(*shape, real=real, seed=seed)
    return a @ a.conj().mT + np.eye(shape[-1])
