"""The compiled engine, with the interface of `qad.circuit.engines.reference`; imported at first use.

It serves one component (first derivatives) and two (second derivatives,
`qad.circuit.engines.compiled.dual_numbers`).  The backward pass of circuits with operators that are not unitary is left
to the engine in NumPy, which stores states.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.engines import reference
from qad.circuit.engines.compiled import dual_numbers, kernels
from qad.circuit.engines.compiled.blocking import schedule_of
from qad.circuit.engines.compiled.entries import REAL_OF, angle_tables, divide, entries_of, of_vector
from qad.circuit.engines.compiled.launch import run
from qad.circuit.engines.compiled.terms import terms_of
from qad.native import readable
from qad.native.sharing import in_rounds, share, threads_for

if TYPE_CHECKING:
    from typing import Any

    from qad.circuit.observables.masks import Strings
    from qad.circuit.program.ir import CircuitProgram


def serves(program: CircuitProgram, components: int) -> bool:
    """Whether this engine serves one component, or two in directions in which gates remain unitary."""
    return components == 1 or (components == 2 and program.by_angles)


def forward(program: CircuitProgram, x: np.ndarray, psi: np.ndarray) -> np.ndarray:
    """The final states (J, B, 2**n) from parameters or entries (J, B, E) and initial states."""
    if len(x) == 2:
        return dual_numbers.forward(program, x, psi)
    out = np.zeros((max(x.shape[1], psi.shape[1]), 2**program.n), psi.dtype)
    out[:, : psi.shape[2]] = psi[0]
    run(kernels.rounds(psi.dtype).forward, program, (out,), (entries_of(program, x[0], psi.dtype),))
    return out[None]


def backward(
    program: CircuitProgram, x: np.ndarray, psi: np.ndarray, out: np.ndarray, g: np.ndarray, owned: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Cotangents of parameters or entries and of the initial state, from the final states and their cotangents.

    These are overwritten where they are `owned`.
    """
    if not program.unitary:
        return reference.backward(program, x, psi, out, g)
    if len(x) == 2:
        return dual_numbers.backward(program, x, psi, out, g)
    entries = entries_of(program, x[0], out.dtype, inverse=True)
    state, dual = np.array(out[0], order="C"), conjugated(g[0], out.dtype, owned)
    every = kernels.rounds(out.dtype)
    slopes = run(every.backward, program, (state, dual), (entries,), (entries.shape[2], 2))
    if x.shape[1] < len(slopes):
        slopes = slopes.sum(0, keepdims=True)
    if program.by_angles:
        found = np.zeros(x.shape)
        every.collect(readable(x[0]), angle_tables(program)[0], entries, slopes, found[0])
    else:
        schedule = schedule_of(program)
        divide(schedule, slopes, entries)
        found = of_vector(schedule, slopes)[None]
    return found, reference.summed(dual[None, :, : psi.shape[2]].conj(), psi)


def conjugated(g: np.ndarray, dtype: np.dtype[Any], owned: bool) -> np.ndarray:
    """The conjugate of cotangents (B, 2**n), written over them if they are owned and of this dtype."""
    fits = owned and g.dtype == dtype and g.flags.c_contiguous and g.flags.writeable
    return np.conjugate(g, out=g if fits else np.empty(g.shape, dtype))


def apply_sum(c: np.ndarray, psi: np.ndarray, strings: Strings) -> np.ndarray:
    """``H psi`` for coefficients (T,) and states (B, 2**n)."""
    psi, out = readable(psi), np.zeros(psi.shape, psi.dtype)
    table, w = terms_of(strings), weights_of(c, psi, strings)
    parts = len(psi) << strings.n - table.fields.bits
    threads = threads_for(parts, len(table.fields.x) * psi.size)
    kernel = kernels.sums[w.dtype.kind](psi.dtype).apply_sum

    def work(_, t):
        kernel(psi, out, *share(parts, t, threads), table, w, np.empty(1 << table.fields.bits, w.dtype))

    in_rounds(work, [0], threads)
    return out


def energy_of(c: np.ndarray, psi: np.ndarray, strings: Strings) -> np.ndarray:
    """``<psi|H|psi>`` (B,) for real coefficients (T,)."""
    psi = readable(psi)
    table, w = terms_of(strings), weights_of(c, psi, strings)
    size = 1 << table.fields.bits
    sums = np.empty((len(psi), 2**strings.n // size))
    threads = threads_for(sums.size, len(table.fields.x) * psi.size)
    kernel = kernels.sums[w.dtype.kind](psi.dtype).energy_of_sum

    def work(_, t):
        kernel(psi, *share(sums.size, t, threads), table, w, sums, np.empty(size, w.dtype), np.empty(size, psi.dtype))

    in_rounds(work, [0], threads)
    found = sums[:, 0] if sums.shape[1] == 1 else sums.sum(-1)
    return found.astype(REAL_OF[psi.dtype], copy=False)


def weights_of(c: np.ndarray, psi: np.ndarray, strings: Strings) -> np.ndarray:
    """The weights of strings in the order of their groups, in the precision of the state; real if all are."""
    _, order, _, _, phases = strings.tables
    w = c.take(order) * phases
    return w.astype(REAL_OF[psi.dtype] if w.dtype.kind == "f" else psi.dtype, copy=False)
