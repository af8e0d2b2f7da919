"""From a recorded program to something that runs."""

import numpy as np

__all__ = ["executable"]


def executable(program, passes):
    """The program as it is run, and the function from input values to fresh results."""
    return program, lambda values: fresh(program, program.run(values), values)


def fresh(program, results, values):
    """Results that alias nothing: neither inputs, constants, buffers nor each other."""
    seen = {id(x) for x in values} | {id(x) for x in program.constants.values()}
    owned = []
    for x in results:
        if isinstance(x, np.ndarray) and (x.base is not None or id(x) in seen or not x.flags.writeable):
            x = x.copy()
        seen.add(id(x))
        owned.append(x)
    return owned
