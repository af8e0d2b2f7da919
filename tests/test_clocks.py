"""No test asks a clock: on a busy machine it would fail for no fault of the code.  See `tests.counting`."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
MODULES = {"time", "timeit", "datetime", "cProfile", "profile"}
ATTRIBUTES = {
    "perf_counter",
    "process_time",
    "monotonic",
    "thread_time",
    "clock_gettime",
    "ru_utime",
    "ru_stime",
}


def clocks(source):
    """Lines of a program that name a clock."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = {alias.name.partition(".")[0] for alias in node.names} & MODULES
        elif isinstance(node, ast.ImportFrom):
            names = {(node.module or "").partition(".")[0]} & MODULES
        elif isinstance(node, ast.Attribute):
            of_os = isinstance(node.value, ast.Name) and node.value.id == "os"  # os.times, not those of a result
            names = {node.attr.removesuffix("_ns")} & (ATTRIBUTES | ({"times"} if of_os else set()))
        elif isinstance(node, ast.keyword):
            names = {node.arg} & {"deadline"} if not _is_none(node.value) else set()
        else:
            continue
        if names:
            yield node.lineno if hasattr(node, "lineno") else 0, names


def _is_none(node):
    return isinstance(node, ast.Constant) and node.value is None


def test_no_test_asks_a_clock():
    found = {path: list(clocks(path.read_text("utf-8"))) for path in sorted(TESTS.rglob("*.py"))}
    assert len(found) > 300
    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize("source", [
    "import time", "from time import perf_counter", "import timeit as t", "os.times()", "clock.perf_counter_ns()",
    "settings(deadline=200)",
])  # fmt: skip
def test_clocks_are_seen(source):
    assert list(clocks(source))
