"""What the code of a function mentions by name: globals, attributes, modules that it imports."""

from __future__ import annotations

import dis
from functools import lru_cache
from types import CodeType
from typing import Any

SILENT = frozenset(("EXTENDED_ARG", "PUSH_NULL", "CACHE", "PRECALL", "RESUME"))
GLOBAL = frozenset(("LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS"))


@lru_cache(maxsize=4096)
def mentions(code: CodeType) -> tuple[frozenset[str], frozenset[tuple[Any, str]], frozenset[str]]:
    """Names of globals, pairs (what stands before, attribute), and imported modules, inner functions included.

    Text that could be the name of an attribute counts as one, for ``getattr(x, "name")``.
    """
    names, attributes, modules, before = set(), set(), set(), None
    for instruction in dis.get_instructions(code):
        if instruction.opname in SILENT:
            continue
        name = instruction.argval if type(instruction.argval) is str else None
        if instruction.opname in GLOBAL:
            names.add(name)
        elif instruction.opname == "IMPORT_NAME":
            modules.add(name)
        elif instruction.opcode in dis.hasname:
            attributes.add((before, name))
        before = name
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            for mine, inner in zip((names, attributes, modules), mentions(constant), strict=True):
                mine |= inner
        elif type(constant) is str and constant.isidentifier():
            attributes.add((None, constant))
    return frozenset(names), frozenset(attributes), frozenset(modules)
