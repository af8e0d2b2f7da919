"""Frozen against eager, for any function."""

import numpy as np

import qad
from qad.core.trees import flatten, tree_map


def weights(shape, dtype):
    """Fixed weights for a loss."""
    rng = np.random.default_rng(1)
    real = rng.normal(size=shape)
    return real + 1j * rng.normal(size=shape) if dtype.kind == "c" else real


def loss(f):
    """A real scalar that every entry of ``f(*xs)`` enters."""

    def scalar(*xs):
        outs = [y for y in flatten(f(*xs))[0] if getattr(getattr(y, "dtype", None), "kind", "") in "fc"]
        return sum(((y * weights(y.shape, y.dtype)).sum().real for y in outs), 0.0)

    return scalar


def moved(x):
    """A point close to `x`, of the same kind."""
    return np.asarray(x * 1.0078125) if isinstance(x, np.ndarray) else x * 1.0078125


def elsewhere(point):
    """Another point; what was one array is one again."""
    made = {}
    return tree_map(lambda x: made.setdefault(id(x), moved(x)), point)


def difference(one, two, exact):
    """What differs between two results, or None; `exact` asks for the same bits, else 1e-13."""
    (a, spec_a), (b, spec_b) = flatten(one), flatten(two)
    if spec_a != spec_b:
        return f"structure {spec_b} instead of {spec_a}"
    for x, y in zip(a, b, strict=True):
        if type(x) is not type(y):
            return f"{type(y)} instead of {type(x)}"
        x, y = np.asarray(x), np.asarray(y)
        if x.shape != y.shape or x.dtype != y.dtype:
            return f"{y.shape} of {y.dtype} instead of {x.shape} of {x.dtype}"
        if exact:
            if not np.array_equal(x, y, equal_nan=x.dtype.kind in "fc"):
                return f"values by {np.abs(x - y).max():.1e}"
        elif x.dtype.kind in "fc":
            tolerance = 1e-13 if np.finfo(x.dtype).eps < 1e-10 else 1e-5
            if not np.allclose(x, y, rtol=0, atol=tolerance * max(0.1, np.abs(x).max(initial=0)), equal_nan=True):
                return f"values by {np.abs(x - y).max():.1e} of {np.abs(x).max():.1e}"
        elif not np.array_equal(x, y):
            return "values"
    return None


def disagreement(f, point, passes=None):
    """What differs between `f` and its frozen self at this point, there again, and at another; or None.

    Without passes the replay repeats the recording to the last bit.  Eager calls may differ from that in rounding:
    they take shortcuts for plain arrays, which traced ones do not.
    """
    other = elsewhere(point)
    eager = f(*point), f(*other)
    frozen = qad.freeze(f, passes=passes)
    found = frozen(*point), frozen(*point), frozen(*other)
    again = f"recorded {frozen.stats.recordings} times: {frozen.stats.reasons}"
    return (
        difference(eager[0], found[0], False)
        or difference(found[0], found[1], passes == ())
        or difference(eager[1], found[2], False)
        or (again if frozen.stats.recordings > 1 else None)
    )
