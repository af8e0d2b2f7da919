"""States and helpers that the tests of this floor share."""

from itertools import product
from math import comb

import numpy as np

from qad import peps
from qad.core.trees import tree_map

# One site, no symmetry: a minimum of the rotated Heisenberg model among real states of bond 2, found by a search.
STORED = np.array([
    1.1281440839199022, 0.10553399832730645, 0.14701947241992147, -0.5570212870527756,
    0.04427209026965644, 4.6695341588064935e-06, -0.739574313074812, -0.015739403542410362,
    0.011526689258852143, -0.10840698104098034, -0.0018166432176044296, -0.007714921038866939,
    -0.1442451849411059, -0.02392490462850183, 0.009291495065863346, 0.23216376012732493,
    0.005526750865535134, -0.0009180855242867994, -0.2316050199602099, -0.020424474151489836,
    -0.0017214167081993704, -0.0008128592518939301, -0.00682025271261356, 0.007848875550212908,
    -0.8064661706970684, -0.06370207881938077, -0.1524218064234686, 0.555766590564655,
    -0.01569013268799276, 0.007919020813293872, 0.7318023174665332, -0.06381535771368226,
]).reshape(2, 2, 2, 2, 2)  # fmt: skip


def near_product(cell, seed, dtype=float, weight=0.7):
    """Random tensors of bond 2 beside a product state, all spins up and down in turn."""
    state = peps.PEPS.random(2, cell, seed, dtype=dtype)
    tensors = [x.copy() for x in state.tensors]
    for i, x in enumerate(tensors):
        x[i % 2, 0, 0, 0, 0] += weight
    return peps.PEPS(tensors, cell)


def by_differences(f, state, direction, h=1e-3):
    """The derivative of `f` along a direction, from five points."""

    def at(t):
        return float(f(tree_map(lambda x, y: x + t * y, state, direction)))

    return (at(-2 * h) - 8 * at(-h) + 8 * at(h) - at(2 * h)) / (12 * h)


def along(gradient, direction):
    """The derivative along a direction by a gradient."""
    return sum(np.vdot(x, y).real for x, y in zip(gradient.tensors, direction.tensors, strict=True))


def product_state(bond):
    """The same spin everywhere, in bonds of which one state is used."""
    x = np.zeros((2, *(bond,) * 4))
    x[:, 0, 0, 0, 0] = 0.6, 0.8
    return x


def aklt_like():
    """Spins 2, the symmetric part of four spins 1/2 which pair up along the bonds."""
    x = np.zeros((5, 2, 2, 2, 2))
    for legs in product((0, 1), repeat=4):
        x[(sum(legs), *legs)] = comb(4, sum(legs)) ** -0.5
    return x


def toric_code():
    """The loop gas: each bond is copied to a qubit on either side, and an even number of bonds is set at a site."""
    x = np.zeros((2,) * 8)
    for legs in product((0, 1), repeat=4):
        x[(*legs, *legs)] = sum(legs) % 2 == 0
    return x.reshape(16, 2, 2, 2, 2)
