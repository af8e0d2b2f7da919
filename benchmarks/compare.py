"""This checkout beside another, such as the commit before: `python -m benchmarks.compare ../other [NAME ...]`.

Two processes, one in each checkout, run the same cases by turns, sample by sample, so that a slow minute of the machine
hits both alike; only qad's own contenders run. Printed are the minima, and the ratio (this over other) of the
medians of paired samples: less than 1 is faster. What the two compute is compared first.
"""

import argparse
import importlib
import math
import pickle
import statistics
import subprocess
import sys
from operator import truediv
from pathlib import Path

from . import NAMES
from .__main__ import limit_threads

ROUNDS = 15


# -- the process in one checkout ---------------------------------------------------------------------------------------


def own(contender):
    """Whether a contender measures qad."""
    return contender.name.startswith("qad")


def serve():
    """Answer requests on standard input, pickled values on both sides, until it ends."""
    limit_threads(1)
    answers, sys.stdout = sys.stdout.buffer, sys.stderr
    server = Server()
    while True:
        try:
            name, *arguments = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer = getattr(server, name)(*arguments)
        except Exception as error:
            answer = error if isinstance(error, ImportError) else RuntimeError(f"{type(error).__name__}: {error}")
        pickle.dump(answer, answers)
        answers.flush()


class Server:
    """The cases of one benchmark, and the stopwatches of one row."""

    def rows(self, name):
        """Names of all rows of a benchmark."""
        module = importlib.import_module(f"benchmarks.{name}")
        pairs = [(case, one) for case in module.cases() for one in case.contenders if own(one)]
        self.found = {f"{case.name}, {one.name}": (case, one) for case, one in pairs}
        return list(self.found)

    def enter(self, row):
        """Set a row up; returns what it computes, the tolerance, and whether its value alone is timed, too."""
        from . import runner

        case, contender = self.found[row]
        self.entrant = runner.enter(contender)
        for watch in self.entrant.watches():
            watch.calibrate()
        return self.entrant.output, case.tolerance, case.operations, len(self.entrant.watches())

    def sample(self):
        """One sample of each stopwatch, in seconds a call."""
        for watch in self.entrant.watches():
            watch.most_rounds = None
            watch.sample()
        return [watch.samples[-1] for watch in self.entrant.watches()]


# -- the process that compares -----------------------------------------------------------------------------------------


# Loads this very file as a part of the package that stands in the checkout, which need not have it yet.
WORKER = """
import sys
sys.path.insert(0, "")
from importlib.util import module_from_spec, spec_from_file_location
spec = spec_from_file_location("benchmarks.compare", {path!r})
compare = module_from_spec(spec)
spec.loader.exec_module(compare)
compare.serve()
"""


class Checkout:
    """A process in a checkout."""

    def __init__(self, folder):
        self.process = subprocess.Popen(
            [sys.executable, "-c", WORKER.format(path=str(Path(__file__).resolve()))],
            cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def ask(self, *request):
        """What the process answers."""
        pickle.dump(request, self.process.stdin)
        self.process.stdin.flush()
        answer = pickle.load(self.process.stdout)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def compare(here, other, row, rounds):
    """Ratio and minima of one row, gradient and value alone; raises where the two compute different things."""
    from . import runner

    (output, tolerance, operations, count), (expected, *_) = here.ask("enter", row), other.ask("enter", row)
    if output is not None:
        pairs = [(output[0], expected[0]), *zip(output[1] or (), expected[1] or (), strict=True)]
        worst = max(runner.relative_difference(*map(runner.np.asarray, pair)) for pair in pairs)
        if not worst <= tolerance:
            raise runner.Disagreement(f"{row}: the checkouts differ by {worst:.1e}")
    samples = [here.ask("sample") + other.ask("sample") for _ in range(rounds)]
    columns = list(zip(*samples, strict=True))
    return [
        (statistics.median(map(truediv, a, b)), min(a) / operations, min(b) / operations)
        for a, b in zip(columns[:count], columns[count:], strict=True)
    ]


def main(arguments=None):
    """Compare what the command line names."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare", description=__doc__.partition("\n")[0])
    parser.add_argument("other", help="the other checkout")
    parser.add_argument("names", nargs="*", help=f"of {', '.join(NAMES)}; all where none is given")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args(arguments)
    here, other, ratios = Checkout("."), Checkout(options.other), []
    for name in options.names or NAMES:
        print(f"{name}: this over other, minima in microseconds", flush=True)
        try:
            common = set(other.ask("rows", name))
        except ImportError as error:
            print(f"      –  {error}", flush=True)  # the other checkout has no such benchmark
            continue
        for row in [row for row in here.ask("rows", name) if row in common]:
            try:
                results = compare(here, other, row, options.rounds)
            except (ImportError, RuntimeError) as error:
                print(f"      –  {row}: {error}", flush=True)
                continue
            for label, (found, mine, theirs) in zip(("", " (value alone)"), results, strict=False):
                ratios.append(found)
                print(f"  {found:5.2f}  {mine * 1e6:12.1f} {theirs * 1e6:12.1f}  {row}{label}", flush=True)
    here.close()
    other.close()
    if ratios:
        print(f"geometric mean of {len(ratios)} rows: {math.exp(statistics.fmean(map(math.log, ratios))):.3f}")


if __name__ == "__main__":
    main()
