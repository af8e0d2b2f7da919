"""Tensors that know how they were made from something with a structure, such as the factors of a decomposition.

The value of such a Tensor is the plain value, and its level a `Structured` of its own, above those of all that it was
made of, so that every operation on it comes there.  An operation that the structure understands is noted, and recorded
only when its result has no structure any more.  Before any other operation the Tensor is `settled`: it is recorded as
if it had never had a structure.
"""

from __future__ import annotations

from typing import Any

from numpy import ndarray

from qad.core.tape.levels import Level, fresh, stopped, unrecorded
from qad.core.tape.operands import highest
from qad.core.tape.tensor import Tensor, handle_of, settled

CONTRACTIONS: dict[Any, Any] = {}  # function -> what gives labels of the axes of its operands and, last, of its result


class Structured(Level):
    """The structure of a Tensor, which is its level; nothing closes it.  Subclasses give `understood`.

    What is made of one origin has one `number`, see `new_family`, and that origin is its `root`.

    Attributes
    ----------
    made : tuple or callable
        The primitive that made it, its operands and keywords; or a function that records the Tensor.
    """

    __slots__ = ("made", "plain")

    def understood(self, p: Any, args: Any, kwargs: Any) -> Any:
        """What primitive `p` makes of `args`: a Structured, a recorded Tensor, or None where it is not understood."""
        raise NotImplementedError

    def tensor(self, value: Any, made: Any, number: Any) -> Tensor:
        """The Tensor of this structure, `made` as said above."""
        Level.__init__(self, number)
        self.made: Any = made
        self.plain: Any = None
        return Tensor(value, None, self)

    def apply(self, primitive: Any, operands: Any, keywords: Any) -> Any:
        """Note what the primitive does to the structure, or settle the operands of this number and record it."""
        found = self.understood(primitive, operands, keywords)
        if found is None:
            return primitive.fn(*[settled(a) if self.is_kin(form_of(a)) else a for a in operands], **keywords)
        value = primitive.fn(*map(unrecorded, operands), **keywords)
        if not isinstance(found, Structured):
            return found.real if found.dtype.kind == "c" and value.dtype.kind == "f" else found
        return found.tensor(value, (primitive, tuple(map(held, operands)), keywords), self.number)

    def is_kin(self, form: Any) -> bool:
        return form is not None and form.number == self.number

    def now(self, x: Any) -> Tensor:
        return self.settled()

    def settled(self) -> Tensor:
        """The Tensor as it is recorded without structure."""
        if self.plain is None:
            if callable(self.made):
                self.plain = self.made()
            else:
                p, args, kwargs = self.made
                self.plain = p.fn(*map(settled, args), **kwargs)
            self.made = None
        return self.plain


def new_family() -> int:
    """The number of the structures that are made of one origin."""
    return fresh()


def form_of(x: Any) -> Any:
    """The structure of `x`, or None."""
    return x.level if type(x) is Tensor and isinstance(x.level, Structured) else None


def held(x: Any) -> Any:
    """What `x` is now: later writes into arrays and Tensors do not reach it."""
    if type(x) is Tensor:
        return handle_of(x.level.now(x)) if form_of(x) is None else handle_of(x)
    return (x.copy("K") if type(x) is ndarray else x.copy()) if hasattr(x, "shape") and x.shape else x


def is_differentiated(x: Any) -> bool:
    """Whether what happens to `x` now is recorded, or tangents are pushed."""
    level = highest((settled(x),))
    return level.number >= 0 and not stopped(level)
