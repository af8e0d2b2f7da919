"""The site builds without warnings, describes every public name, and is found by who searches.

Run by ``python -m pytest -m site``, with the packages of the extra ``docs``.
"""

import html
import importlib
import inspect
import json
import re
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

pytestmark = pytest.mark.site
DOCS = Path(__file__).parent.parent / "docs"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the built site."""
    out = tmp_path_factory.mktemp("site")
    build = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-E", "-q", str(DOCS), str(out)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert build.returncode == 0, build.stderr
    return out


def test_every_public_name_is_in_the_reference(site):
    entries = (site / "objects.inv").read_bytes().split(b"\n", 4)[4]  # after four lines of a head
    known = {line.partition(" ")[0] for line in zlib.decompress(entries).decode().splitlines()}
    sys.path.insert(0, str(DOCS))
    try:
        modules = importlib.import_module("building.reference").MODULES
    finally:
        sys.path.remove(str(DOCS))
    for name in modules:
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError:
            continue  # a bridge to a package that is not there
        for each in getattr(module, "__all__", ()):
            if not inspect.ismodule(getattr(module, each)):
                assert f"{name}.{each}" in known
    assert len(known) > 700


def test_a_search_leads_to_a_formula_and_an_example(site):
    """What the page of search looks up, and what it leads to, with formulas that need no script."""
    index = json.loads((site / "searchindex.js").read_text("utf-8").removeprefix("Search.setIndex(").removesuffix(")"))
    (page,) = {index["docnames"][found[0]] for found in index["objects"]["qad.linalg"] if found[-1] == "truncated_svd"}
    text = (site / f"{page}.html").read_text("utf-8")
    entry = text.split('id="qad.linalg.truncated_svd"')[1].split('<dl class="py ')[0]
    assert "<math" in entry
    assert "(array([3., 2.]), np.float64(1.0))" in html.unescape(re.sub(r"<[^>]+>", "", entry))
