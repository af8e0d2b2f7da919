"""Functions of some of their arguments, as bridges differentiate them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

__all__ = ["with_arguments"]


def with_arguments(function: Callable[..., Any], numbers: Sequence[int], arrays: Sequence[Any]) -> Callable[..., Any]:
    """`function` as one of its arguments `numbers`, the others being as in `arrays`."""

    def chosen(*some):
        all_of_them = list(arrays)
        for number, x in zip(numbers, some, strict=True):
            all_of_them[number] = x
        return function(*all_of_them)

    return chosen
