"""Tables, JSON and plots of results; `python -m benchmarks.report` makes the pages of the JSON."""

import json
import re
import statistics
from contextlib import suppress
from pathlib import Path

from . import NAMES, RESULTS

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"  # each benchmark has its own in the folder of that name
MORE_THAN_ONE = 1.15
COLUMNS = 3  # of a plot
SELF = "qad"  # the entry that the others are compared with
NO_LIBRARY = SELF, "NumPy", "arrays", "bare loop", "products", "its matrix products"  # as what is timed begins
PREFACE = """\
# Benchmarks

Each benchmark has a page with all its times, versions and the command that measures them. The column in the
middle says how many times as long the other libraries take as qad (for orders: how many times as many operations): the
middle of all rows, and in brackets the least and the most. Below 1 they are quicker.

Every library that is installed runs in the same process, warmed up, in interleaved rounds, with the same
number of threads, and each has to find the same value and the same gradient. In the pages "/ qad" is the time as a
multiple of qad's, "/ by hand" as a multiple of the baseline written by hand in NumPy. The first call includes
compilation, where there is any, and "processors" says who used more than one; with one thread a library the
process has one processor. Figures of different runs or machines do not compare; ratios nearly do. Results are kept
from run to run, so that a table may be older than the source: `python -m benchmarks` measures, `python -m
benchmarks.report` writes these pages."""


def duration(seconds):
    """Three digits and a unit."""
    unit, scale = next(((u, s) for u, s in (("s", 1), ("ms", 1e-3)) if seconds >= s), ("µs", 1e-6))
    number = seconds / scale
    return f"{number:.{0 if number >= 100 else 1 if number >= 10 else 2}f} {unit}"


def ratio(time, reference):
    """A multiple of a reference, or nothing where there is no reference."""
    return f"{time / reference:.2f}" if reference else ""


def rows(case):
    """The table of one case as lists of cells, header first."""
    results = case["results"]
    own = next((entry["median"] for entry in results if entry["contender"] == SELF), None)
    hand = next((entry["median"] for entry in results if entry["baseline"]), None)
    median = "per operation" if case["operations"] > 1 else "median"
    split = any(entry["forward"] for entry in results)
    header = ["", median, "minimum", "/ qad", "/ by hand", "first call", "processors"]
    table = [header + ["value alone", "gradient / value"] * split]
    for entry in results:
        forward = entry["forward"] and entry["forward"]["median"]
        line = [
            entry["contender"],
            duration(entry["median"]),
            duration(entry["minimum"]),
            ratio(entry["median"], own),
            ratio(entry["median"], hand),
            duration(entry["first_call"]),
            f"{entry['cores_busy']:.1f}" if entry["cores_busy"] > MORE_THAN_ONE else "",
        ]
        table.append(line + [duration(forward) if forward else "", ratio(entry["median"], forward)] * split)
    used = [i for i in range(len(table[0])) if i == 0 or any(line[i] for line in table[1:])]
    return [[line[i] for i in used] for line in table]


def markdown(table):
    """A Markdown table that reads well as it is: names to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    lines = [table[0], rule, *table[1:]]
    aligned = [[line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in aligned)


def provenance(results):
    """One paragraph: what ran, how often, where."""
    facts = results["environment"]
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    entries = [entry for case in results["cases"] for entry in case["results"]]
    rounds = statistics.median(entry["samples"] for entry in entries)
    return (
        f"Medians of {rounds:.0f} interleaved samples; all results agree to "
        f"{max(entry['deviation'] for entry in entries):.0e}. Python {facts['python']}, {versions}, "
        f"{facts['blas']}; {facts['system']} {facts['machine']} with {facts['cpus']} processors, "
        f"{facts['threads']} thread(s) a library. Missing: {', '.join(results['missing']) or 'none'}."
    )


def text(results):
    """The report of one benchmark, as Markdown."""
    parts = [f"## {results['benchmark']}", f"**{results['headline']}**", results["description"]]
    for case in results["cases"]:
        parts += [f"### {results['benchmark']}, {case['case']}", markdown(rows(case))]
    return "\n\n".join([*parts, provenance(results)])


def section_of(module, doc, tables, results, *notes, rates=""):
    """The page of a benchmark that prints a table of its own."""
    headline, _, description = doc.partition("\n")
    facts = results["environment"]
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    where = f"{rates}Python {facts['python']}, {versions}; {facts['system']} {facts['machine']}, one thread a library."
    command = f"Reproduce: `OMP_NUM_THREADS=1 python -m benchmarks.{module}`"
    parts = [f"## {module}", f"**{headline.split(':')[0]}.**", description.strip(), tables, where, *notes, command]
    return "\n\n".join(parts)


def write_json(results, path):
    """Keep the results."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", "utf-8")


