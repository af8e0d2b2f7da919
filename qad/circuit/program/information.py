"""Overlaps between circuits, and what a part of the qubits knows: reduced density matrices and entropies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.gates.checks import check_circuit, check_memory, check_norm, check_qubits
from qad.circuit.observables.operators import apply_any
from qad.core.errors import ArgumentError
from qad.extend import Tensor, primitive, rule, stack_of
from qad.mps.measure.spectral_sums import check_order, entropy_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.circuit.noise.noisy import NoisyCircuit
    from qad.circuit.observables.operators import Observable
    from qad.circuit.program.circuit import Circuit
    from qad.typing import Array

UNRESOLVED = 1e-14  # eigenvalues of density matrices below it are taken for zero


@primitive
def once(x: Array) -> Array:
    """The same array, which may be differentiated once."""
    return x.copy()


@primitive
def last(g: Array, x: Array) -> Array:
    """A derivative at `x` that is not differentiated again."""
    return g.copy()


def no_second(*args: Any, **kwargs: Any) -> Any:
    """Refuse the second derivative of an entropy."""
    raise ArgumentError(
        "a Schmidt value is zero, and where it leaves zero the second derivative of this entropy is infinite: order=2 "
        "has one everywhere"
    )


rule(last, no_second, no_second, forward=(no_second, no_second))
rule(once, lambda g, ans, x: last(g, x), forward=lambda t, ans, x: last(t, x))


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


def reduced_density(circuit: Circuit | NoisyCircuit, qubits: Sequence[int]) -> Array:
    """The density matrix (..., 2**k, 2**k) of k qubits, the first of them the most significant.

    Parameters
    ----------
    circuit : Circuit or NoisyCircuit
    qubits : sequence of int

    Examples
    --------
    >>> import qad
    >>> qad.circuit.reduced_density(qad.Circuit(2).h(0).cx(0, 1), [1]).real.round(6)
    array([[0.5, 0. ],
           [0. , 0.5]])
    """
    check_circuit(circuit, "reduced_density(circuit, qubits)")
    qubits = check_qubits(qubits, circuit.n, "reduced_density")
    check_memory(len(qubits), circuit.dtype, "a density matrix", squared=True)
    if circuit.noisy:
        others = [q for q in range(circuit.n) if q not in qubits]
        axes = [*qubits, *others]
        rho = circuit.density_matrix().reshape((2,) * (2 * circuit.n))
        rho = rho.transpose(*axes, *(circuit.n + q for q in axes))
        size = 2 ** len(qubits)
        return np.trace(rho.reshape(size, 2 ** len(others), size, 2 ** len(others)), axis1=1, axis2=3)
    rows = split(circuit, qubits)
    return rows @ rows.conj().mT


def split(circuit: Circuit, qubits: Sequence[int]) -> Array:
    """The state as a matrix (..., 2**k, rest): the given qubits against the others."""
    state = circuit.state()
    lead = state.ndim - circuit.n
    others = [q for q in range(circuit.n) if q not in qubits]
    moved = state.transpose(*range(lead), *(lead + q for q in (*qubits, *others)))
    return moved.reshape(*state.shape[:lead], 2 ** len(qubits), -1)


def entropy(circuit: Circuit | NoisyCircuit, qubits: Sequence[int], order: float = 1) -> Array:
    """The entropy of some qubits in the normalised state, in nats: of a pure one, their entanglement with the others.

    Parameters
    ----------
    circuit : Circuit or NoisyCircuit
    qubits : sequence of int
    order : real
        1 is von Neumann's ``-tr rho log rho``, any other number from 1/2 on, infinity included, Renyi's
        ``log(tr rho^order) / (1 - order)``.

    Raises
    ------
    ArgumentError
        Under a derivative, where an eigenvalue of a noisy circuit's density matrix is zero and the order below 2.

    Notes
    -----
    Of a pure state it is computed on the smaller side, from singular values: where one of them is zero, the first
    derivative is that of the others, and second ones, which are infinite, are refused for orders below 2.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.circuit.entropy(qad.Circuit(2).h(0).cx(0, 1), [0]).round(6), np.log(2).round(6)
    (np.float64(0.693147), np.float64(0.693147))
    """
    check_circuit(circuit, "entropy(circuit, qubits)")
    order = check_order(order)
    qubits = check_qubits(qubits, circuit.n, "entropy")
    if 2 * len(qubits) > circuit.n and not circuit.noisy:
        qubits = tuple(q for q in range(circuit.n) if q not in qubits)
    if circuit.noisy or order == 2:
        rho = reduced_density(circuit, qubits)
        rho = rho * (1 / check_norm(rho.trace(axis1=-2, axis2=-1).real))[..., None, None]
        if order == 2:
            return -np.log((rho.real**2 + rho.imag**2).sum((-1, -2)))
        if order < 2 and type(rho) is Tensor and np.linalg.eigvalsh(stack_of(rho)).min() < UNRESOLVED:
            raise ArgumentError(
                "an eigenvalue of a density matrix is zero, and where it leaves zero the derivative of this entropy is "
                "infinite: order=2 has one everywhere, and fewer qubits may have no such eigenvalue"
            )
        return entropy_of([rho], order, 1.0)
    rows = split(circuit, qubits)
    norm2 = check_norm((rows.real**2 + rows.imag**2).sum((-1, -2)))
    rows = rows * (1 / np.sqrt(norm2))[..., None, None]
    hidden = np.linalg.svd(stack_of(rows), compute_uv=False).min() ** 2 < UNRESOLVED
    rows = once(rows) if type(rows) is Tensor and hidden and order < 2 else rows
    if rows.ndim == 2:
        return entropy_of([rows], order, 2.0)
    batch = rows.shape[:-2]
    return np.stack([entropy_of([one], order, 2.0) for one in rows.reshape(-1, *rows.shape[-2:])]).reshape(batch)
