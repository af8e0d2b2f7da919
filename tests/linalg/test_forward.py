"""Forward rules against the transposes of the reverse rules, which know nothing of them."""

import numpy as np
import pytest

import qad
from qad.core.registry.define import PRIMITIVES
from qad.linalg.decompositions.cholesky import lower
from qad.linalg.decompositions.eigh import _eigh
from qad.linalg.decompositions.qr import reduced
from qad.linalg.decompositions.svd import thin
from qad.linalg.equations.solve import _solve
from qad.linalg.functions.slogdet import _slogdet
from tests.cases import normal
from tests.linalg.draw import positive

RULES = [
    (_solve, lambda kind: (normal(4, 4, kind), normal(4, 3, kind, seed=1))),
    (_solve, lambda kind: (normal(2, 4, 4, kind), normal(4, kind, seed=1))),
    (_slogdet, lambda kind: (normal(2, 4, 4, kind),)),
    (lower, lambda kind: (positive(2, 4, 4, real=kind is float),)),
    (_eigh, lambda kind: (positive(2, 5, 5, real=kind is float),)),
    (thin, lambda kind: (normal(4, 4, kind),)),
    (thin, lambda kind: (normal(2, 3, 5, kind),)),
    (thin, lambda kind: (normal(5, 3, kind),)),
    (reduced, lambda kind: (normal(2, 5, 3, kind),)),
    (reduced, lambda kind: (normal(3, 5, kind),)),
]


def tangents(point):
    """Of random directions, Hermitian ones where the point is."""
    moves = [normal(*x.shape, x.dtype.type, seed=7) for x in point]
    if point[0].shape[-1] == point[0].shape[-2] and np.allclose(point[0], point[0].conj().swapaxes(-1, -2)):
        moves[0] = moves[0] + moves[0].conj().swapaxes(-1, -2)
    return tuple(moves)


def parts(out):
    return out if isinstance(out, tuple) else (out,)


@pytest.mark.parametrize("kind", [float, complex])
@pytest.mark.parametrize("fn, draw", RULES)
def test_rules_are_transposes(fn, draw, kind, monkeypatch):
    point = draw(kind)
    moves = tangents(point)
    _, by_rule = qad.jvp(fn, point, moves)
    monkeypatch.setattr(PRIMITIVES[fn], "forward", None)
    _, by_transposition = qad.jvp(fn, point, moves)
    for a, b in zip(parts(by_rule), parts(by_transposition), strict=True):
        assert a.shape == b.shape and a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-11)
