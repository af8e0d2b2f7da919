"""The instructions of a round, on one chunk: forward, and backward with the cotangents of all numbers.

Rows of `code` are described in `qad.circuit.compiled.blocking`.  A chunk is a pair of arrays, real and imaginary parts;
`dr` and `di` are two more of its size, `places` as many integers, `tr` and `ti` room for the amplitudes of
dense matrices.

Backward, the numbers are those of the inverse gates, and `lr`, `li` hold the conjugate of the cotangent: then a gate is
taken back from both chunks in the same way.
"""

from qad.circuit.compiled.affine import permute, places_of
from qad.circuit.compiled.blocking import AFFINE, COMPLEX, DIAGONAL, EXCHANGE, PAULI, REAL
from qad.circuit.compiled.diagonal import apply_beyond, apply_diagonal, apply_paired, build, reduce
from qad.circuit.compiled.general import dense, exchange, parity, pauli, reduce_dense, reduce_pauli
from qad.circuit.compiled.jit import inlined, inner
from qad.circuit.compiled.one_qubit import apply_complex, apply_real, reduce_complex, take_back_real


@inner
def apply(row, aux, vr, vi, base, re, im, tr, ti):
    """One instruction that is neither diagonal nor a permutation of the whole chunk."""
    code, bit, s = row[0], row[1], row[5]
    if code == REAL:
        apply_real(re, im, bit, vr[s], vr[s + 1], vr[s + 2], vr[s + 3])
    elif code == COMPLEX:
        a, b, c, d = vr[s], vr[s + 1], vr[s + 2], vr[s + 3]
        apply_complex(re, im, bit, a, b, c, d, vi[s], vi[s + 1], vi[s + 2], vi[s + 3])
    elif code == EXCHANGE:
        exchange(re, im, row[3], row[2], row[9], row[8])
    elif code == PAULI:
        flips = parity(base & row[9])
        pauli(re, im, row[2], row[8], flips, row[10], row[3], vr[s], vr[s + 1])
    else:
        offsets = aux[row[9] : row[9] + (1 << row[6])]
        dense(re, im, row[2], row[3], row[8], offsets, vr, vi, s, tr, ti)


@inner
def reduce_one(row, aux, base, lr, li, re, im, slopes):
    """The cotangents of the numbers of one such instruction."""
    code, start = row[0], row[5]
    if code in (REAL, COMPLEX):
        reduce_complex(lr, li, re, im, row[1], slopes, start)
    elif code == PAULI:
        flips = parity(base & row[9])
        reduce_pauli(lr, li, re, im, row[2], row[8], flips, row[10], row[3], slopes, start)
    else:
        offsets = aux[row[9] : row[9] + (1 << row[6])]
        reduce_dense(lr, li, re, im, row[2], row[3], row[8], offsets, slopes, start)


@inlined
def run_forward(code, first, last, members, aux, vr, vi, base, bits, re, im, dr, di, places, tr, ti):
    """Apply instructions `first` to `last` to the chunk that begins at `base`."""
    for i in range(first, last):
        row = code[i]
        if row[0] == DIAGONAL:
            build(dr, di, members, row[9], row[10], aux, vr, vi, base, bits)
            apply_diagonal(re, im, dr, di)
            apply_beyond(re, im, members, row[9], row[10], aux, vr, vi, base)
        elif row[0] == AFFINE:
            places_of(aux, row[9], bits, base, places)
            permute(re, dr, places)
            permute(im, dr, places)
        elif base & row[4] == row[4]:
            apply(row, aux, vr, vi, base, re, im, tr, ti)


@inlined
def run_backward(code, first, last, members, aux, vr, vi, base, bits, re, im, lr, li, dr, di, places, tr, ti, slopes):
    """Take instructions back from a chunk of the state and of its cotangent, and add up the cotangents of numbers."""
    for i in range(last - 1, first - 1, -1):
        row = code[i]
        if row[0] == DIAGONAL:
            build(dr, di, members, row[9], row[10], aux, vr, vi, base, bits)
            apply_paired(re, im, lr, li, dr, di)
            if row[7]:
                reduce(dr, di, members, row[9], row[10], aux, base, bits, slopes)
            apply_beyond(re, im, members, row[9], row[10], aux, vr, vi, base)
            apply_beyond(lr, li, members, row[9], row[10], aux, vr, vi, base)
        elif row[0] == AFFINE:
            places_of(aux, row[10], bits, base, places)
            for part in (re, im, lr, li):
                permute(part, dr, places)
        elif row[0] == REAL and row[7]:
            if base & row[4] == row[4]:
                take_back_real(re, im, lr, li, row[1], vr, row[5], slopes)
        elif base & row[4] == row[4]:
            apply(row, aux, vr, vi, base, re, im, tr, ti)
            if row[7]:
                reduce_one(row, aux, base, lr, li, re, im, slopes)
            apply(row, aux, vr, vi, base, lr, li, tr, ti)
