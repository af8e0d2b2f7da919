"""Checkpoints of a search: a file that is either the last complete one or the one before, never half of one."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from qad.core.archive import read_marked, write_arrays
from qad.core.errors import ArgumentError
from qad.extend import as_array, value_of
from qad.linalg import Report
from qad.peps.cells import cell_of
from qad.peps.environment import Environment, check_start
from qad.peps.state import PEPS

if TYPE_CHECKING:
    from qad.peps.models import Model
    from qad.typing import FilePath

FORMAT = "qad search in two dimensions 2"


class Checkpoint:
    """The file of one search.

    See `qad.core.archive.write_arrays` for how it is replaced. Pattern and symmetry are those of the state `like`.
    """

    path: Path
    mark: dict[str, object]

    def __init__(self, path: FilePath, model: Model, bond: int, chi: int, like: PEPS):
        self.path = Path(path)
        if not self.path.parent.is_dir():
            raise ArgumentError(f"checkpoint: there is no folder {self.path.parent}; make it first")
        self.mark = {"format": FORMAT, "model": fingerprint(model), "bond": bond, "chi": chi}
        self.mark |= {"cell": list(like.cell), "symmetry": like.symmetry}

    def write(self, state: PEPS, env: Environment, history: list[float]) -> None:
        """Replace the file by the present state, its environment and the energies so far."""
        groups = {"site": state.tensors, "corner": env.corners, "edge": env.edges, "frame": env.frame}
        arrays = {f"{name}_{i}": np.asarray(x) for name, group in groups.items() for i, x in enumerate(group)}
        sizes = {name: len(group) for name, group in groups.items()}
        rest = {"error": env.error, "sizes": sizes}
        write_arrays(self.path, history=np.array(history), mark=np.array(json.dumps(self.mark | rest)), **arrays)

    def read(self) -> tuple[PEPS, Environment, list[float]] | None:
        """State, environment and energies of the file, or None where there is no file.

        Raises
        ------
        ArgumentError
            If the file is damaged, or belongs to another search; it is left as it is.
        """
        if not self.path.exists():
            return None
        arrays, mark = read_marked(self.path, self.mark)
        groups = {name: tuple(arrays[f"{name}_{i}"] for i in range(n)) for name, n in mark["sizes"].items()}
        state = PEPS(groups["site"], mark["cell"], mark["symmetry"])
        env = Environment(
            groups["corner"], groups["edge"], groups["frame"], cell_of(state.cell), mark["error"], Report()
        )
        if not fits(env, state) or arrays["history"].dtype != float:
            raise ArgumentError(f"checkpoint {self.path} is damaged: its environment is none of its state")
        return state, env, [float(energy) for energy in arrays["history"]]


def fits(env: Environment, state: PEPS) -> bool:
    """Whether the legs of an environment meet, also those of the state, and its numbers are finite."""
    try:
        check_start(env, state, env.cell)
    except ArgumentError:
        return False
    frame, p = env.frame[0], max(x.shape[1] for x in env.edges)
    meets = frame.shape[-2:] == (frame.shape[-1] * p, env.chi) and all(
        env.corner(k, *place).shape[1] == env.edge(k, *place).shape[0]
        and env.edge(k, *place).shape[2] == env.corner((k + 1) % 4, *place).shape[0]
        for place in env.cell.first
        for k in range(4)
    )
    return meets and all(np.isfinite(x).all() for x in (*env.corners, *env.edges, *env.frame))


def fingerprint(model: Model) -> int:
    """A checksum of a model's terms."""
    value = 0
    for t in model.terms:
        operator = as_array(value_of(t.operator))
        value = zlib.crc32(np.ascontiguousarray(operator).tobytes(), value)
        value = zlib.crc32(str((t.sites, operator.shape, operator.dtype)).encode(), value)
    return value
