"""What the code of a function names, and whose code it is.

The code of NumPy, SciPy, qad, Python's library and other installed packages is taken never to change.
"""

from __future__ import annotations

import dis
import sys
from functools import lru_cache
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from types import FunctionType

NUMERICAL = frozenset(("numpy", "scipy", "qad", "optree", "opt_einsum"))
INSTALLED = ("site-packages", "dist-packages")
SILENT = frozenset(("EXTENDED_ARG", "PUSH_NULL", "CACHE", "PRECALL", "RESUME", "NOP", "KW_NAMES"))
GLOBAL = frozenset(("LOAD_GLOBAL", "LOAD_NAME"))
CALLS = frozenset(("CALL", "CALL_FUNCTION"))


def is_library(module: object) -> bool:
    """Whether a module of this name is one of NumPy's, SciPy's, qad's or Python's."""
    top = module.partition(".")[0] if type(module) is str else ""
    return top in NUMERICAL or top in sys.stdlib_module_names


def is_users(f: FunctionType) -> bool:
    """Whether the user wrote a function, so that what its code names may change."""
    return not (is_library(f.__globals__.get("__name__")) or any(part in f.__code__.co_filename for part in INSTALLED))


class Named(NamedTuple):
    """What code names: globals, attributes, modules that it imports, and attributes by names that it computes."""

    names: frozenset[str]
    attributes: frozenset[str]
    modules: frozenset[str]
    computed: frozenset[str]  # in words, each with its place


@lru_cache(maxsize=4096)
def named(code: CodeType) -> Named:
    """What code names, that of inner functions included."""
    names, attributes, modules, computed = set(), set(), set(), set()
    instructions = [each for each in dis.get_instructions(code) if each.opname not in SILENT]
    for i, each in enumerate(instructions):
        if each.opname in GLOBAL:
            names.add(each.argval)
            if each.argval == "getattr":
                _asked(code, instructions[i:], attributes, computed)
        elif each.opname == "IMPORT_NAME":
            modules.add(each.argval)
        elif each.opcode in dis.hasname:
            attributes.add(each.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            for mine, inner in zip((names, attributes, modules, computed), named(constant), strict=True):
                mine |= inner
    return Named(*map(frozenset, (names, attributes, modules, computed)))


def _asked(code, instructions, attributes, computed):
    """The attribute that ``getattr(x, name)`` asks for; a name that is no literal is one that is computed."""
    call = next((i for i, each in enumerate(instructions) if each.opname in CALLS and each.arg in (2, 3)), None)
    if call is None:
        return
    given = instructions[1:call] if instructions[call].arg == 3 else instructions[call - 1 : call]
    texts = [each.argval for each in given if each.opname == "LOAD_CONST" and type(each.argval) is str]
    if texts:
        attributes.update(texts)
    else:
        name = given[-1].argval[-1] if type(given[-1].argval) is tuple else given[-1].argval
        computed.add(f"getattr(..., {name}) at {Path(code.co_filename).name}:{instructions[0].positions.lineno}")
