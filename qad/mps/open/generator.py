"""Lindblad generators as operators on density matrices, whose sites are pairs (ket, bra) of basis states.

A density matrix is a state of sites of squared dimension, so that neighbours stay neighbours.  ``A rho B`` is
``A x B^T`` on such pairs, site by site, and

    i d rho / dt = [H, rho] + i sum_k (L_k rho L_k^dagger - {L_k^dagger L_k, rho} / 2).

G. Lindblad, Commun. Math. Phys. 48, 119 (1976); M. Zwolak and G. Vidal, PRL 93, 207205 (2004).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import value_of
from qad.mps.chain.checks import check_kind
from qad.mps.charges.quantities import kinds
from qad.mps.energy.hamiltonian import check_hermitian
from qad.mps.open.pairs import doubled
from qad.mps.operators.algebra import finite_number
from qad.mps.operators.mpo import MPO, plain_of
from qad.mps.operators.opsum import OpSum

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.mps.charges.quantities import Names
    from qad.mps.operators.local import Site
    from qad.typing import Array, Number


def lindblad(H: MPO | OpSum, jumps: Sequence[OpSum | tuple[Any, ...]], conserve: Names | None = None) -> MPO | OpSum:
    """The generator of a Lindblad equation: ``exp(-i G t)`` takes a density matrix through the time t.

    Parameters
    ----------
    H : OpSum or MPO
        Hermitian, of n sites of dimensions d.
    jumps : sequence
        Jump operators ``L_k``: of each an OpSum, its rate included, or ``(rate, operator, site)``, where the operator
        is a name or a matrix and the rate multiplies ``L rho L^dagger``; it is not negative, and may be recorded.
    conserve : str or sequence of str, optional
        What the generator has to conserve, as of `ground_state`: charges of the ket less those of the bra.  `H`
        conserves them then, and every jump adds the same charge to every state.

    Returns
    -------
    OpSum, or MPO where `H` is one
        On n sites of kind "density of ...", of dimensions ``d**2``, for ``evolve(rho, G, time, steps,
        hermitian=False)``; terms reach as far as those of `H` and of the jumps do.

    Raises
    ------
    ArgumentError
        For a jump of another form, a negative rate, a jump that breaks what is conserved (it is named), or an `H` that
        is not Hermitian.
    ShapeError
        If a jump has other sites than `H`.

    Notes
    -----
    Jumps of fermions carry their Jordan-Wigner strings, on the ket and on the bra: they reach from the first site on,
    which gates of neighbours refuse and "tdvp2" takes.

    Examples
    --------
    >>> import numpy as np, qad
    >>> decay = qad.mps.lindblad(qad.mps.OpSum(2), [(0.5, "Sm", 0)])
    >>> rho = qad.mps.MPS.product(["up", "up"], kind="density of spin-1/2")
    >>> later = qad.mps.evolve(rho, decay, 2.0, steps=4, method="tebd", hermitian=False).state
    >>> up = qad.mps.density_measure(later, np.diag([1.0, 0.0]))
    >>> bool(np.allclose(up.real, [np.exp(-0.5 * 2.0), 1.0]))
    True
    """
    operator = H.mpo() if isinstance(H, OpSum) else check_kind(H, MPO)
    check_hermitian(plain_of(operator).tensors)
    sites = H.sites if isinstance(H, OpSum) else kinds(H.sites, [w.shape[2] for w in H])
    pairs = [doubled(kind) for kind in sites]
    parts = [("H", commutator(H, pairs))] if isinstance(H, OpSum) else []
    for k, jump in enumerate(jumps):
        operator, rate = jump_of(jump, k, sites)
        parts.append((f"jump {k}, {shown(jump)},", dissipator(operator, rate, pairs)))
    if conserve is not None:
        check_conserving(parts, conserve)
    total = sum((part for _, part in parts), OpSum(len(pairs), pairs))
    if isinstance(H, OpSum):
        return total
    ket, bra = (MPO(map(side, H), kind=pairs) for side in (on_ket, on_bra))
    whole = ket - bra
    return whole + total.mpo(conserve) if len(total) else whole


def jump_of(jump: Any, k: int, sites: Sequence[Site]) -> tuple[OpSum, Number]:
    """A jump operator and its rate, from what the caller writes."""
    if isinstance(jump, OpSum):
        if [kind.phys for kind in jump.sites] != [kind.phys for kind in sites]:
            raise ShapeError(f"jump {k}, {jump!r}, is of other sites than H: make both by OpSum(n, kind) alike")
        return jump, 1.0
    if not isinstance(jump, (tuple, list)) or len(jump) != 3:
        raise ArgumentError(f"jump {k} is {jump!r}: write an OpSum, or (rate, operator, site)")
    rate = finite_number(jump[0], f"the rate of jump {k}", real=True)
    if value_of(rate) < 0:
        raise ArgumentError(f"the rate of jump {k} is {value_of(rate)}: rates are not negative")
    return OpSum(len(sites), sites).add(1.0, *jump[1:]), rate


def shown(jump: Any) -> str:
    """A jump as errors name it."""
    if isinstance(jump, OpSum):
        return repr(jump)
    return f"{jump[1] if isinstance(jump[1], str) else 'a matrix'}({jump[2]})"


def commutator(H: OpSum, pairs: Sequence[Site]) -> OpSum:
    """``rho -> [H, rho]``."""
    total = OpSum(len(pairs), pairs)
    total._absorb(H, on_ket, lambda weight: weight)
    total._absorb(H, on_bra, lambda weight: -1.0 * weight)
    return total


def dissipator(jump: OpSum, rate: Number, pairs: Sequence[Site]) -> OpSum:
    """``rho -> i rate (L rho L^dagger - {L^dagger L, rho} / 2)``."""
    ket, bra, total = (OpSum(len(pairs), pairs) for _ in range(3))
    ket._absorb(jump, on_ket, lambda weight: weight)
    bra._absorb(jump.dagger(), on_bra, lambda weight: weight)
    total._absorb(ket @ bra, lambda matrix: matrix, lambda weight: 1j * rate * weight)
    for side in (on_ket, on_bra):
        total._absorb(jump.dagger() @ jump, side, lambda weight: -0.5j * rate * weight)
    return total


def on_ket(w: Array) -> Array:
    """``A rho`` as a matrix on pairs (ket, bra), or for every pair of channels one, of legs (..., out, in)."""
    size = w.shape[-1]
    return np.einsum("...ab,pq->...apbq", w, np.eye(size)).reshape(*w.shape[:-2], size**2, size**2)


def on_bra(w: Array) -> Array:
    """``rho A`` as a matrix on pairs (ket, bra), or for every pair of channels one, of legs (..., out, in)."""
    size = w.shape[-1]
    return np.einsum("...ab,pq->...pbqa", w, np.eye(size)).reshape(*w.shape[:-2], size**2, size**2)


def check_conserving(parts: Sequence[tuple[str, OpSum]], conserve: Names) -> None:
    """Raise where a part of a generator does not conserve, and say which."""
    for name, part in parts:
        try:
            part.mpo(conserve)
        except ArgumentError:
            raise ArgumentError(
                f"{name} does not conserve {conserve!r}: a jump adds the same charge to every state, as Sm does and "
                "Sx does not, and H none; leave conserve out, or give other jumps"
            ) from None
