"""Samples from exact distributions."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.gates.checks import check_qubits
from qad.core.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.typing import Array, Seed


def marginal(p: Array, n: int, qubits: Sequence[int] | None) -> Array:
    """The probabilities of the outcomes of some qubits from those (..., 2, ..., 2) of all n."""
    if qubits is None:
        return p
    qubits = check_qubits(qubits, n, "probabilities")
    lead = p.ndim - n
    p = p.sum(tuple(lead + q for q in range(n) if q not in qubits))
    kept = sorted(qubits)
    return p.transpose(*range(lead), *(lead + kept.index(q) for q in qubits))


def draws(probabilities: np.ndarray, n: int, shots: int, seed: Seed | None) -> np.ndarray:
    """Bits (..., shots, n) drawn from probabilities (..., 2, ..., 2) on n qubits."""
    if isinstance(shots, bool) or not isinstance(shots, (int, np.integer)) or shots < 1:
        raise ArgumentError(f"shots is a positive whole number, not {shots!r}")
    rng = np.random.default_rng(seed)
    batch = probabilities.shape[: probabilities.ndim - n]
    rows = [outcomes(row, rng.random(shots)) for row in probabilities.reshape(-1, 2**n)]
    bits = np.stack(rows)[..., None] >> np.arange(n - 1, -1, -1) & 1
    return bits.reshape(*batch, shots, n)


def outcomes(probabilities: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    """Indices of drawn outcomes, by inversion of the cumulative distribution at uniform numbers."""
    cumulative = np.cumsum(probabilities, dtype=float)
    check_total(cumulative[-1])
    found = np.searchsorted(cumulative, uniforms * cumulative[-1], side="right")
    return np.minimum(found, np.flatnonzero(probabilities)[-1])


def outcomes_of(weights: np.ndarray, rows: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    """As `outcomes`, of weights (G, K) that differ: each uniform number (T,) has its row (T,).  By bisection."""
    cumulative, last = np.cumsum(weights, 1, dtype=float), weights.shape[1] - 1 - (weights[:, ::-1] > 0).argmax(1)
    check_total(cumulative[:, -1])
    levels, found = uniforms * cumulative[rows, -1], np.zeros(len(rows), np.int64)
    for bit in reversed(range(weights.shape[1].bit_length())):
        ahead = np.minimum(found + (1 << bit), weights.shape[1])
        found = np.where(cumulative[rows, ahead - 1] <= levels, ahead, found)
    return np.minimum(found, last[rows])


def check_total(total: np.ndarray) -> None:
    """Raise unless probabilities have a sum by which they can be divided."""
    if not np.all((total > 0) & (total < np.inf)):
        raise ArgumentError("the state is zero or not finite: nothing can be drawn from it")


def counted(bits: np.ndarray) -> Any:
    """Counts of the rows of bits (shots, n) by their string; a list of them for a batch."""
    if bits.ndim > 2:
        return [counted(rows) for rows in bits]
    return dict(Counter("".join(map(str, row)) for row in bits.tolist()))
