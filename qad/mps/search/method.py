"""The record of a search method; one of your own is such a record, too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qad.typing import Function


@dataclass(frozen=True)
class Method:
    """A way to search for a ground state.

    Attributes
    ----------
    name : str
    run : callable
        ``run(H, watch, bond, tol, excluded)`` begins at ``watch.state``, tells ``watch.begin(energy)`` and every
        ``watch.step(state, energy)``, and ends by ``watch.converge(why)``, where nothing is left to gain
        (``watch.settled(tol)``), or by `qad.mps.search.monitor.Finished`.  Terms of `H` are of order 1.  It may begin
        again where a probe has led.
    grows : bool
        Whether bonds grow up to `bond`; else those of the start are kept.
    excludes : bool
        Whether it stays away from excluded states, by ``excluded.loss(H, state)`` or as sweeps do.
    """

    name: str
    run: Function
    grows: bool = True
    excludes: bool = True
