"""CONTRIBUTING.md names what is there; its snippets run in `test_docs`, its map is kept by `test_map`."""

import re
import shlex
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
FOLDERS = ("qad/", "tests/", "docs/", "benchmarks/", "examples/")


def test_the_files_that_it_names_are_there():
    named = re.findall(r"\]\(([^)]+)\)", PAGE) + re.findall(r"`([\w./]+)`", PAGE)
    named = [name for name in named if name.startswith(FOLDERS)]
    assert len(named) > 8
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_commands_run_what_is_there():
    (block,) = re.findall(r"^```sh\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    words = [shlex.split(line, comments=True) for line in block.splitlines()]
    modules = [line[line.index("-m") + 1] for line in words if line[0] == "python" and line[1] == "-m"]
    assert set(modules) == {
        "pytest", "tests.fuzz", "tests.test_map", "tests.test_typing", "benchmarks", "benchmarks.compare",
        "benchmarks.guides",
    }  # fmt: skip
    for module in set(modules) - {"pytest"}:
        place = ROOT.joinpath(*module.split("."))
        assert place.with_suffix(".py").exists() or (place / "__main__.py").exists()
    assert all((ROOT / line[1]).exists() for line in words if line[0] == "python" and line[1] != "-m")


def test_it_names_every_kind_of_random_programs():
    kinds = re.search(r"The kinds of random programs are (.*?)\.\n", PAGE, re.DOTALL)[1]
    modules = {p.stem for p in (ROOT / "tests" / "fuzz").glob("*.py") if "\ndef check(seed" in p.read_text("utf-8")}
    assert set(re.findall(r"`(\w+)`", kinds)) == modules
