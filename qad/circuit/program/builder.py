"""How a circuit is written down: a list of operations, a vector of parameters, and the matrices that users give."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.gates.checks import as_column, check_angle, check_matrix, check_qubits, check_values
from qad.circuit.gates.controlled import Controlled, unknown
from qad.circuit.gates.parameters import as_chunk, spread
from qad.circuit.gates.table import BUILT_IN, GATES, find_gate, given, pauli_rotation, require_unitary
from qad.circuit.observables.operators import hermitian
from qad.circuit.observables.pauli import PauliSum
from qad.circuit.program.ir import Operation
from qad.circuit.program.sequence import Sequence
from qad.circuit.program.trotter import trotter
from qad.core.errors import ArgumentError, ShapeError
from qad.extend import Tensor, stack_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import Any, Self

    from qad.circuit.gates.methods import GateMethods
    from qad.circuit.gates.table import Gate
    from qad.typing import ArrayLike, RealNumber
else:
    GateMethods = object


SEVERAL = frozenset((range, tuple))  # kinds of columns of several qubits
KINDS = SEVERAL | {int}
FLOAT = np.dtype(float)


class Builder(Sequence, GateMethods):
    """The part of `qad.Circuit` that adds gates; every method changes the circuit and returns it."""

    __slots__ = ()
    operations: list[Operation]

    def gate(self, name: str, *args: Any) -> Self:
        """Add a gate of the table by its name.

        Parameters
        ----------
        name : str
        *args : angles, then qubits
            Angles are real numbers, arrays or Tensors; their leading axes are a batch.  Qubits are ints; sequences
            of them, all equally long, mean one gate for each entry, and the last axis of an angle that is no
            scalar then runs over the gates.

        Returns
        -------
        Circuit
            The same one.

        Raises
        ------
        ArgumentError
            If there is no such gate (the nearest are suggested), the number of arguments is wrong, or a qubit is out
            of range or repeated.
        GradientTypeError
            If an angle is not real.

        Examples
        --------
        >>> import qad
        >>> qad.Circuit(2).gate("h", 0).cx(0, 1).probabilities().round(3)
        array([[0.5, 0. ],
               [0. , 0.5]])
        """
        return self._add(find_gate(name), args)

    def controlled(self, *controls: int, values: int | Collection[int] = 1) -> Controlled[Self]:
        """Where the next gate is to act only if these qubits have given values, by default if all are 1.

        Parameters
        ----------
        *controls : int
        values : int or sequence of int
            0 or 1 for each control; one for all.

        Returns
        -------
        Controlled
            Has every method that adds a gate; each returns the circuit.

        Examples
        --------
        >>> import numpy as np, qad
        >>> qad.Circuit(3).x([0, 1]).controlled(0, 1).ry(np.pi, 2).probabilities()[1, 1, 1].round(6)
        np.float64(1.0)
        >>> qad.Circuit(2).controlled(0, values=0).x(1).probabilities()[0, 1].round(6)
        np.float64(1.0)
        """
        controls = check_qubits(controls, self.n, "controlled")
        wanted = check_values(values, len(controls), f"controlled: the values of controls {controls} are given")
        zeros = tuple(q for q, value in zip(controls, wanted, strict=True) if not value)
        return Controlled(self, lambda: Builder(self.n, self.dtype, self.engine), controls, zeros)

    def unitary(self, u: ArrayLike, *qubits: int) -> Self:
        """Apply a unitary matrix, which may be a Tensor: its gradient is right.

        Parameters
        ----------
        u : array (..., 2**k, 2**k)
            The first of the k qubits is the most significant; leading axes are a batch.
        *qubits : int

        Raises
        ------
        ArgumentError
            If it is not unitary to the precision of its dtype; `operator` takes any matrix.
        ShapeError

        Examples
        --------
        >>> import numpy as np, qad
        >>> h = np.array([[1.0, 1.0], [1.0, -1.0]]) / np.sqrt(2)
        >>> np.round(qad.Circuit(1).unitary(h, 0).state(), 3)
        array([0.707+0.j, 0.707+0.j])
        """
        return self._apply_given(u, qubits, True)

    def operator(self, matrix: ArrayLike, *qubits: int) -> Self:
        """Apply any matrix, unitary or not; the state is not normalised again.

        Parameters
        ----------
        matrix : array (..., 2**k, 2**k)
            The first of the k qubits is the most significant; leading axes are a batch.
        *qubits : int

        Examples
        --------
        >>> import numpy as np, qad
        >>> qad.Circuit(1).h(0).operator(np.diag([1.0, 0.0]), 0).probabilities().round(3)
        array([0.5, 0. ])
        """
        return self._apply_given(matrix, qubits, False)

    def exp_pauli(self, theta: RealNumber, paulis: str, qubits: Collection[int]) -> Self:
        """Apply ``exp(-i theta P / 2)`` of a Pauli string P.

        Parameters
        ----------
        theta : real
        paulis : str
            One letter of "IXYZ" per qubit.
        qubits : sequence of int

        Examples
        --------
        >>> import numpy as np, qad
        >>> qad.Circuit(3).exp_pauli(np.pi / 2, "XYZ", (0, 1, 2)).probabilities()[1, 1, 0].round(6)
        np.float64(0.5)
        """
        known = isinstance(paulis, str) and paulis and not set(paulis) - set("IXYZ")
        if not known or isinstance(qubits, (set, dict)) or np.shape(qubits)[:1] != (len(paulis),):
            raise ArgumentError(f"exp_pauli takes one letter of IXYZ per qubit, not {paulis!r} on qubits {qubits!r}")
        return self._add(pauli_rotation(paulis), (theta, *qubits))

    def evolve(self, hamiltonian: PauliSum, time: RealNumber, steps: int = 1, order: int = 2) -> Self:
        """Apply ``exp(-i H t)`` of a Pauli sum by a Trotter formula of exponentials of its strings.

        Parameters
        ----------
        hamiltonian : PauliSum
            Hermitian; coefficients may be Tensors.
        time : real
        steps : int
            The error falls as ``t (t / steps)**order``; it is none where all strings commute.
        order : int
            1, 2 or 4 (M. Suzuki, Phys. Lett. A 146, 319 (1990)).

        Examples
        --------
        >>> import numpy as np, qad
        >>> H = qad.PauliSum({"XX": 1.0, "ZI": 0.5})
        >>> c = qad.Circuit(2).evolve(H, 0.7, steps=20, order=4)
        >>> (c.state()[0, 0]).round(6)
        np.complex128(0.709066-0.315349j)
        """
        angles = 2 * check_angle(time, "evolve") * hermitian(hamiltonian, self.n)
        pieces = trotter(len(hamiltonian), steps, order)
        for string, part in pieces:
            letters = hamiltonian.strings[string]
            on = [q for q, letter in enumerate(letters) if letter != "I"] or [0]
            self.exp_pauli(part / steps * angles[string], "".join(letters[q] for q in on), on)
        return self

    def _apply_given(self, u, qubits, unitary):
        name = "unitary" if unitary else "operator"
        qubits = check_qubits(qubits, self.n, name)
        if not qubits:
            raise ArgumentError(f"{name}: name the qubits on which the matrix acts, behind it")
        u = check_matrix(u, len(qubits), name)
        if unitary:
            require_unitary(stack_of(u), "the matrix given to unitary")
        self.matrices.append(u)
        return self._append(Operation(given(len(qubits), unitary), qubits, given=len(self.matrices) - 1))

    def _add(self, gate, args):
        """Add gates of one kind: angles, then qubits."""
        p = gate.params
        if len(args) != p + gate.qubits:
            raise ArgumentError(
                f"{gate.name} takes {p} angle{'s' * (p != 1)} and then {gate.qubits} qubit{'s' * (gate.qubits != 1)}, "
                f"but got {len(args)} arguments"
            )
        qubits = args[p:]
        for q in qubits:
            if type(q) is not int:
                return self._add_several(gate, args)
        operation = operation_of(gate, qubits, self._size, self.n)
        for theta in args[:p]:
            single = type(theta.value if type(theta) is Tensor else theta) is np.float64
            self._chunks.append(theta if single else as_chunk(check_angle(theta, gate.name)))
        self._size += p
        self.operations.append(operation)
        self._program = None
        return self

    def _add_several(self, gate, args):
        """Add gates of one kind whose qubits are given as sequences (or as NumPy's integers)."""
        p, columns, of = gate.params, args[gate.params :], operations_of
        if not KINDS.issuperset(map(type, columns)):
            columns = tuple([as_column(q) for q in columns])
        if SEVERAL.isdisjoint(map(type, columns)):
            return self._add(gate, (*args[:p], *check_qubits(columns, self.n, gate.name)))
        for q in columns:
            if type(q) not in (range, int) and (type(q) is not tuple or set(map(type, q)) != {int}):
                of = operations_of.__wrapped__  # a cache takes 1.0 and True for 1
        operations = of(gate, columns, self._size, self.n)
        for theta in args[:p]:
            value = theta.value if type(theta) is Tensor else theta
            single = type(value) is np.ndarray and value.dtype is FLOAT and value.shape == (len(operations),)
            self._chunks.append(theta if single else spread(check_angle(theta, gate.name), len(operations), gate.name))
        self.operations += operations
        self._size += p * len(operations)
        self._program = None
        return self

    def __getattr__(self, name: str) -> Callable[..., Self]:
        if name.startswith("_") or name not in GATES:
            near = "" if name.startswith("_") else f"; {unknown(name)}"
            raise AttributeError(f"a circuit has no attribute {name!r}{near}")
        gate = GATES[name]
        return lambda *args: self._add(gate, args)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *GATES})


