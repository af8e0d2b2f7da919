"""Handlers: what is called in the place of a NumPy function when a Tensor is among its arguments."""

from __future__ import annotations

import inspect
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from qad.core.registry.families import defbatch
from qad.core.tape import recorders
from qad.core.tape.dispatch import FUNCTIONS, LATE, UFUNCS, refuse_out
from qad.core.tape.operands import brought, operand
from qad.core.tape.record import record
from qad.core.tape.tensor import Tensor, value_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from qad.core.registry.families import RuleFamily
    from qad.core.tape.node import Primitive
    from qad.typing import F, Function
    from qad.typing.words import Keywords, Rule, Value


def install(fn: Function, p: Primitive) -> None:
    """Have primitive `p` recorded wherever NumPy's function `fn` is called with Tensors."""
    if isinstance(fn, np.ufunc):
        quick = fn.nout == 1 and len(p.vjps) == fn.nin and all(p.vjps)
        one, two = quick and fn.nin == 1, quick and p.elementwise
        UFUNCS[fn] = recorders.unary(p) if one else recorders.binary(p)[0] if two else _general(p)
    else:
        FUNCTIONS[fn] = _general(p)


def _general(p: Primitive) -> Function:
    """A handler with the signature of the NumPy function."""

    def handler(*args, **kwargs):
        refuse_out(kwargs.get("out"), f"np.{p.name}")
        if any(type(v) is Tensor for v in kwargs.values()):
            args, kwargs = _by_position(p.fn, args, kwargs)
        arrays = len(p.vjps) or len(args)
        return record(p, (*map(operand, args[:arrays]), *args[arrays:]), kwargs)

    return handler


_signature = lru_cache(maxsize=None)(inspect.signature)


def _by_position(fn: Function, args: Sequence[Value], kwargs: Keywords) -> tuple[Sequence[Value], Keywords]:
    """Move Tensors given by keyword to their positions."""
    bound = _signature(fn).bind(*args, **kwargs)
    bound.apply_defaults()
    names = list(bound.arguments)
    last = max(i for i, name in enumerate(names) if type(kwargs.get(name)) is Tensor)
    moved = names[: last + 1]
    return tuple(bound.arguments[n] for n in moved), {k: v for k, v in kwargs.items() if k not in moved}


def implements(fn: Function | tuple[Function | None, str]) -> Callable[[F], F]:
    """Decorator: call this instead of NumPy's `fn` whenever a Tensor is among its arguments.

    For functions that are written in others with rules, and to normalise arguments; the signature is that of `fn`.
    A pair ``(ufunc, method)`` stands for a method such as ``np.add.reduce``, ``(None, method)`` for that of every ufunc
    that has none of its own; it takes the ufunc first. The method ``__call__`` is a call with keywords.

    Examples
    --------
    >>> import numpy as np, qad
    >>> @qad.extend.implements(np.polyval)
    ... def polyval(p, x):
    ...     y = 0 * x
    ...     for c in p:
    ...         y = y * x + c
    ...     return y
    >>> qad.grad(lambda x: np.polyval([1.0, 0.0, 5.0], x))(3.0)
    np.float64(6.0)
    """

    def install(handler):
        (UFUNCS if isinstance(fn, np.ufunc) else FUNCTIONS)[fn] = handler
        return handler

    return install


def passes_through(*functions: Function, batch: Rule | RuleFamily | None = None) -> None:
    """Declare functions without derivative: they run on the bare values and return plain arrays.

    `batch` is what they do to a batch of examples, as `defbatch` takes it.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.extend.passes_through(np.histogram)
    >>> np.histogram(qad.tensor([0.1, 0.9, 0.8]), bins=2, range=(0, 1))[0]
    array([1, 2])
    """
    for fn in functions:

        def handler(*args, _fn=fn, **kwargs):
            return _fn(*values_in(args), **{k: values_in(v) for k, v in kwargs.items()})

        handler.passes = True
        implements(fn)(handler)
        if batch is not None:
            defbatch(fn, batch)


def takes_tensors(fn: Function) -> bool:
    """Whether a function or ufunc of NumPy may be given Tensors: it has a rule, a handler, or passes through."""
    return getattr(fn, "__hash__", None) is not None and (fn in UFUNCS or fn in FUNCTIONS)


def has_no_derivative(ufunc: np.ufunc) -> bool:
    """Whether `passes_through` has declared it so."""
    return getattr(UFUNCS[ufunc], "passes", False)


def rules_of(package: str, load: Callable[[], object]) -> None:
    """Say what loads the rules of another package's ufuncs: it is called when one of these first meets a Tensor.

    Examples
    --------
    >>> import qad
    >>> qad.extend.rules_of("bessel", lambda: qad.special)  # as qad does for "scipy.special"
    """
    LATE[package] = load


def values_in(x: Any) -> Any:
    """`x`, and what lists and tuples hold, with values in the place of Tensors."""
    return type(x)(map(values_in, x)) if type(x) in (list, tuple) else brought(value_of(x))
