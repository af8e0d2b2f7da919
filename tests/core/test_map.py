"""docs/tape.md is the map of core: every file has its place there, and nothing else has one."""

import re
from pathlib import Path

import qad
from tests.test_layers import read_lines

CORE = Path(qad.__file__).parent / "core"
PAGE = Path(qad.__file__).parents[1] / "docs" / "tape.md"


def rows():
    """Pairs of a room, "" for those that stand alone, and a file in it, as the table has them."""
    room, found = "", []
    for line in PAGE.read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 3 and cells[1].startswith("`"):
            names = re.findall(r"`(\w+)\.py`", cells[1])
            room = cells[0].strip("`") or ("" if (CORE / f"{names[0]}.py").exists() else room)
            found += [(room, name) for name in names]
    return found


def test_the_map_has_every_file_once():
    files = {path.relative_to(CORE).with_suffix("").parts for path in CORE.rglob("*.py") if path.stem != "__init__"}
    there = [("", *parts)[-2:] for parts in files]
    assert sorted(rows()) == sorted(there)


READ_LATER = {"constants", "entries", "roots", "views", "writing"}  # of the memory of operands, not of derivatives


def test_the_room_to_read_first_can_be_read_in_one_sitting():
    paths = [path for path in (CORE / "tape").glob("*.py") if path.stem not in READ_LATER]
    lines = sum(len(read_lines(path.read_text("utf-8"))) for path in paths)
    assert lines < 1200
