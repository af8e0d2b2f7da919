"""The table of gates: name, qubits, matrix as a function of the angles.

Names are those of OpenQASM.  The first qubit is the most significant of the matrix; rotations are
``exp(-i theta P / 2)``.  Whether a gate is diagonal, real or controlled is found from its
matrix (`qad.circuit.gates.structure`), not declared.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, reduce
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import like

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.typing import Array, ArrayLike, Function, Number


@dataclass(frozen=True, eq=False)
class Gate:
    """A kind of gate.

    Attributes
    ----------
    name : str
    qubits : int
    params : int
        How many real parameters it has.
    matrix : callable or None
        ``matrix(*params)``: arrays of equal shape (...) to unitary matrices (..., 2**qubits, 2**qubits).  None for
        the gates of `given`, whose matrices belong to the circuit.
    letters : str
        The Pauli string of `pauli_rotation`.
    unitary : bool
    """

    name: str
    qubits: int
    params: int
    matrix: Function | None
    letters: str = ""
    unitary: bool = True

    def __reduce__(self) -> tuple[Any, ...]:
        """The gates of this file are found again by name, so that another process analyses no circuit twice."""
        if self.letters:
            return pauli_rotation, (self.letters,)
        if self.matrix is None:
            named = () if self.name in ("unitary", "operator") else (self.name,)
            return given, (self.qubits, self.unitary, *named)
        if BUILT_IN.get(self.name) is self:
            return find_gate, (self.name,)
        name = getattr(self.matrix, "__qualname__", "")  # objects that can be called have none
        if "<" in name:
            raise ArgumentError(
                f"gate {self.name!r} cannot be pickled, for its matrix function {name} is defined "
                "inside of another: define it at the top of a module"
            )
        return registered, (self.name, self.qubits, self.params, self.matrix)

    def __deepcopy__(self, memo: Any) -> Gate:
        """Itself: it never changes."""
        return self


def matrix(rows: Sequence[Sequence[Number]]) -> Array:
    """A matrix, or a stack of them, from rows of numbers, arrays and Tensors; for the matrix functions of gates.

    Parameters
    ----------
    rows : list of lists
        Entries are numbers, or arrays and Tensors of shapes that broadcast to (...).

    Returns
    -------
    array (..., rows, columns)

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.circuit.matrix([[1.0, 0.0], [0.0, np.array([2.0, 3.0])]]).shape
    (2, 2, 2)
    """
    entries = [entry for row in rows for entry in row]
    zero = like(*entries).zeros(np.broadcast_shapes(*(np.shape(e) for e in entries)))
    return np.stack([e + zero for e in entries], -1).reshape(*zero.shape, len(rows), -1)


def rotation(pauli: np.ndarray) -> Function:
    """The matrix function ``exp(-i theta pauli / 2)`` of a matrix that squares to one."""

    def function(theta):
        half, make = theta[..., None, None] / 2, like(theta)
        return np.cos(half) * make.eye(len(pauli)) + np.sin(half) * make.asarray(-1j * pauli)

    return function


def phase(theta: Array) -> Array:
    """The matrix ``diag(1, exp(i theta))``."""
    return matrix([[1.0, 0.0], [0.0, np.exp(1j * theta)]])


def u3(theta: Array, phi: Array, lam: Array) -> Array:
    """OpenQASM's general rotation of one qubit, whose first entry is real."""
    c, s = np.cos(theta / 2), np.sin(theta / 2)
    return matrix([[c, -np.exp(1j * lam) * s], [np.exp(1j * phi) * s, np.exp(1j * (phi + lam)) * c]])


def u3_with_phase(theta: Array, phi: Array, lam: Array, gamma: Array) -> Array:
    """`u3` times a phase, which has an effect where the gate is controlled."""
    return np.exp(1j * gamma)[..., None, None] * u3(theta, phi, lam)


def controlled(function: Function) -> Function:
    """The matrix function of a gate with one more qubit before it, which controls it."""

    def matrices(*params):
        block = function(*params)
        d = block.shape[-1]
        make = like(block)
        upper = make.eye(2 * d)[:d] + make.zeros((*block.shape[:-2], d, 2 * d))
        return np.concatenate([upper, np.concatenate([0 * block, block], -1)], -2)

    return matrices


