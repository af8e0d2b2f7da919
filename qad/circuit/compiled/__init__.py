"""The engine compiled by Numba, with the interface of `qad.circuit.reference`; imported at first use.

It serves one component (first derivatives).  Circuits with operators that are not unitary are taken back by the
engine in NumPy, which stores states.
"""

import numpy as np

from qad.circuit import reference
from qad.circuit.compiled import angles, drive, terms
from qad.circuit.compiled.schedule import schedule_of
from qad.circuit.compiled.threads import in_rounds, share, threads_for

REAL_OF = {np.dtype(np.complex128): np.dtype(np.float64), np.dtype(np.complex64): np.dtype(np.float32)}


def forward(program, real, complex_, psi):
    """The final states (1, B, 2**n) from the numbers of the gates and initial states."""
    return evolved(program, *numbers_of(schedule_of(program), real, complex_, psi.dtype), psi)


def backward(program, real, complex_, psi, out, g, owned=False):
    """Cotangents of the two vectors and of the initial state, from the final states and their cotangents.

    These are overwritten where they are `owned`.
    """
    if not program.unitary:
        return reference.backward(program, real, complex_, psi, out, g)
    schedule = schedule_of(program)
    vr, vi = numbers_of(schedule, real, complex_, out.dtype)
    slopes, dual = taken_back(program, vr, vi, out, g, owned)
    return (
        *split(schedule, slopes, vr, vi, real, complex_),
        reference.summed(dual[None, :, : psi.shape[2]].conj(), psi),
    )


def forward_angles(program, theta, psi):
    """The final states (1, B, 2**n) of a circuit all of whose numbers follow from parameters (B, P)."""
    return evolved(program, *numbers_of_angles(program, theta, psi.dtype), psi)


def backward_angles(program, theta, psi, out, g, owned=False):
    """Cotangents of the parameters (B, P) and of the initial state; `g` is overwritten where it is `owned`."""
    vr, vi = numbers_of_angles(program, theta, out.dtype)
    slopes, dual = taken_back(program, vr, vi, out, g, owned)
    found, schedule = np.zeros(theta.shape), schedule_of(program)
    if len(vr) < len(slopes):
        slopes = slopes.sum(0, keepdims=True)
    angles.collect(theta, *angle_tables(program), vr, vi, slopes, schedule.diagonal, schedule.parity, found)
    return found, reference.summed(dual[None, :, : psi.shape[2]].conj(), psi)


def evolved(program, vr, vi, psi):
    """The final states (1, B, 2**n) from real and imaginary parts (B, E) of all numbers."""
    batch = max(len(vr), psi.shape[1])
    out = np.zeros((batch, 2**program.n), psi.dtype)
    out[:, : psi.shape[2]] = psi[0]
    tables, widest, chunks = tables_of(program)
    threads = threads_for(batch if batch > 1 else chunks, len(tables[1]) * out.size)

    def work(r, thread):
        drive.forward(out, r, *share(batch * chunks, thread, threads), tables, vr, vi, widest)

    in_rounds(work, range(len(tables[0])), threads)
    return out[None]


def taken_back(program, vr, vi, out, g, owned):
    """Sums (B, E, 2) of the cotangents of all numbers, and conjugate cotangents (B, 2**n) of the initial states."""
    state, dual = np.array(out[0]), conjugated(g[0], out.dtype, owned)
    batch, schedule = len(state), schedule_of(program)
    inverse, signs = schedule.turned, schedule.signs.astype(vr.dtype, copy=False)
    vr, vi = vr[:, inverse] * signs[0], vi[:, inverse] * signs[1]
    tables, widest, chunks = tables_of(program)
    threads = threads_for(batch if batch > 1 else chunks, len(tables[1]) * out.size)
    slopes = np.zeros((batch if batch > 1 else threads, vr.shape[1], 2))  # no two threads share a row

    def work(r, thread):
        first, last = share(batch, thread, threads) if batch > 1 else share(chunks, thread, threads)
        rows = slopes if batch > 1 else slopes[thread : thread + 1]
        scale = chunks if batch > 1 else 1
        drive.backward(state, dual, r, scale * first, scale * last, tables, vr, vi, rows, widest)

    in_rounds(work, range(len(tables[0]))[::-1], threads)
    return (slopes if batch > 1 else slopes.sum(0, keepdims=True)), dual


def conjugated(g, dtype, owned):
    """The conjugate of cotangents (B, 2**n), in their own memory where that may be had."""
    fits = owned and g.dtype == dtype and g.flags.c_contiguous and g.flags.writeable
    return np.conjugate(g, out=g if fits else np.empty(g.shape, dtype))


def tables_of(program):
    """The kernels' tables, the number of rows of the largest matrix, and the number of chunks."""
    if "tables" not in program.store:
        s = schedule_of(program)
        widest = 2 ** max((len(op.targets) for op in program.instructions if op.kind == "matrix"), default=0)
        tables = (s.rounds, s.code, s.members, s.aux, s.offsets, s.bases, s.bits)
        program.store["tables"] = tables, widest, int(s.rounds[0, 5])
    return program.store["tables"]


