"""The site builds without warnings, describes every public name, and is found by who searches in a browser.

Run by ``python -m pytest -m site``, with the packages of the extra ``docs``.
"""

import functools
import http.server
import importlib
import inspect
import json
import re
import shutil
import subprocess
import sys
import threading
import zlib
from pathlib import Path

import pytest

pytestmark = pytest.mark.site
DOCS = Path(__file__).parent.parent / "docs"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the built site."""
    pytest.importorskip("sphinx")
    pytest.importorskip("myst_nb")
    out = tmp_path_factory.mktemp("site")
    build = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-E", "-q", str(DOCS), str(out)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert build.returncode == 0, build.stderr
    return out


@pytest.fixture(scope="module")
def address(site):
    """Where the site is served."""
    handler = functools.partial(Quiet, directory=site)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Says nothing of requests."""

    def log_message(self, *_):
        pass


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


def seen(url, profile, *flags, seconds=20):
    """What a browser shows of a page when its scripts have run, as HTML."""
    flags = [*FLAGS, *flags, f"--user-data-dir={profile}", f"--virtual-time-budget={1000 * seconds}"]
    command = [CHROMIUM, *flags, "--dump-dom", url]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10 * seconds).stdout


@pytest.mark.skipif(not CHROMIUM, reason="no Chromium here")
def test_a_search_leads_to_a_formula_and_an_example(address, tmp_path):
    results = seen(f"{address}/search.html?q=truncated_svd", tmp_path)
    links = re.findall(r'href="([^"]*#qad\.linalg\.truncated_svd)"', results)
    assert links
    page, _, anchor = links[0].partition("#")
    shown = seen(f"{address}/{page}#{anchor}", tmp_path)
    entry = shown.split(f'id="{anchor}"')[1].split('<dl class="py ')[0]
    assert "<math" in entry
    text = re.sub(r"<[^>]+>", "", entry)
    assert "(array([3., 2.]), np.float64(1.0))" in text


COUNTS = """<iframe width=1400 height=1200></iframe><p></p><script>
const pages = %s, frame = document.querySelector("iframe");
let all = 0, wide = 0;
frame.onload = () => {
    for (const block of frame.contentDocument.querySelectorAll("article pre"))
        { all += 1; wide += block.scrollWidth > block.clientWidth + 1; }
    if (pages.length) frame.src = pages.pop();
    else document.querySelector("p").textContent = `${wide} of ${all} scroll`;
};
frame.src = pages.pop();
</script>"""  # of all blocks of code at a window of 1400 pixels


@pytest.mark.skipif(not CHROMIUM, reason="no Chromium here")
def test_code_can_be_read_without_scrolling(site, address, tmp_path):
    pages = [str(path.relative_to(site)) for path in site.rglob("*.html") if "_modules" not in path.parts]
    (site / "counts.html").write_text(COUNTS % json.dumps(pages))
    shown = seen(f"{address}/counts.html", tmp_path, "--window-size=1500,1300", seconds=60)
    wide, blocks = map(int, re.search(r"<p>(\d+) of (\d+) scroll</p>", shown).groups())
    assert blocks > 700
    assert wide <= 20
