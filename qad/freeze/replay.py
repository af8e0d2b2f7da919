"""From a recorded program to something that runs."""

import numpy as np

from qad.freeze.arena import Arena
from qad.freeze.passes import improve
from qad.freeze.places import Places
from qad.freeze.workspace import Workspace

__all__ = ["executable"]


def executable(program, passes):
    """The program as it is run, and the function from input values to fresh results.

    Without passes the recorded calls are repeated as they were; with them the program is improved, and run in
    workspaces: as many as there are threads that run it at once.
    """
    if passes == ():
        return program, lambda values: fresh(program, program.run(values), values)
    program = improve(program.copy(), passes)
    return program, Pool(program).run


class Pool:
    """Workspaces of one program; each runs one call at a time."""

    __slots__ = ("places", "arena", "kinds", "free")

    def __init__(self, program):
        self.places = Places(program)
        self.arena = Arena(self.places)
        self.kinds = program.kinds
        self.free = []

    def run(self, values):
        """Fresh results for these values of the inputs."""
        try:
            workspace = self.free.pop()  # atomic, and so is append
        except IndexError:
            workspace = Workspace(self.places, self.arena, self.kinds)
        try:
            return workspace.run(values)
        finally:
            self.free.append(workspace)


def fresh(program, results, values):
    """Results that alias nothing: neither inputs, constants nor each other."""
    seen = {id(x) for x in values} | {id(x) for x in program.constants.values()}
    owned = []
    for x in results:
        if isinstance(x, np.ndarray) and (x.base is not None or id(x) in seen or not x.flags.writeable):
            x = x.copy()
        seen.add(id(x))
        owned.append(x)
    return owned
