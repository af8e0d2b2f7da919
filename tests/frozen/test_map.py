"""The table of files in docs/freeze.md is what stands in `qad/frozen`."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_file_is_in_the_table():
    page = (ROOT / "docs" / "freeze.md").read_text("utf-8")
    rows = page.split("## How a call goes")[1].split("\n## ")[0].splitlines()
    named = [name for row in rows if row.startswith("| `") for name in re.findall(r"`([\w/]+\.py)`", row.split("|")[1])]
    there = {path.name for path in (ROOT / "qad" / "frozen").glob("*.py")} - {"__init__.py"}
    inner = {path.name for path in (ROOT / "qad" / "frozen" / "capture").glob("*.py")} - {"__init__.py"}
    assert len(named) == len(set(named))
    assert there <= {name.rpartition("/")[2] for name in named} <= there | inner
