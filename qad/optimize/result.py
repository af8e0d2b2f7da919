"""What a minimisation returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np


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

    params: Any
    fun: float = field(metadata={"static": True})
    history: np.ndarray = field(metadata={"static": True})
    gradient_norm: float = field(metadata={"static": True})
    success: bool = field(metadata={"static": True})
    interrupted: bool = field(metadata={"static": True})
    message: str = field(metadata={"static": True})
    nit: int = field(metadata={"static": True})
    nfev: int = field(metadata={"static": True})

    def __repr__(self) -> str:
        return (
            f"OptimizeResult(fun={self.fun!r}, gradient_norm={self.gradient_norm:.3g}, success={self.success}, "
            f"message={self.message!r}, nit={self.nit}, nfev={self.nfev})"
        )
