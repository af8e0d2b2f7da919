"""Rows of the tables that kernels read: rounds, instructions, diagonal gates, permutations.

Python builds rows by keyword; `table` makes them a structured array of integers, whose fields kernels read by name
(``instruction.start``).  A mask is an integer with a bit set for each of some bits of the index.  What belongs to a
chunk (masks, bits) counts the bits within the chunk; what lies beyond it, "outer", the bits of the whole index.
"""

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np

from qad.circuit.engines.compiled.arguments import Int, Ints
from qad.native import Block, row_dtype, struct

# Kinds of instructions, that is, which kernel applies them.
REAL, COMPLEX, DENSE, EXCHANGE, PAULI, DIAGONAL, AFFINE = range(7)


class Round(NamedTuple):
    """Gates that run on one chunk after the other."""

    first: int  # its instructions: the first, and the one after the last
    last: int
    offsets: int  # where the offsets of the runs of a chunk begin in the pool
    bases: int  # where the bases of its chunks begin in the pool
    run: int  # consecutive amplitudes in a run
    chunks: int


class Instruction(NamedTuple):
    """A gate, several diagonal gates, or several gates that are one permutation."""

    kind: int
    wanted: bool = False  # whether its entries have cotangents
    start: int = 0  # its first entry
    controls: int = 0  # mask
    outer_controls: int = 0  # mask
    run: int = 0  # amplitudes that may be moved together, since no mask below has a lower bit
    bit: int = 0  # REAL, COMPLEX: the target
    targets: int = 0  # DENSE: mask
    qubits: int = 0  # DENSE: how many targets
    offsets: int = 0  # DENSE: where the offsets of the rows begin in the pool
    ones: int = 0  # EXCHANGE: mask of bits that are set in one of the two amplitudes
    zeros: int = 0  # EXCHANGE: mask of bits that are clear in it
    change: int = 0  # EXCHANGE: mask of bits that differ in the other
    flips: int = 0  # PAULI: mask of X and Y
    signs: int = 0  # PAULI: mask of Y and Z
    outer_signs: int = 0  # PAULI: mask of Z beyond the chunk
    ys: int = 0  # PAULI: number of Y, modulo 4
    first: int = 0  # DIAGONAL: its members, the first, and the one after the last
    last: int = 0
    permutation: int = 0  # AFFINE: row of the permutation, and of its inverse
    inverse: int = 0


class Member(NamedTuple):
    """A diagonal gate, or a Pauli rotation of Z, among those that multiply one diagonal."""

    top: int  # the highest bit within the chunk that it acts on; -1 if it acts on bits beyond alone
    general: bool  # whether it has several bits of the chunk, or a control there
    rotation: bool  # whether it is a Pauli rotation, of entries cos and sin
    wanted: bool  # whether its entries have cotangents
    start: int  # its first entry
    controls: int  # mask
    outer_controls: int  # mask
    targets: int  # where its target bits begin in the pool; b within the chunk, -1 - b beyond
    count: int  # of these


class Permutation(NamedTuple):
    """The affine map of `qad.circuit.engines.compiled.affine`."""

    constant: int
    columns: int  # where the columns of the chunk's bits begin in the pool
    outer_bits: int  # where the bits beyond the chunk begin in the pool
    outer_columns: int  # where their columns begin
    outer_count: int


@struct
class Tables(NamedTuple):
    """A program: its rounds, their instructions with all that these refer to, and the bits of a chunk."""

    rounds: Annotated[np.ndarray, Block(Round)]
    code: Annotated[np.ndarray, Block(Instruction)]
    members: Annotated[np.ndarray, Block(Member)]
    permutations: Annotated[np.ndarray, Block(Permutation)]
    pool: Ints
    bits: Int


def table(row: type[tuple[Any, ...]], rows: Sequence[tuple[Any, ...]]) -> np.ndarray:
    """Rows, named tuples of the type `row`, as a structured array of integers; there may be none."""
    return np.array(rows, row_dtype(row))
