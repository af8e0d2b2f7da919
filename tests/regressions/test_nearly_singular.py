"""Derivatives of factors and functions of nearly singular matrices: right, or refused by an error of qad."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError


def with_least(rng, m, n, least, kind="f"):
    """A matrix of singular values 1 and `least`, in bases of no special form."""
    noise = [rng.standard_normal((2, k, k)) for k in (m, n)]
    u, v = (np.linalg.qr(x[0] + (1j * x[1] if kind == "c" else 0.0))[0] for x in noise)
    k = min(m, n)
    return (u[:, :k] * np.geomspace(1, least, k)) @ v[:k]


def right_or_refused(compute, right, size=1.0):
    """Whether a result is right; False where it is refused."""
    try:
        found = compute()
    except ArgumentError:
        return False
    assert np.abs(found - right).max() <= 1e-4 * size
    return True


# -- projectors made of Q ----------------------------------------------------------------------------------------------


def of_columns(a):
    q = np.linalg.qr(a)[0]
    return q @ (q.conj().T @ a)


def of_rows(a):
    q = qad.linalg.lq(a)[1]
    return (a @ q.conj().T) @ q


SHAPES = [(of_columns, (3, 2), "f"), (of_columns, (4, 3), "c"), (of_rows, (2, 3), "f"), (of_rows, (2, 3), "c")]


@pytest.mark.parametrize("least", [10.0**-k for k in range(2, 14)])
@pytest.mark.parametrize("product, shape, kind", [*SHAPES, (of_columns, (2, 3), "c"), (of_columns, (2, 2), "c")])
def test_projections_onto_columns_move_as_the_matrix_does_or_are_refused(product, shape, kind, least):
    rng = np.random.default_rng(0)
    a, (w, e) = with_least(rng, *shape, least, kind), rng.standard_normal((2, *shape))

    def loss(x):
        return np.sum(w * product(x)).real

    def slope(x):
        return qad.jvp(loss, (x,), (e,))[1]

    done = [
        right_or_refused(lambda: slope(a), np.sum(w * e)),
        right_or_refused(lambda: qad.jvp(slope, (a,), (e,))[1], 0.0),
        right_or_refused(lambda: qad.grad(slope)(a), 0.0),
    ]
    assert done[0] or least < 2e-10
    assert all(done) or least < 1e-4


def test_columns_of_other_sizes_keep_their_tangents():
    rng = np.random.default_rng(3)
    sizes = np.array([1e-12, 1e-6, 1.0])
    a, e, w = rng.standard_normal((3, 4, 3)) * sizes
    found = qad.jvp(lambda x: np.sum(w * of_columns(x)), (a,), (e,))[1]
    right = np.sum(w * e)
    assert abs(found - right) < 1e-6 * np.abs(w * e).sum()
