"""Evolution of all amplitudes of a short chain, in operations that the tape differentiates.

Where the bonds of a chain have room for every state, its evolution cuts nothing off; the amplitudes are then evolved by
the same gates, or by the exponential of the whole operator, to which the variational principle of pairs comes down.
No direction of a bond is missing from a derivative.
"""

from __future__ import annotations

from functools import partial
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import like, value_of
from qad.mps.chain.state import MPS
from qad.mps.evolve.adjoint import MEMORY
from qad.mps.evolve.cut import size_of
from qad.mps.evolve.recorded import RecordedTdvp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.evolve.recorded import GateSteps, TdvpSteps
    from qad.typing import Array

MOST = 2**12  # amplitudes


def fits(legs: Sequence[int], bond: int, vectors: int) -> bool:
    """Whether bonds have room for every state of sites of these sizes, and the tape for so many of them."""
    widest = max((min(prod(legs[:site]), prod(legs[site:])) for site in range(1, len(legs))), default=1)
    return widest <= bond and prod(legs) <= MOST and 16 * prod(legs) * vectors <= MEMORY


def amplitudes_of(psi: MPS) -> Array:
    """Those of the state of norm 1."""
    amplitudes = psi.to_dense()
    size = size_of(amplitudes)
    if not 0 < value_of(size) < np.inf:
        raise ArgumentError(f"a state of norm {value_of(size):.3g} does not evolve: a finite one but zero is needed")
    return amplitudes / size


def advanced(made: Sequence[Array], amplitudes: Array, kind: GateSteps) -> tuple[Array, Array]:
    """The amplitudes after all rounds of gates, of norm 1, and the logarithm of what the norm gained."""
    legs, gained = amplitudes.shape, 0.0
    for k in range(kind.pieces):
        for site, gate in enumerate(kind.row(made, k)):
            if gate is not None:
                pair = legs[site] * legs[site + 1]
                amplitudes = gate.reshape(pair, pair) @ amplitudes.reshape(prod(legs[:site]), pair, -1)
        size = size_of(amplitudes)
        amplitudes, gained = amplitudes / size, gained + np.log(size)
    return amplitudes.reshape(legs), gained


def exponentiated(made: Sequence[Array], amplitudes: Array, kind: TdvpSteps) -> tuple[Array, Array]:
    """The amplitudes after all steps of the whole operator, of norm 1, and the logarithm of what the norm gained."""
    gained, middle, tensors = 0.0, *around_middle(amplitudes)
    sweep = RecordedTdvp(made, tensors, kind.kernel, 1)
    for site in range(middle):
        sweep.passed(site, True)
    sweep.factor, x = made[0], tensors[middle]
    for _ in range(len(kind)):
        x = sweep.evolved(x, middle, 1)
        size = size_of(x)
        x, gained = x / size, gained + np.log(size)
    return x.reshape(amplitudes.shape), gained


def chain_of(amplitudes: Array) -> MPS:
    """A chain of these amplitudes, all in its middle tensor: bonds hold every state, those without weight too."""
    return MPS(around_middle(amplitudes)[1])


def around_middle(amplitudes: Array) -> tuple[int, list[Array]]:
    """The middle site, and amplitudes there between bases of every state left and right of it."""
    legs, unit = amplitudes.shape, partial(like(amplitudes).eye, dtype=amplitudes.dtype)
    middle = next(site for site in range(len(legs)) if prod(legs[: site + 1]) >= prod(legs[site + 1 :]))
    left = [unit(prod(legs[: k + 1])).reshape(-1, legs[k], prod(legs[: k + 1])) for k in range(middle)]
    right = [unit(prod(legs[k:])).reshape(prod(legs[k:]), legs[k], -1) for k in range(middle + 1, len(legs))]
    return middle, [*left, amplitudes.reshape(prod(legs[:middle]), legs[middle], -1), *right]
