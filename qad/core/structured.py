"""Tensors that know how they were made from something with a structure, such as the factors of a decomposition.

The `value` of such a Tensor is the plain value, and its `node` a `Structured`.  Its level is above that of all that it
was made of, so that every operation on it comes here (`qad.core.record`).  What is understood is noted, and recorded
only when its result has no structure any more; for everything else the Tensor is `settled` first: recorded as it
would have been in the beginning.  So nothing is known of these Tensors but what they carry with them.
"""

from qad.core.batch import unrecorded
from qad.core.levels import CONSTANT, _fresh, limit
from qad.core.operands import top_level
from qad.core.tensor import Tensor

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


def open_above() -> int:
    """A level above all that there are, for Tensors with a structure; there is nothing to close."""
    return _fresh()


def is_differentiated(x) -> bool:
    """Whether what happens to `x` now is recorded, or tangents are pushed."""
    return top_level((x,)) > max(limit(), CONSTANT)


def meet(p, args, kwargs, level):
    """Apply primitive `p` to operands of which one has a structure and is of the highest `level`; None if none has."""
    forms = [form for a in args if type(a) is Tensor and a.level == level and (form := form_of(a)) is not None]
    if not forms:
        return None
    kwargs = kwargs or {}
    found = forms[0].understood(p, args, kwargs)
    if found is None:
        return p.fn(*[settled(a) if type(a) is Tensor and a.level == level else a for a in args], **kwargs)
    value = p.fn(*map(unrecorded, args), **kwargs)
    if not isinstance(found, Structured):
        return found.real if found.dtype.kind == "c" and value.dtype.kind == "f" else found
    found.made, found.plain = (p, tuple(map(held, args)), kwargs), None
    return Tensor(value, found, level)
