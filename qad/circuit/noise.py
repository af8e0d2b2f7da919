"""Circuits with channels, measurements and conditions between their gates, as density matrices.

A density matrix on n qubits is a state on 2n, rows first: a gate acts on the rows and its complex conjugate on the
columns, a channel as the matrix ``sum_k K_k (x) conj(K_k)`` on both.  A classical bit is one more axis: the density
matrices of all values of the bits stand side by side, a measurement writes from the qubit's axes to the bit's, and a
condition is a control.  So everything that holds for states, the gradient included, holds for density matrices.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from qad.circuit.builder import Builder
from qad.circuit.checks import check_memory, check_qubits
from qad.circuit.circuit import Circuit
from qad.circuit.engines import engine_of
from qad.circuit.gates import GATES, Gate, constant, given
from qad.circuit.ir import Operation
from qad.circuit.observables import apply_any, as_observable, hermitian
from qad.circuit.pauli import PauliSum
from qad.core.errors import ArgumentError, ShapeError
from qad.extend import value_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Self

    from qad.circuit.observables import Observable
    from qad.circuit.trajectories import Trajectories
    from qad.typing import Array, ArrayLike, DTypeLike, Seed

MOST_BITS = 62  # as many as an integer holds beside its sign


class NoisyCircuit(Builder):
    """A circuit with channels, measurements, resets and classical conditions between its gates.

    Gates are methods, as of `qad.Circuit`.  What is asked of it is exact, by the density matrix of 4**n entries, once
    for each value of the classical bits; `trajectories` draws pure states instead.

    Parameters
    ----------
    n : int
    bits : int
        How many classical bits there are, all 0 at the beginning.
    dtype, engine
        As of `qad.Circuit`.

    Attributes
    ----------
    n, bits : int
    circuit : Circuit
        The circuit on 2n + bits qubits whose state is the density matrix for each value of the bits.

    Examples
    --------
    >>> import numpy as np, qad
    >>> c = qad.circuit.NoisyCircuit(2).h(0).cx(0, 1).channel(qad.circuit.depolarizing(0.1), 0)
    >>> c.expectation("ZZ").round(6), c.purity().round(6)
    (np.float64(0.866667), np.float64(0.813333))

    A state is teleported, with two measurements and two conditions:

    >>> c = qad.circuit.NoisyCircuit(3, bits=2).ry(0.3, 0).h(1).cx(1, 2)
    >>> c = c.cx(0, 1).h(0).measure([0, 1], into=[0, 1]).if_(1, "x", 2).if_(0, "z", 2)
    >>> c.expectation("IIX").round(6) == np.sin(0.3).round(6)
    np.True_
    """

    __slots__ = ("bits",)
    STORED = (*Builder.STORED, "bits")
    noisy: ClassVar[bool] = True

    def __init__(self, n: int, bits: int = 0, dtype: DTypeLike = complex, engine: str = "auto"):
        super().__init__(n)
        if isinstance(bits, bool) or not isinstance(bits, (int, np.integer)) or not 0 <= bits <= MOST_BITS:
            raise ArgumentError(f"bits is the number of classical bits, from 0 to {MOST_BITS}, not {bits!r}")
        self.bits, self.initial, self.dtype, self.engine = int(bits), None, np.dtype(dtype), engine
        if self.dtype not in (np.complex128, np.complex64):
            raise ArgumentError(f"a circuit's dtype is complex128 or complex64, not {self.dtype}")
        engine_of(engine)

    def copy(self) -> Self:
        """A circuit of the same operations, which may be changed independently."""
        other = super().copy()
        other.bits = self.bits
        return other

    def append(self, circuit: Builder) -> Self:
        """Apply all operations of a circuit on n qubits; returns self."""
        if circuit.n != self.n:
            raise ArgumentError(f"a circuit of {circuit.n} qubits does not act on {self.n}")
        return self._extend(circuit)

    # -- what no gate does -----------------------------------------------------------------------

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
            raise ArgumentError(
                f"a channel keeps the trace, but sum K^H K differs from 1 by {error:.1e}: the probabilities of its "
                "Kraus matrices do not add up"
            )
        self.matrices.append(kraus)
        return self._append(Operation(given(len(qubits), False, "channel"), qubits, given=len(self.matrices) - 1))

    def measure(self, qubits: int | Sequence[int], into: int | Sequence[int] | None = None) -> Self:
        """Measure qubits in the computational basis; returns self.

        Parameters
        ----------
        qubits : int or sequence of int
        into : int or sequence of int, optional
            The classical bits that hold the outcomes; by default these are forgotten.

        Raises
        ------
        ArgumentError
            For qubits or bits that are not there, and where there is not one bit for each qubit.

        Examples
        --------
        >>> import qad
        >>> qad.circuit.NoisyCircuit(1, bits=1).h(0).measure(0, into=0).bit_probabilities().round(3)
        array([0.5, 0.5])
        """
        qubits = check_qubits(several(qubits), self.n, "measure")
        bits = (None,) * len(qubits) if into is None else self._check_bits(several(into), "measure")
        if len(bits) != len(qubits):
            raise ArgumentError(f"measure: {len(qubits)} qubits need as many bits, not {bits}")
        for q, bit in zip(qubits, bits, strict=True):
            self._append(Operation(given(1, False, "measure"), (q,), into=bit))
        return self

    def reset(self, *qubits: int) -> Self:
        """Put qubits to 0, whatever they are entangled with; returns self.

        Examples
        --------
        >>> import qad
        >>> qad.circuit.NoisyCircuit(2).h(0).cx(0, 1).reset(0).probabilities().round(3)
        array([[0.5, 0.5],
               [0. , 0. ]])
        """
        for q in check_qubits(qubits, self.n, "reset"):
            self._append(Operation(given(1, False, "reset"), (q,)))
        return self

    def if_(
        self,
        bits: int | Sequence[int],
        gate: str | Callable[[Self], Any],
        *args: Any,
        equals: int | Sequence[int] = 1,
    ) -> Self:
        """Apply a gate where classical bits have given values; returns self.

        Parameters
        ----------
        bits : int or sequence of int
        gate : str or callable
            The name of a gate, "reset" included, or a function that is given the circuit and adds to it.
        *args : angles, then qubits
            Of a gate that is named.
        equals : int or sequence of int
            The value, 0 or 1, of each bit; one for all.

        Raises
        ------
        ArgumentError
            For bits that are not there, values that are no bits, and a condition on a bit that is written under it.

        Examples
        --------
        >>> import qad
        >>> c = qad.circuit.NoisyCircuit(2, bits=1).h(0).measure(0, into=0).if_(0, "x", 1)
        >>> c.if_(0, lambda c: c.rz(0.1, 0).h(0), equals=0).probabilities().round(3)
        array([[0.25, 0.  ],
               [0.25, 0.5 ]])
        """
        bits = self._check_bits(several(bits), "if_")
        values = several(equals) * (len(bits) if np.ndim(equals) == 0 else 1)
        if len(values) != len(bits) or not set(values) <= {0, 1}:
            raise ArgumentError(f"if_: equals is 0 or 1, for each of the bits {bits}, not {equals!r}")
        first = len(self.operations)
        if not isinstance(gate, str):
            gate(self)
        elif gate == "reset":
            self.reset(*args)
        else:
            self.gate(gate, *args)
        when = tuple(zip(bits, map(int, values), strict=True))
        if {o.into for o in self.operations[first:]} & set(bits):
            del self.operations[first:]
            raise ArgumentError("if_: a measurement writes a bit of its own condition: measure into another bit")
        self.operations[first:] = [o._replace(when=o.when + when) for o in self.operations[first:]]
        return self

    def _check_bits(self, bits, what):
        """Classical bits, if they are there and different."""
        if self.bits == 0:
            raise ArgumentError(f"{what}: the circuit has no classical bits: write NoisyCircuit({self.n}, bits=...)")
        for bit in bits:
            if isinstance(bit, bool) or not hasattr(bit, "__index__") or not 0 <= bit < self.bits:
                raise ArgumentError(
                    f"{what}: there is no classical bit {bit!r} among {self.bits}; they are numbered from 0 to "
                    f"{self.bits - 1}, and NoisyCircuit({self.n}, bits=...) says how many there are"
                )
        if len(set(bits)) < len(bits):
            raise ArgumentError(f"{what}: a bit is repeated in {bits}")
        return tuple(int(bit) for bit in bits)

    # -- as a density matrix ---------------------------------------------------------------------

    @property
    def circuit(self) -> Circuit:
        """The circuit on 2n + bits qubits whose state is the density matrix for each value of the bits."""
        check_memory(2 * self.n + self.bits, self.dtype, "a density matrix (trajectories take 2**n entries each)")
        found = Circuit(2 * self.n + self.bits, dtype=self.dtype, engine=self.engine)
        found._chunks, found._size = self._chunks, self._size
        channels = {o.given for o in self.operations if o.gate.name == "channel"}
        found.matrices = [both(u) if i in channels else u for i, u in enumerate(self.matrices)]
        found.operations = list(doubled(self.n, tuple(self.operations)))
        return found

    def _blocks(self):
        """The density matrices (2**n, 2**n, 2**bits), each times the probability of its bits."""
        circuit = self.circuit
        state = circuit.state()
        if state.ndim > circuit.n:
            raise ShapeError("a noisy circuit has no batches of angles: call it for one example, under qad.vmap")
        return state.reshape(2**self.n, 2**self.n, 2**self.bits)

    def density_matrix(self) -> Array:
        """The density matrix (2**n, 2**n), qubit 0 most significant, whatever the classical bits are."""
        return self._blocks().sum(-1)

    def probabilities(self) -> Array:
        """The probabilities of all outcomes, a tensor (2, ..., 2)."""
        return np.diagonal(self.density_matrix()).real.reshape((2,) * self.n)

    def bit_probabilities(self) -> Array:
        """The probabilities of all values of the classical bits, a tensor (2, ..., 2), bit 0 leftmost."""
        return np.trace(self._blocks()).real.reshape((2,) * self.bits)

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

    # -- as pure states --------------------------------------------------------------------------

    def trajectories(self, shots: int, seed: Seed = 0) -> Trajectories:
        """Draw pure states: each channel and measurement takes one of its Kraus matrices, by its probability.

        Parameters
        ----------
        shots : int
            How many trajectories.
        seed : int or numpy.random.Generator

        Returns
        -------
        Trajectories
            With ``.states``, ``.bits``, ``.sample()``, ``.values(H)``, and ``.expectation(H)``, which has a gradient.

        Raises
        ------
        ArgumentError
            For operators that are not unitary, and for states that do not fit into memory.

        Notes
        -----
        Quantum jumps: ``K_k psi / |K_k psi|`` follows ``psi`` with probability ``|K_k psi|^2`` (K. Mølmer, Y. Castin,
        J. Dalibard, J. Opt. Soc. Am. B 10, 524 (1993)).  Trajectories whose jumps so far are the same are one state,
        which is computed once.

        Examples
        --------
        >>> import numpy as np, qad
        >>> c = qad.circuit.NoisyCircuit(2).ry(0.3, 0).cx(0, 1).channel(qad.circuit.amplitude_damping(0.4), 1)
        >>> found = c.trajectories(2000, seed=1)
        >>> abs(found.expectation("ZI") - np.cos(0.3)) < 5 * found.error("ZI")
        np.True_
        """
        from qad.circuit.trajectories import Trajectories

        return Trajectories(self, shots, seed)

    def __repr__(self) -> str:
        return f"NoisyCircuit({self.n} qubits, {self.bits} bits, {len(self.operations)} operations)"


def several(x: Any) -> tuple[Any, ...]:
    """One or several things as a tuple."""
    return (x,) if np.ndim(x) == 0 else tuple(x)


def both(kraus: Array) -> Array:
    """The matrix of a channel on rows and columns."""
    d = kraus.shape[-1]
    return np.einsum("kab,kcd->acbd", kraus, kraus.conj()).reshape(d * d, d * d)


def on_both(name: str, qubits: int, matrix: np.ndarray) -> Gate:
    """A step of density matrices that is always the same."""
    return Gate(name, qubits, 0, constant(matrix), unitary=False)


FORGOTTEN: Gate = on_both("forget", 2, np.diag([1.0, 0.0, 0.0, 1.0]))
RESET: Gate = on_both("reset", 2, np.outer([1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 1.0]))
WRITTEN: Gate = on_both(  # of qubit, column and bit: equal values of the first two are written over the third
    "measure",
    3,
    sum(np.kron(np.diag(np.eye(4)[3 * k]), np.outer(np.eye(2)[k], [1.0, 1.0])) for k in (0, 1)),
)


@lru_cache(maxsize=256)
def doubled(n: int, operations: tuple[Operation, ...]) -> tuple[Operation, ...]:
    """The operations on rows, columns and bits that make those of a circuit on n qubits."""
    found = []
    for o in operations:
        wires = (*o.qubits, *(q + n for q in o.qubits))
        flips = [Operation(GATES["x"], (2 * n + bit,)) for bit, value in o.when if not value]
        controls = tuple(2 * n + bit for bit, _ in o.when)
        found += flips
        if o.gate.name == "channel":
            found.append(Operation(given(len(wires), False), wires, controls, given=o.given))
        elif o.gate.name == "reset":
            found.append(Operation(RESET, wires, controls))
        elif o.gate.name == "measure":
            written = o.into is not None
            wires = (*wires, 2 * n + o.into) if written else wires
            found.append(Operation(WRITTEN if written else FORGOTTEN, wires, controls))
        else:
            rows = o._replace(controls=(*o.controls, *controls), when=())
            columns = (*(q + n for q in o.controls), *controls)
            found += [rows, rows._replace(qubits=wires[len(o.qubits) :], controls=columns, conjugate=not o.conjugate)]
        found += flips
    return tuple(found)
