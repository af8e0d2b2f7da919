"""From a recorded program to something that runs.

A workspace holds the buffers, views and instructions with which one thread runs a program.  An instruction is a
function and its arguments, all made beforehand; a run is a loop over them.  Where an argument is known only in the run
(an input, something that a function allocated), the instruction goes through the registers.
"""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from qad.core.waiting import waiting
from qad.frozen.passes import improve
from qad.frozen.program.functions import allocates, written
from qad.frozen.program.program import Var, rebuilt
from qad.frozen.run.compiled import lowering
from qad.frozen.run.compiled.blocks import BLOCK, parts
from qad.frozen.run.memory_plan import MemoryPlan, aligned
from qad.frozen.run.placement import Places, laid_out

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from qad.frozen.program.program import Program

    Build: TypeAlias = Callable[[list[Any]], Any]  # from the leaves of the result to the result
    Run: TypeAlias = Callable[[Sequence[Any]], Any]  # from the values of the inputs to the result

MANY = 100  # steps, which are planned in milliseconds


def executable(program: Program, passes: Collection[str], build: Build, silent: bool) -> tuple[Program, Run]:
    """The program as it is run, and the function from input values to the result, made by `build` of its leaves.

    Without passes the recorded calls are repeated as they were, and so they are where what is written depends on
    layouts in memory; with them the program is improved, and run in workspaces: as many as there are threads that run
    it at once.  A silent one says nothing of floating-point errors, of which the function decides itself.
    """
    if passes == () or program.by_layout():
        run = partial(recorded, program, build)
    else:
        words = "planning a frozen function, once for arguments of these shapes"
        with waiting(words) if len(program.steps) > MANY else nullcontext():
            program = improve(program.copy(), passes)
        run = pooled(program, build, "compiled" in passes and lowering.has_loop())
    return program, partial(silently, run) if silent else run


def silently(run: Run, values: Sequence[Any]) -> Any:
    """`run` without warnings of floating-point errors."""
    with np.errstate(all="ignore"):
        return run(values)


def recorded(program: Program, build: Build, values: Sequence[Any]) -> Any:
    """The result by the calls that were recorded, on arguments in C order."""
    made, seen, owned = program.definitions(), set(), []
    results = program.run([np.asarray(x, order="C") if isinstance(x, np.ndarray) else x for x in values])
    for var, x in zip(program.outputs, results, strict=True):  # which share no memory with anything
        own = type(var) is Var and var in made and allocates(made[var]) and id(x) not in seen
        seen.add(id(x))
        owned.append(x if not isinstance(x, np.ndarray) or (own and x.flags.c_contiguous) else x.copy())
    return build(owned)


def pooled(program: Program, build: Build, compiled: bool) -> Run:
    """The function that runs a program in a workspace of its own; free ones wait in a list (its methods are atomic)."""
    places = Places(program, compiled)
    plan = MemoryPlan(places)
    if places.rows:
        from qad.frozen.run.compiled.kernel import ready

        ready(row.operation for rows in places.rows.values() for row in rows)  # in the first call, not in the second
        program.counts["compiled"] = len(places.rows)
    free, inputs = [], len(program.inputs)
    take, give_back = free.pop, free.append
    large = [i for i, var in enumerate(program.inputs) if var.kind == "array" and not places.static(var)]

    def run(values):
        try:
            workspace = take()
        except IndexError:
            workspace = Workspace(places, plan)
        registers, moving = workspace.registers, workspace.moving
        try:
            if moving:
                registers[:inputs] = values
                for i in large:
                    if not values[i].flags.c_contiguous:
                        registers[i] = values[i].copy()
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


