"""The spaces that there are, by what stands on the sites: spins, bosons, fermions and electrons."""

from __future__ import annotations

from qad.core.errors import ArgumentError
from qad.keywords import keywords_told
from qad.mps.chain.chain import site_count
from qad.mps.operators.local import boson, electron, site
from qad.mps.operators.local import spin as spin_site
from qad.vmc.space import Space


class Spins(Space):
    """Configurations of spins: 2 Sz of each site, so -1 and 1 for spins 1/2.

    Parameters
    ----------
    n : int
    spin : number
        1/2, 1, 3/2, ...
    total : int, optional
        2 Sz of all spins together, where it is fixed.

    Raises
    ------
    ArgumentError
        If spins cannot have this total.

    Examples
    --------
    >>> import qad
    >>> qad.vmc.Spins(2, spin=1, total=0).states()
    array([[ 2, -2],
           [ 0,  0],
           [-2,  2]], dtype=int8)
    """

    conserve: str | tuple[str, ...] = "Sz"

    @keywords_told
    def __init__(self, n: int, spin: float = 0.5, total: int | None = None):
        kind = spin_site(spin)
        most = kind.phys - 1  # a state is numbered by how far it is lowered
        lowered = None if total is None else (site_count(n, 1, "n") * most - total) / 2
        shown = {"spin": None if spin == 0.5 else spin, "total": total}
        super().__init__(n, kind, range(most, -most - 1, -2), {"lowered": range(most + 1)}, [lowered], shown)


class Bosons(Space):
    """Configurations of bosons: the number of particles on each site.

    Parameters
    ----------
    n : int
    most : int
        How many one site holds at most.
    total : int, optional
        The number of all particles, where it is fixed.

    Raises
    ------
    ArgumentError
        If the sites cannot hold this total.

    Examples
    --------
    >>> import qad
    >>> qad.vmc.Bosons(36, most=4, total=36).size
    58159527298458478685
    """

    @keywords_told
    def __init__(self, n: int, most: int, total: int | None = None):
        numbers = range(site_count(most, 1, "most") + 1)
        super().__init__(n, boson(most), numbers, {"N": numbers}, [total], {"most": most, "total": total})


class Fermions(Space):
    """Configurations of spinless fermions: 0 or 1 on each site, whose order is that of their operators.

    Parameters
    ----------
    n : int
    total : int, optional
        The number of all particles, where it is fixed.

    Raises
    ------
    ArgumentError
        If the sites cannot hold this total.

    Examples
    --------
    >>> import qad
    >>> qad.vmc.Fermions(3, total=1).states()
    array([[0, 0, 1],
           [0, 1, 0],
           [1, 0, 0]], dtype=int8)
    """

    @keywords_told
    def __init__(self, n: int, total: int | None = None):
        super().__init__(n, site("fermion"), (0, 1), {"N": (0, 1)}, [total], {"total": total})


class Electrons(Space):
    """Configurations of electrons: 0 for an empty site, 1 for spin up, 2 for spin down, 3 for both.

    Parameters
    ----------
    n : int
    up, down : int, optional
        The numbers of electrons of each spin; both, or neither where they are not fixed.
    double : bool
        Whether two electrons may be on a site; they may not in the t-J model.

    Raises
    ------
    ArgumentError
        If the sites cannot hold these numbers, or only one is given.

    Examples
    --------
    >>> import qad
    >>> qad.vmc.Electrons(16, up=7, down=7).size, qad.vmc.Electrons(16, up=7, down=7, double=False).size
    (130873600, 411840)
    """

    conserve: str | tuple[str, ...] = "N", "Sz"

    @keywords_told
    def __init__(self, n: int, up: int | None = None, down: int | None = None, double: bool = True):
        if (up is None) != (down is None):
            raise ArgumentError("Electrons take the numbers of both spins, up= and down=, or neither")
        kind = electron(double)
        held = {"up": (0, 1, 0, 1)[: kind.phys], "down": (0, 0, 1, 1)[: kind.phys]}
        shown = {"up": up, "down": down, "double": None if double else False}
        super().__init__(n, kind, range(kind.phys), held, [up, down], shown)
