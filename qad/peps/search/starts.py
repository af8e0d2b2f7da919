"""States to start a search from: random ones, and those of a smaller bond with a little noise in what is new."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import as_array, value_of
from qad.peps.state import PEPS
from qad.peps.symmetry import symmetrised

if TYPE_CHECKING:
    from typing import Any

NOISE = 1e-2  # of what a larger bond adds, beside a site of norm 1


def normalised(state: PEPS) -> PEPS:
    """The same state, its sites symmetric and of norm 1."""
    sites = [symmetrised(as_array(value_of(x)), state.symmetry) for x in state.tensors]
    return PEPS([x / np.linalg.norm(x) for x in sites], state.cell, state.symmetry)


def random_start(bond: int, rng: np.random.Generator, shape: dict[str, Any]) -> PEPS:
    """A random state of norm 1 beside a product of random spins of the same weight.

    Environments of random states alone converge badly, and searches from there end in local minima.
    """
    sites = []
    for x in normalised(PEPS.random(bond, seed=rng, **shape)).tensors:
        spin = rng.standard_normal(len(x))
        site = x.copy()
        site[:, 0, 0, 0, 0] += spin / np.linalg.norm(spin)
        sites.append(site)
    return normalised(PEPS(sites, shape["cell"], shape["symmetry"]))


def enlarged(state: PEPS, bond: int, rng: np.random.Generator, noise: float = NOISE) -> PEPS:
    """`state` with larger bonds, which hold noise."""
    wide = PEPS.random(bond, state.cell, rng, state.phys, state.dtype, state.symmetry)
    sites = []
    for x, y in zip(normalised(state).tensors, normalised(wide).tensors, strict=True):
        larger = noise * y
        larger[tuple(slice(n) for n in x.shape)] += x
        sites.append(larger)
    return normalised(PEPS(sites, state.cell, state.symmetry))
