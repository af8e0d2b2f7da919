"""Environments of ``<bra|ket>``, kept while chains change a few sites at a time; what gates are paired with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.chains.charges import density_of, slopes_of
from qad.circuit.gates.table import pauli_matrix
from qad.mps.chain.densities import passed_left, passed_right
from qad.mps.chain.edges import edges
from qad.mps.kernels.dense import opened_left, past_left, past_right

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.circuit.program.ir import Instruction
    from qad.mps.charges.quantities import Quantities


class Overlaps:
    """The environments from the left and from the right of two chains.

    An environment has legs (bra, ket).  It is computed anew only from the first site on that is another array than last
    time, so that a sweep over all gates of a layer takes one sweep over the chain.
    """

    def __init__(self, bra: Sequence[Any], conserved: Quantities | None):
        self.conserved: Quantities | None = conserved
        left, right = edges(bra)
        self.kept: dict[str, tuple[list[Any], list[Any]]] = {"left": ([left], []), "right": ([right], [])}
        self.ways: dict[str, Any] = {"left": passed_left, "right": passed_right}
        if conserved is None:
            self.ways = {"left": past_left, "right": past_right}

    def left(self, bra: Sequence[np.ndarray], ket: Sequence[np.ndarray], stop: int) -> np.ndarray:
        """The environment of all sites before `stop`."""
        return self.past("left", range(stop), bra, ket)

    def right(self, bra: Sequence[np.ndarray], ket: Sequence[np.ndarray], start: int) -> np.ndarray:
        """The environment of all sites from `start` on."""
        return self.past("right", range(len(bra) - 1, start - 1, -1), bra, ket)

    def past(self, side: str, sites: range, bra: Sequence[np.ndarray], ket: Sequence[np.ndarray]) -> np.ndarray:
        """The environment after absorbing `sites`, as far as possible from memory."""
        (environments, pairs), past = self.kept[side], self.ways[side]
        valid = 0
        for site, (a, b) in zip(sites, pairs, strict=False):
            if a is not bra[site] or b is not ket[site]:
                break
            valid += 1
        if valid < len(sites):
            del environments[valid + 1 :], pairs[valid:]
        for site in sites[valid:]:
            environments.append(past(environments[-1], ket[site], bra[site]))
            pairs.append((bra[site], ket[site]))
        return environments[len(sites)]

    def paired(self, op: Instruction, bra: Sequence[Any], ket: Sequence[Any]) -> np.ndarray:
        """``<bra| d op / d v |ket>`` for every number v of an instruction, an array (E,)."""
        sites = sorted((*op.controls, *op.targets))
        left, right = self.left(bra, ket, sites[0]), self.right(bra, ket, sites[-1] + 1)
        if self.conserved is not None:
            return slopes_of(op, density_of(op, left, bra, ket, right, self.conserved))
        span = range(sites[0], sites[-1] + 1)
        if op.kind == "pauli":
            letters = {q: pauli_matrix(letter) for q, letter in zip(op.targets, op.letters, strict=True)}
            return np.array([
                swept(left, span, bra, ket, op.controls, {}).ravel() @ right.ravel(),
                -1j * (swept(left, span, bra, ket, op.controls, letters).ravel() @ right.ravel()),
            ])  # fmt: skip
        environment = swept(left, span, bra, ket, op.controls, {}, op.targets)
        density = np.tensordot(environment, right, 2)  # (out, in) of every target, in the order of sites
        k = len(op.targets)
        order = np.argsort(np.argsort(op.targets))
        density = density.transpose([2 * t for t in order] + [2 * t + 1 for t in order]).reshape(2**k, 2**k)
        return slopes_of(op, density)


def swept(
    environment: np.ndarray,
    span: range,
    bra: Sequence[np.ndarray],
    ket: Sequence[np.ndarray],
    controls: Sequence[int],
    matrices: dict[int, np.ndarray],
    opened: Sequence[int] = (),
) -> np.ndarray:
    """The environment after the sites of `span`, with controls at 1, matrices on sites, and the legs of some left open.

    An open site adds two axes (bra, ket) before the last two.
    """
    for site in span:
        a, b = bra[site], ket[site]
        if site in controls:
            environment = past_left(environment, b[:, 1:], a[:, 1:])
        elif site in opened:
            environment = opened_left(environment, b, a)
        else:
            environment = past_left(environment, matrices[site] @ b if site in matrices else b, a)
    return environment
