"""Functions frozen with the compiled loop beside the same without it."""

import numpy as np

import qad
from qad.frozen.passes import PASSES

WITHOUT = tuple(name for name in PASSES if name != "compiled")


def both(f, *points):
    """Replays at some points with the loop and without, after one call; and how many steps the loop carries out."""
    frozen = [qad.freeze(f), qad.freeze(f, passes=WITHOUT)]
    for each in frozen:
        each(*points[0])
    found = [[each(*point) for point in points] for each in frozen]
    assert all(each.stats.replays == len(points) and each.stats.eager == 0 for each in frozen)
    return *found, frozen[0].program.counts["compiled"]


def table_of(f, *point):
    """How a frozen function is stored, after a replay."""
    from qad.frozen.run.placement import Places

    frozen = qad.freeze(f)
    frozen(*point)
    return frozen, Places(frozen.program, True)


def normal(*shape, dtype=float, seed=0):
    """Random numbers."""
    x = np.random.default_rng(seed).standard_normal((2, *shape))
    return (x[0] + 1j * x[1] if np.dtype(dtype).kind == "c" else x[0]).astype(dtype)
