"""Pauli sums as matrix product operators: a finite automaton that reads strings from the left.

A string is told by what has been read of it until its last letter that is no identity; after that it is done.
Strings of equal beginnings share their states.
"""

import numpy as np

from qad.circuit.gates import pauli_matrix


def mpo_of(strings, coefficients):
    """Site tensors (left, right, out, in) of the operator ``sum_t c_t P_t``.

    Each string is done at one site, which holds its coefficient.
    """
    n = len(strings[0])
    bonds = [{} for _ in range(n + 1)]
    crossing = [cross(string) for string in strings]
    for string, site in zip(strings, crossing, strict=True):
        for bond in range(n + 1):
            key = (True, string[:bond]) if bond <= site else (False, string[bond:])
            bonds[bond].setdefault(key, len(bonds[bond]))
    return [site_tensor(strings, coefficients, crossing, bonds, site) for site in range(n)]


def cross(string):
    """The site at which a string is done: its last letter that is no identity."""
    return max(len(string.rstrip("I")) - 1, 0)


def site_tensor(strings, coefficients, crossing, bonds, site):
    """The tensor of one site: constant entries, and the coefficients of the strings that cross there."""
    left, right = bonds[site], bonds[site + 1]
    dtype = complex if any(string[site] == "Y" for string in strings) else float
    constant = np.zeros((len(left), len(right), 2, 2), dtype)
    moving = []
    for t, (string, cut) in enumerate(zip(strings, crossing, strict=True)):
        a = left[(True, string[:site]) if site <= cut else (False, string[site:])]
        b = right[(True, string[: site + 1]) if site + 1 <= cut else (False, string[site + 1 :])]
        if site == cut:
            moving.append((t, a, b))
        else:
            constant[a, b] = pauli_matrix(string[site])
    if not moving:
        return constant
    pattern = np.zeros((len(moving), *constant.shape), dtype)
    for k, (t, a, b) in enumerate(moving):
        pattern[k, a, b] = pauli_matrix(strings[t][site])
    return constant + np.einsum("k,kabij->abij", coefficients[[t for t, _, _ in moving]], pattern)
