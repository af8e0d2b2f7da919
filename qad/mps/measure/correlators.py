"""Correlations of pairs of sites, with strings between them or not, and their Fourier transforms.

All are of the normalised state, whatever its norm, in one sweep in which the environments of all operators that have
begun move on together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import like
from qad.keywords import keywords_told
from qad.mps.chain.checks import check_kind
from qad.mps.chain.densities import site_density
from qad.mps.chain.state import MPS
from qad.mps.charges.parts import applied, parts_of, strung
from qad.mps.charges.quantities import standing
from qad.mps.kernels.environments import past_left, past_right
from qad.mps.measure.measures import local_expectations, orders_of, per_site, sides_of
from qad.mps.measure.multipoint import multipoint
from qad.symmetric.generic import dense, direct_sum, join, numbers, stacked
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.charges.quantities import Charge, Kinds
    from qad.typing import Array, ArrayLike

    Front: TypeAlias = dict[Charge, tuple[list[tuple[int, int]], Any]]  # by charge: which began where, environments


@keywords_told
def correlations(
    psi: MPS,
    one: str | ArrayLike,
    other: str | ArrayLike,
    *,
    string: str | ArrayLike | None = None,
    kind: Kinds = None,
) -> Array:
    """``<psi| A_i B_j |psi> / <psi|psi>`` of two local operators on all pairs of sites.

    Parameters
    ----------
    psi : MPS
    one, other : arrays (phys, phys), a sequence of one for each site, or names
        A and B; on one site ``A B`` acts.  Two fermionic names, "Cdag" and "C" of ``kind="fermion"``, get their
        Jordan-Wigner strings and signs.
    string : likewise, optional
        What acts on every site between i and j, for string order: ``<Sz_i exp(i pi sum Sz) Sz_j>``.
    kind : str, Site, or a sequence of them, optional
        What stands on the sites, where names are looked up; by default what the state knows, or spins.

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
    >>> table = qad.mps.correlations(found.state, "Sz", "Sz", string=turn, kind="spin-1")
    >>> round(float(table[5, 14].real * 9), 6)  # hidden order, -4/9
    -4.0
    """
    return swept(psi, *pair_of(check_kind(psi, MPS), one, other, string, kind))


@keywords_told
def structure_factor(
    psi: MPS,
    one: str | ArrayLike,
    other: str | ArrayLike,
    momenta: ArrayLike,
    *,
    positions: ArrayLike | None = None,
    connected: bool = False,
    kind: Kinds = None,
) -> Array:
    """``S(q) = sum_ij exp(i q (r_i - r_j)) <A_i B_j> / n`` of many momenta.

    Parameters
    ----------
    psi : MPS
    one, other, kind
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
    n = len(check_kind(psi, MPS))
    where = np.arange(n, dtype=float) if positions is None else np.asarray(positions, float)
    if (momenta := np.asarray(momenta)).dtype.kind not in "iuf" or not np.isfinite(momenta).all():
        raise ArgumentError(f"momenta are finite real numbers, not {momenta}")
    if len(where) != n or momenta.shape[1:] != where.shape[1:] or where.ndim > 2 or momenta.ndim == 0:
        raise ShapeError(
            f"positions of shape {where.shape} and momenta of shape {momenta.shape} do not fit {n} sites: give (n,) "
            "and (m,), or (n, d) and (m, d)"
        )
    table = correlations(psi, one, other, kind=kind)
    if connected:
        every = None if psi.conserved is not None else np.arange(n)[:, None]  # fermionic names have strings
        strung = [every is not None and isinstance(x, str) for x in (one, other)]
        first, second = (multipoint(psi, (x,), every, kind=kind) if named else local_expectations(psi, x, kind)
                         for x, named in zip((one, other), strung, strict=True))  # fmt: skip
        table = table - first[:, None] * second
    waves = np.exp(1j * momenta.reshape(-1, where.size // n) @ where.reshape(n, -1).T)
    phases = like(table).asarray(waves)
    return ((phases @ table) * phases.conj()).sum(axis=-1) / n


# -- pairs -------------------------------------------------------------------------------------------------------------


def pair_of(psi: Any, one: Any, other: Any, string: Any, kind: Kinds) -> tuple[Any, Any, Any, Any]:
    """The matrices of a correlation on each site, with the strings that fermions or the caller ask for.

    A and B where they stand on the right of the other one, or on one site with it; both where they stand on its left;
    and what acts on the sites between, or None.
    """
    ones = per_site(psi, one, kind)
    others = ones if other is one else per_site(psi, other, kind)
    found = [isinstance(x, str) and all(x in site.fermionic for site in standing(psi, kind)) for x in (one, other)]
    if string is not None:
        return ones, others, (ones, others), per_site(psi, string, kind)
    if found[0] != found[1]:
        raise ArgumentError(
            f"{one!r} and {other!r} are not both fermionic, so that a string begins at the end of the chain: "
            "qad.mps.multipoint of a finite one puts it in"
        )
    if not found[0]:
        return ones, others, (ones, others), None
    parity = per_site(psi, "F", kind)
    first = [a @ f for a, f in zip(ones, parity, strict=True)]  # A_i is left of B_j: the string of B begins there
    second = [f @ b for b, f in zip(others, parity, strict=True)]  # B_j acts first, where the string of A passes
    return ones, others, (first, second), parity


def swept(psi: MPS, ones: Any, others: Any, openings: Any, between: Any) -> Array:
    """The table of a correlation, in one sweep; that of an operator with itself is symmetric."""
    (lefts, tensors, rights), frames, rows, front = sides_of(psi), orders_of(psi), ([], []), {}
    alike = openings[0] is openings[1]
    ways = list(zip(openings, (others, ones), strict=True))[: 1 if alike else 2]
    for j, tensor in enumerate(tensors):
        density = site_density(lefts[j], tensor, rights[j + 1], None if frames is None else frames[j])
        norm2, none = density.trace(), like(density).zeros
        here = (density * (ones[j] @ others[j]).T).sum() / norm2
        for way, (_, closing) in enumerate(ways):
            ends = parts_of(closing[j], j, psi.conserved) if front else {}
            ahead = met(front, way, ends, tensor, rights[j + 1], none(j, density.dtype)) / norm2
            rest = none(len(psi) - j - 1, density.dtype)
            rows[way].append(np.concatenate([ahead, none(1, rest.dtype) if way else here[None], rest]))
        go_on(front, tensor if between is None else strung(between[j], j, tensor, psi.conserved), tensor)
        begin(front, [parts_of(opening[j], j, psi.conserved) for opening, _ in ways], lefts[j], tensor, j)
    upper = np.stack(rows[0], axis=1)
    return upper + (np.triu(upper, 1).T if alike else np.stack(rows[1]))


def begin(front: Front, openings: Sequence[dict[Charge, Any]], left: Any, tensor: Any, site: int) -> None:
    """Add the environments in which an operator of any way stands on a site, by the charge that its parts add."""
    begun: dict[Charge, list[tuple[int, Any]]] = {}
    for way, parts in enumerate(openings):
        for charge, part in parts.items():
            begun.setdefault(charge, []).append((way, past_left(left, applied(part, tensor), tensor)))
    for charge, found in begun.items():
        new = stacked(found[0][1], np.stack([numbers(x) for _, x in found]))
        places, others = front.get(charge, ([], None))
        places = [*places, *((way, site) for way, _ in found)]
        front[charge] = places, new if others is None else direct_sum(others, new, (0,))


def go_on(front: Front, ket: Any, bra: Any) -> None:
    """Carry all environments past a site."""
    for charge, (places, stack) in front.items():
        if type(ket) is not SymTensor:
            front[charge] = places, past_left(stack, ket, bra)
            continue
        passed = join(bra.conj(), join(stack, ket), ((0, 1), (1, 2)))  # bra, number, ket
        front[charge] = places, passed.transpose(1, 0, 2)


def met(front: Front, way: int, parts: dict[Charge, Any], tensor: Any, right: Any, total: Array) -> Array:
    """What the parts of an operator make of the environments of opposite charges of a way, by where these began."""
    for charge, part in parts.items():
        places, stack = front.get(tensor.symmetry.opposite(charge) if charge else charge, ([], None))
        own = np.full(len(total), len(places))  # on every site before where such a part began, else the zero at the end
        for k, (one, site) in enumerate(places):
            if one == way:
                own[site] = k
        if stack is not None:
            values = dense(join(stack, past_right(right, applied(part, tensor), tensor), ((1, 2), (0, 1))))
            total = total + np.concatenate([values, like(values).zeros(1, values.dtype)])[own]
    return total
