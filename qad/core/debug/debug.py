"""`qad.debug`: stop at the first operation that gives NaN or infinity, forward or backward."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.debug.observer import Observer, users_line, wrap_rules
from qad.core.errors import NotFiniteError
from qad.core.tape.cotangents import Lazy
from qad.core.tape.tensor import Tensor
from qad.core.vmap.batched import stack_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing.words import Answer, Rule, Value


class debug(Observer):
    """Context manager that stops at the first operation on Tensors whose result, or whose derivative, is not finite.

    Parameters
    ----------
    nans : bool
        Whether to look for NaN and infinity; there is nothing else to look for yet.

    Raises
    ------
    NotFiniteError
        Its message names the operation and the line of your program that called it. In the backward pass it is the
        line by which the operation was recorded, also where the pass itself runs after the context.

    Notes
    -----
    Every operation is looked at, which makes it a few times slower. Outside of the context nothing is.

    Examples
    --------
    >>> import numpy as np, qad
    >>> with np.errstate(divide="ignore"), qad.debug(nans=True):
    ...     try:
    ...         qad.grad(lambda x: np.log(x).sum())(np.array([1.0, 0.0]))
    ...     except qad.QadError as error:
    ...         print(str(error).splitlines()[0])
    log gave -inf at [1], in 1 of 2 entries
    """

    def __init__(self, nans: bool = True):
        self.nans = nans

    def apply(self, p: Any, args: Any, kwargs: Any) -> Any:
        out = super().apply(p, args, kwargs)
        if self.nans:
            line = users_line()
            complain(out, args, f"{p.name} gave", line)
            wrap_rules(out, lambda rule, places: checked(rule, places, p.name, line))
        return out


def checked(rule: Rule, places: Sequence[int] | None, name: str, line: str) -> Rule:
    """`rule`, whose cotangents are looked at."""

    def check(*call, **kwargs):
        try:
            answer = rule(*call, **kwargs)
        except NotFiniteError as error:  # a higher derivative: the rule itself is recorded
            raise NotFiniteError(f"{error}\nin the derivative of {name}\n{line}") from None
        numbers, g = (places, call[0]) if places else (call[0], call[1])
        with np.errstate(all="ignore"):
            for i, c in zip(numbers, (answer,) if places else answer, strict=True):
                c = c.dense() if isinstance(c, Lazy) else c
                complain(c, (g,), f"in the backward pass the cotangent of argument {i} of {name} is", line)
        return answer

    return check


def complain(out: Answer, operands: Sequence[Value], subject: str, line: str) -> None:
    """Raise if an array in `out`, or its tangent, is not finite."""
    for x in out if isinstance(out, (tuple, list)) else (out,):
        trouble = finding(stack_of(x)) or (type(x) is Tensor and x.tangent is not None and finding(stack_of(x.tangent)))
        if trouble:
            old = any(finding(stack_of(a)) for a in operands)
            origin = "; what it was given has some already" if old else ""
            raise NotFiniteError(f"{subject} {trouble}{origin}\n{line}")


def finding(x: Any) -> str:
    """What is not finite in an array: ``nan at [0, 2], in 3 of 12 entries``; or nothing."""
    x = x.dense() if isinstance(x, Lazy) else x
    if not isinstance(x, (np.ndarray, np.generic, float, complex)) or np.asarray(x).dtype.kind not in "fc":
        return ""
    bad = ~np.isfinite(x)
    if not bad.any():
        return ""
    if bad.ndim == 0:
        return f"{x[()] if isinstance(x, np.ndarray) else x}"
    place = tuple(int(i) for i in np.argwhere(bad)[0])
    return f"{x[place]} at {list(place)}, in {bad.sum()} of {bad.size} entries"
