"""What is said where a recorded Tensor is asked for plain numbers, and what qad has for functions that ask."""

from __future__ import annotations

import sys
from dis import opname
from importlib import import_module
from typing import TYPE_CHECKING

from qad.core.errors import RecordedTensorError

if TYPE_CHECKING:
    from types import FrameType

_MINIMUM = "qad.optimize.minimize, and qad.fixed_point for the derivative of where the minimum lies"
_SCALAR_ROOT = "qad.optimize.root, or qad.fixed_point with the root that SciPy finds for plain numbers"
_QUADRATURE = "a sum over nodes, x, w = np.polynomial.legendre.leggauss(n), or qad.integrate.solve_ivp"
INSTEAD: dict[str, dict[str, str]] = {  # module of SciPy -> function -> what to write; "" is for all others there
    "scipy.optimize": {
        **dict.fromkeys(("root", "fsolve", "broyden1", "broyden2", "newton_krylov", "anderson"), "qad.optimize.root"),
        **dict.fromkeys(("brentq", "brenth", "bisect", "ridder", "newton", "toms748", "root_scalar"), _SCALAR_ROOT),
        "fixed_point": "qad.fixed_point",
        **dict.fromkeys(("least_squares", "leastsq", "curve_fit"), "qad.optimize.least_squares"),
        "": _MINIMUM,
    },
    "scipy.integrate": {
        **dict.fromkeys(("solve_ivp", "odeint", "ode", "RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA"),
                        "qad.integrate.solve_ivp"),
        **dict.fromkeys(("trapezoid", "simpson", "romb"), "np.trapezoid, or a sum with the weights of the rule"),
        **dict.fromkeys(("cumulative_trapezoid", "cumulative_simpson"), "np.cumsum of the areas"),
        "": _QUADRATURE,
    },
    "scipy.linalg": {
        **dict.fromkeys(("cho_solve", "lu_solve", "solve_banded", "solveh_banded"), "qad.linalg.solve"),
        **dict.fromkeys(("cho_factor", "cholesky_banded"), "qad.linalg.cholesky"),
        "lu_factor": "qad.linalg.lu",
        **dict.fromkeys(("solve_sylvester", "solve_continuous_lyapunov", "solve_discrete_lyapunov"),
                        "qad.linalg.linear_solve of the equation, such as lambda x: a @ x + x @ b"),
        **dict.fromkeys(("eigh_tridiagonal", "eigvalsh_tridiagonal", "eig_banded"), "qad.linalg.eigh"),
        **dict.fromkeys(("null_space", "orth"), "qad.linalg.svd"),
        **dict.fromkeys(("cosm", "sinm", "tanm", "coshm", "sinhm", "tanhm", "signm"), "qad.linalg.funm"),
        **dict.fromkeys(("block_diag", "toeplitz", "hankel", "circulant"), "qad.block, or an index into a Tensor"),
    },
    "scipy.sparse": {"": "qad.sparse(S) @ x, or x @ S.T, where S is constant; elsewhere S.toarray()"},
    "scipy.sparse.linalg": {
        **dict.fromkeys(("cg", "bicg", "bicgstab", "gmres", "lgmres", "minres", "spsolve"), "qad.linalg.linear_solve"),
        "eigsh": "qad.linalg.lowest_eig",
        "eigs": "qad.linalg.dominant_eig",
        "svds": "qad.linalg.truncated_svd",
        "expm_multiply": "qad.linalg.expm_multiply",
        "": "qad.sparse(S) @ x, where S is constant, and qad.linalg.linear_solve for equations",
    },
    "scipy.fft": {"": "np.fft, whose functions take Tensors"},
    "scipy.fftpack": {"": "np.fft, whose functions take Tensors"},
    "scipy.interpolate": {"": "np.interp, or a polynomial by np.polynomial"},
    "scipy.signal": {**dict.fromkeys(("convolve", "fftconvolve", "oaconvolve"), "np.convolve")},
    **{f"numpy.polynomial.{family}": {"": f"a function of qad.polynomial.{family}"}
       for family in ("polynomial", "chebyshev", "legendre", "hermite", "hermite_e", "laguerre")},
}  # fmt: skip
ASKING = ("scipy.", "numpy.polynomial.")  # the rest of NumPy hands Tensors on, or has no other name in qad
HANDING_ON = ("qad.", "numpy.", "copy")  # what they ask for, they were asked for
SAME = {"scipy.linalg": "qad.linalg", "scipy.special": "qad.special"}  # where qad has many functions under their names
COLLECT = "keep it a Tensor"  # what is said where nobody is known to have asked
NONE = "what it computes in functions of NumPy, or a rule for it: qad.extend.primitive and qad.extend.defvjp"


