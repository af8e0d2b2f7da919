"""Kinds of sites that are several: those which one site of the square lattice stands for on other lattices."""

from __future__ import annotations

from functools import lru_cache, reduce
from itertools import product

import numpy as np

from qad.mps.operators.local import MADE_OF, Site

NAMES = {2: "pair of ", 3: "triple of "}  # begins the name of a kind


@lru_cache
def together(kind: Site, count: int) -> Site:
    """Two sites of a kind as one, or three; the first is the more significant digit of a basis state.

    Operators are those of each site, ``"Cup 1"``, ``"Cup 2"``, with the parity of those before where they are
    fermionic, and the sums of those that are charges, ``"N"``.
    """
    one = kind.operators["Id"]
    operators = {
        name: reduce(np.kron, [kind.operators[name]] * count) for name in ("Id", "F") if name in kind.operators
    }
    for name, matrix in kind.operators.items():
        if name in operators:
            continue
        before = kind.operators["F"] if name in kind.fermionic else one
        each = [reduce(np.kron, [before] * i + [matrix] + [one] * (count - i - 1)) for i in range(count)]
        operators |= {f"{name} {i + 1}": own for i, own in enumerate(each)}
        if name in kind.charges:
            operators[name] = sum(each)
    sums = {name: [sum(each) for each in product(own, repeat=count)] for name, own in kind.charges.items()}
    sums.pop("parity x", None)
    charges = {name: tuple(q % 2 if name == "parity" else q for q in own) for name, own in sums.items()}
    states = {
        " ".join(names): int(np.ravel_multi_index([kind.states[x] for x in names], (kind.phys,) * count))
        for names in product(kind.states, repeat=count)
    }
    fermionic = frozenset(f"{name} {i + 1}" for name in kind.fermionic for i in range(count))
    return Site(NAMES[count] + kind.name, operators, fermionic, charges, states)


MADE_OF |= {begin: lambda kind, count=count: together(kind, count) for count, begin in NAMES.items()}
