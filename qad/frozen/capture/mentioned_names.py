"""What the code of a function mentions by name: globals, attributes, modules that it imports."""

from __future__ import annotations

import dis
import re
from functools import lru_cache
from types import CodeType
from typing import Any

SILENT = frozenset(("EXTENDED_ARG", "PUSH_NULL", "CACHE", "PRECALL", "RESUME"))
GLOBAL = frozenset(("LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS"))
FIELDS = re.compile(r"[.]([^\W\d]\w*)")  # attributes in the text of a format, "{0.name}"
DATES = re.compile(r"[<>=|]?(M8|datetime64)")  # a dtype whose "now" is a clock
READ_BY_PYTHON: dict[str, tuple[str, ...]] = {  # what an operation asks of objects without its name being in the code
    "MATCH_MAPPING": ("keys", "__getitem__"),
    "MATCH_KEYS": ("get",),
    "FORMAT_VALUE": ("__str__",),
    "FORMAT_SIMPLE": ("__str__",),
    "FORMAT_WITH_SPEC": ("__str__",),
    "CONVERT_VALUE": ("__str__",),
}


@lru_cache(maxsize=4096)
def mentions(code: CodeType) -> tuple[frozenset[str], frozenset[tuple[Any, str]], frozenset[str]]:
    """Names of globals, pairs (what stands before, attribute), and imported modules, inner functions included.

    Text that could be the name of an attribute counts as one, for ``getattr(x, "name")`` and ``case Kind(name=n)``.
    """
    names, attributes, modules = set(), set(), set()
    before = None
    for instruction in dis.get_instructions(code):
        if instruction.opname in SILENT:
            continue
        name = instruction.argval if type(instruction.argval) is str else None
        if instruction.opname in GLOBAL:
            names.add(name)
        elif instruction.opname == "IMPORT_NAME":
            modules.add(name)
        elif instruction.opcode in dis.hasname:
            owner = getattr(before, "argval", None)
            attributes.add((owner if type(owner) is str else None, name))
        attributes |= {(None, asked) for asked in _asked(instruction, before)}
        before = instruction
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            for mine, inner in zip((names, attributes, modules), mentions(constant), strict=True):
                mine |= inner
        else:
            attributes |= {(None, text) for text in _texts(constant)}
    return frozenset(names), frozenset(attributes), frozenset(modules)


def _asked(instruction, before):
    """What Python reads of an object for an operation; ``__match_args__`` and ``format_map`` stand for all."""
    if instruction.opname == "MATCH_CLASS":
        return ("__match_args__",) if instruction.arg else ()
    if instruction.opname == "BINARY_OP" and instruction.argrepr in ("%", "%="):
        return ("__str__",)
    if instruction.argval == "format" and instruction.opname != "LOAD_GLOBAL":
        literal = before is not None and before.opname == "LOAD_CONST" and type(before.argval) is str
        return (*(FIELDS.findall(before.argval) if literal else ("format_map",)), "__str__")
    return READ_BY_PYTHON.get(instruction.opname, ())


def _texts(constant):
    """Texts in a constant that could be names, or say what is a date."""
    if isinstance(constant, (tuple, frozenset)):
        return {text for each in constant for text in _texts(each)}
    if type(constant) is not str:
        return set()
    return {constant} if constant.isidentifier() else {"datetime64"} if DATES.match(constant) else set()
