"""Reduced density matrices of patches of an infinite state: the patch, and the environment around its rectangle."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.contract import einsum
from qad.core.errors import ArgumentError
from qad.peps.checks import check_kind
from qad.peps.infinite.cells import CLOCKWISE, cell_of
from qad.peps.infinite.environment import Environment
from qad.peps.infinite.state import PEPS
from qad.peps.infinite.symmetry import symmetrised
from qad.symmetric import eye, unfuse
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from qad.typing import Array

Labelled = tuple[Any, list[Any]]  # a tensor and the names of its legs
LAYERS = "ket", "bra"
SHORT = 8  # legs up to this count as they are in the order of a contraction
MOST = 34  # tensors and their legs: of longer networks the best order takes too long to find


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
        environment. Of states with charges it is a SymTensor, on the physical legs of ``state.conserved``: basis states
        are in the order of its charges, and of fermions it has the signs of graded tensors; see `expectation` for terms
        in the basis of the sites.

    Raises
    ------
    ArgumentError
        If a site is named twice, or the environment is that of another cell.

    Examples
    --------
    >>> import numpy as np, qad
    >>> state = qad.peps.PEPS.random(bond=2, symmetry="c4v", seed=0)
    >>> rho = qad.peps.reduced_density(state, [(0, 0), (1, 0)], qad.peps.environment(state, chi=12))
    >>> rho.shape, round(float(np.einsum("stst->", rho).real), 12)
    ((2, 2, 2, 2), 1.0)
    """
    check_kind(state, PEPS)
    check_kind(env, Environment)
    places = [(int(row), int(column)) for row, column in sites]
    if not places or len(set(places)) != len(places):
        raise ArgumentError(f"name one or several different sites, not {places}")
    if env.cell != cell_of(state.cell):
        raise ArgumentError(f"{env!r} is not the environment of {state!r}")
    rows, columns = (range(min(line), max(line) + 1) for line in zip(*places, strict=True))
    ring, half = surroundings(env, rows, columns), len(columns) // 2
    if (
        state.symmetry == "c4v"
        and len(columns) == 2 * half
        and {turned(x, rows, columns) for x in places} == set(places)
    ):
        network = halves(ring, [*patch(state, places, rows, columns[:half])], rows, columns)
    else:
        network = [*ring, *patch(state, places, rows, columns)]
    rho = contracted(network, [(*place, layer) for layer in LAYERS for place in places])
    return rho / trace(rho)


def trace(rho: Any) -> Any:
    """The trace of a density matrix."""
    n = rho.ndim // 2
    if type(rho) is SymTensor:
        return closed(rho, [eye(leg) for leg in rho.legs[:n]])
    size = int(np.prod(rho.shape[:n]))
    return np.trace(rho.reshape(size, size))


def closed(rho: SymTensor, operators: Sequence[SymTensor]) -> Any:
    """The expectation value of operators on some of the sites each, legs ``(out, ..., in, ...)``."""
    n, at, parts = rho.ndim // 2, 0, []
    for operator in operators:
        k = operator.ndim // 2
        parts += [operator, [*range(n + at, n + at + k), *range(at, at + k)]]
        at += k
    return einsum(rho, list(range(2 * n)), *parts, [])


def legs(row: int, column: int, layer: str) -> list[Any]:
    """Names of the legs of a site, in ket or bra, which are those of what they meet."""
    names = ("v", row, column), ("h", row, column), ("v", row + 1, column), ("h", row, column + 1)
    return [(*name, layer) for name in names]


def surroundings(env: Environment, rows: Sequence[int], columns: Sequence[int]) -> list[Labelled]:
    """The edges around a rectangle, clockwise, the first of each side with the corner before it; bonds are numbered."""
    sides = [(rows[0], c) for c in columns], [(r, columns[-1]) for r in rows]
    sides += [(rows[-1], c) for c in reversed(columns)], [(r, columns[0]) for r in reversed(rows)]
    ring = [(k, i, place) for k, side in enumerate(sides) for i, place in enumerate(side)]
    found = []
    for bond, (k, i, place) in enumerate(ring):
        edge = env.edge(k, *place)
        edge = edge if i else np.tensordot(env.corner(k, *place), edge, 1)
        site = (legs(*place, layer)[CLOCKWISE[k]] for layer in LAYERS)
        found.append((parted(edge), [bond, *site, (bond + 1) % len(ring)]))
    return found


def parted(edge: Any) -> Any:
    """An edge with the legs of ket and bra apart."""
    if type(edge) is SymTensor:
        return unfuse(edge, 1)
    d = round(edge.shape[1] ** 0.5)
    return edge.reshape(len(edge), d, d, -1)


def patch(state: PEPS, places: Sequence[tuple[int, int]], rows: range, columns: range) -> Iterator[Labelled]:
    """Ket and bra of all sites of a rectangle, the physical legs of some places open."""
    for place in product(rows, columns):
        site = symmetrised(state[place], state.symmetry)
        for layer, x in zip(LAYERS, (site, site.conj()), strict=True):
            physical = (*place, layer) if place in places else place
            yield x, [physical, *legs(*place, layer)]


def turned(place: tuple[int, int], rows: range, columns: range) -> tuple[int, int]:
    """Where a half turn takes a site of a rectangle."""
    return rows[0] + rows[-1] - place[0], columns[0] + columns[-1] - place[1]


def halves(ring: list[Labelled], sites: list[Labelled], rows: range, columns: range) -> list[Labelled]:
    """Two tensors in the place of a network that a half turn leaves as it is: its left half, and the same turned.

    Half of the operations, for speed alone.
    """
    half, n = len(columns) // 2, len(ring) // 2
    left = [*ring[:half], *ring[half + n :], *sites]
    across = {half: half + n, half + n: half}
    for layer in LAYERS:
        across |= {("h", r, columns[half], layer): ("h", rows[0] + rows[-1] - r, columns[half], layer) for r in rows}
        across |= {(*x, layer): (*turned(x, rows, columns), layer) for x in product(rows, columns[:half])}
    held = {name for _, names in left for name in names}
    names = [name for name in across if name in held]
    x = contracted(left, names)
    return [(x, names), (x, [across[name] for name in names])]


def contracted(network: Iterable[Labelled], output: Iterable[Any]) -> Array:
    """A network as one contraction, whose plan is that of all networks of this structure."""
    numbers: dict[Any, int] = {}
    operands = [part for x, names in network for part in (x, [numbers.setdefault(n, len(numbers)) for n in names])]
    return einsum(*operands, [numbers[name] for name in output], optimize=fewest if len(operands) < MOST else "auto")


def fewest(inputs: Sequence[Sequence[str]], output: Sequence[str], sizes: dict[str, int]) -> Sequence[Any]:
    """The order of the fewest operations, with legs of the environment as long as their mean.

    It is the same for all cuts of about this size: to find it takes far longer than to contract.
    """
    logs = [np.log2(size) for size in sizes.values() if size > SHORT]
    mean = 2 ** (round(2 * np.mean(logs)) / 2) if logs else 1.0
    lengths = tuple((name, mean if size > SHORT else float(size)) for name, size in sizes.items())
    return order_of(tuple(map(tuple, inputs)), tuple(output), lengths)


@cache
def order_of(inputs: tuple[Any, ...], output: tuple[str, ...], lengths: tuple[tuple[str, float], ...]) -> Sequence[Any]:
    """The order of the fewest operations."""
    import cotengrust  # no part of `import qad`

    return cotengrust.optimize_optimal(inputs, output, dict(lengths))
