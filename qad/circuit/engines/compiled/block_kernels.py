"""The instructions of a round, on one chunk: forward, and backward with the cotangents of all entries.

A chunk is a pair of arrays, real and imaginary parts; `dr` and `di` are two more of its size, `sources` as many
integers, `tr` and `ti` room for the amplitudes of dense matrices.

Backward, the entries are those of the inverse gates, and `lr`, `li` hold the conjugate of the cotangent: then a
gate is taken back from both chunks in the same way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.circuit.engines.compiled.affine import permute, sources_of
from qad.circuit.engines.compiled.diagonal import apply_diagonal, apply_paired, build, reduce
from qad.circuit.engines.compiled.general import dense, exchange, parity, pauli, reduce_dense, reduce_pauli
from qad.circuit.engines.compiled.one_qubit import complex_, in_rows, real, reduce_complex, take_back_real
from qad.circuit.engines.compiled.tables import AFFINE, COMPLEX, DIAGONAL, EXCHANGE, PAULI, REAL

if TYPE_CHECKING:
    import numpy as np

    from qad.circuit.engines.compiled.tables import Instruction, Tables


def apply(
    gate: Instruction, pool: np.ndarray, vr: np.ndarray, vi: np.ndarray, base: int, re: np.ndarray, im: np.ndarray,
    tr: np.ndarray, ti: np.ndarray,
) -> None:  # fmt: skip
    """One instruction that is neither diagonal nor a permutation of the whole chunk."""
    s = gate.start
    if gate.kind == REAL:
        for part in (re, im):
            in_rows(real, gate.bit, (part,), (vr[s], vr[s + 1], vr[s + 2], vr[s + 3]))
    elif gate.kind == COMPLEX:
        a, b, c, d = vr[s], vr[s + 1], vr[s + 2], vr[s + 3]
        in_rows(complex_, gate.bit, (re, im), (a, b, c, d, vi[s], vi[s + 1], vi[s + 2], vi[s + 3]))
    elif gate.kind == EXCHANGE:
        exchange(re, im, gate.ones, gate.zeros, gate.change, gate.run)
    elif gate.kind == PAULI:
        odd = parity(base & gate.outer_signs)
        pauli(re, im, gate.flips, gate.signs, odd, gate.ys, gate.controls, vr[s], vr[s + 1])
    else:
        offsets = pool[gate.offsets : gate.offsets + (1 << gate.qubits)]
        dense(re, im, gate.targets, gate.controls, gate.run, offsets, vr, vi, s, tr, ti)


def reduce_one(
    gate: Instruction, pool: np.ndarray, base: int, lr: np.ndarray, li: np.ndarray, re: np.ndarray, im: np.ndarray,
    slopes: np.ndarray,
) -> None:  # fmt: skip
    """Add the cotangents of the entries of one such instruction to `slopes` (E, 2)."""
    if gate.kind in (REAL, COMPLEX):
        reduce_complex(lr, li, re, im, gate.bit, slopes, gate.start)
    elif gate.kind == PAULI:
        odd = parity(base & gate.outer_signs)
        reduce_pauli(lr, li, re, im, gate.flips, gate.signs, odd, gate.ys, gate.controls, slopes, gate.start)
    else:
        offsets = pool[gate.offsets : gate.offsets + (1 << gate.qubits)]
        reduce_dense(lr, li, re, im, gate.targets, gate.controls, gate.run, offsets, slopes, gate.start)


def run_forward(
    tables: Tables, r: int, vr: np.ndarray, vi: np.ndarray, base: int, re: np.ndarray, im: np.ndarray, dr: np.ndarray,
    di: np.ndarray, sources: np.ndarray, tr: np.ndarray, ti: np.ndarray,
) -> None:  # fmt: skip
    """Apply the instructions of round r to the chunk that begins at `base`."""
    rounds, code, members, permutations, pool, bits = tables
    for i in range(rounds[r].first, rounds[r].last):
        gate = code[i]
        if gate.kind == DIAGONAL:
            build(dr, di, members, gate.first, gate.last, pool, vr, vi, base, bits)
            apply_diagonal(re, im, dr, di)
        elif gate.kind == AFFINE:
            sources_of(permutations[gate.permutation], pool, bits, base, sources)
            permute(re, dr, sources)
            permute(im, dr, sources)
        elif base & gate.outer_controls == gate.outer_controls:
            apply(gate, pool, vr, vi, base, re, im, tr, ti)


def run_backward(
    tables: Tables, r: int, vr: np.ndarray, vi: np.ndarray, base: int, re: np.ndarray, im: np.ndarray, lr: np.ndarray,
    li: np.ndarray, dr: np.ndarray, di: np.ndarray, sources: np.ndarray, tr: np.ndarray, ti: np.ndarray,
    slopes: np.ndarray,
) -> None:  # fmt: skip
    """Take the instructions of round r back from a chunk of the state and of its cotangent.

    The cotangents of entries are added to `slopes` (E, 2).
    """
    rounds, code, members, permutations, pool, bits = tables
    for i in range(rounds[r].last - 1, rounds[r].first - 1, -1):
        gate = code[i]
        if gate.kind == DIAGONAL:
            build(dr, di, members, gate.first, gate.last, pool, vr, vi, base, bits)
            apply_paired(re, im, lr, li, dr, di)
            if gate.wanted:
                reduce(dr, di, members, gate.first, gate.last, pool, base, bits, slopes)
        elif gate.kind == AFFINE:
            sources_of(permutations[gate.inverse], pool, bits, base, sources)
            for part in (re, im, lr, li):
                permute(part, dr, sources)
        elif gate.kind == REAL and gate.wanted:
            if base & gate.outer_controls == gate.outer_controls:
                take_back_real(re, im, lr, li, gate.bit, vr, gate.start, slopes)
        elif base & gate.outer_controls == gate.outer_controls:
            apply(gate, pool, vr, vi, base, re, im, tr, ti)
            if gate.wanted:
                reduce_one(gate, pool, base, lr, li, re, im, slopes)
            apply(gate, pool, vr, vi, base, lr, li, tr, ti)
