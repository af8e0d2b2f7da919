"""``qad circuit``: what a program in OpenQASM gives."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from qad.commands import seed
from qad.core.errors import ArgumentError, QasmError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

TERM = re.compile(r"\s*([+-]?)\s*((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)?\s*\*?\s*([IXYZ]+)\s*")
MOST_SHOWN = 8  # outcomes


def arguments(parser: ArgumentParser) -> None:
    """What can be asked."""
    add = parser.add_argument
    add("file", help="a program in OpenQASM 2 or 3; - reads standard input")
    add("--observable", action="append", default=[], metavar="SUM",
        help='a Pauli string such as "ZZI", or a sum, "0.5*ZZI - XII"; may be given again')  # fmt: skip
    add("--shots", type=int, help="print samples")
    add("--seed", type=seed, help="of the samples")
    add("--bond", type=int, help="run on a matrix product state of at most this bond dimension")
    add("--draw", action="store_true", help="print the circuit")
    add("--plot", help="draw the circuit into a file .svg, .png or .pdf")


def run(args: Namespace) -> int:
    """Read, compute, print."""
    c = read(sys.stdin.read() if args.file == "-" else Path(args.file).read_text("utf-8"))
    observables = [(words, summed(words)) for words in args.observable]
    if args.draw:
        print(c)
    if args.plot is not None:
        c.draw().save(args.plot)
        print(f"the circuit is drawn in {args.plot}")
    if args.bond is not None and not hasattr(c, "mps"):
        raise ArgumentError("--bond: a program with measurements inside runs exactly; leave --bond out")
    asked = c if args.bond is None else c.mps(bond=args.bond)
    for words, observable in observables:
        print(f"{words}  {float(np.real(asked.expectation(observable))):.12f}")
    if args.shots is not None:
        for outcome, count in counts(asked, args.shots, args.seed):
            print(f"{outcome}  {count}")
    if not (observables or args.shots is not None or args.draw or args.plot is not None):
        show(c)
    return 0


def read(program: str) -> Any:
    """A circuit, or one with measurements inside."""
    from qad.circuit import Circuit, NoisyCircuit

    try:
        return Circuit.from_qasm(program)
    except QasmError:
        return NoisyCircuit.from_qasm(program)  # which raises for what is malformed


def summed(words: str) -> Any:
    """``0.5*ZZI - XII`` as a PauliSum."""
    from qad.circuit import PauliSum

    terms, end = [], 0
    while end < len(words) and (found := TERM.match(words, end)) and (found[1] or not terms):
        terms.append((found[3], float(found[1] + (found[2] or "1"))))
        end = found.end()
    if end < len(words) or not terms or not np.isfinite([weight for _, weight in terms]).all():
        raise ArgumentError(f'{words!r} is no sum of Pauli strings: write "ZZI" or "0.5*ZZI - XII"')
    return PauliSum(terms)


def counts(c: Any, shots: int, seed: int | None) -> list[tuple[str, int]]:
    """Outcomes of samples and how often they came, the most frequent first."""
    outcomes, times = np.unique(np.asarray(c.sample(shots, seed)), axis=0, return_counts=True)
    order = np.argsort(-times, kind="stable")
    return [("".join(map(str, outcomes[k])), int(times[k])) for k in order]


def show(c: Any) -> None:
    """The circuit and its most likely outcomes."""
    print(c)
    probabilities = np.asarray(c.probabilities())
    for k in np.argsort(-probabilities, axis=None, kind="stable")[:MOST_SHOWN]:
        index = np.unravel_index(k, probabilities.shape)
        if probabilities[index] > 1e-12:
            print(f"{''.join(map(str, index))}  {probabilities[index]:.12f}")
