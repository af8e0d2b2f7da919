"""What a function reads beyond its arguments, as it is at one time: names, containers, arrays, generators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from qad.core.attributes import Rest
from qad.core.errors import ArgumentError
from qad.frozen.capture.array_contents import contents, layouts
from qad.frozen.capture.bindings import Bindings
from qad.frozen.capture.reachable import Reach

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    import numpy as np

    from qad.frozen.capture.bindings import Binding


class Captured:
    """All that a function and some static values can reach.

    Attributes
    ----------
    bindings : Bindings
        Hold as long as nothing of it has changed.
    generators : list
        Generators of random numbers among it.
    live : bool
        Whether a recorded Tensor is among it, so that the result depends on more than the arguments.
    settled : list of arrays
        That the caller declared constant; None stands for all.
    copies : dict of id -> array
        What large arrays are compared with, for programs to use as constants.
    """

    def __init__(self, f: Any, statics: Iterable[Any], constant: Collection[str] | Literal[True]):
        self.statics: list[Any] = list(statics)
        names = () if constant is True else constant
        reach = Reach([] if constant is True else [f, *statics], names)
        self.live: bool = reach.live
        self.generators: list[Any] = reach.generators
        self.settled: list[np.ndarray] | None = None if constant is True else reach.settled
        self.arrays: list[Binding] = contents(reach.arrays)
        self.known: set[int] = {id(array) for array in (*reach.arrays, *reach.settled)}
        self.copies: dict[int, np.ndarray] = {
            id(array): test.copy for form, array, _, test in self.arrays if form == "test"
        }
        self.bindings: Bindings = Bindings([*reach.bindings, *self.arrays, *layouts(reach.arrays, self.arrays)])
        if missing := sorted(set(names) - reach.used):
            raise ArgumentError(
                f"qad.freeze: constant={missing[0]!r} names nothing that the function captures: it reads "
                f"{', '.join(sorted({str(key) for form, _, key, _ in reach.bindings if form in _NAMED})) or 'nothing'}"
            )

    def serves(self, statics: Sequence[Any]) -> bool:
        """Whether these are the static values that were looked at, and nothing that is reached has changed."""
        same = len(statics) == len(self.statics) and all(map(_is_same, statics, self.statics))
        return same and self.bindings.hold()

    def arrays_changed(self) -> bool:
        """Whether an array holds something else."""
        return not Bindings(self.arrays).hold()

    def covers(self, array: np.ndarray) -> bool:
        """Whether an array is compared anyway, or need not be."""
        return self.settled is None or id(array) in self.known or id(array.base) in self.known


def _is_same(one, two):
    """Whether two static values are one object, or what two containers hold beside their fields is."""
    if type(one) is type(two) is Rest:
        one, two = dict(one.attributes), dict(two.attributes)
        return one.keys() == two.keys() and all(one[name] is two[name] for name in one)
    return one is two


_NAMED = ("cell", "item", "attribute")
