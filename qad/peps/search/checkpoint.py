"""Checkpoints of a search: a file that is either the last complete one or the one before, never half of one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from qad.archive import fingerprint, of_another, read_marked, understood, write_arrays
from qad.core.errors import ArgumentError
from qad.extend import as_array, value_of
from qad.linalg import Report
from qad.peps.infinite.cells import cell_of
from qad.peps.infinite.environment import Environment, check_start
from qad.peps.infinite.state import PEPS
from qad.peps.search.metric import overlaps
from qad.symmetric.generic import numbers, plain
from qad.symmetric.storage import arrays_of, tensor_of
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from typing import Any

    from qad.mps.operators.local import Site
    from qad.peps.models import Model
    from qad.typing import FilePath

FORMAT = "qad search in two dimensions 3"


class Checkpoint:
    """The file of one search, which goes on to larger bonds.

    See `qad.archive.put` for how it is replaced. Pattern, symmetry and dtype are those of the state `like`, which
    is `start` where the caller gave one.
    """

    path: Path
    mark: dict[str, object]
    sizes: dict[str, int]
    dtype: np.dtype[Any]
    like: PEPS
    kind: Site | None

    def __init__(self, path: FilePath, model: Model, bond: int, chi: int, like: PEPS, start: PEPS | None):
        self.path, self.dtype, self.sizes, self.like = Path(path), like.dtype, {"bond": bond, "chi": chi}, like
        self.kind = model.kind
        if not self.path.parent.is_dir():
            raise ArgumentError(f"checkpoint: there is no folder {self.path.parent}; make it first")
        parts = [part for t in model.terms for part in (np.array(t.sites), as_array(value_of(t.operator)))]
        self.mark = {"format": FORMAT, "model": fingerprint(parts)}
        self.mark |= {"cell": list(like.cell), "symmetry": like.symmetry}
        self.mark["start"] = None if start is None else fingerprint([numbers(plain(x)) for x in start.tensors])
        if like.conserved:
            self.mark |= {
                "format": f"{FORMAT}, with charges",
                "names": list(like.conserved.names),
                "charges": np.array(like.conserved.charges).tolist(),
            }

    def write(self, state: PEPS, env: Environment, history: list[float]) -> None:
        """Replace the file by the present state, its environment (not of charges) and the energies so far."""
        groups = {"site": state.tensors, "corner": env.corners, "edge": env.edges, "frame": env.frame}
        groups = {"site": state.tensors} if state.conserved else groups
        arrays: dict[str, np.ndarray] = {}
        for name, (i, x) in [(name, pair) for name, group in groups.items() for pair in enumerate(group)]:
            arrays |= arrays_of(x, f"{name}_{i} ") if type(x) is SymTensor else {f"{name}_{i}": np.asarray(x)}
        sizes = {name: len(group) for name, group in groups.items()}
        mark = self.mark | self.sizes | {"error": env.error, "sizes": sizes}
        write_arrays(self.path, history=np.array(history), mark=np.array(json.dumps(mark)), **arrays)

    def read(self) -> tuple[PEPS, Environment | None, list[float]] | None:
        """State, environment if it is one of these bonds, and energies of the file; None where there is no file.

        Raises
        ------
        ArgumentError
            If the file is damaged, or belongs to another search; it is left as it is.
        """
        if not self.path.exists():
            return None
        arrays, mark = read_marked(self.path, self.mark)
        with understood(self.path):
            state, env = held(arrays, mark, self.like, self.kind)
            history, before = [float(energy) for energy in arrays["history"]], {k: int(mark[k]) for k in self.sizes}
        if state.dtype != self.dtype:
            raise of_another(self.path, f"its states have dtype {state.dtype}, not {self.dtype}")
        if before["bond"] < self.sizes["bond"] and not state.conserved:
            return state, None, history
        for name, size in self.sizes.items():
            if before[name] != size:
                raise of_another(self.path, f"its {name} is {before[name]}, not {size}")
        return state, env, history


def held(
    arrays: dict[str, np.ndarray], mark: dict[str, Any], like: PEPS, kind: Site | None
) -> tuple[PEPS, Environment | None]:
    """State and environment that a checkpoint holds; raises one of several errors where something is amiss."""
    if like.conserved:
        sites = [tensor_of(arrays, f"site_{i} ") for i in range(mark["sizes"]["site"])]
        return PEPS(sites, mark["cell"], None, like.conserved, kind), None
    groups = {name: tuple(arrays[f"{name}_{i}"] for i in range(n)) for name, n in mark["sizes"].items()}
    state = PEPS(groups["site"], mark["cell"], mark["symmetry"], kind=kind)
    cell, error = cell_of(state.cell), float(mark["error"])
    env = Environment(groups["corner"], groups["edge"], groups["frame"], cell, error, Report())
    if not fits(env, state):
        raise ValueError("its environment is none of its state")
    return state, env


def fits(env: Environment, state: PEPS) -> bool:
    """Whether the legs of an environment meet, also those of the state, and its numbers are finite."""
    frame, p = env.frame[0], max(x.shape[1] for x in env.edges)
    try:
        check_start(env, state, env.cell)
        around = [overlaps(state[place], env, *place) for place in env.cell.first]
    except ValueError:
        return False
    meets = frame.shape[-2:] == (frame.shape[-1] * p, env.chi)
    return meets and all(np.isfinite(x).all() for x in (*env.frame, *[x for blocks in around for x in blocks]))
