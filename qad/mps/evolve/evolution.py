"""Time evolution: one function, several methods."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.core.process.threads import blas_for
from qad.extend import value_of
from qad.keywords import keywords_told
from qad.mps.chain.chain import site_count
from qad.mps.chain.state import MPS
from qad.mps.evolve.courses import GATES, Course, operator_at
from qad.mps.open.density import tell_of_trace
from qad.showing.progress import bar_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from qad.mps.operators.mpo import MPO
    from qad.mps.operators.opsum import OpSum
    from qad.typing import Real

METHODS = (*GATES, "tdvp", "tdvp2")
REACH = 1e-5  # of `evolve`


@dataclass(frozen=True)
class Evolution:
    """What `evolve` returns.

    Attributes
    ----------
    state : MPS or UniformMPS
        At the end, of norm 1.
    time : float
    discarded : float
        Sum of the weights that truncations cut off: an estimate of the error in the squared norm.
    projection_error : float
        What the variational principle could not see of `H`, as the norm of an error of the final state: the integral
        over `time` of ``|H psi - P H psi|``, P the projector on the tangent space of neighbouring pairs ("tdvp2", after
        the bonds got room for ``H psi``) or of single sites ("tdvp").  In real time a bound up to the order of the
        steps, in imaginary time an estimate.  0 with gates, and with "tdvp2" where `H` has terms of neighbours only.
    log_norm : real scalar
        Logarithm of the norm that the evolution gave to the state of norm 1: of that of ``exp(-H t) psi`` in imaginary
        time, near 0 in real time; of a generator that is not Hermitian that of ``exp(-i H t) psi``, above 0 where it
        gains norm.
    """

    state: Any
    time: float = field(metadata={"static": True})
    discarded: float = field(metadata={"static": True})
    log_norm: Real = 0.0
    projection_error: float = field(default=0.0, metadata={"static": True})


@keywords_told
def evolve(
    psi: MPS,
    H: MPO | OpSum | Callable[[float], Any],
    time: float,
    steps: int,
    method: str = "tdvp2",
    bond: int = 64,
    cutoff: float | None = None,
    *,
    imaginary: bool = False,
    callback: Callable[[MPS, float], object] | None = None,
    reach: float = REACH,
    hermitian: bool = True,
) -> Evolution:
    """``exp(-i H time) |psi>``, or in imaginary time ``exp(-H time) |psi>``, normalised.

    Parameters
    ----------
    psi : MPS
        Open.  A state, an operator and a time that are recorded have derivatives.
    H : MPO, OpSum, or callable
        Hermitian, or any generator with ``hermitian=False``; or ``H(t)``, which returns the operator (an MPO or an
        OpSum) at time t, from 0 to `time`: every step takes that at its middle, and errs by the third power of its
        length.
    time : real
        In inverse units of `H`; may be negative.
    steps : int
        Into how many equal steps it is divided.
    method : str
        "tebd", "tebd4": gates on neighbours, of second and fourth order in the step.
        "tdvp": one site at a time; bonds stay as they are, norm and energy are conserved.
        "tdvp2" (default): two sites at a time, for any operator; bonds grow.
    bond : int
        Largest bond dimension, where bonds grow.
    cutoff : float, optional
        Weight that a cut may discard below `bond`.  By default it follows the length of the step, so that all cuts
        together err no more than the steps do ("tdvp2": than 1e-7 in unit time), and is 1e-14 at most, 1e-24 where
        something is recorded.
    imaginary : bool
        For ``exp(-H time)``; a complex `time` is refused.
    callback : callable, optional
        ``callback(state, time)`` after every step; raising StopIteration in it ends the evolution.
    reach : float
        For derivatives: amplitude, relative to the norm, that a change of the operator may put into directions of a
        bond that carry no weight, before a derivative that would miss them is refused.  Every change of the operator
        is considered, not only those that you differentiate by; 1.0 refuses none.
    hermitian : bool
        False for a generator that is not: losses, gains, or a Lindblad superoperator (`qad.mps.lindblad`).  The state
        stays of norm 1, `Evolution.log_norm` says what it lost or gained.

    Returns
    -------
    Evolution

    Warns
    -----
    RuntimeWarning
        Where the trace of a density matrix changed by more than 1e-3, though its generator keeps it.

    Raises
    ------
    ArgumentError
        For an unknown method, a time that is not real, an operator that is not Hermitian where that is not said, or
        terms beyond neighbours with "tebd"; in a derivative, where `bond` cuts through equal Schmidt values, or a bond
        has no room for what a changed coupling or time would fill.
    GradientTypeError
        In a derivative by "tdvp2" or "tdvp" with ``hermitian=False``.
    ShapeError
        If the chains do not fit, or `psi` is periodic.

    Notes
    -----
    A derivative is that of this very evolution, of first order, by a reverse sweep over its steps
    (`qad.mps.evolve.adjoint`).  Of a symmetric state it is that within the sector: a change of the operator
    that breaks the symmetry changes no number that conserves, to first order.

    Gates on a short chain whose every state `bond` holds, without a `cutoff`, act on its amplitudes where something is
    recorded (`qad.mps.evolve.whole`): derivatives are of any order, and none is refused.

    Examples
    --------
    >>> import numpy as np, qad
    >>> H = qad.mps.ising(4, g=1.0)
    >>> up = qad.mps.MPS.product([0, 0, 0, 0])
    >>> final = qad.mps.evolve(up, H, time=0.5, steps=10).state
    >>> exact = qad.linalg.expm(-0.5j * H.to_dense()) @ up.to_dense().reshape(-1)
    >>> bool(abs(np.vdot(exact, final.to_dense())) > 1 - 1e-6)
    True
    """
    steps, bond = site_count(steps, 1, "steps"), site_count(bond, 1, "bond")
    if method not in METHODS:
        raise ArgumentError(f"unknown method {method!r}: choose one of {', '.join(map(repr, METHODS))}")
    several, dt = steps if callback is None and not callable(H) else 1, real_time(value_of(time)) / steps
    way = {"bond": bond, "cutoff": cutoff, "imaginary": imaginary, "reach": reach, "hermitian": hermitian}
    gained, now, errors, course = 0.0, 0.0, np.zeros(2), None
    with blas_for(max(bond, psi.bond)), bar_for(label="evolution", total=steps // several) as bar:
        for k in range(0, steps, several):
            if course is None or callable(H):  # the midpoint rule: W. Magnus, Commun. Pure Appl. Math. 7, 649 (1954)
                state, errors = (psi, errors) if course is None else (course.state, errors + course.account())
                operator = operator_at(H, (k + 0.5) * (time / steps), state)
                course = Course(state, operator, time / steps, several, steps, method, **way)
            gained, now = gained + course.advance(), (k + several) * dt
            bar.update()
            if callback is not None:
                try:
                    callback(course.state, now)
                except StopIteration:
                    break
    if not hermitian and not imaginary:
        tell_of_trace(psi, operator, course.state, abs(now), value_of(gained))
    lost, missed = errors + course.account()
    return Evolution(course.state, now, float(lost), gained, float(missed))


def real_time(time: Any) -> float:
    """`time` as a finite float."""
    kind = time.dtype.kind if hasattr(time, "dtype") else np.asarray(time).dtype.kind
    if np.ndim(time) != 0 or kind not in "iuf" or not np.isfinite(time):
        raise ArgumentError(f"time is one real number, not {time!r}: exp(-H time) is evolve(..., time, imaginary=True)")
    return float(time)
