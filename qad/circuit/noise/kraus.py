"""What trajectories ask of the Kraus matrices of a channel, a measurement or a reset."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import Tensor

if TYPE_CHECKING:
    from qad.typing import Array

FIXED: dict[str, np.ndarray] = {  # Kraus matrices: of the outcomes 0 and 1, and of both ways to 0
    "measure": np.stack([np.diag([1.0 + 0j, 0.0]), np.diag([0.0, 1.0])]),
    "reset": np.array([[[1.0 + 0j, 0.0], [0.0, 0.0]], [[0.0, 1.0], [0.0, 0.0]]]),
}


class Kraus:
    """What the drawing asks of Kraus matrices (K, d, d).

    Attributes
    ----------
    kind : str
        "string" for multiples of Pauli strings, "unitary" for those of other unitary matrices, "state" for all others.
    entries : array (K, d * d)
        Of the matrices; of the unitary ones, if they are multiples of those.
    letters : array of uint8 (K, k) or None
        Of Pauli strings, see `qad.circuit.noise.frames.PauliFrames`.
    idle : bool
        Whether the first of the matrices is the string of no letters.
    chances : array (K,)
        The probabilities where they depend on no state.
    squares, diagonal : arrays (K, d * d), (K, d)
        Of the transposes of ``K^H K``, and their diagonals if there is nothing else, or None.
    """

    kind: str
    entries: np.ndarray
    letters: np.ndarray | None
    idle: bool
    chances: np.ndarray
    squares: np.ndarray
    diagonal: np.ndarray | None

    def __init__(self, kraus: np.ndarray):
        squares = np.einsum("kab,kac->kcb", kraus.conj(), kraus)
        diagonal = np.diagonal(squares, 0, 1, 2).real
        self.chances = diagonal[:, 0]
        self.squares, exact = squares.reshape(len(kraus), -1), diagonal[:, None] * np.eye(kraus.shape[2])
        self.diagonal = diagonal if np.array_equal(squares, exact) else None
        scaled = unitaries(kraus)
        self.entries = (kraus if scaled is None else scaled).reshape(len(kraus), -1)
        self.letters = None if scaled is None else letters_of(scaled)
        self.idle = self.letters is not None and not self.letters[0].any()
        self.kind = "state" if scaled is None else "unitary" if self.letters is None else "string"

    def weights(self, psi: np.ndarray, qubits: tuple[int, ...], n: int) -> np.ndarray:
        """The probabilities ``<psi|K^H K|psi>`` (G, K) in states (G, 2**n), which need not be normalised."""
        rows = np.moveaxis(psi.reshape(-1, *(2,) * n), [q + 1 for q in qubits], range(1, len(qubits) + 1))
        rows = rows.reshape(len(psi), 2 ** len(qubits), -1)
        if self.diagonal is not None:
            return np.vecdot(rows, rows).real.astype(float) @ self.diagonal.T
        rho = (rows @ rows.conj().mT).reshape(len(psi), -1)
        return np.maximum((rho @ self.squares.T).real.astype(float), 0.0)


def unitaries(kraus: Array) -> np.ndarray | None:
    """The unitary matrices (K, d, d) that plain Kraus matrices are multiples of, if they are."""
    if type(kraus) is Tensor:
        return None
    products = np.swapaxes(kraus.conj(), -1, -2) @ kraus
    squares = products[:, 0, 0].real
    if np.abs(products - squares[:, None, None] * np.eye(kraus.shape[-1])).max() > 1e-14:
        return None
    return kraus / np.sqrt(np.where(squares > 0, squares, 1.0))[:, None, None]


def letters_of(u: np.ndarray) -> np.ndarray | None:
    """The letters (K, k) of matrices (K, d, d) that are phases times Pauli strings, or zero; None for others."""
    index, every = np.arange(u.shape[1]), np.arange(len(u))[:, None]
    x = np.abs(u[:, :, 0]).argmax(1)[:, None]
    entries = u[every, index ^ x, index]
    bits = 1 << np.arange(len(index).bit_length() - 1)[::-1]
    z = entries[:, bits] == -entries[:, :1]
    exact = np.zeros_like(u)
    exact[every, index ^ x, index] = entries[:, :1] * (1 - 2.0 * (np.bitwise_count(index & (z @ bits)[:, None]) & 1))
    return (2 * ((x & bits) > 0) + z).astype(np.uint8) if np.array_equal(u, exact) else None
