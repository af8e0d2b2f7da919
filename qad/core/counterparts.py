"""What is said where a recorded Tensor is asked for plain numbers."""

import sys
from dis import opname

from qad.core.errors import RecordedTensorError

KEEP = (
    "keep it a Tensor, with NumPy's functions and qad's (np.sin(x) for math.sin(x), qad.array([x, y]) for np.array, "
    "qad.zeros for an array to fill, np.matmul(a, x) for a.dot(x); qad.linalg, qad.special, qad.optimize, "
    "qad.integrate, qad.sparse and qad.fixed_point for SciPy's, qad.polynomial for np.polynomial, "
    "qad.extend.primitive for others)"
)


def cut_off(what: str, instead: str) -> RecordedTensorError:
    """The error for a recorded Tensor that somebody asks for its numbers; `instead` is what gives them willingly."""
    if assigns():
        return put_into_plain_array()
    return RecordedTensorError(
        f"a recorded Tensor was forced into {what}, which would cut it off from its gradient: {KEEP}; where no "
        f"gradient is wanted, write {instead}, x.numpy() or qad.stop_gradient(x)"
    )


def put_into_plain_array() -> RecordedTensorError:
    """The error for a recorded Tensor that NumPy was to write into an entry of an array of its own."""
    return RecordedTensorError(
        "a recorded Tensor was put into a plain array, which would cut it off from its gradient: make the array by "
        "qad.zeros(shape), which can be written into, or by qad.array([...]) or np.stack"
    )


def assigns() -> bool:
    """Whether the line of the user that asks for numbers is ``b[...] = x``."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("qad."):
        frame = frame.f_back
    return opname[frame.f_code.co_code[frame.f_lasti]] in ("STORE_SUBSCR", "STORE_SLICE")


def not_copied() -> RecordedTensorError:
    """The error for a recorded Tensor that is to be copied or pickled."""
    return RecordedTensorError(
        "a recorded Tensor is bound to its graph, which cannot be copied or pickled: write x.numpy() for its "
        "values, or x.detach() for a Tensor of them"
    )
