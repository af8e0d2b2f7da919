"""Kraus channels, and circuits with them as density matrices.

A density matrix on n qubits is a state on 2n, rows first: a gate acts on the rows and its complex conjugate on the
columns, a channel as the matrix ``sum_k K_k (x) conj(K_k)`` on both.  So everything that holds for states, the
gradient included, holds for density matrices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.circuit import gates
from qad.circuit.checks import check_memory, check_qubits
from qad.circuit.circuit import Circuit
from qad.circuit.observables import apply_any, as_observable, hermitian
from qad.circuit.pauli import PauliSum
from qad.core.errors import ArgumentError, ShapeError
from qad.extend import any_traced, stack_of, value_of

if TYPE_CHECKING:
    from typing import Self

    from qad.circuit.observables import Observable
    from qad.typing import Array, ArrayLike, DTypeLike, RealNumber


class NoisyCircuit:
    """A circuit with channels between its gates, simulated by its density matrix of 4**n entries.

    Parameters
    ----------
    n : int
    dtype, engine
        As of `qad.Circuit`.

    Attributes
    ----------
    n : int
    circuit : Circuit
        The circuit on 2n qubits whose state is the density matrix.

    Examples
    --------
    >>> import numpy as np, qad
    >>> c = qad.circuit.NoisyCircuit(2).append(qad.Circuit(2).h(0).cx(0, 1))
    >>> c = c.channel(qad.circuit.depolarizing(0.1), 0)
    >>> c.expectation("ZZ").round(6), c.purity().round(6)
    (np.float64(0.866667), np.float64(0.813333))
    """

    __slots__ = ("n", "circuit")
    n: int
    circuit: Circuit

    def __init__(self, n: int, dtype: DTypeLike = complex, engine: str = "auto"):
        check_memory(n, dtype, "a density matrix", squared=True)
        self.n, self.circuit = n, Circuit(2 * n, dtype=dtype, engine=engine)

    def __copy__(self) -> Self:
        other = object.__new__(type(self))
        other.n, other.circuit = self.n, self.circuit.copy()
        return other

    def append(self, circuit: Circuit) -> Self:
        """Apply the gates of a circuit on n qubits; returns self."""
        if circuit.n != self.n:
            raise ArgumentError(f"a circuit of {circuit.n} qubits does not act on {self.n}")
        shifted = circuit.copy()
        shifted.n, n = 2 * self.n, self.n
        shifted.operations = []
        for o in circuit.operations:
            columns, controls = tuple(q + n for q in o.qubits), tuple(q + n for q in o.controls)
            shifted.operations += [o, o._replace(qubits=columns, controls=controls, conjugate=not o.conjugate)]
        shifted._program = None
        self.circuit = self.circuit + shifted
        return self

    def channel(self, kraus: ArrayLike, *qubits: int) -> Self:
        """Apply the channel ``sum_k K rho K^H`` of Kraus matrices (k, d, d), which may be a Tensor; returns self.

        Raises
        ------
        ArgumentError
            If ``sum_k K^H K`` is not 1.
        """
        qubits = check_qubits(qubits, self.n, "channel")
        kraus = kraus if hasattr(kraus, "shape") else np.stack(list(kraus))
        d = 2 ** len(qubits)
        if kraus.ndim != 3 or kraus.shape[1:] != (d, d):
            raise ShapeError(f"Kraus matrices on {len(qubits)} qubits have shape (k, {d}, {d}), not {kraus.shape}")
        values = np.asarray(value_of(kraus))
        error = np.abs(np.einsum("kab,kac->bc", values.conj(), values) - np.eye(d)).max()
        if not error < 1e-6:
            raise ArgumentError(f"a channel keeps the trace, but sum K^H K differs from 1 by {error:.1e}")
        both = np.einsum("kab,kcd->acbd", kraus, kraus.conj()).reshape(d * d, d * d)
        self.circuit._apply_given(both, (*qubits, *(q + self.n for q in qubits)), (), False)
        return self

    def density_matrix(self) -> Array:
        """The density matrix (2**n, 2**n), qubit 0 most significant."""
        state = self.circuit.state()
        if state.ndim > 2 * self.n:
            raise ShapeError("a noisy circuit has no batches of angles: call it for one example, under qad.vmap")
        return state.reshape(2**self.n, 2**self.n)

    def probabilities(self) -> Array:
        """The probabilities of all outcomes, a tensor (2, ..., 2)."""
        return np.diagonal(self.density_matrix()).real.reshape((2,) * self.n)

    def expectation(self, observable: Observable) -> Array:
        """``tr(rho H)``, real, of any observable of `qad.Circuit.expectation`."""
        observable = as_observable(observable)
        if isinstance(observable, PauliSum):
            hermitian(observable, self.n)
        return np.trace(apply_any(observable, self.density_matrix().T, self.n)).real

    def purity(self) -> Array:
        """``tr(rho^2)``."""
        rho = self.density_matrix()
        return (rho.real**2 + rho.imag**2).sum()


def probability(p: ArrayLike, what: str) -> ArrayLike:
    """`p`, if it is a probability."""
    values = np.asarray(stack_of(p)) if not any_traced(p) else np.zeros(())
    if values.dtype.kind not in "fiu" or not ((values >= 0) & (values <= 1)).all():
        raise ArgumentError(f"{what}: a probability lies between 0 and 1, but got {p!r}")
    return p


def depolarizing(p: RealNumber) -> Array:
    """Kraus matrices (4, 2, 2) of the channel that applies X, Y or Z, each with probability p / 3.

    Examples
    --------
    >>> import qad
    >>> qad.circuit.depolarizing(0.3).shape
    (4, 2, 2)
    """
    root = np.sqrt(probability(p, "depolarizing") / 3)
    return np.stack([np.sqrt(1 - p) * gates.ID, root * gates.X, root * gates.Y, root * gates.Z])


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
    >>> c = qad.circuit.NoisyCircuit(1).append(qad.Circuit(1).x(0)).channel(qad.circuit.amplitude_damping(0.25), 0)
    >>> c.probabilities()
    array([0.25, 0.75])
    """
    probability(gamma, "amplitude_damping")
    keep = gates.matrix([[1.0, 0.0], [0.0, np.sqrt(1 - gamma)]])
    return np.stack([keep, gates.matrix([[0.0, np.sqrt(gamma)], [0.0, 0.0]])])
