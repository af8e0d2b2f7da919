"""A noisy circuit's plan as the tables of `qad.circuit.compiled.jump_tables`, made once."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from qad.circuit.compiled.blocking import Scheduler, grouped
from qad.circuit.compiled.encoding import Gate, deposit, lowest, mask
from qad.circuit.compiled.jump_tables import (
    CNOT,
    CZ,
    FIXED,
    FLIP,
    MATRIX,
    PHASE,
    ROTATION,
    SITE,
    SWAP,
    Item,
    Site,
    Step,
)
from qad.circuit.compiled.tables import FLIP as FLIPPED
from qad.circuit.compiled.tables import PHASES, Instruction, Round, Tables, table
from qad.native import Bundle

if TYPE_CHECKING:
    from qad.circuit.jumps import Plan

STRETCH = 20  # steps: what trajectories have in common within a stretch is not shared


class Prepared(NamedTuple):
    """A plan as the kernel reads it: a round for each step, and one for each stretch, on the whole state."""

    tables: Bundle
    constants: np.ndarray
    steps: np.ndarray
    sites: np.ndarray  # where they are; their Kraus matrices change from call to call
    items: np.ndarray
    pool: np.ndarray
    widest: int  # rows of the largest matrix


@lru_cache(maxsize=64)
def prepared(plan: Plan) -> Prepared:
    """The tables of a plan."""
    scheduler, n = Scheduler(plan.program), plan.program.n
    encoder, inner, gates = scheduler.encoder, {bit: bit for bit in range(n)}, scheduler.gates
    rounds, items, pool = [], [], []

    def add_round(first, last, single):
        begin = len(encoder.code)
        for group in grouped(gates[first:last]):
            alone = single(group[0]) if len(group) == 1 else None
            if alone is None:
                encoder.add(group, inner)
            else:
                encoder.code.append(alone)
        rounds.append(Round(begin, len(encoder.code), 0, 0, 1 << n, 1))

    for step in plan.steps:
        add_round(step.first, step.last, alone)
    rows = [Step(s.mask, s.value, s.site) for s in plan.steps]
    for begin, end in stretches(plan):
        inside, first = plan.steps[begin:end], len(items)
        for step in inside:
            items += [item(gate, pool) for gate in gates[step.first : step.last]]
            items += [Item(SITE, start=step.site)] * (step.site >= 0)
        sites = sum(step.site >= 0 for step in inside)
        rows[begin] = Step(0, 0, inside[0].site, end - begin, sites, len(rounds), first, len(items))
        add_round(inside[0].first, inside[-1].last, lambda gate: None)
    sizes = [len(op.targets) for op in plan.program.instructions if op.kind == "matrix"]
    sites = layout(plan, pool)
    return Prepared(
        Bundle(Tables(table(Round, rounds), *encoder.tables(), n)),
        np.concatenate(scheduler.constants or [np.zeros(0)]).astype(complex),
        table(Step, rows),
        table(Site, sites),
        table(Item, items),
        np.array(pool, np.int64),
        2 ** max([len(o.qubits) for o in plan.sites] + sizes, default=0),
    )


def stretches(plan: Plan) -> list[tuple[int, int]]:
    """Several steps without conditions and measurements, each as the first and the one after the last."""
    found, begin = [], 0
    for i, step in enumerate((*plan.steps, None)):
        free = step is not None and step.mask == step.value == 0
        free = free and (step.site < 0 or plan.sites[step.site].gate.name == "channel")
        if not free or i - begin == STRETCH:
            if i - begin > 1:
                found.append((begin, i))
            begin = i if free else i + 1
    return found


def alone(gate: Gate) -> Instruction | None:
    """The instruction of a diagonal gate or a CNOT that stands alone, as between two channels."""
    if gate.op.kind == "diagonal" and len(gate.targets) == 1 and not gate.controls:
        return Instruction(PHASES, bit=gate.targets[0], start=gate.start)
    if gate.op.kind == "flip" and len(gate.controls) == 1:
        return Instruction(FLIPPED, bit=gate.targets[0], control=gate.controls[0])
    return None


def item(gate: Gate, pool: list[int]) -> Item:
    """A gate as a Pauli string meets it; its bits are appended to the pool."""
    op, controls, bits = gate.op, gate.controls, gate.targets
    kind = {"flip": FLIP, "swap": SWAP, "diagonal": PHASE, "pauli": ROTATION, "matrix": MATRIX}[op.kind]
    sign = kind == PHASE and len(bits) == 1 and np.array_equal(op.constant, [1.0, -1.0])
    if len(controls) == 1 and (kind == FLIP or sign):
        kind, bits, controls = (CNOT if kind == FLIP else CZ), controls + bits, []
    elif controls and kind in (FLIP, SWAP):
        kind = FIXED
    begin = len(pool)
    pool += bits
    flipped, signed = (mask(gate.flipped), mask(gate.signed)) if kind == ROTATION else (0, 0)
    return Item(kind, gate.start, len(bits), begin, mask(bits), mask(controls), signed, flipped)


def layout(plan: Plan, pool: list[int]) -> list[Site]:
    """The rows of sites, without what follows from their Kraus matrices; their targets are appended to the pool."""
    n, rows = plan.program.n, []
    for o in plan.sites:
        at = [n - 1 - q for q in o.qubits]
        into, begin = 0 if o.into is None else 1 << o.into, len(pool)
        rows.append(Site(len(at), begin, mask(at), begin + len(at), lowest(mask(at)), 0, 0, 0, 0, into))
        pool += [*at, *deposit(at[::-1])]
    return rows
