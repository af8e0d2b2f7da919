"""Reduced density matrices of patches of an infinite state: the patch, and the environment around its rectangle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.contract.ncon import ncon
from qad.core.errors import ArgumentError
from qad.peps.cells import CLOCKWISE, cell_of
from qad.peps.symmetry import symmetrised

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.peps.environment import Environment
    from qad.peps.state import PEPS
    from qad.typing import Array


def reduced_density(state: PEPS, sites: Sequence[tuple[int, int]], env: Environment) -> Array:
    """The density matrix of a few sites of an infinite state.

    Parameters
    ----------
    state : PEPS
    sites : sequence of (row, column)
        Different sites; rows count downwards. The cost grows steeply with the rectangle around them.
    env : Environment
        Of this state.

    Returns
    -------
    array
        Of trace 1, legs ``(out, ..., out, in, ..., in)`` in the order of `sites`; Hermitian but for the error of the
        environment.

    Raises
    ------
    ArgumentError
        If a site is named twice, or the environment is that of another cell.

    Examples
    --------
    >>> import numpy as np, qad
    >>> state = qad.peps.PEPS.random(bond=2, symmetry="c4v", seed=0)
    >>> rho = qad.peps.reduced_density(state, [(0, 0), (1, 0)], qad.peps.environment(state, chi=12))
    >>> rho.shape, round(float(np.einsum("stst->", rho)), 12)
    ((2, 2, 2, 2), 1.0)
    """
    places = [(int(row), int(column)) for row, column in sites]
    if not places or len(set(places)) != len(places):
        raise ArgumentError(f"name one or several different sites, not {places}")
    if env.cell != cell_of(state.cell):
        raise ArgumentError(f"{env!r} is not the environment of {state!r}")
    tensors, labels = network(state, places, env)
    rho = ncon(tensors, labels)
    n = len(places)
    trace = ncon([rho], [[*range(1, n + 1)] * 2])
    return rho / trace


def network(state, places, env) -> tuple[list, list]:
    """The tensors around and inside of the rectangle of some sites, with labels for `ncon`."""
    top, left = (min(place[axis] for place in places) for axis in (0, 1))
    rows, columns = (max(place[axis] for place in places) - low + 1 for axis, low in ((0, top), (1, left)))
    tensors, labels = [], []

    def bond(name, layer):
        """A leg of the double layer has a label for ket and for bra."""
        return [f"{name}{side}" for side in layer]

    for direction, (row, column), names in border(rows, columns):
        at = top + row, left + column
        if len(names) == 2:
            tensors.append(env.corner(direction, *at))
            labels.append(list(names))
        else:
            edge = env.edge(direction, *at)
            d = state[at].shape[1 + CLOCKWISE[direction]]
            tensors.append(edge.reshape(edge.shape[0], d, d, edge.shape[2]))
            labels.append([names[0], *bond(names[1], "kb"), names[2]])
    for row in range(rows):
        for column in range(columns):
            at = top + row, left + column
            legs = [f"v{row},{column}", f"h{row},{column}", f"v{row + 1},{column}", f"h{row},{column + 1}"]
            site = symmetrised(state[at], state.symmetry)
            for side, tensor in (("k", site), ("b", site.conj())):
                tensors.append(tensor)
                labels.append([physical(places, at, side), *(f"{leg}{side}" for leg in legs)])
    return tensors, labels


def physical(places, at, side) -> int | str:
    """The label of a physical leg: open for the sites of the density, summed for others."""
    if at not in places:
        return f"s{at}"
    return -1 - places.index(at) - (len(places) if side == "b" else 0)


def border(rows, columns):
    """Yield (direction, site in the rectangle, names of legs clockwise) of the corners and edges around it."""
    ring = 0

    def following(*middle):
        nonlocal ring
        ring += 1
        return (f"r{ring - 1}", *middle, f"r{ring % (4 + 2 * (rows + columns))}")

    yield 0, (0, 0), following()
    for column in range(columns):
        yield 0, (0, column), following(f"v0,{column}")
    yield 1, (0, columns - 1), following()
    for row in range(rows):
        yield 1, (row, columns - 1), following(f"h{row},{columns}")
    yield 2, (rows - 1, columns - 1), following()
    for column in reversed(range(columns)):
        yield 2, (rows - 1, column), following(f"v{rows},{column}")
    yield 3, (rows - 1, 0), following()
    for row in reversed(range(rows)):
        yield 3, (row, 0), following(f"h{row},0")
