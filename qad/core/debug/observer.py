"""Looking on while operations are recorded and differentiated: what `qad.debug` and `qad.profile` have in common.

An observer stands above all levels.  While there is an observer, the quick recorders are not used: every operation goes
through `record`, which calls the observer, and the observer passes the operation to the level below.  `plain_roads` is
the observer that only passes operations on.  For the backward pass an observer wraps the rules in the nodes.  Without
an observer the operations cost nothing more.
"""

from __future__ import annotations

import linecache
import sys
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from qad.core.modes import Mode
from qad.core.tape.levels import MODE, WATCHING, mode
from qad.core.tape.node import LEAF, PARENTS, PICK, PRIMITIVE
from qad.core.tape.record import handed_down
from qad.core.tape.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.typing.words import Answer, Rule

INSIDE = tuple(str(Path(sys.modules[name].__file__).parent) for name in ("qad", "numpy"))


class Observer(Mode):
    """A context manager that sees every operation on Tensors of the running thread; subclasses extend `apply`."""

    open = looks_on = True
    below: Any
    plain: bool

    def __enter__(self) -> Self:
        self.below = mode()
        self.plain = self.plain or (self.below is not None and self.below.plain)
        WATCHING.append(self)  # before the levels that are open are told
        self._token = self.enter(self)
        return self

    def __exit__(self, *exc: object) -> None:
        MODE.reset(self._token)
        WATCHING.remove(self)

    def above(self, level: Any) -> Any:
        """No level handles an operation by itself."""
        return self

    def apply(self, p: Any, args: Any, kwargs: Any) -> Any:
        """What the levels below make of primitive `p`."""
        return handed_down(p, args, kwargs, self.below)


class plain_roads(Observer):
    """A context manager for tests: no short-cut is taken in it, so that one can see that they change no result.

    What steps aside: the quick recorders and the quick pushes of tangents, products and batches; `sweep` for
    `plain_sweep`, which forms every structured cotangent, adds into no array that is there already, and gives none
    away.
    """

    plain = True


def wrap_rules(out: Answer, wrapper: Callable[[Rule, Sequence[int] | None], Rule]) -> None:
    """Put ``wrapper(rule, places)`` in the place of each rule of the operation whose result is `out`.

    `places` are the numbers of the arguments whose cotangents the rule returns; None stands for those it is asked for.
    """
    first = out[0] if isinstance(out, (tuple, list)) and out else out
    if type(first) is not Tensor or first.level.direction != "backward" or not first.level.open:
        return
    node = first.node[PARENTS][0] if first.node[PRIMITIVE] is PICK else first.node
    if node[PRIMITIVE] is LEAF:
        return
    p = node[PRIMITIVE] = copy(node[PRIMITIVE])
    p.vjps = tuple([rule and wrapper(rule, (i,)) for i, rule in enumerate(p.vjps)])
    p.shared = p.shared and wrapper(p.shared, None)
    p.adds = None  # which would bypass them


def users_line() -> str:
    """The innermost line of the running program that is not qad's or NumPy's, as a traceback shows it."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(INSIDE):
        frame = frame.f_back
    code = frame.f_code
    source = linecache.getline(code.co_filename, frame.f_lineno, frame.f_globals).strip()
    return f'  File "{code.co_filename}", line {frame.f_lineno}, in {code.co_name}\n    {source}'
