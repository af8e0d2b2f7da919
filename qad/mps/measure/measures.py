"""What is measured in a chain: local expectation values and densities.

All are of the normalised state, whatever its norm, and are differentiated through one sweep from each side.  A ring is
measured as the open chain that it is (`MPS.opened`): bonds are squared.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import value_of
from qad.keywords import keywords_told
from qad.mps.chain.chain import as_array
from qad.mps.chain.checks import check_kind
from qad.mps.chain.densities import environments, reduced, site_density
from qad.mps.chain.gates import as_matrix, check_sites
from qad.mps.chain.methods import offered
from qad.mps.chain.state import MPS
from qad.mps.charges.quantities import named
from qad.mps.measure.fermions import first_of_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.chain.densities import Sides
    from qad.mps.charges.quantities import Kinds
    from qad.typing import Array, ArrayLike

MOST_ENTRIES = 2**26  # of a density matrix


@keywords_told
def local_expectations(psi: MPS, operator: str | ArrayLike | Sequence[ArrayLike], kind: Kinds = None) -> Array:
    """``<psi| O_i |psi> / <psi|psi>`` of a local operator on every site, in one sweep from each side.

    Parameters
    ----------
    psi : MPS
    operator : array (phys, phys), a sequence of one for each site, or a name
        Rows ``out``; Hermitian or not, conserving or not.
    kind : str, Site, or a sequence of them, optional
        What stands on the sites, where a name is looked up, "electron" for example; by default what the state knows,
        or spins.

    Returns
    -------
    array (n,)
        Complex if the state or an operator is; its imaginary part vanishes for Hermitian ones.

    Raises
    ------
    ShapeError
        If an operator does not fit its site, or there is not one for each.

    Notes
    -----
    ``O(n phys bond**3)``.

    Examples
    --------
    >>> import numpy as np, qad
    >>> neel = qad.mps.MPS.product([0, 1, 0])
    >>> qad.mps.local_expectations(neel, np.diag([0.5, -0.5])).real
    array([ 0.5, -0.5,  0.5])
    """
    places = range(len(check_kind(psi, MPS)))
    return expected(sides_of(psi), places, per_site(psi, operator, kind), orders_of(psi))


def expected(
    sides: Sides, places: Sequence[int], operators: Sequence[Array], orders: Sequence[np.ndarray] | None = None
) -> Array:
    """The expectation values of operators on single sites of a state."""
    (lefts, tensors, rights), values = sides, []
    for i, matrix in zip(places, operators, strict=True):
        density = site_density(lefts[i], tensors[i], rights[i + 1], None if orders is None else orders[i])
        values.append((density * matrix.T).sum() / density.trace())
    return np.stack(values)


@offered
def measure(psi: MPS, operator: str | ArrayLike, sites: int | Sequence[int] | None = None) -> Array:
    """Expectation values of an operator in the normalised state, on each of some sites, or on several together.

    Parameters
    ----------
    psi : MPS
    operator : str or array
        A matrix for one site, or the name of an operator of the sites that the state knows, or of spins, such as
        "Sz"; or a matrix for all of `sites` together, the first of them most significant.
    sites : int or sequence of ints, optional
        All by default.

    Returns
    -------
    scalar, or array of one value for each of `sites`
        A scalar for one site, and for an operator on several together.

    Raises
    ------
    ArgumentError
        If a site does not exist or is repeated, or there is no operator of this name.
    ShapeError
        If the operator does not fit.

    Examples
    --------
    >>> import numpy as np, qad
    >>> neel = qad.mps.MPS.product(["up", "down", "up"])
    >>> qad.mps.measure(neel, "Sz").real, complex(qad.mps.measure(neel, "Sz", 1))
    (array([ 0.5, -0.5,  0.5]), (-0.5+0j))
    >>> complex(qad.mps.measure(neel, np.diag([1.0, -1.0, -1.0, 1.0]), (0, 2)))  # Z Z
    (1+0j)
    """
    named_one = isinstance(operator, str)
    operator = operator if named_one else as_array(operator)
    if sites is None:
        return local_expectations(psi, operator)
    places = check_sites(psi, sites)
    if named_one or operator.shape == (psi.phys[places[0]],) * 2:
        matrices = named(psi, operator, None, places) if named_one else [operator] * len(places)
        values = expected(sides_of(psi), places, fitting(psi, matrices, places), orders_of(psi))
        return values[0] if np.ndim(sites) == 0 else values
    matrix, k = as_matrix(operator, dims := [psi.phys[site] for site in places]), len(places)
    order = np.argsort(places)
    matrix = matrix.reshape(*dims, *dims).transpose(*order, *(order + k)).reshape(matrix.shape)
    blocks = [places] if list(places) == sorted(places) else [[place] for place in places]
    return (density_on(first_of_all(psi, *blocks), sorted(places)) * matrix.T).sum()


def reduced_density(psi: MPS, sites: int | Sequence[int]) -> Array:
    """The density matrix of some sites, all others traced out.

    Parameters
    ----------
    psi : MPS
    sites : int or sequence of ints
        Ascending.

    Returns
    -------
    array (d, d)
        Of trace 1, ``rho[s, t] = sum psi[s, rest] conj(psi[t, rest])``; ``d`` is the product of the sites'
        dimensions, the first one most significant.  Of fermions it is that of a basis in which those of `sites` are
        created first: ``tr(rho A)`` is the mean of every A that is made of their operators, neighbours or not.

    Raises
    ------
    ArgumentError
        If sites do not ascend or do not exist, or the matrix has more than 2**26 entries.

    Examples
    --------
    >>> import numpy as np, qad
    >>> bell = qad.mps.MPS.from_dense(np.eye(2) / np.sqrt(2))
    >>> qad.mps.reduced_density(bell, 0).round(12)
    array([[0.5, 0. ],
           [0. , 0.5]])
    """
    sites = check_sites(psi, sites)
    if list(sites) != sorted(sites):
        raise ArgumentError(f"sites {sites} must ascend and lie in 0 ... {len(psi) - 1}")
    return density_on(first_of_all(psi, sites), sites)


def density_on(psi: MPS, sites: Sequence[int]) -> Array:
    """The density matrix of some sites in the basis of the chain, of trace 1."""
    if prod(psi.phys[i] for i in sites) ** 2 > MOST_ENTRIES:
        raise ArgumentError(f"the density matrix of {len(sites)} sites has more than 2**26 entries")
    density = reduced(sides_of(psi), sites, orders_of(psi))
    return density / density.trace()


def sides_of(psi: MPS) -> Sides:
    """The environments and tensors of a state, by `qad.mps.chain.densities.environments`; a ring is opened."""
    return environments(psi.opened())


def orders_of(psi: MPS) -> Sequence[np.ndarray] | None:
    """What the leg of every site stands for (`Quantities.frames`); None where that is its own basis."""
    return psi.conserved.frames if psi.conserved is not None else None


def per_site(psi: MPS, operator: Any, kind: Kinds = None) -> list[Array]:
    """One matrix for each site, as an array; `kind` is what the name of an operator is looked up in."""
    if isinstance(operator, str):
        matrices = named(psi, operator, kind)
    elif not hasattr(operator, "__len__") or hasattr(operator, "keys") or getattr(operator, "shape", None) == ():
        raise ArgumentError(f"an operator is a name, a matrix or one matrix for each site, not {operator!r}")
    else:
        alone = operator if hasattr(operator, "shape") or not len(operator) else operator[0]
        one = np.ndim(value_of(alone)) == (2 if alone is operator else 1)  # a matrix, or its first row
        matrices = [operator] * len(psi) if one else list(operator)
    if len(matrices) != len(psi):
        raise ShapeError(f"{len(matrices)} operators were given for {len(psi)} sites")
    return fitting(psi, matrices, range(len(psi)))


def fitting(psi: MPS, matrices: Sequence[Any], places: Sequence[int]) -> list[Array]:
    """Matrices for some sites as arrays; raises where one does not fit."""
    arrays = list(map(as_array, matrices))
    for matrix, site in zip(arrays, places, strict=True):
        if matrix.shape != (psi.phys[site],) * 2:
            raise ShapeError(
                f"an operator of shape {matrix.shape} does not fit site {site}, of dimension {psi.phys[site]}"
            )
    return arrays
