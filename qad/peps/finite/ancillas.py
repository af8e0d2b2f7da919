"""Sites beside their ancillas, of the same kind and of opposite charge, on which operators do not act."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations

import numpy as np

from qad.mps.operators.local import MADE_OF, Site
from qad.mps.operators.local import site as site_of
from qad.peps.charges import odd_states
from qad.peps.models import Term

BESIDE = "ancilla beside "  # begins the name of a kind


@lru_cache
def beside(kind: Site) -> Site:
    """A site and its ancilla, on which the operators do not act; charges are those of the site less the ancilla's."""
    one = np.eye(kind.phys)
    operators = {name: np.kron(matrix, one) for name, matrix in kind.operators.items()}
    if kind.fermionic:
        operators["F"] = np.kron(kind.operators["F"], kind.operators["F"])
    return Site(BESIDE + kind.name, operators, kind.fermionic)


MADE_OF[BESIDE] = beside


def lifted(t: Term, pair: Site) -> Term:
    """A term on sites of a kind as one on these beside their ancillas, if that is what there is.

    The ancillas of fermions stand between them.
    """
    if not pair.name.startswith(BESIDE) or len(t.operator) ** 2 != pair.phys:
        return t
    kind, d, k = site_of(pair.name.removeprefix(BESIDE)), len(t.operator), len(t.sites)
    whole = np.multiply.outer(t.operator, np.eye(d**k).reshape((d,) * (2 * k)))
    order = [axis for first in (0, k) for i in range(first, first + k) for axis in (i, 2 * k + i)]
    whole = whole.transpose(order).reshape((d * d,) * (2 * k))
    if kind.fermionic:
        odd, passed = np.array(odd_states(kind)), np.zeros((d * d,) * k, int)
        for i, j in combinations(np.indices(passed.shape), 2):
            passed = passed + odd[i % d] * odd[j // d]  # the ancilla of one, the state of a later one
        signs = 1 - 2 * (passed % 2)
        whole = whole * signs.reshape(*signs.shape, *[1] * k) * signs
    return Term(whole, t.sites)
