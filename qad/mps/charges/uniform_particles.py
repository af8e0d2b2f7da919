"""Changed tensors of uniform states by the charge that they add: directions beside isometries, charge by charge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.mps.charges.axes import in_basis
from qad.symmetric.generic import dense

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.symmetric.groups import Charge
    from qad.symmetric.legs import Leg
    from qad.symmetric.tensor import SymTensor


def every(leg: Leg) -> list[Charge]:
    """The charge of each index of a leg."""
    return [charge for charge, dim in zip(leg.charges, leg.dims, strict=True) for _ in range(dim)]


def beside_by_charge(left: SymTensor, frame: np.ndarray) -> tuple[np.ndarray, list[Charge]]:
    """Orthonormal columns beside those of a left isometry, charge by charge, and the charge of each."""
    plus, shape = left.symmetry.plus, left.shape
    rows = [plus(one, two) for one in every(left.legs[0]) for two in every(left.legs[1])]
    columns, x = every(left.legs[2]), dense(left).reshape(len(rows), -1)
    found, labels = [np.zeros((len(x), 0), x.dtype)], []
    for charge in sorted(set(rows)):
        at, of = ([i for i, q in enumerate(row) if q == charge] for row in (rows, columns))
        beside = np.linalg.svd(x[np.ix_(at, of)])[0][:, len(of) :] if of else np.eye(len(at))
        block = np.zeros((len(x), beside.shape[1]), x.dtype)
        block[at] = beside
        found.append(block)
        labels += [charge] * beside.shape[1]
    basis = in_basis(np.concatenate(found, axis=1).reshape(*shape[:2], -1), frame, 1)
    return basis.reshape(len(rows), -1), labels


def carrying(charge: Charge, labels: list[list[Charge]], rights: Sequence[SymTensor]) -> np.ndarray:
    """The places of all coefficients of B that carry a charge: beside that of the bond on the right."""
    minus = rights[0].symmetry.minus
    right = [every(x.legs[2]) for x in rights]
    changes = [minus(one, two) for row, bond in zip(labels, right, strict=True) for one in row for two in bond]
    return np.array([i for i, change in enumerate(changes) if change == charge], int)
