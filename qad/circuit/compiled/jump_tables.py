"""Rows of the tables of trajectories: steps, sites, and what is done to a Pauli string on the way through a stretch."""

from typing import Annotated, NamedTuple

import numpy as np

from qad.circuit.compiled.arguments import Floats, Ints
from qad.native import Block, struct

IDLE, PAULI, WHOLE = range(3)  # kinds of Kraus matrices: 1, a Pauli string times a phase, any other
SITE, MATRIX, PHASE, ROTATION, FLIP, CNOT, CZ, SWAP, FIXED = range(9)  # kinds of items

# Columns of the table of groups: their piece of the order, their next step, their bits, the masks of their Pauli
# string, and, while a group is divided, the first trajectory of the next part and the step that parts go on at.
LOW, HIGH, STEP, BITS, XS, ZS, NEXT, UNTIL = range(8)
COLUMNS = 8


class Step(NamedTuple):
    """The gates of a round and then a site, -1 for none, where the bits of `mask` are those of `value`.

    A stretch begins at a step whose `ahead` is not 0: so many steps, whose gates together are the round `whole`.
    """

    mask: int
    value: int
    site: int
    ahead: int = 0
    sites: int = 0  # how many the stretch has
    whole: int = 0  # the round
    first: int = 0  # its items: the first, and the one after the last
    last: int = 0


class Site(NamedTuple):
    """A channel, a measurement or a reset."""

    qubits: int
    bits: int  # where its targets begin in the pool
    targets: int  # mask
    offsets: int  # where the offsets of the rows begin in the pool
    run: int  # amplitudes that may be moved together
    count: int  # of Kraus matrices
    start: int  # the first entry of the first of them
    first: int  # the first of them, among all
    mixed: int  # whether their probabilities depend on no state
    into: int  # the mask of the bit that it writes, 0 for none


class Item(NamedTuple):
    """A gate or a site of a stretch, as a Pauli string meets it."""

    kind: int
    start: int = 0  # the first entry; the number of a site
    count: int = 0  # targets
    bits: int = 0  # where these begin in the pool, the most significant of the gate's matrix first
    targets: int = 0  # mask
    controls: int = 0  # mask
    signs: int = 0  # ROTATION: mask of Y and Z
    flips: int = 0  # ROTATION: mask of X and Y


@struct
class Noise(NamedTuple):
    """Steps, sites and items; of Kraus matrices the entries, the squares, the probabilities where these are fixed, the
    kinds, and the masks of Pauli strings.
    """

    steps: Annotated[np.ndarray, Block(Step)]
    sites: Annotated[np.ndarray, Block(Site)]
    items: Annotated[np.ndarray, Block(Item)]
    pool: Ints
    kr: Floats
    ki: Floats
    mr: Floats
    mi: Floats
    fixed: Floats
    kinds: Ints
    xs: Ints
    zs: Ints
