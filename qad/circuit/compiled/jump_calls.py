"""How the kernel of trajectories is called: the tables of a plan, its Kraus matrices, and room for each thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.compiled import kernels
from qad.circuit.compiled.entries import REAL_OF, entries_of
from qad.circuit.compiled.jump_plans import prepared
from qad.circuit.compiled.jump_tables import COLUMNS, IDLE, PAULI, WHOLE, Noise
from qad.circuit.compiled.launch import room
from qad.circuit.jumps import unitaries
from qad.native import Bundle
from qad.native.sharing import in_rounds, share, threads_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.circuit.jumps import Plan


class Matrices:
    """The Kraus matrices of all sites, each distinct channel once, with what the kernel asks of them."""

    entries: list[np.ndarray]
    squares: list[np.ndarray]
    fixed: list[float]
    strings: list[tuple[int, int, int]]  # kind, and masks of a Pauli string
    known: dict[bytes, tuple[int, int, int]]
    size: int

    def __init__(self):
        self.entries, self.squares, self.fixed, self.strings, self.known, self.size = [], [], [], [], {}, 0

    def place(self, kraus: np.ndarray) -> tuple[int, int, int]:
        """Where its entries begin, which its first matrix is, and whether its probabilities are fixed."""
        name = kraus.tobytes()
        if name not in self.known:
            scaled = unitaries(kraus)
            self.known[name] = self.size, len(self.fixed), scaled is not None
            self.size += kraus.size
            squares = np.swapaxes(kraus.conj(), 1, 2) @ kraus
            self.squares.append(squares.ravel())
            self.fixed += (squares[:, 0, 0].real / squares[:, 0, 0].real.sum()).tolist()
            self.strings += [(WHOLE, 0, 0)] * len(kraus) if scaled is None else map(string_of, scaled)
            self.entries.append((kraus if scaled is None else scaled).ravel())
        return self.known[name]

    def arrays(self) -> list[np.ndarray]:
        """What is known of all, as the kernel's arrays."""
        flat, squares = (np.concatenate([*x, np.zeros(1)]) for x in (self.entries, self.squares))
        parts = (flat.real, flat.imag, squares.real, squares.imag, self.fixed)
        columns = np.array(self.strings, np.int64).reshape(-1, 3).T
        return [*(np.array(part, float) for part in parts), *map(np.ascontiguousarray, columns)]


def string_of(u: np.ndarray) -> tuple[int, int, int]:
    """The kind of a unitary matrix; of ``p X^x Z^z``, a Pauli string times a phase, the masks x and z.

    The phase is the entry in the first column, at row x.
    """
    x, index = int(np.abs(u[:, 0]).argmax()), np.arange(len(u))
    signs = u[index ^ x, index] / u[x, 0] if u[x, 0] else np.zeros(len(u))
    z = sum(bit for bit in 1 << np.arange(len(u).bit_length() - 1) if signs[bit] == -1)
    exact = np.zeros_like(u)
    exact[index ^ x, index] = u[x, 0] * (-1.0) ** np.array([(i & z).bit_count() for i in index.tolist()])
    if not np.array_equal(u, exact):
        return WHOLE, 0, 0
    return (PAULI if x or z or u[0, 0] != 1 else IDLE), x, int(z)


def noise_of(plan: Plan, kraus: Sequence[np.ndarray]) -> Bundle:
    """Steps, sites and items, with the Kraus matrices (K, d, d) of each site."""
    ready, matrices = prepared(plan), Matrices()
    sites, places = ready.sites.copy(), [(len(u), *matrices.place(u)) for u in kraus]
    for name, column in zip(("count", "start", "first", "mixed"), zip(*places, strict=True), strict=False):
        sites[name] = column
    return Bundle(Noise(ready.steps, sites, ready.items, ready.pool, *matrices.arrays()))


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
    kernels.jumps(psi.dtype).measure(np.ascontiguousarray(psi), which, uniforms, found)
    return found
