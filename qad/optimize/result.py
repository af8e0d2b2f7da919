"""What a minimisation returns."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from textwrap import shorten
from typing import Any

import numpy as np

from qad.showing import card

LONGEST = 160  # letters of a field in a card
BY_USER = "stopped by the user (Ctrl-C)"  # the message of searches that end so, with the best that they have


def result_card(found: Any) -> str:
    """What a search has found as notebooks show it: all fields but the arrays, in their order."""
    names = [f.name for f in fields(found) if f.name != "history"]
    rows = [(name.replace("_", " "), shorten(str(getattr(found, name)), LONGEST, placeholder=" ...")) for name in names]
    return card(type(found).__name__, [*rows, ("steps", max(len(found.history) - 1, 0))])


@dataclass(frozen=True)
class OptimizeResult:
    """The outcome of `minimize`; names follow SciPy's.

    Attributes
    ----------
    params : pytree
        The parameters of the lowest loss that was seen.
    fun : float
        The loss there.
    history : ndarray
        The loss at the start and after every iteration.
    gradient_norm : float
        Euclidean norm of the gradient at `params`.
    success : bool
        Whether a tolerance was reached.
    interrupted : bool
        Whether the user, the callback or a loss that is not finite ended it.
    message : str
        Why it stopped.
    nit, nfev : int
        Numbers of iterations, and of evaluations of the loss with its gradient.
    """

    params: Any = field(repr=False)
    fun: float = field(metadata={"static": True})
    history: np.ndarray = field(repr=False, metadata={"static": True})
    gradient_norm: float = field(metadata={"static": True})
    success: bool = field(metadata={"static": True})
    interrupted: bool = field(repr=False, metadata={"static": True})
    message: str = field(metadata={"static": True})
    nit: int = field(metadata={"static": True})
    nfev: int = field(metadata={"static": True})

    def _repr_html_(self) -> str:
        return result_card(self)
