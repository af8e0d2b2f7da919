"""The structure of a gate, found from its matrix: controls, zeros, real entries, dependence on the angle.

Nearly every gate of one parameter is a trigonometric polynomial ``C + A cos(w t) + B sin(w t)`` with w = 1/2
or 1.  Its three coefficients are read off here once, and then all angles of a circuit become matrices by one
expression, whatever the gates are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.gates.table import SWAP, Gate, X

if TYPE_CHECKING:
    from collections.abc import Iterable

FREQUENCIES = (0.5, 1.0)
PROBES = np.array([0.3, 1.1, 1.9, 2.6, 3.7, 4.9, 5.8])
SIMPLE = np.array([0.0, 1.0, -1.0, 0.5, -0.5])


@dataclass(frozen=True)
class Form:
    """How a gate acts.

    Attributes
    ----------
    kind : str
        "matrix" (dense), "diagonal", "flip" (X) or "swap"; "pauli" for ``c + s (-i P)``.
    controls : int
        How many of its first qubits are controls; the rest is about what remains.
    qubits : int
        The qubits that remain.
    frequency : float or None
        The w above; None where the matrix function has to be called.
    coefficients : array (3, E) or None
        C, A and B for the E entries that describe the gate: its matrix row by row, or its diagonal.
    real : bool
        Whether these entries are real.
    """

    kind: str
    controls: int
    qubits: int
    frequency: float | None
    coefficients: np.ndarray | None
    real: bool

    @property
    def count(self) -> int:
        """How many entries describe the gate: of its matrix or its diagonal; cos and sin of a Pauli rotation."""
        return {"matrix": 4**self.qubits, "diagonal": 2**self.qubits, "pauli": 2}.get(self.kind, 0)

    def adjoint(self) -> Form:
        """The form of the inverse gate."""
        if self.coefficients is None or self.kind in ("flip", "swap"):
            return self
        c = self.coefficients.conj()
        if self.kind == "matrix":
            d = 2**self.qubits
            c = c.reshape(3, d, d).swapaxes(1, 2).reshape(3, -1)
        elif self.kind == "pauli":
            c = c * np.array([1.0, -1.0])
        return replace(self, coefficients=c)

    def conjugate(self, letters: str = "") -> Form:
        """The form of the gate of complex conjugate matrix."""
        if self.coefficients is None:
            return self
        c = self.coefficients.conj()
        if self.kind == "pauli":  # (-i P)* = -(-1)^y (-i P)
            c = c * np.array([1.0, -((-1.0) ** letters.count("Y"))])
        return replace(self, coefficients=c)


PAULI = Form("pauli", 0, 0, 0.5, np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), True)  # (cos, sin) of half the angle


@lru_cache(maxsize=4096)
def form_of(gate: Gate) -> Form:
    """The form of a gate of the table."""
    if gate.letters and (gate.qubits > 2 or set(gate.letters) != {"Z"}):
        return replace(PAULI, qubits=gate.qubits)
    samples = np.stack([sample(gate, np.take(PROBES, range(i, i + gate.params), mode="wrap")) for i in range(5)])
    controls, samples = without_controls(samples, gate.qubits)
    qubits = gate.qubits - controls
    if gate.params == 0 and (plain := permutation(samples[0])):
        return Form(plain, controls, qubits, None, None, True)
    d = 2**qubits
    if diagonal := not samples[:, ~np.eye(d, dtype=bool)].any():
        samples = samples[:, range(d), range(d)]
    kind = "diagonal" if diagonal else "matrix"
    frequency, coefficients = trigonometric(samples.reshape(len(samples), -1), gate.params)
    if coefficients is None:
        return Form(kind, controls, qubits, None, None, False)
    real = not coefficients.imag.any()
    return Form(kind, controls, qubits, frequency, coefficients.real if real else coefficients, real)


def sample(gate: Gate, params: Iterable[float]) -> np.ndarray:
    """The matrix of a gate at one point."""
    return np.asarray(gate.matrix(*map(np.asarray, params)), complex)


def without_controls(samples: np.ndarray, qubits: int) -> tuple[int, np.ndarray]:
    """How many leading qubits of the matrices (T, d, d) are controls, and the matrices without them."""
    controls = 0
    while controls < qubits - 1:
        half = samples.shape[1] // 2
        idle = np.eye(2 * half)[:half]
        if np.any(samples[:, :half] != idle) or np.any(samples[:, half:, :half]):
            break
        samples, controls = samples[:, half:, half:], controls + 1
    return controls, samples


def permutation(u: np.ndarray) -> str | None:
    """The name of a matrix that exchanges amplitudes, or None."""
    for name, known in (("flip", X), ("swap", SWAP)):
        if u.shape == known.shape and np.array_equal(u, known):
            return name
    return None


def trigonometric(samples: np.ndarray, params: int) -> tuple[float | None, np.ndarray | None]:
    """Frequency and coefficients (3, E) of `samples` (T, E) taken at the first T `PROBES`; (None, None) if none fit."""
    if params == 0:
        zero = np.zeros_like(samples[0])
        return 1.0, np.stack([samples[0], zero, zero])
    for w in FREQUENCIES if params == 1 else ():
        t = w * PROBES[: len(samples)]
        basis = np.stack([np.ones_like(t), np.cos(t), np.sin(t)], 1)
        found = np.linalg.lstsq(basis, samples, rcond=None)[0]
        found = snapped(found.real) + 1j * snapped(found.imag)
        if np.abs(basis @ found - samples).max() < 1e-14 * len(t):
            return w, found
    return None, None


def snapped(x: np.ndarray) -> np.ndarray:
    """`x` with entries within 1e-13 of 0, +-1 or +-1/2 replaced by these, from which rounding moved them."""
    nearest = SIMPLE[np.abs(x[..., None] - SIMPLE).argmin(-1)]
    return np.where(np.abs(x - nearest) < 1e-13, nearest, x)
