"""Recorded trajectories once more, as a batch of plain circuits, for the sake of derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.circuit import Circuit
from qad.circuit.gates import given
from qad.circuit.ir import Operation
from qad.circuit.jumps import unitaries
from qad.extend import stop_gradient

if TYPE_CHECKING:
    from qad.circuit.jumps import Plan
    from qad.circuit.observables import Observable
    from qad.circuit.steps import Steps
    from qad.typing import Array

STORED = 2**28  # bytes of states that a reverse sweep may store at once


def replayed_mean(plan: Plan, noisy: Steps, choices: np.ndarray, observable: Observable) -> Array:
    """The mean over trajectories of these choices (T, S), with the derivatives of `Trajectories.expectation`."""
    records, counts = np.unique(choices, axis=0, return_counts=True)
    kraus = plan.kraus(noisy.matrices)
    scaled = [unitaries(u) for u in kraus]
    pathwise = all(u is not None for u in scaled)
    each = noisy.dtype.itemsize * 2**noisy.n * (4 if pathwise else 4 + len(kraus))
    size = max(1, STORED // each)
    found = []
    for first in range(0, len(records), size):
        block = records[first : first + size]
        circuit = replayed(noisy, block, scaled if pathwise else kraus, pathwise)
        pair = circuit.expectation([observable] if pathwise else [observable, "I" * noisy.n])
        found.append(pair + np.zeros((len(block), 1)))
    values = np.concatenate(found)
    weights, shots = counts / counts.sum(), len(choices)
    if pathwise:
        return (weights * values[:, 0]).sum()
    total, norm2 = values[:, 0], values[:, 1]
    drawn = stop_gradient(norm2)  # the probabilities by which the records were drawn
    own = stop_gradient(total / norm2)
    others = ((shots * weights * own).sum() - own) / max(shots - 1, 1)
    return (weights * (total - others * (norm2 - drawn)) / drawn).sum()


def replayed(noisy: Steps, records: np.ndarray, kraus: list[Array], unitary: bool) -> Circuit:
    """The circuit whose batch are these records (B, S): what each took, and what its conditions let pass."""
    out = Circuit(noisy.n, dtype=noisy.dtype, engine=noisy.engine)
    out._chunks, out._size = noisy._chunks, noisy._size
    bits, site = np.zeros((len(records), noisy.bits), np.int64), 0
    theta = noisy.parameters

    def put(o, u, is_unitary):
        out.matrices.append(u)
        gate = given(len(o.qubits), is_unitary)
        out.operations.append(Operation(gate, o.qubits, o.controls, given=len(out.matrices) - 1))

    for o in noisy.operations:
        runs = np.all([bits[:, bit] == value for bit, value in o.when], axis=0) if o.when else np.True_
        if o.gate.name in ("channel", "measure", "reset") and not o.gate.unitary:
            taken = records[:, site]
            put(o, passed(kraus[site][np.maximum(taken, 0)], runs), unitary)
            if o.into is not None:
                bits[:, o.into] = np.where(runs, taken, bits[:, o.into])
            site += 1
        elif o.when or o.given is not None:
            put(o, passed(matrix_of(o, theta, noisy.matrices), runs), True)
        else:
            out.operations.append(o)
    return out


def passed(u: Array, runs: np.ndarray) -> Array:
    """The matrices (B, d, d) where a condition (B,) lets them pass, else 1."""
    return u if runs.ndim == 0 else np.where(runs[:, None, None], u, np.eye(u.shape[-1]))


def matrix_of(o: Operation, theta: Array, matrices: list[Array]) -> Array:
    """The matrix (d, d) of a gate without its controls."""
    u = matrices[o.given] if o.given is not None else o.gate.matrix(*(theta[slot] for slot in o.slots))
    u = u.swapaxes(-1, -2) if o.adjoint else u
    return u.conj() if o.adjoint != o.conjugate else u
