"""Local degrees of freedom: named operators on one site, by kind of site."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray


@dataclass(frozen=True)
class Site:
    """A kind of site: its operators by name, and which of them anticommute between sites.

    Parameters
    ----------
    name : str
    operators : dict of name -> square matrix, rows ``out``
        "Id" must be among them; a fermionic site has "F", the parity, too.
    fermionic : frozenset of names
        Operators that carry a Jordan-Wigner string of F on all sites before.

    Examples
    --------
    >>> import qad
    >>> qad.mps.site("spin-1").operators["Sz"].real.diagonal()
    array([ 1.,  0., -1.])
    """

    name: str
    operators: dict[str, NDArray[Any]]
    fermionic: frozenset[str] = frozenset()

    @property
    def phys(self) -> int:
        """Dimension of the site."""
        return len(self.operators["Id"])

    def matrix(self, name: str) -> NDArray[Any]:
        """The operator of this name; raises, and suggests the nearest, if there is none."""
        if name in self.operators:
            return self.operators[name]
        near = get_close_matches(str(name), self.operators, 1, 0.3)
        hint = f"did you mean {near[0]!r}? " if near else ""
        known = ", ".join(self.operators)
        raise ArgumentError(f"a site of kind {self.name!r} has no operator {name!r}: {hint}it has {known}")


def spin(size):
    """A spin of the given size (1/2, 1, 3/2, ...); basis states by descending Sz.

    Parameters
    ----------
    size : number
        Half of a whole number.

    Returns
    -------
    Site
        With Id, Sx, Sy, Sz, Sp and Sm; a spin-1/2 has the Pauli matrices X, Y and Z too.

    Raises
    ------
    ArgumentError
        If twice the size is no positive whole number.

    Examples
    --------
    >>> import qad
    >>> qad.mps.local.spin(1.5).phys
    4
    """
    if not np.isscalar(size) or not (doubled := 2 * size) > 0 or doubled != int(doubled):
        raise ArgumentError(f"a spin is 1/2, 1, 3/2 and so on, not {size!r}")
    m = size - np.arange(int(doubled) + 1)
    up = np.diag(np.sqrt(size * (size + 1) - m[1:] * (m[1:] + 1)), 1)
    x, y, z = (up + up.T) / 2, (up - up.T) / 2j, np.diag(m)
    operators = {"Id": np.eye(len(m)), "Sx": x, "Sy": y, "Sz": z, "Sp": up, "Sm": up.T}
    if size == 0.5:
        operators |= {"X": 2 * x, "Y": 2 * y, "Z": 2 * z}
    return Site(f"spin-{int(doubled)}/2" if doubled % 2 else f"spin-{int(size)}", operators)


def boson(most):
    """A bosonic mode with at most `most` particles; basis states by their number.

    Parameters
    ----------
    most : int

    Returns
    -------
    Site
        With Id, N, B (annihilates), Bdag.

    Raises
    ------
    ArgumentError
        If `most` is no positive whole number.

    Examples
    --------
    >>> import qad
    >>> qad.mps.local.boson(2).operators["N"].diagonal()
    array([0., 1., 2.])
    """
    if not np.isscalar(most) or int(most) != most or most < 1:
        raise ArgumentError(f"a bosonic site holds at most 1, 2, ... particles, not {most!r}")
    numbers = np.arange(int(most) + 1.0)
    lower = np.diag(np.sqrt(numbers[1:]), 1)
    return Site(f"boson-{most}", {"Id": np.eye(len(numbers)), "N": np.diag(numbers), "B": lower, "Bdag": lower.T})


def fermion():
    """A spinless fermionic mode, empty or filled; its operators on different sites anticommute.

    Returns
    -------
    Site
        With Id, N, C (annihilates), Cdag, and the parity F.

    Examples
    --------
    >>> import qad
    >>> sorted(qad.mps.local.fermion().fermionic)
    ['C', 'Cdag']
    """
    lower = np.array([[0.0, 1.0], [0.0, 0.0]])
    operators = {"Id": np.eye(2), "N": np.diag([0.0, 1.0]), "C": lower, "Cdag": lower.T, "F": np.diag([1.0, -1.0])}
    return Site("fermion", operators, frozenset({"C", "Cdag"}))


def site(kind: str | Site) -> Site:
    """The kind of site of this name.

    Parameters
    ----------
    kind : str or Site
        "spin-1/2", "spin-1", ..., "boson-3" (at most three particles) or "fermion"; a `Site` is returned as it is.

    Returns
    -------
    Site

    Raises
    ------
    ArgumentError
        If there is no such kind.

    Examples
    --------
    >>> import qad
    >>> qad.mps.site("boson-3").phys
    4
    """
    return kind if isinstance(kind, Site) else _named(kind)


@lru_cache
def _named(kind):
    family, _, size = str(kind).partition("-")
    try:
        if family == "spin":
            numerator, _, denominator = size.partition("/")
            return spin(int(numerator) / int(denominator or 1))
        if family == "boson":
            return boson(int(size))
        if kind == "fermion":
            return fermion()
    except (ValueError, ZeroDivisionError):
        pass
    raise ArgumentError(
        f"there is no kind of site {kind!r}: write 'spin-1/2', 'spin-1', 'boson-3' (at most three particles), "
        "'fermion', or make a qad.mps.Site of your own"
    )
