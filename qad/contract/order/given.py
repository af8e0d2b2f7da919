"""Orders from elsewhere: paths, plans, trees of cotengra, and optimisers of opt_einsum and cotengra."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING

from qad.contract.plan.plan import Plan
from qad.core.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from qad.contract.notation.parse import Expression

    Path: TypeAlias = tuple[tuple[int, ...], ...]

__all__ = ["prescribed", "searched"]

SEARCHES = frozenset((
    "auto", "auto-hq", "optimal", "dp", "dynamic-programming", "greedy", "eager", "opportunistic", "random-greedy",
    "random-greedy-128", "branch-all", "branch-2", "branch-1",
))  # fmt: skip


def prescribed(optimize: Any) -> Path | Callable[..., Any] | None:
    """What ``optimize=`` means: a path, a search that will give one (see `searched`), or None for qad's own order.

    NumPy's leading "einsum_path" is taken off a path; names of other libraries' searches mean "auto".
    """
    if isinstance(optimize, bool):
        return None
    if isinstance(optimize, str):
        if optimize in SEARCHES:
            return None
        raise ArgumentError(f"einsum: there is no search named optimize={optimize!r}: write 'auto', or give a path")
    if isinstance(optimize, Plan):
        return optimize.path
    if hasattr(optimize, "get_path"):
        if getattr(optimize, "sliced_inds", ()):
            raise ArgumentError(
                "einsum: optimize is a sliced tree: give the tree before it was sliced, and memory_limit=, by which "
                "qad slices value and gradient"
            )
        optimize = optimize.get_path()
    elif callable(optimize):
        if type(optimize).__hash__ is None:
            raise ArgumentError(
                f"einsum: plans are kept by their optimiser, but optimize={optimize!r} is not hashable: give its bound "
                "method, or a function that calls it"
            )
        return optimize
    try:
        if isinstance(optimize, (set, frozenset, dict)):
            raise TypeError("steps have an order")
        return tuple(tuple(map(index, step)) for step in optimize if step != "einsum_path")
    except (TypeError, ValueError) as error:
        raise ArgumentError(
            f"einsum: optimize={optimize!r} is neither 'auto', a bool, a path such as [(0, 1), (0, 1)], a plan, a tree "
            "of cotengra nor an optimiser of opt_einsum or cotengra"
        ) from error


def searched(search: Callable[..., Any], expression: Expression, sizes: tuple[int, ...]) -> Path:
    """The path that an optimiser finds, called as its library calls it."""
    names = [chr(0x100 + label) for label in range(len(sizes))]
    terms = [tuple(names[label] for label in term) for term in expression.inputs]
    output, extent = tuple(names[label] for label in expression.output), dict(zip(names, sizes, strict=True))
    if type(search).__module__.startswith("opt_einsum"):
        path = search(list(map(frozenset, terms)), frozenset(output), extent, None)
    else:
        path = search(terms, output, extent)
    return prescribed(path) or ()
