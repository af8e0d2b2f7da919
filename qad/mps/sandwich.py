"""Sandwiches ``<bra| H |ket>`` by one sweep from the left, shaped for matrix products.

The environment of the sites already swept (`qad.mps.environments`) is a matrix, its legs (operator, ket) as one.  A
periodic chain carries the legs where it was opened as a leading axis; it is closed by a trace at the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import any_traced, like, stack_of, value_of
from qad.mps.environments import acted, adjoint, operator_matrix
from qad.mps.scales import evened, within_range

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from qad.mps.chain import C, SiteTensors
    from qad.typing import Array, DTypeLike

SITES_PER_SCALING = 4


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
    start = opened(outer, np.result_type(bra[0].dtype, ket[0].dtype, np.float32), like(bra[0], ket[0]))
    environment, log_scale, in_range = swept(start, bra, operators, ket)
    if not in_range:
        (bra, one), (ket, two) = evened(bra), evened(ket)
        between = None if operators is None else evened([matrix for matrix, _, _ in operators])
        if between is not None:
            operators = [(matrix, *row[1:]) for matrix, row in zip(between[0], operators, strict=True)]
        environment, log_scale, _ = swept(start, bra, operators, ket)
        log_scale = log_scale + (one + two + (0 if between is None else between[1])) * np.log(2.0)
    return closed(environment, outer, channels), log_scale


def swept(
    environment: Array, bra: SiteTensors, operators: Sequence[tuple[Array, int, int]] | None, ket: SiteTensors
) -> tuple[Array, Any, bool]:
    """The environment of all sites, the logarithm that was taken out, and whether nothing left the range of floats."""
    log_scale, in_range = 0.0, True
    with np.errstate(over="ignore", invalid="ignore"):
        for site, tensor in enumerate(ket):
            operator = None if operators is None else operators[site]
            environment = adjoint(bra[site]) @ acted(environment, tensor, operator)
            if site % SITES_PER_SCALING == SITES_PER_SCALING - 1:
                before = environment
                environment, log_scale = scaled(environment, log_scale)
                in_range = in_range and environment is not before
        size = np.linalg.norm(stack_of(environment).ravel())
    return environment, log_scale, in_range and (any_traced(size) or 0 < size < np.inf)


def product(bra: SiteTensors, ket: SiteTensors) -> tuple[Array, Any]:
    """``<bra|ket>`` as a number and the logarithm of a factor."""
    (value,), log_scale = sandwich(bra, None, ket)
    return value, log_scale


def inner(bra: SiteTensors, ket: SiteTensors) -> Array:
    """``<bra|ket>``."""
    if len(bra) != len(ket) or any(a.shape[1] != b.shape[1] for a, b in zip(bra, ket, strict=True)):
        raise ShapeError("states of different sites have no overlap: lengths and physical dimensions must agree")
    (value,), log_scale = sandwich(bra, None, ket)
    return within_range(value, log_scale, "the overlap", tiny=False)


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
