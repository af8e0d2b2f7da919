"""Examples, run in their short form: what they printed, drew and computed."""

import io
import re
import runpy
import shutil
import sys
import tempfile
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

EXAMPLES = Path(__file__).parents[2] / "examples"
PAPERS = sorted(str(path.relative_to(EXAMPLES)) for path in EXAMPLES.glob("papers/*.py"))  # without figures
NAMES = sorted(
    str(path.relative_to(EXAMPLES)) for path in EXAMPLES.glob("*/*.py") if path.parent.name not in ("interop", "papers")
)  # those of bridges are run by tests/interop/test_pages.py
NUMBER = r"(-?\d[\d.e+-]*)"
PAIR = re.compile(rf"{NUMBER}   exact {NUMBER}")


@cache
def run(name):
    """The script ``name --short``, run once on a copy: its names, .compared (pairs of number and exact one), .png."""
    import matplotlib
    from matplotlib import pyplot

    matplotlib.use("agg")
    with tempfile.TemporaryDirectory() as folder:
        script = Path(shutil.copytree(EXAMPLES / Path(name).parent, Path(folder) / "copy")) / Path(name).name
        script.with_suffix(".png").unlink(missing_ok=True)
        with patch.object(sys, "argv", [str(script), "--short"]), redirect_stdout(io.StringIO()) as out:
            names = runpy.run_path(str(script))
        pyplot.close("all")
        figure = script.with_suffix(".png")
        png = figure.read_bytes() if figure.exists() else b""
    compared = [(float(number), float(exact)) for number, exact in PAIR.findall(out.getvalue())]
    return SimpleNamespace(**names, compared=compared, png=png)
