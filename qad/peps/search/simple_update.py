"""Imaginary time with the weights of bonds in the place of environments: quick starts for searches."""

from __future__ import annotations

from collections import defaultdict
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.core.trees import tree_map
from qad.keywords import keywords_told
from qad.peps.charges import charges_of_cell, check_conserves, kind_of
from qad.peps.checks import check_kind
from qad.peps.infinite.state import PEPS, STEPS, letters, pattern
from qad.peps.models import Model
from qad.peps.search.paths import along_paths
from qad.peps.search.starts import check_plain, normalised
from qad.peps.search.weighted import Weighted, started

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.mps.charges.quantities import Names, Quantities
    from qad.peps.search.paths import Path
    from qad.typing import DTypeLike, Seed

FIRST = (0.1, 60), (0.02, 60)  # steps of time before searches of states with charges


@keywords_told
def simple_update(
    model: Model,
    bond: int,
    cell: Sequence[str] = ("AB", "BA"),
    seed: Seed = 0,
    *,
    steps: Sequence[tuple[float, int]] = ((0.1, 100), (0.02, 200), (0.005, 200)),
    conserve: Names | None = None,
    sector: object = None,
) -> PEPS:
    """A state near the ground state, by imaginary time and singular values of single bonds.

    It costs next to nothing, and its energy is good to a few percent: a start for `ground_state`.

    Parameters
    ----------
    model : Model
        Of terms on sites, neighbours and diagonals.
    bond : int
    cell : sequence of str
        The pattern of the sites; neighbours have different letters, and so have sites that a diagonal term joins:
        ``["AB", "CD"]`` is a cell for these.
    seed : int or numpy.random.Generator
        Of the product of spins from which time begins where nothing is conserved.
    steps : sequence of (time, number)
        The steps of time, the large ones first.
    conserve : str or sequence of str, optional
        What the state conserves, ``"Sz"`` or ``("N", "Sz")``: its sites are symmetric tensors then. Time begins from
        the product of basis states of lowest energy. Fermions always conserve their parity.
    sector : int or tuple of int, optional
        The total of what is conserved in a cell, in the units of chains: N, 2 Sz. Default that of the lowest product.

    Returns
    -------
    PEPS
        Sites of norm 1.

    Raises
    ------
    ArgumentError
        If a term acts on other sites than neighbours and diagonals, is recorded, or changes what is conserved; if the
        pattern does not fit, or no product of basis states has these totals.

    Notes
    -----
    H. C. Jiang, Z. Y. Weng and T. Xiang, Phys. Rev. Lett. 101, 090603 (2008). Half of a diagonal term acts along each
    of the two paths between its sites, as a gate on three: P. Corboz, J. Jordan and G. Vidal, Phys. Rev. B 82,
    245119 (2010).

    Examples
    --------
    >>> import qad
    >>> state = qad.peps.simple_update(qad.peps.heisenberg(), bond=2)
    >>> bool(-0.66 < qad.peps.energy(state, qad.peps.heisenberg(), chi=12) < -0.64)
    True
    >>> qad.peps.simple_update(qad.peps.heisenberg(), bond=3, conserve="Sz", steps=((0.1, 20),))
    PEPS(cell AB/BA, bond 3, physical 2, float64, Sz conserved)
    """
    network, terms, conserved = begun(Weighted, model, cell, seed, conserve, sector)
    network.evolve(terms, bond, steps)
    return normalised(PEPS(network.balanced(), cell, None, conserved, model.kind))


def begun(
    network: type[Weighted], model: Model, cell: Sequence[str], seed: Seed, conserve: Names | None, sector: object
) -> tuple[Any, dict[tuple[Any, Path], Any], Quantities | None]:
    """The product from which time begins, the operators of its sites, and what they conserve."""
    cell, terms, kind = pattern(cell), path_terms(model), kind_of(model)
    conserved, reference = charges_of_cell(model, cell, conserve, sector)
    check_conserves(model, conserved)
    sites = started(letters(cell), kind, np.result_type(*terms.values()), conserved, reference, seed)
    found = network(sites, neighbours(cell))
    return found, found.graded(found.everywhere(terms), conserved, kind), conserved


def charged_start(
    model: Model,
    bond: int,
    cell: Sequence[str] | None,
    dtype: DTypeLike,
    conserve: Names | None,
    sector: object,
    start: PEPS | None,
    symmetry: str | None,
) -> PEPS | None:
    """The state from which a search with charges starts: the given one, or that of imaginary time; else None."""
    charged = conserve is not None or sector is not None
    if start is not None and charged:
        raise ArgumentError("start= has charges of its own: leave conserve= and sector= out")
    if start is not None or not (charged or kind_of(model).fermionic):
        return start
    check_plain(model)
    if symmetry is not None:
        raise ArgumentError(f"symmetry {symmetry!r} is for arrays: leave it out where charges are conserved")
    found = simple_update(model, bond, cell or ("AB", "BA"), steps=FIRST, conserve=conserve, sector=sector)
    return tree_map(lambda x: x.astype(np.result_type(x, dtype)), found)


def neighbours(cell: tuple[str, ...]) -> dict[tuple[str, int], str]:
    """The letter at each leg of each letter of a cell; raises unless it is always the same other one."""
    rows, columns, found = len(cell), len(cell[0]), {}
    for row, column in product(range(rows), range(columns)):
        for leg, (down, right) in STEPS.items():
            here, there = cell[row][column], cell[(row + down) % rows][(column + right) % columns]
            if here == there or found.setdefault((here, leg), there) != there:
                raise ArgumentError(
                    f"the neighbours of {here!r} are not always the same other letters: take a "
                    'cell such as ["AB", "BA"]'
                )
    return found


def path_terms(model: Model) -> dict[Path, np.ndarray]:
    """The operators of two sites by the legs that lead from one to the other, wherever they are."""
    check_kind(model, Model)
    found: dict = defaultdict(float)
    for (_, path), operator in along_paths(model.terms, kind_of(model)).items():
        found[path] = found[path] + operator
    return found
