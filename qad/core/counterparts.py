"""What is said where a recorded Tensor is asked for plain numbers."""

from __future__ import annotations

import sys
from dis import opname
from typing import TYPE_CHECKING

from qad.core.errors import RecordedTensorError

if TYPE_CHECKING:
    from types import FrameType

INSTEAD: dict[str, str] = {  # a part of SciPy -> what to write in the place of its functions
    "optimize": "qad.optimize, or qad.fixed_point for the derivative of a solution that SciPy finds for plain numbers",
    "integrate": "qad.integrate.solve_ivp, or a sum over the nodes of np.polynomial.legendre.leggauss(n)",
    "linalg": "the function of qad.linalg",
    "special": "the function of qad.special",
    "sparse": "qad.sparse(S) @ x, where S is constant, and qad.linalg for equations and eigenvalues",
    "fft": "np.fft, whose functions take Tensors",
}
ELSE = "what it computes in functions of NumPy, or a rule for it: qad.extend.primitive and qad.extend.defvjp"
COLLECT = (  # what is said where SciPy has not asked
    "keep it a Tensor (qad.array([[x, y], [y, x]]), qad.r_ and np.stack collect Tensors; an array made by qad.zeros "
    "can be written into; NumPy's functions take them, and qad.linalg and qad.special have SciPy's; qad.fixed_point "
    "differentiates the solution of an equation, which SciPy's root finders cannot; not a.dot(x) of an array but "
    "np.matmul(a, x), which takes sparse ones, or x @ a.T)"
)


def cut_off(what: str, instead: str) -> RecordedTensorError:
    """The error for a recorded Tensor that somebody asks for its numbers; `instead` is what gives them willingly."""
    part = asking_part()
    by, write = (f" by scipy.{part}", f"write {INSTEAD.get(part, ELSE)}") if part else ("", COLLECT)
    if not part and assigns():
        return put_into_plain_array()
    return RecordedTensorError(
        f"a recorded Tensor was forced into {what}{by}, which would cut it off from its gradient: {write}, "
        f"or, if no gradient is wanted, write {instead} or x.numpy(), and qad.stop_gradient(x) for a Tensor"
    )


def put_into_plain_array() -> RecordedTensorError:
    """The error for a recorded Tensor that NumPy was to write into an entry of an array of its own."""
    return RecordedTensorError(
        "a recorded Tensor was put into a plain array, which would cut it off from its gradient: make the array by "
        "qad.zeros(shape), which can be written into, or by qad.array([...]) or np.stack"
    )


def assigns() -> bool:
    """Whether the line of the user that asks for numbers is ``b[...] = x``."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _module(frame).startswith("qad."):
        frame = frame.f_back
    return frame is not None and opname[frame.f_code.co_code[frame.f_lasti]] in ("STORE_SUBSCR", "STORE_SLICE")


def not_copied() -> RecordedTensorError:
    """The error for a recorded Tensor that is to be copied or pickled."""
    return RecordedTensorError(
        "a recorded Tensor is bound to its graph, which cannot be copied or pickled: write x.numpy() for its "
        "values, or x.detach() for a Tensor of them"
    )


def asking_part() -> str:
    """The part of SciPy, such as "optimize", that asks for numbers now; nothing where that is unknown."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _module(frame).startswith(("qad.", "numpy.", "scipy._")):  # asked themselves
        frame = frame.f_back
    names = _module(frame).split(".") if frame is not None else []
    return names[1] if names[:1] == ["scipy"] and len(names) > 1 else ""


def _module(frame: FrameType) -> str:
    return frame.f_globals.get("__name__") or ""
