"""Hamiltonians in pieces between which no term moves charge, and how to share it out among them.

Every piece conserves a number of its own: rungs without legs, static impurities, fields alone.  No sweep moves charge
between them, so that it stays shared out as the first sweeps had chosen.  So for a while terms are added that move it
between all neighbours, ever more weakly: quantum annealing (T. Kadowaki and H. Nishimori, PRE 58, 5355 (1998)).
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.mps.charges.axes import turned
from qad.mps.charges.quantities import Quantities, changes
from qad.mps.operators.local import Site
from qad.mps.operators.mpo import MPO
from qad.mps.operators.opsum import OpSum
from qad.rules.making.devices import to_device

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


STRENGTHS = (1.0, 0.3, 0.1, 0.03, 0.01)  # of what is added, beside terms of order 1
SMALL = 1e-9  # singular values of conditions on numbers, which are of order 1


def in_pieces(tensors: Sequence[np.ndarray]) -> bool:
    """Whether an open operator conserves a number that is a sum over sites, and to which the first site adds nothing.

    A number gives each basis state of each site a value, and each channel the sum of what its terms have changed so
    far: linear conditions, one for each entry of a site tensor, solved from left to right.
    """
    channels, first = np.zeros((1, 0)), np.zeros((0, 0))  # by the parameters of all numbers that are left
    for site, w in enumerate(tensors):
        phys, known = w.shape[2], channels.shape[1]
        own = np.eye(phys, phys - 1 + known, known - 1)  # the value of basis state 0 is 0
        own[0] = 0
        u, v, out, in_ = np.nonzero(w)
        values = np.pad(channels, ((0, 0), (0, phys - 1)))[u] + own[out] - own[in_]
        reached, where = np.unique(v, return_index=True)
        channels = np.zeros((w.shape[1], phys - 1 + known))
        channels[reached] = values[where]
        conditions = values - channels[v] if site + 1 < len(tensors) else values
        conditions = np.linalg.qr(conditions[conditions.any(axis=1)], mode="r")
        sizes, rows = np.linalg.svd(conditions)[1:]
        free = rows[np.count_nonzero(sizes > SMALL) :].T  # an orthonormal basis of what fulfils them
        first = (own if site == 0 else np.pad(first, ((0, 0), (0, phys - 1)))) @ free
        channels = channels @ free
    return bool(np.linalg.matrix_rank(first, SMALL) < first.shape[1])


def joining(phys: Sequence[int], conserved: Quantities | None) -> MPO:
    """``-sum_i sum_q A_q(i) A_-q(i+1)``, with what adds the charge q to each site, from all states that it may."""
    if conserved is None:  # of one charge, all states alike
        conserved = Quantities(("none",), tuple([((0,),) * size for size in phys]))
    group = conserved.symmetry
    moves = [
        {q: turned(here / len(own), frame) for q, here in changes(own, group.minus).items()}
        for own, frame in zip(conserved.charges, conserved.states, strict=True)
    ]
    total = OpSum(len(phys), [Site("any", {"Id": np.eye(size)}) for size in phys])
    for site, (one, two) in enumerate(pairwise(moves)):
        for charge, change in one.items():
            if (back := group.opposite(charge)) in two:
                total.add(-1.0, change, site, two[back], site + 1)
    return MPO(total.mpo().tensors)  # on sites of every kind


def way_out(H: MPO, start: Any, pairs: Callable[[MPO, Any], Any]) -> Callable[[Any], Any] | None:
    """What makes of a state one of another share of charge, or of several; None where terms move charge everywhere.

    ``pairs(H, state)`` are sweeps of two sites, for states like the `start`.
    """
    if len(H) == 1 or not in_pieces(to_device(list(H.tensors), "cpu")):
        return None
    moving = joining(start.phys, start.conserved)

    def shared_anew(state: Any) -> Any:
        for strength in STRENGTHS:
            sweeps = pairs(H + moving * strength, state)
            sweeps.bond = sweeps.most
            sweeps.sweep()
            state = sweeps.state
        return state

    return shared_anew
