"""The Ising model in a transverse field on both sides of its transition (at 3.04), against other methods."""

import numpy as np
import pytest
import scipy.sparse.linalg

from qad import peps
from tests.peps.linked_clusters import energies, extrapolated


def torus(g, n=4):
    """The energy per site of n x n spins with periodic boundaries, exactly."""
    sites = n * n
    spins = 1 - 2 * ((np.arange(2**sites)[:, None] >> np.arange(sites)) & 1).astype(np.int8).reshape(-1, n, n)
    zz = -sum((spins * np.roll(spins, 1, axis)).sum((1, 2)) for axis in (1, 2)).astype(float)

    def product(v):
        out = zz * v.ravel()
        wide = v.reshape((2,) * sites)
        for axis in range(sites):
            out -= g * np.flip(wide, axis).ravel()
        return out

    operator = scipy.sparse.linalg.LinearOperator((2**sites,) * 2, matvec=product, dtype=float)
    start = np.exp(-zz / 10)
    return (
        scipy.sparse.linalg.eigsh(operator, k=1, which="SA", v0=start, tol=1e-8, return_eigenvectors=False)[0] / sites
    )


@pytest.mark.parametrize("g, limit", [(3.1, -3.2847), (2.5, -2.81082)])
@pytest.mark.sampled(1)
def test_energies_on_both_sides_of_the_transition(g, limit):
    """`limit` is that of linked clusters, of rectangles with up to 20 spins, to two in the last digit.

    A bond of 2 lies above it, and further where the correlation length is larger.
    """
    found = peps.ground_state(peps.ising(g), bond=2, chi=16, symmetry="c4v", tol=1e-8)
    x, z = (peps.local_expectations(found.state, name, found.environment)[0, 0] for name in ("X", "Z"))
    assert limit - 2e-5 < found.energy < limit + (8e-4 if g == 3.1 else 4e-5)
    assert extrapolated(energies(g, 8, is_ordered=g < 3.04)) == pytest.approx(limit, abs=2e-4 if g == 3.1 else 4e-5)
    if g == 3.1:  # J. Jordan et al., Phys. Rev. Lett. 101, 250602 (2008): -3.2834 and 0.91, read off their figures
        assert found.energy == pytest.approx(-3.2834, abs=1e-3)
        assert x == pytest.approx(0.91, abs=0.01)
        assert abs(z) < 1e-3
    else:
        assert abs(z) == pytest.approx(0.716, abs=5e-3)
    assert 0 < found.energy - torus(g) < 0.02  # a small torus lies below the plane
    assert -2 - g < found.energy < min(-2 - g * g / 8, -g)  # Anderson's bound, and products of spins
