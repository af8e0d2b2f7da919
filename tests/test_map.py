"""The map of the house in CONTRIBUTING.md is what stands there; ``python -m tests.test_map`` draws it anew.

It is made of the folders of `qad` and the first line of each docstring; the floors are those of `test_layers`.
"""

import ast
import textwrap
from pathlib import Path

import pytest

from tests.test_layers import BESIDE_CORE, FLOORS, WORDS

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "CONTRIBUTING.md"
START, END = "<!-- map: python -m tests.test_map -->\n```text\n", "```\n<!-- end of map -->"
NAMES, WIDTH = 20, 115  # columns: where descriptions begin, and the longest line


def first_line(path):
    """The first line of a module's or a package's docstring."""
    source = path / "__init__.py" if path.is_dir() else path
    docstring = ast.get_docstring(ast.parse(source.read_text("utf-8")))
    assert docstring, f"{source} has no docstring: say in one line what the room holds"
    return docstring.splitlines()[0]


def room(path, depth=0):
    """The lines of a module or package, and of the packages in it."""
    mark = "  " * depth + ("" if depth == 0 else "· ") + path.name
    lines = textwrap.wrap(first_line(path), WIDTH - NAMES) or [""]
    found = [f"{mark if i == 0 else '':{NAMES}}{line}".rstrip() for i, line in enumerate(lines)]
    inner = [p for p in sorted(path.iterdir()) if (p / "__init__.py").exists()] if path.is_dir() else []
    return found + [line for p in inner for line in room(p, depth + 1)]


def drawn(root):
    """The map of the package folder `root`: the roof, the floors from the highest down, the doors beside the lowest."""
    doors = [root / name if (root / name).is_dir() else root / f"{name}.py" for name in (*BESIDE_CORE, WORDS)]
    floors = [[root / name] for name in reversed(FLOORS[1:])] + [doors, [root / FLOORS[0]]]
    rule, roof = "─" * WIDTH, [f"{'qad':{NAMES}}everything public, gathered from all floors"]
    parts = [roof] + [[line for path in floor for line in room(path)] for floor in floors]
    return "\n".join(line for part in parts for line in (rule, *part)) + f"\n{rule}\n"


def test_the_map_is_true():
    page = PAGE.read_text("utf-8")
    shown = page.split(START)[1].split(END)[0]
    assert shown == drawn(ROOT / "qad"), "the house has changed: `python -m tests.test_map` draws the map anew"


def test_every_room_is_on_the_map():
    """Also a floor that nobody put into FLOORS."""
    rooms = {p.parent.relative_to(ROOT / "qad") for p in (ROOT / "qad").rglob("__init__.py")} - {Path()}
    shown = [line.split()[0] for line in drawn(ROOT / "qad").splitlines() if line.startswith(tuple(FLOORS))]
    assert {p.parts[0] for p in rooms} - {*BESIDE_CORE, WORDS} == set(FLOORS) == set(shown)
    assert drawn(ROOT / "qad").count("· ") == sum(len(p.parts) > 1 for p in rooms)


def test_a_room_without_a_word_is_refused(tmp_path):
    (tmp_path / "attic").mkdir()
    (tmp_path / "attic" / "__init__.py").write_text("")
    with pytest.raises(AssertionError, match="has no docstring"):
        room(tmp_path / "attic")


if __name__ == "__main__":
    before, rest = PAGE.read_text("utf-8").split(START)
    PAGE.write_text(before + START + drawn(ROOT / "qad") + END + rest.split(END)[1], "utf-8")
