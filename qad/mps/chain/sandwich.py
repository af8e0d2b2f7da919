"""Sandwiches ``<bra| H |ket>`` by one sweep from the left, shaped for matrix products.

The environment of the sites already swept (`qad.mps.kernels.environments`) is a matrix, its legs (operator, ket) as
one.  A periodic chain carries the legs where it was opened as a leading axis; it is closed by a trace at the end.

Where norms leave the range of floating point, powers of two are taken out, and put back or refused.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import any_traced, like, stack_of, value_of
from qad.mps.chain.row import distinct_map, edges
from qad.mps.kernels.environments import acted, adjoint, operator_matrix, past_left
from qad.symmetric.generic import numbers
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from qad.mps.chain.chain import SiteTensors
    from qad.typing import Array, DTypeLike, Real


SITES_PER_SCALING = 4


def sandwich(bra: SiteTensors, ket: SiteTensors, operators: Sequence[Any] | None = None) -> tuple[Array, Any]:
    """Contract ``<bra| H |ket>``.

    Parameters
    ----------
    bra, ket : sequences of site tensors (left, physical, right)
        `bra` is conjugated here.
    operators : list of matrices, or of SymTensors, or None for ``<bra|ket>``
        Matrices as `operator_matrix` makes them.

    Returns
    -------
    value : scalar
        To be multiplied by ``exp(log_scale)``.
    log_scale : float
        Taken out on the way, lest long chains overflow; a constant for derivatives.
    """
    start = beginning(bra, operators, ket)
    environment, log_scale, in_range = swept(start, bra, operators, ket)
    if not in_range:
        (bra, one), (ket, two) = evened(bra), evened(ket)
        operators, three = (None, 0) if operators is None else evened(operators)
        environment, log_scale, _ = swept(start, bra, operators, ket)
        log_scale = log_scale + (one + two + three) * np.log(2.0)
    if type(environment) is SymTensor:
        return environment.data.sum(), log_scale
    size = prod(outer_legs(bra, operators, ket))
    return np.trace(environment.reshape(size, size)), log_scale  # of the legs where it was opened


def swept(
    environment: Any, bra: SiteTensors, operators: Sequence[Any] | None, ket: SiteTensors
) -> tuple[Any, Any, bool]:
    """The environment of all sites, the logarithm that was taken out, and whether nothing left the range of floats."""
    log_scale, in_range = 0.0, True
    symmetric = type(environment) is SymTensor
    with np.errstate(over="ignore", invalid="ignore"):
        for site, tensor in enumerate(ket):
            w = None if operators is None else operators[site]
            if symmetric:
                environment = past_left(environment, tensor, bra[site], w)
            else:
                step = w if w is None else (w, w.shape[1] // tensor.shape[1], w.shape[0] // bra[site].shape[1])
                environment = adjoint(bra[site]) @ acted(environment, tensor, step)
            if site % SITES_PER_SCALING == SITES_PER_SCALING - 1:
                before = environment
                environment, log_scale = scaled(environment, log_scale)
                in_range = in_range and environment is not before
        size = np.linalg.norm(stack_of(numbers(environment)).ravel())
    return environment, log_scale, in_range and (any_traced(size) or 0 < size < np.inf)


def quotient(tensors: Sequence[Any], operators: Sequence[Any]) -> Array:
    """The energy by the ordinary sweep, which the tape differentiates to any order and by the operator too."""
    square, square_scale = sandwich(tensors, tensors)
    value, value_scale = sandwich(tensors, tensors, operators)
    value = value * factor(value, value_scale - square_scale)
    check_quotient(stack_of(value), stack_of(square))
    return value.real / square.real


def check_quotient(value: np.ndarray, square: np.ndarray) -> None:
    """Raise where the quotient of `value` and `square` (of any example of a batch) is no energy."""
    if np.any(square.real == 0):
        raise ArgumentError("the state has norm zero (or underflows): an energy needs a norm above zero")
    if not (np.isfinite(square).all() and np.isfinite(value).all()):
        raise ArgumentError(
            f"the sweep ended in <psi|psi> = {square}, <psi|H|psi> = {value}: tensors of psi or H hold inf or nan, or "
            "are so large that a few of them overflow; divide them by their norms"
        )
    if np.any(abs(value.imag) > 1e-4 * abs(value.real) + np.sqrt(np.finfo(value.dtype).eps) * square.real):
        raise ArgumentError(
            "the expectation value has an imaginary part, so the operator is not Hermitian: energies need a Hermitian "
            "one; qad.mps.expectation takes any"
        )


def outer_legs(bra: SiteTensors, operators: Sequence[Any] | None, ket: SiteTensors) -> tuple[int, int, int]:
    """The dimensions of the bonds where a chain of arrays was opened."""
    return bra[0].shape[0], (1 if operators is None else operators[0].shape[1] // ket[0].shape[1]), ket[0].shape[0]


def beginning(bra: SiteTensors, operators: Sequence[Any] | None, ket: SiteTensors) -> Any:
    """The environment of no sites, of arrays ``(bra, operator ket)``.

    For a periodic chain it is an identity with the three opened legs, as one, in front.
    """
    if type(ket[0]) is SymTensor:
        return edges(ket, operators or ())[0]
    outer, dtype = outer_legs(bra, operators, ket), np.result_type(bra[0].dtype, ket[0].dtype, np.float32)
    create, size = like(bra[0], ket[0]), prod(outer)
    return create.ones((1, 1), dtype) if size == 1 else create.eye(size, dtype=dtype).reshape(size, outer[0], -1)


def scaled(environment: Any, log_scale: Any) -> tuple[Any, Any]:
    """`environment` with its Frobenius norm near 1, by a power of two, which costs no digits."""
    size = np.linalg.norm(stack_of(numbers(environment)).ravel())
    if not any_traced(size) and not 0 < size < np.inf:
        return environment, log_scale
    exponent = np.frexp(size)[1]  # in a traced program a part of it, not a decision
    power = np.ldexp(1.0, -exponent).astype(environment.dtype)
    return environment * power, log_scale + exponent * np.log(2.0)


def operator_matrices(H: Iterable[Array], dtype: DTypeLike) -> list[Array]:
    """Every site of `H` as `sandwich` wants it, in the precision of `dtype`."""
    return distinct_map(operator_matrix, in_precision(H, dtype))


def in_precision(tensors: Iterable[Array], dtype: DTypeLike) -> list[Array]:
    """Site tensors in the precision of a dtype, each real or complex as it is."""
    real = np.finfo(np.result_type(dtype, np.float32)).dtype  # amplitudes may be integers
    kinds = {"c": np.result_type(real, np.complex64)}
    return distinct_map(lambda w: w.astype(kinds.get(w.dtype.kind, real)), tensors)


def normalised(psi: Any) -> Any:
    """`psi` with its norm divided out, an equal part from every site once its entries are about 1."""
    traced = any_traced(*[stack_of(value_of(numbers(tensor))) for tensor in psi])
    tensors = list(psi) if traced else evened(psi)[0]  # recorded by `qad.freeze`, sizes are not known
    square, log_scale = sandwich(tensors, tensors)
    if not (stack_of(square).real > 0).all():
        raise ArgumentError("the state has norm zero, or none that is finite: it cannot be normalised")
    share = np.exp(-(np.log(square.real) + log_scale) / (2 * len(psi)))
    return psi._made_of([tensor * share.astype(numbers(tensor).real.dtype) for tensor in tensors])


# -- scales ------------------------------------------------------------------------------------------------------------


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
    half = factor(value, log_scale / 2)  # the whole by itself may overflow where the value does not
    return value * half * half


def factor(value: Array, log_scale: Any) -> Any:
    """``exp(log_scale)`` in the precision of `value`."""
    return np.exp(log_scale).astype(np.finfo(value.dtype).dtype)


def evened(tensors: Sequence[Any]) -> tuple[list[Any], int]:
    """The tensors with entries of about 1, and how many powers of two were taken from all of them together."""
    exponents = [int(np.frexp(np.abs(stack_of(numbers(t))).max(initial=0.0))[1]) for t in tensors]
    return [ldexp(tensor, -exponent) for tensor, exponent in zip(tensors, exponents, strict=True)], sum(exponents)


def ldexp(tensor: Any, exponent: int) -> Any:
    """``tensor * 2**exponent``, in two steps, for the power by itself may leave the range of floating point."""
    real, half = np.finfo(numbers(tensor).dtype).dtype.type, exponent // 2
    return tensor * real(2.0**half) * real(2.0 ** (exponent - half))


def cut_in_range(
    cut: Callable[..., Any], tensors: Sequence[Any], max_rank: int | None, cutoff: float
) -> tuple[list[Any], Real]:
    """A truncation by `cut`, also where floats cannot hold the squared norm."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            found, error = cut(tensors, max_rank, cutoff)
            size = np.linalg.norm(stack_of(numbers(found[-1])).ravel())
        if any_traced(size) or 1 / (largest := np.finfo(size.dtype).max ** 0.25) < size < largest:
            return found, error
    except (np.linalg.LinAlgError, ArgumentError):  # matrices that are not finite, or vanish: or another, again below
        pass
    even, taken = evened(tensors)
    square, log_scale = sandwich(even, even)
    with np.errstate(divide="ignore"):
        half = np.max(np.log(stack_of(square).real) + log_scale) / (2 * np.log(2.0))
    power = int(half) if np.isfinite(half) else 0
    found, error = cut(spread(even, -power), max_rank, cutoff)
    total = power + taken
    return spread(found, total), within_range(error, total * np.log(2.0), "the norm of what was cut off", tiny=False)


def spread(tensors: Sequence[Any], exponent: int) -> list[Any]:
    """The chain times ``2**exponent``, as evenly on its tensors as whole numbers are."""
    n = len(tensors)
    return [ldexp(t, exponent * (i + 1) // n - exponent * i // n) for i, t in enumerate(tensors)]
