"""Sums of Pauli strings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.engines.choice import engine_of
from qad.circuit.gates.checks import check_memory, check_qubits
from qad.circuit.gates.scatter import Indices, scatter
from qad.circuit.observables.apply import apply
from qad.circuit.observables.masks import PHASES, strings_of
from qad.core.errors import ArgumentError, ShapeError
from qad.elsewhere import attributes_told
from qad.extend import Tensor, any_traced, value_of
from qad.mps.operators.mpo import MPO
from qad.showing import card

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from qad.typing import Array, ArrayLike, Number

PRODUCT = {("X", "Y"): ("Z", 1), ("Y", "Z"): ("X", 1), ("Z", "X"): ("Y", 1)}
PRODUCT |= {(b, a): (c, 3) for (a, b), (c, _) in PRODUCT.items()}


@attributes_told
class PauliSum:
    """A sum of Pauli strings ``sum_t c_t P_t``.

    Parameters
    ----------
    terms : dict of str to number, or list of (str, number)
        Character k of a string, one of "IXYZ", acts on qubit k; all are equally long.  Coefficients are numbers or
        Tensors without axes; equal strings are added, and terms whose coefficient is the plain number 0 are dropped.

    Attributes
    ----------
    n : int
    strings : tuple of str
    coefficients : array or Tensor (T,)
        Real where all were given as real numbers; the sum is Hermitian then.  An array is read-only.

    Examples
    --------
    >>> import numpy as np, qad
    >>> H = qad.PauliSum({"ZZ": -1.0, "XI": 0.5}) + 0.5 * qad.PauliSum({"IX": 1.0})
    >>> H
    -1.0 ZZ + 0.5 XI + 0.5 IX
    >>> np.linalg.eigvalsh(H.matrix()).round(6)
    array([-1.414214, -1.      ,  1.      ,  1.414214])
    """

    __slots__ = ("strings", "coefficients")
    strings: tuple[str, ...]
    coefficients: Array

    def __init__(self, terms: Mapping[str, Number] | Iterable[tuple[str, Number]]):
        pairs = list(terms.items() if hasattr(terms, "items") else terms)
        if not pairs:
            raise ArgumentError("a PauliSum has at least one term: write {'II': 0.0} for zero on two qubits")
        strings = [string for string, _ in pairs]
        check_strings(strings)
        self.strings, self.coefficients = collected(strings, stacked([c for _, c in pairs]))

    @classmethod
    def _of(cls, strings, coefficients):
        """A sum of strings that are known to be right."""
        self = cls.__new__(cls)
        self.strings, self.coefficients = collected(strings, coefficients)
        return self

    @classmethod
    def on_sites(cls, n: int, terms: Iterable[tuple[Number, str, Sequence[int]]]) -> PauliSum:
        """A sum of strings given by the qubits on which they act.

        Parameters
        ----------
        n : int
        terms : list of (number, str, sequence of int)
            Coefficient, letters, and a qubit for each letter.

        Examples
        --------
        >>> import qad
        >>> qad.PauliSum.on_sites(4, [(-1.0, "ZZ", (0, 3)), (0.5, "X", [2])])
        -1.0 ZIIZ + 0.5 IIXI
        """
        pairs = []
        for coefficient, letters, qubits in terms:
            qubits = check_qubits(qubits, n, "PauliSum.on_sites")
            if len(letters) != len(qubits):
                raise ArgumentError(f"PauliSum.on_sites: {letters!r} needs {len(letters)} qubits, not {qubits}")
            string = ["I"] * n
            for q, letter in zip(qubits, letters, strict=True):
                string[q] = letter
            pairs.append(("".join(string), coefficient))
        return cls(pairs)

    @property
    def n(self) -> int:
        """How many qubits it acts on."""
        return len(self.strings[0])

    @property
    def terms(self) -> dict[str, Any]:
        """The coefficients by their strings."""
        return dict(zip(self.strings, self.coefficients, strict=True))

    def __len__(self) -> int:
        return len(self.strings)

    # -- arithmetic ------------------------------------------------------------------------------

    def __add__(self, other: PauliSum | Number) -> PauliSum:
        if not isinstance(other, PauliSum):
            if np.ndim(value_of(other)) != 0 or not hasattr(value_of(other), "__add__"):
                return NotImplemented
            other = other * PauliSum([("I" * self.n, 1.0)])
        self._check_partner(other)
        coefficients = np.concatenate([self.coefficients, other.coefficients])
        return PauliSum._of(self.strings + other.strings, coefficients)

    __radd__ = __add__

    def __neg__(self) -> PauliSum:
        return -1.0 * self

    def __sub__(self, other: PauliSum | Number) -> PauliSum:
        return self + -1.0 * other

    def __rsub__(self, other: PauliSum | Number) -> PauliSum:
        return other + -1.0 * self

    def __mul__(self, number: Number | PauliSum) -> PauliSum:
        if isinstance(number, PauliSum):
            return self @ number
        if np.ndim(value_of(number)) != 0:
            return NotImplemented
        return PauliSum._of(self.strings, self.coefficients * number)

    __rmul__ = __mul__
    __array_ufunc__ = None  # so that ``np.float64(2.0) * H`` is our product, not NumPy's

    def __truediv__(self, number: Number) -> PauliSum:
        return self * (1 / number)

    def __matmul__(self, other: PauliSum) -> PauliSum:
        if not isinstance(other, PauliSum):
            return NotImplemented
        self._check_partner(other)
        pairs = [product(a, b) for a in self.strings for b in other.strings]
        phases = PHASES[[phase % 4 for _, phase in pairs]]
        phases = phases if phases.imag.any() else phases.real
        coefficients = (self.coefficients[:, None] * other.coefficients).reshape(-1) * phases
        return PauliSum._of(tuple(string for string, _ in pairs), coefficients)

    def _check_partner(self, other):
        if other.n != self.n:
            raise ShapeError(f"Pauli sums on {self.n} and {other.n} qubits do not go together")

    def adjoint(self) -> PauliSum:
        """The Hermitian conjugate."""
        return PauliSum._of(self.strings, self.coefficients.conj())

    # -- as other things -------------------------------------------------------------------------

    def apply(self, state: ArrayLike) -> Array:
        """``H |state>`` for a state, or a batch of them, of shape (..., 2, ..., 2) or (..., 2**n).

        Examples
        --------
        >>> import numpy as np, qad
        >>> qad.PauliSum({"XI": 2.0}).apply(qad.Circuit(2).state())
        array([[0.+0.j, 0.+0.j],
               [2.+0.j, 0.+0.j]])
        """
        shape, size = state.shape, 2**self.n
        if shape[-self.n :] != (2,) * self.n and shape[-1:] != (size,):
            raise ShapeError(f"a state of {self.n} qubits has shape (..., 2, ..., 2) or (..., {size}), not {shape}")
        rows = (state + 0j).reshape(-1, size)
        return apply(self.coefficients, rows, strings=strings_of(self.strings), engine=engine_of("auto")).reshape(shape)

    def matrix(self) -> Array:
        """The matrix (2**n, 2**n), qubit 0 most significant.

        Raises
        ------
        ArgumentError
            If it does not fit into memory; the message says how much it would take.

        Examples
        --------
        >>> import qad
        >>> qad.PauliSum({"Y": 1.0}).matrix()
        array([[0.+0.j, 0.-1.j],
               [0.+1.j, 0.+0.j]])
        """
        check_memory(self.n, complex, "a matrix", squared=True)
        columns = self.apply(np.eye(2**self.n, dtype=complex))
        return columns.mT

    def mpo(self) -> MPO:
        """The matrix product operator, of bond at most the number of strings; equal beginnings and ends are shared.

        Examples
        --------
        >>> import qad
        >>> qad.PauliSum.on_sites(4, [(1.0, "ZZ", (i, i + 1)) for i in range(3)]).mpo().bonds
        (1, 2, 3, 2, 1)
        """
        from qad.circuit.observables.automaton import mpo_of

        return MPO(mpo_of(self.strings, self.coefficients))

    def __repr__(self) -> str:
        parts = [f"{c} {s}" for s, c in zip(self.strings[:12], value_of(self.coefficients)[:12].tolist(), strict=True)]
        more = f" + ... ({len(self)} terms)" if len(self) > 12 else ""
        return " + ".join(parts) + more

    def _repr_html_(self) -> str:
        pairs = zip(self.strings[:20], value_of(self.coefficients)[:20].tolist(), strict=True)
        more = [("...", f"{len(self) - 20} more")] if len(self) > 20 else []
        return card(f"PauliSum of {len(self)} terms on {self.n} qubits", [*pairs, *more])


def check_strings(strings: Sequence[str]) -> None:
    """Raise unless all are strings of Pauli letters of one length."""
    for string in strings:
        if not isinstance(string, str) or not string or set(string) - set("IXYZ"):
            raise ArgumentError(f'a Pauli string has letters I, X, Y, Z, as PauliSum({{"ZI": 1.0}}), not {string!r}')
        if len(string) != len(strings[0]):
            raise ShapeError(
                f"Pauli strings act on one number of qubits: {strings[0]!r} is {len(strings[0])} long, "
                f"{string!r} {len(string)}"
            )


def stacked(coefficients: Sequence[ArrayLike]) -> Array:
    """Numbers and Tensors as one vector."""
    if any(type(c) is Tensor for c in coefficients) or any_traced(*coefficients):
        return np.stack([c if hasattr(c, "dtype") else np.asarray(c) for c in coefficients])
    array = np.array(coefficients)
    if array.ndim != 1 or array.dtype.kind not in "fciu":
        raise ArgumentError(f"coefficients of a PauliSum are numbers, but got {coefficients!r}")
    return array if array.dtype.kind in "fc" else array.astype(float)


def collected(strings: Sequence[str], coefficients: Array) -> tuple[tuple[str, ...], Array]:
    """Strings without repetitions, their coefficients added; plain zeros are dropped, but for one where all are."""
    known = {}
    indices = [known.setdefault(string, len(known)) for string in strings]
    if len(known) < len(strings):
        coefficients = scatter(coefficients, indices=Indices(indices, len(known)))
    names = tuple(known)
    if type(coefficients) is not np.ndarray:
        return names, coefficients
    if not coefficients.any():
        names, coefficients = ("I" * len(names[0]),), coefficients[:1].copy()
    elif not coefficients.all():
        others = np.flatnonzero(coefficients)
        names, coefficients = tuple(np.array(names)[others].tolist()), coefficients[others]
    coefficients.flags.writeable = False
    return names, coefficients


def product(a: str, b: str) -> tuple[str, int]:
    """The string of the product of two strings, and the power of i before it."""
    letters, phase = [], 0
    for p, q in zip(a, b, strict=True):
        if p == "I" or q == "I" or p == q:
            letters.append("I" if p == q else q if p == "I" else p)
        else:
            letter, turn = PRODUCT[p, q]
            letters.append(letter)
            phase += turn
    return "".join(letters), phase
