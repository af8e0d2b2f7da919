"""How the kernel of trajectories is called: the tables of a plan, its Kraus matrices, and room for each thread."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from qad.circuit.compiled import kernels
from qad.circuit.compiled.blocking import Scheduler, grouped
from qad.circuit.compiled.encoding import Gate, deposit, lowest, mask
from qad.circuit.compiled.entries import REAL_OF, entries_of
from qad.circuit.compiled.jump_kernels import IDLE, PRODUCT, WHOLE, Noise, Site, Step
from qad.circuit.compiled.launch import room
from qad.circuit.compiled.tables import FLIP, PHASES, Instruction, Round, Tables, table
from qad.circuit.jumps import unitaries
from qad.native import Bundle, readable
from qad.native.sharing import in_rounds, share, threads_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.circuit.jumps import Plan


STRETCH = 10  # steps: longer ones are seldom without an event at errors of a percent


class Prepared(NamedTuple):
    """A plan as the kernel reads it: one round for each step, on the whole state."""

    tables: Bundle
    constants: np.ndarray
    steps: np.ndarray
    sites: np.ndarray  # where they are; their Kraus matrices change from call to call
    pool: np.ndarray
    widest: int  # rows of the largest matrix


@lru_cache(maxsize=64)
def prepared(plan: Plan) -> Prepared:
    """The tables of a plan."""
    scheduler, n = Scheduler(plan.program), plan.program.n
    encoder, inner = scheduler.encoder, {bit: bit for bit in range(n)}
    rounds = []
    for step in plan.steps:
        first = len(encoder.code)
        for group in grouped(scheduler.gates[step.first : step.last]):
            alone = single(group[0]) if len(group) == 1 else None
            if alone is None:
                encoder.add(group, inner)
            else:
                encoder.code.append(alone)
        rounds.append(Round(first, len(encoder.code), 0, 0, 1 << n, 1))
    rows = [Step(s.mask, s.value, s.site) for s in plan.steps]
    for begin, end in stretches(plan):
        rows[begin] = rows[begin]._replace(ahead=end - begin, quiet=len(rounds))
        first = len(encoder.code)
        for group in grouped(scheduler.gates[plan.steps[begin].first : plan.steps[end - 1].last]):
            encoder.add(group, inner)
        rounds.append(Round(first, len(encoder.code), 0, 0, 1 << n, 1))
    sizes = [len(op.targets) for op in plan.program.instructions if op.kind == "matrix"]
    return Prepared(
        Bundle(Tables(table(Round, rounds), *encoder.tables(), n)),
        np.concatenate(scheduler.constants or [np.zeros(0)]).astype(complex),
        table(Step, rows),
        *layout(plan),
        2 ** max([len(o.qubits) for o in plan.sites] + sizes, default=0),
    )


def stretches(plan: Plan) -> list[tuple[int, int]]:
    """Several steps without conditions and measurements, for trajectories to which nothing happens in them."""
    found, begin = [], 0
    for i, step in enumerate((*plan.steps, None)):
        free = step is not None and step.mask == step.value == 0
        free = free and (step.site < 0 or plan.sites[step.site].gate.name == "channel")
        if not free or i - begin == STRETCH:
            if i - begin > 1:
                found.append((begin, i))
            begin = i if free else i + 1
    return found


def single(gate: Gate) -> Instruction | None:
    """The instruction of a diagonal gate or a CNOT that stands alone, as between two channels."""
    if gate.op.kind == "diagonal" and len(gate.targets) == 1 and not gate.controls:
        return Instruction(PHASES, bit=gate.targets[0], start=gate.start)
    if gate.op.kind == "flip" and len(gate.controls) == 1:
        return Instruction(FLIP, bit=gate.targets[0], control=gate.controls[0])
    return None


class Matrices:
    """The Kraus matrices of all sites, each distinct channel once, with what the kernel asks of them."""

    entries: list[np.ndarray]
    squares: list[np.ndarray]
    fixed: list[float]
    kinds: list[int]
    known: dict[bytes, tuple[int, int, int]]
    size: int

    def __init__(self):
        self.entries, self.squares, self.fixed, self.kinds, self.known, self.size = [], [], [], [], {}, 0

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
            for u in kraus if scaled is None else scaled:
                parts = factors(u)
                idle = scaled is not None and np.array_equal(u, np.eye(len(u)))
                self.kinds.append(IDLE if idle else WHOLE if parts is None else PRODUCT)
                self.entries.append(np.resize(u if parts is None else parts, u.size))
        return self.known[name]

    def arrays(self) -> list[np.ndarray]:
        """What is known of all, as the kernel's arrays."""
        flat, squares = (np.concatenate([*x, np.zeros(1)]) for x in (self.entries, self.squares))
        parts = (flat.real, flat.imag, squares.real, squares.imag, self.fixed)
        return [*(np.array(part, float) for part in parts), np.array(self.kinds, np.int64)]


