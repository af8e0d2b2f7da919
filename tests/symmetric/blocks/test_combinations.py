"""Combinations of sectors: what charges alone say is shared by all dimensions."""

import numpy as np

from qad.symmetric import Leg, random, tensordot
from qad.symmetric.blocks.combinations import Combinations, combinations, fusion
from qad.symmetric.blocks.layout import Pairing, pairing
from tests.symmetric.draw import close


def legs_of(dims, unit=1):
    """Three legs whose sectors have these dimensions."""
    left = Leg({q * unit: d for q, d in zip((-1, 1, 3), dims, strict=True)}, +1)
    spin = Leg({unit: 1, -unit: 1}, +1)
    right = Leg({q * unit: d + 1 for q, d in zip((0, 2, 4), dims, strict=True)}, -1)
    return left, spin, right


def test_dimensions_change_no_combinations(monkeypatch):
    one = random(legs_of((2, 3, 1)), seed=0)
    tensordot(one, one.conj(), ([0, 1], [0, 1])), one.transpose(2, 0, 1)
    made = []
    for kind in (Combinations, Pairing):
        monkeypatch.setattr(kind, "__init__", lambda self, *arguments, made=made: made.append(arguments))
    two = random(legs_of((5, 4, 7)), seed=1)
    found = tensordot(two, two.conj(), ([0, 1], [0, 1]))
    two = two.transpose(2, 0, 1)
    assert not made and two.size > one.size
    dense = two.to_dense()
    close(found.to_dense(), np.einsum("blp,clp->bc", dense, dense), 1e-12)


def test_charges_beyond_64_bits():
    """Charges are whole numbers of any size."""
    small, large = random(legs_of((2, 3, 1)), seed=0), random(legs_of((2, 3, 1), unit=2**62), seed=0)
    np.testing.assert_array_equal(small.to_dense(), large.to_dense())
    for a in (small, large):
        found = tensordot(a.conj(), a, ([0, 1], [0, 1]))
        close(found.to_dense(), np.einsum("lpb,lpc->bc", a.to_dense(), a.to_dense()), 1e-13)
    assert fusion(large.legs[:2], large.symmetry).dims == {(q * 2**62,): n for (q,), n in
        fusion(small.legs[:2], small.symmetry).dims.items()}  # fmt: skip


def test_no_legs():
    leg = Leg({0: 1}, +1)
    none = fusion((), leg.symmetry)
    assert none.dims == {(0,): 1} and none.combinations.numbers.shape == (1, 0)
    combination = combinations((), (), leg.symmetry)
    assert pairing(combination, combination, (0,), leg.symmetry).numbers.shape == (1, 0)
    assert not len(pairing(combination, combination, (1,), leg.symmetry).numbers)
