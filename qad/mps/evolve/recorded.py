"""Steps of time evolution in operations that the tape differentiates; the values are those of the plain steps."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import like, value_of
from qad.linalg import expm
from qad.linalg.functions.expm_multiply import MARGIN, schedule, taylor
from qad.mps.environments import edge, operator_matrix, past_left, past_right
from qad.mps.evolve.cut import move, split
from qad.mps.evolve.neighbours import neighbour_terms
from qad.mps.evolve.suzuki import rounds
from qad.mps.evolve.tdvp import TIGHTEST, OneSiteTdvp
from qad.mps.evolve.tebd import applied, swept
from qad.mps.gauge import isometric
from qad.mps.search.lanczos import Krylov

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.mps.evolve.tebd import Truncation
    from qad.mps.operator import MPO
    from qad.typing import Array, Scalar

PRODUCTS = 8  # for the norm of an effective operator


class GateSteps:
    """Rounds of gates, on even bonds from left to right and on odd ones on the way back.

    What they are made of, `made`, is a flat list of arrays that may be recorded: here the gates of every other bond,
    for each distinct share of a step.

    Parameters
    ----------
    order : int
        Of the product formula, 2 or 4.
    steps : int
        How many steps there are; rounds are more or fewer.
    bonds : int
    """

    def __init__(self, order: int, steps: int, bonds: int):
        self.rounds: list[tuple[float, float]] = rounds(order, steps)
        self.bonds: int = bonds
        self.distinct: list[tuple[int, float]] = sorted({x for both in self.rounds for x in enumerate(both) if x[1]})

    def __len__(self) -> int:
        return len(self.rounds)

    def made_of(self, H: MPO, factor: Scalar) -> list[Array]:
        """The gates of a step ``exp(factor * H)``."""
        terms, legs = neighbour_terms(H), [w.shape[2] for w in H]
        shapes = [(s, t, s, t) for s, t in pairwise(legs)]
        return [
            expm((factor * share) * terms[site].reshape(legs[site] * legs[site + 1], -1)).reshape(shapes[site])
            for first, share in self.distinct
            for site in range(first, self.bonds, 2)
        ]

    def layers(self, made: Sequence[Array], k: int) -> list[list[Array | None]]:
        """The gates of the two sweeps of a round, one or None for every bond."""
        found, kinds, start = [], {}, 0
        for kind in self.distinct:
            size = len(range(kind[0], self.bonds, 2))
            kinds[kind], start = made[start : start + size], start + size
        for first, share in enumerate(self.rounds[k]):
            gates: list[Array | None] = [None] * self.bonds
            gates[first::2] = kinds.get((first, share), gates[first::2])
            found.append(gates)
        return found

    def plain(
        self, made: Sequence[np.ndarray], tensors: list[np.ndarray], truncation: Truncation
    ) -> Callable[..., float]:
        """A function that makes a round on plain tensors, in place; it gives the logarithm of a scale left out.

        In the operations that are recorded later: rounding by others turns faint directions, and may keep others.
        """

        def step(k: int) -> float:
            tensors[:] = self.recorded(made, tensors, truncation, k)
            return 0.0

        return step

    def back(self, made: Sequence[np.ndarray], tensors: list[np.ndarray], truncation: Truncation, k: int) -> None:
        """Undo a round of unitary gates, in place."""
        inverse = [gate.conj().transpose(2, 3, 0, 1) for gate in made]
        for gates, to_right in zip(self.layers(inverse, k)[::-1], (True, False), strict=True):
            swept(gates, tensors, truncation, to_right)

    def recorded(self, made: Sequence[Array], tensors: Sequence[Array], truncation: Truncation, k: int) -> list[Array]:
        """The tensors after a round."""
        out = list(tensors)
        for gates, to_right in zip(self.layers(made, k), (True, False), strict=True):
            for site in range(self.bonds) if to_right else reversed(range(self.bonds)):
                if gates[site] is None:
                    move(out, site, to_right)
                else:
                    pair, before = applied(gates[site], out, site), out[site + to_right]
                    out[site : site + 2] = split(pair, truncation, to_right, before)
        return out


class TdvpSteps:
    """Steps of the variational principle, of one site or two; made of the factor and the tensors of the operator."""

    two_sites: bool
    steps: int

    def __init__(self, two_sites: bool, steps: int):
        self.two_sites, self.steps = two_sites, steps

    def __len__(self) -> int:
        return self.steps

    def made_of(self, H: MPO, factor: Scalar) -> list[Array]:
        """The factor, and the operator."""
        return [like(*H).asarray(factor) if not hasattr(factor, "dtype") else factor, *H]

    def plain(
        self, made: Sequence[np.ndarray], tensors: list[np.ndarray], truncation: Truncation
    ) -> Callable[..., float]:
        """A function that evolves plain tensors in place by one step; it gives the logarithm of a scale left out."""
        if self.two_sites:  # in the same operations, for faint directions of bonds turn with the error of others

            def step(k: int) -> float:
                tensors[:] = self.recorded(made, tensors, truncation, k)
                return 0.0

            return step
        factor = complex(made[0]) if made[0].dtype.kind == "c" else float(made[0])
        sweep = OneSiteTdvp(made[1:], tensors, factor, TIGHTEST)
        return lambda k: sweep.advance(truncation, 1)

    def back(self, made: Sequence[np.ndarray], tensors: list[np.ndarray], truncation: Truncation, k: int) -> None:
        """Undo a step of real time, in place."""
        self.plain([-made[0], *made[1:]], tensors, truncation)(k)

    def recorded(self, made: Sequence[Array], tensors: Sequence[Array], truncation: Truncation, k: int) -> list[Array]:
        """The tensors after a step."""
        sweep = RecordedSweep(made, tensors)
        if self.two_sites:
            sweep.two_sites(truncation)
        else:
            sweep.one_site()
        return sweep.tensors


class RecordedSweep:
    """One step of the variational principle, as in `qad.mps.evolve.tdvp`, in recorded operations."""

    def __init__(self, made: Sequence[Array], tensors: Sequence[Array]):
        self.half: Array = made[0] / 2
        self.H: Sequence[Array] = made[1:]
        self.tensors: list[Array] = list(tensors)
        n, unit = len(tensors), edge(np.result_type(*{t.dtype for t in tensors}, made[0].dtype), like(*tensors))
        self.left: list[Array] = [unit] * n
        self.right: list[Array] = [unit] * n
        for site in reversed(range(1, n)):
            self.right[site - 1] = past_right(self.right[site], tensors[site], operator=self.H[site])

    def one_site(self) -> None:
        """Every site to the right and back; bonds stay as they are."""
        last = len(self.tensors) - 1
        for site in range(last):
            self.evolve(site, 1)
            self.pass_right(site)
        self.evolve(last, 1)
        self.evolve(last, 1)
        for site in reversed(range(last)):
            self.pass_left(site + 1)
            self.evolve(site, 1)

    def two_sites(self, truncation: Truncation) -> None:
        """Every pair to the right and back."""
        last = len(self.tensors) - 2
        there = [(site, True) for site in range(last + 1)]
        for site, to_right in there + [(site, False) for site, _ in reversed(there)]:
            pair, before = np.tensordot(self.tensors[site], self.tensors[site + 1], 1), self.tensors[site + to_right]
            pair = self.after(pair, site, site + 1, 1)
            self.tensors[site : site + 2] = split(pair, truncation, to_right, before)
            self.passed(site if to_right else site + 1, to_right)
            if site != (last if to_right else 0):
                self.evolve(site + 1 if to_right else site, -1)

    def after(self, x: Array, first: int, last: int, sign: int) -> Array:
        """A centre of sites `first` to `last` after half a step; none for a bond."""
        return exponential((self.left[first], *self.H[first : last + 1], self.right[last]), x, sign * self.half)

    def evolve(self, site: int, sign: int) -> None:
        """Only the centre."""
        self.tensors[site] = self.after(self.tensors[site], site, site, sign)

    def passed(self, site: int, to_right: bool) -> None:
        """The environment past a site that has become an isometry."""
        if to_right and site + 1 < len(self.tensors):
            self.left[site + 1] = past_left(self.left[site], self.tensors[site], operator=self.H[site])
        elif not to_right and site > 0:
            self.right[site - 1] = past_right(self.right[site], self.tensors[site], operator=self.H[site])

    def pass_right(self, site: int) -> None:
        """Leave an isometry behind; the bond matrix goes back in time before it joins the next site."""
        a, s, b = self.tensors[site].shape
        q, bond = isometric(self.tensors[site].reshape(a * s, b))
        self.tensors[site] = full(q, min(a * s, b)).reshape(a, s, -1)
        self.passed(site, True)
        bond = self.after(bond, site + 1, site, -1)
        self.tensors[site + 1] = np.tensordot(bond, self.tensors[site + 1], 1)

    def pass_left(self, site: int) -> None:
        """The mirror image."""
        a, s, b = self.tensors[site].shape
        q, bond = isometric(self.tensors[site].reshape(a, s * b).mT)
        self.tensors[site] = full(q, min(a, s * b)).mT.reshape(-1, s, b)
        self.passed(site, False)
        bond = self.after(bond.mT, site, site - 1, -1)
        self.tensors[site - 1] = np.tensordot(self.tensors[site - 1], bond, 1)


def exponential(parts: Sequence[Array], x: Array, factor: Array) -> Array:
    """``exp(factor A) x`` for the effective operator of an environment, the operators of sites, and an environment.

    By Taylor polynomials, of which length and degree follow from the norm of A: derivatives are as good as the value.
    """
    value = value_of(x)
    space = Krylov(np.random.default_rng(0).standard_normal(value.size).astype(value.dtype), PRODUCTS)
    plain = [value_of(part) for part in parts]
    while not len(space.diagonal) or not space.full:
        space.extend(lambda y: effective(plain, y.reshape(value.shape)).reshape(-1))
    size = np.abs(np.linalg.eigvalsh(space.projected())).max()
    steps, degree = schedule(abs(complex(value_of(factor))) * MARGIN * size)
    for _ in range(steps):
        x = taylor(lambda y: effective(parts, y), x, factor * (1 / steps), degree)
    return x


def effective(parts: Sequence[Array], x: Array) -> Array:
    """What an effective operator makes of a centre (a, s, ..., b)."""
    left, *operators, right = parts
    bra, _, ket = left.shape
    out, legs = left.reshape(-1, ket) @ x.reshape(ket, -1), []
    for w in operators:
        out = operator_matrix(w) @ out.reshape(bra * int(np.prod(legs)), w.shape[0] * w.shape[3], -1)
        legs.append(w.shape[2])
    rows = bra * int(np.prod(legs))
    return (out.reshape(rows, -1) @ right.reshape(len(right), -1).T).reshape(bra, *legs, -1)


def full(q: Array, rank: int) -> Array:
    """The isometry, where it has as many columns as it could; no derivative knows what others would be."""
    if value_of(q).shape[1] < rank:
        raise ArgumentError(
            f"a bond of the state has rank {value_of(q).shape[1]} of {rank}: tdvp of one site would fill the others in "
            "directions that have no derivative: psi.truncate(cutoff=1e-12)[0] drops them, and 'tdvp2' lets bonds grow"
        )
    return q
