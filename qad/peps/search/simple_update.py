"""Imaginary time with the weights of bonds in the place of environments: quick starts for searches."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import Tensor, as_array, value_of
from qad.keywords import keywords_told
from qad.linalg import expm
from qad.peps.checks import check_kind
from qad.peps.infinite.orbits import canonical, joined
from qad.peps.infinite.state import PEPS, STEPS, letters, pattern
from qad.peps.models import DIAGONALS, NEIGHBOURS, Model
from qad.peps.search.starts import normalised

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Seed

LEAST = 1e-12  # relative: smaller weights are dropped
LEFT, DOWN, RIGHT = 2, 3, 4
OPPOSITE = {1: 3, 2: 4, 3: 1, 4: 2}
PATHS = dict(zip(DIAGONALS, (((RIGHT, DOWN), (DOWN, RIGHT)), ((LEFT, DOWN), (DOWN, LEFT))), strict=True))


@keywords_told
def simple_update(
    model: Model,
    bond: int,
    cell: Sequence[str] = ("AB", "BA"),
    seed: Seed = 0,
    *,
    steps: Sequence[tuple[float, int]] = ((0.1, 100), (0.02, 200), (0.005, 200)),
) -> PEPS:
    """A state near the ground state, by imaginary time and singular values of single bonds.

    It costs next to nothing, and its energy is good to a few percent: a start for `ground_state`.

    Parameters
    ----------
    model : Model
        Of terms on sites, neighbours and diagonals.
    bond : int
    cell : sequence of str
        The pattern of the sites; neighbours have different letters, and so have sites that a diagonal term joins:
        ``["AB", "CD"]`` is a cell for these.
    seed : int or numpy.random.Generator
        Of the product of spins from which time begins.
    steps : sequence of (time, number)
        The steps of time, the large ones first.

    Returns
    -------
    PEPS
        Sites of norm 1.

    Raises
    ------
    ArgumentError
        If a term acts on other sites than neighbours and diagonals or is recorded, or the pattern does not fit.

    Notes
    -----
    H. C. Jiang, Z. Y. Weng and T. Xiang, Phys. Rev. Lett. 101, 090603 (2008). Half of a diagonal term acts along each
    of the two paths between its sites, as a gate on three: P. Corboz, J. Jordan and G. Vidal, Phys. Rev. B 82,
    245119 (2010).

    Examples
    --------
    >>> import qad
    >>> state = qad.peps.simple_update(qad.peps.heisenberg(), bond=2)
    >>> bool(-0.66 < qad.peps.energy(state, qad.peps.heisenberg(), chi=12) < -0.64)
    True
    """
    terms = path_terms(model)
    network = Weighted(pattern(cell), terms[RIGHT,].shape[0], seed, np.result_type(*terms.values()))
    network.evolve(terms, bond, steps)
    return network.state()


def path_terms(model: Model) -> dict[tuple[int, ...], np.ndarray]:
    """The operators of two sites by the legs that lead from one to the other.

    Terms of single sites are shared among their four bonds, those of diagonals among their two paths.
    """
    check_kind(model, Model)
    if any(type(t.operator) is Tensor and t.operator.requires_grad for t in model.terms):
        raise ArgumentError("updates take plain numbers: the state that they find has no derivatives")
    plain = {t.sites: as_array(value_of(t.operator)) for t in joined([canonical(t) for t in model.terms])}
    pairs = {*NEIGHBOURS, *DIAGONALS}
    if not set(plain) <= {((0, 0),), *pairs} or not set(plain) & pairs:
        raise ArgumentError(
            "updates take terms on sites, neighbours and diagonals: start other models from random states"
        )
    d = next(iter(plain.values())).shape[0]
    alone = plain.get(((0, 0),), np.zeros((d, d)))
    shared = (np.kron(alone, np.eye(d)) + np.kron(np.eye(d), alone)).reshape((d,) * 4) / 4
    near = {(leg,): plain.get(sites, 0) + shared for leg, sites in zip((RIGHT, DOWN), NEIGHBOURS, strict=True)}
    return near | {path: plain[sites] / 2 for sites in PATHS if sites in plain for path in PATHS[sites]}


def gate(term: np.ndarray, time: float) -> np.ndarray:
    """``exp(-time h)`` with the legs of h."""
    d = term.shape[0]
    return expm(-time * term.reshape(d * d, d * d)).reshape(term.shape)


def leading(joint: np.ndarray, bond: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The singular values and vectors of two sites, at most `bond` of them."""
    a, d, c, e = joint.shape
    u, values, vh = np.linalg.svd(joint.reshape(a * d, c * e), full_matrices=False)
    k = min(bond, int(np.count_nonzero(values > LEAST * values[0])))
    return u[:, :k], values[:k], vh[:k]


