"""How a recording below the tape, that of `qad.freeze`, learns of primitives.

What a primitive does inside may leave NumPy's protocols (SciPy's routines, compiled kernels, writing in place), so a
primitive that meets a traced operand while something is being recorded is handed to the recording as a whole, by the
operand's method ``__qad_step__``.  (``__qad_like__`` makes a gradient without axes an array where the operand is.)
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from qad.core.tape.tensor import value_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from qad.typing import Function, P, R
    from qad.typing.words import Answer, Keywords, Value

RECORDINGS: set[Any] = set()  # the recordings that run, in any thread; nearly always empty


def as_step(call: Function, fn: Function, args: Sequence[Value], kwargs: Keywords) -> Answer:
    """Hand the call of a primitive to the recording of its first traced operand; without one just run `fn`."""
    for x in flat((args, *kwargs.values())):
        take = getattr(type(x), "__qad_step__", None)
        if take is not None:
            return take(x, call, fn, args, kwargs)
    return fn(*args, **kwargs)


def any_traced(*arrays: Any) -> bool:
    """Whether `qad.freeze` is recording what happens to one of these, below all Tensors.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.extend.any_traced(np.ones(2))
    False
    >>> qad.freeze(lambda x: qad.extend.any_traced(x))(np.ones(2))
    True
    """
    return bool(RECORDINGS) and any(hasattr(value_of(x), "__qad_step__") for x in arrays)


def opaque(fn: Callable[P, R]) -> Callable[P, R]:
    """Make a function one step of a frozen program: for what leaves NumPy's protocols and has no derivative of its own.

    Parameters
    ----------
    fn : callable
        Takes plain arrays and gives arrays; calls of `qad.freeze` see its operands and its result, nothing inside.

    Examples
    --------
    >>> import numpy as np, qad, scipy.linalg
    >>> pivots = qad.extend.opaque(lambda a: scipy.linalg.lu_factor(a)[1])
    >>> qad.freeze(lambda a: pivots(a + 1))(np.eye(2))
    array([0, 1]...)
    """

    @wraps(fn)
    def call(*args, **kwargs):
        return as_step(call, fn, args, kwargs) if RECORDINGS else fn(*args, **kwargs)

    return call


def flat(things: Iterable[Any]) -> Iterator[Any]:
    """What stands in `things`, and in lists, tuples and dicts among them."""
    for x in things:
        if type(x) in (tuple, list, dict):
            yield from flat(x.values() if type(x) is dict else x)
        else:
            yield x
