"""A workspace: the buffers, views and instructions with which one thread runs a program.

An instruction is a function and its arguments, all made beforehand; a run is a loop over them.  Where an argument
is known in the run alone (an input, something that a function allocated), the instruction goes through the
registers.
"""

import numpy as np

from qad.freeze.guards import is_guard
from qad.freeze.places import laid_out
from qad.freeze.program import Var, rebuilt
from qad.freeze.written import positional, written

__all__ = ["Workspace"]


class Workspace:
    """Buffers and instructions for one run at a time.

    Parameters
    ----------
    places : Places
    arena : Arena
    kinds : list of str
        "array", "scalar" or "number" of each output, as the function gave it.
    """

    __slots__ = ("registers", "instructions", "collect", "blank", "inputs")

    def __init__(self, places, arena, kinds):
        program = places.program
        arrays = _arrays(places, arena)
        steps = [step for step in program.steps if step.out not in places.views]
        number = _numbers(program, steps, arrays)
        self.inputs = len(program.inputs)
        self.registers = [None] * len(number)
        self.blank = [None] * (self.inputs + sum(var not in arrays for var in number if var not in set(program.inputs)))
        for var, n in number.items():
            self.registers[n] = arrays.get(var)
        emit = _Emitter(self.registers, arrays, number, places)
        self.instructions = [emit.copy_in(var) for var in program.inputs if var in arrays]
        self.instructions += [emit.step(step) for step in steps]
        self.collect = [_collector(x, kind, arrays, number, places) for x, kind in zip(program.outputs, kinds, strict=True)]

    def run(self, values):
        """Run the program on the values of its inputs; fresh results."""
        registers = self.registers
        registers[: self.inputs] = values
        try:
            for fn, args in self.instructions:
                fn(*args)
            return [collect(registers) for collect in self.collect]
        finally:
            registers[: len(self.blank)] = self.blank


def _arrays(places, arena):
    """The array of every static Var: constants, buffers in their pieces of memory, and views of both."""
    memory = [_aligned(size) for size in arena.sizes]
    arrays = dict(places.program.constants)
    for var, piece in arena.piece.items():
        arrays[var] = laid_out(memory[piece], var, places.buffers[var])
    for var, step in places.views.items():
        arrays[var] = step.fn(*rebuilt(step.args, arrays.__getitem__), **step.kwargs)
    return arrays


def _aligned(size):
    raw = np.empty(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size]


def _numbers(program, steps, arrays):
    """Numbers of registers: inputs first, then what is filled in a run, then static arrays."""
    seen = dict.fromkeys(program.inputs)
    for step in steps:
        seen.update(dict.fromkeys(step.reads()))
        seen[step.out] = None
    seen.update(dict.fromkeys(x for x in program.outputs if type(x) is Var))
    inputs = set(program.inputs)
    filled = [var for var in seen if var not in inputs and var not in arrays]
    static = [var for var in seen if var not in inputs and var in arrays]
    return {var: n for n, var in enumerate([*program.inputs, *filled, *static])}


class _Emitter:
    """Makes instructions."""

    def __init__(self, registers, arrays, number, places):
        self.registers, self.arrays, self.number, self.places = registers, arrays, number, places

    def copy_in(self, var):
        """The copy of an input into its buffer; the register of the input keeps the caller's array."""
        return _copy_from, (self.registers, self.number[var], self.arrays[var])

    def step(self, step):
        """The instruction of a step."""
        out = self.arrays.get(step.out)
        static = all(var in self.arrays for var in step.reads())
        if static:
            args = rebuilt(step.args, self.arrays.__getitem__)
            if out is None:
                kwargs = rebuilt(step.kwargs, self.arrays.__getitem__) if step.kwargs else {}
                return self._allocating(step, args, kwargs)
            if step.out in self.places.copies:
                return _filler(out, args[0], step.reads()[0])
            return written(step, args, out)
        if out is not None and step.out not in self.places.copies:
            return self._into(step, out)
        if out is not None:
            return _reshape_into, (self.registers, self.number[step.reads()[0]], out)
        return self._filling(step)

    def _allocating(self, step, args, kwargs):
        """Static arguments, a result that the function allocates."""
        if is_guard(step):
            return _check, (step.fn, args, kwargs)
        if kwargs:
            return _store_with, (self.registers, self.number[step.out], step.fn, args, kwargs)
        return _store, (self.registers, self.number[step.out], step.fn, args)

    def _into(self, step, out):
        """Arguments from registers, a result in a buffer."""
        if len(step.args) == 1 and type(step.args[0]) is Var and isinstance(step.fn, np.ufunc):
            return _unary_into, (self.registers, positional(step.fn), self.number[step.args[0]], out)
        if len(step.args) == 2 and (isinstance(step.fn, np.ufunc) or step.fn is np.dot):
            return _binary_into, (self.registers, positional(step.fn), *self._pair(step), out)
        return _call_into, (self.registers, step, self.number, out)

    def _pair(self, step):
        return [self.number[x] if type(x) is Var else self._literal(x) for x in step.args]

    def _literal(self, x):
        """A constant of its own register."""
        self.registers.append(x)
        return len(self.registers) - 1

    def _filling(self, step):
        """Everything through registers."""
        if not step.kwargs and step.args and all(type(x) is Var for x in step.args) and len(step.args) <= 2:
            call = _fill_one if len(step.args) == 1 else _fill_two
            return call, (self.registers, self.number[step.out], step.fn, *[self.number[x] for x in step.args])
        return _fill, (self.registers, self.number, step)


def _copy_from(registers, n, buffer):
    buffer[...] = registers[n]


def _store(registers, n, fn, args):
    registers[n] = fn(*args)


def _store_with(registers, n, fn, args, kwargs):
    registers[n] = fn(*args, **kwargs)


def _unary_into(registers, fn, i, out):
    fn(registers[i], out)


def _binary_into(registers, fn, i, j, out):
    fn(registers[i], registers[j], out)


def _call_into(registers, step, number, out):
    args = rebuilt(step.args, lambda var: registers[number[var]])
    fn, args = written(step, args, out)
    fn(*args)


def _reshape_into(registers, n, out):
    out[...] = registers[n].reshape(out.shape)


def _fill_one(registers, n, fn, i):
    registers[n] = fn(registers[i])


def _fill_two(registers, n, fn, i, j):
    registers[n] = fn(registers[i], registers[j])


def _fill(registers, number, step):
    def value(var):
        return registers[number[var]]

    registers[number[step.out]] = step.fn(*rebuilt(step.args, value), **rebuilt(step.kwargs, value))


def _filler(out, source, var):
    """The copy of an array into a buffer of another shape: through a view of the buffer in the shape of the source."""
    return out.reshape(source.shape).__setitem__, (..., source)


def _check(fn, args, kwargs):
    fn(*args, **kwargs)


def _collector(x, kind, arrays, number, places):
    """The function from registers to one fresh leaf of the result, of the kind that it was when recorded."""
    if type(x) is not Var:
        return lambda registers: x
    if x in arrays:
        array = arrays[x]
        return (lambda registers: array.copy()) if kind == "array" else lambda registers: array[()]
    n = number[x]
    if kind == "array" and x in places.results and places.allocated(x):
        return lambda registers: registers[n]
    if kind == "array":
        return lambda registers: np.array(registers[n])
    if kind == "scalar":
        return lambda registers: np.asarray(registers[n])[()]
    return lambda registers: registers[n]
