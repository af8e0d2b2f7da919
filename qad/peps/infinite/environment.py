"""Environments of infinite states: corners and edges that stand for all of the lattice around a patch."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError
from qad.core.trees import flatten, tree_map
from qad.extend import any_traced
from qad.keywords import keywords_told
from qad.linalg import Report
from qad.linalg.support.derivative_order import orders
from qad.peps.checks import check_kind
from qad.peps.infinite import c4v, cells
from qad.peps.infinite.state import PEPS
from qad.peps.infinite.symmetry import symmetrised
from qad.peps.models import plain
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from qad.typing import Array

MOST_ORDERS = 3  # to which an isometry near a reference is one
METHODS = {True: ("qr", "eigh"), False: ("half", "full")}  # with the symmetry c4v, and without


@dataclass(frozen=True)
class Environment:
    """Corners and edges around the sites of a cell.

    All legs run clockwise around a site: corners ``[in, out]``, edges ``[in, site, out]``; the site leg is that of ket
    and bra together, ``D**2``. Directions: 0 the upper left corner and the upper edge, 1 the upper right corner and the
    right edge, 2 the lower right one and the lower edge, 3 the lower left one and the left edge.

    Attributes
    ----------
    corners, edges : tuple of arrays
        By direction, and then kind of site in the cell; a symmetric state has one of each.
    frame : tuple of arrays
        The bases that the next environment is compared with, if it starts from this one.
    cell : Cell
        Which sites of the pattern are of one kind.
    error : float
        The last change, weighted as the environment feels it.
    report : qad.linalg.Report
        Numbers of moves, and of products in derivatives.
    """

    corners: tuple[Array, ...]
    edges: tuple[Array, ...]
    frame: tuple[Array, ...]
    cell: cells.Cell = field(metadata={"static": True})
    error: float = field(metadata={"static": True})
    report: Report = field(metadata={"static": True})

    @property
    def chi(self) -> int:
        """The largest dimension of a leg between corners and edges."""
        return max(max(x.shape) for x in self.corners)

    def corner(self, direction: int, row: int, column: int) -> Array:
        """The corner of one direction around the site at ``(row, column)``."""
        return self.corners[self._index(direction, row, column)]

    def edge(self, direction: int, row: int, column: int) -> Array:
        """The edge of one direction at the site at ``(row, column)``."""
        return self.edges[self._index(direction, row, column)]

    def _index(self, direction: int, row: int, column: int) -> int:
        return 0 if len(self.corners) == 1 else direction * len(self.cell.first) + self.cell.kind(row, column)

    def __repr__(self) -> str:
        rows, columns = len(self.cell.places), len(self.cell.places[0])
        return f"Environment(cell {rows}x{columns}, chi {self.chi}, error {self.error:.1e})"


@keywords_told
def environment(
    state: PEPS,
    chi: int,
    start: Environment | None = None,
    *,
    method: str | None = None,
    tol: float = 1e-10,
    maxiter: int = 1000,
    adjoint_tol: float | None = None,
) -> Environment:
    """The environment of an infinite state, by corner transfer matrices; differentiable.

    Parameters
    ----------
    state : PEPS
        It may hold Tensors: derivatives are implicit, those of the fixed point, at the cost of some forty moves.
    chi : int
        About how many states corners keep, at least ``D**2``. The cut is made at the widest gap between ``0.75 chi``
        and ``1.25 chi``, for one through a near-multiplet is never at rest; ``.chi`` tells where.
    start : Environment, optional
        That of a similar state, to start from. Its dimensions are kept where its ``.chi`` is within that range; else
        corners grow, or are cut, from there.
    method : str, optional
        For states with the symmetry "c4v": "qr" (default) keeps the space of corner and edge, "eigh" the leading
        eigenvectors of the enlarged corner, which takes several times as long. For others: cuts are made by what stands
        on both sides of them, "half" (default) one corner each, "full" two.
    tol : float
        Of the last change, weighted as the environment feels it.
    maxiter : int
        Most moves.
    adjoint_tol : float, optional
        Relative, of the linear solves in derivatives; default `tol`.

    Returns
    -------
    Environment

    Raises
    ------
    ConvergenceError
        If the environment does not come to rest; the message has the history, and says what to change.
    ArgumentError
        If `chi` is below ``D**2``, `start` does not fit, or more than three derivatives are taken.

    Notes
    -----
    T. Nishino and K. Okunishi, J. Phys. Soc. Jpn. 65, 891 (1996); R. Orus and G. Vidal, Phys. Rev. B 80, 094403 (2009).

    Examples
    --------
    >>> import qad
    >>> state = qad.peps.PEPS.random(bond=2, symmetry="c4v", seed=0)
    >>> env = qad.peps.environment(state, chi=12)
    >>> 9 <= env.chi <= 15, env.error < 1e-10
    (True, True)
    """
    check_kind(state, PEPS)
    recorded = flatten(state)[0]
    if max(map(orders, recorded)) > MOST_ORDERS:
        raise ArgumentError(f"environments have derivatives up to order {MOST_ORDERS}")
    if any_traced(*recorded):
        raise ArgumentError("environments cannot be frozen: leave qad.freeze out, a replay could not iterate")
    symmetric, cell = state.symmetry == "c4v", cells.cell_of(state.cell)
    method = METHODS[symmetric][0] if method is None else method
    check_options(state.bond, chi, tol, maxiter)
    tols = tol, tol if adjoint_tol is None else adjoint_tol
    if not isinstance(tols[1], Real) or not tols[1] > 0:
        raise ArgumentError(f"adjoint_tol is a positive number, not {adjoint_tol!r}")
    if method not in METHODS[symmetric]:
        raise ArgumentError(f"unknown method {method!r}: choose one of {', '.join(map(repr, METHODS[symmetric]))}")
    groups = None
    if start is not None:
        check_start(start, state, cell)
        groups = tree_map(plain, (start.corners, start.edges, start.frame))
    layers = [cells.double_layer(symmetrised(state[place], state.symmetry)) for place in cell.first]
    found, error, report = (c4v if symmetric else cells).solved(layers, cell, chi, groups, method, tols, maxiter)
    return Environment(*found, cell, error, report)


def check_options(bond: int, chi: int, tol: float, maxiter: int) -> None:
    """Raise for options that make no sense."""
    if not isinstance(chi, Real) or not chi < np.inf or int(chi) != chi or chi < bond**2:
        raise ArgumentError(f"chi is a whole number of at least D^2 = {bond**2}, not {chi!r}")
    for name, x, least in (("tol", tol, 0.0), ("maxiter", maxiter, 0.5)):
        if not isinstance(x, Real) or not x > least:
            raise ArgumentError(f"{name} is a positive number, not {x!r}")


def check_start(start: Environment, state: PEPS, cell: cells.Cell) -> None:
    """Raise unless an environment fits a state."""
    one = state.symmetry == "c4v"
    same = start.cell == cell and (len(start.corners) == 1) == one
    if not same or any(
        not meets(start.edge(k, *place), state[place], 1 + leg)
        for place in cell.first
        for k, leg in enumerate(cells.CLOCKWISE)
    ):
        raise ArgumentError(f"{start!r} is of another cell, symmetry or bond than {state!r}: leave `start` out")


def meets(edge: Any, site: Any, leg: int) -> bool:
    """Whether an edge fits ket and bra of a leg of a site."""
    if type(site) is not SymTensor:
        return type(edge) is not SymTensor and edge.shape[1] == site.shape[leg] ** 2
    return type(edge) is SymTensor and edge.legs[1].parts[:1] == (site.legs[leg].conj(),)
