"""What each pass of `qad.freeze` gains: `python -m benchmarks.ablation [--rounds N] [--only TEXT] [--json FILE]`.

Every frozen function of the benchmarks and of the examples (those of `tests/frozen/losses.py`, in their size) is
frozen once with all passes, once without each of them, once with ``canonical`` only, which is run with any other, and
once without any.  The variants take turns, sample by sample; a figure is the least processor time of a turn
without a pass over that with all: more than 1 is what the pass gains.  Where a pass changes nothing in a program
there is no figure for replays.  First calls are the first two, which record and plan, with empty caches of plans.
"""

import argparse
import gc
import importlib
import json
import math
import random
import sys
import time
import warnings
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path

from .__main__ import limit_threads

MODULES = ("freeze", "freeze_large", "transforms", "circuits", "contraction")
ROUNDS, FEWEST, SECONDS, SAMPLE = 11, 3, 4.0, 0.002
FIRST = 3  # first calls of each variant
ORDER = random.Random(0)
BASE = "canonical"  # which is run with any other
WHOLE, ONLY, NONE = "", "all others", "all"  # variants: nothing is left out, all passes but the base, all


def variants(passes=None):
    """Dict of what is left out -> the passes that are run."""
    from qad.frozen.passes import PASSES

    names = passes or [name for name in PASSES if name != BASE]
    left = {name: tuple(each for each in PASSES if each != name) for name in names}
    return {WHOLE: PASSES, **left, ONLY: (BASE,), NONE: ()}


@contextmanager
def default(names):
    """Inside, functions are frozen with these passes; a list of the programs that come of it, as text."""
    from qad.frozen import passes
    from qad.frozen.run.placement import Places

    executable, texts = importlib.import_module("qad.frozen.run.executable"), []

    def improve(program, names):
        made = passes.improve(program, names)
        texts.append(str(made) + str(len(Places(made, "compiled" in names).rows)))
        return made

    before, passes.PASSES = passes.PASSES, names
    executable.improve = improve
    try:
        yield texts
    finally:
        passes.PASSES, executable.improve = before, passes.improve


def rows(only=""):
    """Pairs (name, function that freezes anew and gives the call); `only` is in the name, its file first."""
    yield from (row for row in chain(of_benchmarks(), of_examples(only)) if only in row[0])


def of_benchmarks():
    """The frozen contenders."""
    for module in MODULES:
        names = ("qad", "qad, hermitian network") if module.startswith("freeze") else ("qad, frozen",)
        cases = importlib.import_module(f"benchmarks.{module}").cases
        for i, case in enumerate(cases()):
            for contender in case.contenders:
                if contender.name in names:
                    yield f"{module}: {case.name}{contender.name[3:]}", partial(setup, cases, i, contender.name)


def setup(cases, i, name):
    """The call of a contender whose case is made now: it may freeze before it is set up."""
    case = next(case for k, case in enumerate(cases()) if k == i)
    return next(one for one in case.contenders if one.name == name).setup()


def of_examples(only=""):
    """What examples compute; those whose files a text does not name are not run."""
    import qad
    from tests.examples.running import run
    from tests.frozen.losses import EXAMPLES

    def call(f, point):
        frozen = qad.freeze(f)
        return lambda: frozen(*point)

    for name, losses in EXAMPLES.items():
        found = losses(lambda name=name: run(name)) if only.partition(":")[0] in name else {}
        for label, pair in found.items():
            yield f"{name.removesuffix('.py')}: {label}", partial(call, *pair)


def forget_plans():
    """Empty what remembers how networks are contracted."""
    for name, module in list(sys.modules.items()):
        for each in list(vars(module).values()) if name.startswith("qad.contract") else ():
            if hasattr(each, "cache_clear") and each.__module__.startswith("qad.contract"):
                each.cache_clear()


def first_call(freeze, names):
    """A new frozen function with these passes, and what its first two calls took: one records, one plans."""
    with default(names):
        call = freeze()
    forget_plans()
    start = time.process_time()
    call()
    call()
    return call, time.process_time() - start


def programs(freeze, names):
    """The programs of a function under these passes, as text."""
    with default(names) as texts:
        call = freeze()
        call()
        call()
    return texts


