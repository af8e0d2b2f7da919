"""Groups of trajectories: how they begin, divide and end; and outcomes of their final states."""

import numpy as np

from qad.circuit.compiled.arguments import Complexes2, Floats, Ints
from qad.circuit.compiled.jump_tables import BITS, COLUMNS, HIGH, LOW, NEXT, STEP, XS, ZS

BLOCK = 32  # amplitudes that are added up before the sum is looked at


def together(
    begin: int, end: int, order: np.ndarray, re: np.ndarray, im: np.ndarray, frames: np.ndarray, phases: np.ndarray
) -> None:  # fmt: skip
    """Put all trajectories into one group, in the state |0...0>."""
    for t in range(begin, end):
        order[t] = t
    for i in range(re.size):
        re[i], im[i] = 0, 0
    re[0] = 1
    frames[0, LOW], frames[0, HIGH], frames[0, NEXT] = begin, end, end
    frames[0, STEP], frames[0, BITS], frames[0, XS], frames[0, ZS] = 0, 0, 0, 0
    phases[0, 0], phases[0, 1] = 1, 0


def alike(choices: np.ndarray, t: int, u: int, first: int, last: int) -> bool:
    """Whether two trajectories took the same at all of these sites."""
    s = first
    while s < last and choices[t, s] == choices[u, s]:
        s += 1
    return s >= last


def part(order: np.ndarray, low: int, high: int, choices: np.ndarray, first: int, last: int) -> int:
    """Where the trajectories end that took the same as the first of a group that is in order."""
    end = low + 1
    while end < high and alike(choices, order[low], order[end], first, last):
        end += 1
    return end


def idle_first(
    order: np.ndarray, low: int, high: int, choices: np.ndarray, first: int, last: int, scratch: np.ndarray
) -> int:
    """Put those that took the first matrices everywhere in front; where the others begin."""
    middle, others = low, 0
    for i in range(low, high):
        t, idle = order[i], True
        for s in range(first, last):
            if choices[t, s] != 0:
                idle = False
        if idle:
            order[middle] = t
            middle += 1
        else:
            scratch[low + others] = t
            others += 1
    for i in range(others):
        order[middle + i] = scratch[low + i]
    return middle


def by_choice(
    order: np.ndarray, low: int, high: int, choices: np.ndarray, s: int, counts: np.ndarray, scratch: np.ndarray
) -> None:
    """Put a group in the order of what its trajectories took at one site, those of equal choice as they were."""
    for k in range(counts.size):
        counts[k] = 0
    for i in range(low, high):
        counts[choices[order[i], s]] += 1
        scratch[i] = order[i]
    if counts[choices[order[low], s]] == high - low:
        return
    at = low
    for k in range(counts.size):
        at += counts[k]
        counts[k] = at - counts[k]
    for i in range(low, high):
        k = choices[scratch[i], s]
        order[counts[k]] = scratch[i]
        counts[k] += 1


def arrange(
    order: np.ndarray, low: int, high: int, choices: np.ndarray, first: int, last: int, counts: np.ndarray,
    scratch: np.ndarray,
) -> None:  # fmt: skip
    """Put a group in order, so that those that took the same at all of these sites are neighbours, most of them last.

    The last part takes the place of the group, and the others are at most half of it: so few states wait at a time.
    """
    if high - low < 2:
        return
    middle = idle_first(order, low, high, choices, first, last, scratch)
    if middle < high:
        for s in range(last - 1, first - 1, -1):
            by_choice(order, middle, high, choices, s, counts, scratch)
    begin, most, end = low, low, low
    while begin < high:
        after = part(order, begin, high, choices, first, last)
        if after - begin > end - most:
            most, end = begin, after
        begin = after
    for i in range(most, end):
        scratch[i] = order[i]
    for i in range(end, high):
        order[i - end + most] = order[i]
    for i in range(most, end):
        order[i - end + high] = scratch[i]


def part_off(
    top: int, end: int, stack: np.ndarray, imag: np.ndarray, frames: np.ndarray, phases: np.ndarray
) -> int:  # fmt: skip
    """Make the next ones, up to `end`, a group of their own; where it is: above, or in place if none are left."""
    row, begin, here = frames[top], frames[top, NEXT], top
    if end < row[HIGH]:
        here += 1
        re, im, x, y = stack[top], imag[top], stack[here], imag[here]
        for i in range(re.size):
            x[i], y[i] = re[i], im[i]
        for i in range(COLUMNS):
            frames[here, i] = row[i]
        phases[here, 0], phases[here, 1] = phases[top, 0], phases[top, 1]
        row[NEXT] = end
    frames[here, LOW], frames[here, HIGH], frames[here, NEXT] = begin, end, end
    return here


def write(
    out: np.ndarray, which: np.ndarray, row: int, order: np.ndarray, low: int, high: int, re: np.ndarray,
    im: np.ndarray,
) -> None:  # fmt: skip
    """Write the final state of a group, and which state those of its trajectories is."""
    x = out[row]
    for k in range(re.size):
        x[k] = complex(re[k], im[k])
    for i in range(low, high):
        which[order[i]] = row


def weight(x: np.ndarray, first: int, last: int) -> float:
    """The probability of some basis states."""
    found = 0.0
    for i in range(first, last):
        found += x[i].real * x[i].real + x[i].imag * x[i].imag
    return found


def measure(psi: Complexes2, which: Ints, uniforms: Floats, totals: Floats, found: Ints) -> None:
    """An index of a basis state of ``psi[which[t]]`` for each t, by inversion; `totals` is room, a number for each."""
    for g in range(totals.size):
        totals[g] = weight(psi[g], 0, psi.shape[1])
    for t in range(which.size):
        x, i, level, wanted = psi[which[t]], 0, 0.0, uniforms[t] * totals[which[t]]
        while i + BLOCK < x.size:
            more = weight(x, i, i + BLOCK)
            if level + more > wanted:
                break
            level += more
            i += BLOCK
        while i < x.size and level <= wanted:
            level += x[i].real * x[i].real + x[i].imag * x[i].imag
            i += 1
        i -= 1
        while i > 0 and x[i].real == 0 and x[i].imag == 0:
            i -= 1
        found[t] = i
