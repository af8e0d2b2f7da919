"""From a recorded program to something that runs.

A workspace holds the buffers, views and instructions with which one thread runs a program.  An instruction is a
function and its arguments, all made beforehand; a run is a loop over them.  Where an argument is known only in the run
(an input, something that a function allocated), the instruction goes through the registers.
"""

from __future__ import annotations

from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from qad.frozen.passes import improve
from qad.frozen.program.functions import allocates, writes
from qad.frozen.program.program import Var, rebuilt, variables
from qad.frozen.run.compiled import lowering
from qad.frozen.run.compiled.blocks import BLOCK, parts
from qad.frozen.run.placement import Places, aligned, memory_plan

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from qad.frozen.program.program import Program

    Build: TypeAlias = Callable[[list[Any]], Any]  # from the leaves of the result to the result
    Run: TypeAlias = Callable[[Sequence[Any]], Any]  # from the values of the inputs to the result


def executable(program: Program, passes: Collection[str], build: Build, silent: bool) -> tuple[Program, Run]:
    """The program as it is run, and the function from input values to the result, made by `build` of its leaves.

    Without passes the recorded calls are repeated as they were, and so are those of a program that writes into what it
    has made; another one is improved, and run in workspaces: as many as there are threads that run it at once.  A
    silent one says nothing of floating-point errors, of which the function decides itself.
    """
    if passes == () or program.writes:
        run = partial(recorded, program, build)
    else:
        program = improve(program, passes)
        run = pooled(program, build, "compiled" in passes and lowering.has_loop())
    return program, partial(silently, run) if silent else run


def silently(run: Run, values: Sequence[Any]) -> Any:
    """`run` without warnings of floating-point errors."""
    with np.errstate(all="ignore"):
        return run(values)


def recorded(program: Program, build: Build, values: Sequence[Any]) -> Any:
    """The result by the calls that were recorded, on arguments in C order."""
    results = program.run([np.asarray(x, order="C") if isinstance(x, np.ndarray) else x for x in values])
    return build([x.copy() if isinstance(x, np.ndarray) else x for x in results])


def pooled(program: Program, build: Build, compiled: bool) -> Run:
    """The function that runs a program in a workspace of its own; free ones wait in a list (its methods are atomic)."""
    places = Places(program, compiled)
    plan, inputs = memory_plan(places), len(program.inputs)
    program.counts["compiled"] = len(places.rows)
    free = [Workspace(places, *plan)]
    take, give_back = free.pop, free.append

    def run(values):
        try:
            workspace = take()
        except IndexError:
            workspace = Workspace(places, *plan)
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


