"""Trajectories, group by group: those that have taken the same Kraus matrices so far are one state.

A stack holds the states of groups that wait, real and imaginary parts; `order` lists the trajectories of the call so
that every group is a piece of it.  What divides a group, a site or a stretch, puts its parts one after the other on top
of it, and the last and largest of them into its place: so the stack stays low.

In a stretch all choices can be drawn beforehand, for the probabilities depend on no state.  Errors that are Pauli
strings then go past its gates (`qad.circuit.compiled.jump_strings`), which run as one round.
"""

from math import frexp
from typing import NamedTuple

import numpy as np

from qad.circuit.compiled.arguments import Complexes2, Floats2, Int, Ints, Ints2, Reals, Reals2, Reals3, ShortInts
from qad.circuit.compiled.block_kernels import run_forward
from qad.circuit.compiled.general import dense, reduce_dense
from qad.circuit.compiled.jump_groups import arrange, part, part_off, together, write
from qad.circuit.compiled.jump_strings import apply_string, times, travel
from qad.circuit.compiled.jump_tables import BITS, HIGH, LOW, NEXT, STEP, UNTIL, WHOLE, XS, ZS, Noise
from qad.circuit.compiled.one_qubit import apply_complex, reduce_complex
from qad.circuit.compiled.tables import Tables


class Group(NamedTuple):
    """A group: real and imaginary parts of its state, its row of the table of groups, and the phase of its string."""

    re: np.ndarray
    im: np.ndarray
    row: np.ndarray
    phase: np.ndarray


class Gates(NamedTuple):
    """Rounds of gates and their entries; `wr` and `wi` are those that a string leaves behind."""

    tables: Tables
    vr: np.ndarray
    vi: np.ndarray
    wr: np.ndarray
    wi: np.ndarray


class Room(NamedTuple):
    """Memory: two chunks, amplitudes of dense matrices, a permutation, a matrix, sums, counts, trajectories."""

    chunk: np.ndarray
    rows: np.ndarray
    sources: np.ndarray
    vr: np.ndarray
    vi: np.ndarray
    sums: np.ndarray
    counts: np.ndarray
    scratch: np.ndarray


class Draws(NamedTuple):
    """What is drawn: sites, uniform numbers, what is taken, and trajectories in the order of groups."""

    noise: Noise
    uniforms: np.ndarray
    choices: np.ndarray
    order: np.ndarray


def weigh(noise: Noise, s: int, re: np.ndarray, im: np.ndarray, sums: np.ndarray, weights: np.ndarray) -> None:
    """Write the probabilities ``<psi|K^H K|psi>``, of a state that need not be normalised."""
    site = noise.sites[s]
    size = 1 << 2 * site.qubits
    for e in range(size):
        sums[e, 0], sums[e, 1] = 0, 0
    if site.qubits == 1:
        reduce_complex(re, im, re, im, noise.pool[site.bits], sums, 0)
    else:
        offsets = noise.pool[site.offsets : site.offsets + (1 << site.qubits)]
        reduce_dense(re, im, re, im, site.targets, 0, site.run, offsets, sums, 0)
    for k in range(site.count):
        at = site.start + k * size
        p = 0.0
        for e in range(size):
            p += noise.mr[at + e] * sums[e, 0] - noise.mi[at + e] * sums[e, 1]
        weights[k] = p if p > 0 else 0.0


def chosen(weights: np.ndarray, level: float) -> int:
    """The first index up to which weights add up to more than a level; else the last of any weight."""
    k, total = 0, weights[0]
    while total <= level and k < weights.size - 1:
        k += 1
        total += weights[k]
    while k > 0 and weights[k] == 0:
        k -= 1
    return k


def draw(draws: Draws, low: int, high: int, s: int, weights: np.ndarray) -> None:
    """Draw for every trajectory of a group what it takes at a site."""
    total = 0.0
    for k in range(weights.size):
        total += weights[k]
    for i in range(low, high):
        t = draws.order[i]
        draws.choices[t, s] = chosen(weights, draws.uniforms[t, s] * total)


