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

if TYPE_CHECKING:
    from typing import Any

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

    def __init__(self, path: FilePath, model: Model, bond: int, chi: int, like: PEPS, start: PEPS | None):
        self.path, self.dtype, self.sizes = Path(path), like.dtype, {"bond": bond, "chi": chi}
        if not self.path.parent.is_dir():
            raise ArgumentError(f"checkpoint: there is no folder {self.path.parent}; make it first")
        parts = [part for t in model.terms for part in (np.array(t.sites), as_array(value_of(t.operator)))]
        self.mark = {"format": FORMAT, "model": fingerprint(parts)}
        self.mark |= {"cell": list(like.cell), "symmetry": like.symmetry}
        self.mark["start"] = None if start is None else fingerprint(map(as_array, map(value_of, start.tensors)))

    def write(self, state: PEPS, env: Environment, history: list[float]) -> None:
        """Replace the file by the present state, its environment and the energies so far."""
        groups = {"site": state.tensors, "corner": env.corners, "edge": env.edges, "frame": env.frame}
        arrays = {f"{name}_{i}": np.asarray(x) for name, group in groups.items() for i, x in enumerate(group)}
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
            state, env = held(arrays, mark)
            history, before = [float(energy) for energy in arrays["history"]], {k: int(mark[k]) for k in self.sizes}
        if state.dtype != self.dtype:
            raise of_another(self.path, f"its states have dtype {state.dtype}, not {self.dtype}")
        if before["bond"] < self.sizes["bond"]:
            return state, None, history
        for name, size in self.sizes.items():
            if before[name] != size:
                raise of_another(self.path, f"its {name} is {before[name]}, not {size}")
        return state, env, history


def held(arrays: dict[str, np.ndarray], mark: dict[str, Any]) -> tuple[PEPS, Environment]:
    """State and environment that a checkpoint holds; raises one of several errors where something is amiss."""
    groups = {name: tuple(arrays[f"{name}_{i}"] for i in range(n)) for name, n in mark["sizes"].items()}
    state = PEPS(groups["site"], mark["cell"], mark["symmetry"])
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
    return meets and all(np.isfinite(x).all() for x in (*around, *env.frame))
