"""Overlaps between circuits, and what a part of the qubits knows: reduced density matrices and entropies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.checks import check_memory, check_norm, check_qubits
from qad.circuit.observables import apply_any
from qad.core.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.circuit.circuit import Circuit
    from qad.circuit.observables import Observable
    from qad.typing import Array


def overlap(a: Circuit, b: Circuit) -> Array:
    """The amplitude ``<a|b>`` between the final states of two circuits; (...) of a batch.

    Parameters
    ----------
    a, b : Circuit
        On equally many qubits; batches broadcast.

    Returns
    -------
    complex scalar or array
        Differentiable in both circuits: its real part, or ``qad.abs2`` of it, is a loss.

    Examples
    --------
    >>> import numpy as np, qad
    >>> a, b = qad.Circuit(1).ry(0.3, 0), qad.Circuit(1).ry(0.7, 0)
    >>> qad.circuit.overlap(a, b).real.round(6), np.cos(0.2).round(6)
    (np.float64(0.980067), np.float64(0.980067))
    """
    return bracket(a, None, b)


def bracket(a: Circuit, observable: Observable | None, b: Circuit) -> Array:
    """The matrix element ``<a|H|b>`` of any operator between the final states of two circuits; (...) of a batch.

    Parameters
    ----------
    a, b : Circuit
        On equally many qubits; batches broadcast.
    observable : PauliSum, Operator, Projector, str, array or None
        None stands for the identity.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.circuit.bracket(qad.Circuit(1), "Y", qad.Circuit(1).x(0))
    np.complex128(-1j)
    """
    for one in (a, b):
        if not hasattr(one, "state"):
            raise ArgumentError(f"an overlap is of two circuits (qad.Circuit), not of {one!r}")
    if a.n != b.n:
        raise ArgumentError(f"circuits of {a.n} and {b.n} qubits have no overlap")
    left, right = a.state(), b.state()
    batch = np.broadcast_shapes(left.shape[: -a.n], right.shape[: -a.n])
    left, right = (x.reshape(*x.shape[: x.ndim - a.n], 2**a.n) for x in (left, right))
    if observable is not None:
        right = apply_any(observable, right.reshape(-1, 2**a.n), a.n).reshape(right.shape)
    return (left.conj() * right).sum(-1).reshape(batch)[()]


def reduced_density(circuit: Circuit, qubits: Sequence[int]) -> Array:
    """The density matrix (..., 2**k, 2**k) of k qubits, the first of them the most significant.

    Parameters
    ----------
    circuit : Circuit
    qubits : sequence of int

    Examples
    --------
    >>> import qad
    >>> qad.circuit.reduced_density(qad.Circuit(2).h(0).cx(0, 1), [1]).real.round(6)
    array([[0.5, 0. ],
           [0. , 0.5]])
    """
    qubits = check_qubits(qubits, circuit.n, "reduced_density")
    check_memory(len(qubits), circuit.dtype, "a density matrix", squared=True)
    rows = split(circuit, qubits)
    return rows @ rows.conj().mT


def split(circuit: Circuit, qubits: Sequence[int]) -> Array:
    """The state as a matrix (..., 2**k, rest): the given qubits against the others."""
    state = circuit.state()
    lead = state.ndim - circuit.n
    others = [q for q in range(circuit.n) if q not in qubits]
    moved = state.transpose(*range(lead), *(lead + q for q in (*qubits, *others)))
    return moved.reshape(*state.shape[:lead], 2 ** len(qubits), -1)


def entropy(circuit: Circuit, qubits: Sequence[int], order: float = 1) -> Array:
    """The entanglement entropy between some qubits and the others in the normalised state, in nats.

    Parameters
    ----------
    circuit : Circuit
    qubits : sequence of int
    order : real
        1 is von Neumann's ``-tr rho log rho``, any other positive number Renyi's ``log(tr rho^order) / (1 - order)``.

    Notes
    -----
    Computed on the smaller side.  Von Neumann's has no derivative where an eigenvalue of rho leaves zero; such
    eigenvalues do not contribute.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.circuit.entropy(qad.Circuit(2).h(0).cx(0, 1), [0]).round(6), np.log(2).round(6)
    (np.float64(0.693147), np.float64(0.693147))
    """
    if not order > 0:
        raise ArgumentError(f"the order of an entropy is a positive number, not {order!r}")
    qubits = check_qubits(qubits, circuit.n, "entropy")
    if 2 * len(qubits) > circuit.n:
        qubits = tuple(q for q in range(circuit.n) if q not in qubits)
    rho = reduced_density(circuit, qubits)
    rho = rho * (1 / check_norm(rho.trace(axis1=-2, axis2=-1).real))[..., None, None]
    if order == 2:
        return -np.log((rho.real**2 + rho.imag**2).sum((-1, -2)))
    p = np.linalg.eigvalsh(rho)
    there = p > 1e-14
    p = np.where(there, p, 1.0)
    if order == 1:
        return -(p * np.log(p)).sum(-1)
    return np.log(np.where(there, p**order, 0.0).sum(-1)) / (1 - order)
