"""Products with nearly empty tensors against the general contraction."""

import numpy as np
import pytest

from qad.symmetric import Leg, from_dense, random, tensordot
from qad.symmetric.blocks import kernels
from qad.symmetric.sparse import Entries, applied
from tests.symmetric.draw import close

CHANNELS = Leg({0: 3, 2: 1, -2: 2}, +1)
SPIN = Leg({1: 1, -1: 2}, +1)
BOND, OTHER = Leg({-1: 3, 1: 4, 3: 9}, +1), Leg({0: 2, 2: 11, -2: 1}, -1)


def sparse(dtype, seed=0):
    """A site tensor of an operator, three quarters of it zero."""
    legs = CHANNELS, CHANNELS.conj(), SPIN, SPIN.conj()
    dense = random(legs, dtype=dtype, seed=seed).to_dense()
    return from_dense(np.where(np.random.default_rng(1).random(dense.shape) < 0.25, dense, 0), legs)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("one, two", [(float, float), (complex, float), (float, complex), (np.float32, float)])
@pytest.mark.parametrize("order, split", [((0, 1, 2, 3), 2), ((2, 1, 0, 3), 2), ((3, 0, 2, 1), 1), ((1, 3, 2, 0), 4)])
def test_general_contraction(order, split, one, two, compiled, monkeypatch):
    if not compiled:
        monkeypatch.setattr(kernels, "has_compiler", lambda: False)
    x, w = random((BOND, CHANNELS.conj(), SPIN, OTHER), charge=2, dtype=one, seed=2), sparse(two)
    expected = tensordot(x, w, ([1, 2], [0, 3])).transpose(*order)
    found = applied(Entries(w), x, ((1, 2), (0, 3)), order, split)
    assert found.layout.split == split and found.charge == 2 and found.dtype == np.result_type(one, two)
    close(found.to_dense(), expected.to_dense(), 1e-12)


@pytest.mark.parametrize("axes", [((), ()), ((0,), (0,))])
def test_blocks_of_many_axes(axes):
    """Axes beyond the loops' four are written out."""
    few = Leg({0: 2, 1: 3}, +1)
    x = random((CHANNELS.conj(), few, few, few.conj(), few.conj(), few), charge=1, seed=3)
    w = from_dense(np.diag([1.0, 0.0, 2.0, 0.0, 3.0, 4.0]), (CHANNELS, CHANNELS.conj()))
    count = 8 - 2 * len(axes[0])
    order = tuple(np.random.default_rng(0).permutation(count))
    expected = tensordot(x, w, axes).transpose(*order)
    close(applied(Entries(w), x, axes, order, 3).to_dense(), expected.to_dense(), 1e-12)
