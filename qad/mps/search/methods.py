"""The table of search methods, a record each (`qad.mps.search.method`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.core.errors import ArgumentError
from qad.mps.search.dmrg import one_site, two_sites
from qad.mps.search.gradients import lbfgs
from qad.mps.search.imaginary import tdvp, tebd
from qad.mps.search.method import Method

if TYPE_CHECKING:
    from qad.mps.search.penalty import Excluded


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("lbfgs", lbfgs, grows=False),
        Method("riemannian", lbfgs, grows=False),  # another name of it
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
        others = ", ".join(repr(other.name) for other in METHODS.values() if other.excludes)
        raise ArgumentError(f"{method.name!r} cannot exclude states: choose one of {others} for excited states")
