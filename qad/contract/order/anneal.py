"""Contraction trees improved by simulated annealing.

Neighbours in a tree are exchanged (`qad.contract.order.exchange`) where the sum of the two costs falls, or else with
probability (new / old)^(-1/T).  The temperature T falls in steps.  The same seed and as many exchanges give the same
tree, be they compiled or not.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from qad.contract.order.exchange import DRAWS, Exchanger
from qad.contract.order.tree import Tree
from qad.contract.run.compiler import exchanger, has_compiler

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["STEPS", "anneal"]

STEPS, HOT, COLD = 32, 2.0, 0.1  # temperatures: a geometric sequence, and 0 at last
COMPILED = 100_000  # exchanges from which on it pays to load what is compiled


def anneal(tree: Tree, sweeps: int, seed: int, over: Callable[[], bool]) -> Tree:
    """The tree at the end of one run: so many tries for each node at each temperature.

    `over` is asked at each temperature; once it says yes, the tree is cooled down at once.
    """
    state = Exchanger(tree, seed)
    if has_compiler() and STEPS * sweeps * tree.count > COMPILED:
        state = exchanger(state)
    for step in range(STEPS - 1):
        if over():
            break
        state.sweep(sweeps, _limits(HOT * (COLD / HOT) ** (step / (STEPS - 2))))
    state.sweep(sweeps, _limits(0.0))
    return Tree(tree.network, state.pairs())


@cache
def _limits(temperature):
    """By which factors a cost may grow, for all draws."""
    return [((draw + 0.5) / DRAWS) ** -temperature for draw in range(DRAWS)]
