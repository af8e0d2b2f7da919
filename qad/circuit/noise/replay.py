"""Recorded trajectories once more, as a batch of plain circuits, for the sake of derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.gates.table import given
from qad.circuit.noise.kraus import unitaries
from qad.circuit.program.circuit import Circuit
from qad.circuit.program.ir import Operation, matrix_of
from qad.extend import Tensor, stack_of, stop_gradient

if TYPE_CHECKING:
    from qad.circuit.noise.channels import Channel
    from qad.circuit.noise.steps import NoisySteps
    from qad.circuit.observables.operators import Observable
    from qad.typing import Array

STORED = 2**28  # bytes of states that a reverse sweep may store at once


def replayed_mean(
    noisy: NoisySteps, channels: list[Channel], choices: np.ndarray, observable: Observable, drawn: list[Channel] | None
) -> Array:
    """The mean over trajectories of these choices (T, S), with the derivatives of `Trajectories.expectation`.

    They were drawn with the channels `drawn`, None for those of the circuit.
    """
    records, counts = np.unique(choices, axis=0, return_counts=True)
    pathwise = all(unitaries(channel.matrices) is not None for channel in channels)
    values, norms = sandwiches(noisy, channels, records, observable, pathwise)
    chances, shots = chances_of(channels, records), len(choices)
    weights = counts / shots
    if pathwise and type(chances) is not Tensor:
        return (weights * values).sum()
    own = stop_gradient(values / norms)
    total, norm2 = values * chances, norms * chances
    odds = stop_gradient(norm2)  # the probabilities by which the records were drawn
    if drawn is not None:
        odds = chances_of(drawn, records)
        odds = stop_gradient(odds if pathwise else odds * sandwiches(noisy, drawn, records, None, False)[1])
    others = ((shots * weights * own).sum() - own) / max(shots - 1, 1)
    return (weights * (total - others * (norm2 - stop_gradient(norm2))) / odds).sum()


def sandwiches(
    noisy: NoisySteps, channels: list[Channel], records: np.ndarray, observable: Observable | None, pathwise: bool
) -> tuple[Array, Array]:
    """``<psi|H|psi>`` and ``<psi|psi>`` (B,) of the states of records, without the weights of channels."""
    kraus = [unitaries(c.matrices) if pathwise else c.matrices for c in channels]
    each = noisy.dtype.itemsize * 2**noisy.n * (4 if pathwise else 4 + len(kraus))
    size, found = max(1, STORED // each), []
    one = "I" * noisy.n
    asked = [observable] if pathwise else [one if observable is None else observable, one]
    for first in range(0, len(records), size):
        block = records[first : first + size]
        pair = replayed(noisy, block, kraus, pathwise).expectation(asked)
        found.append(pair + np.zeros((len(block), 1)))
    values = np.concatenate(found)
    return values[:, 0], np.ones(len(records)) if pathwise else values[:, 1]


def chances_of(channels: list[Channel], records: np.ndarray) -> Array:
    """The products of the weights of what was taken (B,), as far as they are no part of the matrices."""
    found = np.ones(len(records))
    for channel, taken in zip(channels, records.T, strict=True):
        if type(channel.weights) is Tensor or (channel.weights != 1).any():
            found = found * np.where(taken >= 0, channel.weights[np.maximum(taken, 0)], 1.0)
    return found


def tilted(channels: list[Channel]) -> list[Channel] | None:
    """Channels whose rates are no less than one in as many as are differentiated, None if these are such.

    What is hardly ever drawn has a derivative of its probability: from such channels its branches are drawn about once
    in each trajectory, and weighted by the ratio of probabilities.
    """
    count = sum(channel.recorded for channel in channels)
    found = [c.tilted(1 / (len(c) * (count + 1))) if c.recorded else c.settled() for c in channels]
    pairs = [(c.weights, new.weights) for c, new in zip(channels, found, strict=True) if c.recorded]
    return found if any((stack_of(weights) != new).any() for weights, new in pairs) else None


def replayed(noisy: NoisySteps, records: np.ndarray, kraus: list[Array], unitary: bool) -> Circuit:
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
