"""The table of search methods, a record each; one of your own is a record too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from qad.core.errors import ArgumentError
from qad.mps.search.dmrg import one_site, two_sites
from qad.mps.search.gradients import lbfgs, riemannian
from qad.mps.search.imaginary import tdvp, tebd

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.mps.operators.mpo import MPO
    from qad.mps.search.monitor import Watch
    from qad.mps.search.penalty import Excluded


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
        Whether it stays away from excluded states, by ``excluded.cost(state)`` or as sweeps do.
    """

    name: str
    run: Callable[[MPO, Watch, int, float, Excluded], None]
    grows: bool = True
    excludes: bool = True


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("lbfgs", lbfgs, grows=False),
        Method("riemannian", riemannian, grows=False),
        Method("dmrg", one_site),
        Method("dmrg2", two_sites),
        Method("tebd", tebd, excludes=False),
        Method("tdvp", tdvp, excludes=False),
    )
}


def chosen(method: str | Method) -> Method:
    """The method that is asked for, or "dmrg2"; raises for an unknown one."""
    if isinstance(method, Method):
        return method
    if method not in ("auto", *METHODS):
        raise ArgumentError(f"unknown method {method!r}: choose one of {', '.join(map(repr, ('auto', *METHODS)))}")
    return METHODS["dmrg2" if method == "auto" else method]


def check_excludes(method: Method, excluded: Excluded) -> None:
    """Raise where a method cannot exclude states, and shall."""
    if excluded.states and not method.excludes:
        others = [repr(other.name) for other in METHODS.values() if other.excludes]
        raise ArgumentError(
            f"{method.name!r} cannot exclude states: {', '.join(others[:-1])} and {others[-1]} find excited states"
        )
