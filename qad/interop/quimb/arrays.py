"""What autoray is told about Tensors: NumPy's functions, and those whose counterpart is qad's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import autoray
import numpy as np

from qad import linalg
from qad.core.errors import ArgumentError
from qad.extend import Tensor, like, value_of

if TYPE_CHECKING:
    from typing import Any

    from qad.typing import Array, ArrayLike, DTypeLike

__all__ = ["array", "householder_product", "register_arrays"]

SCIPY = (  # in scipy.linalg, with the arguments that qad's have
    "det", "eig", "eigh", "eigvals", "eigvalsh", "expm", "inv", "logm", "norm", "pinv", "polar", "solve",
    "solve_triangular", "sqrtm", "svd", "svdvals",
)  # fmt: skip
MODULES = {"qad.scipy": "scipy", "qad": "numpy"}  # the first prefix that fits is taken


def register_arrays() -> None:
    """Register the names of the backend "qad" with autoray."""
    for name, module in MODULES.items():
        autoray.autoray._MODULE_ALIASES[name] = module  # which not all versions have a function for
    functions = {
        "array": array, "asarray": array, "complex": lambda re, im: re + 1j * im, "to_numpy": to_numpy,
        "astype": lambda x, dtype, **_: x.astype(dtype), "linalg.svd": thin_svd, "linalg.qr": linalg.qr,
        "linalg.expm": linalg.expm, "linalg.rsvd": rsvd, "linalg.householder_product": householder_product,
        "linalg.solve_triangular": linalg.solve_triangular, "scipy.linalg.lu": lu, "linalg.lu": lu,
        "scipy.linalg.qr": scipy_qr, "scipy.linalg.cholesky": scipy_cholesky,
    }  # fmt: skip
    functions |= {f"scipy.linalg.{name}": getattr(linalg, name) for name in SCIPY}
    for name, function in functions.items():
        autoray.register_function("qad", name, function)


def array(x: Any, dtype: DTypeLike | None = None, **_: Any) -> Array:
    """``numpy.array`` that keeps Tensors, and lists with Tensors in them, on the tape."""
    if isinstance(x, list | tuple) and any(autoray.infer_backend(y) == "qad" for y in _leaves(x)):
        x = np.stack([array(y) for y in x])
    if autoray.infer_backend(x) != "qad":
        return np.array(x, dtype=dtype)
    return x if dtype is None or x.dtype == np.dtype(dtype) else x.astype(dtype)


def _leaves(x):
    for y in x:
        yield from _leaves(y) if isinstance(y, list | tuple) else (y,)


def to_numpy(x: Any) -> Any:
    """The plain array of what is not recorded; what is, would lose its gradient without a word."""
    if type(x) is Tensor and x.requires_grad:
        raise ArgumentError(
            "to_numpy: this Tensor is recorded, and a plain array has no gradient: write x.detach() where none is meant"
        )
    return np.asarray(value_of(x))


def thin_svd(x: ArrayLike, full_matrices: bool = False, **keywords: Any) -> Any:
    """The singular value decomposition, thin unless something else is asked for, as autoray's callers expect."""
    return linalg.svd(x, full_matrices, **keywords)


def rsvd(x: ArrayLike, k: int, **_: Any) -> tuple[Array, Array, Array]:
    """The leading `k` singular values and vectors: exact, where other backends draw random vectors."""
    return linalg.truncated_svd(x, k)[:3]


def lu(x: ArrayLike, permute_l: bool = False, **_: Any) -> tuple[Array, ...]:
    """``scipy.linalg.lu``."""
    p, lower, upper = linalg.lu(x)
    return (p @ lower, upper) if permute_l else (p, lower, upper)


def scipy_qr(x: ArrayLike, mode: str = "full") -> tuple[Array, ...]:
    """``scipy.linalg.qr``, whose factors are square unless `mode` is "economic"."""
    if mode == "r":
        return (linalg.qr(x, "complete")[1],)
    if mode not in ("full", "economic"):
        raise ArgumentError(f"scipy.linalg.qr: of Tensors mode is 'full', 'economic' or 'r', not {mode!r}")
    return linalg.qr(x, "complete" if mode == "full" else "reduced")


def scipy_cholesky(x: ArrayLike, lower: bool = False) -> Array:
    """``scipy.linalg.cholesky``, which gives the upper factor unless it is told otherwise."""
    return linalg.cholesky(x, upper=not lower)


def householder_product(x: ArrayLike, tau: ArrayLike) -> Array:
    """The first columns of ``H_1 H_2 ...`` with ``H_i = 1 - tau_i v_i v_i^H``, as LAPACK's ``orgqr``.

    Parameters
    ----------
    x : array (m, n)
        ``v_i`` has a 1 in row i, zeros above it, and below it what column i of `x` has there.
    tau : array (k,)

    Returns
    -------
    array (m, n)
    """
    m, n = x.shape
    v = np.tril(x, -1) + like(x).eye(m, n)
    out = like(x).eye(m, n)
    for i in reversed(range(tau.shape[0])):
        out = out - tau[i] * np.outer(v[:, i], v[:, i].conj() @ out)
    return out
