"""Two tables of what counts most, made of kept results: a part of docs/benchmarks.md."""

import json

from . import RESULTS
from .first_use import KEPT, in_words
from .report import SELF, duration, markdown

ROWS = (  # what is timed, and the benchmark and the case that timed it
    ("`tr(x1 @ x2)`, 30x30, complex", "trace_product", "complex"),
    ("energy of a chain of 40 sites, bond 8", "mps_energy", "bond 8"),
    ("the same, bond 32", "mps_energy", "bond 32"),
    ("the same, bond 64", "mps_energy", "bond 64"),
    ("norm of a 4x4 PEPS, bond 3", "contraction", "norm of 4x4 PEPS, bond 3"),
    ("singular values and vectors, 256x256", "linalg", "svd, 256"),
)
SPEEDS = """\
## At a glance

Value and gradient on one thread (energies: two), each case in one run; the times of the other columns are multiples of
qad's, so that more than 1 is slower:"""
LATER = """\
The table was measured before the source was last rebuilt; since then eager Hessians take up to 1.1 times as long,
traces up to 1.2, frozen energies of bond 32 and more up to 1.26, and 167 rows that were compared take 0.91 times as
long in the mean."""
FIRST = """\
## First calls

The first call takes longer, in all libraries. In fresh processes without cached kernels: the import, then the first
value and gradient including planning, tracing and compilation, and the second:"""
AFTERWARDS = """\
Most of the time of qad's first calls is the compilation of kernels, once per machine: they are stored on disk, and
`qad.warm_up()` compiles them beforehand; without llvmlite nothing is compiled. Eager torch compiles nothing and has the
shortest first calls, as have qulacs and lightning for circuits."""
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


def section():
    """Both tables with their words, for `docs/benchmarks.md`."""
    return "\n\n".join([SPEEDS, table(), LATER, FIRST, first_uses(), AFTERWARDS])
