"""Time-evolving block decimation: gates on neighbours, applied in sweeps.

A round applies ``exp(-i h[k] t)`` to all even bonds k on the way from left to right, and to all odd ones on the way
back; rounds make up a product formula of second or fourth order (`qad.mps.evolve.suzuki`).  The centre of the chain
moves along, so that every cut is of Schmidt values.  G. Vidal, PRL 93, 040502 (2004).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import Tensor
from qad.linalg import expm
from qad.mps.chain.canonical import move_left, move_right
from qad.mps.chain.row import edges
from qad.mps.evolve.cut import LEAST_CUTOFF, MOST_CUTOFF, orthonormal
from qad.mps.kernels.environments import past_left, past_right
from qad.symmetric.generic import as_map, join, numbers, of_map
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from qad.mps.evolve.truncation import Truncation
    from qad.typing import Array, Scalar


def swept(gates: Sequence[Any], tensors: list[Any], truncation: Truncation, to_right: bool) -> None:
    """Apply gates to the bonds that have one, in one sweep and in place; the centre goes to the other end."""
    for site in range(len(gates)) if to_right else reversed(range(len(gates))):
        if gates[site] is None:
            (move_right if to_right else move_left)(tensors, site + (not to_right), orthonormal)
        else:
            pair, before = applied(gates[site], tensors, site), tensors[site + to_right]
            tensors[site], tensors[site + 1] = truncation.split(pair, to_right, before)


def shortened(tensors: list[Any], truncation: Truncation) -> None:
    """Cut a chain with its centre at the end in place; the centre goes to the first site."""
    for site in reversed(range(1, len(tensors))):
        carried, tensors[site] = truncation.split(tensors[site], to_right=False, rows=1)
        tensors[site - 1] = join(tensors[site - 1], carried)


def compressed(tensors: Sequence[Any], truncation: Truncation) -> list[Any]:
    """A plain chain of smaller bonds, its centre at the first site."""
    found = list(tensors)
    for site in range(len(found) - 1):
        move_right(found, site)
    shortened(found, truncation)
    return found


def gate(h: Any, factor: Scalar, hermitian: bool = True) -> tuple[Any, float]:
    """``exp(factor h)`` of a two-site term; and the logarithm of its norm, which is divided out.

    If it did not, it might overflow.  Where something is recorded, the norm stays.  Of a term that is not Hermitian it
    is a bound of the norm, ``exp`` of the largest eigenvalue of the Hermitian part of ``factor h``.
    """
    where, matrices = as_map(h, 2)
    if any(type(x) is Tensor for x in (factor, *matrices)):
        return of_map(where, [expm(factor * matrix) for matrix in matrices]), 0.0
    if not hermitian:
        powers = [factor * matrix for matrix in matrices]
        scale = max(np.linalg.eigvalsh((power + power.conj().T) / 2)[-1] for power in powers)
        return of_map(where, [expm(power - scale * np.eye(len(power))) for power in powers]), float(scale)
    pairs = [np.linalg.eigh(matrix) for matrix in matrices]
    scale = max((factor * values).real.max() for values, _ in pairs)
    return of_map(where, [(v * np.exp(factor * w - scale)) @ v.conj().T for w, v in pairs]), float(scale)


def applied(gate: Any, tensors: Sequence[Any], site: int) -> Any:
    """The pair of sites (a, s, t, b) after a gate."""
    pair = join(tensors[site], tensors[site + 1])
    if type(pair) is SymTensor:
        return join(gate, pair, ((2, 3), (1, 2))).transpose(2, 0, 1, 3)
    left, s, t, right = pair.shape
    return (gate.reshape(s * t, s * t) @ pair.reshape(left, s * t, right)).reshape(pair.shape)


def cutoff_for(error: float, cuts: int) -> float:
    """The weight that each cut of a step may discard for all of them to change the state by no more than `error`.

    A discarded weight w changes the state by ``sqrt(w)``.  What one step creates has a weight of the square of the
    step, so that a weight which does not follow the step would cut off what each has just created.
    """
    return float(np.clip((error / cuts) ** 2, LEAST_CUTOFF, MOST_CUTOFF))


def between(bra: Sequence[Any], ket: Sequence[Any], H: Sequence[Any] = ()) -> Array:
    """``<bra|H|ket>`` or the overlap."""
    env = edges(ket, H)[0]
    for site, (lower, upper) in enumerate(zip(bra, ket, strict=True)):
        env = past_left(env, upper, lower, H[site] if H else None)
    return numbers(env).sum() + 0j


def slopes_of_gates(bra: Sequence[Any], ket: Sequence[Any], row: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    """Gradients of ``Re <bra|G|ket>`` by gates on bonds without common sites, and on which sites they begin.

    The row has a gate or None for every bond.
    """
    gates, parts, (left, right) = [*row, None], [], edges(ket)
    starts = [site for site in range(len(ket)) if not site or gates[site - 1] is None]
    for site in reversed(starts):
        if gates[site] is None:
            parts.append((right, None, None, None))
            right = past_right(right, ket[site], bra[site])
        else:
            pair, other = join(ket[site], ket[site + 1]), join(bra[site], bra[site + 1]).conj()
            turned = join(gates[site], other, ((0, 1), (1, 2)))  # s t bra bra'
            parts.append((right, pair, other, turned))
            right = join(turned, join(pair, right, ((3,), (1,))), ((0, 1, 3), (1, 2, 3)))
    for site, (right, pair, other, turned) in zip(starts, reversed(parts), strict=True):
        if pair is None:
            left = past_left(left, ket[site], bra[site])
        else:
            half = join(left, pair)  # bra s t ket'
            yield site, join(other, join(half, right, ((3,), (1,))), ((0, 3), (0, 3))).conj()
            left = join(turned, half, ((2, 0, 1), (0, 1, 2)))
