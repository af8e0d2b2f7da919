"""Classical models in two dimensions: partition functions of uniform networks, and what follows from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.core.trees import tree_map
from qad.extend import jvp, value_and_grad, value_of
from qad.keywords import keywords_told
from qad.linalg.krylov.gmres import Report
from qad.peps.checks import array_operand
from qad.peps.classical.ctmrg import DISTINCT, apart, environment_of, is_c4v
from qad.peps.classical.moves import GENERAL, TURNED, per_site, seen
from qad.peps.classical.trg import hotrg, trg

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from qad.typing import Array, ArrayLike, RealNumber, Scalar

__all__ = ["Thermodynamics", "partition_function", "thermodynamics"]

METHODS = ("ctmrg", "trg", "hotrg")


class Thermodynamics(NamedTuple):
    """``ln Z``, its slope ``-d ln Z / d beta`` and ``beta**2 d^2 ln Z / d beta**2``, per site."""

    log_z: Array
    energy: Array
    specific_heat: Array


@keywords_told
def partition_function(
    tensor: ArrayLike,
    chi: int = 32,
    *,
    method: str = "ctmrg",
    symmetry: str | None = None,
    tol: float = 1e-11,
    maxiter: int = 10000,
    steps: int = 30,
    boundary: ArrayLike | None = None,
    report: Report | None = None,
) -> Scalar:
    """The logarithm of the partition function per tensor, of an infinite square lattice of one tensor.

    Parameters
    ----------
    tensor : array (D, d, D, d)
        Float or complex, legs ``(up, left, down, right)``: the weights of a site. Ready ones: `qad.peps.classical`.
    chi : int
        States per bond of the environment, or of the coarse tensors; at least 2. "ctmrg" looks for a gap within a
        quarter of it.
    method : "ctmrg", "trg" or "hotrg"
        Corner transfer matrices of the infinite lattice; or coarse graining of a torus of ``2**steps`` sites.
    symmetry : "c4v", optional
        The tensor is real, and is and stays the same under all rotations and reflections, also where it moves with a
        parameter: a third of the time. For "ctmrg".
    tol : float
        Of the change of the environment in a step, relative. For "ctmrg".
    maxiter : int
        Most steps at a fixed number of states, before an error. For "ctmrg".
    steps : int
        For "trg" and "hotrg".
    boundary : array (D,), optional
        Closes the legs at the rim of the lattice from which the environment grows, and chooses a phase. By default it
        prefers nothing, and where phases coexist one of them is chosen at random, always the same: their energies are
        equal, their order parameters are not. For "ctmrg".
    report : qad.linalg.Report, optional
        Is filled in by "ctmrg": steps, change, and the linear solves of derivatives.

    Returns
    -------
    scalar
        Real for a real tensor. Times the number of tensors it is ``ln Z``.

    Raises
    ------
    ShapeError
        If the tensor has not four legs of which opposite ones fit.
    ArgumentError
        If entries are not finite; if a real Z per site is not positive; if "c4v" does not hold, or for derivatives
        where coexisting phases break it.
    ConvergenceError
        If the environment does not settle.

    Notes
    -----
    "ctmrg": Z per site is ``N_11 N_00 / (N_10 N_01)``, of the contractions of four corners with or without a row and a
    column in between. Its derivatives are those of the fixed point, by the implicit function theorem, to every order; a
    tensor whose environment is cut too short has derivatives of the cut environment.

    By default, of the Ising model at any temperature: ``ln Z`` errs by less than 1e-10, its slope by less than 1e-7 and
    its curvature by less than 1e-3 of itself, but within half a percent of the critical coupling.  There `chi` limits
    them, to 1e-9, to 6e-5, and to no digit of the curvature, which diverges.  Of any other tensor, how much two values
    of `chi` differ, say 32 and 48, tells how wrong the first one is: nothing that is returned says it, and `report`
    tells only how well the environment of this `chi` was found.

    References
    ----------
    R. J. Baxter, J. Math. Phys. 9, 650 (1968); T. Nishino and K. Okunishi, J. Phys. Soc. Jpn. 65, 891 (1996).

    Examples
    --------
    >>> import numpy as np, qad
    >>> from qad.peps import classical
    >>> print(round(float(classical.partition_function(classical.ising(0.3), chi=8)), 9))
    0.790559071
    >>> energy = qad.grad(lambda b: -classical.partition_function(classical.ising(b), chi=8))(0.3)
    >>> print(round(float(energy), 8))
    -0.70449907
    """
    tensor = checked(tensor, chi, method, symmetry)
    if method != "ctmrg":
        total, last = (trg if method == "trg" else hotrg)(tensor, chi, steps)
        return total + log_of(last) / 2**steps
    report = Report() if report is None else report
    closing, symmetric = closing_of(boundary, tensor), symmetry is not None
    around = environment_of(tensor, chi, symmetric, tol, maxiter, report, closing)
    if symmetric and value_of(tensor) is not tensor and apart(tree_map(value_of, around)) < DISTINCT:
        raise ArgumentError(
            "the environment is a sum of phases that rotations or reflections turn into each other, and has no "
            'derivative: leave out symmetry="c4v", and one of them is chosen'
        )
    w = TURNED if symmetric else GENERAL
    return log_of(per_site(around, seen(tensor, w), w))


def thermodynamics(log_z: Callable[[Any], Any], beta: RealNumber) -> Thermodynamics:
    """Energy and specific heat from ``ln Z`` as a function of the inverse temperature, by two derivatives.

    Parameters
    ----------
    log_z : callable
        A function of `beta`.
    beta : float

    Returns
    -------
    Thermodynamics
        ``log_z, energy, specific_heat``: ``ln Z``, ``-d ln Z / d beta``, ``beta**2 d^2 ln Z / d beta**2``.

    Examples
    --------
    >>> import numpy as np, qad
    >>> found = qad.peps.classical.thermodynamics(lambda b: np.log(2 * np.cosh(b)), 1.0)  # two levels, -1 and 1
    >>> print([round(float(x), 6) for x in found])
    [1.126928, -0.761594, 0.419974]
    """
    beta = float(beta) if isinstance(beta, int) else beta
    (value, first), (_, second) = jvp(value_and_grad(log_z), (beta,), (1.0,))
    return Thermodynamics(value, -first, beta**2 * second)


def checked(tensor: ArrayLike, chi: int, method: str, symmetry: str | None) -> Array:
    """The tensor as an operand, if all arguments make sense."""
    tensor = array_operand(tensor, "the tensor of partition_function, as qad.peps.classical.ising(beta) makes it,")
    if method not in METHODS:
        raise ArgumentError(f"method is {method!r}: choose one of {', '.join(METHODS)}")
    if tensor.ndim != 4 or tensor.shape[0] != tensor.shape[2] or tensor.shape[1] != tensor.shape[3]:
        raise ShapeError(
            f"partition_function takes legs (up, left, down, right), of which opposite ones fit, not {tensor.shape}"
        )
    if tensor.dtype.kind not in "fc":
        tensor = tensor.astype(float)
    if not isinstance(chi, (int, np.integer)) or chi < 2:
        raise ArgumentError(f"chi is {chi!r}: the bonds of an environment need at least 2 states")
    plain = value_of(tensor)
    if not np.all(np.isfinite(plain)) or not np.any(plain):
        raise ArgumentError("partition_function: the tensor is zero, or has entries that are not finite")
    if symmetry is not None:
        if symmetry != "c4v" or method != "ctmrg":
            raise ArgumentError(f'symmetry={symmetry!r} with method={method!r}: write "c4v" or None, with "ctmrg"')
        if not is_c4v(plain):
            raise ArgumentError(
                'the tensor is not real or not the same under all rotations and reflections: leave out symmetry="c4v"'
            )
    return tensor


def closing_of(boundary: ArrayLike | None, tensor: Array) -> np.ndarray | None:
    """The vector at the rim, if it fits all legs."""
    if boundary is None:
        return None
    closing = np.asarray(value_of(boundary), dtype=tensor.dtype)
    if {closing.shape} != {(d,) for d in tensor.shape}:
        raise ShapeError(f"boundary is a vector for each leg of {tensor.shape}, not an array of shape {closing.shape}")
    return closing


def log_of(z: Array) -> Array:
    """The logarithm of Z."""
    plain = value_of(z)
    if not np.iscomplexobj(plain) and not plain > 0:
        raise ArgumentError(
            f"partition_function: Z per site is {float(plain):.6g}: ln Z of a real tensor needs a positive one; give "
            "the tensor as complex, or four sites as one tensor"
        )
    return np.log(z)
