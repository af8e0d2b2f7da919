"""Sites and the weights of the bonds between them, which stand for environments while gates act."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from qad import linalg, symmetric
from qad.core.errors import ArgumentError
from qad.peps.charges import graded
from qad.peps.infinite.state import STEPS
from qad.peps.search.paths import DOWN, OPPOSITE, RIGHT
from qad.showing.progress import bar_for
from qad.symmetric.generic import join, norm, qr, scaled, truncated_svd
from qad.symmetric.legs import Leg
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence
    from typing import Any, TypeAlias

    from qad.mps.charges.quantities import Quantities
    from qad.mps.operators.local import Site
    from qad.peps.search.paths import Path
    from qad.typing import Seed

    Name: TypeAlias = Hashable  # of a site: a letter of a cell, or a place

LEAST = 1e-12  # relative: smaller weights are dropped


def product_of(conserved: Quantities, states: Iterable[np.ndarray]) -> list[SymTensor]:
    """The sites of a product of neutral states: all bonds are neutral."""
    one, found = Leg({conserved.symmetry.shown(conserved.symmetry.neutral): 1}, 1, conserved.symmetry), []
    for leg, order, state in zip(conserved.legs, conserved.orders, states, strict=True):
        x = state[order].reshape(-1, 1, 1, 1, 1)
        found.append(symmetric.from_dense(x, (leg, one, one, one.conj(), one.conj())))
    return found


def started(
    names: Sequence[Name], kind: Site, dtype: np.dtype, conserved: Quantities | None, states: Sequence[int], seed: Seed
) -> dict[Name, Any]:
    """The sites from which time begins: a product of these basis states; of random spins where nothing is conserved."""
    if conserved is None:
        rng = np.random.default_rng(seed)
        sites = [rng.standard_normal((kind.phys, 1, 1, 1, 1)).astype(dtype) for _ in names]
    else:
        sites = product_of(conserved, np.eye(kind.phys, dtype=dtype)[list(states)])
    return dict(zip(names, sites, strict=True))


def gate(term: Any, time: float) -> Any:
    """``exp(-time h)`` with the legs of h."""
    if type(term) is SymTensor:
        return symmetric.expm(-time * term)
    d = term.shape[0]
    return linalg.expm(-time * term.reshape(d * d, d * d)).reshape(term.shape)


def leading(joint: Any, rows: int, bond: int, leg: int = RIGHT) -> tuple[Any, np.ndarray, Any]:
    """The factors of some sites, ``[rows, k]`` and ``[k, others]``, and the values between them, `bond` at most.

    The bond lies at this leg of the first factor: of symmetric tensors it leaves that to the right or down.
    """
    if leg in (RIGHT, DOWN):
        return truncated_svd(joint, rows, bond, LEAST)
    others = joint.ndim - rows
    v, values, u = truncated_svd(joint.transpose(*range(rows, joint.ndim), *range(rows)), others, bond, LEAST)
    return u.transpose(*range(1, rows + 1), 0), values, v.transpose(others, *range(others))


class Weighted:
    """Sites and the weights of the bonds between them, arrays or symmetric tensors, of a cell or of a finite lattice.

    Attributes
    ----------
    sites : dict of name to tensor
        Each with the weights of all its bonds.
    next : dict of (name, leg) to name
        The neighbour at a leg, where there is one.
    weights : dict of (name, leg) to array
        Of the bonds to the right and down, each of norm 1 once it is cut.
    log_norm, discarded : float
        The logarithm of what was divided out, and the sum of the weights that cuts took off.
    """

    def __init__(self, sites: dict[Name, Any], next: dict[tuple[Name, int], Name]):
        self.sites: dict[Name, Any] = sites
        self.next: dict[tuple[Name, int], Name] = next
        self.log_norm: float = 0.0
        self.discarded: float = 0.0
        self.weights: dict[tuple[Name, int], np.ndarray] = {at: np.ones(1) for at in next if at[1] in (RIGHT, DOWN)}

    def everywhere(self, terms: dict[Path, Any]) -> dict[tuple[Name, Path], Any]:
        """The operators by the site at which their paths begin as well."""
        found = {(name, path): term for name in self.sites for path, term in terms.items()}
        alike = [name for name, path in found if self.along(name, path)[-1] == name]
        if alike:
            raise ArgumentError(f'a diagonal term joins two sites {alike[0]!r}: take a cell such as ["AB", "CD"]')
        return found

    def graded(
        self, terms: dict[tuple[Name, Path], np.ndarray], conserved: Quantities | None, kind: Site
    ) -> dict[tuple[Name, Path], Any]:
        """The operators as graded tensors of the sites at both ends, where something is conserved."""
        if conserved is None:
            return terms
        numbers = {name: i for i, name in enumerate(self.sites)}
        ends = {at: [numbers[name] for name in self.along(*at)[:: len(at[1])]] for at in terms}
        return {at: graded(term, ends[at], conserved, kind) for at, term in terms.items()}

    def evolve(self, terms: dict[tuple[Name, Path], Any], bond: int, steps: Sequence[tuple[float, int]]) -> None:
        """Imaginary time, in steps (time, number), by the terms of two sites."""
        for time, number in steps:
            if not isinstance(number, Integral) or number < 0 or not np.isfinite(time):
                raise ArgumentError(
                    f"steps are pairs (time, number), a finite time so many times, not {(time, number)}"
                )
            gates = [(*at, gate(term, time)) for at, term in terms.items()]
            with bar_for(label=f"steps of {time:g}", total=number) as bar:
                for _ in range(number):
                    self.apply(gates, bond)
                    bar.update()

    def apply(self, gates: Iterable[tuple[Name, tuple[int, ...], Any]], bond: int) -> None:
        """Gates one after the other, each from a site on along a path."""
        if not isinstance(bond, Integral) or bond < 1:
            raise ArgumentError(f"bond is a positive whole number, not {bond!r}")
        for name, path, operator in gates:
            act = self.update if len(path) == 1 else self.update_through
            act(name, *path, operator, int(bond))

    def along(self, name: Name, path: Sequence[int]) -> list[Name]:
        """The sites on a path, from one that is its first."""
        names = [name]
        for leg in path:
            names.append(self.next[names[-1], leg])
        return names

    def bond_at(self, name: Name, leg: int) -> tuple[Name, int]:
        """The site and the leg by which the bond at a leg of a site is known."""
        return (name, leg) if leg in (RIGHT, DOWN) else (self.next[name, leg], OPPOSITE[leg])

    def scaled(self, name: Name, power: float, *legs: int) -> Any:
        """A site times powers of the weights of some legs, which are in it."""
        x = self.sites[name]
        for leg in legs:
            if (name, leg) in self.next:
                x = scaled(x, self.weights[self.bond_at(name, leg)] ** power, leg)
        return x

    def reduced(self, name: Name, toward: int) -> tuple[Any, Any]:
        """An isometry ``[three legs, a]``, and what is left of the site: ``[a, physical, leg]``."""
        return qr(self.sites[name].transpose(*order_of(toward)), 3)

    def update(self, name: Name, leg: int, gate: Any, bond: int) -> None:
        """A gate on a site and its neighbour, the bond between them cut."""
        other, back = self.next[name, leg], OPPOSITE[leg]
        (q, r), (p, s) = self.reduced(name, leg), self.reduced(other, back)
        joint = join(scaled(r, 1 / self.weights[name, leg], 2), s, ((2,), (2,)))  # a, in, c, in'
        joint = join(gate, joint, ((2, 3), (1, 3))).transpose(2, 0, 3, 1)
        u, values, v = self.cut(joint, (name, leg), (q, p), bond)
        weights = self.weigh(name, leg, values)
        self.note(joint, values)
        self.put(name, order_of(leg), join(q, scaled(u, weights, 2)))
        self.put(other, order_of(back), join(p, scaled(v, weights, 0).transpose(1, 2, 0)))

    def update_through(self, name: Name, leg: int, after: int, gate: Any, bond: int) -> None:
        """A gate on a site and one two steps away, both bonds of the path cut one after the other."""
        _, middle, last = self.along(name, (leg, after))
        before, back = OPPOSITE[leg], OPPOSITE[after]
        (q, r), (p, s) = self.reduced(name, leg), self.reduced(last, back)
        order = (before, *[x for x in STEPS if x not in (before, after)], 0, after)
        x = self.scaled(middle, -1.0, before, after).transpose(*order)
        joint = join(join(r, x), s, ((5,), (2,)))  # a, in, two legs, physical, c, in'
        joint = join(gate, joint, ((2, 3), (1, 6))).transpose(2, 0, 3, 4, 5, 6, 1)
        u, values, rest = leading(joint, 2, bond, leg)
        v, more, w = leading(scaled(rest, values, 0), 4, bond, after)
        first, second = self.weigh(name, leg, values), self.weigh(middle, after, more)
        self.note(joint, more)
        self.put(name, order_of(leg), join(q, scaled(u, first, 2)))
        self.put(middle, order, scaled(v, second, 4))
        self.put(last, order_of(back), join(p, scaled(w, second, 0).transpose(1, 2, 0)))

    def cut(self, joint: Any, at: tuple[Name, int], others: tuple[Any, Any], bond: int) -> tuple[Any, np.ndarray, Any]:
        """Two sites ``[a, out, c, out']`` apart again, ``[a, out, k]`` and ``[k, c, out']``, and the values between.

        `at` is where the bond is, `others` are the isometries from the other legs of both sites to a and to c.
        """
        return leading(joint, 2, bond)

    def note(self, joint: Any, values: np.ndarray) -> None:
        """Add up what is divided out of some sites, and what was cut off them."""
        size = np.linalg.norm(values)
        self.log_norm += float(np.log(size))
        self.discarded += max(0.0, 1 - float(size / norm(joint)) ** 2)

    def weigh(self, name: Name, leg: int, values: np.ndarray) -> np.ndarray:
        """New weights of the bond at a leg of a site, of norm 1."""
        found = self.weights[self.bond_at(name, leg)] = values / np.linalg.norm(values)
        return found

    def put(self, name: Name, order: Sequence[int], x: Any) -> None:
        """A new site, its legs in some order."""
        self.sites[name] = x.transpose(*[order.index(axis) for axis in range(5)])

    def balanced(self) -> list[Any]:
        """The sites, the weights shared among both sides."""
        return [self.scaled(name, -0.5, *STEPS) for name in self.sites]


def order_of(leg: int) -> tuple[int, ...]:
    """The legs of a site: three bonds, the physical one, and one that is updated."""
    return (*[x for x in STEPS if x != leg], 0, leg)
