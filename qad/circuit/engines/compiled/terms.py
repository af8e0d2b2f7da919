"""Pauli sums on states, chunk by chunk: strings that flip the same bits make one diagonal per chunk.

``(H psi)_a = sum_x D_x(a ^ x) psi_(a ^ x)`` over groups of strings with equal flips x, and
``D_x(y) = sum_t w_t (-1)^(z_t . y)``.  Within a chunk of the lowest bits the diagonal of more than two strings is
a Walsh-Hadamard transform of their weights, those of the higher bits folded in as signs.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Annotated, Any, NamedTuple

import numpy as np

from qad.circuit.engines.compiled.arguments import Complexes, Complexes2, Floats2, Int, Ints
from qad.circuit.engines.compiled.general import parity
from qad.circuit.observables.masks import Strings
from qad.native import Block, Bundle, struct
from qad.native.values import Kind

BITS = 11


@struct
class Terms(NamedTuple):
    """A sum of strings: flips of groups, signs of strings, where groups begin, and bits of a chunk."""

    x: Ints
    z: Ints
    starts: Ints
    bits: Int


@lru_cache(maxsize=256)
def terms_of(strings: Strings) -> Bundle:
    """A sum's strings as the kernels read them."""
    x, _, z, starts, _ = strings.tables
    return Bundle(Terms(x, z, starts, min(strings.n, BITS)))


def transform(x: np.ndarray) -> None:
    """The Walsh-Hadamard transform of a vector, in place."""
    half = 1
    while half < x.size:
        for s in range(0, x.size, 2 * half):
            u, v = x[s : s + half], x[s + half : s + 2 * half]
            for k in range(half):
                a, b = u[k], v[k]
                u[k], v[k] = a + b, a - b
        half *= 2


def diagonal(chunk: int, bits: int, z: np.ndarray, w: np.ndarray, first: int, last: int, d: np.ndarray) -> None:
    """Write the diagonal of strings `first` to `last` over one chunk."""
    low = (1 << bits) - 1
    for k in range(d.size):
        d[k] = 0
    varied = 0
    for t in range(first, last):
        varied += z[t] & low != 0
    if varied > 2:
        for t in range(first, last):
            d[z[t] & low] += -w[t] if parity((z[t] >> bits) & chunk) else w[t]
        transform(d)
        return
    for t in range(first, last):
        weight = -w[t] if parity((z[t] >> bits) & chunk) else w[t]
        mask = z[t] & low
        if mask == 0:
            for k in range(d.size):
                d[k] += weight
        else:
            for k in range(d.size):
                d[k] += -weight if parity(mask & k) else weight


def add_product(target: np.ndarray, source: np.ndarray, d: np.ndarray, inner: int) -> None:
    """``target[k] += d[k ^ inner] source[k ^ inner]``."""
    if inner == 0:
        for k in range(target.size):
            target[k] += d[k] * source[k]
        return
    run = inner & -inner
    for s in range(0, target.size, run):
        at = s ^ inner
        u, v, e = target[s : s + run], source[at : at + run], d[at : at + run]
        for k in range(run):
            u[k] += e[k] * v[k]


def add_image(target: np.ndarray, psi: np.ndarray, chunk: int, table: Terms, w: np.ndarray, d: np.ndarray) -> None:
    """Add one chunk of ``H psi`` for one state; `d` is room for a diagonal."""
    x, z, starts, bits = table
    size = 1 << bits
    for g in range(x.size):
        other = chunk ^ (x[g] >> bits)
        diagonal(other, bits, z, w, starts[g], starts[g + 1], d)
        add_product(target, psi[other * size : (other + 1) * size], d, x[g] & (size - 1))


def kernels(kind: Kind) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Both kernels for weights that are real or complex; `d` and `image` are room for a diagonal and for a chunk."""

    def apply_sum(
        psi: Complexes2, out: Complexes2, begin: Int, end: Int, table: Terms, w: Annotated[np.ndarray, Block(kind)],
        d: Annotated[np.ndarray, Block(kind)],
    ):  # fmt: skip
        """Chunks `begin` to `end`, counted through all states (B, 2**n), of ``H psi``, added to `out`."""
        size, chunks = 1 << table.bits, psi.shape[1] >> table.bits
        for task in range(begin, end):
            b, chunk = task // chunks, task % chunks
            add_image(out[b][chunk * size : (chunk + 1) * size], psi[b], chunk, table, w, d)

    def energy_of_sum(
        psi: Complexes2, begin: Int, end: Int, table: Terms, w: Annotated[np.ndarray, Block(kind)], sums: Floats2,
        d: Annotated[np.ndarray, Block(kind)], image: Complexes,
    ):  # fmt: skip
        """Parts of ``<psi|H|psi>``, one for each of these chunks, in `sums` (B, chunks)."""
        size, chunks = 1 << table.bits, psi.shape[1] >> table.bits
        for task in range(begin, end):
            b, chunk = task // chunks, task % chunks
            target = psi[b][chunk * size : (chunk + 1) * size]
            for k in range(size):
                image[k] = 0
            add_image(image, psi[b], chunk, table, w, d)
            total = 0.0
            for k in range(size):
                total += target[k].real * image[k].real + target[k].imag * image[k].imag
            sums[b, chunk] = total

    return apply_sum, energy_of_sum
