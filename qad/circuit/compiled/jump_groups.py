"""Groups of trajectories: how they begin, divide and end; and outcomes of their final states."""

import numpy as np

from qad.circuit.compiled.arguments import Complexes2, Floats, Ints


def together(
    begin: int, end: int, order: np.ndarray, re: np.ndarray, im: np.ndarray, frames: np.ndarray
) -> None:  # fmt: skip
    """Put all trajectories into one group, in the state |0...0>."""
    for t in range(begin, end):
        order[t] = t
    for i in range(re.size):
        re[i], im[i] = 0, 0
    re[0] = 1
    frames[0, 0], frames[0, 1], frames[0, 2], frames[0, 3] = begin, end, 0, 0


def divide(
    order: np.ndarray, low: int, high: int, choices: np.ndarray, s: int, counts: np.ndarray, starts: np.ndarray,
    count: int, scratch: np.ndarray,
) -> int:  # fmt: skip
    """Put the trajectories of a group in the order of their choices; the most frequent of these."""
    largest, at = 0, low
    for k in range(count):
        starts[k] = at
        at += counts[k]
        if counts[k] > counts[largest]:
            largest = k
    for i in range(low, high):
        scratch[i] = order[i]
    for i in range(low, high):
        k = choices[scratch[i], s]
        order[starts[k]] = scratch[i]
        starts[k] += 1
    return largest


def write(out: np.ndarray, order: np.ndarray, low: int, high: int, re: np.ndarray, im: np.ndarray) -> None:
    """Write the final state of a group for each of its trajectories."""
    for i in range(low, high):
        x = out[order[i]]
        for k in range(re.size):
            x[k] = complex(re[k], im[k])


def measure(psi: Complexes2, uniforms: Floats, found: Ints) -> None:
    """The index of one basis state for each state (T, 2**n), by inversion."""
    for t in range(psi.shape[0]):
        x, total, level = psi[t], 0.0, 0.0
        for i in range(x.size):
            total += x[i].real * x[i].real + x[i].imag * x[i].imag
        total *= uniforms[t]
        i, last = 0, 0
        while i < x.size and level <= total:
            p = x[i].real * x[i].real + x[i].imag * x[i].imag
            level += p
            if p > 0:
                last = i
            i += 1
        found[t] = last
