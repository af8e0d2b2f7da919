"""States whose norms leave the range of floating point: powers of two are taken out, and put back or refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import any_traced, stack_of, value_of
from qad.symmetric.generic import numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.typing import Array, Real

FAR = 0.9  # of the largest exponent: beyond it exp(log_scale) by itself may overflow where the value does not


def within_range(value: Array, log_scale: Any, what: str, tiny: bool = True) -> Array:
    """``value * exp(log_scale)``; raises where that overflows, and where it vanishes if it must not be `tiny`."""
    if any_traced(log_scale):
        return value * factor(value, log_scale)
    plain, limits = np.abs(value_of(stack_of(value))), np.finfo(value.dtype)
    with np.errstate(divide="ignore"):
        logs = np.log(plain) + log_scale
    if (logs > np.log(limits.max)).any() or (not tiny and ((logs < np.log(limits.tiny)) & (plain > 0)).any()):
        raise ArgumentError(
            f"{what} is exp({float(np.max(logs)):.6g}), which {limits.dtype} cannot hold: qad.mps.log_norm2(psi) is "
            "the logarithm of the squared norm, psi.normalized() the state of norm 1"
        )
    if np.max(np.abs(log_scale)) < FAR * np.log(limits.max):
        return value * factor(value, log_scale)
    half = factor(value, log_scale / 2)
    return value * half * half


def factor(value: Array, log_scale: Any) -> Any:
    """``exp(log_scale)`` in the precision of `value`."""
    real = np.finfo(value.dtype).dtype
    return np.exp(log_scale).astype(real) if any_traced(log_scale) else real.type(np.exp(log_scale))


def evened(tensors: Sequence[Any]) -> tuple[list[Any], int]:
    """The tensors with entries of about 1, and how many powers of two were taken from all of them together."""
    exponents = [int(np.frexp(np.abs(stack_of(numbers(t))).max(initial=0.0))[1]) for t in tensors]
    return [ldexp(tensor, -exponent) for tensor, exponent in zip(tensors, exponents, strict=True)], sum(exponents)


def ldexp(tensor: Any, exponent: int) -> Any:
    """``tensor * 2**exponent``, in two steps, for the power by itself may leave the range of floating point."""
    real, half = np.finfo(numbers(tensor).dtype).dtype.type, exponent // 2
    return tensor * real(2.0**half) * real(2.0 ** (exponent - half))


def cut_in_range(
    cut: Callable[..., Any], square_of: Callable[..., Any], tensors: Sequence[Any], max_bond: int | None, cutoff: float
) -> tuple[list[Any], Real]:
    """A truncation by `cut`, also where floats cannot hold the squared norm, ``square_of(tensors, tensors)``."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            found, error = cut(tensors, max_bond, cutoff)
            size = np.linalg.norm(stack_of(numbers(found[-1])).ravel())
        if any_traced(size) or 1 / (largest := np.finfo(size.dtype).max ** 0.25) < size < largest:
            return found, error
    except (np.linalg.LinAlgError, ArgumentError):  # matrices that are not finite, or vanish: or another, again below
        pass
    even, taken = evened(tensors)
    square, log_scale = square_of(even, even)
    with np.errstate(divide="ignore"):
        half = np.max(np.log(stack_of(square).real) + log_scale) / (2 * np.log(2.0))
    power = int(half) if np.isfinite(half) else 0
    found, error = cut(spread(even, -power), max_bond, cutoff)
    total = power + taken
    return spread(found, total), within_range(error, total * np.log(2.0), "the norm of what was cut off", tiny=False)


def spread(tensors: Sequence[Any], exponent: int) -> list[Any]:
    """The chain times ``2**exponent``, as evenly on its tensors as whole numbers are."""
    n = len(tensors)
    return [ldexp(t, exponent * (i + 1) // n - exponent * i // n) for i, t in enumerate(tensors)]
