"""Frozen functions in files: programs as data.

A stored program names its functions, and reading it looks these names up in tables of NumPy's functions and qad's own
primitives; no code is stored, and none is run.  What a user's primitive does cannot be stored.
"""

from __future__ import annotations

import operator
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from qad.core.define import PRIMITIVES
from qad.core.errors import ArgumentError
from qad.frozen.functions import Attribute, Method, Reduction, attribute, method, reduction
from qad.frozen.guards import check_value
from qad.frozen.old_names import GONE, current
from qad.frozen.program import Program, Step, Var
from qad.frozen.recorder import pick
from qad.frozen.sparse_arrays import placed

TABLES = ("qad.symmetric.moves.Move", "qad.symmetric.gemms.Gemms")  # arguments that are plain numbers (`stored`)
COMPILED = (np.array, np.dot, np.empty, np.vdot, np.where, np.concatenate, np.zeros)  # not recognised as functions


def _tables():
    """Every function that a stored program may call by its name, and the name of each."""
    return _made_of(len(PRIMITIVES))


@lru_cache(maxsize=1)
def _made_of(count):
    """The tables of so many primitives: importing a part of qad adds some."""
    found = {fn.__name__: fn for fn in (check_value, pick, abs, placed)}
    found |= {f"operator.{name}": getattr(operator, name) for name in operator.__all__}
    for prefix, module in (("np", np), ("np.linalg", np.linalg), ("np.fft", np.fft)):
        public = {name: getattr(module, name) for name in module.__all__}
        found |= {
            f"{prefix}.{name}": fn
            for name, fn in public.items()
            if isinstance(fn, np.ufunc) or hasattr(fn, "__wrapped__") or fn in COMPILED
        }
    primitives = [fn for fn in PRIMITIVES if (getattr(fn, "__module__", None) or "").startswith("qad.")]
    found |= {f"{fn.__module__}.{fn.__qualname__}": fn for fn in primitives}
    return found, {fn: name for name, fn in found.items()}


def store(program: Program) -> tuple[Any, ...]:
    """A program as nested tuples of numbers, text and arrays."""
    number = {var: i for i, var in enumerate([*program.inputs, *program.constants, *(s.out for s in program.steps)])}
    variables = [(var.shape, var.dtype, var.kind, var.layout, number.get(var.root, i)) for var, i in number.items()]
    steps = [
        (_stored(s.fn), _encoded(s.args, number), _encoded(s.kwargs, number), number[s.out], number.get(s.mutates))
        for s in program.steps
    ]
    outputs = _encoded(tuple(program.outputs), number)
    return variables, len(program.inputs), list(program.constants.values()), steps, outputs, program.kinds


def read(data: tuple[Any, ...]) -> Program:
    """The program that `store` made this of."""
    described, inputs, constants, steps, outputs, kinds = data
    made = [Var(shape, dtype, kind, layout) for shape, dtype, kind, layout, _ in described]
    for var, (*_, root) in zip(made, described, strict=True):
        var.root = made[root]
    listed = [
        Step(
            _read(fn), _decoded(args, made), _decoded(kwargs, made), made[out], None if target is None else made[target]
        )
        for fn, args, kwargs, out, target in steps
    ]
    known = dict(zip(made[inputs:], constants, strict=False))
    program = Program(made[:inputs], known, listed, list(_decoded(outputs, made)))
    program.kinds = kinds
    return program


def _stored(fn):
    if type(fn) in (Method, Attribute):
        return type(fn).__name__, fn.__name__
    if type(fn) is Reduction:
        return "Reduction", f"np.{fn.ufunc.__name__}", fn.method
    try:
        return "function", _tables()[1][fn]
    except KeyError:
        raise ArgumentError(
            f"qad.freeze: the program calls {getattr(fn, '__name__', fn)}, which is neither NumPy's nor qad's, so that "
            "it cannot be stored: store the function that was frozen, and freeze it again"
        ) from None


def _read(stored):
    (kind, name, *rest), known = stored, _tables()[0]
    name = current(name) if kind == "function" else name
    if kind == "Reduction":
        ufunc = known[name]
        if isinstance(ufunc, np.ufunc) and rest[0] in ("reduce", "accumulate", "reduceat", "outer", "at"):
            return reduction(ufunc, rest[0])
    if kind in ("Method", "Attribute") and not name.startswith("_") and hasattr(np.ndarray, name):
        return (method if kind == "Method" else attribute)(name)
    if kind == "function" and name in known:
        return known[name]
    if name in GONE:
        raise ArgumentError(
            f"qad.freeze: a stored program calls {name!r}, which this version has not any more: freeze the function "
            "again, and store that"
        )
    raise ArgumentError(f"qad.freeze: a stored program names {name!r}, which is no function that programs may call")


def _table_of(name, content):
    if name not in TABLES:
        raise ArgumentError(f"qad.freeze: a stored program names {name!r}, which is no argument that programs may have")
    module, _, kind = name.rpartition(".")
    return getattr(import_module(module), kind).restored(*content)


def _encoded(x, number):
    """Arguments as pairs (kind, content)."""
    kind = type(x)
    if kind is Var:
        return "var", number[x]
    if kind in (tuple, list):
        return kind.__name__, [_encoded(each, number) for each in x]
    if kind is dict:
        return "dict", [(key, _encoded(each, number)) for key, each in x.items()]
    if kind is slice:
        return "slice", [_encoded(each, number) for each in (x.start, x.stop, x.step)]
    if isinstance(x, (int, float, complex, str, bytes, np.generic, np.dtype, type(None), type(...))):
        return "literal", x
    if isinstance(x, type) and issubclass(x, (np.generic, int, float, complex)):
        return "literal", np.dtype(x)
    if f"{kind.__module__}.{kind.__qualname__}" in TABLES:
        return "table", (f"{kind.__module__}.{kind.__qualname__}", x.stored())
    if callable(x):
        return "call", _stored(x)
    raise ArgumentError(
        f"qad.freeze: an argument of type {kind.__name__} cannot be stored: store the function that was frozen, and "
        "freeze it again"
    )


def _decoded(x, made):
    kind, content = x
    if kind == "var":
        return made[content]
    if kind in ("tuple", "list"):
        return {"tuple": tuple, "list": list}[kind](_decoded(each, made) for each in content)
    if kind == "dict":
        return {key: _decoded(each, made) for key, each in content}
    if kind == "call":
        return _read(content)
    if kind == "table":
        return _table_of(*content)
    return slice(*(_decoded(each, made) for each in content)) if kind == "slice" else content
