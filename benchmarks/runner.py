"""Timing: warm up, check that all agree, then sample all contenders in interleaved rounds.

Samples of one contender are spread over the whole run, so that a slow minute of the machine hits all alike. A
sample repeats its call until it fills a few milliseconds. Python's garbage collector stays on, for a tape
that makes garbage should pay for it; what existed before the clock started is frozen, so nobody pays for
that.
"""

import gc
import random
import statistics
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

import numpy as np
from tqdm import tqdm

from .case import Case, Contender
from .peers import environment, has, missing

SAMPLE_SECONDS = 0.005
ROUNDS, FEWEST_ROUNDS = 50, 5
CASE_SECONDS = 90


class Disagreement(AssertionError):
    """Two contenders compute different things, so their times cannot be compared."""


@dataclass
class Stopwatch:
    """The samples of one call, in seconds a call, and the processor time spent meanwhile."""

    call: Callable[[], Any]
    most_rounds: int | None = None
    calls: int = 1
    samples: list[float] = field(default_factory=list)
    processor: float = 0.0

    def calibrate(self):
        """Choose the calls that make a sample; return the seconds that a sample will take."""
        self.call()
        start = time.perf_counter()
        self.call()
        seconds = time.perf_counter() - start
        self.calls = max(1, round(SAMPLE_SECONDS / seconds))
        return self.calls * seconds

    def sample(self):
        """Take one sample, unless there are enough."""
        if self.most_rounds is not None and len(self.samples) >= self.most_rounds:
            return
        call, processor, start = self.call, time.process_time(), time.perf_counter()
        for _ in repeat(None, self.calls):
            call()
        self.samples.append((time.perf_counter() - start) / self.calls)
        self.processor += time.process_time() - processor

    def summary(self, operations):
        """Median and minimum in seconds an operation, and how many processors were busy meanwhile."""
        return {
            "median": statistics.median(self.samples) / operations,
            "minimum": min(self.samples) / operations,
            "samples": len(self.samples),
            "calls_per_sample": self.calls,
            "cores_busy": round(self.processor / (sum(self.samples) * self.calls), 2),
        }


@dataclass
class Entrant:
    """A contender that is set up: its stopwatches, what its first call returned, and how long that took."""

    contender: Contender
    output: tuple | None
    first_call: float
    gradient: Stopwatch
    forward: Stopwatch | None

    def watches(self):
        """The stopwatches to run."""
        return [watch for watch in (self.gradient, self.forward) if watch is not None]


def enter(contender):
    """Set a contender up and call it once: a compiler compiles here."""
    call = contender.setup()
    start = time.perf_counter()
    output = call()
    seconds = time.perf_counter() - start
    gradient = Stopwatch(call, contender.most_rounds)
    forward = contender.forward and Stopwatch(contender.forward(), contender.most_rounds)
    result = contender.result(output) if contender.result else None
    return Entrant(contender, result, seconds, gradient, forward)


def deviation(entrant, reference):
    """Largest relative difference between what two entrants computed: value, gradients, forward value."""
    if entrant.output is None:
        return 0.0
    (value, gradients), (expected, expected_gradients) = entrant.output, reference.output
    pairs = [(value, expected)]
    if entrant.forward is not None:
        pairs.append((complex(entrant.forward.call()), expected))
    if gradients is not None:
        pairs += zip(gradients, expected_gradients, strict=True)
    return max(relative_difference(np.asarray(a), np.asarray(b)) for a, b in pairs)


def relative_difference(a, b):
    """|a - b| / |b| in the Frobenius norm, infinite where the shapes differ."""
    return float(np.linalg.norm(a - b) / np.linalg.norm(b)) if a.shape == b.shape else np.inf


def compare(case, entrants):
    """Deviation of every entrant from the first that has gradients; raise where one exceeds the tolerance."""
    reference = next(entrant for entrant in entrants if entrant.output and entrant.output[1] is not None)
    deviations = [deviation(entrant, reference) for entrant in entrants]
    for entrant, found in zip(entrants, deviations, strict=True):
        if not found <= case.tolerance:
            names = f"'{entrant.contender.name}' and '{reference.contender.name}'"
            raise Disagreement(f"{case.name}: {names} differ by {found:.1e}, more than {case.tolerance:.0e}")
    return deviations


@contextmanager
def settled_memory():
    """Keep what exists already out of the garbage collector's sight."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def sample_interleaved(watches, repeats, label):
    """Sample all stopwatches round after round, in a new order each time."""
    seconds = sum(watch.calibrate() for watch in watches if watch.most_rounds is None)
    rounds = repeats or max(FEWEST_ROUNDS, min(ROUNDS, int(CASE_SECONDS / max(seconds, 1e-9))))
    order = random.Random(0)
    for _ in tqdm(range(rounds), desc=label, leave=False, disable=None):
        for watch in order.sample(watches, len(watches)):
            watch.sample()


def run_case(case: Case, repeats=None):
    """Run one case; return its results as plain values."""
    entrants = [enter(one) for one in case.contenders if one.needs is None or has(one.needs)]
    deviations = compare(case, entrants)
    with settled_memory():
        sample_interleaved([watch for entrant in entrants for watch in entrant.watches()], repeats, case.name)
    return {
        "case": case.name,
        "operations": case.operations,
        "results": [
            {
                "contender": entrant.contender.name,
                "baseline": entrant.contender.baseline,
                **entrant.gradient.summary(case.operations),
                "forward": entrant.forward and entrant.forward.summary(case.operations),
                "first_call": entrant.first_call,
                "deviation": found,
            }
            for entrant, found in zip(entrants, deviations, strict=True)
        ],
    }


def run(module, threads, repeats=None):
    """Run every case of a benchmark module; return a tree of plain values, ready for JSON."""
    headline, _, description = module.__doc__.partition("\n")
    return {
        "benchmark": module.__name__.rpartition(".")[2],
        "headline": headline,
        "description": description.strip(),
        "environment": environment(threads),
        "missing": missing(),
        "cases": [run_case(case, repeats) for case in module.cases()],
    }
