"""Whose code it is, what it names, and what it asks of traced arrays.

The code of NumPy, SciPy, qad, Python's library and other installed packages is taken never to change.
"""

from __future__ import annotations

import dis
import sys
from functools import lru_cache
from pathlib import Path
from types import CodeType, FunctionType

import numpy as np

NUMERICAL = frozenset(("numpy", "scipy", "qad", "optree", "opt_einsum"))
INSTALLED = ("site-packages", "dist-packages")
HERE = str(Path(__file__).parents[1])
SCALAR = np.isscalar.__code__  # which asks for the class, and is answered as for a plain scalar
OURS = (str(Path(__file__).parents[2]), str(Path(np.__file__).parent))


def is_library(module: object) -> bool:
    """Whether a module of this name is one of NumPy's, SciPy's, qad's or Python's."""
    top = module.partition(".")[0] if type(module) is str else ""
    return top in NUMERICAL or top in sys.stdlib_module_names


def is_users(f: FunctionType) -> bool:
    """Whether the user wrote a function, so that what its code names may change."""
    return not (is_library(f.__globals__.get("__name__")) or any(part in f.__code__.co_filename for part in INSTALLED))


@lru_cache(maxsize=4096)
def named(code: CodeType) -> tuple[frozenset[str], ...]:
    """What code names, that of inner functions included.

    These are globals, attributes, modules that it imports, and in words the places where it computes a name.
    """
    names, attributes, modules, computed = set(), set(), set(), set()
    instructions = list(dis.get_instructions(code))
    for i, each in enumerate(instructions):
        if each.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            names.add(each.argval)
            if each.argval == "getattr":
                literal = _literal(instructions[i:])
                place = f"getattr at {Path(code.co_filename).name}:{each.positions.lineno}"
                attributes.add(literal) if literal else computed.add(place)
        elif each.opname == "IMPORT_NAME":
            modules.add(each.argval)
        elif each.opcode in dis.hasname:
            attributes.add(each.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            for mine, inner in zip((names, attributes, modules, computed), named(constant), strict=True):
                mine |= inner
    return tuple(map(frozenset, (names, attributes, modules, computed)))


def _literal(instructions):
    """The attribute that ``getattr(x, name)`` asks for; None where the name is no literal."""
    for each in instructions:
        if each.opname == "LOAD_CONST" and type(each.argval) is str:
            return each.argval
        if each.opname == "CALL" and each.arg in (2, 3):
            return None
    return None


# -- whose code asks --------------------------------------------------------------------------------------------------


def whereabouts() -> str:
    """File and line of the user's code that led here."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(OURS):
        frame = frame.f_back
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"


def is_ours() -> bool:
    """Whether qad (other than this floor) or NumPy asks something of a traced array, not the user's code."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename.startswith(HERE):
        frame = frame.f_back
    return frame.f_code.co_filename.startswith(OURS)


def asked_by_us() -> bool:
    """Whether the caller's caller is a function of qad or NumPy."""
    code = sys._getframe(2).f_code
    return code.co_filename.startswith(OURS) and code is not SCALAR
