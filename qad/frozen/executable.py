"""From a recorded program to something that runs."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from qad.core.waiting import waiting
from qad.frozen.compiled import grouping
from qad.frozen.memory_plan import Arena
from qad.frozen.out_argument import allocates
from qad.frozen.passes import improve
from qad.frozen.placement import Places
from qad.frozen.program import Var
from qad.frozen.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from qad.frozen.program import Program

    Build: TypeAlias = Callable[[list[Any]], Any]  # from the leaves of the result to the result
    Run: TypeAlias = Callable[[Sequence[Any]], Any]  # from the values of the inputs to the result

MANY = 100  # steps, which are planned in milliseconds


def executable(program: Program, passes: Collection[str], build: Build) -> tuple[Program, Run]:
    """The program as it is run, and the function from input values to the result, made by `build` of its leaves.

    Without passes the recorded calls are repeated as they were, and so they are where what is written depends on
    layouts in memory; with them the program is improved, and run in workspaces: as many as there are threads that run
    it at once.
    """
    if passes == () or program.by_layout():
        return program, lambda values: build(fresh(program, program.run(values)))
    with (
        waiting("planning a frozen function, once for arguments of these shapes")
        if len(program.steps) > MANY
        else nullcontext()
    ):
        program = improve(program.copy(), passes)
    return program, pooled(program, build, "compiled" in passes and grouping.has_loop())


def pooled(program: Program, build: Build, compiled: bool) -> Run:
    """The function that runs a program in a workspace of its own; free ones wait in a list (its methods are atomic)."""
    places = Places(program, compiled)
    arena = Arena(places)
    if places.rows:
        from qad.frozen.compiled.kernel import ready

        ready(row.operation for rows in places.rows.values() for row in rows)  # in the first call, not in the second
        program.counts["compiled"] = len(places.rows)
    free, inputs = [], len(program.inputs)
    take, give_back = free.pop, free.append

    def run(values):
        try:
            workspace = take()
        except IndexError:
            workspace = Workspace(places, arena, program.kinds)
        registers, moving = workspace.registers, workspace.moving
        try:
            if moving:
                registers[:inputs] = values
            for buffer, i in workspace.copies:
                buffer[...] = values[i]
            for fn, args in workspace.instructions:
                fn(*args)
            return build([fn(*args) for fn, args in workspace.collect])
        finally:
            if moving:
                registers[:moving] = [None] * moving
            give_back(workspace)

    return run


def fresh(program: Program, results: Sequence[Any]) -> list[Any]:
    """Results that share no memory with inputs, constants, what a step has kept, or each other."""
    made, seen, owned = program.definitions(), set(), []
    for var, x in zip(program.outputs, results, strict=True):
        own = type(var) is Var and var in made and allocates(made[var]) and id(x) not in seen
        if isinstance(x, np.ndarray) and not (own and x.flags.c_contiguous):
            x = x.copy()
        seen.add(id(x))
        owned.append(x)
    return owned
