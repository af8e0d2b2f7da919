"""Checks of arguments; the messages say what to write instead."""

from __future__ import annotations

import os
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, GradientTypeError, ShapeError
from qad.extend import stack_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from qad.typing import Array, ArrayLike, DTypeLike


BITS: dict[Any, int] = {0: 0, 1: 1, "0": 0, "1": 1}


def check_count(n: Any, what: str = "a circuit") -> int:
    """`n` as an int, if it is a positive whole number."""
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise ArgumentError(f"{what} needs a positive whole number of qubits, as in qad.Circuit(3), but got {n!r}")
    return int(n)


def check_circuit(circuit: Any, call: str) -> None:
    """Raise unless the first argument of a function is a circuit; `call` shows how it is called."""
    if not hasattr(circuit, "operations"):
        raise ArgumentError(f"a circuit comes first, not {type(circuit).__name__}: {call}")


def check_initial(initial: Any, n: int) -> Any:
    """An initial state of n qubits: a matrix product state, or an array, the last axes of which are its own."""
    from qad.mps.chain.state import MPS

    if isinstance(initial, MPS):
        if initial.conserved is not None:
            raise ArgumentError("a circuit begins in an ordinary chain: initial=psi.without_symmetry()")
        if initial.periodic or initial.phys != (2,) * n:
            raise ShapeError(
                f"an initial MPS of {n} qubits is open, with {n} sites of dimension 2 (psi.opened() opens a ring), not "
                f"{initial!r}"
            )
        return initial
    initial = initial if hasattr(initial, "shape") else np.asarray(initial)
    if initial.shape[-n:] != (2,) * n and initial.shape[-1:] != (2**n,):
        raise ShapeError(
            f"an initial state of {n} qubits is an MPS, or has shape (..., {'2, ' * n}) or (..., {2**n}), not "
            f"{initial.shape}"
        )
    return initial


def check_qubits(qubits: Iterable[Any], n: int, what: str) -> tuple[int, ...]:
    """`qubits` as a tuple of ints, if they are different qubits of n."""
    if isinstance(qubits, (str, set, frozenset, dict)) or not np.iterable(qubits):
        raise ArgumentError(f"{what}: qubits are a sequence of whole numbers, such as [0, 1], not {qubits!r}")
    found = []
    for q in qubits:
        if isinstance(q, (bool, np.bool_)) or not hasattr(q, "__index__"):
            raise ArgumentError(f"{what}: a qubit is a whole number from 0 to {n - 1}, not {q!r} (angles come first)")
        q = q.__index__()
        if not 0 <= q < n:
            raise ArgumentError(f"{what}: there is no qubit {q} among {n}; they are numbered from 0 to {n - 1}")
        found.append(q)
    if len(set(found)) < len(found):
        raise ArgumentError(f"{what}: a qubit is repeated in {tuple(found)}: name different ones, as in cx(0, 1)")
    return tuple(found)


def check_bits(bits: Any, count: int, what: str) -> tuple[int, ...]:
    """`bits` as a tuple of ints, if it is a string or sequence of `count` zeros and ones."""
    row = bits.tolist() if hasattr(bits, "tolist") else bits
    try:
        found = () if isinstance(row, (set, frozenset, dict)) else tuple(BITS.get(bit, -1) for bit in row)
    except TypeError:  # no sequence, or one of sequences
        found = (-1,)
    if -1 in found or len(found) != count:
        raise ArgumentError(f"{what} by {count} bits, such as '{('01' * count)[:count]}', not {bits!r}")
    return found


def check_values(values: Any, count: int, what: str) -> tuple[int, ...]:
    """`count` bits: as `check_bits` has them, or one for all."""
    several = np.ndim(values) or isinstance(values, str)
    return check_bits(values if several else [values] * count, count, what)


def as_column(q: Any) -> Any:
    """One qubit as it is, several of them as a range or tuple."""
    return q if type(q) in (int, range, tuple) or np.ndim(q) == 0 else tuple(q)


