"""Trajectories, group by group: those that have taken the same Kraus matrices so far are one state.

A stack holds the states of groups that wait, real and imaginary parts; `order` lists the trajectories of the call so
that every group is a piece of it.  A site that divides the group on top keeps its largest part in its place and puts
the others on top of it, at most half as large: so the stack stays low.
"""

from math import frexp
from typing import Annotated, NamedTuple

import numpy as np

from qad.circuit.compiled.arguments import (
    Complexes2,
    Floats,
    Floats2,
    Int,
    Ints,
    Ints2,
    Reals,
    Reals2,
    Reals3,
    ShortInts,
)
from qad.circuit.compiled.block_kernels import run_forward
from qad.circuit.compiled.general import dense, reduce_dense
from qad.circuit.compiled.jump_groups import divide, together, write
from qad.circuit.compiled.one_qubit import apply_complex, reduce_complex
from qad.circuit.compiled.tables import Tables
from qad.native import Block, struct

IDLE, PRODUCT, WHOLE = range(3)  # kinds of Kraus matrices: nothing to be done, a matrix on each qubit, one on all


class Step(NamedTuple):
    """The gates of a round and then a site, -1 for none, where the bits of `mask` are those of `value`."""

    mask: int
    value: int
    site: int
    ahead: int = 0  # so many steps are one round for trajectories that take the first Kraus matrix in all of them
    quiet: int = 0  # that round


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


@struct
class Noise(NamedTuple):
    """Steps and sites; Kraus matrices, their squares, their probabilities where these are fixed, and their kinds."""

    steps: Annotated[np.ndarray, Block(Step)]
    sites: Annotated[np.ndarray, Block(Site)]
    pool: Ints
    kr: Floats
    ki: Floats
    mr: Floats
    mi: Floats
    fixed: Floats
    kinds: Ints


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


def choose(
    order: np.ndarray, low: int, high: int, uniforms: np.ndarray, choices: np.ndarray, s: int, weights: np.ndarray,
    counts: np.ndarray,
) -> None:  # fmt: skip
    """Draw for every trajectory of a group what it takes, and count how often each is taken."""
    total = 0.0
    for k in range(weights.size):
        counts[k] = 0
        total += weights[k]
    for i in range(low, high):
        t = order[i]
        k = chosen(weights, uniforms[t, s] * total)
        choices[t, s] = k
        counts[k] += 1


def quiet(
    noise: Noise, first: int, last: int, order: np.ndarray, low: int, high: int, uniforms: np.ndarray,
    choices: np.ndarray,
) -> bool:  # fmt: skip
    """Whether nothing happens to a group in these steps: all take first matrices, which are multiples of 1."""
    for step in range(first, last):
        s = noise.steps[step].site
        if s >= 0:
            at = noise.sites[s].first
            if not noise.sites[s].mixed or noise.kinds[at] != IDLE:
                return False
            for i in range(low, high):
                if uniforms[order[i], s] >= noise.fixed[at]:
                    return False
    for step in range(first, last):
        s = noise.steps[step].site
        if s >= 0:
            for i in range(low, high):
                choices[order[i], s] = 0
    return True


def one_of_product(re: np.ndarray, im: np.ndarray, bit: int, u: np.ndarray, v: np.ndarray) -> None:
    """A matrix of real parts `u` and imaginary parts `v` on one bit, unless it is 1."""
    one = u[0] == 1 and u[3] == 1 and u[1] == 0 and u[2] == 0
    if not (one and v[0] == 0 and v[1] == 0 and v[2] == 0 and v[3] == 0):
        apply_complex(re, im, bit, u[0], u[1], u[2], u[3], v[0], v[1], v[2], v[3])


