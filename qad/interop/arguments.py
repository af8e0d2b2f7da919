"""Functions of some of their arguments, and functions of other libraries with their derivatives, for bridges."""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING

from qad.core.errors import ArgumentError
from qad.mps import MPO, MPS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from qad.circuit import Circuit
    from qad.circuit.program.ir import Operation

    Arrays = tuple[Any, ...]

__all__ = ["Derivative", "ForeignFunction", "called_by", "open_chain", "unitary_gates", "with_arguments"]


def with_arguments(function: Callable[..., Any], numbers: Sequence[int], arrays: Sequence[Any]) -> Callable[..., Any]:
    """`function` as one of its arguments `numbers`, the others being as in `arrays`."""

    if len(numbers) == len(arrays):  # which are in order
        return function

    def chosen(*some):
        all_of_them = list(arrays)
        for number, x in zip(numbers, some, strict=True):
            all_of_them[number] = x
        return function(*all_of_them)

    return chosen


def open_chain(chain: Any, name: str) -> MPS | MPO:
    """The chain, if it is one that `name` writes: open and without charges."""
    if not isinstance(chain, MPS | MPO):
        raise ArgumentError(f"{name}: {type(chain).__name__} is no MPS or MPO")
    if chain.conserved is not None:
        raise ArgumentError(f"{name}: the state has charges, which are not written: give psi.without_symmetry()")
    if chain.periodic:
        raise ArgumentError(f"{name}: the chain is periodic: only open chains are written")
    return chain


def unitary_gates(circuit: Circuit, name: str) -> Sequence[Operation]:
    """The operations of a circuit, if it is one that `name` converts: unitary gates, from all qubits 0."""
    if circuit.noisy:
        raise ArgumentError(f"{name}: a noisy circuit has channels and conditions, which are not converted")
    if circuit.initial is not None:
        raise ArgumentError(f"{name}: an initial state is no gate: begin with gates, or qml.StatePrep, that prepare it")
    if not all(operation.gate.unitary for operation in circuit.operations):
        raise ArgumentError(f"{name}: gates are unitary, and c.operator(...) is not converted")
    return circuit.operations


@dataclass(eq=False)
class ForeignFunction:
    """A function of a library's arrays to an array or, if the last call gave `several`, a tuple of arrays.

    ``flat(*arrays)`` returns one in a list and several in a tuple, which JAX keeps of what it has compiled.
    """

    f: Callable[..., Any]
    several: bool = True

    def flat(self, *arrays: Any) -> Arrays | list[Any]:
        """What the function returns, as a tuple, or in a list if it is no tuple."""
        out = self.f(*arrays)
        return tuple(out) if isinstance(out, tuple | list) else [out]

    def heard(self, found: Arrays | list[Any]) -> None:
        """Take note of what a call gave."""
        self.several = type(found) is tuple


def called_by(run: Callable[..., Any], f: Callable[..., Any]) -> Callable[..., Any]:
    """`f`, a function of a library's arrays, as the primitive `run` calls it."""
    plain = ForeignFunction(f)

    @wraps(f)
    def call(*arrays):
        out = run(*arrays, program=plain)
        return out if plain.several else out[0]

    return call


@dataclass(frozen=True)
class Derivative:
    """The derivative of a program by its arguments `by`: along tangents, or back from cotangents, which come last.

    `source` is the module whose ``jvp`` and ``vjp`` differentiate.
    """

    source: Any
    program: ForeignFunction | Derivative
    by: tuple[int, ...]
    forward: bool
    outputs: int = 0  # of the program, where cotangents are given

    def flat(self, *arrays: Any) -> Arrays:
        """The tangents of what the program returns, or the cotangents of its arguments `by`."""
        count = len(arrays) - (len(self.by) if self.forward else self.outputs)
        primals, rest = arrays[:count], arrays[count:]

        def outputs(*arrays):
            return tuple(self.program.flat(*arrays))

        function, chosen = with_arguments(outputs, self.by, primals), tuple(primals[i] for i in self.by)
        if self.forward:
            return self.source.jvp(function, chosen, rest)[1]
        return self.source.vjp(function, *chosen)[1](rest)

    def heard(self, found: Arrays) -> None:
        """A derivative gives a tuple always."""
