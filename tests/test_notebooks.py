"""The notebooks of docs/ are a course: they run from their first cell to their last, and are kept as they ran.

Three of them run in an ordinary run, all in the nightly one.
"""

import json
import re
from itertools import groupby
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))


def code_of(notebook):
    """The cells of code."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def outputs(notebook):
    """What each cell gives: streams by name, other kinds; a busy machine cuts a stream into several pieces."""
    kinds = [[o.get("name", o["output_type"]) for o in cell["outputs"]] for cell in code_of(notebook)]
    return [[kind for kind, _ in groupby(cell)] for cell in kinds]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebooks_are_kept_as_they_ran(path):
    cells = code_of(json.loads(path.read_text("utf-8")))
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert not any(output["output_type"] == "error" for cell in cells for output in cell["outputs"])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_pictures_have_a_text_for_who_cannot_see_them(path):
    for cell in code_of(json.loads(path.read_text("utf-8"))):
        kinds = {kind for output in cell["outputs"] for kind in output.get("data", ())}
        if kinds & {"image/svg+xml", "image/png"}:
            assert len(cell["metadata"]["mystnb"]["image"]["alt"]) > 20


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_each_ends_in_two_exercises_with_folded_solutions(path):
    *_, exercises, first, second = json.loads(path.read_text("utf-8"))["cells"]
    assert re.search(r"^## Exercises\n\n1\. .*\n2\. ", "".join(exercises["source"]), re.DOTALL | re.MULTILINE)
    for solution in (first, second):
        assert solution["metadata"]["tags"] == ["hide-cell"]
        assert "assert" in "".join(solution["source"]) or "print" in "".join(solution["source"])


def test_the_course_has_twelve_weeks_and_every_notebook():
    course = (DOCS / "course.md").read_text("utf-8")
    assert [int(week) for week in re.findall(r"^\| (\d+) \|", course, re.MULTILINE)] == list(range(1, 13))
    assert sorted(re.findall(r"\(notebooks/(\w+)\.ipynb\)", course)) == [path.stem for path in NOTEBOOKS]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
@pytest.mark.filterwarnings("default")  # Jupyter's own
@pytest.mark.sampled(3)
def test_notebooks_run(path, monkeypatch):
    monkeypatch.delenv("MPLBACKEND", raising=False)  # pictures go into the notebook
    for name in ("QAD_MESSAGES", "QAD_PROGRESS"):  # what is told where something takes long
        monkeypatch.setenv(name, "0")
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": path.parents[2]}}).execute()
    kept = json.loads(path.read_text("utf-8"))
    assert outputs(notebook) == outputs(kept)
