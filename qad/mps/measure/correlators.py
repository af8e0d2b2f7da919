"""Correlations of pairs of sites, with strings between them or not, their Fourier transforms, and products of many.

All are of the normalised state, whatever its norm, in one sweep in which the environments of all operators that have
begun move on together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import like
from qad.mps.chain.densities import passed_left, passed_right, site_density
from qad.mps.charges.quantities import named, standing
from qad.mps.charges.site_parts import applied, parts_of, strung
from qad.mps.kernels.dense import past_left
from qad.mps.measure.measures import check_state, local_expectations, orders_of, per_site, sides_of
from qad.mps.operators.opsum import OpSum
from qad.symmetric.generic import dense, direct_sum, join, numbers, permuted, stacked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.chain.state import MPS
    from qad.mps.charges.quantities import Charge, Kinds
    from qad.typing import Array, ArrayLike

    Front: TypeAlias = dict[Charge, tuple[list[int], Any]]  # by charge: where operators began, and environments


class Pair(NamedTuple):
    """Two operators of a correlation, a matrix for each site.

    Attributes
    ----------
    ones, others : lists of matrices
        A and B where they stand on the right of the other one, or on one site with it.
    openings : pair of lists
        A and B where they stand on the left of the other one.
    between : list of matrices, or None
        What acts on the sites between both.
    """

    ones: list[Array]
    others: list[Array]
    openings: tuple[list[Array], list[Array]]
    between: list[Array] | None


def correlations(
    psi: MPS,
    one: str | ArrayLike,
    other: str | ArrayLike,
    *,
    string: str | ArrayLike | None = None,
    sites: Kinds = None,
) -> Array:
    """``<psi| A_i B_j |psi> / <psi|psi>`` of two local operators on all pairs of sites.

    Parameters
    ----------
    psi : MPS
    one, other : arrays (phys, phys), a sequence of one for each site, or names
        A and B; on one site ``A B`` acts.  Two fermionic names, "Cdag" and "C" of ``sites="fermion"``, get their
        Jordan-Wigner strings and signs.
    string : likewise, optional
        What acts on every site between i and j, for string order: ``<Sz_i exp(i pi sum Sz) Sz_j>``.
    sites : str, Site, or a sequence of them, optional
        The kinds of sites that names are looked up in; by default what charges tell, or spins.

    Returns
    -------
    array (n, n)
        Entry (i, j) belongs to A on site i and B on site j.

    Raises
    ------
    ShapeError
        If an operator does not fit a site.
    ArgumentError
        If there is no operator of a name, only one of both is fermionic, or a string changes the charge of the
        state.

    Notes
    -----
    One sweep, ``O(n**2 phys bond**3)``: linear in the number of pairs.

    Examples
    --------
    >>> import numpy as np, qad
    >>> bell = qad.mps.MPS.from_dense(np.eye(2) / np.sqrt(2))
    >>> qad.mps.correlations(bell, "Z", "Z").round(12)
    array([[1., 1.],
           [1., 1.]])
    >>> found = qad.mps.ground_state(qad.mps.aklt(20), bond=8)
    >>> turn = np.diag(np.exp(1j * np.pi * np.array([1, 0, -1])))
    >>> table = qad.mps.correlations(found.state, "Sz", "Sz", string=turn, sites="spin-1")
    >>> round(float(table[5, 14].real * 9), 6)  # hidden order, -4/9
    -4.0
    """
    return swept(psi, pair_of(check_state(psi), one, other, string, sites))


def structure_factor(
    psi: MPS,
    one: str | ArrayLike,
    other: str | ArrayLike,
    momenta: ArrayLike,
    *,
    positions: ArrayLike | None = None,
    connected: bool = False,
    sites: Kinds = None,
) -> Array:
    """``S(q) = sum_ij exp(i q (r_i - r_j)) <A_i B_j> / n`` of many momenta.

    Parameters
    ----------
    psi : MPS
    one, other, sites
        A and B as in `correlations`: "Cdag" and "C" of fermions give the momentum distribution.
    momenta : array (m,), or (m, d)
    positions : array (n,), or (n, d), optional
        Of the sites; 0, 1, 2, ... by default, and `Lattice.positions` for a ladder or cylinder.
    connected : bool
        Whether ``<A_i> <B_j>`` is taken off.

    Returns
    -------
    complex array (m,)

    Raises
    ------
    ShapeError
        If there is not one position for each site, or momenta have another number of components.

    Notes
    -----
    The sweep of `correlations`, and then ``O(m n**2)`` for all momenta together.

    Examples
    --------
    >>> import numpy as np, qad
    >>> neel = qad.mps.MPS.product(["up", "down"] * 4)
    >>> qad.mps.structure_factor(neel, "Sz", "Sz", [0.0, np.pi]).real.round(12)
    array([0., 2.])
    """
    n = len(check_state(psi))
    where = np.arange(n, dtype=float) if positions is None else np.asarray(positions, float)
    if (momenta := np.asarray(momenta)).dtype.kind not in "iuf":
        raise ArgumentError(f"momenta are real numbers, not of dtype {momenta.dtype}")
    if len(where) != n or momenta.shape[1:] != where.shape[1:] or where.ndim > 2 or momenta.ndim == 0:
        raise ShapeError(
            f"positions of shape {where.shape} and momenta of shape {momenta.shape} do not fit {n} sites: give (n,) "
            "and (m,), or (n, d) and (m, d)"
        )
    table = correlations(psi, one, other, sites=sites)
    if connected:
        every = None if psi.conserved is not None else np.arange(n)[:, None]  # fermionic names have strings
        strung = [every is not None and isinstance(x, str) for x in (one, other)]
        first, second = (multipoint(psi, (x,), every, sites=sites) if named else local_expectations(psi, x, sites)
                         for x, named in zip((one, other), strung, strict=True))  # fmt: skip
        table = table - first[:, None] * second
    waves = np.exp(1j * momenta.reshape(-1, where.size // n) @ where.reshape(n, -1).T)
    phases = like(table).asarray(waves)
    return ((phases @ table) * phases.conj()).sum(axis=-1) / n


def multipoint(psi: MPS, operators: Sequence[str | ArrayLike], places: ArrayLike, *, sites: Kinds = None) -> Array:
    """``<psi| A_i B_j C_k ... |psi> / <psi|psi>`` of products of many operators, on many choices of sites at once.

    Parameters
    ----------
    psi : MPS
    operators : sequence of k names or matrices
        Of plain numbers.  From left to right; fermionic names get their Jordan-Wigner strings and signs.
    places : int array (..., k)
        The sites of each product, in any order; several operators may stand on one site.
    sites : str, Site, or a sequence of them, optional
        The kinds of sites that names are looked up in; by default what charges tell, or spins.

    Returns
    -------
    array (...)

    Raises
    ------
    ShapeError
        If the last axis of `places` does not name a site for each operator, or a matrix does not fit.
    ArgumentError
        If a site does not exist, or there is no operator of a name.

    Notes
    -----
    One sweep; products that begin alike share their environments, so that all ``n**4`` four-point functions cost
    ``O(n**4 phys bond**3)``.  A state with charges is taken as the ordinary state that it is.

    Examples
    --------
    >>> import numpy as np, qad
    >>> pair = qad.mps.MPS.product(["full", "full", "empty"], sites="fermion")
    >>> places = [[0, 1, 1, 0], [0, 1, 0, 1], [0, 2, 2, 0]]
    >>> qad.mps.multipoint(pair, ("Cdag", "Cdag", "C", "C"), places, sites="fermion").real
    array([ 1., -1.,  0.])
    """
    plain = check_state(psi).without_symmetry()
    operators, places = list(operators), np.asarray(places)
    if not operators or places.shape[-1:] != (len(operators),) or places.dtype.kind not in "iu":
        raise ShapeError(
            f"places of shape {places.shape} and type {places.dtype} do not name a site for each of {len(operators)} "
            "operators: give whole numbers (..., k)"
        )
    for name in {x for x in operators if isinstance(x, str)}:
        named(psi, name, sites)
    total = OpSum(len(plain), standing(psi, sites))
    rows = [total.product(*[x for pair in zip(operators, row, strict=True) for x in pair]) for row in
            places.reshape(-1, len(operators)).tolist()]  # fmt: skip
    values = products(plain, [string for string, scale in rows if scale != 0], total.operators.matrices)
    numbers = [scale * values[string] if scale != 0 else 0.0 * values[()] for string, scale in rows]
    return np.stack(numbers).reshape(places.shape[:-1]) if numbers else np.zeros(places.shape[:-1], plain.dtype)


# -- pairs -------------------------------------------------------------------------------------------------------------


def pair_of(psi: Any, one: Any, other: Any, string: Any, sites: Kinds) -> Pair:
    """The matrices of a correlation, with the strings that fermions or the caller ask for."""
    ones, others = per_site(psi, one, sites), per_site(psi, other, sites)
    found = [isinstance(x, str) and all(x in kind.fermionic for kind in standing(psi, sites)) for x in (one, other)]
    if string is not None:
        return Pair(ones, others, (ones, others), per_site(psi, string, sites))
    if found[0] != found[1]:
        raise ArgumentError(
            f"{one!r} and {other!r} are not both fermionic, so that a string begins at the end of the chain: "
            "qad.mps.multipoint puts it in"
        )
    if not found[0]:
        return Pair(ones, others, (ones, others), None)
    parity = per_site(psi, "F", sites)
    first = [a @ f for a, f in zip(ones, parity, strict=True)]  # A_i is left of B_j: the string of B begins there
    second = [f @ b for b, f in zip(others, parity, strict=True)]  # B_j acts first, where the string of A passes
    return Pair(ones, others, (first, second), parity)


def swept(psi: MPS, pair: Pair) -> Array:
    """The table of a correlation, in one sweep."""
    (lefts, tensors, rights), frames, upper, lower = sides_of(psi), orders_of(psi), [], []
    fronts: tuple[Front, Front] = {}, {}  # of both operators, where they have begun
    for j, tensor in enumerate(tensors):
        density = site_density(lefts[j], tensor, rights[j + 1], None if frames is None else frames[j])
        norm2, none = density.trace(), like(density).zeros
        here = (density * (pair.ones[j] @ pair.others[j]).T).sum() / norm2
        ket = tensor if pair.between is None else strung(pair.between[j], j, tensor, psi.conserved)
        ahead = []
        for front, opening, closing in zip(fronts, pair.openings, (pair.others, pair.ones), strict=True):
            ends = parts_of(closing[j], j, psi.conserved) if front else {}
            ahead.append(met(front, ends, tensor, rights[j + 1], none(j, density.dtype)) / norm2)
            go_on(front, ket, tensor)
            begin(front, parts_of(opening[j], j, psi.conserved), lefts[j], tensor, j)
        upper.append(np.concatenate([ahead[0], here[None], none(len(psi) - j - 1, density.dtype)]))
        lower.append(np.concatenate([ahead[1], none(len(psi) - j, density.dtype)]))
    return np.stack(upper, axis=1) + np.stack(lower, axis=0)


def begin(front: Front, parts: dict[Charge, Any], left: Any, tensor: Any, site: int) -> None:
    """Add the environments in which an operator stands on a site, by the charge that its parts add."""
    for charge, part in parts.items():
        one = passed_left(left, applied(part, tensor), tensor)
        one = stacked(one, numbers(one)[None])
        sites, others = front.get(charge, ([], None))
        front[charge] = [*sites, site], one if others is None else direct_sum(others, one, (0,))


def go_on(front: Front, ket: Any, bra: Any) -> None:
    """Carry all environments past a site."""
    for charge, (sites, stack) in front.items():
        passed = join(bra.conj(), join(stack, ket), ((0, 1), (1, 2)))  # bra, number, ket
        front[charge] = sites, permuted(passed, 1, 0, 2)


def met(front: Front, parts: dict[Charge, Any], tensor: Any, right: Any, total: Array) -> Array:
    """What the parts of an operator on a site make of the environments of opposite charges, by where these began."""
    for charge, part in parts.items():
        sites, stack = front.get(tensor.symmetry.opposite(charge) if charge else charge, ([], None))
        if sites:
            ending = passed_right(right, applied(part, tensor), tensor)
            values = dense(join(stack, ending, ((1, 2), (0, 1))))
            if len(sites) < len(total):  # it is not on every site before that there is such a part
                values = values @ like(values).eye(len(total), dtype=values.real.dtype)[sites]
            total = total + values
    return total


def products(psi: MPS, strings: list[Any], matrices: Sequence[np.ndarray]) -> dict[Any, Any]:
    """Expectation values of strings of pairs (site, number of a matrix); that of no operator is 1."""
    lefts, tensors, rights = sides_of(psi)
    norm2 = site_density(lefts[0], tensors[0], rights[1]).trace()
    values, waiting, front = {(): norm2 / norm2}, {}, []
    for string in dict.fromkeys(strings):
        if string:
            waiting.setdefault(string[0][0], []).append(string)
    for site, tensor in enumerate(tensors):  # the front: what environments there are, and the strings that share each
        if site in waiting:
            front = [*front, (lefts[site], waiting[site])]
        ways: dict[Any, list[tuple[Array, list[Any]]]] = {}
        for environment, sharing in front:
            for number, own in by_operator(sharing, site).items():
                ways.setdefault(number, []).append((environment, own))
        front = []
        for number, entries in ways.items():
            ket = tensor if number is None else like(tensor).asarray(matrices[number]) @ tensor
            moved = past_left(np.stack([environment for environment, _ in entries]), ket, tensor)
            for environment, (_, own) in zip(moved, entries, strict=True):
                ended = [string for string in own if string[-1][0] == site]
                values |= {string: (environment * rights[site + 1]).sum() / norm2 for string in ended}
                if len(ended) < len(own):
                    front.append((environment, [string for string in own if string[-1][0] > site]))
    return values


def by_operator(strings: list[Any], site: int) -> dict[Any, list[Any]]:
    """Strings by the number of their operator on a site, None where they have none there."""
    found: dict[Any, list[Any]] = {}
    for string in strings:
        found.setdefault(next((number for i, number in string if i == site), None), []).append(string)
    return found
