"""What a noisy circuit does beside gates: channels, measurements, resets and conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from qad.circuit.gates.checks import check_qubits, check_stack, check_values
from qad.circuit.gates.table import given
from qad.circuit.noise.channels import Channel
from qad.circuit.program.builder import Builder
from qad.circuit.program.ir import Operation
from qad.core.errors import ArgumentError, ShapeError
from qad.extend import stack_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Self

    from qad.typing import ArrayLike, DTypeLike


MOST_BITS = 62  # as many as an integer holds beside its sign


class NoisySteps(Builder):
    """The part of `qad.circuit.NoisyCircuit` that adds what no gate does; every method returns the circuit."""

    __slots__ = ("bits",)
    STORED = (*Builder.STORED, "bits")
    noisy: ClassVar[bool] = True

    def __init__(self, n: int, bits: int = 0, dtype: DTypeLike = complex, engine: str = "auto"):
        super().__init__(n, dtype, engine)
        if isinstance(bits, bool) or not isinstance(bits, (int, np.integer)) or not 0 <= bits <= MOST_BITS:
            raise ArgumentError(f"bits is the number of classical bits, from 0 to {MOST_BITS}, not {bits!r}")
        self.bits: int = int(bits)

    def copy(self) -> Self:
        """A circuit of the same operations, which may be changed independently."""
        other = super().copy()
        other.bits = self.bits
        return other

    def channel(self, kraus: Channel | ArrayLike, *qubits: int) -> Self:
        """Apply a channel, or ``sum_k K rho K^H`` of Kraus matrices (k, d, d), which may be a Tensor; returns self.

        Raises
        ------
        ArgumentError
            If ``sum_k K^H K`` is not 1.
        """
        qubits = check_qubits(qubits, self.n, "channel")
        given_by = kraus if type(kraus) is Channel else None
        matrices = check_stack(kraus, "channel") if given_by is None else kraus.matrices
        channel = given_by or Channel(np.ones(matrices.shape[:1]), matrices)
        d, shape = 2 ** len(qubits), channel.matrices.shape
        if len(shape) != 3 or shape[1:] != (d, d):
            raise ShapeError(f"Kraus matrices on {len(qubits)} qubits have shape (k, {d}, {d}), not {shape}")
        values = np.asarray(stack_of(channel.matrices))
        error = np.abs(np.einsum("...kab,...kac->...bc", values.conj(), values) - np.eye(d)).max()
        if given_by is None and not error < 1e-6:
            raise ArgumentError(
                f"a channel keeps the trace, but sum K^H K differs from 1 by {error:.1e}: the probabilities of its "
                "Kraus matrices do not add up"
            )
        self.matrices.append(channel)
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
            The name of a gate, "reset" included, or a function that is given an empty circuit and adds to it.
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
        values = check_values(equals, len(bits), f"if_: the values of bits {bits} are given")
        block = type(self)(self.n, self.bits, self.dtype, self.engine)
        if not isinstance(gate, str):
            if args or not callable(gate):
                raise ArgumentError(
                    "if_ takes the name of a gate, its angles and its qubits, or a function of an empty circuit and "
                    f"nothing else; not {gate!r} with {args}"
                )
            gate(block)
        elif gate == "reset":
            block.reset(*args)
        else:
            block.gate(gate, *args)
        if {o.into for o in block.operations} & set(bits):
            raise ArgumentError("if_: a measurement writes a bit of its own condition: measure into another bit")
        when = tuple(zip(bits, values, strict=True))
        block.operations = [o._replace(when=o.when + when) for o in block.operations]
        return self._extend(block)

    def _check_bits(self, bits, what):
        """Classical bits, if they are there and different."""
        if self.bits == 0:
            raise ArgumentError(f"{what}: the circuit has no classical bits: write NoisyCircuit({self.n}, bits=...)")
        bits = [bit.item() if isinstance(bit, np.ndarray) and not bit.ndim else bit for bit in bits]
        for bit in bits:
            if isinstance(bit, bool) or not hasattr(bit, "__index__") or not 0 <= bit < self.bits:
                raise ArgumentError(
                    f"{what}: there is no classical bit {bit!r} among {self.bits}; they are numbered from 0 to "
                    f"{self.bits - 1}, and NoisyCircuit({self.n}, bits=...) says how many there are"
                )
        if len(set(bits)) < len(bits):
            raise ArgumentError(f"{what}: a bit is repeated in {bits}")
        return tuple(int(bit) for bit in bits)


def several(x: Any) -> tuple[Any, ...]:
    """One or several things as a tuple."""
    return (x,) if np.ndim(x) == 0 else tuple(x)
