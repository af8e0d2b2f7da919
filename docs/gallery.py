"""Write docs/gallery.md and its figures: ``python docs/gallery.py`` runs all examples, which takes some minutes.

``python docs/gallery.py mps/07_quench.py`` runs only the ones that are named, and leaves the rest as they are.
"""

import ast
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image  # which comes with matplotlib

DOCS = Path(__file__).resolve().parent
EXAMPLES, PAGE, FIGURES = DOCS.parent / "examples", DOCS / "gallery.md", DOCS / "gallery"
MOST = 40_000  # bytes of a figure
STYLE = """axes.prop_cycle: cycler('color', ['0072B2', 'D55E00', '009E73', 'CC79A7', 'E69F00', '56B4E9', '000000'])
savefig.dpi: 80
savefig.bbox: tight
"""  # the colours of M. Okabe and K. Ito, which all eyes tell apart
HEADINGS = {
    "mps": "Chains",
    "peps": "Two dimensions",
    "trg": "Classical models",
    "circuits": "Circuits",
    "vmc": "Variational Monte Carlo",
}
COMPARED = re.compile(r"\S.*?   exact \S+(?: \w+)?(?: \([^)]*\))?")
ROW = re.compile(r"^\| !\[.*?\]\(gallery/(.*?)\.png\) .*$", re.MULTILINE)
HEAD = """# Gallery

Every example is a page of physics: it draws one figure and prints a number with its exact value, and says where that
value comes from. Run one in a clone of the repository, `python examples/mps/07_quench.py`, or its short form with
`--short`. Times are seconds of processor time on one thread of an ordinary machine, imports and figure included.

This page is written by `python docs/gallery.py`, which runs them all.
"""


def names():
    """All examples but those of bridges, which need other packages."""
    found = [str(path.relative_to(EXAMPLES)) for path in sorted(EXAMPLES.glob("*/*.py"))]
    return [name for name in found if name.split("/")[0] in HEADINGS]


def key(name):
    """What the figure of an example is called."""
    return name.removesuffix(".py").replace("/", "_")


def row(name, folder):
    """Run an example; its line of the table."""
    own = {"PYTHONPATH": str(DOCS.parent), "MATPLOTLIBRC": str(folder / "style"), "MPLBACKEND": "agg"}
    environment = os.environ | own | {"OMP_NUM_THREADS": "1"}
    script, before = folder / "examples" / name, used()
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, env=environment, check=True)
    seconds = used() - before
    figure = FIGURES / f"{key(name)}.png"
    Image.open(script.with_suffix(".png")).convert("RGB").save(figure, optimize=True)
    assert figure.stat().st_size < MOST, figure
    number = " ".join(COMPARED.findall(done.stdout)[-1].split())
    return written(name, number.replace("<", "&lt;"), seconds)


def used():
    """Seconds of processor time of all processes that have been run."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def written(name, number, seconds):
    """The line of an example in the table."""
    what, link = title(name), f"[{name}](../examples/{name})"
    return f"| ![{what}](gallery/{key(name)}.png) | **{what}**<br>{link}<br>{number}<br>{seconds:.0f} s |"


def title(name):
    """What an example is about: its first line, as far as the first formula."""
    line = ast.get_docstring(ast.parse((EXAMPLES / name).read_text("utf-8"))).splitlines()[0]
    return re.split(r"[,:(]", line.rstrip("."))[0].strip()


def page(rows):
    """The text of the page; `rows` are lines by the keys of the examples."""
    text = HEAD
    for folder, heading in HEADINGS.items():
        lines = [rows[key(name)] for name in names() if name.startswith(f"{folder}/")]
        text += f"\n## {heading}\n\n| figure | example, number, time |\n|---|---|\n" + "\n".join(lines) + "\n"
    return text


def main(chosen):
    """Run examples and write the page."""
    FIGURES.mkdir(exist_ok=True)
    rows = {found[1]: found[0] for found in ROW.finditer(PAGE.read_text("utf-8"))} if PAGE.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        shutil.copytree(EXAMPLES, folder / "examples")
        (folder / "style").write_text(STYLE)
        for name in chosen or names():
            rows[key(name)] = row(name, folder)
            print(name, flush=True)
    PAGE.write_text(page(rows), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
