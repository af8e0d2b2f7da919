"""The states that searches start from: what the caller gives, or random ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.mps.chain.checks import check_kind, check_operator, check_plain
from qad.mps.chain.gauge import check_open
from qad.mps.chain.state import MPS
from qad.mps.charges.make import random_tensors
from qad.mps.charges.quantities import check_no_vacuum, conserved_by
from qad.mps.operators.local import Site

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.charges.quantities import Names
    from qad.mps.operators.mpo import MPO
    from qad.mps.uniform.state import UniformMPS
    from qad.typing import DTypeLike, Seed

SMALL = 8  # bond of a random start of those methods that grow it
NEAREST = 4  # charges of its bonds: where these are spread evenly few sweeps have to move them


def begin(
    H: MPO, bond: int, grows: bool, conserve: Names | None, sector: object, start: MPS | None, dtype: DTypeLike | None,
    seed: Seed, excluded: Sequence[MPS],
) -> MPS:  # fmt: skip
    """The state from which a search starts: the given one, or a random one of this bond, of a small one where it grows.

    With charges it lies in a sector, by default that of charge 0, which must not be a vacuum.
    """
    size = min(bond, SMALL) if grows else bond
    if conserve is not None or sector is not None or getattr(start, "conserved", None) is not None:
        if conserve is None and start is None:
            raise ArgumentError('sector= needs to know what is conserved: conserve="Sz"')
        if start is None:
            conserved = conserved_by(H, conserve)
            if sector is None:
                check_no_vacuum(conserved)
            dtype = np.dtype(H.dtype if dtype is None else dtype)
            near = NEAREST if grows else None
            start = MPS(random_tensors(size, conserved, sector, dtype, seed, near), conserved, H.sites)
        check_kind(start, MPS)
        check_sector(start, conserve, sector)
        check_operator(start, H)
        return start
    start = start_state(H, size, seed, dtype) if start is None else start
    for state in (start, *excluded):
        check_plain(state)
        check_operator(state, H)
        check_open(state)
    return start


def check_sector(start: MPS | UniformMPS, conserve: Names | None, sector: object) -> None:
    """Raise unless a state conserves what is asked for, and lies in that sector."""
    if start.conserved is None:
        raise ArgumentError(
            "a search that conserves charges starts from a state that does: that of an earlier one, or of an open "
            "chain qad.mps.MPS.product(..., conserve=...) or MPS.random(..., conserve=..., sector=...)"
        )
    names = (conserve,) if isinstance(conserve, str) else tuple(conserve or start.conserved.names)
    if names != start.conserved.names:
        raise ArgumentError(
            f"conserve={conserve!r}, but the start state conserves {start.conserved.names}: say the same"
        )
    if sector is not None and start.conserved.sector(sector) != start.conserved.sector(start.sector):
        raise ArgumentError(f"sector={sector!r}, but the start state lies in the sector {start.sector}: leave one out")


def start_state(H: MPO, bond: int, seed: Seed, dtype: DTypeLike | None) -> MPS:
    """A random open state on which `H` acts."""
    kinds = H.sites or [Site("any", {"Id": np.eye(w.shape[2])}) for w in H]
    psi = MPS.random(len(H), bond, dtype=(H.dtype if dtype is None else dtype), seed=seed, kind=kinds)
    return MPS(psi.tensors, None, H.sites)
