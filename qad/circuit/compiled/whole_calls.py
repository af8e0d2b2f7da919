"""How Python calls the kernels of `qad.circuit.compiled.whole_kernels`."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.compiled import kernels, whole_tangents
from qad.circuit.compiled.entries import REAL_OF, angle_tables
from qad.circuit.compiled.launch import tables_of
from qad.circuit.compiled.terms import BITS, terms_of
from qad.circuit.compiled.whole_kernels import ROWS
from qad.native import readable
from qad.native.sharing import WORTH, in_rounds, share, threads_for

if TYPE_CHECKING:
    from typing import Any

    from qad.circuit.ir import Program
    from qad.circuit.pauli_masks import Strings
    from qad.native.kernels import Bundle


class Whole:
    """A small program and a sum of strings, with all that the kernels are given besides parameters and weights."""

    __slots__ = (
        "dtype",
        "kernels",
        "real",
        "order",
        "phases",
        "gates",
        "tables",
        "terms",
        "size",
        "width",
        "rows",
        "entries",
    )

    dtype: np.dtype[Any]
    kernels: Any
    real: np.dtype[Any]
    order: np.ndarray
    phases: np.ndarray
    gates: list[Bundle]
    tables: Bundle
    terms: Bundle
    size: int
    width: int
    rows: tuple[int, int, int]
    entries: tuple[int, int]

    def __init__(self, program: Program, strings: Strings, dtype: np.dtype[Any]):
        self.dtype, self.kernels, self.real = dtype, kernels.wholes(dtype), REAL_OF[dtype]
        _, self.order, _, _, self.phases = strings.tables
        self.gates, (self.tables, widest), self.terms = angle_tables(program), tables_of(program), terms_of(strings)
        self.size, fields = 1 << program.n, self.gates[0].fields
        count = len(fields.constants) + fields.polynomials.shape[1]
        self.width, self.rows, self.entries = max(self.size, count), (2, widest, 16), (count, 2)

    def weights(self, c: np.ndarray) -> np.ndarray:
        """The weights of the strings in the order of their groups, from coefficients (T,): an array of its own."""
        return (c[self.order] * self.phases).astype(self.real, copy=False)

    def rooms(self, count: int = ROWS) -> tuple[np.ndarray, ...]:
        """Memory of one call's own, with so many rows: others may be under way on other threads."""
        return np.empty((count, self.width), self.real), np.empty(self.rows, self.real), np.empty(self.size, np.int32)

    def energy(self, theta: np.ndarray, w: np.ndarray) -> np.floating[Any]:
        """The energy of parameters (P,)."""
        out = np.empty(1)
        theta = readable(theta)
        self.kernels.energy_of_angles(theta, self.gates[0], self.tables, self.terms, w, *self.rooms(), out)
        return self.real.type(out[0])

    def slopes(self, theta: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Its derivatives (P,)."""
        out, sums, theta = np.zeros(theta.shape), np.zeros(self.entries), readable(theta)
        self.kernels.slopes_of_angles(theta, *self.gates, self.tables, self.terms, w, *self.rooms(), sums, out)
        return out

    def curvatures(self, theta: np.ndarray, directions: np.ndarray, w: np.ndarray) -> np.ndarray:
        """The Hessian times directions (B, P)."""
        kernel, out = kernels.curvatures(self.dtype).curvatures_of_angles, np.zeros(directions.shape)
        theta, directions, count = readable(theta), readable(directions), len(directions)
        threads = threads_for(count, 2 * count * self.size * len(self.tables.fields.code))

        def work(_, t):
            own = slice(*share(count, t, threads))
            rooms = *self.rooms(whole_tangents.ROWS), np.empty((2, len(self.gates[0].fields.slots)))
            given = *self.gates, self.tables, self.terms, w, *rooms, np.empty((2, *self.entries))
            kernel(theta, directions[own], *given, out[own])

        in_rounds(work, [0], threads)
        return out


def fits(program: Program) -> bool:
    """Whether a program is small: all entries follow from parameters, and threads are not worth starting for a state.

    `slopes_of_angles` makes the state again, which up to there takes less than the calls that it saves (measured with
    ten layers: four qubits 0.3, eight 0.6, nine 0.8 of the time).
    """
    return program.by_angles and program.n <= BITS and len(program.instructions) << program.n <= WORTH


@lru_cache(maxsize=256)
def whole(program: Program, strings: Strings, dtype: np.dtype[Any]) -> Whole | None:
    """What answers for a program in one call, if it is small and the weights of all strings are real."""
    return Whole(program, strings, dtype) if fits(program) and strings.tables[-1].dtype.kind == "f" else None