class Workspace:
    """Buffers and instructions for one run at a time.

    Attributes
    ----------
    registers : list
        What is filled in a run, inputs first; then what is known before it, and read beside that.
    copies : list of (buffer, number of the input)
    instructions, collect : lists of (function, arguments)
        What is run in order, and what makes the leaves of the result.
    moving : int
        How many registers are filled in a run, inputs first; 0 where nothing is read from them.
    """

    def __init__(self, places: Places, offsets: dict[Var, int], size: int):
        self.places: Places = places
        self.arrays: dict[Var, np.ndarray] = _arrays(places, offsets, size)
        program, arrays = places.program, self.arrays
        steps = [step for step in program.steps if step.out not in places.views and step.out not in places.late]
        moving = dict.fromkeys([*program.inputs, *(step.out for step in steps if step.out not in arrays)])
        self.number: dict[Var, int] = {var: n for n, var in enumerate(moving)}
        self.registers: list[Any] = [None] * len(moving)
        self.copies: list[tuple[Any, int]] = [(arrays[var], i) for i, var in enumerate(program.inputs) if var in arrays]
        self.last: dict[Var, Any] = {var: step for step in steps for var in step.reads()}
        self.last.update((x, None) for x in program.outputs if type(x) is Var)
        self.instructions: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []
        for in_loop, some in groupby(steps, lambda step: step.out in places.rows):
            run = list(some)
            self.instructions += [self._table(run)] if in_loop else map(self._instruction, run)
        self.collect: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
            self._result(x, kind) for x, kind in zip(program.outputs, program.kinds, strict=True)
        ]
        used = any(self.registers is x for _, args in (*self.instructions, *self.collect) for x in args)
        self.moving: int = len(moving) if used else 0

    def _table(self, steps):
        """A call of the compiled loop."""
        from qad.frozen.run.compiled.runs import instruction

        return instruction(parts(steps, self.places.rows, self.places.chains), self.arrays, self.registers, self.number)

    def _instruction(self, step):
        """The instruction of a step: a call of arrays that are known, or one that reads them from the registers."""
        arrays, number, registers = self.arrays, self.number, self.registers
        args, kwargs = (rebuilt(x, lambda var: arrays.get(var, var)) for x in (step.args, step.kwargs))
        if step.out in self.places.copies:  # into a buffer of another shape, through a view of the buffer
            return arrays[step.out].reshape(args[0].shape).__setitem__, (..., args[0])
        if all(var in arrays for var in step.reads()):
            call = partial(step.fn, **kwargs) if kwargs else step.fn, args
            if step.out in self.places.late:
                return call
            if step.out in arrays and writes(step):
                return step.fn, (*args, arrays[step.out])
            return _store, (*self._place(step.out), *call)
        fn = partial(step.fn, **kwargs) if kwargs else step.fn
        if variables(kwargs) or any(type(x) is not Var and variables(x) for x in args):
            moving = list(dict.fromkeys([*variables(args), *variables(kwargs)]))
            fn, args = _nested(step.fn, args, kwargs, moving), moving
        dead = [number[var] for var in {*step.reads()} if self.last[var] is step and var in number]
        return _fill, (registers, *self._place(step.out), fn, [self._register(x) for x in args], dead)

    def _place(self, var):
        """Where a value is written: what holds it, and the index there."""
        return (self.arrays[var], ()) if var in self.arrays else (self.registers, self.number[var])

    def _register(self, x):
        """The number of the register that holds an argument; one more for what is known before the run."""
        if type(x) is Var:
            return self.number[x]
        self.registers.append(x)
        return len(self.registers) - 1

    def _result(self, x, kind):
        """The call that makes a leaf of the result: a new array, or a number of the kind that was recorded."""
        if type(x) is not Var:
            return (lambda: x), ()
        array = self.arrays.get(x)
        if array is not None:
            return (array.copy, ("K",)) if kind == "array" else (array.__getitem__, ((),))
        step = self.places.definitions.get(x)
        if x in self.places.late:
            return self._instruction(step)
        own = x in self.places.results and (x in self.places.rows or allocates(step))
        return _taken, (self.registers, self.number[x], own, kind)


def _arrays(places, offsets, size):
    """The array of every static Var: constants, buffers in one block of memory, and views of both."""
    memory = aligned(size)
    arrays = dict(places.program.constants)
    for var, offset in offsets.items():
        if var in places.local:
            arrays[var] = np.ndarray((BLOCK,), var.dtype, memory[offset:])
        else:
            arrays[var] = places.laid_out(var, memory[offset:])
    for var, step in places.views.items():
        arrays[var] = step.fn(*rebuilt(step.args, arrays.__getitem__), **step.kwargs)
    return arrays


def _store(target, place, fn, args):
    target[place] = fn(*args)


def _fill(registers, target, place, fn, places, dead):
    target[place] = fn(*[registers[n] for n in places])
    for n in dead:
        registers[n] = None


def _nested(fn, args, kwargs, moving):
    """`fn` of the values of some Vars, which stand anywhere among its arguments."""

    def call(*values):
        known = dict(zip(moving, values, strict=True)).__getitem__
        return fn(*rebuilt(args, known), **rebuilt(kwargs, known))

    return call


def _taken(registers, n, own, kind):
    """A result out of a register, in memory of its own."""
    x = registers[n]
    if kind == "number":
        return x
    if kind != "array":
        return x[()] if type(x) is np.ndarray else x
    return np.asarray(x) if own else np.array(x)
