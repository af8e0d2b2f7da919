"""Channels, and the common ones.

A Kraus matrix carries the root of a probability, which has no derivative at 0; a channel has one.  So a channel holds
probabilities and matrices side by side, and what is differentiated is ``sum_k p_k M_k (x) conj(M_k)``.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.gates import table as gates
from qad.circuit.gates.checks import check_count, check_matrix, check_stack
from qad.core.errors import ArgumentError, GradientTypeError
from qad.extend import Tensor, any_traced, stack_of, value_of
from qad.linalg.support.derivative_order import orders

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn

    from qad.typing import Array, ArrayLike, RealNumber


class Channel:
    """A channel ``sum_k p_k M_k rho M_k^H``, made by `depolarizing` and its kin.

    Parameters
    ----------
    weights : real array (k,)
        The factors ``p_k``.
    matrices : array (k, d, d)
    superoperator : array (d**2, d**2), optional
        ``sum_k p_k M_k (x) conj(M_k)``, where its entries are simpler than those of the matrices.

    Examples
    --------
    >>> import qad
    >>> channel = qad.circuit.flip(0.25)
    >>> channel
    Channel(2 Kraus matrices of shape (2, 2))
    >>> channel.kraus.real
    array([[[0.8660254, 0.       ],
            [0.       , 0.8660254]],
    <BLANKLINE>
           [[0.       , 0.5      ],
            [0.5      , 0.       ]]])
    """

    __slots__ = ("weights", "matrices", "superoperator")
    weights: Array
    matrices: Array
    superoperator: Array | None

    def __init__(self, weights: Array, matrices: Array, superoperator: Array | None = None):
        self.weights, self.matrices, self.superoperator = weights, matrices, superoperator

    @property
    def kraus(self) -> Array:
        """The Kraus matrices ``sqrt(p_k) M_k`` (k, d, d); where a weight is 0, their derivative is infinite."""
        return np.sqrt(self.weights)[:, None, None] * self.matrices

    @property
    def plain(self) -> Array:
        """The numbers of the Kraus matrices."""
        return np.sqrt(value_of(self.weights))[:, None, None] * value_of(self.matrices)

    @property
    def recorded(self) -> bool:
        """Whether a derivative by its weights may be asked for."""
        return type(self.weights) is Tensor

    def settled(self) -> Channel:
        """The same channel in plain numbers."""
        return Channel(value_of(self.weights), value_of(self.matrices))

    def tilted(self, least: float) -> Channel:
        """A channel in plain numbers, of the same branches, none of which has a rate below this."""
        rates = value_of(self.weights)
        if self.superoperator is not None:  # a decay, whose second weight is its rate
            return amplitude_damping(float(np.clip(rates[1], least, 1 - least)))
        rates = np.maximum(rates, least)
        return Channel(rates / rates.sum(), value_of(self.matrices))

    def both(self) -> Array:
        """The matrix of the channel on rows and columns; it is linear in the weights."""
        if self.superoperator is not None:
            return self.superoperator
        m, d = self.matrices, self.matrices.shape[-1]
        return np.einsum("k,kab,kcd->acbd", self.weights, m, m.conj()).reshape(d * d, d * d)

    def __len__(self) -> int:
        return len(self.matrices)

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise ArgumentError("a channel is no array: its Kraus matrices are channel.kraus")

    def __repr__(self) -> str:
        return f"Channel({len(self)} Kraus matrices of shape {self.matrices.shape[1:]})"


def kraus_of(x: Channel | Array) -> Array:
    """The Kraus matrices of a channel, or those that were given themselves."""
    return x.kraus if type(x) is Channel else x


def probability(p: ArrayLike, what: str) -> ArrayLike:
    """`p`, if it is a probability, or an array of them."""
    values = np.asarray(stack_of(p)) if not any_traced(p) else np.zeros(())
    if values.dtype.kind not in "fiu" or not ((values >= 0) & (values <= 1)).all():
        raise ArgumentError(f"{what}: a probability lies between 0 and 1, but got {p!r}")
    return p


def depolarizing(p: RealNumber, qubits: int = 1) -> Channel:
    """The channel, with 4**k Kraus matrices (2**k, 2**k), that applies one of the Pauli strings other than 1.

    Parameters
    ----------
    p : real
        The probability that one is applied; each is as likely, p / 3 for one qubit and p / 15 for two.
    qubits : int
        The k qubits on which it acts.

    Examples
    --------
    >>> import qad
    >>> qad.circuit.depolarizing(0.3), qad.circuit.depolarizing(0.3, qubits=2)
    (Channel(4 Kraus matrices of shape (2, 2)), Channel(16 Kraus matrices of shape (4, 4)))
    """
    check_count(qubits, "depolarizing")
    strings = list(map("".join, product("IXYZ", repeat=qubits)))
    each = probability(p, "depolarizing") / (len(strings) - 1)
    weights = np.stack([1.0 - p, *[each] * (len(strings) - 1)])
    return Channel(weights, np.stack([gates.pauli_matrix(string) for string in strings]))


def flip(p: RealNumber, pauli: str = "X") -> Channel:
    """The channel, with Kraus matrices (2, 2, 2), that applies a Pauli matrix with probability p.

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
    return Channel(np.stack([1.0 - p, 1.0 * p]), np.stack([gates.ID, gates.pauli_matrix(pauli)]))


