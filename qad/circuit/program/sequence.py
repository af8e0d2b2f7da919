"""A sequence of gates: parameters, copies, inverses and sums of circuits."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from qad.circuit.engines.choice import engine_of
from qad.circuit.gates.checks import check_angle, check_count
from qad.circuit.gates.parameters import joined
from qad.circuit.program.analysis import program_of
from qad.core.errors import ArgumentError, ShapeError

if TYPE_CHECKING:
    from typing import Any, Self

    from qad.circuit.program.ir import Operation
    from qad.mps.chain.state import MPS
    from qad.typing import Array, ArrayLike, DTypeLike


class Sequence:
    """Operations on n qubits, a vector of parameters, and the matrices that users gave."""

    __slots__ = ("n", "operations", "matrices", "initial", "dtype", "engine", "_chunks", "_size", "_program")
    STORED = __slots__[:-1]  # what copies and pickles hold
    DERIVED = ("_program",)  # the analysis, which is found again
    noisy: ClassVar[bool] = False  # whether there may be channels, measurements and conditions
    bits: int = 0
    n: int
    operations: list[Operation]
    matrices: list[Array]
    initial: Array | MPS | None
    dtype: np.dtype[Any]
    engine: str

    def __init__(self, n: int, dtype: DTypeLike, engine: str):
        self.n, self.dtype, self.engine = check_count(n), np.dtype(dtype), engine
        if self.dtype not in (np.complex128, np.complex64):
            raise ArgumentError(f"a circuit's dtype is complex128 or complex64, not {self.dtype}")
        engine_of(engine)
        self.operations, self.matrices, self.initial = [], [], None
        self._chunks, self._size, self._program = [], 0, None

    def _append(self, operation):
        self.operations.append(operation)
        self._program = None
        return self

    def _analysed(self):
        """The program of the operations, which are all gates."""
        if self._program is None:
            self._program = program_of(self.n, self._size, tuple(self.operations))
        return self._program

    # -- parameters ------------------------------------------------------------------------------

    @property
    def parameters(self) -> Array:
        """All angles in the order in which they were given, an array or Tensor (..., P); leading axes are the batch."""
        return joined(self._chunks)

    def with_parameters(self, theta: ArrayLike) -> Self:
        """A circuit of the same gates with other parameters.

        Parameters
        ----------
        theta : real array or Tensor (..., P)
            In the order of `parameters`; leading axes are a batch.

        Returns
        -------
        Circuit
            A new one.  Nothing is analysed again, so that this is the fastest way to evaluate one circuit often.

        Examples
        --------
        >>> import numpy as np, qad
        >>> c = qad.Circuit(1).ry(0.0, 0).rz(0.0, 0)
        >>> energy = lambda theta: c.with_parameters(theta).expectation(qad.PauliSum({"Z": 1.0}))
        >>> abs(qad.grad(energy)(np.array([np.pi / 2, 0.1]))).round(6)
        array([1., 0.])
        """
        theta = check_angle(theta, "with_parameters")
        if theta.ndim == 0 or theta.shape[-1] != self._size:
            raise ShapeError(f"the circuit has {self._size} parameters; with_parameters got shape {theta.shape}")
        if not self.noisy:
            self._analysed()  # so that all copies have it
        other = self.copy()
        other._chunks = [theta] if self._size else []
        return other

    def copy(self) -> Self:
        """A circuit of the same gates, which may be changed independently."""
        other = object.__new__(type(self))
        other.n, other.initial, other.dtype, other.engine = self.n, self.initial, self.dtype, self.engine
        other.operations, other.matrices = self.operations.copy(), self.matrices.copy()
        other._chunks, other._size, other._program = self._chunks.copy(), self._size, self._program
        return other

    def __copy__(self) -> Self:
        return self.copy()

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.STORED}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name in self.STORED:
            setattr(self, name, state[name])
        self._program = None

    # -- composition -----------------------------------------------------------------------------

    def inverse(self) -> Self:
        """A circuit that undoes this one.

        Raises
        ------
        ArgumentError
            If it has operators that are not unitary, or an initial state.

        Examples
        --------
        >>> import qad
        >>> c = qad.Circuit(2).h(0).crx(0.3, 0, 1)
        >>> (c + c.inverse()).probabilities().round(6)
        array([[1., 0.],
               [0., 0.]])
        """
        if self.initial is not None:
            raise ArgumentError("a circuit with an initial state has no inverse: build it without one")
        if not all(operation.gate.unitary for operation in self.operations):
            raise ArgumentError("a circuit with operators that are not unitary has no inverse")
        other = self.copy()
        other.operations = [o._replace(adjoint=not o.adjoint) for o in reversed(self.operations)]
        other._program = None
        return other

    def __add__(self, other: Sequence) -> Self:
        """This circuit, and then the other."""
        if not isinstance(other, Sequence):
            return NotImplemented
        return self.copy()._extend(other)

    def _extend(self, other):
        """Add the operations of another circuit to this one."""
        if not isinstance(other, Sequence):
            raise ArgumentError(f"a circuit is joined to another circuit, not to {other!r}")
        if other.n != self.n:
            raise ArgumentError(f"circuits of {self.n} and {other.n} qubits cannot be joined")
        if other.initial is not None:
            raise ArgumentError("only the first of two joined circuits may have an initial state")
        if other.noisy > self.noisy or other.bits > self.bits:
            raise ArgumentError(
                f"a noisy circuit of {other.bits} classical bits cannot be joined to this one: append both to "
                f"qad.circuit.NoisyCircuit({self.n}, bits={other.bits})"
            )
        shift, matrices = self._size, len(self.matrices)
        for o in other.operations:
            given = None if o.given is None else o.given + matrices
            self._append(o._replace(slots=tuple(s + shift for s in o.slots), given=given))
        self._chunks += other._chunks
        self.matrices += other.matrices
        self._size += other._size
        return self

    def __len__(self) -> int:
        return len(self.operations)
