"""Gates that only move amplitudes, as one permutation: X, controlled X and SWAP are affine maps of the index.

``new[i] = old[P(i)]`` with P(i) the exclusive or of a constant and of one column per bit of i that is set.  A control
beyond the chunk adds its column to the constant.  A table of a map is: the columns, the constant, the number of outer
controls, and for each of them its bit and its column.
"""

from qad.circuit.compiled.jit import inner


@inner
def places_of(aux, first, bits, base, places):
    """Write P(i) for every i of the chunk that begins at `base`."""
    constant = aux[first + bits]
    at = first + bits + 2
    for k in range(aux[first + bits + 1]):
        if (base >> aux[at + 2 * k]) & 1:
            constant ^= aux[at + 2 * k + 1]
    places[0] = constant
    for bit in range(bits):
        size, column = 1 << bit, aux[first + bit]
        x, y = places[:size], places[size : 2 * size]
        for k in range(size):
            y[k] = x[k] ^ column


@inner
def permute(part, room, places):
    """Move the entries of a real array; `room` is as large."""
    for k in range(part.size):
        room[k] = part[places[k]]
    for k in range(part.size):
        part[k] = room[k]
