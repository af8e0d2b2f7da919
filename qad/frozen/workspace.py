"""A workspace: the buffers, views and instructions with which one thread runs a program.

An instruction is a function and its arguments, all made beforehand; a run is a loop over them.  Where an argument
is known only in the run (an input, something that a function allocated), the instruction goes through the
registers.
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.frozen.compiled.blocks import BLOCK, parts
from qad.frozen.functions import Method
from qad.frozen.guards import is_guard
from qad.frozen.memory_plan import aligned
from qad.frozen.out_argument import positional, written
from qad.frozen.placement import laid_out
from qad.frozen.program import Var, rebuilt, variables
from qad.frozen.scalar_loop import gather, operation, run_scalars

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.frozen.memory_plan import MemoryPlan
    from qad.frozen.placement import Places


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

    __slots__ = ("registers", "copies", "instructions", "collect", "moving")

    def __init__(self, places: Places, plan: MemoryPlan, kinds: Sequence[str]):
        program = places.program
        arrays = _arrays(places, plan)
        steps = [step for step in program.steps if step.out not in places.views and step.out not in places.last]
        number = _numbers(program, arrays)
        self.registers: list[Any] = [arrays.get(var) for var in number]
        emit = _Emitter(self.registers, arrays, number, places)
        self.copies: list[tuple[Any, int]] = [(arrays[var], i) for i, var in enumerate(program.inputs) if var in arrays]
        self.instructions: list[tuple[Callable[..., Any], tuple[Any, ...]]] = emit.steps(steps)
        self.collect: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
            emit.result(x, kind) for x, kind in zip(program.outputs, kinds, strict=True)
        ]
        filled = len(program.inputs) + sum(var not in arrays for var in list(number)[len(program.inputs) :])
        self.registers[:filled] = [None] * filled
        self.moving: int = filled if emit.moving else 0


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
        seen.update(dict.fromkeys(step.reads()))
        seen[step.out] = None
    seen.update(dict.fromkeys(x for x in program.outputs if type(x) is Var))
    inputs = set(program.inputs)
    filled = [var for var in seen if var not in inputs and var not in arrays]
    static = [var for var in seen if var not in inputs and var in arrays]
    return {var: n for n, var in enumerate([*program.inputs, *filled, *static])}


class _Emitter:
    """Makes instructions, of a form that depends on which arguments are in registers and where the result goes."""

    def __init__(self, registers, arrays, number, places):
        self.registers, self.arrays, self.number, self.places = registers, arrays, number, places
        self.moving = False  # whether an instruction goes through the registers

    def steps(self, steps):
        """The instructions of all steps; scalar ones that follow each other are one, and so are those of a table."""
        made = []
        for kind, run in groupby(steps, self._kind):
            if kind == "scalar":
                made.append(self._scalars(run))
            elif kind == "compiled":
                made.extend(self._tables(run))
            else:
                made.extend(map(self.step, run))
        return made

    def _kind(self, step):
        """What a step is run together with."""
        return "scalar" if step.out in self.places.scalars else "compiled" if step.out in self.places.rows else None

    def _tables(self, steps):
        """Calls of the compiled loop."""
        from qad.frozen.compiled.runs import instructions

        places = self.places
        made = instructions(parts(steps, places), self.arrays, self.registers, self.number, places.local)
        self.moving = self.moving or any(args[-3] or args[-2] for _, args in made)
        return made

    def _scalars(self, steps):
        self.moving, operations = True, []
        for step in steps:
            fn, args = operation(step)
            operations.append((fn, self.number[step.out], *map(self._register, args)))
        return run_scalars, (self.registers, operations)

    def step(self, step):
        """The instruction of a step."""
        made = self._instruction(step)
        self.moving = self.moving or any(x is self.registers for x in made[1])
        return made

    def _instruction(self, step):
        out = self.arrays.get(step.out)
        if step.out in self.places.own:
            return _fill_own, (self.registers, self.number, step)
        if step.out in self.places.copies:
            return self._copy(step, out)
        if step.fn is np.array and type(step.args[0]) is list and len(step.args[0]) > 1:
            where = itemgetter(*map(self._register, step.args[0]))
            return gather, (self.registers, self.number[step.out], where, step.out.dtype)
        if out is None and (is_guard(step) or step.mutates is not None or not _is_flat(step)):
            return _fill, (self.registers, self.number, step)
        moving = [i for i, x in enumerate(step.args) if type(x) is Var and x not in self.arrays]
        args = tuple([self.arrays.get(x, x) if type(x) is Var else x for x in step.args])
        if out is None:
            return self._store(step, args, moving)
        return self._write(step, args, moving, out)

    def result(self, x, kind):
        """The call that makes a leaf of the result: a new array, or a number of the kind that was recorded."""
        if type(x) is not Var:
            return _itself, (x,)
        if x in self.places.last:
            step = self.places.definitions[x]
            args = tuple([self.arrays.get(y, y) if type(y) is Var else y for y in step.args])
            return (step.fn, args) if len(x.shape) < 2 else (_ordered, (step.fn, *args))
        array = self.arrays.get(x)
        if array is not None:
            return (array.copy, ()) if kind == "array" else (array.__getitem__, ((),))
        self.moving, n = True, self.number[x]
        if kind == "number" or (kind == "array" and x in self.places.results and self.places.allocated(x)):
            take = self.registers.__getitem__
            return (take, (n,)) if len(x.shape) < 2 else (_ordered, (take, n))
        return (_copied if kind == "array" else _scalar), (self.registers, n)

    def _copy(self, step, out):
        """The copy of an array into a buffer of another shape, through a view of the buffer."""
        source = step.reads()[0]
        if source in self.arrays:
            return out.reshape(source.shape).__setitem__, (..., self.arrays[source])
        return _copy_from, (self.registers, self.number[source], out.reshape(source.shape))

    def _store(self, step, args, moving):
        """A result that the function allocates."""
        registers, n, fn = self.registers, self.number[step.out], _direct(step)
        if step.kwargs:
            return _fill, (registers, self.number, step)
        if not moving:
            return _store, (registers, n, fn, args)
        if moving == [0]:
            return _store_first, (registers, n, fn, self.number[step.args[0]], args[1:])
        if len(args) == 2:
            where = [self._register(x) for x in step.args]
            return _store_both, (registers, n, fn, *where)
        return _fill, (registers, self.number, step)

    def _write(self, step, args, moving, out):
        """A result in a buffer."""
        if not _is_flat(step):
            if any(var not in self.arrays for var in step.reads()):
                return _write, (self.registers, step, self.number, out)
            return written(step, rebuilt(step.args, self.arrays.__getitem__), out)
        if not moving:
            return written(step, args, out)
        if isinstance(step.fn, np.ufunc) or step.fn is np.dot:
            fn = np.ndarray.dot if step.fn is np.dot else positional(step.fn)
            if moving == [0]:
                return _write_first, (self.registers, fn, self.number[step.args[0]], (*args[1:], out))
            if len(args) == 2:
                where = [self._register(x) for x in step.args]
                return _write_both, (self.registers, fn, *where, out)
        return _write, (self.registers, step, self.number, out)

    def _register(self, x):
        """The number of the register of an argument; a literal gets one of its own."""
        if type(x) is Var:
            return self.number[x]
        self.registers.append(x)
        return len(self.registers) - 1


def _is_flat(step):
    """Whether no argument hides an array in a container."""
    return not any(variables(x) for x in (*step.args, *step.kwargs.values()) if type(x) is not Var)


def _direct(step):
    """The function of a step; the methods of what is surely an array are taken from the class."""
    if type(step.fn) is Method and step.args[0].kind == "array" and step.args[0].shape:
        return getattr(np.ndarray, step.fn.__name__)
    return step.fn


def _copy_from(registers, n, buffer):
    buffer[...] = registers[n]


def _store(registers, n, fn, args):
    registers[n] = fn(*args)


def _store_first(registers, n, fn, i, rest):
    registers[n] = fn(registers[i], *rest)


def _store_both(registers, n, fn, i, j):
    registers[n] = fn(registers[i], registers[j])


def _write_first(registers, fn, i, rest):
    fn(registers[i], *rest)


def _write_both(registers, fn, i, j, out):
    fn(registers[i], registers[j], out)


def _write(registers, step, number, out):
    fn, args = written(step, rebuilt(step.args, lambda var: registers[number[var]]), out)
    fn(*args)


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


def _copied(registers, n):
    return np.array(registers[n], order="C")


def _scalar(registers, n):
    return np.asarray(registers[n])[()]