@cache
def pauli_rotation(letters: str) -> Gate:
    """The gate ``exp(-i theta P / 2)`` of the Pauli string P = `letters`."""
    return Gate("exp_pauli", len(letters), 1, lambda theta: rotation(pauli_matrix(letters))(theta), letters)


def pauli_matrix(letters: str) -> np.ndarray:
    """The Kronecker product of Pauli matrices."""
    return reduce(np.kron, [{"I": ID, "X": X, "Y": Y, "Z": Z}[letter] for letter in letters])


@cache
def given(qubits: int, unitary: bool, name: str = "") -> Gate:
    """The gate that stands for matrices which the user gives; by a name of its own, for a step of a noisy circuit."""
    return Gate(name or ("unitary" if unitary else "operator"), qubits, 0, None, unitary=unitary)


def constant(rows: ArrayLike) -> Callable[[], np.ndarray]:
    """The matrix function of a gate without parameters."""
    array = np.array(rows)
    return lambda: array


ID, X, Z = np.eye(2), np.array([[0.0, 1.0], [1.0, 0.0]]), np.diag([1.0, -1.0])
Y: np.ndarray = np.array([[0.0, -1j], [1j, 0.0]])
H = np.array([[1.0, 1.0], [1.0, -1.0]]) / np.sqrt(2)
SX = np.array([[1 + 1j, 1 - 1j], [1 - 1j, 1 + 1j]]) / 2
SWAP = np.eye(4)[[0, 2, 1, 3]]
ISWAP = np.array([[1, 0, 0, 0], [0, 0, 1j, 0], [0, 1j, 0, 0], [0, 0, 0, 1]])
ROOT = np.exp(0.25j * np.pi)
RCCX = np.diag([1, 1, 1, 1, 1, -1, 0, 0]) + np.kron(np.diag([0, 0, 0, 1]), Y)  # a Toffoli gate up to phases
RC3X = np.diag([*np.ones(12), 1j, -1j, 0, 0]) + np.kron(np.diag([0, 0, 0, 0, 0, 0, 0, 1]), 1j * Y)

# name, qubits, parameters, matrix function
TABLE: list[tuple[str, int, int, Function]] = [
    ("id", 1, 0, constant(ID)),
    ("x", 1, 0, constant(X)),
    ("y", 1, 0, constant(Y)),
    ("z", 1, 0, constant(Z)),
    ("h", 1, 0, constant(H)),
    ("s", 1, 0, constant(np.diag([1, 1j]))),
    ("sdg", 1, 0, constant(np.diag([1, -1j]))),
    ("t", 1, 0, constant(np.diag([1, ROOT]))),
    ("tdg", 1, 0, constant(np.diag([1, ROOT.conj()]))),
    ("sx", 1, 0, constant(SX)),
    ("sxdg", 1, 0, constant(SX.conj())),
    ("rx", 1, 1, rotation(X)),
    ("ry", 1, 1, rotation(Y)),
    ("rz", 1, 1, rotation(Z)),
    ("p", 1, 1, phase),
    ("phase", 1, 1, phase),
    ("u1", 1, 1, phase),
    ("u2", 1, 2, lambda phi, lam: u3(np.pi / 2 + 0 * phi, phi, lam)),
    ("u3", 1, 3, u3),
    ("u", 1, 3, u3),
    ("cx", 2, 0, controlled(constant(X))),
    ("cnot", 2, 0, controlled(constant(X))),
    ("cy", 2, 0, controlled(constant(Y))),
    ("cz", 2, 0, controlled(constant(Z))),
    ("ch", 2, 0, controlled(constant(H))),
    ("csx", 2, 0, controlled(constant(SX))),
    ("swap", 2, 0, constant(SWAP)),
    ("iswap", 2, 0, constant(ISWAP)),
    ("crx", 2, 1, controlled(rotation(X))),
    ("cry", 2, 1, controlled(rotation(Y))),
    ("crz", 2, 1, controlled(rotation(Z))),
    ("cp", 2, 1, controlled(phase)),
    ("cphase", 2, 1, controlled(phase)),
    ("cu1", 2, 1, controlled(phase)),
    ("cu3", 2, 3, controlled(u3)),
    ("cu", 2, 4, controlled(u3_with_phase)),
    ("rxx", 2, 1, rotation(np.kron(X, X))),
    ("ryy", 2, 1, rotation(np.kron(Y, Y).real)),
    ("rzz", 2, 1, rotation(np.kron(Z, Z))),
    ("ccx", 3, 0, controlled(controlled(constant(X)))),
    ("ccz", 3, 0, controlled(controlled(constant(Z)))),
    ("cswap", 3, 0, controlled(constant(SWAP))),
    ("rccx", 3, 0, constant(RCCX)),
    ("c3x", 4, 0, controlled(controlled(controlled(constant(X))))),
    ("c3sqrtx", 4, 0, controlled(controlled(controlled(constant(SX))))),
    ("rc3x", 4, 0, constant(RC3X)),
    ("c4x", 5, 0, controlled(controlled(controlled(controlled(constant(X)))))),
]

