"""What a canonical form has dropped, and whether a derivative would have needed it.

Of ``A = Q C`` with fewer independent rows than C could have, the part ``(1 - Q Q^H) dA (1 - C^+ C)`` of a change of A
is lost.  The state's first derivative has it where the other side of the bond continues a direction that C does not
have; its second derivative nearly always, since the other side may change, too.

A derivative divides by directions that carry little weight.  The rule of `qad.mps.chain.gauge.isometric` does so in
such a way that the rounding of a derivative of order n is ``eps / s**(n - 1)``; that of `qad.linalg.split`, where it
has something to leave out, is ``eps / s**n``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from qad.core.errors import ArgumentError
from qad.core.trees import flatten, unflatten
from qad.extend import Tensor, like, stack_of, value_of
from qad.extend.recording import levels_of
from qad.linalg.support import tolerances
from qad.linalg.truncation.truncation_rank import lost_in_split
from qad.mps.chain.row import edges
from qad.mps.kernels.dense import past_left, past_right
from qad.mps.measure.spectral_sums import UNRESOLVED
from qad.symmetric.generic import as_map, charges_of, leg_sizes, numbers, opposite_charges, with_numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from qad.symmetric.groups import Charge
    from qad.typing import Array

    Dropped: TypeAlias = list[tuple[int, Charge, int]]  # bonds, charges and ranks


def orders_of(arrays: Sequence[Array]) -> int:
    """How many derivatives are being taken of some arrays together, mixed ones included."""
    return len({id(level) for x in arrays for level in levels_of(x)})


def check_dropped(before: Sequence[Any], dropped: Dropped) -> None:
    """Raise where a derivative of a chain is asked for that needs what a sweep has `dropped`.

    They are bonds, charges and the ranks that are left; the first order needs those that both sides together have.
    """
    values = [numbers(t) for t in before]
    if not dropped or not any(type(x) is Tensor for x in values):
        return
    plain, second = [with_numbers(t, value_of(x)) for t, x in zip(before, values, strict=True)], orders_of(values) > 1
    lefts, rights = grams(plain, True), grams(plain, False)
    for bond, charge, kept in dropped:
        joint = joint_rank(lefts[bond - 1].get(charge), rights[bond - 1].get(charge))
        if kept < joint or second:
            most = leg_sizes(plain[bond], 0).get(charge, 0)
            kind = f" of charge {before[0].symmetry.shown(charge)}" if charge else ""
            dropped_weightless(bond, kept, most if second else joint, second=second, kind=kind)


def joint_rank(left: np.ndarray | None, right: np.ndarray | None) -> int:
    """The rank of the states of both sides together, from the Gram matrices of one sector; None where there is none."""
    if left is None or right is None:
        total = left if right is None else right
    else:
        total = left + right.conj()
    if total is None:
        return 0
    sizes = np.abs(np.linalg.eigvalsh(total))
    return int(np.count_nonzero(sizes > len(total) * np.finfo(total.dtype).eps * max(1.0, sizes[-1])))


def grams(tensors: Sequence[Any], to_right: bool) -> list[dict[Charge, np.ndarray]]:
    """For every inner bond ``L^H L`` of the states of the sites left of it, by charge; the largest entry is 1.

    Where it does not go `to_right`, the same of those right of it.
    """
    begin, end = edges(tensors)
    environment, passed, charges = (begin, past_left, charges_of) if to_right else (end, past_right, opposite_charges)
    found = []
    for tensor in tensors[:-1] if to_right else tensors[:0:-1]:
        environment = of_size_one(passed(environment, tensor, tensor))
        where, matrices = as_map(environment, 1)
        found.append(dict(zip(charges(where), matrices, strict=True)))
    return found if to_right else found[::-1]


def of_size_one(environment: Any) -> Any:
    """An environment whose largest entry is 1."""
    return environment * (1 / (np.abs(numbers(environment)).max(initial=0.0) or 1.0))


def check_filled(psi: Any, ranks: Callable[[Any], list[int]], what: str) -> None:
    """Raise where a second derivative of something is asked for that has none where ranks may grow.

    ``ranks(chain)`` are those of a plain chain.  Random numbers in the tensors that are differentiated fill what these
    may fill.
    """
    numbers, spec = flatten(psi)
    if orders_of(numbers) < 2:
        return
    rng = np.random.default_rng(0)
    for plain in examples(numbers):
        noisy = [noise(rng, p) if type(x) is Tensor else p for x, p in zip(numbers, plain, strict=True)]
        now, most = ranks(unflatten(spec, plain)), ranks(unflatten(spec, noisy))
        if any(here < there for here, there in zip(now, most, strict=True)):
            raise ArgumentError(
                f"{what} has no second derivative here: probabilities of zero (ranks {now}) may be filled by a change "
                f"of the state (to ranks {most}). Take it where they are filled, or drop the directions that carry no "
                "weight beforehand, outside of the differentiated function: psi.truncate(cutoff=1e-12)"
            )


def examples(numbers: Sequence[Array]) -> list[list[np.ndarray]]:
    """The plain arrays behind some, of every example of a batch."""
    plain = [stack_of(value_of(x)) for x in numbers]
    stacked = [p.ndim > np.ndim(x) for p, x in zip(plain, numbers, strict=True)]
    if not any(stacked):
        return [plain]
    size = len(plain[stacked.index(True)])
    return [[p[i] if many else p for p, many in zip(plain, stacked, strict=True)] for i in range(size)]


def noise(rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    """Random numbers of the shape and dtype of an array."""
    real, imag = rng.standard_normal((2, *x.shape))
    return like(x).asarray((real + 1j * imag if x.dtype.kind == "c" else real).astype(x.dtype))


def rank(values: np.ndarray) -> int:
    """How many singular values, the largest of about 1, rounding does not hide."""
    return int(np.count_nonzero(values > UNRESOLVED * np.finfo(values.dtype).eps))


def dropped_weightless(bond: int, kept: int, joint: int, *, second: bool = False, kind: str = "") -> NoReturn:
    """Raise: directions of a bond that carry no weight were dropped."""
    raise ArgumentError(
        f"bond {bond} has directions{kind} that carry no weight yet but could (rank {kept} of {joint}): a "
        f"{'second derivative' if second else 'derivative'} through the canonical form would miss them. Differentiate "
        "the loss of the chain as it is, or drop them beforehand, outside of the differentiated function: "
        "psi.truncate(cutoff=1e-12)"
    )


def span_ranks(tensors: Sequence[np.ndarray], sites: Sequence[int]) -> list[int]:
    """How many states of the sites before every bond all operators on `sites` make of those that it distinguishes.

    They make ``C^d (x) span{<s|l>}`` of states l: the physical leg joins the bond.  From the first site to the last.
    """
    create = like(*tensors)
    environment, legs, ranks = create.ones((1, 1)), 1, []
    for site, tensor in enumerate(tensors[: max(sites) + 1]):
        left, phys, right = tensor.shape
        wide = np.kron(create.eye(legs)[:, None, :], tensor)
        if site in sites:
            wide = wide.reshape(legs * left, phys, legs, right).swapaxes(1, 2).reshape(legs * left, 1, -1)
            legs *= phys
        environment = past_left(environment, wide)
        environment = environment / (np.abs(environment).max() or 1.0)
        if site >= min(sites):
            ranks.append(legs * np.linalg.matrix_rank(environment, hermitian=True))
    return ranks


# -- weak directions ---------------------------------------------------------------------------------------------------


MOST_WHOLE = 2**24  # entries of a matrix that is kept as it is for derivatives


def too_weak(carried: Array, rows: int) -> bool:
    """Whether a derivative of ``A = Q C``, of so many `rows`, divides by too small a singular value of C.

    Where Q is square nothing is divided by.
    """
    if type(carried) is not Tensor or carried.shape[0] >= rows or (order := orders_of([carried])) < 2:
        return False
    s = np.linalg.svdvals(stack_of(value_of(carried)))
    return bool((tolerances.lost(s.dtype) * s[..., 0] ** (order - 1) > s[..., -1] ** (order - 1)).any())


def divides_by_little(matrices: list[Array], max_bond: int | None, cutoff: float) -> bool:
    """Whether `split` drops nothing of the matrices of a map, but divides by too small a singular value of one."""
    if max_bond is not None and max_bond < sum(min(matrix.shape) for matrix in matrices):
        return False
    spectra = [np.linalg.svdvals(stack_of(value_of(matrix))) for matrix in matrices]
    largest = np.max([s.max(axis=-1) for s in spectra], axis=0)
    least = max(cutoff, max(tolerances.empty(s.dtype, max(m.shape)) for s, m in zip(spectra, matrices, strict=True)))
    if any((s[..., -1] <= least * largest).any() for s in spectra):
        return False
    order = orders_of(matrices)
    return any(lost_in_split(s, s.shape[-1], m.shape, order) for s, m in zip(spectra, matrices, strict=True))


def refuse_weak(bond: int, order: int, side: str = "") -> NoReturn:
    """Raise: a direction that is kept carries too little weight."""
    raise ArgumentError(
        f"bond {bond}{side} has a direction that carries so little weight that rounding would be more than 1e-4 of a "
        f"derivative of order {order} through the canonical form. Differentiate the loss of the chain as it is, or "
        "drop the direction beforehand, outside of the differentiated function: psi.truncate(cutoff=1e-9)"
    )


def whole(matrix: Array, rank: int) -> tuple[Array, Array]:
    """A matrix as it is, of the isometry one."""
    check_small(matrix, rank)
    return like(matrix).eye(len(matrix), dtype=matrix.dtype), matrix


def check_small(matrix: Array, kept: int) -> None:
    """Raise where a matrix of dead directions is too large to be kept as it is."""
    if matrix.size > MOST_WHOLE:
        raise ArgumentError(
            f"derivatives at a bond of rank {kept} of {min(matrix.shape)} take the whole matrix of its left or right "
            f"side, here {matrix.shape}, which is too large: drop what carries no weight beforehand, outside of the "
            "differentiated function, psi.truncate(cutoff=1e-12)"
        )
