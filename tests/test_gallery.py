"""The gallery shows every example, in small figures; the pictures of docs/ are what qad draws."""

import importlib.util
import re
from pathlib import Path

import pytest

import qad

pytest.importorskip("matplotlib")
ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def script(name):
    """A script of docs/ as a module."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GALLERY, PICTURES = script("gallery"), script("pictures")
ROWS = {found[1]: found[0] for found in GALLERY.ROW.finditer(GALLERY.PAGE.read_text("utf-8"))}


def test_every_example_has_its_line():
    assert list(ROWS) == [
        GALLERY.key(n) for folder in GALLERY.HEADINGS for n in GALLERY.names() if n.startswith(folder)
    ]
    assert GALLERY.page(ROWS) == GALLERY.PAGE.read_text("utf-8")
    assert set(GALLERY.HEADINGS) == {p.parent.name for p in (ROOT / "examples").glob("*/*.py")} - {"interop", "papers"}


@pytest.mark.parametrize("name", GALLERY.names())
def test_its_line_says_what_it_is(name):
    line = ROWS[GALLERY.key(name)]
    number, seconds = re.search(r"<br>([^|<]* exact [^|<]*)<br>(\d+) s \|$", line).groups()
    assert re.search(r"\d", number)
    assert line == GALLERY.written(name, number, float(seconds))
    figure = (GALLERY.FIGURES / f"{GALLERY.key(name)}.png").read_bytes()
    assert figure.startswith(b"\x89PNG")
    assert len(figure) < GALLERY.MOST


@pytest.mark.parametrize("name", PICTURES.DRAWINGS)
def test_drawings_are_what_qad_draws(name):
    shown = (PICTURES.FOLDER / f"{name}.svg").read_text("utf-8")
    assert shown == PICTURES.DRAWINGS[name]().svg, "python docs/pictures.py draws them anew"


def test_the_citation_names_this_version():
    text = (ROOT / "CITATION.cff").read_text("utf-8")
    assert re.search(r"^version: (.*)$", text, re.MULTILINE)[1] == qad.__version__
    assert "license: Apache-2.0" in text