def check_program(program: Any) -> None:
    """Raise where the name of a file stands for its text."""
    named = isinstance(program, str) and program.strip() and not any(x in program for x in (";", "\n", "OPENQASM"))
    if named or not isinstance(program, str):
        raise ArgumentError(
            f"from_qasm takes the text of a program, not {program!r}: for a file write "
            "from_qasm(pathlib.Path(name).read_text())"
        )


def check_angle(x: ArrayLike, what: str) -> Array:
    """`x` as float64, which is what kernels read, if it is real: a number, an array or a Tensor."""
    if not hasattr(x, "dtype"):
        x = np.asarray(x)
    if x.dtype.kind in "OSU":
        raise GradientTypeError(
            f"{what}: an angle is a number, an array or a Tensor, not {x.tolist()!r}: circuits have no named "
            f"parameters; write a function of theta that builds the circuit with c.{what}(theta, qubit)"
        )
    if x.dtype.kind not in "fiu":
        raise GradientTypeError(f"{what}: angles are real numbers, not {x.dtype}: write angle.real")
    return x if x.dtype == np.float64 else x.astype(float)


def check_stack(matrices: Any, what: str) -> Array:
    """Matrices of numbers of one shape as one array."""
    try:
        given = matrices if hasattr(matrices, "shape") else list(matrices)
        several = [u if hasattr(u, "shape") else np.asarray(u) for u in given]
        stack = given if hasattr(given, "shape") else np.stack(several)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"{what} takes matrices of one shape, one or more, not {matrices!r}") from error
    return check_numbers(stack, what)


def check_numbers(array: Array, what: str) -> Array:
    """`array`, if it holds numbers."""
    if array.dtype.kind not in "biufc":
        raise ArgumentError(f"{what} takes matrices of numbers, not of dtype {array.dtype}")
    return array


def check_matrix(u: ArrayLike, k: int, what: str) -> Array:
    """`u` if it is a matrix on k qubits, or a stack of them."""
    u = u if hasattr(u, "shape") else np.asarray(u)
    if u.ndim < 2 or u.shape[-2:] != (2**k, 2**k):
        raise ShapeError(f"{what}: a matrix on {k} qubits has shape {(2**k, 2**k)}, not {u.shape}")
    check_numbers(u, what)
    if not np.all(np.isfinite(stack_of(u))):
        raise ArgumentError(f"{what}: the matrix has entries that are not finite")
    return u


def check_norm(norm2: Array) -> Array:
    """Squared norms of states, if they are positive and finite."""
    sizes = stack_of(norm2)
    if not np.all((sizes > 0) & (sizes < np.inf)):
        raise ArgumentError("the state is zero or not finite: it has no variance and no entropy")
    return norm2


@lru_cache(maxsize=256)
def check_memory(n: int, dtype: DTypeLike, what: str = "a state", squared: bool = False, copies: int = 1) -> None:
    """Raise before an array of 2**n (or 4**n) entries is allocated that cannot fit."""
    exponent = 2 * n if squared else n
    needed = copies * np.dtype(dtype).itemsize * 2.0 ** min(exponent, 900)
    limit = memory()
    if needed > limit or exponent > 60:
        raise ArgumentError(
            f"{what} of {n} qubits takes {readable(needed)} "
            f"({copies} x 2**{exponent} x {np.dtype(dtype).itemsize} bytes), but this machine has {readable(limit)}: "
            "use fewer qubits, or dtype=np.complex64 for half of it"
        )


@cache
def memory() -> float:
    """The machine's memory in bytes."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):  # no POSIX: let NumPy find out
        return float("inf")


def readable(size: float) -> str:
    """A number of bytes as people write it."""
    units = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")
    power = min(int(np.log2(max(size, 1)) // 10), len(units) - 1)
    return f"{size / 1024**power:.3g} {units[power]}"


def amplitudes_of(chain: Any) -> Array:
    """The amplitudes of an MPS in which a circuit begins, if they are few enough to be written out."""
    if len(chain) > 28:
        raise ArgumentError(
            f"the amplitudes of {len(chain)} qubits are not written out of a chain: c.mps(bond=...) has the final "
            "state as a chain, and its .expectation(H) and .sample(shots)"
        )
    return chain.to_dense()
