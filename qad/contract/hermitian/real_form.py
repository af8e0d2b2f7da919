"""Half the derivative of a real form ``<psi|O|psi>``.

With L real, the derivative with respect to the conjugated variables (the bra) is the conjugate of that with respect to
the variables (the ket).  So the kets are taken from one level below, where they are constants, and what flows back
through the bra counts twice.  Levels below see the whole function, which keeps higher orders right.  That L is real is
proved in `qad.contract.hermitian.proof`.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from qad.contract.hermitian.proof import RealForm, compare_halves, prove, refuse_imaginary
from qad.contract.notation.operands import recorded
from qad.core.errors import ArgumentError
from qad.extend import Tensor, operand_of, value_of
from qad.extend.recording import recording_level

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Executor

    from qad.contract.hermitian.proof import Planned
    from qad.typing import Array

__all__ = ["partners", "real_form"]


def real_form(
    planned: Planned, operands: Sequence[Array], check: bool, text: str, executor: Executor | None = None
) -> Array:
    """Contract a network that is real by Hermiticity; its gradient passes only through the bra half.

    Parameters
    ----------
    planned : callable
        From the numbers of the variable operands to the plan; a second argument multiplies the memory it may take.
    operands : list of arrays
    check : bool
        Compare the halves of the gradient at these operands, too, and not only at a generic point.
    text : str
        The expression, for messages.
    executor : concurrent.futures.Executor, optional
        For slices.
    """
    level = recording_level(operands)
    groups = _groups(operands, level, text) if level is not None else []
    if not groups:  # plain arrays, no_grad, and forward mode, which has no halves
        out = _contract(planned, list(operands), executor)
        refuse_imaginary(out, planned, operands, text)
        return out.real
    bra = {number for _, bras in groups for number in bras}
    plan = planned(tuple(sorted(bra)))
    expression = plan.expression
    _check_batch(expression, groups)
    mirrored = _mirrored(expression, groups, operands)
    form = RealForm(planned, plan, groups if mirrored else _complex(groups, operands), text)
    if check:
        compare_halves(form, [value_of(x) for x in operands])
    vouched = prove(form, operands)
    if mirrored:
        ready = [_below(x, level) if number not in bra else x for number, x in enumerate(operands)]
    else:  # which of equal real operands is whose mirror image is unknown: all of them, at half their weight
        ready = [_halved(x, level) for x in operands]
    out = _contract(planned, ready, executor)
    out = (2 * out - out.value).real
    return out if vouched is None else out * vouched


def _contract(planned, operands, executor):
    wanted = recorded(operands)
    return planned(wanted).execute(list(operands), wanted, executor)


def _below(x, level):
    return x.value if type(x) is Tensor and x.level is level else x


def _halved(x, level):
    return (x + x.value) * 0.5 if type(x) is Tensor and x.level is level else x


def partners(operands: Sequence[Array]) -> list[tuple[list[int], list[int]]]:
    """The numbers of kets and of as many bras for each recorded variable, as `real_form` asks; none if some lack."""
    level = recording_level(operands)
    try:
        return _groups(operands, level, "") if level is not None else []
    except ArgumentError:
        return []


def _groups(operands, level, text):
    """The variables of the highest level: for each the numbers of its kets and of as many bras.

    A bra is the recorded conjugate of a ket.  The conjugate of a real array is itself or a copy; where it is itself,
    the later half of the occurrences are bras.
    """
    variable = {number: x for number, x in enumerate(operands) if type(x) is Tensor and x.level is level}
    nodes = {id(x.node) for x in variable.values()}
    found = {}
    for number, x in variable.items():
        ket = _ket_of(x)
        is_bra = ket is not None and id(ket.node) in nodes
        found.setdefault(id(ket.node if is_bra else x.node), ([], []))[is_bra].append(number)
    for key, (kets, bras) in found.items():
        if not bras and variable[kets[0]].dtype.kind != "c":
            found[key] = kets[: len(kets) // 2], kets[len(kets) // 2 :]
        if len(found[key][0]) != len(found[key][1]):
            raise _unpaired(max(kets, bras, key=len), text)
    return list(found.values())


def _ket_of(x):
    """The Tensor whose conjugate `x` was made as; that of a real one is a copy."""
    makers = (np.conjugate,) if x.dtype.kind == "c" else (np.positive, np.copy)
    return next((ket for fn in makers if (ket := operand_of(x, fn)) is not None), None)


def _complex(groups, operands):
    """The groups of complex variables."""
    return [group for group in groups if operands[group[0][0]].dtype.kind == "c"]


def _unpaired(numbers, text):
    return ArgumentError(
        f'einsum: expression "{text}", hermitian=True: operand {numbers[-1]} is variable and has no partner among the '
        "operands: pass x and x.conj() of the very same Tensor x (a real x twice), or leave hermitian=False"
    )


def _check_batch(expression, groups):
    """A label of the output that only one of the halves holds is an open leg, not a batch."""
    terms = expression.inputs
    kets, bras = ({label for group in groups for number in group[side] for label in terms[number]} for side in (0, 1))
    for label in kets.symmetric_difference(bras).intersection(expression.output):
        raise ArgumentError(
            f'einsum: expression "{expression.text}", hermitian=True: output label '
            f"'{expression.names[label]}' is a leg of one half only, so the result is no real scalar or batch"
        )


def _mirrored(expression, groups, operands):
    """Whether the two occurrences of every real operand are mirror images of each other.

    Exchanging the labels of each ket with those of its bra must then be possible, and leave the network as it is but
    for the order of axes.  A complex variable is told from its conjugate, and needs no mirror.
    """
    real = [operands[kets[0]].dtype.kind != "c" for kets, _ in groups]
    if not any(real):
        return True
    image = {}
    for is_real, (kets, bras) in zip(real, groups, strict=True):
        if is_real and len(kets) > 1:
            return False
        if len(kets) == 1 and not _exchange(image, *(expression.inputs[side[0]] for side in (kets, bras))):
            return False
    terms = Counter(map(frozenset, expression.inputs))
    return terms == Counter(frozenset(image.get(label, label) for label in term) for term in expression.inputs)


def _exchange(image, ket, bra):
    """Make each label of either term the `image` of its partner; whether that agrees with those before."""
    pairs = [*zip(ket, bra, strict=True), *zip(bra, ket, strict=True)]
    return all(image.setdefault(one, two) == two for one, two in pairs)
