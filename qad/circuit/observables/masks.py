"""Pauli strings as pairs of bit masks, grouped by the bits that they flip.

``P = i^y X^x Z^z`` with y the number of Ys; qubit 0 is the highest bit.  Strings with the same x are applied
together: their sum is one diagonal matrix, whose entries are a Walsh-Hadamard transform of the coefficients, times X^x.
"""

from __future__ import annotations

from functools import cached_property, lru_cache

import numpy as np

LETTERS = {"I": (0, 0), "X": (1, 0), "Y": (1, 1), "Z": (0, 1)}
PHASES = np.array([1, 1j, -1, -1j])


class Strings:
    """Pauli strings on n qubits, analysed once.

    Attributes
    ----------
    n : int
    strings : tuple of str
    ys : array of int
        How many Ys each has.
    groups : list of (x, indices, z masks, phases)
        For each mask x of flipped bits: the indices of its strings, their z masks and their phases ``i^y``.
    """

    strings: tuple[str, ...]
    n: int
    ys: np.ndarray
    groups: list[tuple[int, np.ndarray, np.ndarray, np.ndarray]]

    def __init__(self, strings: tuple[str, ...]):
        self.strings, self.n = strings, len(strings[0])
        x = [int("".join("01"[LETTERS[c][0]] for c in s), 2) for s in strings]
        z = [int("".join("01"[LETTERS[c][1]] for c in s), 2) for s in strings]
        self.ys = np.array([s.count("Y") for s in strings])
        by_mask = {}
        for index, mask in enumerate(x):
            by_mask.setdefault(mask, []).append(index)
        self.groups = [
            (mask, np.array(indices), np.array([z[p] for p in indices]), PHASES[self.ys[indices] % 4])
            for mask, indices in by_mask.items()
        ]

    @cached_property
    def tables(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The groups as arrays: x; the order of strings by groups, their z masks, where groups start; their phases.

        The array of phases is real if all are.
        """
        order = np.concatenate([indices for _, indices, _, _ in self.groups])
        z = np.concatenate([z for _, _, z, _ in self.groups])
        phases = np.concatenate([phases for *_, phases in self.groups])
        starts = np.cumsum([0, *(len(indices) for _, indices, _, _ in self.groups)])
        x = np.array([x for x, *_ in self.groups])
        return x, order, z, starts, phases if phases.imag.any() else phases.real

    @property
    def transposing(self) -> np.ndarray:
        """The signs by which transposition multiplies the strings."""
        return (-1.0) ** self.ys

    def flip(self, psi: np.ndarray, x: int) -> np.ndarray:
        """``psi[..., a ^ x]`` for all a, of an array (B, 2**n)."""
        axes = [q + 1 for q in range(self.n) if x >> (self.n - 1 - q) & 1]
        return np.flip(psi.reshape(-1, *(2,) * self.n), axes).reshape(psi.shape) if axes else psi

    def diagonal(self, z: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """``sum_t weights_t (-1)^(z_t . a)`` for all a; a vector 2**n."""
        if len(z) > self.n:
            spectrum = np.zeros(2**self.n, weights.dtype)
            np.add.at(spectrum, z, weights)
            return hadamard(spectrum)
        total = np.zeros(2**self.n, weights.dtype)
        for mask, weight in zip(z, weights, strict=True):
            total = total + weight * signs(int(mask), self.n)
        return total

    def spectrum(self, z: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """``sum_a weights_a (-1)^(z_t . a)`` for all t."""
        if len(z) > self.n:
            return hadamard(weights)[z]
        return np.array([(weights * signs(int(mask), self.n)).sum() for mask in z])


@lru_cache(maxsize=256)
def strings_of(strings: tuple[str, ...]) -> Strings:
    """The analysis of a tuple of Pauli strings."""
    return Strings(strings)


def signs(z: int, n: int) -> np.ndarray:
    """``(-1)^(z . a)`` for all a as a vector 2**n."""
    vector = np.ones(1)
    for q in range(n):
        vector = np.multiply.outer(vector, [1.0, -1.0] if z >> (n - 1 - q) & 1 else [1.0, 1.0]).ravel()
    return vector


def hadamard(vector: np.ndarray) -> np.ndarray:
    """The Walsh-Hadamard transform ``sum_b (-1)^(a . b) vector_b`` of a vector 2**n, newly allocated."""
    vector = vector.copy()
    half = 1
    while half < len(vector):
        pairs = vector.reshape(-1, 2, half)
        upper = pairs[:, 0] - pairs[:, 1]
        pairs[:, 0] += pairs[:, 1]
        pairs[:, 1] = upper
        half *= 2
    return vector
