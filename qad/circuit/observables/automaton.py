"""Pauli sums as matrix product operators, by the smallest automaton that writes them (`qad.mps.operators.automaton`).

`qad.mps.OpSum` keeps two states on every bond, nothing placed yet and a whole term placed, and adds differentiated
weights one by one.  Here states that no term passes are left out, so that a single string has bonds of 1, and the
coefficients stay one array.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.gates.table import pauli_matrix
from qad.mps.operators.automaton import build

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.operators.automaton import Entry
    from qad.typing import Array

LETTERS = "IXYZ"
MATRICES = np.array([pauli_matrix(letter) for letter in LETTERS])


def mpo_of(strings: Sequence[str], coefficients: Array) -> list[Array]:
    """Site tensors (left, right, out, in) of the operator ``sum_t c_t P_t``, no two strings the same."""
    n = len(strings[0])
    terms = []
    for number, string in enumerate(strings):
        placed = tuple((site, LETTERS.index(letter)) for site, letter in enumerate(string) if letter != "I")
        terms.append((placed or ((0, 0),), number))
    written, _ = build(n, terms, [], [0] * n)
    states = passed_states(written)
    return [site_tensor(blocks, *states[site : site + 2], coefficients) for site, blocks in enumerate(written)]


def passed_states(blocks: Sequence[Sequence[Entry]]) -> list[dict[int, int]]:
    """For every bond the states that lie between the first and the last one, with new numbers."""
    reached, leading = [{0}], [{0}]
    for entries in blocks:
        reached.append({entry.right for entry in entries if entry.left in reached[-1]})
    for entries in reversed(blocks):
        leading.append({entry.left for entry in entries if entry.right in leading[-1]})
    return [
        {state: number for number, state in enumerate(sorted(a & b))}
        for a, b in zip(reached, reversed(leading), strict=True)
    ]


def site_tensor(entries: Sequence[Entry], left: dict[int, int], right: dict[int, int], coefficients: Array) -> Array:
    """The tensor of one site: constant entries, and those whose weight is the number of a coefficient."""
    entries = [entry for entry in entries if entry.left in left and entry.right in right]
    dtype = complex if any(LETTERS[entry.operator] == "Y" for entry in entries) else float
    matrices = MATRICES if dtype is complex else MATRICES.real
    constant = np.zeros((len(left), len(right), 2, 2), dtype)
    moving = [entry for entry in entries if type(entry.weight) is int]
    for entry in entries:
        if type(entry.weight) is not int:
            constant[left[entry.left], right[entry.right]] += matrices[entry.operator]
    if not moving:
        return constant
    pattern = np.zeros((len(moving), *constant.shape), dtype)
    for k, entry in enumerate(moving):
        pattern[k, left[entry.left], right[entry.right]] = matrices[entry.operator]
    return constant + np.einsum("k,kabij->abij", coefficients[[entry.weight for entry in moving]], pattern)
