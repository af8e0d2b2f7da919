"""Which steps of a program the compiled loop carries out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from qad.contract.compiler import has_compiler
from qad.frozen.compiled import lowering, table
from qad.frozen.compiled.rows import Operand
from qad.frozen.functions import VIEWS

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.frozen.program import Program, Var

    Places: TypeAlias = Any  # of placement.py, which imports this file

FEWEST = 8  # steps, one after another, for which it pays to load the loop
LARGE, FEWEST_LARGE = 1 << 15, 3  # numbers of a large array, and steps on such


def has_loop() -> bool:
    """Whether the loop can be compiled here: by LLVM, for a processor whose floating-point errors are known."""
    return table.ERRORS is not None and has_compiler()


def pays(program: Program) -> bool:
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


def finder(places: Places) -> Callable[[Var], Operand | None]:
    """The function that gives the `Operand` of a Var; None if it is not known where it lies, or how."""
    known, dummies, made = places.program.constants, places.dummies, places.definitions

    def find(var):
        if var in dummies:
            value = dummies[var]
            if not value.dtype.isnative or not value.flags.aligned:
                return None
            return Operand.of(value, None if var in known else var)
        if var.kind != "array" or not var.shape or not var.dtype.isnative or var.layout is not None:
            return None
        if var in made and made[var].fn in VIEWS:  # its entries may lie apart
            return None
        steps = [var.dtype.itemsize]
        for n in var.shape[:0:-1]:
            steps.append(n * steps[-1])
        return Operand(var, var.shape, tuple(steps[::-1]), var.dtype.char)

    return find
