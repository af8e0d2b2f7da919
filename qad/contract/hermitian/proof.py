"""The proof that a network is a real form ``<psi|O|psi>``: both halves of its derivative are conjugate to each other.

The network is a polynomial in its kets and its bras.  It is a real form where its derivative by the bras is the
conjugate of that by the kets whatever the variables are, which is so where it holds at a generic point (the exceptions
have measure zero).  The point does not depend on the variables, so that one proof holds as long as the constants in the
network do not change.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from hashlib import blake2b
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import CheckError
from qad.extend import opaque, stack_of, unrecorded, value_of, vjp
from qad.extend.batching import examples
from qad.linalg.support.random import normal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeAlias

    from qad.contract.plan.plan import Plan
    from qad.typing import Array

    Planned: TypeAlias = Callable[..., Plan]  # from the variable operands, and a factor of the memory, to the plan

__all__ = ["RealForm", "compare_halves", "prove", "refuse_imaginary"]

TOLERANCE = 1e-8, 1e-3  # of halves, relative, in double and in single precision: what is no form is no small error
NOISE = 100.0  # times the scatter under perturbations by a rounding: a difference that may well be 0
STEEPEST = 20.0  # powers of two by which a variable is scaled at most, so that long networks stay in range
PROOFS, MOST = 32, 2**18  # how many are remembered, and the bytes of each

_proved = deque(maxlen=PROOFS)  # (expression, shapes, groups, dtype, the contents of the constants), the latest


@dataclass(frozen=True)
class RealForm:
    """A network that is said to be a real form; what proves it is contracted in the order of `plan`.

    Attributes
    ----------
    planned : callable
        From the numbers of the variable operands to the plan; a second argument multiplies the memory it may take, a
        third prescribes the order.
    plan : Plan
        One of those, which stands for the expression and the shapes.
    groups : list of pairs of lists of int
        For every variable the numbers of its kets and of its bras.
    text : str
    """

    planned: Planned
    plan: Plan
    groups: list[tuple[list[int], list[int]]]
    text: str

    @property
    def chosen(self) -> tuple[int, ...]:
        """The numbers of the variable operands."""
        return tuple(sorted(number for group in self.groups for side in group for number in side))

    def network(self, values: Sequence[Array]) -> Callable[..., Array]:
        """The network as a function of the variable operands, the others as in `values`."""

        def network(*variables):
            found = list(values)
            for number, x in zip(self.chosen, variables, strict=True):
                found[number] = x
            return self.planned(self.chosen, 2, self.plan.path)(*found)  # two halves, twice the memory of one

        return network


def prove(form: RealForm, operands: Sequence[Array]) -> Any:
    """Raise unless a network is a real form, whatever its variables are.

    Returns
    -------
    None, or the number 1
        Where `qad.freeze` records the constants: made by the step that proves the form, which is run if it is used.

    Raises
    ------
    CheckError
    """
    if not form.groups:
        return None
    kinds = [None] * len(operands)
    for kets, bras in form.groups:
        for number in (*kets, *bras):
            kinds[number] = operands[number].shape, operands[number].dtype
    constants = [value_of(x) for x, kind in zip(operands, kinds, strict=True) if kind is None]
    steps = [_vouch(*example, form=form, kinds=kinds) for example in examples(constants)]
    steps = [step for step in steps if type(step) is not np.ndarray]
    return prod(steps) if steps else None


@opaque
def _vouch(*constants, form, kinds):
    """1, if there is a proof with these constants, or if one can be made."""
    constants = [np.asarray(x) for x in constants]
    groups = tuple([(*kets, -1, *bras) for kets, bras in form.groups])
    key = form.plan.expression, form.plan.shapes, groups, kinds[form.groups[0][0][0]][1], *_content(constants)
    if key not in tuple(_proved):  # another thread may add to it
        rest = iter(constants)
        compare_halves(form, _generic(form, [next(rest) if kind is None else kind for kind in kinds]))
        _proved.append(key)
    return np.ones(())


def _content(arrays):
    """What arrays hold, byte by byte, to be compared as a whole; of many bytes the digest."""
    content = b"".join([x.tobytes() for x in arrays])
    return "".join([x.dtype.char for x in arrays]), content if len(content) <= MOST else blake2b(content).digest()


def _generic(form, operands):
    """The operands with variables, given by (shape, dtype), at a point without any structure."""
    rng, points = np.random.default_rng(0), {}
    for kets, bras in form.groups:
        point = _gaussian(rng, *operands[kets[0]])
        points |= dict.fromkeys(kets, point) | dict.fromkeys(bras, point.conj())
    low, high, power = -STEEPEST, STEEPEST, 0.0
    while True:
        values = [x if n not in points else (points[n] * 2.0**power).astype(x[1]) for n, x in enumerate(operands)]
        with np.errstate(all="ignore"):
            size = np.abs(form.planned((), 1, form.plan.path)(*values))
        limits = np.finfo(size.dtype)
        small = (size < limits.max**0.5).all()
        if (small and (size > limits.tiny**0.5).all()) or high - low < 1e-3:
            return values
        low, high = (power, high) if small else (low, power)
        power = (low + high) / 2


def _gaussian(rng, shape, dtype):
    x = normal(rng, shape, np.result_type(dtype, np.float64))
    return x * max(x.size, 1) ** -0.25


def compare_halves(form: RealForm, values: Sequence[Array]) -> None:
    """Compare the derivative with respect to the bras with the conjugate of that with respect to the kets.

    What cancels to zero leaves rounding: differences are also compared with what roundings of the operands change.
    """
    rng = np.random.default_rng(1)
    (out, gradients), (near, around) = _swept(form, values), _swept(form, [_moved(x, rng) for x in values])
    text = f'expression "{form.text}"'
    for value, other in zip(np.ravel(stack_of(out)), np.ravel(stack_of(near)), strict=True):
        complaint = f"{text}: the value is not real: it is not its own conjugate"
        _compare(value, np.conj(value), np.abs(value - other), complaint)
    for kets, bras in form.groups:
        (ket, bra), (far_ket, far_bra) = [
            [sum(found[number] for number in side) for side in (kets, bras)] for found in (gradients, around)
        ]
        where = f"operand {bras[0]} (bra) and operand {kets[0]} (ket)"
        scatter = max(np.abs(x - y).max(initial=0.0) for x, y in ((ket, far_ket), (bra, far_bra)))
        _compare(bra, np.conj(ket), scatter, f"{text}: the gradients of {where} are not conjugate to each other")


def _swept(form, values):
    out, pullback = vjp(form.network(values), *[values[number] for number in form.chosen])
    weights = np.random.default_rng(0).uniform(0.5, 1.5, np.shape(out)).astype(out.dtype)
    return out, dict(zip(form.chosen, pullback(weights), strict=True))


def _moved(x, rng):
    return (
        x
        if x.dtype.kind in "iub"
        else x * (1 + np.finfo(x.dtype).eps * rng.standard_normal(x.shape)).astype(x.real.dtype)
    )


def _compare(one, two, scatter, complaint):
    tolerance = TOLERANCE[one.real.dtype.itemsize < 8]
    size, difference = np.abs(two).max(initial=0.0), np.abs(one - two).max(initial=0.0)
    if not difference <= tolerance * size + NOISE * scatter:
        raise CheckError(
            f"einsum(hermitian=True): {complaint}; they differ by {difference:.1e} of {size:.1e}. Is what stands "
            "between bra and ket Hermitian, its legs to both in the same order? Else leave hermitian=False"
        )


def refuse_imaginary(out: Array, planned: Planned, operands: Sequence[Array], text: str) -> None:
    """Raise where the value of a network, computed without any derivative by halves, is not real but for rounding."""
    if out.dtype.kind != "c":
        return
    value = stack_of(out)
    tolerance = TOLERANCE[value.real.dtype.itemsize < 8]
    if np.all(np.abs(value.imag) <= tolerance * np.abs(value.real)):
        return
    rng, plain, scatter = np.random.default_rng(0), [unrecorded(x) for x in operands], 0.0
    for _ in range(4):
        moved = [x * (1 + np.finfo(out.dtype).eps * rng.standard_normal(x.shape)) for x in plain]
        scatter = np.maximum(scatter, np.abs(stack_of(planned(())(*moved)) - value))
    if not np.all(np.abs(value.imag) <= NOISE * scatter):
        raise CheckError(
            f'einsum(hermitian=True): expression "{text}": the value is not real: its imaginary part is '
            f"{np.abs(value.imag).max():.1e}. It is no form <psi|O|psi> with O Hermitian: leave hermitian=False"
        )
