"""Uniform matrix product states, and what searches for them return."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.mps.chain.chain import site_count
from qad.mps.chain.methods import OFFERED
from qad.mps.chain.row import check_row
from qad.mps.chain.site_tensors import random_isometry
from qad.mps.chain.state import StateChain
from qad.mps.charges.uniform import counted_from_mean
from qad.optimize.result import result_card

if TYPE_CHECKING:
    from typing import Any, Self

    from numpy.typing import NDArray

    from qad.mps.charges.quantities import Charge
    from qad.typing import Array, ArrayLike, DTypeLike, Seed


class UniformMPS(StateChain):
    """An infinite chain that repeats a cell of site tensors, ``... A1 A2 ... Ak A1 A2 ...``.

    Parameters
    ----------
    tensors : sequence of arrays, or of SymTensors
        The cell: site tensors with legs ``(left, physical, right)``; the last right leg fits the first left one.
        Symmetric ones have flows (+, +, -).  The bond right of a site carries the charge of all sites of the cell up to
        it; charges of the last site of a cell are counted less that of a cell (`sector`), so that the bond right of it
        is the first one again.
    conserved : Quantities, optional
        What symmetric tensors conserve, and the charges of the basis states of every site of the cell:
        ``uniform.ground_state(..., conserve=)`` makes such states.

    Raises
    ------
    ShapeError
        If neighbours do not fit, or a physical leg is not that of its site.

    Examples
    --------
    >>> import qad
    >>> qad.mps.uniform.UniformMPS.random(bond=4, cell=2)
    UniformMPS(2 sites, repeated, bonds 4-4-4, complex128)
    >>> qad.mps.uniform.ground_state(qad.mps.uniform.heisenberg(), bond=16, conserve="Sz").state
    UniformMPS(2 sites, repeated, Sz = 0 per cell, bonds 16-16-16, float64)
    """

    __slots__ = ()

    @property
    def total(self) -> Charge | None:
        """The charge of a cell as a tuple, by which the last physical leg counts less; None without charges."""
        if self.conserved is None:
            return None
        return self.conserved.symmetry.minus(self.conserved.charges[-1][0], self.tensors[-1].legs[1].charges[0])

    @property
    def sector(self) -> int | tuple[int, ...] | None:
        """The charge of a cell, one number for each quantity that is conserved; None without charges."""
        return None if self.conserved is None else self.conserved.symmetry.shown(self.total)

    @classmethod
    def random(cls, bond: int, phys: int = 2, cell: int = 1, dtype: DTypeLike = complex, seed: Seed = 0) -> Self:
        """A cell of random isometries from their left bonds.

        Parameters
        ----------
        bond, phys, cell : int
            Dimensions of bonds and of physical legs, and number of sites in the cell.
        dtype : dtype
            Real or complex floating.
        seed : int or numpy.random.Generator
        """
        bond, phys, cell = (site_count(x, 1, name) for x, name in ((bond, "bond"), (phys, "phys"), (cell, "cell")))
        dtype, rng = np.dtype(dtype), np.random.default_rng(seed)
        if dtype.kind not in "fc":
            raise ArgumentError(f"a random state needs a float or complex dtype, not {dtype}: write dtype=complex")
        return cls([random_isometry(rng, bond, phys, bond, dtype) for _ in range(cell)])

    def entanglement_entropy(self, *, order: float = 1) -> NDArray[np.float64]:
        """The entropy of a cut left of every site of the cell, in nats: `qad.mps.uniform.entanglement_entropy`.

        Examples
        --------
        >>> import numpy as np, qad
        >>> qad.mps.uniform.UniformMPS([np.ones((1, 2, 1))]).entanglement_entropy().round(12)
        array([0.])
        """
        return OFFERED["uniform.entanglement_entropy"](self, order=order)

    def measure(self, operator: str | ArrayLike) -> Array:
        """Expectation values on every site of the cell, or of it and neighbours: `qad.mps.uniform.expectation`.

        Examples
        --------
        >>> import numpy as np, qad
        >>> qad.mps.uniform.UniformMPS([np.ones((1, 2, 1))]).measure("Sx").round(12)
        array([0.5])
        """
        return OFFERED["uniform.expectation"](self, operator)

    def _kind(self) -> dict[str, Any]:
        charges = self.sector if isinstance(self.sector, tuple) else (self.sector,)
        names = () if self.conserved is None else self.conserved.names
        return {"ends": "repeated", **{name: f"{q} per cell" for name, q in zip(names, charges, strict=False)}}

    def _check_row(self) -> None:
        check_row(self, lambda: counted_from_mean(self.conserved, self.total).legs, around=True)


SymmetricUniformMPS = UniformMPS  # of symmetric tensors, with what they conserve


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

    @property
    def energy_per_site(self) -> float:
        """The energy: that of the whole chain is infinite."""
        return self.energy

    def _repr_html_(self) -> str:
        return result_card(self)
