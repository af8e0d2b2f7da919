"""How the kernel of trajectories is called: the tables of a plan, its Kraus matrices, and room for each thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from qad.circuit.compiled import kernels
from qad.circuit.compiled.entries import REAL_OF, entries_of
from qad.circuit.compiled.jump_plans import prepared
from qad.circuit.compiled.jump_tables import COLUMNS, IDLE, PAULI, WHOLE, Noise
from qad.circuit.compiled.launch import room
from qad.circuit.jumps import unitaries
from qad.native import Bundle, readable
from qad.native.sharing import in_rounds, share, threads_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.circuit.jumps import Plan


class Facts(NamedTuple):
    """What the kernel asks of the Kraus matrices (K, d, d) of a channel."""

    mixed: bool  # whether its probabilities depend on no state
    entries: np.ndarray  # of unitary matrices, where it is
    squares: np.ndarray  # entries of K^H K
    fixed: np.ndarray  # the probabilities (K,), where it is mixed
    strings: np.ndarray  # (3, K): the kind of each, and its masks where it is a Pauli string


def facts(kraus: np.ndarray) -> Facts:
    """What there is to know of complex Kraus matrices."""
    scaled, squares = unitaries(kraus), np.swapaxes(kraus.conj(), 1, 2) @ kraus
    fixed = squares[:, 0, 0].real / squares[:, 0, 0].real.sum()
    if scaled is None:
        return Facts(False, kraus.ravel(), squares.ravel(), fixed, np.full((3, len(kraus)), [[WHOLE], [0], [0]]))
    return Facts(True, scaled.ravel(), squares.ravel(), fixed, strings_of(scaled))


def strings_of(u: np.ndarray) -> np.ndarray:
    """The kinds of unitary matrices (K, d, d); of ``p X^x Z^z``, Pauli strings times phases, the masks x and z.

    The phase is the entry in the first column, at row x.
    """
    index, every = np.arange(u.shape[1]), np.arange(len(u))[:, None]
    x = np.abs(u[:, :, 0]).argmax(1)[:, None]
    entries = u[every, index ^ x, index]
    phases, bits = entries[:, :1], 1 << np.arange(len(index).bit_length() - 1)
    z = ((entries[:, bits] == -phases) * bits).sum(1, keepdims=True)
    exact = np.zeros_like(u)
    exact[every, index ^ x, index] = phases * (1 - 2.0 * (np.bitwise_count(index & z) & 1))
    found = (u == exact).all((1, 2))[:, None] & (phases != 0)
    kinds = np.where(found, np.where((x | z != 0) | (phases != 1), PAULI, IDLE), WHOLE)
    return np.concatenate([kinds, x * found, z * found], 1).T


def noise_of(plan: Plan, kraus: Sequence[np.ndarray]) -> Bundle:
    """Steps, sites and items, with the Kraus matrices (K, d, d) of each site; what is the same stands there once."""
    ready, begins, found, size, first = prepared(plan), {}, [], 0, 0
    different = {id(u): u for u in kraus}
    for key, u in different.items():
        name = u.tobytes(), u.shape
        if name not in begins:
            found.append(facts(u))
            begins[name] = len(u), size, first, found[-1].mixed
            size, first = size + u.size, first + len(u)
        begins[key] = begins[name]
    rows = [begins[id(u)] for u in kraus]
    sites = ready.sites.copy()
    for name, column in zip(("count", "start", "first", "mixed"), zip(*rows, strict=True), strict=False):
        sites[name] = column
    entries, squares, fixed = (
        np.concatenate([np.zeros(0), *(getattr(f, name) for f in found)]) for name in ("entries", "squares", "fixed")
    )
    strings = np.concatenate([np.zeros((3, 0), np.int64), *(f.strings for f in found)], 1)
    parts = (entries.real, entries.imag, squares.real, squares.imag, fixed)
    return Bundle(Noise(
        ready.steps, sites, ready.items, ready.pool, *(np.array(part, float) for part in parts),
        *map(np.ascontiguousarray, strings),
    ))  # fmt: skip


def draw(
    plan: Plan, real: np.ndarray, complex_: np.ndarray, kraus: Sequence[np.ndarray], uniforms: np.ndarray,
    dtype: np.dtype,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """As `qad.circuit.jumps.draw`."""
    ready, noise = prepared(plan), noise_of(plan, kraus)
    widest, shots, n = ready.widest, len(uniforms), plan.program.n
    (vr,), (vi,) = entries_of(ready.constants, real, complex_, dtype)
    out, choices = np.empty((shots, 2**n), dtype), np.full((shots, max(1, uniforms.shape[1])), -1)
    which, order, scratch = (np.empty(shots, np.int64) for _ in range(3))
    most = max((len(u) for u in kraus), default=1)
    depth = 1 + shots.bit_length()  # all parts but the last are at most half of what they leave
    threads = threads_for(shots, len(plan.steps) * out.size)
    kernel, real_type = kernels.jumps(dtype).jump, REAL_OF[dtype]
    counts = [np.zeros(1, np.int64) for _ in range(threads)]

    def work(_, t):
        chunk, rows, sources = room(n, widest, 1, dtype)
        kernel(
            out, which, *share(shots, t, threads), ready.tables, vr, vi, vr.copy(), vi.copy(), noise, uniforms,
            choices, order, scratch, np.empty((depth, COLUMNS), np.int64), np.empty((depth, 2)),
            *(np.empty((depth, 2**n), real_type) for _ in range(2)), chunk, rows, sources,
            *(np.empty(widest**2, real_type) for _ in range(2)), np.empty((widest**2, 2)), np.empty((depth, most)),
            np.empty(most, np.int64), counts[t],
        )  # fmt: skip

    in_rounds(work, [0], threads)
    states, which = joined(out, which, [int(c[0]) for c in counts])
    if not noise.fields.sites["mixed"].all():
        states /= np.sqrt((states.real**2 + states.imag**2).sum(-1, keepdims=True))
    return states, which, choices[:, : uniforms.shape[1]]


def joined(out: np.ndarray, which: np.ndarray, counts: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """The states that threads wrote, each at the beginning of its share, one after the other, and which they are."""
    begins = [share(len(out), t, len(counts))[0] for t in range(len(counts))]
    for t in range(1, len(counts)):
        end = begins[t + 1] if t + 1 < len(counts) else len(out)
        which[begins[t] : end] += sum(counts[:t]) - begins[t]
    parts = [out[begin : begin + count] for begin, count in zip(begins, counts, strict=True)]
    return (parts[0] if len(parts) == 1 else np.concatenate(parts)), which


def measured(psi: np.ndarray, which: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    """As `qad.circuit.jumps.measured`."""
    found = np.empty(len(which), np.int64)
    kernels.jumps(psi.dtype).measure(readable(psi), which, uniforms, np.empty(len(psi)), found)
    return found
