"""Programs for the eye: a table of steps, one a line, as Python would write them.  Nothing here is ever executed."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import numpy as np

from qad.frozen.program.functions import Attribute, Method, Reduction
from qad.frozen.program.program import Program, Var, is_guard

if TYPE_CHECKING:
    from typing import Any

    from qad.frozen.program.program import Step


class Listed(Program):
    """A program that prints as a table of its steps."""

    def __init__(self, program: Program):
        super().__init__(program.inputs, program.constants, program.steps, program.outputs)
        self.kinds: list[str] = program.kinds
        self.counts: dict[str, int] = program.counts

    def __str__(self) -> str:
        """Result, call, shape, dtype and bytes of each step, and what the passes did."""
        names = {var: f"x{i}" for i, var in enumerate(self.inputs)}
        names |= {var: f"c{i}" for i, var in enumerate(self.constants)}
        names |= {step.out: f"v{i}" for i, step in enumerate(self.steps)}
        lines = [f"{'':6}{'call':60}{'shape':>18} {'dtype':>11}{'bytes':>12}"]
        for step in self.steps:
            out = step.out
            known = (str(out.shape).replace(" ", ""), out.dtype, out.nbytes) if out.shape is not None else ("", "", "")
            shape, dtype, size = map(str, known)
            lines.append(f"{names[out]:6}{_call(step, names)[:58]:60}{shape:>18} {dtype:>11}{size:>12}")
        done = ", ".join(f"{name} {n}" for name, n in self.counts.items() if n)
        outputs = ", ".join(_text(x, names) for x in self.outputs)
        return "\n".join([*lines, f"return {outputs}", f"{len(self.steps)} steps; changed by passes: {done or 'none'}"])

    def _repr_html_(self) -> str:
        from qad.showing import card  # which nobody needs who shows nothing

        return card(f"Program of {len(self.steps)} steps", text=str(self))


def _call(step: Step, names: dict[Var, str]) -> str:
    """The call of a step, as Python would write it."""
    args = [_text(x, names) for x in step.args]
    if is_guard(step):
        kind, content = step.kwargs["expected"]
        return f"assert {kind}({args[0]}) == {_text(content, names)}"
    if step.fn is operator.getitem:
        index = step.args[1] if type(step.args[1]) is tuple and step.args[1] else step.args[1:]
        return f"{args[0]}[{', '.join(_index(i, names) for i in index)}]"
    if type(step.fn) is Attribute:
        return f"{args[0]}.{step.fn.__name__}"
    given = [*args, *(f"{key}={_text(x, names)}" for key, x in step.kwargs.items())]
    if type(step.fn) is Method:
        return f"{args[0]}.{step.fn.__name__}({', '.join(given[1:])})"
    return f"{_name(step.fn)}({', '.join(given)})"


def _index(x: Any, names: dict[Var, str]) -> str:
    """What stands between the brackets of ``x[...]``."""
    if type(x) is slice:
        start, stop, stride = ("" if part is None else _text(part, names) for part in (x.start, x.stop, x.step))
        return f"{start}:{stop}" + (f":{stride}" if stride else "")
    return "..." if x is ... else _text(x, names)


def _text(x: Any, names: dict[Var, str]) -> str:
    if type(x) is Var:
        return names.get(x, "?")
    if type(x) in (tuple, list):
        inside = ", ".join(_text(each, names) for each in x)
        return f"[{inside}]" if type(x) is list else f"({inside}{',' * (len(x) == 1)})"
    text = _name(x) if isinstance(x, np.ufunc) else " ".join(repr(x).split())
    return text if len(text) <= 40 else f"{text[:37]}..."


def _name(fn: Any) -> str:
    module = "numpy" if isinstance(fn, np.ufunc) or type(fn) is Reduction else getattr(fn, "__module__", None) or ""
    name = getattr(fn, "__name__", str(fn))
    return f"np{module.removeprefix('numpy')}.{name}" if module.startswith("numpy") else name