def write_plot(results, path):
    """Draw the medians of every case as bars on a logarithmic axis; say so where matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.ticker import NullFormatter
    except ImportError:
        from qad.installed import command  # loads NumPy, whose threads are chosen before

        print(f"No plot, for matplotlib is missing: {command('viz')}")
        return
    cases = results["cases"]
    lines, columns = -(-len(cases) // COLUMNS), min(len(cases), COLUMNS)
    height = 0.8 + 0.3 * max(len(case["results"]) for case in cases)
    figure = Figure(figsize=(4.6 * columns, lines * height), layout="constrained")
    grid = figure.subplots(lines, columns, squeeze=False).ravel()
    for axes, case in zip(grid, cases, strict=False):
        draw_bars(axes, case["results"])
        label = "median in seconds" + " per operation" * (case["operations"] > 1)
        axes.set(title=case["case"], xlabel=label, xscale="log")
        axes.xaxis.set_minor_formatter(NullFormatter())  # between powers of ten labels would overlap
    for axes in grid[len(cases) :]:
        axes.remove()
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


def draw_bars(axes, entries):
    """One bar an entry, qad's own in colour, its time written beside it."""
    names = [entry["contender"] for entry in entries]
    colors = ["#c44e52" if name.startswith(SELF) else "#9aa5b1" for name in names]
    bars = axes.barh(names, [entry["median"] for entry in entries], color=colors)
    axes.bar_label(bars, [duration(entry["median"]) for entry in entries], padding=3, fontsize=8)
    axes.invert_yaxis()
    axes.margins(x=0.25)
    axes.spines[["top", "right"]].set_visible(False)


def write_pages():
    """Write `docs/benchmarks.md`, and a page for each benchmark from the JSON of the last runs."""
    from . import evolution, first_use, infinite_chains, orders, papers, summary, symmetric_chains, two_dimensions, vmc

    pages = {}
    for table in (first_use, symmetric_chains, two_dimensions, evolution, papers, vmc, infinite_chains, orders):
        if table.KEPT.exists():
            pages[table.KEPT.stem] = table.section(json.loads(table.KEPT.read_text("utf-8")))
    for path in (path for path in (RESULTS / f"{name}.json" for name in NAMES) if path.exists()):
        image = f"![{path.stem}](../../benchmarks/results/{path.stem}.png)"
        results = json.loads(path.read_text("utf-8"))
        pages[path.stem] = "\n\n".join([text(results), image, f"Reproduce: `python -m benchmarks {path.stem}`"])
    folder = PAGE.with_suffix("")
    folder.mkdir(exist_ok=True)
    for name, page in pages.items():
        (folder / f"{name}.md").write_text(re.sub("^#(?=#)", "", page, flags=re.MULTILINE) + "\n", "utf-8")
    PAGE.write_text("\n\n".join([PREFACE, headlines(pages), summary.section()]) + "\n", "utf-8")


def headlines(pages):
    """The table of all benchmarks: what is measured, and by how much others are slower."""
    lines = ["| benchmark | others / qad | what is measured |", "|---|--:|---|"]
    for name, page in pages.items():
        found = sorted(multiples(page))
        shown = "{} ({} to {})".format(*map(digits, (statistics.median(found), found[0], found[-1]))) if found else ""
        said = re.search(r"\*\*(.*?)[.:]?(?:, `.*?`.*?)?\*\*", page)[1]
        lines.append("| [{0}](benchmarks/{0}.md) | {1} | {2} |".format(name, shown, said.replace("|", "\\|")))
    return "\n".join(lines)


def digits(number):
    """Two digits, of hundreds all."""
    return f"{number:.0f}" if number >= 10 else f"{number:.2g}"


def multiples(page):
    """The numbers in the columns "/ qad" of a page that belong to other libraries."""
    column = None
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if not cells or column is None:
            column = next((i for i, cell in enumerate(cells) if cell.endswith("/ qad")), -1) if cells else None
        elif column >= 0 and not any(cell.startswith(NO_LIBRARY) for cell in cells):
            with suppress(ValueError):
                yield float(cells[column])


if __name__ == "__main__":
    write_pages()
