"""Local degrees of freedom: named operators on one site, by kind of site."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.mps.operators.names import spelled, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, repr=False)
class Site:
    """A kind of site: its operators by name, and which of them anticommute between sites.

    Parameters
    ----------
    name : str
    operators : dict of name -> square matrix, rows ``out``
        "Id" must be among them; a fermionic site has "F", the parity, too.
    fermionic : frozenset of names
        Operators that carry a Jordan-Wigner string of F on all sites before.
    charges : dict of name -> tuple of int
        What the basis states carry of each quantity that may be conserved, one whole number each: "Sz" is 2 Sz, "N" the
        number of particles; "parity" is counted modulo 2, the others are not.  "parity x" is that of the states of a
        spin along x, by descending Sx.
    states : dict of name -> int
        Names of basis states, such as "up": 0, for `qad.mps.MPS.product`.

    Examples
    --------
    >>> import qad
    >>> qad.mps.site("spin-1").operators["Sz"].real.diagonal()
    array([ 1.,  0., -1.])
    """

    name: str
    operators: dict[str, NDArray[Any]]
    fermionic: frozenset[str] = frozenset()
    charges: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    states: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if "Id" not in self.operators:
            raise ArgumentError(f"a site of kind {self.name!r} has no operator 'Id': give the identity among them")
        operators = {name: np.asarray(matrix) for name, matrix in self.operators.items()}
        size = len(operators["Id"])
        for name, matrix in operators.items():
            if matrix.shape != (size, size) or matrix.dtype.kind not in "biufc" or not np.isfinite(matrix).all():
                raise ShapeError(
                    f"operator {name!r} of site {self.name!r} is no matrix of {size} x {size} finite numbers"
                )
        if not np.array_equal(operators["Id"], np.eye(size)):
            raise ArgumentError(f"operator 'Id' of site {self.name!r} is not the identity")
        if missing := ({*self.fermionic} | ({"F"} if self.fermionic else set())) - {*operators}:
            raise ArgumentError(
                f"site {self.name!r} has fermionic operators, but not {sorted(missing)}: give them, and the parity 'F'"
            )
        object.__setattr__(self, "operators", operators)

    def __repr__(self) -> str:
        return f"Site({self.name!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Site) or (self.name, self.fermionic) != (other.name, other.fermionic):
            return False
        mine, theirs = self.operators, other.operators
        return mine.keys() == theirs.keys() and all(np.array_equal(mine[name], theirs[name]) for name in mine)

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def phys(self) -> int:
        """Dimension of the site."""
        return len(self.operators["Id"])

    def matrix(self, name: str) -> NDArray[Any]:
        """The operator of this name; raises, and suggests the nearest, if there is none."""
        if name in self.operators:
            return self.operators[name]
        hint, known = suggestion(name, self.operators), ", ".join(self.operators)
        others = [kind for kind in ("spin-1/2", "fermion", "boson-3", "electron") if name in site(kind).operators]
        elsewhere = f"; kind={others[0]!r} has {name!r}" if others else ""
        raise ArgumentError(f"a site of kind {self.name!r} has no operator {name!r}: {hint}it has {known}{elsewhere}")

    def state(self, name: str) -> int:
        """The number of the basis state of this name; raises, and says which there are, if there is none."""
        known = {spelled(other): number for other, number in self.states.items()}
        if spelled(name) in known:
            return known[spelled(name)]
        names = ", ".join(map(repr, self.states)) or f"none: write their numbers, 0 to {self.phys - 1}"
        raise ArgumentError(
            f"a site of kind {self.name!r} has no basis state {name!r}; it has {names}. Another kind of site is given "
            "by kind=, such as kind='electron'"
        )


def spin(size: float) -> Site:
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
    >>> qad.mps.operators.local.spin(1.5).phys
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
    steps = range(len(m))
    parity = tuple([k % 2 for k in steps])
    charges = {"Sz": tuple([int(doubled) - 2 * k for k in steps]), "parity": parity, "parity x": parity}
    name = f"spin-{int(doubled)}/2" if doubled % 2 else f"spin-{int(size)}"
    states = {"up": 0, "down": len(m) - 1} | ({"0": len(m) // 2} if len(m) % 2 else {})
    return Site(name, operators, charges=charges, states=states)


def boson(most: int) -> Site:
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
    >>> qad.mps.operators.local.boson(2).operators["N"].diagonal()
    array([0., 1., 2.])
    """
    if not np.isscalar(most) or int(most) != most or most < 1:
        raise ArgumentError(f"a bosonic site holds at most 1, 2, ... particles, not {most!r}")
    numbers = np.arange(int(most) + 1.0)
    lower = np.diag(np.sqrt(numbers[1:]), 1)
    operators = {"Id": np.eye(len(numbers)), "N": np.diag(numbers), "B": lower, "Bdag": lower.T}
    states = {"empty": 0} | {str(k): k for k in range(int(most) + 1)}
    return Site(f"boson-{most}", operators, charges=by_number(range(int(most) + 1)), states=states)


