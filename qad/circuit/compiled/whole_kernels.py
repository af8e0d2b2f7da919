"""A small circuit from its parameters to its energy, and to the slopes of that, in one call each.

All of the state is one chunk, so that a single round is all of the program; real and imaginary parts stay in the
room that comes with the call.  Its rows are as long as the state and as the list of entries: parts of the state, a
diagonal's, those of ``H psi`` or of the cotangent, those of all entries, and the diagonal of a group of strings.
"""

import numpy as np

from qad.circuit.compiled.angles import Gates, collect_row, fill_row
from qad.circuit.compiled.arguments import Floats, Floats2, Reals, Reals2, Reals3, ShortInts
from qad.circuit.compiled.block_kernels import run_backward, run_forward
from qad.circuit.compiled.tables import Tables
from qad.circuit.compiled.terms import Terms, add_product, diagonal

ROWS = 9  # of the room


def entries_in(room: np.ndarray, gates: Gates) -> tuple[np.ndarray, np.ndarray]:
    """Where the entries stand."""
    count = gates.constants.size + gates.polynomials.shape[1]
    return room[6][:count], room[7][:count]


def evolve(
    theta: np.ndarray, gates: Gates, tables: Tables, room: np.ndarray, rows: np.ndarray, sources: np.ndarray
) -> None:
    """Write the final state that |0...0> becomes."""
    size = 1 << tables.bits
    re, im = room[0][:size], room[1][:size]
    for k in range(size):
        re[k], im[k] = 0, 0
    re[0] = 1
    vr, vi = entries_in(room, gates)
    fill_row(theta, gates, vr, vi)
    run_forward(tables, 0, vr, vi, 0, re, im, room[2][:size], room[3][:size], sources, rows[0], rows[1])


def image(
    terms: Terms, w: np.ndarray, re: np.ndarray, im: np.ndarray, lr: np.ndarray, li: np.ndarray, d: np.ndarray
) -> None:
    """Write ``H psi`` to lr and li."""
    x, z, starts, bits = terms
    for k in range(re.size):
        lr[k], li[k] = 0, 0
    for g in range(x.size):
        varied = diagonal(0, bits, z, w, starts[g], starts[g + 1], d)
        add_product(lr, re, d, x[g], varied)
        add_product(li, im, d, x[g], varied)


def doubled(re: np.ndarray, im: np.ndarray) -> None:
    """Multiply by two."""
    for k in range(re.size):
        re[k], im[k] = 2 * re[k], 2 * im[k]


def energy_of_angles(
    theta: Floats, gates: Gates, tables: Tables, terms: Terms, w: Reals,
    room: Reals2, rows: Reals3, sources: ShortInts, out: Floats,
) -> None:  # fmt: skip
    """Write ``<psi|H|psi>`` to ``out[0]``, for real weights w of the strings."""
    evolve(theta, gates, tables, room, rows, sources)
    size, total = 1 << tables.bits, 0.0
    re, im, lr, li = room[0][:size], room[1][:size], room[4][:size], room[5][:size]
    image(terms, w, re, im, lr, li, room[8][:size])
    for k in range(size):
        total += re[k] * lr[k] + im[k] * li[k]
    out[0] = total


def slopes_of_angles(
    theta: Floats, gates: Gates, inverse: Gates, tables: Tables, terms: Terms, w: Reals,
    room: Reals2, rows: Reals3, sources: ShortInts, sums: Floats2, out: Floats,
) -> None:  # fmt: skip
    """Add the derivatives of ``<psi|H|psi>`` with respect to all parameters to `out`.

    `sums` (E, 2), given as zeros, collects the cotangents of the entries; that of the state is ``2 conj(H psi)``.
    """
    evolve(theta, gates, tables, room, rows, sources)
    size = 1 << tables.bits
    re, im, lr, li = room[0][:size], room[1][:size], room[4][:size], room[5][:size]
    image(terms, w, re, im, lr, li, room[8][:size])
    doubled(lr, li)
    vr, vi = entries_in(room, inverse)
    fill_row(theta, inverse, vr, vi)
    dr, di = room[2][:size], room[3][:size]
    run_backward(tables, 0, vr, vi, 0, re, im, lr, li, dr, di, sources, rows[0], rows[1], sums)
    collect_row(theta, gates, vr, vi, sums, out)