def cut_off(what: str, instead: str) -> RecordedTensorError:
    """The error for a recorded Tensor that somebody asks for its numbers; `instead` is what gives them willingly."""
    lost = f"a recorded Tensor was forced into {what}"
    plain = f"or, if no gradient is wanted, write {instead} or x.numpy(), and qad.stop_gradient(x) for a Tensor"
    if (asked := asked_by()) is not None:
        function, counterpart = asked
        return RecordedTensorError(
            f"{lost} by {function}, which would cut it off from its gradient: write {counterpart}, {plain}"
        )
    if assigns():
        return put_into_plain_array()
    return RecordedTensorError(
        f"{lost}, which would cut it off from its gradient: {COLLECT} "
        "(qad.array([[x, y], [y, x]]), qad.r_ and np.stack collect Tensors; an array made by qad.zeros can be "
        "written into; NumPy's functions take them, and qad.linalg and qad.special have SciPy's; "
        "qad.fixed_point differentiates the solution of an equation, which SciPy's root finders cannot; not "
        f"a.dot(x) of an array but np.matmul(a, x), which takes sparse ones, or x @ a.T), {plain}"
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
    if asked_by() is not None:
        return cut_off("a copy", "x.detach()")
    return RecordedTensorError(
        "a recorded Tensor is bound to its graph, which cannot be copied or pickled: write x.numpy() for its "
        "values, or x.detach() for a Tensor of them"
    )


def asked_by() -> tuple[str, str] | None:
    """The public function of SciPy, or of NumPy's series, that asks a Tensor for numbers now, and what to write for it.

    None where somebody else asks: a function of the user that SciPy calls, or one of qad that calls SciPy.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _module(frame).startswith(HANDING_ON) and not _asks(frame):
        frame = frame.f_back
    found = None
    while frame is not None and _asks(frame):  # from the inside out: who was called first
        found = _public(frame) or found
        frame = frame.f_back
    caller = "" if frame is None else _module(frame)  # a transform calls what the user gave it
    if found is None or (caller.startswith("qad.") and not caller.startswith("qad.core.")):
        return None
    return f"{found[0]}.{found[1]}", _instead(*found)


def _asks(frame: FrameType) -> bool:
    return _module(frame).startswith(ASKING)


def _module(frame: FrameType) -> str:
    return frame.f_globals.get("__name__") or ""


def _public(frame: FrameType) -> tuple[str, str] | None:
    """The module without its private parts, and the name, of what runs in `frame`; None for helpers.

    A method counts as the class of its object, or the first base that is public, and what a decorator made as the
    function that it was made of.
    """
    code, seen = frame.f_code, frame.f_locals
    if "<locals>" in code.co_qualname:
        owners = [seen.get(name) for name in code.co_freevars]
    elif "." in code.co_qualname:
        owners = [kind for name in code.co_varnames[:1] for kind in type(seen.get(name)).__mro__]
    else:
        owners = [frame.f_globals.get(code.co_name)]
    for owner in owners:
        module, name = getattr(owner, "__module__", None) or _module(frame), getattr(owner, "__name__", "")
        if type(owner) is str:  # old decorators of SciPy know a function by its name
            module, name = _module(frame), owner
        module = module.partition("._")[0]  # "scipy.linalg" for "scipy.linalg._basic"; ufuncs say none
        if module.startswith(ASKING) and hasattr(sys.modules.get(module), name):
            return module, name
    return None


def _instead(module: str, name: str) -> str:
    if module in SAME and hasattr(import_module(SAME[module]), name):  # which nobody may have imported so far
        return f"{SAME[module]}.{name}"
    known = INSTEAD.get(module, {})
    return known.get(name) or known.get("") or NONE
