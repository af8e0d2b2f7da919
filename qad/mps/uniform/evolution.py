"""Infinite time-evolving block decimation: gates on the two bonds of a cell of two sites.

G. Vidal, PRL 98, 070201 (2007), in the stable form of M. B. Hastings, J. Math. Phys. 50, 095207 (2009).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.core.process.threads import blas_for
from qad.extend import value_of
from qad.keywords import keywords_told
from qad.mps.chain.chain import site_count
from qad.mps.charges.quantities import Quantities
from qad.mps.charges.uniform import counted_from_mean
from qad.mps.evolve.courses import GATES
from qad.mps.evolve.evolution import Evolution, real_time
from qad.mps.evolve.suzuki import ORDERS
from qad.mps.evolve.tebd import applied, cutoff_for, gate
from qad.mps.evolve.truncation import Truncation
from qad.mps.operators.uniform_mpo import UniformMPO
from qad.mps.operators.uniform_opsum import UniformOpSum
from qad.mps.uniform.canonical import schmidt_form
from qad.mps.uniform.measures import check_term, operator_of, two_site_term
from qad.mps.uniform.mixed import leading_of
from qad.mps.uniform.state import UniformMPS
from qad.mps.uniform.transfer import check_single
from qad.showing.progress import bar_for
from qad.symmetric.generic import join, numbers, scaled

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from qad.typing import ArrayLike


@keywords_told
def evolve(
    psi: UniformMPS,
    h: ArrayLike | UniformMPO | UniformOpSum,
    time: float,
    steps: int,
    method: str = "tebd",
    bond: int = 64,
    cutoff: float | None = None,
    *,
    imaginary: bool = False,
    callback: Callable[[UniformMPS, float], object] | None = None,
) -> Evolution:
    """``exp(-i H time)`` on an infinite chain.

    Parameters
    ----------
    psi : UniformMPS
        A cell of one or two sites, of plain numbers; of two where it conserves something.
    h : UniformMPO, UniformOpSum or array (d, d, d, d)
        Hermitian, of neighbours, alike on all sites, as `qad.mps.uniform.ising` gives it; or its two-site term, legs
        (out, out, in, in).
    time : real
    steps : int
    method : str
        "tebd": the product formula of second order; "tebd4": that of fourth order.
    bond : int
        Largest bond dimension.
    cutoff : float, optional
        Weight that a cut may discard.  By default it follows the length of the step, so that all cuts together err no
        more than the steps do, and is 1e-14 at most.
    imaginary : bool
        ``exp(-H time)`` instead, normalised.
    callback : callable, optional
        ``callback(state, time)`` after every step; raising StopIteration in it ends the evolution.

    Returns
    -------
    Evolution
        As `qad.mps.evolve` returns: its state of two sites, right-canonical; weights and norms are those of a cell.

    Raises
    ------
    ArgumentError
        If `h` is not Hermitian or has terms of other than neighbours, or for a larger cell or an unknown method.

    Examples
    --------
    >>> import numpy as np, qad
    >>> up = qad.mps.uniform.UniformMPS([np.array([1.0, 0.0]).reshape(1, 2, 1)])
    >>> found = qad.mps.uniform.evolve(up, qad.mps.uniform.ising(0.5), time=1.0, steps=50, bond=16)
    >>> qad.mps.uniform.local_expectations(found.state, "Z").real.round(3)
    array([0.868, 0.868])
    """
    term, order = checked_term(psi, h, method), GATES[method]
    sites = psi.sites or getattr(h, "sites", None)
    sites = sites and sites * (2 // len(sites))
    dt, factor = real_time(time) / site_count(steps, 1, "steps"), -1.0 if imaginary else -1j
    bond = site_count(bond, 1, "bond")
    cutoff = Truncation(bond, cutoff_of(term, dt, order) if cutoff is None else cutoff).cutoff
    gates = gates_of_step(psi, term, factor * dt, order)
    state, weights = schmidt_form(psi)
    tensors = [t.astype(np.result_type(state.dtype, term, factor)) for t in state] * (2 // len(psi))
    weights = weights * (2 // len(psi))
    discarded, log_norm, now = 0.0, 0.0, 0.0
    with blas_for(max(bond, *psi.bonds)), bar_for(label="evolution", total=steps) as bar:
        for k in range(steps):
            for site, exponential in gates:
                norm, lost = apply(exponential, site, tensors, weights, bond, cutoff)
                discarded, log_norm = discarded + lost, log_norm + np.log(norm)
            now = (k + 1) * dt
            bar.update()
            if callback is not None:
                try:
                    callback(UniformMPS(tensors, psi.conserved, sites), now)
                except StopIteration:
                    break
    return Evolution(UniformMPS(tensors, psi.conserved, sites), now, float(discarded), float(log_norm))


def checked_term(psi: UniformMPS, h: Any, method: str) -> np.ndarray:
    """The two-site term of a Hamiltonian; raises unless a state can be evolved by it, by this method."""
    term = neighbour_term(h)
    check_term(psi, operator_of(term))
    check_single(psi)
    if method not in GATES:
        raise ArgumentError(f"unknown method {method!r}: choose one of {', '.join(map(repr, GATES))}")
    if len(psi) > 2:
        raise ArgumentError(f"evolve takes cells of one or two sites, not of {len(psi)}")
    if psi.conserved is not None and len(psi) < 2:
        raise ArgumentError("evolve takes a cell of two sites of a state that conserves: search for it with cell=2")
    return term


def neighbour_term(h: Any) -> np.ndarray:
    """The two-site term of a Hamiltonian of neighbours, alike on all sites."""
    H = h.mpo() if isinstance(h, UniformOpSum) else h
    if not isinstance(H, UniformMPO):
        return two_site_term(h)
    if len(H) > 1 or np.any(H[0][1:-1, 1:-1]):
        raise ArgumentError("evolve takes terms of neighbours that are alike on all sites: a cell of one site")
    w = value_of(H[0])
    pairs, one = np.einsum("kac,kbd->abcd", w[0, 1:-1], w[1:-1, -1]), np.eye(len(w[0, -1]))
    return pairs + np.einsum("ac,bd->abcd", w[0, -1], one)


def cutoff_of(h: np.ndarray, dt: float, order: int) -> float:
    """The weight that a cut may discard in steps of this length."""
    matrix = h.reshape(h.shape[0] * h.shape[1], -1)
    size = np.linalg.norm(matrix - np.trace(matrix) / len(matrix) * np.eye(len(matrix))) / np.sqrt(len(matrix))
    return cutoff_for((abs(dt) * size) ** (order + 1), 3 * len(ORDERS[order]))


def gates_of_step(psi: UniformMPS, h: np.ndarray, factor: complex, order: int) -> list[tuple[int, Any]]:
    """The gates of a step and their first sites: half on the first bond, whole on the second, half on the first."""
    terms: list[Any] = [h, h]
    if psi.conserved is not None:  # within a cell, and across to the next one
        counted = counted_from_mean(psi.conserved, psi.total)
        terms = [Quantities(counted.names, counted.charges * 2).term(h, site) for site in range(2)]
    parts = [(i, share * part) for share in ORDERS[order] for i, part in ((0, 0.5), (1, 1.0), (0, 0.5))]
    gates = {(i, share): gate(terms[i], factor * share)[0] for i, share in parts}
    return [(part[0], gates[part]) for part in parts]


def apply(
    gate: Any, i: int, tensors: list[Any], weights: list[np.ndarray], bond: int, cutoff: float
) -> tuple[float, float]:
    """A gate on sites i and i+1 of a cell of two, right-canonical with the Schmidt coefficients left of each.

    Returns the norm that the state has then, and the weight that was cut off, of 1.
    """
    j = 1 - i
    pair = applied(gate, (tensors[i], tensors[j]), 0)
    whole = scaled(pair, weights[i], 0)
    _, values, tensors[j] = leading_of(whole, 2, most=bond, weight=cutoff)
    norm, size = np.linalg.norm(numbers(whole)), np.linalg.norm(values)
    weights[j] = values / size
    tensors[i] = join(pair, tensors[j].conj(), ((2, 3), (1, 2))) * (1 / size)
    return norm, max(1 - (size / norm) ** 2, 0.0)
