"""Pictures and cards: what they write, in which formats, and what they do where matplotlib is not there."""

import re
import sys
import webbrowser
from pathlib import Path
from urllib.parse import unquote, urlparse
from xml.etree import ElementTree

import pytest

import qad
from qad.core.errors import ArgumentError
from qad.installed import command
from qad.showing import Drawing, Picture, card


def drawn():
    """A picture of one shape of every kind."""
    drawing = Drawing(120, 80)
    drawing.line([(10, 10), (60, 10)], dashed=True)
    drawing.path("MLC", [(5, 5), (6, 6), (7, 7), (8, 8), (9, 9)])
    drawing.path("MLL", [(0, 0), (5, 0), (0, 5)], "none", fill="#000000")
    drawing.box(20, 20, 30, 20)
    drawing.disc(90, 40, 10)
    drawing.text(60, 60, "a < b & $c$")
    return Picture(drawing, "a < b")


def test_svg_is_xml_with_a_title_and_its_words():
    root = ElementTree.fromstring(drawn().svg)
    tags = [element.tag.rpartition("}")[2] for element in root]
    assert tags == ["title", "rect", "path", "path", "path", "rect", "circle", "text"]
    assert (root[0].text, root[-1].text) == ("a < b", "a < b & $c$")
    assert root[3].get("d") == "M5.0,5.0 L6.0,6.0 C7.0,7.0 8.0,8.0 9.0,9.0"


def test_files(tmp_path):
    pytest.importorskip("matplotlib")
    picture = drawn()
    for name, start in (("a.svg", b"<svg"), ("a.png", b"\x89PNG"), ("a.PDF", b"%PDF")):
        picture.save(tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)
    with pytest.raises(ArgumentError, match=r"\.svg, \.png, \.pdf"):
        picture.save(tmp_path / "a.gif")
    width = int.from_bytes(picture.png(dpi=72)[16:20])  # of the sheet, a pixel each
    assert width == 120


def test_notebooks_are_given_one_form_of_each():
    pytest.importorskip("matplotlib")
    drawing, plot = drawn(), qad.viz.history([2.0, 1.0])
    assert drawing._repr_svg_() == drawing.svg
    assert drawing._repr_png_() is None
    assert plot._repr_svg_() is None
    assert plot._repr_png_().startswith(b"\x89PNG")
    assert plot.svg.index("<svg") > 0
    assert plot.alt in plot.svg


def test_without_matplotlib_svg_is_written_and_the_rest_names_the_command(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    drawn().save(tmp_path / "a.svg")
    for refused in (lambda: drawn().png(), lambda: drawn().save(tmp_path / "a.pdf"), lambda: qad.viz.history([1.0])):
        with pytest.raises(ImportError, match=re.escape(command("viz"))):
            refused()


def test_show_opens_a_file(monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    drawn().show()
    path = Path(unquote(urlparse(opened[0]).path))
    assert path.read_text("utf-8") == drawn().svg
    path.unlink()


def test_painting_into_axes():
    figure = pytest.importorskip("matplotlib.figure").Figure()
    ax = figure.add_subplot()
    assert drawn().paint(ax).alt == "a < b"
    assert len(ax.patches) == 5
    assert ax.get_ylim() == (80, 0)
    with pytest.raises(ArgumentError, match="this is a plot"):
        qad.viz.history([1.0]).paint(ax)


def test_cards_escape_what_they_show():
    shown = card("<b>", [("x & y", "1 < 2")], "<pre>")
    ElementTree.fromstring(shown)  # which is well formed
    assert all(word in shown for word in ("&lt;b&gt;", "x &amp; y", "1 &lt; 2", "&lt;pre&gt;"))
    assert "color" not in shown.replace("color:inherit", "")  # the notebook's own, dark or light