def take(
    noise: Noise, s: int, k: int, weight: float, re: np.ndarray, im: np.ndarray, vr: np.ndarray, vi: np.ndarray,
    rows: np.ndarray,
) -> None:  # fmt: skip
    """Apply a Kraus matrix; `vr` and `vi` are room for its entries.

    Those that are multiples of unitary matrices come normalised; others are scaled by a power of two, which keeps the
    norm near 1 and makes no rounding.
    """
    site, kind = noise.sites[s], noise.kinds[noise.sites[s].first + k]
    if kind == IDLE:
        return
    size = 1 << 2 * site.qubits
    at, scale = site.start + k * size, 1.0
    if not site.mixed:
        _, exponent = frexp(weight)
        scale = 2.0 ** (-(exponent // 2))
    for e in range(size):
        vr[e], vi[e] = noise.kr[at + e] * scale, noise.ki[at + e] * scale
        if kind == PRODUCT and e == 3:
            scale = 1.0
    if kind == PRODUCT:
        for q in range(site.qubits):
            one_of_product(re, im, noise.pool[site.bits + q], vr[4 * q : 4 * q + 4], vi[4 * q : 4 * q + 4])
    else:
        offsets = noise.pool[site.offsets : site.offsets + (1 << site.qubits)]
        dense(re, im, site.targets, 0, site.run, offsets, vr, vi, 0, rows[0], rows[1])


def push(
    noise: Noise, s: int, largest: int, top: int, after: int, bits: int, frames: np.ndarray, stack: np.ndarray,
    imag: np.ndarray, weights: np.ndarray, counts: np.ndarray, starts: np.ndarray, vr: np.ndarray, vi: np.ndarray,
    rows: np.ndarray,
) -> int:  # fmt: skip
    """Put all groups but the largest on the stack, to go on at step `after`; how high it is then."""
    above, into = top, noise.sites[s].into
    for k in range(noise.sites[s].count):
        if counts[k] > 0 and k != largest:
            above += 1
            re, im, x, y = stack[top], imag[top], stack[above], imag[above]
            for i in range(re.size):
                x[i], y[i] = re[i], im[i]
            take(noise, s, k, weights[k], x, y, vr, vi, rows)
            frames[above, 0], frames[above, 1], frames[above, 2] = starts[k] - counts[k], starts[k], after
            frames[above, 3] = bits - (bits & into) + (into if k else 0)
    return above


def decide(
    noise: Noise, s: int, re: np.ndarray, im: np.ndarray, order: np.ndarray, low: int, high: int, uniforms: np.ndarray,
    choices: np.ndarray, sums: np.ndarray, weights: np.ndarray, counts: np.ndarray,
) -> None:  # fmt: skip
    """Find the probabilities of a site's matrices, and draw for every trajectory of a group which it takes."""
    count = noise.sites[s].count
    if noise.sites[s].mixed:
        at = noise.sites[s].first
        choose(order, low, high, uniforms, choices, s, noise.fixed[at : at + count], counts)
    else:
        weigh(noise, s, re, im, sums, weights)
        choose(order, low, high, uniforms, choices, s, weights[0:count], counts)


def jump(
    out: Complexes2, begin: Int, end: Int, tables: Tables, vr: Reals2, vi: Reals2, noise: Noise, uniforms: Floats2,
    choices: Ints2, order: Ints, scratch: Ints, frames: Ints2, stack: Reals2, imag: Reals2, chunk: Reals2,
    rows: Reals3, sources: ShortInts, ur: Reals, ui: Reals, sums: Floats2, weights: Floats, counts: Ints, starts: Ints,
) -> None:  # fmt: skip
    """Trajectories `begin` to `end`: their final states in `out`, what they took in `choices` (T, S), -1 for nothing.

    `frames` (D, 4) are the waiting groups: first and last of their piece of `order`, the next step, and the bits.
    """
    together(begin, end, order, stack[0], imag[0], frames)
    top = 0
    while top >= 0:
        re, im, above = stack[top], imag[top], top
        low, high, step, bits = frames[top, 0], frames[top, 1], frames[top, 2], frames[top, 3]
        while step < noise.steps.size and above == top:
            s, ahead = noise.steps[step].site, noise.steps[step].ahead
            if ahead > 0 and quiet(noise, step, step + ahead, order, low, high, uniforms, choices):
                r = noise.steps[step].quiet
                run_forward(tables, r, vr[0], vi[0], 0, re, im, chunk[0], chunk[1], sources, rows[0], rows[1])
                step += ahead - 1
            elif bits & noise.steps[step].mask == noise.steps[step].value:
                run_forward(tables, step, vr[0], vi[0], 0, re, im, chunk[0], chunk[1], sources, rows[0], rows[1])
                if s >= 0:
                    count, into = noise.sites[s].count, noise.sites[s].into
                    decide(noise, s, re, im, order, low, high, uniforms, choices, sums, weights, counts)
                    largest = choices[order[low], s]
                    if counts[largest] < high - low:
                        largest = divide(order, low, high, choices, s, counts, starts, count, scratch)
                        above = push(
                            noise, s, largest, top, step + 1, bits, frames, stack, imag, weights, counts, starts, ur,
                            ui, rows,
                        )  # fmt: skip
                        low, high = starts[largest] - counts[largest], starts[largest]
                    take(noise, s, largest, weights[largest], re, im, ur, ui, rows)
                    bits = bits - (bits & into) + (into if largest else 0)
            step += 1
        if above == top:
            write(out, order, low, high, re, im)
        frames[top, 0], frames[top, 1], frames[top, 2], frames[top, 3] = low, high, step, bits
        top = above if above > top else top - 1
