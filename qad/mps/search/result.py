"""What a search for a ground state returns."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from qad.mps.chain.state import MPS
from qad.optimize.result import result_card


@dataclass(frozen=True)
class GroundState:
    """What `ground_state` found.

    Attributes
    ----------
    state : MPS
        Normalised, in right-canonical gauge.
    energy : float
        ``<H>`` in it.
    variance : float
        ``<H^2> - <H>^2`` in it: its distance from an eigenstate.
    history : ndarray
        The energy at the start and after every step (an iteration, or a sweep to the right end and back).
    gradient_norm : float
        Norm of the gradient in the method's own variables; nan for sweeps, which have none.
    converged : bool
        Whether it converged, as `ground_state` says under `tol`.
    message : str
        Why the search ended.
    nfev : int
        Number of evaluations of the energy and its gradient, or of sweeps.
    method : str
        Which method searched, also where `ground_state` was left to pick one.
    """

    state: MPS
    energy: float = field(metadata={"static": True})
    variance: float = field(metadata={"static": True})
    history: np.ndarray = field(metadata={"static": True})
    gradient_norm: float = field(metadata={"static": True})
    converged: bool = field(metadata={"static": True})
    message: str = field(metadata={"static": True})
    nfev: int = field(metadata={"static": True})
    method: str = field(metadata={"static": True})

    @property
    def energy_per_site(self) -> float:
        """The energy over the number of sites."""
        return self.energy / len(self.state)

    def __repr__(self) -> str:
        return (
            f"GroundState(energy={self.energy!r}, variance={self.variance:.3g}, converged={self.converged}, "
            f"method={self.method!r}, message={self.message!r}, nfev={self.nfev}, state={self.state!r})"
        )

    def _repr_html_(self) -> str:
        return result_card(self)