def adding(gate: Gate) -> Callable[..., Any]:
    """The method that adds gates of one kind."""

    def method(self, *args, wires=None):
        if wires is not None:
            raise TypeError(f"{gate.name} takes no keyword 'wires': write angles, then qubits, as c.rx(theta, 0)")
        return self._add(gate, args)

    method.__name__, method.__qualname__ = gate.name, f"Circuit.{gate.name}"
    method.__doc__ = f"Add the gate {gate.name}; see `Builder.gate`."
    return method


for _name, _gate in BUILT_IN.items():  # found at once; those that are registered later are found by their names
    setattr(Builder, _name, adding(_gate))


@lru_cache(maxsize=4096)
def operation_of(gate: Gate, qubits: tuple[int, ...], size: int, n: int) -> Operation:
    """A gate on these qubits of n, after `size` parameters."""
    return Operation(gate, check_qubits(qubits, n, gate.name), slots=tuple(range(size, size + gate.params)))


@lru_cache(maxsize=1024)
def operations_of(gate: Gate, columns: tuple[Any, ...], size: int, n: int) -> list[Operation]:
    """Gates of one kind on the qubits of these columns, after `size` parameters: each takes one of each run of angles.

    A column is a sequence of qubits, one for each gate, or one qubit for all.
    """
    counts = {len(q) for q in columns if type(q) in SEVERAL}
    if len(counts) > 1:
        raise ShapeError(f"{gate.name}: sequences of qubits are equally long, not {sorted(counts)}")
    (count,) = counts
    filled = [q if type(q) in SEVERAL else (q,) * count for q in columns]
    every = [check_qubits(at, n, gate.name) for at in zip(*filled, strict=True)]
    slots = [tuple(size + i * count + j for i in range(gate.params)) for j in range(count)]
    return [Operation(gate, at, slots=own) for at, own in zip(every, slots, strict=True)]
