"""Fermions on qubits: the maps of Jordan and Wigner and of Bravyi and Kitaev, and excitations of coupled clusters.

Qubits hold sums modulo two of occupation numbers, ``b = B n`` with a matrix B of zeros and ones (J. T. Seeley, M. J.
Richard, P. J. Love, J. Chem. Phys. 137, 224109 (2012)).  To annihilate mode j is to flip all qubits that hold it
(column j of B), with the sign ``(-1)^(n_0 + ... + n_(j-1))``, where ``n_j = 1``; every ``(-1)^(n_k)`` is a product of
Z on the qubits of row k of the inverse of B.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.observables.pauli import PauliSum
from qad.core.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, TypeAlias

    from qad.circuit.program.circuit import Circuit
    from qad.typing import ArrayLike, Number

    Terms: TypeAlias = Mapping[Any, Number] | Iterable[tuple[Any, Number]]

ENCODINGS = ("jordan_wigner", "bravyi_kitaev")


def jordan_wigner(terms: Terms, n: int | None = None) -> PauliSum:
    """A sum of products of fermionic operators as a Pauli sum; qubit j holds the occupation of mode j.

    Parameters
    ----------
    terms : dict of product to number, or list of (product, number)
        A product is a string such as "2^ 0", modes from left to right and "^" behind those that are created, or a
        sequence of (mode, 1 to create or 0 to annihilate), or "" for 1.  The ``terms`` of an operator of OpenFermion
        are such a dict.  Coefficients are numbers or Tensors without axes.
    n : int, optional
        How many modes there are; by default all up to the highest that is named.

    Returns
    -------
    PauliSum

    Raises
    ------
    ArgumentError
        For what is no product, and for modes that are not among n.

    Examples
    --------
    >>> import qad
    >>> qad.circuit.jordan_wigner({"0^ 1": 1.0, "1^ 0": 1.0})
    0.5 YY + 0.5 XX
    >>> qad.circuit.jordan_wigner({"1^ 1": 1.0})
    0.5 II + -0.5 IZ
    """
    return encoded(terms, n, "jordan_wigner")


def bravyi_kitaev(terms: Terms, n: int | None = None) -> PauliSum:
    """A sum of products of fermionic operators as a Pauli sum, by a tree of partial sums of occupations.

    Parameters
    ----------
    terms, n
        As of `jordan_wigner`.

    Returns
    -------
    PauliSum
        Each operator acts on O(log n) qubits.

    Raises
    ------
    ArgumentError
        As `jordan_wigner`.

    Examples
    --------
    >>> import qad
    >>> qad.circuit.bravyi_kitaev({"3^ 3": 1.0})
    0.5 IIII + -0.5 IZZZ
    """
    return encoded(terms, n, "bravyi_kitaev")


def encoded(terms: Terms, n: int | None, encoding: str) -> PauliSum:
    """The Pauli sum of products of fermionic operators."""
    pairs = [(product_of(key), c) for key, c in (terms.items() if hasattr(terms, "items") else terms)]
    highest = max((mode for product, _ in pairs for mode, _ in product), default=0)
    n = highest + 1 if n is None else n
    if highest >= n:
        raise ArgumentError(f"there is no mode {highest} among {n}; they are numbered from 0 to {n - 1}")
    total = PauliSum({"I" * n: 0.0})
    for product, c in pairs:
        found = PauliSum({"I" * n: 1.0})
        for mode, created in product:
            found = found @ ladder(n, mode, created, encoding)
        total = total + c * found
    c = total.coefficients
    return PauliSum._of(total.strings, c.real) if type(c) is np.ndarray and not np.any(c.imag) else total


def product_of(key: Any) -> tuple[tuple[int, int], ...]:
    """A product of operators as pairs of a mode and whether it is created."""
    try:
        if isinstance(key, str):
            key = [(part.removesuffix("^"), part.endswith("^")) for part in key.split()]
        found = tuple((int(mode), int(created)) for mode, created in key)
    except (TypeError, ValueError):
        found = ((-1, 0),)
    if any(mode < 0 or created not in (0, 1) for mode, created in found):
        raise ArgumentError(f"a product of fermionic operators is written '2^ 0' or [(2, 1), (0, 0)], not {key!r}")
    return found


@lru_cache(maxsize=1024)
def ladder(n: int, mode: int, created: int, encoding: str) -> PauliSum:
    """The operator that creates or annihilates one mode of n."""
    matrix, inverse = encoding_of(n, encoding)
    flips = "".join("IX"[bit] for bit in matrix[:, mode])
    sign = "".join("IZ"[bit] for bit in inverse[:mode].sum(0) % 2)
    own = "".join("IZ"[bit] for bit in inverse[mode])
    occupied = PauliSum([("I" * n, 0.5), (own, 0.5 if created else -0.5)])  # the mode is empty, or full, before
    return PauliSum({flips: 1.0}) @ PauliSum({sign: 1.0}) @ occupied


@lru_cache(maxsize=64)
def encoding_of(n: int, encoding: str) -> tuple[np.ndarray, np.ndarray]:
    """The matrix B of an encoding, and its inverse, modulo two."""
    if encoding not in ENCODINGS:
        raise ArgumentError(f"an encoding is {' or '.join(map(repr, ENCODINGS))}, not {encoding!r}")
    matrix = np.eye(1, dtype=int)
    while encoding == "bravyi_kitaev" and len(matrix) < n:
        lower = np.zeros_like(matrix)
        lower[-1] = 1  # the last qubit of twice as many holds the sum of all
        matrix = np.block([[matrix, np.zeros_like(matrix)], [lower, matrix]])
    matrix = matrix[:n, :n] if encoding == "bravyi_kitaev" else np.eye(n, dtype=int)
    return matrix, np.rint(np.linalg.inv(matrix)).astype(int) % 2


# -- layers of gates -----------------------------------------------------------------------------


def cluster_excitations(modes: int, electrons: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Single and double excitations of a determinant that keep the spin; even modes are up, odd ones down.

    Parameters
    ----------
    modes : int
    electrons : int
        The first modes are occupied.

    Returns
    -------
    list of (occupied modes, empty modes)

    Raises
    ------
    ArgumentError
        For more electrons than modes.

    Examples
    --------
    >>> import qad
    >>> qad.circuit.cluster_excitations(4, 2)
    [((0,), (2,)), ((1,), (3,)), ((0, 1), (2, 3))]
    """
    if not 0 <= electrons <= modes:
        raise ArgumentError(f"{modes} modes hold 0 to {modes} electrons, not {electrons}")
    full, empty = range(electrons), range(electrons, modes)
    pairs = [(a, b) for k in (1, 2) for a in combinations(full, k) for b in combinations(empty, k)]
    return [(a, b) for a, b in pairs if sum(q % 2 for q in a) == sum(q % 2 for q in b)]


