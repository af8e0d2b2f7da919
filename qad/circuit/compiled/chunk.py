"""The instructions of a round, on one chunk: forward, and backward with the cotangents of all numbers.

Rows of `code` are described in `qad.circuit.compiled.schedule`.  A chunk is a pair of arrays, real and imaginary parts;
`dr` and `di` are two more of its size, `places` as many integers, `tr` and `ti` room for the amplitudes of
dense matrices.
"""

from qad.circuit.compiled.affine import permute, places_of
from qad.circuit.compiled.diagonal import apply_beyond, apply_diagonal, build, reduce
from qad.circuit.compiled.general import (
    INVERSE,
    PLAIN,
    TRANSPOSED,
    dense,
    exchange,
    parity,
    pauli,
    reduce_dense,
    reduce_pauli,
)
from qad.circuit.compiled.jit import jit
from qad.circuit.compiled.schedule import AFFINE, COMPLEX, DIAGONAL, EXCHANGE, PAULI, PHASE, REAL
from qad.circuit.compiled.single import (
    apply_complex,
    apply_phases,
    apply_real,
    reduce_complex,
    reduce_phases,
    reduce_real,
)


@jit
def apply(row, aux, vr, vi, base, re, im, mode, tr, ti):
    """One instruction that is not diagonal: the gate, its inverse or its transpose."""
    code, bit, start = row[0], row[1], row[5]
    if code == REAL:
        if mode == PLAIN:
            apply_real(re, im, bit, vr[start], vr[start + 1], vr[start + 2], vr[start + 3])
        else:
            apply_real(re, im, bit, vr[start], vr[start + 2], vr[start + 1], vr[start + 3])
    elif code == COMPLEX:
        p, q = (start + 1, start + 2) if mode == PLAIN else (start + 2, start + 1)
        sign = -1 if mode == INVERSE else 1
        a, b, c, d = vr[start], vr[p], vr[q], vr[start + 3]
        apply_complex(re, im, bit, a, b, c, d, sign * vi[start], sign * vi[p], sign * vi[q], sign * vi[start + 3])
    elif code == PHASE:
        sign = -1 if mode == INVERSE else 1
        apply_phases(re, im, bit, vr[start], sign * vi[start], vr[start + 1], sign * vi[start + 1])
    elif code == EXCHANGE:
        exchange(re, im, row[3], row[2], row[9], row[8])
    elif code == PAULI:
        flips = parity(base & row[9])
        pauli(re, im, row[2], row[8], flips, row[10], row[3], vr[start], vr[start + 1], mode)
    else:
        offsets = aux[row[9] : row[9] + (1 << row[6])]
        dense(re, im, row[2], row[3], row[8], offsets, vr, vi, start, mode, tr, ti)


@jit
def reduce_one(row, aux, base, lr, li, re, im, slopes):
    """The cotangents of the numbers of one instruction that is not diagonal."""
    code, bit, start = row[0], row[1], row[5]
    if code == REAL:
        reduce_real(lr, li, re, im, bit, slopes, start)
    elif code == COMPLEX:
        reduce_complex(lr, li, re, im, bit, slopes, start)
    elif code == PAULI:
        flips = parity(base & row[9])
        reduce_pauli(lr, li, re, im, row[2], row[8], flips, row[10], row[3], slopes, start)
    else:
        offsets = aux[row[9] : row[9] + (1 << row[6])]
        reduce_dense(lr, li, re, im, row[2], row[3], row[8], offsets, slopes, start)


@jit
def run_forward(code, first, last, members, aux, vr, vi, base, bits, re, im, dr, di, places, tr, ti):
    """Apply instructions `first` to `last` to the chunk that begins at `base`."""
    for i in range(first, last):
        row = code[i]
        if row[0] == DIAGONAL:
            build(dr, di, members, row[9], row[10], aux, vr, vi, bits)
            apply_diagonal(re, im, dr, di, 1)
            apply_beyond(re, im, members, row[9], row[10], aux, vr, vi, base, 1)
        elif row[0] == AFFINE:
            places_of(aux, row[9], bits, base, places)
            permute(re, dr, places)
            permute(im, dr, places)
        elif base & row[4] == row[4]:
            apply(row, aux, vr, vi, base, re, im, PLAIN, tr, ti)


@jit
def run_backward(code, first, last, members, aux, vr, vi, base, bits, re, im, lr, li, dr, di, places, tr, ti, slopes):
    """Take instructions back from a chunk of the state and of its cotangent, and add up the cotangents of numbers."""
    for i in range(last - 1, first - 1, -1):
        row = code[i]
        if row[0] == DIAGONAL:
            build(dr, di, members, row[9], row[10], aux, vr, vi, bits)
            apply_diagonal(re, im, dr, di, -1)
            apply_beyond(re, im, members, row[9], row[10], aux, vr, vi, base, -1)
            apply_diagonal(lr, li, dr, di, 1)
            apply_beyond(lr, li, members, row[9], row[10], aux, vr, vi, base, 1)
            if row[7]:
                reduce(lr, li, re, im, dr, di, members, row[9], row[10], aux, base, bits, slopes)
        elif row[0] == AFFINE:
            places_of(aux, row[10], bits, base, places)
            for part in (re, im, lr, li):
                permute(part, dr, places)
        elif row[0] == PHASE:
            apply(row, aux, vr, vi, base, re, im, INVERSE, tr, ti)
            apply(row, aux, vr, vi, base, lr, li, TRANSPOSED, tr, ti)
            if row[7]:
                reduce_phases(lr, li, re, im, row[1], slopes, row[5])
        elif base & row[4] == row[4]:
            apply(row, aux, vr, vi, base, re, im, INVERSE, tr, ti)
            if row[7]:
                reduce_one(row, aux, base, lr, li, re, im, slopes)
            apply(row, aux, vr, vi, base, lr, li, TRANSPOSED, tr, ti)
