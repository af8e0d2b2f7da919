"""What others are told while operations are recorded; `qad.core.mutation` and `qad.core.roots` fill these in."""


def constant(level, array, names=1, sparing=False):
    """What a node of a reverse level shall hold in the place of a plain `array`, which the caller may change.

    Whoever asks holds the array by so many `names` of its own, and says whether it is `sparing` with memory.
    """
    return array


def answered(out, fn, args, kwargs, cut):
    """``fn(*args, **kwargs)`` gave `out`, which may show the memory of an operand; `cut`, if nothing was recorded."""


def registered(fn, handler):
    """What NumPy's function `fn` is handled by, whose results without axes may have to be numbers, or arrays."""
    return handler


def remembered(p, out, operands, kwargs=None):
    """`out`, which primitive `p` made of `operands` where no node says so."""
    return out
