"""What a canonical form has dropped, and whether a derivative would have needed it.

Of ``A = Q C`` with fewer independent rows than C could have, the part ``(1 - Q Q^H) dA (1 - C^+ C)`` of a change of A
is lost.  The state's first derivative has it where the other side of the bond continues a direction that C does not
have; its second derivative nearly always, since the other side may change, too: it is refused.

A derivative divides by directions that carry little weight.  The rule of `qad.mps.chain.gauge.isometric` does so in
such a way that the rounding of a derivative of order n is ``eps / s**(n - 1)``; that of `qad.linalg.split`, where it
has something to leave out, is ``eps / s**n``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from qad.core.errors import ArgumentError
from qad.core.trees import tree_map
from qad.extend import Tensor, like, stack_of, unrecorded, value_of
from qad.extend.recording import levels_of
from qad.linalg.support import tolerances
from qad.linalg.support.random import normal
from qad.mps.chain.densities import rights_of
from qad.mps.measure.spectral_sums import UNRESOLVED
from qad.symmetric.generic import as_map, charges_of, numbers, opposite_charges, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from qad.symmetric.groups import Charge
    from qad.typing import Array

    Lost: TypeAlias = tuple[Charge, Array, int]  # of a sector: what it carries to a bond, and the rank that is left
    Dropped: TypeAlias = list[tuple[int, Charge, Array, int]]  # the same, and the bond


def is_recorded(tensors: Sequence[Any]) -> bool:
    """Whether a derivative of the tensors is asked for."""
    return any(type(numbers(tensor)) is Tensor for tensor in tensors)


def orders_of(arrays: Sequence[Array]) -> int:
    """How many derivatives are being taken of some arrays together, mixed ones included."""
    return len({id(level) for x in arrays for level in levels_of(x)})


def is_second(tensors: Sequence[Any]) -> bool:
    """Whether a second derivative of the tensors is asked for, or a higher one."""
    return orders_of(list(map(numbers, tensors))) > 1


# -- directions without weight -----------------------------------------------------------------------------------------


def lost_of(tensor: Any, rows: int, kept: dict[Charge, int]) -> list[Lost]:
    """The recorded sectors of which a new bond has fewer directions than it could.

    The old one is the last leg or, of a map of one row, the first.
    """
    where, matrices = as_map(tensor, rows)
    ranks = [kept.get(charge, 0) for charge in charges_of(where)]
    found = zip(charges_of(where), matrices, ranks, strict=True)
    return [(q, m if rows > 1 else m.mT, rank) for q, m, rank in found if rank < min(m.shape) and type(m) is Tensor]


def check_dropped(before: Sequence[Any], dropped: Dropped, to_right: bool) -> None:
    """Raise where a derivative of a recorded chain needs what a sweep has `dropped`."""
    second, ahead = is_second(before), environments(list(map(plain, before)), to_right)
    for bond, charge, matrix, kept in dropped:
        if second or continues(ahead[bond].get(charge), np.linalg.svd(value_of(matrix))[2][:kept]):
            kind = f" of charge {before[0].symmetry.shown(charge)}" if charge else ""
            refuse_weightless(f"bond {bond}", kept, min(matrix.shape), second, kind)


def continues(environment: np.ndarray | None, rows: np.ndarray) -> bool:
    """Whether one side of a bond has anything beyond the directions of the other one, orthonormal rows."""
    if environment is None:
        return False
    beyond = environment - environment @ rows.mT @ rows.conj()
    return bool(np.abs(beyond).max(initial=0.0) > np.sqrt(np.finfo(beyond.dtype).eps))


def environments(tensors: Sequence[Any], to_right: bool) -> dict[int, dict[Charge, np.ndarray]]:
    """For every inner bond the environment of the sites that a sweep has ahead there, by charge; its size is 1."""
    rows = tensors if to_right else [tensor.transpose(2, 1, 0) for tensor in reversed(tensors)]
    found, charges = rights_of(rows)[1], opposite_charges if to_right else charges_of
    maps = [as_map(environment, 1) for environment in (found if to_right else found[::-1])]
    return {bond: dict(zip(charges(where), matrices, strict=True)) for bond, (where, matrices) in enumerate(maps)}


def refuse_weightless(place: str, kept: int, most: int, second: bool = False, kind: str = "") -> NoReturn:
    """Raise: directions that carry no weight were dropped."""
    raise ArgumentError(
        f"{place} has directions{kind} that carry no weight yet but could (rank {kept} of {most}): a "
        f"{'second derivative' if second else 'derivative'} through the canonical form would miss them. Differentiate "
        "the loss of the chain as it is, or drop them beforehand, outside of the differentiated function: "
        "psi.truncate(cutoff=1e-12), with the bond of that function"
    )


def check_weak(carried: Array, rows: int, bond: int) -> None:
    """Raise where a derivative of ``A = Q C``, of so many `rows`, divides by too small a singular value of C.

    Where Q is square nothing is divided by.
    """
    if type(carried) is not Tensor or carried.shape[0] >= rows or (order := orders_of([carried])) < 2:
        return
    s = np.linalg.svdvals(stack_of(value_of(carried)))
    if (tolerances.lost(s.dtype) * s[..., 0] ** (order - 1) > s[..., -1] ** (order - 1)).any():
        raise ArgumentError(
            f"bond {bond} has a direction that carries so little weight that rounding would be more than 1e-4 of a "
            f"derivative of order {order} through the canonical form. Differentiate the loss of the chain as it is, or "
            "drop the direction beforehand, outside of the differentiated function: psi.truncate(cutoff=1e-9)"
        )


# -- probabilities of zero ---------------------------------------------------------------------------------------------


def check_filled(psi: Any, ranks: Callable[[Any], list[int]], what: str) -> None:
    """Raise where a second derivative of something is asked for that has none where ranks may grow.

    ``ranks(chain)`` are those of a chain; random numbers in what is recorded show what they may become.
    """
    if not is_second(psi):
        return
    rng = np.random.default_rng(0)
    here = tree_map(unrecorded, psi)
    filled = tree_map(
        lambda x, p: like(p).asarray(normal(rng, p.shape, p.dtype)) if type(x) is Tensor else p, psi, here
    )
    now, most = ranks(here), ranks(filled)
    if any(few < many for few, many in zip(now, most, strict=True)):
        refuse_filling(what, now, most)


def check_full(matrices: Sequence[Array], what: str) -> None:
    """Raise where a second derivative of something is asked for whose matrices have singular values of zero."""
    for matrix in matrices:
        if orders_of([matrix]) > 1:
            now, most = rank(np.linalg.svdvals(stack_of(value_of(matrix)))), min(matrix.shape)
            if now < most:
                refuse_filling(what, now, most)


def refuse_filling(what: str, now: object, most: object) -> NoReturn:
    """Raise: probabilities of zero may be filled."""
    raise ArgumentError(
        f"{what} has no second derivative here: probabilities of zero (ranks {now}) may be filled by a change of the "
        f"state (to ranks {most}). Take it where they are filled, or drop the directions that carry no weight "
        "beforehand, outside of the differentiated function: psi.truncate(cutoff=1e-12)"
    )


def rank(values: np.ndarray) -> int:
    """How many singular values, the largest of about 1, rounding does not hide; the fewest of a stack of them."""
    return int((values > UNRESOLVED * np.finfo(values.dtype).eps).sum(axis=-1).min())
