"""Checkpoints of a search: a file that is either the last complete one or the one before, never half of one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.archive import fingerprint, of_another, read_marked, understood, write_arrays
from qad.core.errors import ArgumentError
from qad.linalg.support.random import normal
from qad.mps.chain.checks import check_kind, check_operator
from qad.mps.chain.row import total_of
from qad.mps.chain.sandwich import sandwich
from qad.mps.chain.state import MPS
from qad.mps.chain.storage import arrays_of, parts_of
from qad.symmetric.generic import dense

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qad.mps.operators.mpo import MPO
    from qad.mps.search.method import Method
    from qad.typing import DTypeLike, FilePath

FORMAT = "qad ground-state search 1"
ADDED = 1e-2  # norm of what fills new bonds of methods that keep them, beside the state's
OTHERS = {
    "start": "it began from another state: leave start= out, or give the same one",
    "excluded": "it excludes other states",
}
TINY = 1e-300
PROBES, ALIKE = 4, 1e-3  # product states, and differences of logarithms of overlaps with them, of equal states


class Checkpoint:
    """The file of one search: of one operator, method, sector, start, and of the same excluded states.

    See `qad.archive.put` for how it is replaced.

    Parameters
    ----------
    path : str or path-like
    H : MPO
    method : Method
    bond : int
        Of the search; a file of a smaller one is gone on from, to this bond.
    first : MPS
        The state that the search would begin from without a file.
    start : MPS, optional
        What the caller gave.
    dtype : dtype, optional
        Likewise.
    excluded : sequence of MPS
    weight : float, optional
        Of the excluded states.
    """

    method: Method
    bond: int
    dtype: np.dtype[Any] | None

    def __init__(
        self,
        path: FilePath,
        H: MPO,
        method: Method,
        bond: int,
        first: MPS,
        start: MPS | None = None,
        dtype: DTypeLike | None = None,
        excluded: Sequence[MPS] = (),
        weight: float | None = None,
    ):
        self.path: Path = Path(path)
        if not self.path.parent.is_dir():
            raise ArgumentError(f"checkpoint: there is no folder {self.path.parent}; make it first")
        self.H, self.method, self.bond, self.dtype = H, method, bond, None if dtype is None else np.dtype(dtype)
        self.mark: dict[str, Any] = {"format": FORMAT, "method": method.name, "operator": fingerprint(H)}
        self.mark |= {"conserve": None, "sector": None, "weight": weight if len(excluded) else None}
        if first.conserved is not None:
            self.mark |= {"conserve": list(first.conserved.names), "sector": list(total_of(first))}
        given = [] if start is None else [start]
        self.states: dict[str, list[list[float]]] = {
            "start": list(map(outline, given)), "excluded": list(map(outline, excluded)),
        }  # fmt: skip

    def write(self, state: MPS, history: Sequence[float], extra: dict[str, float]) -> None:
        """Replace the file by the present state."""
        arrays = arrays_of(state.tensors, state.conserved)
        mark = self.mark | self.states | {"sites": len(state), "bond": self.bond, "extra": extra}
        write_arrays(self.path, history=np.array(history), mark=np.array(json.dumps(mark)), **arrays)

    def read(self, fresh: MPS) -> tuple[MPS, list[float], dict[str, float]] | None:
        """``(state, history, extra)`` of the file, or None where there is no file.

        Parameters
        ----------
        fresh : MPS
            The state that the search would begin from without a file.

        Raises
        ------
        ArgumentError
            If the file is damaged, or belongs to another search; it is left as it is.
        """
        if not self.path.exists():
            return None
        arrays, mark = read_marked(self.path, self.mark)
        with understood(self.path):
            history, extra = arrays["history"], dict(mark["extra"])
            if history.dtype.kind != "f" or history.ndim != 1 or not np.all(np.isfinite(history)):
                raise ValueError("its history is no list of finite energies")
            if not all(isinstance(value, (int, float)) and np.isfinite(value) for value in extra.values()):
                raise ValueError("what it remembers of its method are no numbers")
            if not all(np.isfinite(x).all() for x in arrays.values() if x.dtype.kind in "fc"):
                raise ValueError("its tensors have entries that are not finite")
            state = self.state_of(arrays, mark)
            bond = int(mark.get("bond", state.bond))
            if bond < 1:
                raise ValueError(f"its bond is {bond}")
            others = [name for name in self.states if not alike(self.states[name], mark.get(name, []))]
        if others:
            raise of_another(self.path, OTHERS[others[0]])
        if self.dtype not in (None, state.dtype):
            raise of_another(self.path, f"its states have dtype {state.dtype}, not {self.dtype}")
        if bond > self.bond:
            raise of_another(self.path, f"its bond is {bond}, and {self.bond} is smaller")
        if bond < self.bond:
            state, extra = self.grown(state, fresh), {}
        return state, history.tolist(), extra

    def state_of(self, arrays: Mapping[str, Any], mark: Mapping[str, Any]) -> MPS:
        """The state that `write` wrote; raises one of several errors where something is amiss."""
        if self.mark["conserve"] is None:
            state = MPS([arrays[f"site_{i}"] for i in range(mark["sites"])])
        else:
            state = MPS(*parts_of(arrays, self.path))
            if mark["sites"] != len(state):
                raise ValueError(f"it is said to have {mark['sites']} sites, and has {len(state)}")
            if list(state.conserved.names) != self.mark["conserve"] or list(total_of(state)) != self.mark["sector"]:
                raise ValueError("its state lies in another sector")
        check_operator(state, self.H)
        return state

    def grown(self, state: MPS, fresh: MPS) -> MPS:
        """The state to go on from to larger bonds; for methods that fill none themselves a random one fills them."""
        if self.method.grows or self.states["start"] or state.bond >= self.bond:
            return state
        return (state.normalized() + ADDED * fresh.normalized()).truncate(self.bond)[0]


def outline(state: MPS) -> list[float]:
    """Overlaps with random product states, as logarithms beside the first one: equal for equal states in any gauge."""
    check_kind(state, MPS)
    rng, tensors = np.random.default_rng(0), list(map(dense, state))
    vectors = [normal(rng, (PROBES, t.shape[1]), np.dtype(complex)) for t in tensors]
    found = [sandwich([v[k].conj().reshape(1, -1, 1) for v in vectors], tensors) for k in range(PROBES)]
    first, *others = [float(np.log(np.abs(value) + TINY) + log_scale) for value, log_scale in found]
    return [x - first for x in others]


def alike(ones: list[list[float]], others: list[list[float]]) -> bool:
    """Whether outlines are of equal states, but for rounding."""
    return np.shape(ones) == np.shape(others) and np.allclose(ones, others, rtol=0.0, atol=ALIKE)
