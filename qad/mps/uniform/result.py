"""What searches on infinite chains return."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from qad.optimize.result import result_card

if TYPE_CHECKING:
    from qad.mps.uniform.state import UniformMPS


@dataclass(frozen=True)
class UniformGroundState:
    """What `ground_state` found on an infinite chain.

    Attributes
    ----------
    state : UniformMPS
        Right-canonical.
    energy : float
        Per site.
    history : ndarray
        The energy at the start and after every iteration.
    converged : bool
    message : str
        Why the search ended; and whether the state is a sum of several, or others have its energy.
    gradient : float
        "vumps": the norm of the energy's gradient, per site; else nan.
    """

    state: UniformMPS
    energy: float = field(metadata={"static": True})
    history: np.ndarray = field(metadata={"static": True})
    converged: bool = field(metadata={"static": True})
    message: str = field(metadata={"static": True})
    gradient: float = field(default=np.nan, metadata={"static": True})

    def _repr_html_(self) -> str:
        return result_card(self)