def by_number(numbers: Iterable[int]) -> dict[str, tuple[int, ...]]:
    """The charges of basis states with these numbers of particles."""
    return {"N": tuple(numbers), "parity": tuple([number % 2 for number in numbers])}


def fermion() -> Site:
    """A spinless fermionic mode, empty or filled; its operators on different sites anticommute.

    Returns
    -------
    Site
        With Id, N, C (annihilates), Cdag, and the parity F.

    Examples
    --------
    >>> import qad
    >>> sorted(qad.mps.operators.local.fermion().fermionic)
    ['C', 'Cdag']
    """
    lower = np.array([[0.0, 1.0], [0.0, 0.0]])
    operators = {"Id": np.eye(2), "N": np.diag([0.0, 1.0]), "C": lower, "Cdag": lower.T, "F": np.diag([1.0, -1.0])}
    return Site("fermion", operators, frozenset({"C", "Cdag"}), by_number((0, 1)), {"empty": 0, "full": 1})


def electron(double: bool = True) -> Site:
    """A site of electrons with spin: empty, up, down, and both; the last is left out for the t-J model.

    Operators on different sites anticommute, and so do those of both spins; the state with both is ``Cdagup Cdagdn`` of
    the empty one.

    Parameters
    ----------
    double : bool
        Whether two electrons may be on the site.

    Returns
    -------
    Site
        With Id, Cup, Cdagup, Cdn, Cdagdn, Nup, Ndn, N, NupNdn, Sz, Sp, Sm, Sx, Sy, and the parity F; projected onto the
        states that there are.

    Examples
    --------
    >>> import qad
    >>> qad.mps.operators.local.electron().operators["Sz"].diagonal()
    array([ 0. ,  0.5, -0.5,  0. ])
    """
    lower, sign, one = np.array([[0.0, 1.0], [0.0, 0.0]]), np.diag([1.0, -1.0]), np.eye(2)
    up, down = np.kron(one, lower), np.kron(lower, sign)  # the number of down spins is the more significant digit
    kept = range(4 if double else 3)
    n_up, n_down, flip = up.T @ up, down.T @ down, up.T @ down
    operators = {
        "Id": np.eye(4), "Cup": up, "Cdagup": up.T, "Cdn": down, "Cdagdn": down.T, "Nup": n_up, "Ndn": n_down,
        "N": n_up + n_down, "NupNdn": n_up @ n_down, "Sz": (n_up - n_down) / 2, "Sp": flip, "Sm": flip.T,
        "Sx": (flip + flip.T) / 2, "Sy": (flip - flip.T) / 2j, "F": np.kron(sign, sign),
    }  # fmt: skip
    operators = {name: matrix[np.ix_(kept, kept)] for name, matrix in operators.items()}
    charges = by_number([(0, 1, 1, 2)[k] for k in kept]) | {"Sz": tuple([(0, 1, -1, 0)[k] for k in kept])}
    anticommuting = frozenset({"Cup", "Cdagup", "Cdn", "Cdagdn"})
    states = {"empty": 0, "up": 1, "down": 2} | ({"updown": 3, "full": 3} if double else {})
    return Site("electron" if double else "t-J", operators, anticommuting, charges, states)


def site(kind: str | Site) -> Site:
    """The kind of site of this name.

    Parameters
    ----------
    kind : str or Site
        "spin-1/2", "spin-1", ..., "boson-3" (at most three particles), "fermion", "electron" or "t-J" (an
        electron never beside another on the same site), or "density of spin-1/2" and so on; a `Site` is returned as
        it is.

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
    return kind if isinstance(kind, Site) else _named(str(kind))


def each_of(kinds: str | Site | Sequence[str | Site], n: int) -> tuple[Site, ...]:
    """The kinds of `n` sites, from one for all of them or one each."""
    several = hasattr(kinds, "__iter__") and not isinstance(kinds, (str, set, frozenset, dict))
    found = list(kinds) if several else [kinds] * n
    if len(found) != n:
        raise ArgumentError(f"{len(found)} kinds of site were given for {n} sites: give one for all, or one each")
    return tuple(map(site, found))


MADE_OF: dict[str, Callable[[Site], Site]] = {}  # by the beginning of a name what makes a kind of the one named behind
MAKERS: dict[str, Callable[[], Site]] = {
    "fermion": fermion,
    "electron": electron,
    "t-J": lambda: electron(double=False),
}


@lru_cache
def _named(kind):
    family, _, size = kind.partition("-")
    for begin, made in MADE_OF.items():
        if kind.startswith(begin):
            return made(_named(kind.removeprefix(begin)))
    try:
        if family == "spin":
            numerator, _, denominator = size.partition("/")
            return spin(int(numerator) / int(denominator or 1))
        if family == "boson":
            return boson(int(size))
        if kind in MAKERS:
            return MAKERS[kind]()
    except (ValueError, ZeroDivisionError):
        pass
    raise ArgumentError(
        f"there is no kind of site {kind!r}: write 'spin-1/2', 'spin-1', 'boson-3' (at most three particles), "
        "'fermion', 'electron', 't-J', or make a qad.mps.Site of your own"
    )
