"""What is conserved by an operator, as its caller calls it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qad.core.errors import ArgumentError
from qad.extend import value_of
from qad.mps.charges.axes import ALONG_X
from qad.mps.charges.channels import Channels
from qad.mps.charges.quantities import conserved_by

if TYPE_CHECKING:
    from qad.mps.charges.quantities import Names


def conserve_for(H: Any, conserve: Names | None, channels: type[Channels] = Channels) -> Names | None:
    """The names themselves; for the "parity" of spins that along x, where `H` conserves that one alone.

    Parameters
    ----------
    H : MPO or OpSum
        Of a finite chain, or an infinite one, whose `channels` are found otherwise.
    conserve : str, sequence of str or None
    """
    if conserve != "parity" and conserve != ("parity",):
        return conserve
    operator = H.mpo() if hasattr(H, "terms") else H
    for names in (conserve, ALONG_X):
        try:
            channels([value_of(w) for w in operator], conserved_by(operator, names))
            return names
        except ArgumentError:
            continue
    return conserve
