"""Time evolution: one function, several methods."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, BatchError
from qad.core.keywords import keywords_told
from qad.core.threads import blas_for
from qad.core.trees import flatten
from qad.extend import Tensor, stack_of, value_of
from qad.mps.chain.chain import site_count
from qad.mps.chain.checks import as_operator, check_operator
from qad.mps.chain.state import MPS
from qad.mps.energy.hamiltonian import check_hermitian, strength
from qad.mps.energy.node import prepared
from qad.mps.evolve.adjoint import EvolutionMethod, evolution_of
from qad.mps.evolve.driven import driven
from qad.mps.evolve.dual import PairCourse, coursed_of
from qad.mps.evolve.recorded import GateSteps, TdvpSteps
from qad.mps.evolve.response import GateCourse
from qad.mps.evolve.room import BUDGET, room_for
from qad.mps.evolve.start import centred, recorded_centre
from qad.mps.evolve.tdvp import MOST_PRODUCTS, OneSiteTdvp, TwoSiteTdvp
from qad.mps.evolve.tebd import ORDERS, REACH, GateRounds, Truncation, cutoff_for
from qad.mps.evolve.whole import advanced, amplitudes_of, chain_of, exponentiated, fits
from qad.mps.kernels.operators import kernel_for
from qad.mps.operators.mpo import plain_of
from qad.symmetric.generic import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from qad.mps.operators.mpo import MPO
    from qad.mps.operators.opsum import OpSum
    from qad.typing import Real, Scalar

GATES = {"tebd": 2, "tebd4": 4}  # and the order of the product formula
METHODS = (*GATES, "tdvp", "tdvp2")
RECORDED_CUTOFF = 1e-24  # the least weight that is cut by default where it counts how weights grow


@dataclass(frozen=True)
class Evolution:
    """What `evolve` returns.

    Attributes
    ----------
    state : MPS
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
        time, near 0 in real time.
    """

    state: MPS
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
) -> Evolution:
    """``exp(-i H time) |psi>``, or in imaginary time ``exp(-H time) |psi>``, normalised.

    Parameters
    ----------
    psi : MPS
        Open.  A state, an operator and a time that are recorded have derivatives.
    H : MPO, OpSum, or callable
        Hermitian; or ``H(t)``, which returns the operator (an MPO or an OpSum) at time t, from 0 to `time`: every step
        takes that at its middle, and errs by the third power of its length.
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

    Returns
    -------
    Evolution

    Raises
    ------
    ArgumentError
        For an unknown method, a time that is not real, an operator that is not Hermitian, or terms beyond neighbours
        with "tebd"; in a derivative, where `bond` cuts through equal Schmidt values, or a bond has no room for what a
        changed coupling or time would fill.
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
    if callable(H):
        options = {"method": method, "bond": bond, "cutoff": cutoff, "imaginary": imaginary, "reach": reach}
        return driven(evolve, psi, H, time, steps, callback, **options)
    if method not in METHODS:
        raise ArgumentError(f"unknown method {method!r}: choose one of {', '.join(map(repr, METHODS))}")
    H = as_operator(H, psi)
    steps, bond = site_count(steps, 1, "steps"), site_count(bond, 1, "bond")
    if any(type(x) is Tensor for x in (*flatten(psi)[0], *H, time)):
        return recorded(psi, H, time, steps, method, bond, cutoff, imaginary, callback, reach)
    return stepped(psi, H, time, steps, method, bond, cutoff, imaginary, callback)


def stepped(
    psi: MPS, H: MPO, time: float, steps: int, method: str, bond: int, cutoff: float | None,
    imaginary: bool, callback: Callable[[MPS, float], object] | None,
) -> Evolution:  # fmt: skip
    """`evolve` of plain operands."""
    check_operator(psi, H)
    prepared(H)
    dt = real_time(time) / steps
    cutoff = cutoff_of(method, H, dt) if cutoff is None else cutoff
    tensors = centred(psi, H, imaginary)
    factor = -dt if imaginary else -1j * dt
    advance, truncation, sweep = stepper(method, H, psi, tensors, factor, bond, cutoff)
    room = room_for(method, H, psi, bond, cutoff, dt)
    now, gained, several = 0.0, 0.0, steps if callback is None and room is None else 1
    with blas_for(max(bond, psi.bond)):
        for k in range(0, steps, several):
            if room and (wider := room.before(tensors, several)):
                tensors[:] = wider
                sweep.surround(tensors)
            gained += advance(several)
            now = (k + several) * dt
            if callback is not None:
                try:
                    callback(psi._made_of(tensors), now)
                except StopIteration:
                    break
        missed = room.total(tensors) if room else 0.0
    return Evolution(psi._made_of(tensors), now, float(truncation.discarded), gained, missed)


def recorded(
    psi: Any, H: MPO, time: Scalar, steps: int, method: str, bond: int, cutoff: float | None, imaginary: bool,
    callback: Callable[[MPS, float], object] | None, reach: float,
) -> Evolution:  # fmt: skip
    """`evolve` of recorded operands, as one node of the tape; with a callback as one for each step."""
    check_unstacked((*flatten(psi)[0], *H, time))
    check_operator(psi, plain_of(H))
    check_hermitian([value_of(w) for w in H])
    dt, several = real_time(value_of(time)) / steps, steps if callback is None else 1
    factor = time / steps * (-1.0 if imaginary else -1j)
    state, forth, chain = recorded_course(psi, H, factor, several, steps, method, bond, cutoff, reach)
    now, discarded, missed, gained = 0.0, 0.0, 0.0, 0.0
    for k in range(0, steps, several):
        state, more, *losses = forth(state)
        gained, now = gained + more, (k + several) * dt
        discarded, missed = discarded + losses[0], missed + losses[1]
        if callback is not None:
            try:
                callback(chain(state), now)
            except StopIteration:
                break
    return Evolution(chain(state), now, discarded, gained, missed)


