"""Every example in docstrings, in docs/, in the README and in CONTRIBUTING.md runs and prints what it says."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import numpy as np
import pytest

import qad
from benchmarks.guides import COSTS, PLACE

ROOT = Path(__file__).parent.parent


def source(name):
    """The text of a module of qad."""
    path = ROOT.joinpath(*name.split("."))
    return (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text("utf-8")


MODULES = sorted(m.name for m in pkgutil.walk_packages(qad.__path__, "qad."))
EXAMPLES = [name for name in MODULES if ">>> " in source(name)]
PAGES = sorted(
    [*ROOT.glob("docs/*.md"), *ROOT.glob("docs/benchmarks/*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
)
SLOW = {  # pages and modules whose examples take about a second or more, run at night
    "classical.md", "ground_states.md", "implicit.md", "peps.md", "peps_finite.md", "pictures.md", "symmetric.md",
    "which_search.md", "qad.circuit.engines.warming", "qad.interop.jax.wrapped", "qad.interop.torch",
    "qad.mps.charges.quantities", "qad.mps.measure.correlators", "qad.mps.models.bosons", "qad.mps.models.uniform",
    "qad.mps.thermal.samples", "qad.mps.thermal.state", "qad.mps.uniform.excitations", "qad.mps.uniform.minimum",
    "qad.mps.uniform.state", "qad.peps.classical.models", "qad.peps.search.cluster_update",
    "qad.peps.search.simple_update",
}  # fmt: skip
pytestmark = pytest.mark.usefixtures("registries_as_before")
COLUMN, MOST_SCROLL = 88, 20  # of the site's code
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def imported(name):
    """A module; None where it is a bridge to a package that is not there, and says how to get it."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if "pip install" in error.msg:
            return None
        raise


def by_cost(names):
    """Cases for these pages or modules, the slow ones marked."""
    marks = [(pytest.mark.slow,) if getattr(name, "name", name) in SLOW else () for name in names]
    return [pytest.param(name, marks=mark) for name, mark in zip(names, marks, strict=True)]


def test_what_is_slow_is_there():
    pages = {page.name for page in PAGES}
    assert [name for name in SLOW - pages if ">>> " not in source(name)] == []  # also of bridges to what is not there


def test_every_module_can_be_imported():
    assert len([name for name in MODULES if imported(name)]) > len(MODULES) - 10


@pytest.mark.parametrize("name", by_cost(EXAMPLES))
def test_docstrings(name):
    if (module := imported(name)) is None:
        pytest.skip("needs a package that is not there")
    failed, _ = doctest.testmod(module, optionflags=FLAGS, extraglobs={"np": np, "qad": qad})
    assert not failed


@pytest.mark.parametrize("page", by_cost(PAGES), ids=lambda p: p.name)
def test_pages(page):
    failed, _ = doctest.testfile(str(page), module_relative=False, optionflags=FLAGS, encoding="utf-8")
    assert not failed


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_examples_are_shown_as_code(page):
    """Outside of a fenced block ``>>>`` is a quotation in Markdown."""
    fenced = False
    for line in page.read_text("utf-8").splitlines():
        fenced ^= line.startswith("```")
        assert fenced or not line.startswith(">>> "), line


def test_code_fits_the_column():
    """Wider blocks scroll: at most those that are pictures of a house, commands and outputs of one piece."""
    blocks = [block for page in PAGES for block in re.findall(r"^```.*?^```$", page.read_text("utf-8"), re.M | re.S)]
    assert len(blocks) > 200
    assert sum(max(map(len, block.splitlines())) > COLUMN for block in blocks) <= MOST_SCROLL


def test_every_guide_tells_what_it_takes():
    """Between two comments, a table that `benchmarks.guides` has written."""
    guides = (ROOT / "docs/index.md").read_text("utf-8").split("## How do I")[1].split("\n## ")[0]
    for name in re.findall(r"\((\w+)\.md\)", guides):
        page = (ROOT / f"docs/{name}.md").read_text("utf-8")
        assert name in COSTS and len(re.findall(r"^\| .*\d (?:µs|ms|s|MB) \|", PLACE.search(page)[0], re.M)) > 0


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_tables_have_heads(page):
    """A row after a blank line is no table."""
    lines = page.read_text("utf-8").splitlines()
    for before, line, after in zip(lines, lines[1:], lines[2:], strict=False):
        if line.startswith("|") and not before.startswith("|"):
            assert after.startswith("|") and set(after) <= set("|-: "), line
