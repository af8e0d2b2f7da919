"""Diagonals, triangles and traces."""

import numpy as np
import pytest

import qad
from qad.rules.protocol.structured_cotangents import ScaledIdentity
from tests.cases import Case, needs_fast, normal
from tests.rules.points import both_kinds, check_layouts

TABLE = [
    (np.diag, (3,)),
    (lambda x: np.diag(x, 2), (3,)),
    (lambda x: np.diag(x, -1), (3,)),
    (np.diag, (0,)),
    (np.diag, (3, 3)),
    (lambda x: np.diag(x, 1), (2, 4)),
    (lambda x: np.diag(x, k=-1), (4, 2)),
    (lambda x: np.diag(x, 5), (2, 2)),
    (np.diagflat, (2, 2)),
    (lambda x: np.diagflat(x, -2), (3,)),
    (np.diagflat, ()),
    (np.diagonal, (3, 3)),
    (np.diagonal, (2, 3, 4)),
    (lambda x: np.diagonal(x, 1, -2, -1), (2, 3, 4)),
    (lambda x: np.diagonal(x, -1, 2, 0), (3, 2, 4)),
    (lambda x: x.diagonal(offset=1), (3, 4)),
    (lambda x: x.diagonal(axis1=1, axis2=2), (2, 3, 3)),
    (lambda x: np.linalg.diagonal(x, offset=-1), (2, 3, 3)),
    (np.tril, (3, 3)),
    (lambda x: np.tril(x, -1), (2, 3, 4)),
    (np.triu, (3, 2)),
    (lambda x: np.triu(x, k=1), (2, 2, 2)),
    (np.trace, (3, 3)),
    (np.trace, (2, 4)),
    (np.trace, (4, 2)),
    (np.trace, (0, 0)),
    (np.trace, (2, 3, 4)),
    (lambda x: np.trace(x, 1), (3, 3)),
    (lambda x: np.trace(x, offset=-1), (3, 2)),
    (lambda x: np.trace(x, 9), (3, 2)),
    (lambda x: np.trace(x, axis1=1, axis2=2), (2, 3, 3)),
    (lambda x: np.trace(x, dtype=complex), (3, 3)),
    (lambda x: np.trace(x, 0, -1, -2), (2, 3, 4)),
    (lambda x: np.trace(x, 1, 2, 0), (3, 2, 4)),
    (lambda x: np.trace(x, axis1=-2, axis2=-1), (2, 1, 3, 3)),
    (lambda x: x.trace(), (3, 3)),
    (lambda x: x.trace(axis1=0, axis2=2), (3, 2, 3)),
    (np.linalg.trace, (2, 3, 3)),
    (lambda x: np.linalg.trace(x, offset=1), (2, 3, 3)),
]
CASES = [
    Case(lambda x, f=f: f(x * x) * 2.0, c.args, name=f"{i // 2}")
    for i, (c, f) in enumerate(zip(both_kinds(TABLE), [f for f, _ in TABLE for _ in range(2)], strict=True))
]


CASES += [Case(lambda x: np.tril(x, 1) ** 2 + np.triu(x) ** 3, normal(3, complex), name="triangles-of-a-row")]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    case.check()


@pytest.mark.parametrize("f, shape", TABLE, ids=range(len(TABLE)))
def test_values_are_those_of_numpy(f, shape):
    x = normal(*shape, complex)
    for t in (qad.tensor(x), qad.tensor(x, requires_grad=True)):
        np.testing.assert_allclose(f(t).numpy(), f(x), rtol=1e-14)


@pytest.mark.parametrize("f", [np.diag, np.trace, np.triu, lambda x: np.trace(x, 1)])
def test_layouts(f):
    check_layouts(lambda x: f(x * x), (3, 3))


@needs_fast
def test_the_cotangent_of_a_trace_stays_lazy():
    """In the backward pass of tr(x @ y) nothing has the shape of an identity matrix of its size."""
    seen = []

    class Watched(ScaledIdentity):
        def dense(self):
            seen.append(self.shape)
            return super().dense()

    x, y = normal(3, 3, complex), normal(3, 3, complex)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ScaledIdentity, "dense", Watched.dense)
        gx, gy = qad.grad(lambda x, y: np.trace(x @ y).real, (0, 1))(x, y)
    assert not seen
    np.testing.assert_allclose(gx, y.conj().T)
    np.testing.assert_allclose(gy, x.conj().T)


@pytest.mark.parametrize(
    "f, error",
    [
        (lambda x: np.trace(x, out=np.zeros(())), qad.errors.ArgumentError),
        (lambda x: np.trace(1j * x, dtype=float), qad.errors.GradientTypeError),
        (lambda x: np.trace(x, axis1=0, axis2=0), ValueError),
        (lambda x: np.trace(x, axis1=2), ValueError),
        (lambda x: np.trace(x[0]), ValueError),
        (lambda x: np.diag(x[None]), ValueError),
        (lambda x: np.diagonal(x[0]), ValueError),
    ],
)
def test_what_is_refused(f, error):
    with pytest.raises(error):
        f(qad.tensor(normal(3, 3), requires_grad=True))
