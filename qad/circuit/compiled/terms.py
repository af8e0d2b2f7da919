"""Pauli sums on states, chunk by chunk: strings that flip the same bits make one diagonal per chunk.

``(H psi)_a = sum_x D_x(a ^ x) psi_(a ^ x)`` over groups of strings with equal flips x, and
``D_x(y) = sum_t w_t (-1)^(z_t . y)``.  Within a chunk of the lowest bits the diagonal of more than two strings is
a Walsh-Hadamard transform of their weights, those of the higher bits folded in as signs.
"""

from functools import lru_cache

from qad.circuit.compiled.general import parity
from qad.native import COMPLEX, FLOAT, INT, Block, Bundle, struct

BITS = 11
Terms = struct("Terms", x=Block(INT), z=Block(INT), starts=Block(INT), bits=INT)
Terms.__doc__ = """A sum of strings: flips of groups, signs of strings, where groups begin, and bits of a chunk."""


@lru_cache(maxsize=256)
def terms_of(strings):
    """A sum's strings as the kernels read them."""
    x, _, z, starts, _ = strings.tables
    return Bundle(Terms(x, z, starts, min(strings.n, BITS)))


def transform(x):
    """The Walsh-Hadamard transform of a vector, in place."""
    half = 1
    while half < x.size:
        for s in range(0, x.size, 2 * half):
            u, v = x[s : s + half], x[s + half : s + 2 * half]
            for k in range(half):
                a, b = u[k], v[k]
                u[k], v[k] = a + b, a - b
        half *= 2


def diagonal(chunk, bits, z, w, first, last, d):
    """Write the diagonal of strings `first` to `last` over one chunk; whether it is more than a constant."""
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
        return True
    for t in range(first, last):
        weight = -w[t] if parity((z[t] >> bits) & chunk) else w[t]
        mask = z[t] & low
        if mask == 0:
            for k in range(d.size):
                d[k] += weight
        else:
            for k in range(d.size):
                d[k] += -weight if parity(mask & k) else weight
    return varied > 0


def add_product(target, source, d, inner, varied):
    """``target[k] += d[k ^ inner] source[k ^ inner]``; `d` is constant unless `varied`."""
    if inner == 0:
        for k in range(target.size):
            target[k] += d[k] * source[k]
        return
    run = inner & -inner
    for s in range(0, target.size, run):
        at = s ^ inner
        u, v, e = target[s : s + run], source[at : at + run], d[at : at + run]
        if varied:
            for k in range(run):
                u[k] += e[k] * v[k]
        else:
            for k in range(run):
                u[k] += d[0] * v[k]


def add_image(target, psi, chunk, table, w, d):
    """Add one chunk of ``H psi`` for one state; `d` is room for a diagonal."""
    x, z, starts, bits = table
    size = 1 << bits
    for g in range(x.size):
        other = chunk ^ (x[g] >> bits)
        varied = diagonal(other, bits, z, w, starts[g], starts[g + 1], d)
        add_product(target, psi[other * size : (other + 1) * size], d, x[g] & (size - 1), varied)


def apply(psi, out, begin, end, table, w, d):
    """Chunks `begin` to `end`, counted through all states (B, 2**n), of ``H psi``, added to `out`; `d` is room."""
    size, chunks = 1 << table.bits, psi.shape[1] >> table.bits
    for task in range(begin, end):
        b, chunk = task // chunks, task % chunks
        add_image(out[b][chunk * size : (chunk + 1) * size], psi[b], chunk, table, w, d)


def energy(psi, begin, end, table, w, sums, d, image):
    """Parts of ``<psi|H|psi>``, one for each of these chunks, in `sums` (B, chunks); `d` and `image` are room."""
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


def kernels(kind):
    """Both for weights that are real or complex."""

    def apply_sum(
        psi: Block(COMPLEX, 2), out: Block(COMPLEX, 2), begin: INT, end: INT, table: Terms, w: Block(kind),
        d: Block(kind),
    ):  # fmt: skip
        apply(psi, out, begin, end, table, w, d)

    def energy_of_sum(
        psi: Block(COMPLEX, 2), begin: INT, end: INT, table: Terms, w: Block(kind), sums: Block(FLOAT, 2),
        d: Block(kind), image: Block(COMPLEX),
    ):  # fmt: skip
        energy(psi, begin, end, table, w, sums, d, image)

    return apply_sum, energy_of_sum
