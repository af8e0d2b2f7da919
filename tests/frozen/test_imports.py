"""The files of the frozen floor import each other in one direction, imports inside of functions included."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import qad

ROOM = Path(qad.__file__).parent / "frozen"


def imported(path):
    """The modules of the floor that a file imports, anywhere in it."""
    nodes = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.ImportFrom)]
    found = set()
    for module, name in ((node.module, alias.name) for node in nodes for alias in node.names):
        found.add(f"{module}.{name}" if f"{module}.{name}" in MODULES else module)
    return found & MODULES.keys()


def name_of(path):
    return ".".join(("qad", *path.relative_to(ROOM.parent).with_suffix("").parts)).removesuffix(".__init__")


MODULES = {name_of(path): path for path in ROOM.rglob("*.py")}


def test_no_circle():
    graph = {name: imported(path) for name, path in MODULES.items()}
    assert list(TopologicalSorter(graph).static_order())  # raises, naming a circle
    assert "qad.frozen.program.program" in graph["qad.frozen.program.functions"] | graph["qad.frozen.passes.rewriting"]


def test_every_file_is_imported():
    used = set().union(*[imported(path) for path in MODULES.values()])
    packages = {name for name, path in MODULES.items() if path.name == "__init__.py"}
    assert not set(MODULES) - used - packages - {"qad.frozen.freeze"}
