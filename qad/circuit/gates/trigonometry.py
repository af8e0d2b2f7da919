"""The entries of all gates of one parameter at once: ``C + A cos(w t) + B sin(w t)`` each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.gates.scatter import Indices, scatter
from qad.extend import like, primitive, rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Array


class Polynomials:
    """Trigonometric polynomials of a vector of parameters.

    Parameters
    ----------
    gates : list of (slot, frequency, coefficients (3, E))
        One item per gate; its E entries follow those of the gate before.
    size : int
        Length of the vector of parameters.
    """

    slots: np.ndarray
    frequencies: np.ndarray
    gate: np.ndarray
    constant: np.ndarray
    cosine: np.ndarray
    sine: np.ndarray
    indices: Indices
    whole: bool

    def __init__(self, gates: Sequence[tuple[int, float, np.ndarray]], size: int):
        counts = [c.shape[1] for _, _, c in gates]
        self.slots = np.array([slot for slot, _, _ in gates], np.intp)
        self.frequencies = np.array([w for _, w, _ in gates])
        self.gate = np.repeat(np.arange(len(gates)), counts)
        self.constant, self.cosine, self.sine = np.concatenate([c for _, _, c in gates], 1) + 0j
        self.indices = Indices(self.slots[self.gate], size)
        self.whole = np.array_equal(self.slots, np.arange(size))
        self._derivative = None

    def __call__(self, theta: Array) -> Array:
        """Entries (1, B, E) of parameters (..., size)."""
        frequencies, cosine, sine, constant = beside(theta, self.frequencies, self.cosine, self.sine, self.constant)
        angles = theta.reshape(-1, theta.shape[-1])
        angles = (angles if self.whole else angles[:, self.slots]) * frequencies
        cosines, sines = np.cos(angles)[:, self.gate], np.sin(angles)[:, self.gate]
        return (cosine * cosines + sine * sines + constant)[None]

    def components(self, theta: np.ndarray) -> np.ndarray:
        """Entries (J, B, E) of parameters (J, B, size) with J components, those of ``x + e y`` with ``e e = 0``."""
        half = len(theta) // 2
        if not half:
            return self(theta[0])
        x, y = theta[:half], theta[half:, :, self.slots[self.gate]]
        slopes = self.derivative.components(x)
        tangents = [sum(slopes[i] * y[k ^ i] for i in range(half) if i & k == i) for k in range(half)]
        return np.concatenate([self.components(x), tangents])

    def transposed(self, theta: np.ndarray, slopes: np.ndarray) -> np.ndarray:
        """Cotangents (J, B, size) of the parameters from those (J, B, E) of the entries."""
        along, count = self.derivative.components(theta), range(len(theta))
        return np.stack([
            self.indices.add(sum(slopes[k] * along[k ^ i] for k in count if i & k == i).real) for i in count
        ])  # fmt: skip

    @property
    def derivative(self) -> Polynomials:
        """The derivative of each entry with respect to its parameter."""
        if self._derivative is None:
            w, other = self.frequencies[self.gate], object.__new__(Polynomials)
            other.__dict__.update(self.__dict__, _derivative=None)
            other.constant, other.cosine, other.sine = 0 * self.constant, w * self.sine, -w * self.cosine
            self._derivative = other
        return self._derivative


def beside(theta: Array, *constants: np.ndarray) -> Sequence[Array]:
    """Constants as arrays of the kind of `theta`."""
    make = like(theta)
    return constants if make is np else [make.asarray(x) for x in constants]


@primitive
def entries(theta: Array, *, polynomials: Polynomials) -> Array:
    """The entries (1, B, E) of gates whose parameters are `theta` (..., P), B the product of the leading axes."""
    return polynomials(theta)


def _vjp(g, ans, theta, *, polynomials):
    slopes = (g * entries(theta, polynomials=polynomials.derivative)).real
    return scatter(slopes, indices=polynomials.indices).reshape(theta.shape)


def _jvp(t, ans, theta, *, polynomials):
    tangents = t.reshape(-1, t.shape[-1])[:, polynomials.slots[polynomials.gate]]
    return tangents[None] * entries(theta, polynomials=polynomials.derivative)


rule(entries, _vjp, forward=_jvp, fresh=True)
