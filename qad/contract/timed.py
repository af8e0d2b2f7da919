"""Orders that are searched for as long as the caller allows."""

from __future__ import annotations

import sys
from itertools import count
from time import monotonic
from typing import TYPE_CHECKING

from qad.contract.optimal import LIMIT, optimal_order
from qad.contract.order import greedy_trees, random_trees, sweeps
from qad.contract.tree import Tree, improve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qad.contract.optimal import Labels, Pairs

__all__ = ["timed_order"]


def timed_order(
    inputs: tuple[Labels, ...], output: Labels, sizes: tuple[int, ...], variable: tuple[bool, ...], seconds: float
) -> Pairs:
    """As `qad.contract.order.find_order`, with random searches and improvements until `seconds` are over.

    The best tree that was met is the answer, so that more time gives no worse order; at least one greedy tree is built.
    """
    from tqdm import tqdm  # which `import qad` does without

    if len(inputs) <= LIMIT:
        return optimal_order(inputs, output, sizes, variable)[0]
    end, best = monotonic() + seconds, None
    with tqdm(total=seconds, unit="s", desc="planning", disable=not sys.stderr.isatty()) as bar:
        for pairs in _starts(inputs, output, sizes):
            tree = improve(Tree((inputs, output, sizes, variable), pairs), end)
            best = tree if best is None else min(best, tree, key=Tree.cost)
            left = end - monotonic()
            bar.update(min(seconds - left, seconds) - bar.n)
            bar.set_postfix_str(f"{best.cost():.3e} multiply-adds", refresh=False)
            if left <= 0:
                return best.pairs()
    raise AssertionError("the starts have no end")


def _starts(inputs, output, sizes) -> Iterator[Pairs]:
    """Trees to begin with, without end."""
    yield from greedy_trees(inputs, output, sizes)
    yield from sweeps(inputs)
    for seed in count():
        yield from random_trees(inputs, output, sizes, seed)
