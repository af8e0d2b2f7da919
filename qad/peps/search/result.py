"""What a search for a ground state returns."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from qad.optimize.result import result_card
from qad.peps.infinite.environment import Environment
from qad.peps.infinite.state import PEPS


@dataclass(frozen=True)
class GroundState:
    """What `ground_state` found.

    Attributes
    ----------
    state : PEPS
        Of the lowest energy that was seen.
    energy : float
        Per site, in `environment`.
    environment : Environment
        That of `state`.
    history : ndarray
        The energy at the start and after every iteration.
    evaluations : structured ndarray
        All evaluations at this bond and chi, those that led nowhere too. Fields: ``energy`` and ``gradient_norm``,
        infinite where a point was rejected; the environment's ``chi``, its ``moves``, and the ``products`` of the
        adjoint equation; ``seconds``; and ``best``, whether it was the lowest energy of a descent until then.
    gradient_norm : float
        There, with sites of norm 1.
    converged : bool
        Whether a tolerance was reached.
    is_stuck : bool
        Whether it ended for the energy jumps: where environments change from one phase to another, for example.
    message : str
        Why the search ended.
    nfev : int
        Number of evaluations of the energy and its gradient.
    """

    state: PEPS
    energy: float = field(metadata={"static": True})
    environment: Environment
    history: np.ndarray = field(metadata={"static": True})
    evaluations: np.ndarray = field(metadata={"static": True})
    gradient_norm: float = field(metadata={"static": True})
    converged: bool = field(metadata={"static": True})
    is_stuck: bool = field(metadata={"static": True})
    message: str = field(metadata={"static": True})
    nfev: int = field(metadata={"static": True})

    @property
    def energy_per_site(self) -> float:
        """The energy: that of the whole lattice is infinite."""
        return self.energy

    def __repr__(self) -> str:
        return (
            f"GroundState(energy={self.energy!r}, converged={self.converged}, message={self.message!r}, "
            f"nfev={self.nfev}, state={self.state!r}, environment={self.environment!r})"
        )

    def _repr_html_(self) -> str:
        return result_card(self)
