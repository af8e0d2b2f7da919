"""Cotangents on their way: arrays, Tensors of other levels, and structured ones, which stay lazy while they can."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy import ndarray, ones

from qad.core.tape.node import NUMPY_SCALARS
from qad.core.tape.tensor import Tensor

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qad.core.tape.node import Primitive
    from qad.typing import DTypeLike
    from qad.typing.words import Answer, Cotangent


class Lazy:
    """A structured cotangent that is expanded only where a rule needs it.

    Subclasses give ``shape``, ``dtype``, ``real``, ``dense()`` (a newly allocated array) and ``add(other)``,
    the sum with another cotangent of any kind, lazy or newly allocated.
    """

    __slots__ = ()

    def into(self, g: Any) -> Any:
        """The sum with an array that may be written into."""
        return self.add(g)


class One(Lazy):
    """The cotangent of a scalar loss.  A rule of the form ``g * x`` may accept it, and saves the product."""

    __slots__ = ("dtype", "_dense")
    shape: tuple[int, ...] = ()

    def __init__(self, dtype: DTypeLike):
        self.dtype: Any = dtype
        self._dense = ones((), dtype)
        self._dense.flags.writeable = False  # it is shared

    @property
    def real(self) -> One:
        return One(self._dense.real.dtype)

    def dense(self) -> NDArray[Any]:
        return self._dense

    def __mul__(self, x: Any) -> Any:
        return x if x.dtype.kind in "fc" else x.astype(self.dtype)  # a cotangent is no array of integers or bools

    def add(self, other: Any) -> Any:
        return self._dense + (other.dense() if isinstance(other, Lazy) else other)


def prepared(g: Cotangent, owned: bool, ans: Answer, p: Primitive) -> tuple[Cotangent, bool]:
    """A cotangent as its node needs it: real where the answer is real, dense unless its primitive accepts it lazy."""
    if type(g) is Tensor:
        return (g.real, owned) if g.dtype.kind == "c" and ans.dtype.kind == "f" else (g, owned)
    if type(g) is list:  # several outputs
        return [None if part is None else prepared(part, False, a, p)[0] for part, a in zip(g, ans, strict=True)], False
    if g.dtype.kind == "c" and ans.dtype.kind == "f":
        g = g.real
    if not isinstance(g, Lazy) or type(g) in p.accepts:
        return g, owned
    if type(g) is One:
        return g.dense()[()] if type(ans) in NUMPY_SCALARS else g.dense(), False  # among scalars a scalar is quicker
    return g.dense(), True


def add(g: Cotangent, owned: bool, c: Cotangent) -> Cotangent:
    """Sum of two cotangents: in place if the first is `owned`, else newly allocated."""
    if type(g) is ndarray and owned:
        if type(c) is ndarray and g.base is None and g.dtype is c.dtype and g.shape == c.shape:
            g += c
            return g
        return c.into(g) if isinstance(c, Lazy) else g + c
    if isinstance(g, Lazy):
        return g.add(c)
    if isinstance(c, Lazy):
        return c.into(g) if owned else c.add(g)
    return g + c
