"""qad's planner, which minimises the cost of value and gradient together, as an optimiser of cotengra and opt_einsum.

Examples
--------
>>> import cotengra as ctg
>>> from qad.interop.cotengra import JointOptimizer
>>> tree = ctg.array_contract_tree(["ab", "bc", "cd"], "ad", shapes=[(2, 30), (30, 30), (30, 40)],
...                                optimize=JointOptimizer(variables=[2]))
>>> tree.get_path()
((0, 1), (0, 1))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.installed import require

require("qad.interop.cotengra", "cotengra")

from cotengra import ContractionTree

from qad.contract.plan.planner import find_plan

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence
    from typing import Any

    PathOptimizer = object  # opt_einsum says no types
else:
    from opt_einsum.paths import PathOptimizer

__all__ = ["JointOptimizer"]


class JointOptimizer(PathOptimizer):
    """Whatever takes an optimiser of cotengra or opt_einsum takes this one: ``optimize=JointOptimizer()``.

    Parameters
    ----------
    variables : sequence of int, optional
        The operands that will be differentiated; by default all of them.
    """

    variables: tuple[int, ...] | None

    def __init__(self, variables: Sequence[int] | None = None) -> None:
        self.variables = None if variables is None else tuple(sorted(variables))

    def __call__(
        self, inputs: Sequence[Sequence[Hashable]], output: Sequence[Hashable], size_dict: Mapping[Hashable, int],
        memory_limit: Any = None,
    ) -> tuple[tuple[int, ...], ...]:  # fmt: skip
        """The path for a network of cotengra."""
        terms = tuple(map(tuple, inputs))
        shapes = tuple(tuple(size_dict[label] for label in term) for term in terms)
        variables = tuple(range(len(terms))) if self.variables is None else self.variables
        return find_plan(terms, tuple(output), shapes, variables).path

    def search(
        self, inputs: Sequence[Sequence[Hashable]], output: Sequence[Hashable], size_dict: Mapping[Hashable, int]
    ) -> ContractionTree:
        """The same as a tree."""
        return ContractionTree.from_path(inputs, output, size_dict, path=self(inputs, output, size_dict))