def sample(call, times):
    """Seconds a call."""
    start = time.process_time()
    for _ in range(times):
        call()
    return (time.process_time() - start) / times


def measure(freeze, left, rounds=ROUNDS, first=FIRST):
    """Dict of variant -> (time of a replay, that over the whole's, time of the first calls, that over the whole's)."""
    firsts, replays = ({name: [] for name in left} for _ in range(2))
    first_call(freeze, left[WHOLE])  # kernels are compiled, modules imported
    for _ in range(first):
        calls = {}
        for name in ORDER.sample(list(left), len(left)):
            calls[name], seconds = first_call(freeze, left[name])
            firsts[name].append(seconds)
    texts = {name: programs(freeze, names) for name, names in left.items()}
    calls = {name: call for name, call in calls.items() if name in (WHOLE, NONE) or texts[name] != texts[WHOLE]}
    times = {name: max(1, round(SAMPLE / sample(call, 2))) for name, call in calls.items()}
    start = time.perf_counter()
    gc.collect()
    for turn in range(rounds):
        for name in ORDER.sample(list(calls), len(calls)):
            calls[name]()
            replays[name].append(sample(calls[name], times[name]))
        if turn + 1 >= min(FEWEST, rounds) and time.perf_counter() - start > SECONDS:
            break
    return {name: (*over(replays[name], replays[WHOLE]), *over(firsts[name], firsts[WHOLE])) for name in left}


def over(samples, others):
    """The least of samples, and its ratio to the least of others; None where there are none."""
    return (min(samples), min(samples) / min(others)) if samples else (None, None)


def lines_of(name):
    """Lines of the file of a pass, or of the folder."""
    from qad.frozen import passes
    from qad.frozen.run.compiled import lowering

    file = Path(sys.modules[getattr(passes, name, lowering.pays).__module__].__file__)
    files = file.parent.glob("*.py") if name == "compiled" else [file]
    return sum(len(each.read_text("utf-8").splitlines()) for each in files)


def table(found):
    """The figures as Markdown: a line for each function, a column for each variant, with its replay and first calls."""
    left = [name for name in next(iter(found.values())) if name != WHOLE]
    lines = [["frozen function", "replay", "first calls", *left], ["---"] * (3 + len(left))]
    for row, figures in found.items():
        replay, _, first, _ = figures[WHOLE]
        lines.append([row, duration(replay), duration(first), *[cell(*figures[name][1::2]) for name in left]])
    columns = [[figures[name] for figures in found.values()] for name in left]
    lines.append(["most", "", "", *[cell(*(max(f[i] or 1 for f in column) for i in (1, 3))) for column in columns]])
    lines.append(["mean", "", "", *[cell(*(mean([f[i] or 1 for f in column]) for i in (1, 3))) for column in columns]])
    lines.append(["lines", "", "", *[str(lines_of(name)) if name not in (ONLY, NONE) else "" for name in left]])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def cell(replay, first):
    """Two ratios; a dash for a replay of the same program."""
    return f"{'–' if replay is None else f'{replay:.2f}'}, {first:.2f}"


def mean(ratios):
    """The geometric mean."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def duration(seconds):
    """Three digits."""
    scale, unit = (1e6, "µs") if seconds < 1e-3 else (1e3, "ms") if seconds < 1 else (1, "s")
    return f"{seconds * scale:.3g} {unit}"


def main(arguments=None):
    """Measure what the command line names, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ablation", description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--first", type=int, default=FIRST, help="first calls of each variant")
    parser.add_argument("--only", default="", help="a file, or a file and a part of a name: 'freeze: MPS'")
    parser.add_argument("--passes", nargs="*", help="the passes that are left out, one at a time")
    parser.add_argument("--json", help="a file for all figures")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", RuntimeWarning)
    found = {}
    for name, freeze in rows(options.only):
        found[name] = measure(freeze, variants(options.passes), options.rounds, options.first)
        print(name, {left: cell(*f[1::2]) for left, f in found[name].items() if f[1]}, file=sys.stderr, flush=True)
        if options.json:
            with open(options.json, "w", encoding="utf-8") as file:
                json.dump(found, file, indent=1)
    print(table(found))


if __name__ == "__main__":
    limit_threads(1)
    main()