def amplitude_damping(gamma: RealNumber) -> Channel:
    """The channel, with Kraus matrices (2, 2, 2), of the decay of 1 to 0 with probability gamma.

    Notes
    -----
    Coherences are multiplied by ``sqrt(1 - gamma)``, whose derivative at gamma = 1 is infinite: there none is taken.

    Raises
    ------
    GradientTypeError
        If gamma is 1, and differentiated.

    Examples
    --------
    >>> import qad
    >>> c = qad.circuit.NoisyCircuit(1).x(0).channel(qad.circuit.amplitude_damping(0.25), 0)
    >>> c.probabilities()
    array([0.25, 0.75])
    """
    probability(gamma, "amplitude_damping")
    if orders(gamma) and np.any(stack_of(gamma) == 1):
        raise GradientTypeError(
            "amplitude_damping(1.0) has infinite derivatives of coherences: differentiate at a rate of 1 - 1e-9"
        )
    lost, left = 1.0 * gamma, 1.0 - gamma
    root = np.sqrt(left)
    kept = gates.matrix([[1.0, 0.0], [0.0, root]])
    superoperator = [[1.0, 0.0, 0.0, lost], [0.0, root, 0.0, 0.0], [0.0, 0.0, root, 0.0], [0.0, 0.0, 0.0, left]]
    matrices = np.stack([kept, gates.matrix([[0.0, 1.0], [0.0, 0.0]])])
    return Channel(np.stack([0 * gamma + 1.0, lost]), matrices, gates.matrix(superoperator))


def mixed_unitary(probabilities: ArrayLike, unitaries: Sequence[ArrayLike]) -> Channel:
    """The channel, with Kraus matrices (k, d, d), that applies one of some unitary matrices.

    Parameters
    ----------
    probabilities : real array (k,)
        They add up to 1.
    unitaries : sequence of k arrays (d, d)

    Raises
    ------
    ArgumentError
        If the probabilities do not add up to 1, or a matrix is not unitary.

    Examples
    --------
    >>> import numpy as np, qad
    >>> swap = np.eye(4)[[0, 2, 1, 3]]
    >>> c = qad.circuit.NoisyCircuit(2).x(0).channel(qad.circuit.mixed_unitary([0.75, 0.25], [np.eye(4), swap]), 0, 1)
    >>> c.probabilities().round(3)
    array([[0.  , 0.25],
           [0.75, 0.  ]])
    """
    p = probabilities if hasattr(probabilities, "shape") else np.asarray(probabilities)
    probability(p, "mixed_unitary")
    if p.shape != (len(unitaries),):
        raise ArgumentError(f"mixed_unitary takes a probability for each of {len(unitaries)} matrices, not {p.shape}")
    total = 1.0 if any_traced(p) else np.asarray(stack_of(p)).sum(-1)
    if not np.all(np.abs(total - 1) < 1e-12):
        raise ArgumentError(f"mixed_unitary: the probabilities add up to {total}, not to 1: divide them by their sum")
    u = check_stack(unitaries, "mixed_unitary")
    u = check_matrix(u, int(u.shape[-1]).bit_length() - 1, "mixed_unitary")
    gates.require_unitary(stack_of(u), "a matrix given to mixed_unitary")
    return Channel(p, u)