class Workspace:
    """Buffers and instructions for one run at a time.

    Attributes
    ----------
    registers : list
    copies : list of (buffer, number of the input)
    instructions, collect : lists of (function, arguments)
        What is run in order, and what makes the leaves of the result.
    moving : int
        How many registers are filled in a run, inputs first; 0 where nothing is read from them.
    """

    def __init__(self, places: Places, plan: MemoryPlan):
        self.places: Places = places
        self.arrays: dict[Var, np.ndarray] = _arrays(places, plan)
        program, arrays = places.program, self.arrays
        self.number: dict[Var, int] = _numbers(program, arrays)
        filled = len(program.inputs) + sum(var not in arrays for var in list(self.number)[len(program.inputs) :])
        self.registers: list[Any] = [arrays.get(var) if i >= filled else None for var, i in self.number.items()]
        self.copies: list[tuple[Any, int]] = [(arrays[var], i) for i, var in enumerate(program.inputs) if var in arrays]
        steps = [step for step in program.steps if step.out not in places.views and step.out not in places.last]
        self.instructions: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []
        for in_loop, some in groupby(steps, lambda step: step.out in places.rows):
            run = list(some)
            self.instructions += self._tables(run) if in_loop else map(self._instruction, run)
        self.collect: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
            self._result(x, kind) for x, kind in zip(program.outputs, program.kinds, strict=True)
        ]
        used = any(self.registers is x for _, args in (*self.instructions, *self.collect) for x in args)
        self.moving: int = filled if used else 0

    def _tables(self, steps):
        """Calls of the compiled loop."""
        from qad.frozen.run.compiled.runs import instruction

        return [instruction(parts(steps, self.places), self.arrays, self.registers, self.number)]

    def _instruction(self, step):
        """The instruction of a step: a call of arrays that are known, or one that reads them from the registers."""
        arrays, number, registers, out = self.arrays, self.number, self.registers, self.arrays.get(step.out)
        if step.out in self.places.own:
            return _fill_own, (registers, number, step)
        if step.out in self.places.copies:  # into a buffer of another shape, through a view of the buffer
            source = step.reads()[0]
            out = out.reshape(source.shape)
            if source in arrays:
                return out.__setitem__, (..., arrays[source])
            return _copy_from, (registers, number[source], out)
        known = all(var in arrays for var in step.reads())
        if out is None and known:
            kwargs = rebuilt(step.kwargs, arrays.__getitem__)
            fn = partial(step.fn, **kwargs) if kwargs else step.fn
            return _store, (registers, number[step.out], fn, rebuilt(step.args, arrays.__getitem__))
        if out is None:
            return _fill, (registers, number, step)
        if known:
            return written(step, rebuilt(step.args, arrays.__getitem__), out)
        return _write, (registers, number, *written(step, step.args, out))

    def _result(self, x, kind):
        """The call that makes a leaf of the result: a new array, or a number of the kind that was recorded."""
        if type(x) is not Var:
            return _itself, (x,)
        if x in self.places.last:
            step = self.places.definitions[x]
            args = rebuilt(step.args, self.arrays.__getitem__)
            return (step.fn, args) if len(x.shape) < 2 else (_ordered, (step.fn, *args))
        array = self.arrays.get(x)
        if array is not None:
            return (array.copy, ()) if kind == "array" else (array.__getitem__, ((),))
        own = kind == "array" and x in self.places.results and self.places.allocated(x)
        return _taken, (self.registers, self.number[x], own, kind)


def _arrays(places, plan):
    """The array of every static Var: constants, buffers in one block of memory, and views of both."""
    memory = aligned(plan.size)
    arrays = dict(places.program.constants)
    for var, offset in plan.offsets.items():
        if var in places.local:
            arrays[var] = np.ndarray((BLOCK,), var.dtype, memory[offset:])
        else:
            arrays[var] = laid_out(memory[offset:], var, places.buffers.get(var))
    for var, step in places.views.items():
        arrays[var] = step.fn(*rebuilt(step.args, arrays.__getitem__), **step.kwargs)
    return arrays


def _numbers(program, arrays):
    """The register of each Var: inputs first, then what a run computes, then static arrays."""
    seen = dict.fromkeys(program.inputs)
    for step in program.steps:
        seen.update(dict.fromkeys((*step.reads(), step.out)))
    seen.update(dict.fromkeys(x for x in program.outputs if type(x) is Var))
    inputs = set(program.inputs)
    filled = [var for var in seen if var not in inputs and var not in arrays]
    static = [var for var in seen if var not in inputs and var in arrays]
    return {var: n for n, var in enumerate([*program.inputs, *filled, *static])}


def _copy_from(registers, n, buffer):
    buffer[...] = registers[n]


def _store(registers, n, fn, args):
    registers[n] = fn(*args)


def _write(registers, number, fn, args):
    fn(*[registers[number[x]] if type(x) is Var else _read(registers, number, x) for x in args])


def _read(registers, number, x):
    """An argument that is no array: a list may hold some."""
    return rebuilt(x, lambda var: registers[number[var]]) if type(x) in (list, tuple) else x


def _fill(registers, number, step):
    def value(var):
        return registers[number[var]]

    registers[number[step.out]] = step.fn(*rebuilt(step.args, value), **rebuilt(step.kwargs, value))


def _fill_own(registers, number, step):
    _fill(registers, number, step)
    made = registers[number[step.out]]
    if made.base is not None:
        registers[number[step.out]] = made.copy("K")


def _itself(x):
    return x


def _ordered(fn, *args):
    """What a function gives, in C order, as all results are."""
    return np.ascontiguousarray(fn(*args))


def _taken(registers, n, own, kind):
    """A result out of a register, in C order and in memory of its own."""
    x = registers[n]
    if kind == "number":
        return x
    if kind != "array":
        return np.asarray(x)[()]
    return np.asarray(x, order="C") if own else np.array(x, order="C")
