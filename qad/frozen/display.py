"""Programs for the eye: tables of steps, readable Python, profiles.  Nothing here is ever executed."""

from __future__ import annotations

import operator
import time
from itertools import chain
from math import isqrt, prod
from typing import TYPE_CHECKING

import numpy as np

from qad.frozen.functions import RESHAPE, TRANSPOSE, Attribute, Method, Reduction
from qad.frozen.guards import is_guard
from qad.frozen.placement import Places
from qad.frozen.program import Program, Var, rebuilt

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.frozen.program import Step

__all__ = ["Listed", "flops", "profile", "source", "table"]

PRODUCTS = (np.dot, np.vdot, np.inner, np.outer, np.tensordot)


class Listed(Program):
    """A program that prints as a table of its steps."""

    kinds: list[str]
    counts: dict[str, int]

    def __init__(self, program: Program):
        super().__init__(program.inputs, program.constants, program.steps, program.outputs)
        self.kinds, self.counts = program.kinds, program.counts

    def __str__(self) -> str:
        return table(self)

    def _repr_html_(self) -> str:
        from qad.showing import card  # which nobody needs who shows nothing

        return card(f"Program of {len(self.steps)} steps", text=str(self))


def table(program: Program) -> str:
    """The steps of a program, one a line: result, call, shape, dtype, multiply-adds, bytes, and what the passes did."""
    names, places = _names(program), Places(program)
    lines = [f"{'':6}{'call':52}{'shape':>18} {'dtype':>11}{'flops':>12}{'bytes':>12}"]
    for step in program.steps:
        out = step.out
        shape = "" if out.shape is None else str(out.shape).replace(" ", "")
        where = " view" if out in places.views else ""
        size = "" if out.shape is None or where else str(out.nbytes)
        dtype = "" if out.dtype is None else str(out.dtype)
        work = flops(step) or ""
        lines.append(f"{names[out]:6}{_call(step, names)[:50]:52}{shape:>18} {dtype:>11}{work:>12}{size:>12}{where}")
    done = ", ".join(f"{name} {n}" for name, n in program.counts.items() if n)
    lines.append(
        f"{len(program.steps)} steps, {sum(map(flops, program.steps))} flops; changed by passes: {done or 'none'}"
    )
    return "\n".join(lines)


def flops(step: Step) -> int:
    """Multiply-adds of a step: of products the product of all sizes, of elementwise functions one an entry."""
    out, shapes = step.out, [x.shape for x in step.reads() if x.shape is not None]
    if out.shape is None or is_guard(step) or not shapes:
        return 0
    if step.fn is np.einsum and type(step.args[0]) is str and "." not in step.args[0]:
        labels = step.args[0].replace(" ", "").partition("->")[0].replace(",", "")
        return prod(dict(zip(labels, chain(*shapes), strict=True)).values())
    if step.fn is np.matmul:
        return out.size * shapes[0][-1]
    if step.fn in PRODUCTS and len(shapes) == 2:  # each label stands in two of the three arrays
        return isqrt(prod(shapes[0]) * prod(shapes[1]) * out.size)
    if isinstance(step.fn, np.ufunc):
        return out.size
    return prod(shapes[0]) if type(step.fn) is Reduction else 0


def source(program: Program) -> str:
    """A program as Python, for reading: names are made up, constants appear by name, and it is never executed."""
    names = _names(program)
    lines = [f"def replay({', '.join(names[x] for x in program.inputs)}):"]
    for var in program.constants:
        lines.append(f"    # {names[var]}: a constant of shape {var.shape}, {var.dtype}")
    for step in program.steps:
        if is_guard(step):
            lines.append(f"    {_call(step, names)}  # guard {step.kwargs['number']}")
        else:
            target = "" if step.mutates is not None else f"{names[step.out]} = "
            lines.append(f"    {target}{_call(step, names)}")
    outputs = ", ".join(names[x] if type(x) is Var else _short(x) for x in program.outputs)
    return "\n".join([*lines, f"    return {outputs}"])


def profile(program: Program, values: Sequence[Any], rounds: int = 20) -> str:
    """Time per kind of call, the best of several runs, as a table."""
    best = {}
    for _ in range(rounds):
        known, found = {**program.constants, **dict(zip(program.inputs, values, strict=True))}, {}
        for step in program.steps:
            args, kwargs = rebuilt(step.args, known.__getitem__), rebuilt(step.kwargs, known.__getitem__)
            start = time.perf_counter()
            known[step.out] = step.fn(*args, **kwargs)
            seconds = time.perf_counter() - start
            calls, total = found.get(_name(step.fn), (0, 0.0))
            found[_name(step.fn)] = calls + 1, total + seconds
        for name, (calls, total) in found.items():
            best[name] = calls, min(total, best.get(name, (0, total))[1])
    lines = [f"{'call':32}{'calls':>8}{'µs':>12}"]
    for name, (calls, total) in sorted(best.items(), key=lambda entry: -entry[1][1]):
        lines.append(f"{name:32}{calls:8}{total * 1e6:12.1f}")
    calls, seconds = (sum(column) for column in zip(*best.values(), strict=True)) if best else (0, 0.0)
    lines.append(f"{'in all':32}{calls:8}{seconds * 1e6:12.1f}")
    return "\n".join(lines)


def _names(program):
    """Short names: x of inputs, c of constants, v of what is computed."""
    names = {var: f"x{i}" for i, var in enumerate(program.inputs)}
    names |= {var: f"c{i}" for i, var in enumerate(program.constants)}
    return names | {step.out: f"v{i}" for i, step in enumerate(program.steps)}


def _call(step, names):
    if is_guard(step):
        kind, content = step.kwargs["expected"]
        return f"assert {kind}({_text(step.args[0], names)}) == {_short(content)}"
    fn, args = step.fn, [_text(x, names) for x in step.args]
    if fn is operator.getitem:
        return f"{args[0]}[{_index(step.args[1], names)}]"
    if fn is TRANSPOSE or fn is RESHAPE or type(fn) is Method:
        return f"{args[0]}.{fn.__name__}({', '.join(args[1:] + _keywords(step, names))})"
    if type(fn) is Attribute:
        return f"{args[0]}.{fn.__name__}"
    return f"{_name(fn)}({', '.join(args + _keywords(step, names))})"


def _index(x, names):
    """What stands between the brackets of ``x[...]``."""
    if type(x) is tuple and x:
        return ", ".join(_index(each, names) for each in x) + "," * (len(x) == 1)
    if type(x) is slice:
        start, stop, stride = ("" if part is None else _text(part, names) for part in (x.start, x.stop, x.step))
        return f"{start}:{stop}" + (f":{stride}" if stride else "")
    return "..." if x is ... else _text(x, names)


def _keywords(step, names):
    return [f"{key}={_text(x, names)}" for key, x in step.kwargs.items()]


def _text(x, names):
    if type(x) is Var:
        return names.get(x, "?")
    if type(x) in (tuple, list):
        inside = ", ".join(_text(each, names) for each in x)
        return f"[{inside}]" if type(x) is list else f"({inside}{',' * (len(x) == 1)})"
    return _name(x) if isinstance(x, np.ufunc) else _short(x)


def _short(x):
    text = " ".join(repr(x).split())
    return text if len(text) <= 40 else f"{text[:37]}..."


def _name(fn):
    name = getattr(fn, "__name__", str(fn))
    if isinstance(fn, np.ufunc) or type(fn) is Reduction:
        return f"np.{name}"
    module = (getattr(fn, "__module__", None) or "").removeprefix("numpy")
    return f"np{module}.{name}" if (getattr(fn, "__module__", None) or "").startswith("numpy") else name