def recorded_course(
    psi: Any, H: MPO, factor: Scalar, several: int, steps: int, method: str, bond: int, cutoff: float | None,
    reach: float,
) -> tuple[Any, Callable[[Any], tuple[Any, Any, float, float]], Callable[[Any], Any]]:  # fmt: skip
    """The state to begin with, what takes it several steps further, and what makes a chain of it.

    Of four ways the first that can: all amplitudes with gates; all amplitudes where bonds lack what a change fills,
    both of plain states; an adjoint chain for gates, for terms beyond neighbours and for such bonds, of a state that is
    not cut; and a reverse sweep.
    """
    two_sites, gates = method == "tdvp2" and len(psi) > 1, method in GATES
    known, conserved = plain_of(H), psi.conserved
    if gates:
        kind = GateSteps(GATES[method], several, len(psi) - 1, conserved)
    else:
        dtype = np.result_type(psi.dtype, H.dtype, value_of(factor))
        kind = TdvpSteps(two_sites, several, kernel_for(psi, known, dtype))
    made = kind._made_of(H, factor)
    advance, vectors = (advanced, len(psi)) if gates else (exponentiated, MOST_PRODUCTS)
    whole = method != "tdvp" and cutoff is None and conserved is None
    whole = whole and fits([t.shape[1] for t in psi], bond, len(kind) * steps // several * vectors)
    if not (whole and gates):
        dt = abs(value_of(factor))
        usual = cutoff_of(method, H, dt) if cutoff is None else cutoff
        cutoff = min(usual, RECORDED_CUTOFF) if cutoff is None else cutoff
        steered = any(type(x) is Tensor for x in flatten(made)[0])
        room = partial(room_for, method, known, psi, bond=bond, cutoff=usual, dt=dt)
        plan = EvolutionMethod(kind, bond, cutoff, steered, reach, room)
        state = recorded_centre(psi, H, not np.iscomplexobj(value_of(factor)))
        known = list(map(plain, made)), list(map(plain, state))
        if not whole and (gates or (two_sites and (room() is not None or plan.misses(*known, 1)))):
            started = any(type(x) is Tensor for x in flatten(state)[0])
            pairs = PairCourse(kind, bond, usual, reach, room, steered, started)
            course = GateCourse(kind, bond, usual, reach) if gates else pairs
            return state, lambda state: coursed_of(made, state, course, plan), psi._made_of
        if not (whole and plan.misses(*known, len(kind))):
            return state, lambda state: evolution_of(made, state, plan), psi._made_of
    unit = np.zeros((), np.result_type(psi.dtype, H.dtype, value_of(factor)))
    return amplitudes_of(psi) + unit, lambda state: (*advance(made, state, kind), 0.0, 0.0), chain_of


def check_unstacked(operands: Sequence[Any]) -> None:
    """Raise under `qad.vmap`."""
    if any(np.ndim(stack_of(x)) > np.ndim(x) for x in operands):
        raise BatchError(
            "evolve under qad.vmap: the bonds of a chain differ from example to example: write a loop over the examples"
        )


def real_time(time: Any) -> float:
    """`time` as a finite float."""
    kind = time.dtype.kind if hasattr(time, "dtype") else np.asarray(time).dtype.kind
    if np.ndim(time) != 0 or kind not in "iuf" or not np.isfinite(time):
        raise ArgumentError(f"time is one real number, not {time!r}: exp(-H time) is evolve(..., time, imaginary=True)")
    return float(time)


def cutoff_of(method: str, H: MPO, dt: float) -> float:
    """The weight that a cut may discard in steps of this length."""
    step, cuts = abs(dt) * strength([value_of(w) for w in H]), max(2 * (len(H) - 1), 1)
    if method not in GATES:
        return cutoff_for(BUDGET * step, cuts)
    order = GATES[method]
    return cutoff_for(step ** (order + 1), cuts * len(ORDERS[order]))


def stepper(
    method: str, H: MPO, psi: Any, tensors: list[Any], factor: complex, bond: int | None, cutoff: float
) -> tuple[Callable[[int], float], Any, Any]:
    """A function that evolves `tensors`, of the kind of `psi`, in place by steps; what it cuts off; and its sweep.

    The function gives the logarithm of what the norm gained.
    """
    truncation = Truncation(bond, cutoff)
    if method in GATES:
        gates = GateRounds(H, factor, GATES[method], psi.conserved)
        return lambda steps: gates.advance(tensors, truncation, steps), truncation, gates
    kind = OneSiteTdvp if method == "tdvp" or len(tensors) == 1 else TwoSiteTdvp
    sweep = kind(kernel_for(psi, H, np.result_type(*[t.dtype for t in tensors])), tensors, factor, np.sqrt(cutoff))
    return lambda steps: sweep.advance(truncation, steps), truncation, sweep
