"""Levels of differentiation, and whether recording is on.

Each call of a transform takes a fresh, increasing level.  The highest level among the operands of an
operation records it, and the operation itself runs on values of the level below, so nesting needs no
other mechanism.  Level 0 is the tape of ``qad.tensor(..., requires_grad=True)`` and never closes;
CONSTANT marks Tensors that record nothing.
"""

from contextlib import ContextDecorator
from contextvars import ContextVar
from itertools import count

CONSTANT = -1


class Seen(dict):
    """The plain arrays that a level has met, by their ids, each with its copy; and the last one, to be quick.

    See `qad.core.mutation.changed_arrays`.  `digests` are those of large arrays that were not copied.
    """

    __slots__ = ("last", "held", "copy", "digests")

    def __init__(self):
        self.last = self.held = self.copy = None
        self.digests = {}


class _Recording(dict):
    """The open levels that record nodes, each with what it has seen: a Seen, or None as long as that is nothing.

    Level 0, which never closes, has none.
    """

    discard = dict.pop  # as of a set


REVERSE = _Recording({0: None})
FORWARD: set[int] = set()  # open levels that carry tangents
BATCH: set[int] = set()  # open levels whose values are stacks of examples

_fresh = count(1).__next__
_blocked = ContextVar("qad_blocked", default=CONSTANT)
blocked = _blocked.get  # levels up to this one record nothing in the running thread; or an Observer (observe.py)


def plain() -> bool:
    """Whether the short-cuts are off in the running thread: see `plain_roads`."""
    looker = blocked()
    return type(looker) is not int and looker.plain


def limit() -> int:
    """As `blocked`, a number also where operations are observed."""
    level = blocked()
    while type(level) is not int:
        level = level.below
    return level


def open_level(kind) -> int:
    """A fresh level of the kind REVERSE, FORWARD or BATCH; the caller closes it with ``kind.discard``."""
    level = _fresh()
    if kind is REVERSE:
        REVERSE[level] = None
    else:
        kind.add(level)
    return level


def is_open(level: int) -> bool:
    """Whether Tensors of this level may still be used."""
    return level in REVERSE or level in FORWARD or level in BATCH or level == CONSTANT


class no_grad(ContextDecorator):
    """Context manager and decorator under which operations on Tensors give constant Tensors.

    It holds for every level that is open when it is entered; a `qad.grad` called inside still differentiates
    its own function.  The mode belongs to the running thread (it is a context variable).

    Examples
    --------
    >>> import qad
    >>> x = qad.tensor([1.0, 2.0], requires_grad=True)
    >>> with qad.no_grad():
    ...     y = 2 * x
    >>> y.requires_grad
    False
    """

    def __enter__(self):
        self._tokens = getattr(self, "_tokens", [])
        self._tokens.append(_blocked.set(_fresh()))
        return self

    def __exit__(self, *exc):
        _blocked.reset(self._tokens.pop())

    def _recreate_cm(self):
        return no_grad()