def numbers_of(schedule, real, complex_, dtype):
    """Real and imaginary parts (B, E) of all numbers in the order of the schedule, as precise as the state."""
    batch = max(real.shape[1], complex_.shape[1])
    constant, r, c = len(schedule.constants), real.shape[2], complex_.shape[2]
    vr = np.empty((batch, constant + r + c), REAL_OF[dtype])
    vi = np.zeros_like(vr)
    vr[:, :constant], vi[:, :constant] = schedule.constants.real, schedule.constants.imag
    vr[:, constant : constant + r] = real[0]
    vr[:, constant + r :], vi[:, constant + r :] = complex_[0].real, complex_[0].imag
    return vr, vi


def angle_tables(program):
    """Slots, frequencies, places and coefficients of all gates of one parameter."""
    if "angles" not in program.store:
        parts = [p for p in (program.real, program.complex) if p is not None]
        counts = np.concatenate([np.bincount(p.gate) for p in parts]) if parts else np.zeros(0, np.int64)
        coefficients = [np.stack([p.constant, p.cosine, p.sine]).astype(complex) for p in parts]
        program.store["angles"] = (
            np.concatenate([p.slots for p in parts] or [np.zeros(0, np.intp)]),
            np.concatenate([p.frequencies for p in parts] or [np.zeros(0)]),
            np.concatenate([[0], np.cumsum(counts)]),
            np.ascontiguousarray(np.concatenate(coefficients or [np.zeros((3, 0), complex)], 1)),
        )
    return program.store["angles"]


def numbers_of_angles(program, theta, dtype):
    """Real and imaginary parts (B, E) of all numbers, from parameters (B, P)."""
    schedule, tables = schedule_of(program), angle_tables(program)
    constant = len(schedule.constants)
    vr = np.empty((len(theta), constant + tables[3].shape[1]), REAL_OF[dtype])
    vi = np.empty_like(vr)
    vr[:, :constant], vi[:, :constant] = schedule.constants.real, schedule.constants.imag
    angles.fill(theta, *tables, vr, vi)
    return vr, vi


def split(schedule, slopes, vr, vi, real, complex_):
    """Cotangents of the real and of the complex vector (1, B, E) from `slopes` (B, E, 2) of all numbers."""
    u, v = slopes[..., 0], slopes[..., 1]
    if len(places := schedule.diagonal):  # sums with the gate itself in them
        p, q, x, y = vr[:, places], vi[:, places], u[:, places], v[:, places]
        u[:, places], v[:, places] = x * p + y * q, y * p - x * q
    if len(plus := schedule.parity):
        c, s, minus = vr[:, plus], vr[:, plus + 1], plus + 1
        x, y, p, q = u[:, plus], v[:, plus], u[:, minus], v[:, minus]  # over even and over odd parity
        u[:, plus], u[:, minus] = c * (x + p) - s * (y - q), c * (y - q) + s * (x + p)
    constant, r = len(schedule.constants), real.shape[2]
    found = u[:, constant : constant + r], u[:, constant + r :] + 1j * v[:, constant + r :]
    return tuple(reference.summed(part[None], vector) for part, vector in zip(found, (real, complex_), strict=True))


def apply_sum(c, psi, strings):
    """``H psi`` for coefficients (T,) and states (B, 2**n)."""
    x, z, w, starts, bits = terms_of(c, psi, strings)
    psi = np.ascontiguousarray(psi)
    out = np.zeros(psi.shape, np.result_type(psi.dtype, w.dtype))
    parts = len(psi) << strings.n - bits
    threads = threads_for(parts, len(x) * psi.size)
    in_rounds(lambda _, t: terms.apply(psi, out, *share(parts, t, threads), bits, x, z, w, starts), [0], threads)
    return out


def energy_of(c, psi, strings):
    """``<psi|H|psi>`` (B,) for real coefficients (T,)."""
    x, z, w, starts, bits = terms_of(c, psi, strings)
    psi = np.ascontiguousarray(psi)
    sums = np.empty((len(psi), 1 << strings.n - bits))
    threads = threads_for(sums.size, len(x) * psi.size)
    in_rounds(
        lambda _, t: terms.energy(psi, *share(sums.size, t, threads), bits, x, z, w, starts, sums), [0], threads
    )
    return sums.sum(-1).astype(psi.real.dtype)


def terms_of(c, psi, strings):
    """The kernels' tables of a sum: flips, signs and weights by groups, where these start, and the chunk's size."""
    x, order, z, starts, phases = strings.tables
    w = c[order] * phases if phases.dtype.kind == "f" and c.dtype.kind == "f" else (c[order] * phases).astype(complex)
    return x, z, w.astype(psi.real.dtype if w.dtype.kind == "f" else psi.dtype), starts, min(strings.n, terms.BITS)