BUILT_IN: dict[str, Gate] = {name: Gate(name, qubits, params, function) for name, qubits, params, function in TABLE}
GATES: dict[str, Gate] = dict(BUILT_IN)


def register_gate(name: str, qubits: int, matrix: Function) -> None:
    """Add a gate to the table, after which every circuit has it as a method.

    Parameters
    ----------
    name : str
        A Python identifier that is not yet in use.
    qubits : int
        How many qubits it acts on.
    matrix : callable
        ``matrix(*params)``, one positional argument per parameter, to a unitary ``(2**qubits, 2**qubits)``,
        first qubit most significant; written in NumPy's functions, so that its derivatives are known.  Written for
        arrays of any shape (see `qad.circuit.matrix`), all gates of the kind take one call.

    Raises
    ------
    ArgumentError
        If the name is taken or no identifier, or the matrix is not unitary or not of that size.

    Examples
    --------
    >>> import numpy as np, qad
    >>> def givens(t):
    ...     c, s = np.cos(t), np.sin(t)
    ...     return qad.circuit.matrix([[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1]])
    >>> qad.circuit.register_gate("givens", 2, givens)
    >>> qad.Circuit(2).x(1).givens(0.3, 0, 1).probabilities()[1, 0].round(6)
    np.float64(0.087332)
    >>> del qad.circuit.gates.table.GATES["givens"]
    """
    if not name.isidentifier() or name in GATES:
        raise ArgumentError(f"a gate needs a new name that is a Python identifier; {name!r} is not one")
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    params = sum(p.kind in positional for p in inspect.signature(matrix).parameters.values())
    gate = Gate(name, qubits, params, matrix)
    probe = np.asarray(matrix(*map(np.asarray, np.linspace(0.3, 1.1, params))))
    if probe.shape != (2**qubits,) * 2:
        raise ArgumentError(
            f"gate {name!r} on {qubits} qubits has a matrix of shape {probe.shape}, not {(2**qubits,) * 2}"
        )
    require_unitary(probe, f"gate {name!r}")
    GATES[name] = gate


def registered(name: str, qubits: int, params: int, function: Function) -> Gate:
    """A gate of the user's own that was pickled: that of the table if it has it, else one that only circuits hold."""
    gate = GATES.get(name)
    return gate if gate is not None and gate.matrix is function else unregistered(name, qubits, params, function)


@cache
def unregistered(name: str, qubits: int, params: int, function: Function) -> Gate:
    """A gate of the user's own that the table has not; one object for each."""
    return Gate(name, qubits, params, function)


def find_gate(name: str) -> Gate:
    """The gate of this name; where there is none, the error suggests the nearest."""
    gate = GATES.get(name)
    if gate is None:
        near = get_close_matches(str(name).lower(), GATES, n=3, cutoff=0.6)
        known = f"known are {', '.join(GATES)}; a circuit is asked by c.state(), c.sample(100), c.expectation(H);"
        hint = f"did you mean {' or '.join(map(repr, near))}?" if near else known
        raise ArgumentError(f"there is no gate {name!r}: {hint} qad.circuit.register_gate adds one")
    return gate


def require_unitary(u: np.ndarray, what: str) -> None:
    """Raise unless ``u^H u = 1`` to the precision of its dtype (for stacks: each of them)."""
    tolerance = 100 * u.shape[-1] * np.finfo(u.dtype if u.dtype.kind in "fc" else float).eps
    error = np.abs(u.conj().swapaxes(-1, -2) @ u - like(u).eye(u.shape[-1])).max(initial=0.0)
    if not error <= tolerance:
        raise ArgumentError(
            f"{what} is not unitary: |U^H U - 1| is {error:.1e}, more than {tolerance:.0e}. "
            "An operator that is not unitary is applied by c.operator(matrix, *qubits)"
        )
