"""Environments of an infinite chain of definite charge, and the effective operators between them.

As `qad.mps.uniform.schur`, of which `Schur` has the same methods; the legs and flows are those of
`qad.mps.kernels.charged`.  A channel of an environment is taken from it, or put in its place, by a product with
a unit vector.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.mps.charges.uniform_channels import UniformChannels
from qad.mps.kernels.charged import backwards, onwards
from qad.mps.kernels.charged_terms import Effective, Terms
from qad.mps.kernels.dense_terms import Row, nothing_on
from qad.mps.uniform.conserving.transfer import transfer_of
from qad.mps.uniform.krylov import solution
from qad.mps.uniform.schur import PRODUCTS, only, steps_to_nothing
from qad.symmetric.contraction import contraction
from qad.symmetric.create import eye, from_dense
from qad.symmetric.sparse import Entries, applied
from qad.symmetric.tensor import SymTensor, bare

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.charges.quantities import Quantities
    from qad.mps.kernels.dense_terms import Apply
    from qad.mps.operators.uniform_mpo import UniformMPO


class SymmetricSchur:
    """The Hamiltonian of a cell, its channels of definite charge.

    Parameters
    ----------
    H : UniformMPO
    conserved : Quantities
        Of its cell, counted from the mean.
    dtype : dtype
        Of the states.
    """

    def __init__(self, H: UniformMPO, conserved: Quantities, dtype: np.dtype):
        self.channels: UniformChannels = UniformChannels(
            [w.astype(np.result_type(w.dtype, dtype)) for w in H], conserved
        )
        self.tensors: list[np.ndarray] = self.channels.tensors
        self.steps: int | None = steps_to_nothing(self.tensors)
        self.entries: list[Entries] = [Entries(self.channels.tensor(n, w)) for n, w in enumerate(self.tensors)]
        self.terms: list[Terms] = [self.terms_on(site) for site in range(len(self.tensors))]
        self.bonds: list[Bond] = [Bond(self.channels, site) for site in range(len(self.tensors))]

    def __len__(self) -> int:
        return len(self.tensors)

    def terms_on(self, site: int) -> Terms:
        """The terms around one site."""
        w = self.tensors[site]
        left, right = w.shape[:2]
        row = Row(w, nothing_on(right), only(0, left), only(0, right), only(right - 1, right), only(right - 1, right))
        return Terms(row, self.channels, site, 1)

    def lefts(
        self, kets: Sequence[SymTensor], density: SymTensor, start: SymTensor | None, tol: float
    ) -> tuple[list[SymTensor], float]:
        """Environments (bra, channel, ket) left of every site, for left isometries; and the energy of a cell."""
        first, energy = Side(self, kets, ahead=True).fixed(density, start, tol)
        found = [first]
        for ket, w in zip(kets[:-1], self.entries[:-1], strict=True):
            found.append(onwards(found[-1], ket, w))
        return found, energy

    def rights(
        self, kets: Sequence[SymTensor], density: SymTensor, start: SymTensor | None, tol: float
    ) -> tuple[list[SymTensor], float]:
        """Environments (bra, channel, ket) right of every site, for right isometries; and the energy of a cell."""
        first, energy = Side(self, kets, ahead=False).fixed(density, start, tol)
        found = [first]
        for ket, w in zip(kets[:0:-1], self.entries[:0:-1], strict=True):
            found.append(backwards(found[-1], ket, w))
        return found[::-1], energy

    def one_site(self, site: int, left: SymTensor, right: SymTensor, centre: SymTensor) -> Apply:
        """The effective operator of the tensor (a, s, b) of a site, on flat arrays of two legs against one."""
        return self.terms[site].effective(left, right, centre)

    def bond(self, site: int, left: SymTensor, right: SymTensor, centre: SymTensor) -> Apply:
        """The effective operator of the matrix (a, b) on the bond left of a site, on flat arrays."""
        return self.bonds[site].effective(left, right, centre)


class Bond:
    """The channels of one bond: unit vectors that take one out of an environment, or put it there.

    Attributes
    ----------
    out, into : list of Entries
        Of the first and the last channel; they join a leg of an environment on the left, or are one.
    between : Entries or None
        What leaves out both, a map from the channels to those in between; None where there are none.
    """

    def __init__(self, channels: UniformChannels, bond: int):
        leg, order = channels.legs[bond], channels.orders[bond]
        one = np.eye(len(order))
        self.out: list[Entries] = [Entries(from_dense(one[k][order], (leg,))) for k in (0, -1)]
        self.into: list[Entries] = [Entries(from_dense(one[k][order], (leg.conj(),))) for k in (0, -1)]
        inner = (order != 0) & (order != len(order) - 1)
        self.between: Entries | None = None
        if inner.any():
            self.between = Entries(from_dense(np.diag(inner.astype(float)), (leg, leg.conj())))

    def taken(self, environment: SymTensor, channel: int, ahead: bool) -> SymTensor:
        """The first (0) or the last (1) channel of an environment, legs (bra, ket)."""
        return applied((self.out if ahead else self.into)[channel], environment, ((1,), (0,)), (0, 1), 1)

    def placed(self, matrix: SymTensor, channel: int, ahead: bool) -> SymTensor:
        """An environment of nothing but this matrix in the first (0) or the last (1) channel."""
        return applied((self.into if ahead else self.out)[channel], matrix, ((), ()), (0, 2, 1), 1)

    def inner(self, environment: SymTensor, ahead: bool) -> SymTensor:
        """An environment without its first and last channels."""
        if self.between is None:
            return environment * 0.0
        return applied(self.between, environment, ((1,), (0 if ahead else 1,)), (0, 2, 1), 1)

    def effective(self, left: SymTensor, right: SymTensor, centre: SymTensor) -> Apply:
        """The effective operator of the matrix on this bond, on flat arrays."""
        centre = centre.resplit(1)
        ended, begun = self.taken(left, 1, True), self.taken(right, 0, False)
        begun = begun.transpose(1, 0)
        parts = Effective(ended, begun, None, None, centre)
        if self.between is None:
            return parts
        across = self.inner(left, True)  # a' v a
        first = contraction(across.layout, centre.layout, (2,), (0,))  # a' v b
        second = contraction(first.out, right.layout, (1, 2), (1, 2))  # a' b'

        def apply(x: np.ndarray) -> np.ndarray:
            return parts(x) + second.run(first.run(across.data, x), right.data)

        return apply


class Side:
    """One side of the infinite chain: how environments pass the cell of isometries towards the other side.

    Parameters
    ----------
    H : SymmetricSchur
    kets : sequence of SymTensor
        Of the cell.
    ahead : bool
        Whether this is the left side, whose environments go to the right.
    """

    def __init__(self, H: SymmetricSchur, kets: Sequence[SymTensor], ahead: bool):
        self.bond: Bond = H.bonds[0]
        self.ahead: bool = ahead
        self.steps: int | None = H.steps
        self.kets: Sequence[SymTensor] = kets
        turn = slice(None) if ahead else slice(None, None, -1)
        self.sites: list[tuple[SymTensor, Entries]] = list(zip(kets[turn], H.entries[turn], strict=True))
        leg = kets[0].legs[0]
        self.one: SymTensor = eye(leg if ahead else leg.conj(), kets[0].dtype)

    def passed(self, x: SymTensor) -> SymTensor:
        """An environment past the cell."""
        for ket, w in self.sites:
            x = onwards(x, ket, w) if self.ahead else backwards(x, ket, w)
        return x

    def fixed(self, density: SymTensor, start: SymTensor | None, tol: float) -> tuple[SymTensor, float]:
        """The environment of the whole side, and the energy of the cell; see `qad.mps.uniform.schur.fixed`."""
        bond, ahead = self.bond, self.ahead
        nothing, whole = (0, 1) if ahead else (1, 0)
        begun = bond.placed(self.one, nothing, ahead)
        if start is not None and start.layout is not begun.layout:
            start = None
        if self.steps is None:
            found = begun + self.series(begun, start, tol)
        else:
            found = begun
            for _ in range(self.steps):
                found = begun + bond.inner(self.passed(found), ahead)
        source = bond.taken(self.passed(found), whole, ahead)
        guess = None if start is None else bond.taken(start, whole, ahead)
        last = self.alone(source, density, guess, tol)
        energy = np.vdot(density.data, last.data).real
        return found + bond.placed(last - energy * self.one, whole, ahead), float(energy)

    def series(self, begun: SymTensor, start: SymTensor | None, tol: float) -> SymTensor:
        """The channels in between, where terms of any length make them a geometric series."""
        where, bond, ahead = begun.layout, self.bond, self.ahead
        source = bond.inner(self.passed(begun), ahead)

        def apply(v: np.ndarray) -> np.ndarray:
            return v - bond.inner(self.passed(bare(where, v)), ahead).data

        guess = source if start is None else bond.inner(start, ahead)
        return bare(where, solution(apply, source.data, guess.data, tol, PRODUCTS))

    def alone(self, source: SymTensor, density: SymTensor, guess: SymTensor | None, tol: float) -> SymTensor:
        """The solution of ``x - T(x) + tr(x density) 1 = source``."""
        one, kets = self.one.data, self.kets
        passed = transfer_of(kets, kets, source.layout, self.ahead)

        def apply(v: np.ndarray) -> np.ndarray:
            return v - passed(v) + np.vdot(density.data, v) * one

        start = np.zeros_like(source.data) if guess is None else guess.data
        return bare(source.layout, solution(apply, source.data, start, tol, PRODUCTS))