def settle(group: Group, room: Room) -> None:
    """Apply the string that waits."""
    row, phase = group.row, group.phase
    if row[XS] != 0 or row[ZS] != 0 or phase[0] != 1 or phase[1] != 0:
        apply_string(group.re, group.im, row[XS], row[ZS], phase[0], phase[1], room.chunk[0], room.chunk[1])
        row[XS], row[ZS], phase[0], phase[1] = 0, 0, 1, 0


def run(tables: Tables, r: int, vr: np.ndarray, vi: np.ndarray, group: Group, room: Room) -> None:
    """Run a round on the state of a group."""
    dr, di, tr, ti = room.chunk[0], room.chunk[1], room.rows[0], room.rows[1]
    run_forward(tables, r, vr, vi, 0, group.re, group.im, dr, di, room.sources, tr, ti)


def take(noise: Noise, s: int, k: int, weight: float, group: Group, room: Room) -> None:
    """Apply a Kraus matrix, or have it wait, if it is a Pauli string.

    Those that are multiples of unitary matrices come normalised; others are scaled by a power of two, which keeps the
    norm near 1 and makes no rounding.
    """
    site, row, phase, vr, vi = noise.sites[s], group.row, group.phase, room.vr, room.vi
    if noise.kinds[site.first + k] != WHOLE:
        row[XS], row[ZS], phase[0], phase[1] = times(noise, s, k, row[XS], row[ZS], phase[0], phase[1])
        return
    settle(group, room)
    size = 1 << 2 * site.qubits
    at, scale = site.start + k * size, 1.0
    if not site.mixed:
        _, exponent = frexp(weight)
        scale = 2.0 ** (-(exponent // 2))
    for e in range(size):
        vr[e], vi[e] = noise.kr[at + e] * scale, noise.ki[at + e] * scale
    if site.qubits == 1:
        bit = noise.pool[site.bits]
        apply_complex(group.re, group.im, bit, vr[0], vr[1], vr[2], vr[3], vi[0], vi[1], vi[2], vi[3])
    else:
        offsets = noise.pool[site.offsets : site.offsets + (1 << site.qubits)]
        dense(group.re, group.im, site.targets, 0, site.run, offsets, vr, vi, 0, room.rows[0], room.rows[1])


def stretches(noise: Noise, at: int) -> bool:
    """Whether a stretch begins at a step, and all choices in it may be drawn beforehand."""
    first = noise.steps[at].site
    for s in range(first, first + noise.steps[at].sites):
        if not noise.sites[s].mixed:
            return False
    return noise.steps[at].sites > 0


def look_ahead(draws: Draws, row: np.ndarray, room: Room) -> None:
    """Draw what the trajectories of a group take in a whole stretch."""
    noise, at, low, high = draws.noise, row[STEP], row[LOW], row[HIGH]
    first = noise.steps[at].site
    last = first + noise.steps[at].sites
    for i in range(low, high):
        t = draws.order[i]
        for s in range(first, last):
            begin, level, k = noise.sites[s].first, draws.uniforms[t, s], 0
            if level >= noise.fixed[begin]:
                k = chosen(noise.fixed[begin : begin + noise.sites[s].count], level)
            draws.choices[t, s] = k
    arrange(draws.order, low, high, draws.choices, first, last, room.counts, room.scratch)
    row[NEXT], row[UNTIL] = low, at + noise.steps[at].ahead


def perform(draws: Draws, weights: np.ndarray, group: Group, gates: Gates, room: Room) -> None:
    """Run the gates of a step, and draw what the trajectories of the group take at its site."""
    noise, row = draws.noise, group.row
    at, low, high = row[STEP], row[LOW], row[HIGH]
    s = noise.steps[at].site
    settle(group, room)
    run(gates.tables, at, gates.vr, gates.vi, group, room)
    if s < 0:
        row[STEP] = at + 1
        return
    first, count = noise.sites[s].first, noise.sites[s].count
    if noise.sites[s].mixed:
        draw(draws, low, high, s, noise.fixed[first : first + count])
    else:
        weigh(noise, s, group.re, group.im, room.sums, weights)
        draw(draws, low, high, s, weights[0:count])
    arrange(draws.order, low, high, draws.choices, s, s + 1, room.counts, room.scratch)
    row[NEXT], row[UNTIL] = low, at + 1


def cross(noise: Noise, at: int, choices: np.ndarray, t: int, group: Group, gates: Gates, room: Room) -> None:
    """Take a part through the stretch that begins at a step, with what its trajectory t took there.

    Where a string is stopped, the part goes step by step.
    """
    row, phase, step = group.row, group.phase, noise.steps[at]
    through, x, z, p, q = travel(
        noise, step.first, step.last, choices, t, row[XS], row[ZS], phase[0], phase[1], gates.vr, gates.vi, gates.wr,
        gates.wi,
    )  # fmt: skip
    if through:
        run(gates.tables, step.whole, gates.wr, gates.wi, group, room)
        row[XS], row[ZS], phase[0], phase[1] = x, z, p, q
        return
    for i in range(at, at + step.ahead):
        settle(group, room)
        run(gates.tables, i, gates.vr, gates.vi, group, room)
        s = noise.steps[i].site
        if s >= 0:
            take(noise, s, choices[t, s], 1.0, group, room)


def follow(draws: Draws, t: int, weights: np.ndarray, group: Group, gates: Gates, room: Room) -> None:
    """Have a part of a group undergo what its trajectory t took."""
    noise, choices, row = draws.noise, draws.choices, group.row
    at = row[STEP]
    if row[UNTIL] > at + 1:
        cross(noise, at, choices, t, group, gates, room)
    else:
        s = noise.steps[at].site
        k, into = choices[t, s], noise.sites[s].into
        take(noise, s, k, weights[k], group, room)
        row[BITS] = row[BITS] - (row[BITS] & into) + (into if k else 0)
    row[STEP] = row[UNTIL]


def jump(
    out: Complexes2, which: Ints, begin: Int, end: Int, tables: Tables, vr: Reals, vi: Reals, wr: Reals, wi: Reals,
    noise: Noise, uniforms: Floats2, choices: Ints2, order: Ints, scratch: Ints, frames: Ints2, phases: Floats2,
    stack: Reals2, imag: Reals2, chunk: Reals2, rows: Reals3, sources: ShortInts, ur: Reals, ui: Reals, sums: Floats2,
    weights: Floats2, counts: Ints, found: Ints,
) -> None:  # fmt: skip
    """Trajectories `begin` to `end`: what they took in `choices` (T, S), -1 for nothing, and their final states.

    That of trajectory t is ``out[which[t]]``; these rows begin at `begin`, and `found` becomes how many there are.
    `frames` (D, 8), `phases` (D, 2) and `weights` (D, K) are of the groups on the stack; `wr` and `wi` are a copy of
    the entries `vr` and `vi`.
    """
    draws, gates = Draws(noise, uniforms, choices, order), Gates(tables, vr, vi, wr, wi)
    room = Room(chunk, rows, sources, ur, ui, sums, counts, scratch)
    together(begin, end, order, stack[0], imag[0], frames, phases)
    top, written = 0, begin
    while top >= 0:
        group = Group(stack[top], imag[top], frames[top], phases[top])
        row, at = frames[top], frames[top, STEP]
        if row[NEXT] < row[HIGH]:
            t, s, below = order[row[NEXT]], noise.steps[at].site, top
            sites = noise.steps[at].sites if row[UNTIL] > at + 1 else 1
            top = part_off(top, part(order, row[NEXT], row[HIGH], choices, s, s + sites), stack, imag, frames, phases)
            one = Group(stack[top], imag[top], frames[top], phases[top])
            follow(draws, t, weights[below], one, gates, room)
        elif at == noise.steps.size:
            settle(group, room)
            write(out, which, written, order, row[LOW], row[HIGH], group.re, group.im)
            written, top = written + 1, top - 1
        elif stretches(noise, at):
            look_ahead(draws, row, room)
        elif row[BITS] & noise.steps[at].mask == noise.steps[at].value:
            perform(draws, weights[top], group, gates, room)
        else:
            row[STEP] = at + 1
    found[0] = written - begin
