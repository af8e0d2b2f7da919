"""Orders that are searched for as long as the caller allows."""

from __future__ import annotations

import sys
from time import monotonic
from typing import TYPE_CHECKING

from qad.contract.order.optimal import LIMIT, optimal_order
from qad.contract.order.order import searched
from qad.contract.order.tree import Tree

if TYPE_CHECKING:
    from qad.contract.order.optimal import Labels, Pairs

__all__ = ["timed_order"]


def timed_order(
    inputs: tuple[Labels, ...], output: Labels, sizes: tuple[int, ...], variable: tuple[bool, ...], seconds: float
) -> Pairs:
    """As `qad.contract.order.find_order`, with further rounds of annealing until `seconds` are over.

    The best tree that was met is the answer, so that more time gives no worse order.
    """
    from tqdm import tqdm  # which `import qad` does without

    if len(inputs) <= LIMIT:
        return optimal_order(inputs, output, sizes, variable)[0]
    end, best = monotonic() + seconds, None
    with tqdm(total=seconds, unit="s", desc="planning", disable=not sys.stderr.isatty()) as bar:

        def over():
            left = end - monotonic()
            bar.update(min(seconds - left, seconds) - bar.n)
            return left <= 0

        for tree in searched((inputs, output, sizes, variable), over):
            best = tree if best is None else min(best, tree, key=Tree.cost)
            bar.set_postfix_str(f"{best.cost():.3e} multiply-adds", refresh=False)
            if over():
                return best.pairs()
    raise AssertionError("the rounds have no end")