def coupled_cluster(
    circuit: Circuit,
    theta: ArrayLike,
    excitations: Sequence[tuple[Sequence[int], Sequence[int]]],
    encoding: str = "jordan_wigner",
) -> Circuit:
    """Apply the exponentials ``exp(theta_k (T_k - T_k^H))`` of unitary coupled clusters; returns the circuit.

    Parameters
    ----------
    circuit : Circuit
    theta : real array or Tensor (K,)
    excitations : sequence of K (occupied modes, empty modes)
        T annihilates the former and creates the latter: ``T = a_b1^ a_b2^ a_o2 a_o1``.
    encoding : str
        "jordan_wigner" or "bravyi_kitaev".

    Returns
    -------
    Circuit

    Raises
    ------
    ArgumentError
        If there is not one angle for each excitation, or an excitation names a mode twice.

    Notes
    -----
    The strings of one excitation commute, so that each exponential is exact; one after the other they are a Trotter
    step of the exponential of their sum.

    Examples
    --------
    >>> import numpy as np, qad
    >>> c = qad.Circuit(4).x([0, 1])
    >>> c = qad.circuit.coupled_cluster(c, np.array([0.3]), [((0, 1), (2, 3))])
    >>> c.probabilities()[0, 0, 1, 1].round(6) == (np.sin(0.3) ** 2).round(6)
    np.True_
    """
    theta = theta if hasattr(theta, "shape") else np.asarray(theta)
    if theta.shape[-1:] != (len(excitations),):
        raise ArgumentError(
            f"coupled_cluster takes an angle for each of {len(excitations)} excitations, not {theta.shape}"
        )
    for k, (full, empty) in enumerate(excitations):
        for string, c in strings_of_excitation(circuit.n, tuple(full), tuple(empty), encoding):
            on = [q for q, letter in enumerate(string) if letter != "I"]
            circuit.exp_pauli(-2 * c * theta[..., k], "".join(string[q] for q in on), on)
    return circuit


@lru_cache(maxsize=1024)
def strings_of_excitation(
    n: int, full: tuple[int, ...], empty: tuple[int, ...], encoding: str
) -> tuple[tuple[str, float], ...]:
    """The strings and real numbers c of ``T - T^H = i sum c P``."""
    if set(full) & set(empty) or len(set(full)) != len(full) or len(set(empty)) != len(empty) or not full or not empty:
        raise ArgumentError(f"an excitation leads from some modes to others, not from {full} to {empty}")
    there = [*((q, 1) for q in empty), *((q, 0) for q in reversed(full))]
    back = [(q, 1 - created) for q, created in reversed(there)]
    found = encoded([(there, 1.0), (back, -1.0)], n, encoding)
    return tuple((string, float(np.imag(c))) for string, c in found.terms.items())


def hardware_efficient(circuit: Circuit, theta: ArrayLike, ring: bool = False) -> Circuit:
    """Apply layers of RY and RZ on every qubit, each with CNOTs of neighbours behind it; returns the circuit.

    Parameters
    ----------
    circuit : Circuit
    theta : real array or Tensor (..., layers, 2, n)
        Angles of RY, and then of RZ; leading axes are a batch.
    ring : bool
        Whether the last qubit controls the first, too.

    Returns
    -------
    Circuit

    Raises
    ------
    ArgumentError
        For angles of another shape.

    Examples
    --------
    >>> import numpy as np, qad
    >>> print(qad.circuit.hardware_efficient(qad.Circuit(2), np.full((1, 2, 2), 0.1)))
    q0: ─RY(0.1)──RZ(0.1)──●─
                           │
    q1: ─RY(0.1)──RZ(0.1)──⊕─
    """
    theta, n = theta if hasattr(theta, "shape") else np.asarray(theta), circuit.n
    if theta.ndim < 3 or theta.shape[-2:] != (2, n):
        raise ArgumentError(f"hardware_efficient takes angles (..., layers, 2, {n}), not of shape {theta.shape}")
    for layer in range(theta.shape[-3]):
        circuit.ry(theta[..., layer, 0, :], range(n)).rz(theta[..., layer, 1, :], range(n))
        if n > 1:
            circuit.cx(range(n - 1), range(1, n))
        if ring and n > 2:
            circuit.cx(n - 1, 0)
    return circuit
