"""The passes that improve a program, in the order in which they run; each is a file of its own.

The docstring of each says what it gains.  A pass of single steps makes a visitor, to which
`qad.frozen.passes.rewriting.rewrite` offers one step after another: all of them share one walk.  Unused steps go
before and after it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qad.core.errors import ArgumentError
from qad.frozen.passes.canonical import canonical
from qad.frozen.passes.folding import common, constants, dead
from qad.frozen.passes.rewriting import rewrite
from qad.frozen.passes.traces import traces
from qad.frozen.program.program import Program

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from qad.frozen.passes.rewriting import Visitor

OF_STEPS: dict[str, Callable[[Program], Visitor]] = {
    "canonical": canonical,
    "traces": traces,
    "constants": constants,
    "common": common,
}
OF_PLACES = ("compiled",)  # `qad.frozen.run.compiled`: it changes how a program is run, not the program
PASSES = (*OF_STEPS, "dead", *OF_PLACES)


def chosen(names: str | Iterable[str] | None) -> tuple[str, ...]:
    """The passes of these names; None for all."""
    names = PASSES if names is None else (names,) if type(names) is str else tuple(names)
    unknown = [name for name in names if name not in PASSES]
    if unknown:
        raise ArgumentError(f"qad.freeze has no pass {unknown[0]!r}: the passes are {', '.join(PASSES)}")
    return names


def improve(program: Program, names: Collection[str]) -> Program:
    """What the named passes make of a program, which stays; `counts` says what each has done.

    ``canonical`` always runs, for all that follows is written for its forms.
    """
    names = ("canonical", *(name for name in names if name != "canonical"))
    program = Program(program.inputs, dict(program.constants), program.steps, program.outputs)
    program.counts = dict.fromkeys(names, 0)
    removed = dead(program) if "dead" in names else 0
    visitors = {name: make(program) for name, make in OF_STEPS.items() if name in names}
    program.counts |= rewrite(program, visitors)
    if "dead" in names:
        program.counts["dead"] = removed + dead(program)
    return program
