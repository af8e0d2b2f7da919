"""What a function asks of how its arguments lie in memory, which replays compare: strides, flags, shared memory.

A program is made for arguments that lie as these do.  What flags say beyond strides is compared for arguments whose
flags were asked for (those of a view follow from them), and where one argument lies in another for pairs of which that
was asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from qad.frozen.caller import is_ours
from qad.frozen.guards import outcome
from qad.frozen.traced import Traced

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.frozen.program import Var

    Recorder: TypeAlias = Any  # of recorder.py, which imports this file

SHARING = frozenset((np.shares_memory, np.may_share_memory))
COPIED = "the function asks how its arguments lie in memory, and a recorded operation has copies of them"


class MemoryQuestions:
    """The questions of one recording.

    Attributes
    ----------
    asked, by_user : bool
        Whether there were any; whether the function itself asked, and not NumPy or qad, who ask for the order of axes.
    settled : set of tuple of Var
        The arguments whose flags are compared, and the pairs of which it is compared how they lie to each other.
    """

    def __init__(self) -> None:
        self.asked: bool = False
        self.by_user: bool = False
        self.settled: set[tuple[Var, ...]] = set()

    def of_flags(self, x: Traced) -> None:
        """Have replays compare the flags of the argument that `x` is a view of, if the function looks at those."""
        self.asked = True
        if not is_ours():
            self.by_user = True
            self._settle(x.recorder, (x.symbol.root,), "flags")

    def of_sharing(self, recorder: Recorder, operands: Any) -> None:
        """Have replays compare how two arguments lie to each other; a call that names other arrays gives no program.

        A plain array among them may be one that the caller gives as an argument the next time.
        """
        self.asked = self.by_user = True
        arrays = [x for x in operands if isinstance(x, (np.ndarray, Traced))]
        known = recorder.constants.values
        roots = tuple([x.symbol.root for x in arrays if type(x) is Traced and x.symbol.root not in known])
        if len(roots) < len(arrays):
            recorder.failure = "the function asks whether an array from outside shares memory with another"
        elif len(roots) == 2 and roots[0] is not roots[1]:
            self._settle(recorder, roots, "apart")

    def _settle(self, recorder, roots, kind):
        """A guard of these roots, if all are arguments; now, since the function may decide what to ask next."""
        given = dict(zip(recorder.inputs, recorder.given, strict=True))
        if roots not in self.settled and all(root in given and root.kind == "array" for root in roots):
            self.settled.add(roots)
            if kind == "flags":
                recorder.guard(roots[0], outcome(given[roots[0]], kind))
            else:
                recorder.guard(roots, outcome(tuple([given[root] for root in roots]), kind))


def depends_on_order(fn: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> str | None:
    """In words, why the order of entries of a result depends on how an array happens to lie; None if it does not."""
    order = kwargs.get("order") or (args[1] if len(args) == 2 and type(args[1]) is str else None)
    if order not in ("K", "A") or getattr(fn, "__name__", "") not in ("ravel", "flatten", "reshape"):
        return None
    return (
        f"{fn.__name__}(order={order!r}) depends on the layout of an array in memory, which a program is not made for: "
        "write order='C' or 'F'"
    )


def owner_of(x: Any) -> Any:
    """The object that owns an array's memory; NumPy's sliding windows put one of their own in between."""
    while (base := getattr(x, "base", None)) is not None:
        x = base
    return x