class Weighted:
    """Sites and the weights of the bonds between them."""

    cell: tuple[str, ...]
    sites: dict[str, np.ndarray]
    next: dict[tuple[str, int], str]  # the neighbour at a leg
    weights: dict[tuple[str, int], np.ndarray]  # of the bonds to the right and down

    def __init__(self, cell: tuple[str, ...], d: int, seed: Seed, dtype: np.dtype):
        self.cell, rng = cell, np.random.default_rng(seed)
        self.sites = {name: rng.standard_normal((d, 1, 1, 1, 1)).astype(dtype) for name in letters(cell)}
        rows, columns = len(cell), len(cell[0])
        self.next = {}
        for row in range(rows):
            for column in range(columns):
                for leg, (down, right) in STEPS.items():
                    here, there = cell[row][column], cell[(row + down) % rows][(column + right) % columns]
                    if here == there or self.next.setdefault((here, leg), there) != there:
                        raise ArgumentError(
                            f"the neighbours of {here!r} are not always the same other letters: take a "
                            'cell such as ["AB", "BA"]'
                        )
        self.weights = {(name, leg): np.ones(1) for name in self.sites for leg in (RIGHT, DOWN)}

    def evolve(self, terms: dict[tuple[int, ...], np.ndarray], bond: int, steps: Sequence[tuple[float, int]]) -> None:
        """Imaginary time, in steps (time, number), by the terms of two sites."""
        if not isinstance(bond, Integral) or bond < 1:
            raise ArgumentError(f"bond is a positive whole number, not {bond!r}")
        paths = [(name, path) for name in self.sites for path in terms]
        alike = [name for name, path in paths if self.along(name, path)[-1] == name]
        if alike:
            raise ArgumentError(f'a diagonal term joins two sites {alike[0]!r}: take a cell such as ["AB", "CD"]')
        for time, number in steps:
            if not isinstance(number, Integral) or number < 0 or not np.isfinite(time):
                raise ArgumentError(
                    f"steps are pairs (time, number), a finite time so many times, not {(time, number)}"
                )
            gates = {path: gate(term, time) for path, term in terms.items()}
            for _ in range(number):
                for name, path in paths:
                    act = self.update if len(path) == 1 else self.update_through
                    act(name, *path, gates[path], int(bond))

    def along(self, name: str, path: Sequence[int]) -> list[str]:
        """The sites on a path, from one that is its first."""
        names = [name]
        for leg in path:
            names.append(self.next[names[-1], leg])
        return names

    def bond_at(self, name: str, leg: int) -> tuple[str, int]:
        """The site and the leg by which the bond at a leg of a site is known."""
        return (name, leg) if leg in (RIGHT, DOWN) else (self.next[name, leg], OPPOSITE[leg])

    def weight(self, name: str, leg: int) -> np.ndarray:
        """That of a leg of a site."""
        return self.weights[self.bond_at(name, leg)]

    def scaled(self, name: str, power: float, *but: int) -> np.ndarray:
        """A site times powers of the weights of its legs, all but some."""
        x = self.sites[name]
        for leg in set(STEPS).difference(but):
            x = x * (self.weight(name, leg) ** power).reshape([-1 if axis == leg else 1 for axis in range(5)])
        return x

    def reduced(self, name: str, toward: int) -> tuple[np.ndarray, np.ndarray]:
        """An isometry ``[three legs, a]``, with their weights, and what is left of the site: ``[a, physical, leg]``."""
        x = np.moveaxis(self.scaled(name, 1.0, toward), (0, toward), (3, 4))
        q, r = np.linalg.qr(x.reshape(-1, x.shape[3] * x.shape[4]))
        return q.reshape(*x.shape[:3], -1), r.reshape(-1, *x.shape[3:])

    def update(self, name: str, leg: int, gate: np.ndarray, bond: int) -> None:
        """A gate on a site and its neighbour, the bond between them cut."""
        other = self.next[name, leg]
        (q, r), (p, s) = self.reduced(name, leg), self.reduced(other, OPPOSITE[leg])
        joint = np.tensordot(r * self.weights[name, leg], s, (2, 2))  # a, in, c, in'
        joint = np.tensordot(joint, gate, ((1, 3), (2, 3))).transpose(0, 2, 1, 3)
        a, d, c, _ = joint.shape
        u, values, vh = self.cut(joint, (name, leg), (q, p), bond)
        k = len(values)
        self.weights[name, leg] = values / np.linalg.norm(values)
        self.put(name, leg, np.tensordot(q, u.reshape(a, d, k), (3, 0)))
        self.put(other, OPPOSITE[leg], np.tensordot(p, vh.T.reshape(c, d, k), (3, 0)))

    def update_through(self, name: str, leg: int, after: int, gate: np.ndarray, bond: int) -> None:
        """A gate on a site and one two steps away, both bonds of the path cut one after the other."""
        _, middle, last = self.along(name, (leg, after))
        before, back = OPPOSITE[leg], OPPOSITE[after]
        (q, r), (p, s) = self.reduced(name, leg), self.reduced(last, back)
        x = np.moveaxis(self.scaled(middle, 1.0), (before, 0, after), (0, 3, 4))
        joint = np.tensordot(np.tensordot(r, x, (2, 0)), s, (5, 2))  # a, in, two legs, physical, c, in'
        joint = np.tensordot(joint, gate, ((1, 6), (2, 3)))
        a, *others, d, c = joint.shape[:5]
        u, values, rest = leading(joint.transpose(0, 5, 1, 2, 3, 4, 6).reshape(a, d, -1, c * d), bond)
        k = len(values)
        v, more, vh = leading((values[:, None] * rest).reshape(k, -1, c, d), bond)
        self.weights[self.bond_at(name, leg)] = values / np.linalg.norm(values)
        self.weights[self.bond_at(middle, after)] = more / np.linalg.norm(more)
        self.put(name, leg, np.tensordot(q, u.reshape(a, d, k), (3, 0)))
        self.put(last, back, np.tensordot(p, vh.T.reshape(c, d, -1), (3, 0)))
        at = [x for x in OPPOSITE if x != after].index(before)
        self.put(middle, after, np.moveaxis(v.reshape(k, *others, d, -1), 0, at))

    def cut(
        self, joint: np.ndarray, at: tuple[str, int], others: tuple[np.ndarray, np.ndarray], bond: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Two sites ``[a, out, c, out']`` apart again, as ``u @ diag(values) @ vh`` with at most `bond` values.

        `at` is where the bond is, `others` are the isometries from the other legs of both sites to a and to c.
        """
        return leading(joint, bond)

    def put(self, name: str, leg: int, x: np.ndarray) -> None:
        """A new site, of which legs (others, physical, the one updated) are given with their weights."""
        self.sites[name] = np.moveaxis(x, (3, 4), (0, leg))
        self.sites[name] = self.scaled(name, -1.0, leg)

    def state(self) -> PEPS:
        """The state, the weights shared among both sides."""
        return normalised(PEPS([self.scaled(name, 0.5) for name in self.sites], self.cell))
