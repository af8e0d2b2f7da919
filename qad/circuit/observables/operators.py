"""Expectation values of whatever is Hermitian: Pauli sums, matrices, sparse matrices, projectors."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.gates.checks import check_bits, check_matrix, check_numbers, check_qubits
from qad.circuit.observables.apply import energy
from qad.circuit.observables.masks import strings_of
from qad.circuit.observables.pauli import PauliSum
from qad.core.errors import ArgumentError, ShapeError
from qad.extend import defvjp, primitive, stack_of
from qad.rules.products.sparse import kept

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TypeAlias

    from qad.typing import ArrayLike

    Observable: TypeAlias = PauliSum | str | ArrayLike | "Operator" | "Projector"
    from types import ModuleType

    from qad.typing import Array


class Projector:
    """The projector on a computational basis state of some qubits.

    Parameters
    ----------
    bits : str or sequence of int
        The outcome, one bit per qubit.
    qubits : sequence of int, optional
        By default all of them.

    Examples
    --------
    >>> import qad
    >>> qad.Circuit(2).h(0).expectation(qad.circuit.Projector("1", [0])).round(3)
    np.float64(0.5)
    """

    __slots__ = ("bits", "qubits")
    bits: tuple[int, ...]
    qubits: tuple[int, ...]

    def __init__(self, bits: str | Sequence[int], qubits: Sequence[int] | None = None):
        self.qubits = named_or_first(qubits, len(bits) if hasattr(bits, "__len__") else 1)
        count = len(self.qubits)
        self.bits = check_bits(bits, count, f"the outcome of a projector on {count} qubits is named")


class Operator:
    """A Hermitian matrix on some qubits as an observable.

    Parameters
    ----------
    matrix : array or sparse matrix (2**k, 2**k)
        The first qubit is the most significant.  A dense one may be a Tensor.
    qubits : sequence of int, optional
        By default 0 to k-1.

    Raises
    ------
    ArgumentError
        If the matrix is not Hermitian, relative to its largest entry.

    Examples
    --------
    >>> import numpy as np, qad
    >>> swap = np.eye(4)[[0, 2, 1, 3]]
    >>> qad.Circuit(3).x(2).expectation(qad.circuit.Operator(swap, [1, 2]))
    np.float64(0.0)
    """

    __slots__ = ("matrix", "qubits", "sparse")
    matrix: Any
    qubits: tuple[int, ...]
    sparse: bool

    def __init__(self, matrix: Any, qubits: Sequence[int] | None = None):
        self.sparse = hasattr(matrix, "tocsr")
        if self.sparse:
            matrix = kept(matrix.tocsr())  # nobody else can write into it
        else:
            matrix = matrix if hasattr(matrix, "shape") else np.asarray(matrix)
        if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.shape[0]:
            raise ShapeError(f"an observable is a square matrix, not of shape {matrix.shape}")
        check_numbers(matrix, "an observable")
        if self.sparse:
            gap, size = abs(matrix - matrix.conj().T).max(), abs(matrix).max()
        else:
            values = stack_of(matrix)
            gap, size = np.abs(values - values.conj().mT).max(), np.abs(values).max()
        if not gap <= 1e-6 * size:
            raise ArgumentError(
                f"an observable is Hermitian, but |A - A^H| is {gap:.1e}: qad.circuit.bracket(c, A, c) takes any"
            )
        k = int(matrix.shape[0]).bit_length() - 1
        self.matrix = check_matrix(matrix, k, "an observable") if not self.sparse else matrix
        self.qubits = named_or_first(qubits, k)
        if len(self.qubits) != k or matrix.shape[0] != 2**k:
            raise ShapeError(f"a matrix of shape {matrix.shape} does not act on qubits {self.qubits}")


def named_or_first(qubits: Sequence[int] | None, count: int) -> tuple[int, ...]:
    """The qubits that are named, or else the first ones; how many a circuit has is not known yet."""
    return tuple(range(count)) if qubits is None else check_qubits(qubits, sys.maxsize, "an observable")


def as_observable(thing: Any) -> Observable:
    """`thing` as one of the observables above."""
    if isinstance(thing, (PauliSum, Projector, Operator)):
        return thing
    if isinstance(thing, str):
        return PauliSum({thing: 1.0})
    if hasattr(thing, "shape"):
        return Operator(thing)
    raise ArgumentError(
        f"no observable: {thing!r}. Known are qad.PauliSum, a Pauli string, a Hermitian matrix (qad.circuit.Operator "
        "puts it on given qubits) and qad.circuit.Projector"
    )


def expectation(psi: Array, observable: Any, n: int, engine: ModuleType) -> Array:
    """Real expectation values (B,) in states (B, 2**n)."""
    observable = as_observable(observable)
    if isinstance(observable, PauliSum):
        c, strings = hermitian(observable, n), strings_of(observable.strings)
        return energy(c, psi[None], strings=strings, engine=engine, shape=(len(psi),))
    return (psi.conj() * apply_any(observable, psi, n)).sum(-1).real


def act(operator: Operator, psi: Array, n: int) -> Array:
    """A matrix observable on states (B, 2**n)."""
    qubits = check_qubits(operator.qubits, n, "an observable")
    axes = tuple(q + 1 for q in qubits)
    rest = tuple(axis for axis in range(n + 1) if axis not in axes)
    order = rest + axes
    rows = psi.reshape(-1, *(2,) * n).transpose(order)
    rows = rows.reshape(-1, 2 ** len(qubits))
    rows = sparse_product(rows, matrix=operator.matrix) if operator.sparse else rows @ operator.matrix.T
    back = rows.reshape((psi.shape[0], *(2,) * n)).transpose(tuple(np.argsort(order)))
    return back.reshape(psi.shape)


@primitive
def sparse_product(psi: Array, *, matrix: Any) -> Array:
    """A constant sparse matrix times states (B, 2**n)."""
    return np.asarray((matrix @ psi.T).T)


defvjp(sparse_product, lambda g, ans, psi, *, matrix: sparse_product(g, matrix=matrix.T), linear=True)


def hermitian(observable: PauliSum, n: int) -> Array:
    """The real coefficients of a Pauli sum on n qubits."""
    if not isinstance(observable, PauliSum):
        raise ArgumentError(f"a Pauli sum is needed (qad.PauliSum), not {observable!r}")
    if observable.n != n:
        raise ShapeError(
            f"a Pauli sum on {observable.n} qubits is no observable of {n} qubits: make it for as many, as "
            f"PauliSum.on_sites({n}, ...) and jordan_wigner(terms, {n}) do"
        )
    c = observable.coefficients
    if c.dtype.kind == "f":
        return c
    values = stack_of(c)
    if not np.abs(values.imag).max() <= 1e-12 * np.abs(values).max():
        raise ArgumentError(
            "a Pauli sum with complex coefficients is not Hermitian: its expectation value is complex. "
            "qad.circuit.bracket(c, H, c) takes any operator; (H + H.adjoint()) / 2 is the Hermitian part"
        )
    return c.real


def apply_any(observable: Any, psi: Array, n: int) -> Array:
    """Any observable on states (B, 2**n)."""
    observable = as_observable(observable)
    if isinstance(observable, PauliSum):
        if observable.n != n:
            raise ShapeError(f"a Pauli sum on {observable.n} qubits does not act on {n} qubits")
        return observable.apply(psi)
    if isinstance(observable, Projector):
        pattern = np.zeros((2,) * n)
        index = [slice(None)] * n
        for q, bit in zip(check_qubits(observable.qubits, n, "a projector"), observable.bits, strict=True):
            index[q] = bit
        pattern[tuple(index)] = 1.0
        return psi * pattern.reshape(-1)
    return act(observable, psi, n)
