"""Which steps of a program the compiled loop carries out."""

import platform
import sys

import numpy as np

from qad.contract.compiler import has_compiler
from qad.frozen.compiled import lowering
from qad.frozen.compiled.rows import Operand
from qad.frozen.functions import VIEWS

__all__ = ["has_loop", "lowered", "pays"]

FEWEST = 8  # steps, one after another, for which it pays to load the loop
LARGE, FEWEST_LARGE = 1 << 15, 3  # numbers of a large array, and steps on such


def has_loop():
    """Whether the loop can be compiled here: LLVM is there, and the floating-point errors of the processor are known."""
    known = platform.machine() in ("x86_64", "AMD64", "aarch64", "arm64") and sys.platform in ("linux", "darwin")
    return known and has_compiler()


def pays(program):
    """Whether there are enough steps, one after another, that the loop knows; views between them do not count."""
    steps = large = 0
    for step in program.steps:
        known = lowering.may_be_lowered(step)
        if known is False:
            steps = large = 0
        elif known:
            steps, large = steps + 1, large + (step.out.size >= LARGE)
        if steps >= FEWEST or large >= FEWEST_LARGE:
            return True
    return False


def lowered(step, places):
    """The rows of a step of a program whose values are stored so; None if the loop does not know it."""

    def find(var):
        if var in places.program.constants:
            value = places.program.constants[var]
            return Operand.of(value) if value.dtype.isnative and value.flags.aligned else None
        if var in places.dummies:
            return Operand.of(places.dummies[var], var)
        if var.kind != "array" or not var.shape or not var.dtype.isnative or var in places.numbers or apart(var):
            return None
        like = np.broadcast_to(np.empty((), var.dtype), var.shape)
        steps = np.cumprod([var.dtype.itemsize, *var.shape[:0:-1]])[::-1].tolist()
        return Operand.of(like, var).with_axes(var.shape, steps)

    def apart(var):
        """Whether the entries of an array that is known in the run alone may lie apart: as of a view."""
        made = places.definitions.get(var)
        return var.layout is not None or (made is not None and made.fn in VIEWS)

    return lowering.lowered(step, find)
