"""Which function answers in NumPy's place when a Tensor is among its arguments, and what is said where none does."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, MissingRuleError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from qad.typing.words import Answer, Keywords, Value

UFUNCS: dict[np.ufunc, Callable[..., Any]] = {}  # ufunc -> recorder(*inputs), filled by qad.extend
FUNCTIONS: dict[Any, Callable[..., Any]] = {}  # NumPy function -> handler of the same signature, filled by qad.extend


def dispatch_ufunc(ufunc: np.ufunc, method: str, inputs: Sequence[Value], kwargs: Keywords) -> Answer:
    """The rare forms of a ufunc call: keywords, methods such as ``np.add.reduce``, rules that are not loaded yet.

    ``FUNCTIONS[ufunc, method]`` comes before ``FUNCTIONS[None, method]``, which serves every ufunc.
    """
    refuse_out(kwargs.get("out"), f"np.{ufunc.__name__}")
    if ufunc not in UFUNCS and not load_rules_of(ufunc):
        raise missing_rule(ufunc if method == "__call__" else getattr(ufunc, method))
    if method == "__call__" and not kwargs:
        return UFUNCS[ufunc](*inputs)
    if (ufunc, method) in FUNCTIONS:
        return FUNCTIONS[ufunc, method](*inputs, **kwargs)
    if (None, method) in FUNCTIONS:
        return FUNCTIONS[None, method](ufunc, *inputs, **kwargs)
    raise missing_rule(getattr(ufunc, method))


LATE: dict[str, Callable[[], object]] = {}  # name of another package -> what loads the rules of its ufuncs


def load_rules_of(ufunc: np.ufunc) -> bool:
    """Load the module that has the rule of `ufunc`, if there is one; SciPy's are loaded when they are needed."""
    for package, load in list(LATE.items()):
        found = getattr(sys.modules.get(package), ufunc.__name__, None)
        if ufunc is found or ufunc is getattr(found, "__wrapped__", None):  # under SCIPY_ARRAY_API=1
            load()
            LATE.pop(package, None)
    return ufunc in UFUNCS


def refuse_out(out: object, name: str) -> None:
    """Raise for ``out=``: what is written into an array cannot be recorded.

    Examples
    --------
    >>> import qad
    >>> qad.extend.refuse_out(None, "np.sum")
    """
    if out is not None:
        raise ArgumentError(
            f"{name}(..., out=...) would write a recorded value into an array: write y = {name}(...), "
            "and a = a + x instead of a += x, or make a with qad.zeros: then a[...] = x and a += x are recorded"
        )


def missing_rule(function: Callable[..., Any], argument: int | None = None) -> MissingRuleError:
    """The error for a function without a rule (in that `argument`); it shows the two lines that define one."""
    ufunc = getattr(function, "__self__", None)
    if isinstance(ufunc, np.ufunc):  # one of its methods
        return MissingRuleError(
            f"{_name(ufunc)}.{function.__name__} has no derivative rule in qad: write it in functions that have one, "
            "such as np.sum, np.cumsum, np.cumprod, qad.logsumexp, or x[:, None] * y for an outer product"
        )
    name = _name(function)
    if argument is not None:
        return MissingRuleError(
            f"{name} has no derivative rule in its argument number {argument}: pass a plain number or array there "
            "(x.numpy()), or define the rule with qad.extend.defvjp"
        )
    return MissingRuleError(
        f"{name} has no derivative rule in qad. Define one (unconjugated cotangent g):\n"
        f"    from qad.extend import defvjp\n"
        f"    defvjp({name}, lambda g, ans, x: g * derivative_at(x))\n"
        f"or, if it has no derivative: qad.extend.passes_through({name})"
    )


def _name(function: Callable[..., Any]) -> str:
    """A function as one writes it: ``np.interp``; other packages' ufuncs do not say where they come from."""
    name = getattr(function, "__name__", str(function))
    if isinstance(function, np.ufunc):
        return f"np.{name}" if getattr(np, name, None) is function else name
    return f"{getattr(function, '__module__', None) or 'numpy'}.{name}".replace("numpy", "np", 1)


def hidden(name: str) -> ArgumentError:
    """The error for a Tensor that an operation used without the tape's knowledge."""
    return ArgumentError(
        f"a recorded Tensor reached {name} by keyword, inside a list or through a closure, where no rule sees it: pass "
        "every Tensor as a positional argument of its own"
    )
