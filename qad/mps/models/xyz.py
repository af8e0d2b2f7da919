"""Hamiltonians of spins 1/2 with a coupling of its own for every axis, as matrix product operators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qad.core.errors import ShapeError
from qad.mps.models.couplings import FiniteTerms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.models.lattice import Lattice
    from qad.mps.operators.mpo import MPO
    from qad.mps.operators.opsum import OpSum
    from qad.typing import ArrayLike, RealNumber


def xyz(
    n: int | Lattice,
    jx: RealNumber | ArrayLike,
    jy: RealNumber | ArrayLike,
    jz: RealNumber | ArrayLike,
    *,
    field: Sequence[RealNumber | ArrayLike] = (0.0, 0.0, 0.0),
    dm: Sequence[RealNumber | ArrayLike] = (0.0, 0.0, 0.0),
    periodic: bool = False,
) -> MPO:
    """Spins 1/2, ``H = sum_(ij) jx Sx Sx + jy Sy Sy + jz Sz Sz + dm . (S_i x S_j) - sum_i field . S_i``.

    Parameters
    ----------
    n : int or Lattice
        Number of sites, at least 2 (3 on a ring), or a ladder or cylinder.
    jx, jy, jz : real numbers, arrays or Tensors
        One for all bonds or one for each, in the order of `Lattice.pairs`; on a ring the last one closes it.
    field : three of them
        Components of a magnetic field, each one number or one for each site.
    dm : three of them
        Components of a Dzyaloshinskii-Moriya vector, each one number or one for each bond (i, j), from i to j; those of
        a lattice stand in the order and direction of `Lattice.bonds`.
    periodic : bool

    Returns
    -------
    MPO
        Of bond 5; real unless there is a field along y, or a DM vector along x or z.  It conserves "Sz" where only z
        components and ``jx = jy`` are given.

    Raises
    ------
    ArgumentError
        If a coupling is not real.
    ShapeError
        If there is not one for each bond or site, or `field` or `dm` have not three components.

    Examples
    --------
    >>> import numpy as np, qad
    >>> j = np.random.default_rng(0).uniform(0.5, 1.5, size=9)  # random bonds
    >>> qad.mps.xyz(10, j, j, j, field=(0, 0, 0.1))
    MPO(10 sites, open, bonds 1-5-5-5-5-5-5-5-5-5-1, float64)
    >>> slope = qad.grad(lambda j: qad.mps.energy(qad.mps.MPS.product([0, 1] * 5), qad.mps.xyz(10, j, j, j)))(j)
    >>> slope  # <Sz Sz> of every bond
    array([-0.25, -0.25, -0.25, -0.25, -0.25, -0.25, -0.25, -0.25, -0.25])
    """
    total = FiniteTerms(n, periodic)
    for i, j, x, y, z, *vector in total.on_bonds(jx=jx, jy=jy, jz=jz, **components(dm, "dm")):
        exchange(total, (i, j), x, y, z)
        cross_product(total, (i, j), vector)
    for i, *strengths in total.on_sites(**components(field, "field")):
        for name, strength in zip(("Sx", "Sy", "Sz"), strengths, strict=True):
            total.add(-strength, name, i)
    return total.mpo()


def components(vector: Any, name: str) -> dict[str, Any]:
    """Three components by their names, each of one number for all bonds or sites, or one for each."""
    if len(vector) != 3:
        raise ShapeError(f"{name} has three components, x, y and z, not {len(vector)}: each one number or an array")
    return {f"{name}[{i}]": part for i, part in enumerate(vector)}


def exchange(total: OpSum, bond: tuple[int, int], x: Any, y: Any, z: Any) -> None:
    """Add ``x Sx Sx + y Sy Sy + z Sz Sz``, by raising and lowering operators, which are real."""
    i, j = bond
    both, double = (x + y) * 0.25, (x - y) * 0.25
    total.add(both, "Sp", i, "Sm", j).add(both, "Sm", i, "Sp", j)
    total.add(double, "Sp", i, "Sp", j).add(double, "Sm", i, "Sm", j)
    total.add(z, "Sz", i, "Sz", j)


def cross_product(total: OpSum, bond: tuple[int, int], vector: Sequence[Any]) -> None:
    """Add ``vector . (S_i x S_j)``, by the same operators as `exchange`."""
    i, j = bond
    x, y, z = vector
    up, down = y * 0.5 + x * 0.5j, y * 0.5 - x * 0.5j
    total.add(-up, "Sp", i, "Sz", j).add(-down, "Sm", i, "Sz", j)
    total.add(up, "Sz", i, "Sp", j).add(down, "Sz", i, "Sm", j)
    total.add(z * 0.5j, "Sp", i, "Sm", j).add(z * -0.5j, "Sm", i, "Sp", j)
