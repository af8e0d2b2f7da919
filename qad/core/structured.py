"""Tensors that know how they were made from something with a structure, such as the factors of a decomposition.

The `value` of such a Tensor is the plain value, its `node` a `Structured`, and its level a `Structuring`, above those
of all that it was made of, so that every operation on it comes there.  What is understood is noted, and recorded only
when its result has no structure any more; for everything else the Tensor is `settled` first: recorded as it would have
been in the beginning.  So nothing is known of these Tensors but what they carry with them.
"""

from qad.core.tape.levels import Level, stopped, unrecorded
from qad.core.tape.operands import highest
from qad.core.tape.tensor import Tensor

CONTRACTIONS: dict = {}  # function -> what gives labels of the axes of its operands and, last, of its result


class Structured:
    """The node of a Tensor with a structure; subclasses give `understood`.

    Attributes
    ----------
    made : tuple or callable
        The primitive that made it, its operands and keywords; or a function that records the Tensor.
    """

    __slots__ = ("made", "plain")

    def understood(self, p, args, kwargs):
        """What primitive `p` makes of `args`: a Structured, a recorded Tensor, or None where it is not understood."""
        raise NotImplementedError

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


def form_of(x):
    """The structure of `x`, or None."""
    return x.node if type(x) is Tensor and isinstance(x.node, Structured) else None


def settled(x):
    """`x` without structure: as it would have been recorded."""
    while (form := form_of(x)) is not None:
        x = form.settled()
    return x


def settle(x) -> None:
    """Make Tensor `x` one without structure, before it is written into."""
    now = settled(x)
    if now is not x:
        x.value, x.node, x.level = now.value, now.node, now.level


def held(x):
    """What `x` is now: later writes into arrays and Tensors do not reach it."""
    if type(x) is Tensor:
        return Tensor(x.value, x.node, x.level)
    return x.copy() if hasattr(x, "shape") and x.shape else x


class Structuring(Level):
    """The level of one Tensor with a structure, above those of all that it was made of; nothing closes it."""

    __slots__ = ()

    def apply(self, primitive, operands, keywords):
        """Note what the primitive does to the structure, or settle the operands of this level and record it."""
        own = [type(a) is Tensor and a.level is self for a in operands]
        form = next(a.node for a, is_own in zip(operands, own, strict=True) if is_own)
        found = form.understood(primitive, operands, keywords)
        if found is None:
            operands = [settled(a) if is_own else a for a, is_own in zip(operands, own, strict=True)]
            return primitive.fn(*operands, **keywords)
        value = primitive.fn(*map(unrecorded, operands), **keywords)
        if not isinstance(found, Structured):
            return found.real if found.dtype.kind == "c" and value.dtype.kind == "f" else found
        found.made, found.plain = (primitive, tuple(map(held, operands)), keywords), None
        return Tensor(value, found, self)


def is_differentiated(x) -> bool:
    """Whether what happens to `x` now is recorded, or tangents are pushed."""
    level = highest((x,))
    return level.number >= 0 and not stopped(level)
