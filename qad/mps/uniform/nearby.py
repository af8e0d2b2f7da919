"""All states near one of the same bonds, without gauge: ``A + x N / w``, in which the metric of states is 1.

N are the rows beside the isometry A of every site, and w the Schmidt values left of it; the sums are made isometries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import value_and_grad
from qad.mps.uniform.canonical import schmidt_form
from qad.mps.uniform.measures import energy_from
from qad.mps.uniform.state import UniformMPS
from qad.mps.uniform.transfer import isometric_environments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.operators.uniform_mpo import UniformMPO
    from qad.typing import Array, Real

LEAST_WEIGHT = 1e-6  # of Schmidt coefficients that are divided by: rounding is, by their squares


class Neighbourhood:
    """All states near one of the same bonds, without gauge.

    Parameters
    ----------
    state : UniformMPS
        Not a sum of several.
    floor : float
        Added in squares to the weights that are divided by.

    Attributes
    ----------
    bond : int
        The largest bond in directions that have weight; others are left as they are.
    least : float
        The least of these weights, beside the largest of its bond.
    """

    def __init__(self, state: UniformMPS, floor: float = 0.0):
        form, weights = schmidt_form(state)
        kept = [w > LEAST_WEIGHT * w.max() for w in weights]
        self.bond: int = max(map(np.count_nonzero, kept))
        self.least: float = min((w[rows] / w.max()).min() for w, rows in zip(weights, kept, strict=True))
        self.left: np.ndarray = np.diag(weights[0] ** 2).astype(form.dtype)
        self.tensors: list[np.ndarray] = list(form)
        sizes = [np.diag(1 / np.hypot(w, floor)) for w in weights]
        self.factors: list[np.ndarray] = [size[:, rows] for size, rows in zip(sizes, kept, strict=True)]
        self.beside: list[np.ndarray] = [np.linalg.svd(t.reshape(len(t), -1))[2][len(t) :] for t in form]

    def nowhere(self) -> list[np.ndarray]:
        """The variables of the state itself."""
        return [np.zeros((w.shape[1], len(n)), n.dtype) for w, n in zip(self.factors, self.beside, strict=True)]

    def state(self, x: Sequence[Array]) -> UniformMPS:
        """The state of these variables, right-canonical."""
        tensors = []
        for tensor, factor, rows, y in zip(self.tensors, self.factors, self.beside, x, strict=True):
            moved = factor @ y
            root = np.linalg.cholesky(np.eye(len(tensor)) + moved @ moved.conj().T)
            isometry = np.linalg.solve(root, tensor.reshape(len(tensor), -1) + moved @ rows)
            tensors.append(isometry.reshape(tensor.shape))
        return UniformMPS(tensors)

    def energy(self, x: Sequence[Array], H: UniformMPO) -> Real:
        """The energy per site of a state."""
        psi = self.state(x)
        lefts, rights = isometric_environments(psi, self.left)
        return energy_from(psi, H, lefts[0], rights[-1])

    def downhill(self, x: Sequence[Array], H: UniformMPO) -> list[Array]:
        """One step along the gradient of the energy of a cell."""
        _, slopes = value_and_grad(lambda x: self.energy(x, H))(list(x))
        return [y - len(self.tensors) * g.conj() for y, g in zip(x, slopes, strict=True)]
