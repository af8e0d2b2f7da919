"""The tables of the README, made of kept results; `python -m benchmarks.report` writes it and docs/benchmarks."""

import json
from pathlib import Path

from . import RESULTS
from .first_use import KEPT, in_words
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
FIRST, FIRST_END = "<!-- first uses: python -m benchmarks.report -->", "<!-- end of first uses -->"
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


def first_uses():
    """Imports, and first and second calls in fresh processes, as Markdown."""
    cases = json.loads(KEPT.read_text("utf-8"))["cases"]
    libraries = list(dict.fromkeys(library for found in cases.values() for library in found))
    imports = [min(found[x]["import"] for found in cases.values() if x in found) for x in libraries]
    rows = [["first call, then the second", *libraries], ["import alone", *map(in_words, imports)]]
    for case, found in cases.items():
        both = [(found[x]["first"], found[x]["second"]) if x in found else None for x in libraries]
        rows.append([case, *(", ".join(map(in_words, times)) if times else "–" for times in both)])
    return markdown(rows)


def write():
    """Put the tables in their places in the README."""
    text = PAGE.read_text("utf-8")
    for begin, end, made in ((BEGIN, END, table), (FIRST, FIRST_END, first_uses)):
        before, after = text[: text.index(begin)], text[text.index(end) :]
        text = f"{before}{begin}\n{made()}\n{after}"
    PAGE.write_text(text, "utf-8")
