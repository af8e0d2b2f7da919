"""Kraus matrices of common channels."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from qad.circuit import gates
from qad.circuit.checks import check_count, check_matrix, check_stack
from qad.core.errors import ArgumentError
from qad.extend import any_traced, stack_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Array, ArrayLike, RealNumber


def probability(p: ArrayLike, what: str) -> ArrayLike:
    """`p`, if it is a probability, or an array of them."""
    values = np.asarray(stack_of(p)) if not any_traced(p) else np.zeros(())
    if values.dtype.kind not in "fiu" or not ((values >= 0) & (values <= 1)).all():
        raise ArgumentError(f"{what}: a probability lies between 0 and 1, but got {p!r}")
    return p


def depolarizing(p: RealNumber, qubits: int = 1) -> Array:
    """Kraus matrices (4**k, 2**k, 2**k) of the channel that applies one of the Pauli strings other than 1.

    Parameters
    ----------
    p : real
        The probability that one is applied; each is as likely, p / 3 for one qubit and p / 15 for two.
    qubits : int
        The k qubits on which it acts.

    Examples
    --------
    >>> import qad
    >>> qad.circuit.depolarizing(0.3).shape, qad.circuit.depolarizing(0.3, qubits=2).shape
    ((4, 2, 2), (16, 4, 4))
    """
    check_count(qubits, "depolarizing")
    strings = list(map("".join, product("IXYZ", repeat=qubits)))
    root = np.sqrt(probability(p, "depolarizing") / (len(strings) - 1))
    rest = [root * gates.pauli_matrix(string) for string in strings[1:]]
    return np.stack([np.sqrt(1 - p) * np.eye(2**qubits), *rest])


def flip(p: RealNumber, pauli: str = "X") -> Array:
    """Kraus matrices (2, 2, 2) of the channel that applies a Pauli matrix with probability p.

    Parameters
    ----------
    p : real
    pauli : str
        "X" flips bits, "Z" phases, "Y" both.

    Examples
    --------
    >>> import qad
    >>> c = qad.circuit.NoisyCircuit(1).channel(qad.circuit.flip(0.2), 0)
    >>> c.probabilities()
    array([0.8, 0.2])
    """
    if pauli not in ("X", "Y", "Z"):
        raise ArgumentError(f"flip: a Pauli matrix is 'X', 'Y' or 'Z', not {pauli!r}")
    probability(p, "flip")
    return np.stack([np.sqrt(1 - p) * gates.ID, np.sqrt(p) * gates.pauli_matrix(pauli)])


def amplitude_damping(gamma: RealNumber) -> Array:
    """Kraus matrices (2, 2, 2) of the decay of 1 to 0 with probability gamma.

    Examples
    --------
    >>> import qad
    >>> c = qad.circuit.NoisyCircuit(1).x(0).channel(qad.circuit.amplitude_damping(0.25), 0)
    >>> c.probabilities()
    array([0.25, 0.75])
    """
    probability(gamma, "amplitude_damping")
    keep = gates.matrix([[1.0, 0.0], [0.0, np.sqrt(1 - gamma)]])
    return np.stack([keep, gates.matrix([[0.0, np.sqrt(gamma)], [0.0, 0.0]])])


def mixed_unitary(probabilities: ArrayLike, unitaries: Sequence[ArrayLike]) -> Array:
    """Kraus matrices (k, d, d) of the channel that applies one of some unitary matrices.

    Parameters
    ----------
    probabilities : real array (k,)
        They add up to 1.
    unitaries : sequence of k arrays (d, d)

    Raises
    ------
    ArgumentError
        If the probabilities do not add up to 1, or a matrix is not unitary.

    Examples
    --------
    >>> import numpy as np, qad
    >>> swap = np.eye(4)[[0, 2, 1, 3]]
    >>> c = qad.circuit.NoisyCircuit(2).x(0).channel(qad.circuit.mixed_unitary([0.75, 0.25], [np.eye(4), swap]), 0, 1)
    >>> c.probabilities().round(3)
    array([[0.  , 0.25],
           [0.75, 0.  ]])
    """
    p = probabilities if hasattr(probabilities, "shape") else np.asarray(probabilities)
    probability(p, "mixed_unitary")
    if p.shape != (len(unitaries),):
        raise ArgumentError(f"mixed_unitary takes a probability for each of {len(unitaries)} matrices, not {p.shape}")
    total = 1.0 if any_traced(p) else np.asarray(stack_of(p)).sum(-1)
    if not np.all(np.abs(total - 1) < 1e-12):
        raise ArgumentError(f"mixed_unitary: the probabilities add up to {total}, not to 1: divide them by their sum")
    u = check_stack(unitaries, "mixed_unitary")
    u = check_matrix(u, int(u.shape[-1]).bit_length() - 1, "mixed_unitary")
    gates.require_unitary(stack_of(u), "a matrix given to mixed_unitary")
    return np.sqrt(p)[:, None, None] * u
