"""The table of the README, made of kept results; `python -m benchmarks.report` writes it, and docs/benchmarks.md."""

import json
from pathlib import Path

from . import RESULTS
from .report import SELF, duration, markdown

PAGE = Path(__file__).parents[1] / "README.md"
BEGIN, END = "<!-- table: python -m benchmarks.report -->", "<!-- end of table -->"
ROWS = (  # what is timed, and the benchmark and the case that timed it
    ("`tr(x1 @ x2)`, 30x30, complex", "trace_product", "complex"),
    ("energy of a chain of 40 sites, bond 8", "mps_energy", "bond 8"),
    ("the same, bond 32", "mps_energy", "bond 32"),
    ("the same, bond 64", "mps_energy", "bond 64"),
    ("norm of a 4x4 PEPS, bond 3", "contraction", "norm of 4x4 PEPS, bond 3"),
    ("singular values and vectors, 256x256", "linalg", "svd, 256"),
)
PEERS = ("NumPy by hand", "torch", "jax, jitted", "autograd")


def medians(benchmark, case):
    """The median time of every contender of a case, in seconds."""
    results = json.loads((RESULTS / f"{benchmark}.json").read_text("utf-8"))
    (entries,) = (found["results"] for found in results["cases"] if found["case"] == case)
    return {entry["contender"]: entry["median"] for entry in entries}


def row(title, benchmark, case):
    """qad's time, and those of its peers as multiples of it."""
    times = medians(benchmark, case)
    shares = [f"{times[peer] / times[SELF]:.1f} x" if peer in times else "–" for peer in PEERS]
    return [title, duration(times[SELF]), *shares]


def table():
    """The table, as Markdown."""
    return markdown([["value and gradient of", SELF, *PEERS], *(row(*line) for line in ROWS)])


def write():
    """Put the table in its place in the README."""
    text = PAGE.read_text("utf-8")
    before, after = text[: text.index(BEGIN)], text[text.index(END) :]
    PAGE.write_text(f"{before}{BEGIN}\n{table()}\n{after}", "utf-8")
