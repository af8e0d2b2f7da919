"""Sandwiches ``<bra| H |ket>`` by one sweep from the left, shaped for matrix products.

The environment of the sites already swept (`qad.mps.environments`) is a matrix, its legs (operator, ket) as one.  A
periodic chain carries the legs where it was opened as a leading axis; it is closed by a trace at the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import any_traced, like, stack_of, value_of
from qad.mps.environments import acted, adjoint, operator_matrix

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from qad.mps.chain import C, SiteTensors
    from qad.typing import Array, DTypeLike

SITES_PER_SCALING = 4
FAR = 0.9  # of the largest exponent: beyond it exp(log_scale) by itself may overflow where the value does not


def sandwich(
    bra: SiteTensors, operators: Sequence[tuple[Array, int, int]] | None, ket: SiteTensors, channels: int = 1
) -> tuple[list[Array], Any]:
    """Contract ``<bra| H |ket>``.

    Parameters
    ----------
    bra, ket : sequences of site tensors (left, physical, right)
        `bra` is conjugated here.
    operators : list of (matrix, left, right), or None for ``<bra|ket>``
        Matrices as `operator_matrix` makes them, with the dimensions of their bonds.
    channels : int
        Dimension of the operator's last bond, if it is to be read out channel by channel instead of being closed.

    Returns
    -------
    values : list of scalars
        One per channel, to be multiplied by ``exp(log_scale)``.
    log_scale : float
        Taken out on the way, lest long chains overflow; a constant for derivatives.
    """
    outer = bra[0].shape[0], (1 if operators is None else operators[0][1]), ket[0].shape[0]
    environment = opened(outer, np.result_type(bra[0].dtype, ket[0].dtype, np.float32), like(bra[0], ket[0]))
    log_scale = 0.0
    for site, tensor in enumerate(ket):
        operator = None if operators is None else operators[site]
        environment = adjoint(bra[site]) @ acted(environment, tensor, operator)
        if site % SITES_PER_SCALING == SITES_PER_SCALING - 1:
            environment, log_scale = scaled(environment, log_scale)
    return closed(environment, outer, channels), log_scale


def inner(bra: SiteTensors, ket: SiteTensors) -> Array:
    """``<bra|ket>``."""
    if len(bra) != len(ket) or any(a.shape[1] != b.shape[1] for a, b in zip(bra, ket, strict=True)):
        raise ShapeError("states of different sites have no overlap: lengths and physical dimensions must agree")
    (value,), log_scale = sandwich(bra, None, ket)
    return within_range(value, log_scale, "the overlap")


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


def opened(outer: tuple[int, int, int], dtype: DTypeLike, create: Any) -> np.ndarray:
    """The environment of no sites, ``(bra, operator ket)``.

    `create` makes arrays like the tensors.  For a periodic chain it is an identity with the three opened legs, as one,
    in front.
    """
    size = outer[0] * outer[1] * outer[2]
    if size == 1:
        return create.ones((1, 1), dtype)
    return create.eye(size, dtype=dtype).reshape(size, outer[0], -1)


def closed(environment: Array, outer: tuple[int, int, int], channels: int) -> list[Array]:
    """The value in every channel of the finished environment; the opened legs are traced."""
    size = outer[0] * outer[1] * outer[2]
    if size == 1:
        return [environment[0, channel] for channel in range(channels)]
    if channels == 1:
        return [np.trace(environment.reshape(size, size))]
    split = environment.reshape(size, outer[0], channels, outer[2])
    return [np.trace(split[:, :, channel].reshape(size, size)) for channel in range(channels)]


def scaled(environment: Any, log_scale: Any, entries: Array | None = None) -> tuple[Any, Any]:
    """`environment` with its Frobenius norm near 1, by a power of two, which costs no digits.

    Its `entries` are those of one of definite charge, which is no array.
    """
    size = np.linalg.norm(stack_of(environment if entries is None else entries).ravel())
    if not 0 < size < np.inf:
        return environment, log_scale
    if any_traced(size):  # the power is then a part of the program, not a decision
        exponent = np.frexp(size)[1]
        return environment * np.ldexp(1.0, -exponent).astype(environment.dtype), log_scale + exponent * np.log(2.0)
    exponent = int(np.frexp(size)[1])
    return environment * environment.dtype.type(2.0**-exponent), log_scale + exponent * np.log(2.0)


def operator_matrices(H: Iterable[Array], dtype: DTypeLike) -> list[tuple[Array, int, int]]:
    """Every site of `H` as `sandwich` wants it, in the precision of `dtype`."""
    dtype = np.result_type(dtype, np.float32)  # amplitudes may be integers
    memory = {}  # chains repeat their tensors
    rows = []
    for tensor in H:
        if id(tensor) not in memory:
            fitting = np.result_type(dtype, 1j) if tensor.dtype.kind == "c" else dtype
            memory[id(tensor)] = operator_matrix(tensor).astype(fitting), *tensor.shape[:2]
        rows.append(memory[id(tensor)])
    return rows


def normalised(psi: C) -> C:
    """`psi` with its norm divided out, an equal part from every site after each one's own size."""
    sizes = [np.abs(value_of(tensor)).max() for tensor in psi]
    if 0.0 in sizes or not np.isfinite(sizes).all():
        raise ArgumentError("the state is zero or not finite: it cannot be normalised")
    tensors = [tensor * (1 / size) for tensor, size in zip(psi, sizes, strict=True)]
    (square,), log_scale = sandwich(tensors, None, tensors)
    if not value_of(square).real > 0:
        raise ArgumentError("the state has norm zero: it cannot be normalised")
    factor = np.exp(-(np.log(square.real) + log_scale) / (2 * len(psi)))
    return type(psi)([tensor * factor.astype(tensor.real.dtype) for tensor in tensors])
