"""What a search of definite charge must not have overlooked; as `qad.mps.search.escape`, at one site."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import like
from qad.linalg.support.random import normal
from qad.mps.conserving.sweeps import OneSite
from qad.mps.search.escape import beside, lower_beside
from qad.symmetric.contraction import tensordot
from qad.symmetric.decompositions import qr
from qad.symmetric.tensor import bare

if TYPE_CHECKING:
    from qad.mps.conserving.environments import Operator
    from qad.mps.conserving.excluded import Excluded
    from qad.mps.conserving.state import SymmetricMPS


def escaped(operator: Operator, state: SymmetricMPS, excluded: Excluded, tol: float) -> SymmetricMPS | None:
    """A state of lower energy by more than `tol`, relative, or None where no change of the middle site leads to one.

    Sweeps stop in a superposition of two close levels: what their local problems gain on the way is too little.
    """
    sweeps = OneSite(operator, state, state.bond, excluded)
    middle, tensors = len(state) // 2, sweeps.tensors
    for site in range(middle):
        tensors[site], rest = qr(tensors[site], 2)
        tensors[site + 1] = tensordot(rest, tensors[site + 1], 1).resplit(2)
        sweeps.pass_right(site)
    centre, sides = tensors[middle], (sweeps.left[middle], sweeps.right[middle])
    local = operator.around(middle, 1).effective(*sides, centre)
    apply, here = sweeps.penalty.added(local, middle, 1), sweeps.energy
    data = centre.resplit(local.layout.split).data
    data = data / np.linalg.norm(data)
    noise = normal(np.random.default_rng(0), data.shape, np.result_type(data.dtype, np.float64))
    start = beside(data, like(data).asarray(noise).astype(data.dtype))
    if np.linalg.norm(start) < 1e-8:  # there is nothing else in this sector
        return None
    gain, vector = lower_beside(lambda x: apply(x) - here * x, data, start, tol * abs(here))
    if gain >= -tol * abs(here):
        return None
    tensors[middle] = bare(local.layout, vector).resplit(2)
    return sweeps.state