def factors(u: np.ndarray) -> np.ndarray | None:
    """The matrices (k, 2, 2) whose Kronecker product a matrix on k qubits is, if it is one."""
    if len(u) == 2:
        return u[None]
    half = len(u) // 2
    rows = u.reshape(2, half, 2, half).swapaxes(1, 2).reshape(4, -1)
    i, j = np.unravel_index(np.abs(rows).argmax(), rows.shape)
    if rows[i, j] == 0:
        return None
    left, right = rows[:, j] / rows[i, j], rows[i]
    rest = factors(right.reshape(half, half))
    if rest is None or np.abs(np.outer(left, right) - rows).max() > 1e-15:
        return None
    return np.concatenate([left.reshape(1, 2, 2), rest])


def layout(plan: Plan) -> tuple[np.ndarray, np.ndarray]:
    """The table of sites, without what follows from their Kraus matrices, and the pool of their targets."""
    n, pool, rows = plan.program.n, [], []
    for o in plan.sites:
        at = [n - 1 - q for q in o.qubits]
        into, begin = 0 if o.into is None else 1 << o.into, len(pool)
        rows.append(Site(len(at), begin, mask(at), begin + len(at), lowest(mask(at)), 0, 0, 0, 0, into))
        pool += [*at, *deposit(at[::-1])]
    return table(Site, rows), np.array(pool, np.int64)


def noise_of(plan: Plan, kraus: Sequence[np.ndarray]) -> Bundle:
    """Steps and sites, with the Kraus matrices (K, d, d) of each site."""
    ready, matrices = prepared(plan), Matrices()
    sites, places = ready.sites.copy(), [(len(u), *matrices.place(u)) for u in kraus]
    for name, column in zip(("count", "start", "first", "mixed"), zip(*places, strict=True), strict=False):
        sites[name] = column
    return Bundle(Noise(ready.steps, sites, ready.pool, *matrices.arrays()))


def draw(
    plan: Plan, real: np.ndarray, complex_: np.ndarray, kraus: Sequence[np.ndarray], uniforms: np.ndarray,
    dtype: np.dtype,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """As `qad.circuit.jumps.draw`."""
    tables, constants, *_, widest = prepared(plan)
    noise, shots, n = noise_of(plan, kraus), len(uniforms), plan.program.n
    vr, vi = entries_of(constants, real, complex_, dtype)
    out, choices = np.empty((shots, 2**n), dtype), np.full((shots, max(1, uniforms.shape[1])), -1)
    order, scratch = np.empty(shots, np.int64), np.empty(shots, np.int64)
    most = max((len(u) for u in kraus), default=1)
    depth = 1 + (most - 1) * shots.bit_length()  # all groups but the largest are at most half of what they leave
    threads = threads_for(shots, len(plan.steps) * out.size)
    kernel = kernels.jumps(dtype).jump
    real_type = REAL_OF[dtype]

    def work(_, t):
        chunk, rows, sources = room(n, widest, 1, dtype)
        kernel(
            out, *share(shots, t, threads), tables, vr, vi, noise, uniforms, choices, order, scratch,
            np.empty((depth, 4), np.int64), *(np.empty((depth, 2**n), real_type) for _ in range(2)), chunk, rows,
            sources, *(np.empty(widest**2, real_type) for _ in range(2)), np.empty((widest**2, 2)), np.empty(most),
            *(np.empty(most, np.int64) for _ in range(2)),
        )  # fmt: skip

    in_rounds(work, [0], threads)
    if not noise.fields.sites["mixed"].all():
        out /= np.sqrt((out.real**2 + out.imag**2).sum(-1, keepdims=True))
    return out, choices[:, : uniforms.shape[1]]


def measured(psi: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    """As `qad.circuit.jumps.measured`."""
    found = np.empty(len(psi), np.int64)
    kernels.jumps(psi.dtype).measure(readable(psi), uniforms, found)
    return found
