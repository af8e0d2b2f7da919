"""Time evolution: one function, several methods."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
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
from qad.mps.evolve.dual import Paired
from qad.mps.evolve.recorded import GateSteps, TdvpSteps
from qad.mps.evolve.response import Gated
from qad.mps.evolve.room import BUDGET, room_for
from qad.mps.evolve.start import centred, recorded_centre
from qad.mps.evolve.suzuki import ORDERS
from qad.mps.evolve.tebd import Truncation, cutoff_for
from qad.mps.evolve.whole import advanced, amplitudes_of, chain_of, fits
from qad.mps.kernels.operators import kernel_for
from qad.mps.operators.mpo import plain_of
from qad.symmetric.generic import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from qad.mps.evolve.recorded import GateRun
    from qad.mps.evolve.room import Room, Sweep
    from qad.mps.operators.mpo import MPO
    from qad.mps.operators.opsum import OpSum
    from qad.typing import Real, Scalar

GATES = {"tebd": 2, "tebd4": 4}  # and the order of the product formula
METHODS = (*GATES, "tdvp", "tdvp2")
REACH = 1e-5  # of `evolve`
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
    steps, bond = site_count(steps, 1, "steps"), site_count(bond, 1, "bond")
    if method not in METHODS:
        raise ArgumentError(f"unknown method {method!r}: choose one of {', '.join(map(repr, METHODS))}")
    several, dt = steps if callback is None and not callable(H) else 1, real_time(value_of(time)) / steps
    way = {"method": method, "bond": bond, "cutoff": cutoff, "imaginary": imaginary, "reach": reach}
    course = course_of(psi, H, time / steps, several, steps, **way)
    gained, now = 0.0, 0.0
    with blas_for(max(bond, psi.bond)):
        for k in range(0, steps, several):
            gained, now = gained + course.advance(), (k + several) * dt
            if callback is not None:
                try:
                    callback(course.state, now)
                except StopIteration:
                    break
    return Evolution(course.state, now, float(course.lost), gained, course.missed)


def course_of(psi: Any, H: Any, dt: Scalar, several: int, steps: int, **way: Any) -> Steps | Recorded | Driven:
    """What takes a state several steps further at a time, of so many in all."""
    if callable(H):
        return Driven(psi, H, dt, way)
    H = as_operator(H, psi)
    if any(type(x) is Tensor for x in (*flatten(psi)[0], *H, dt)):
        return Recorded(psi, H, dt, several, steps, **way)
    del way["reach"]
    return Steps(psi, H, dt, several, **way)


class Steps:
    """The evolution of plain operands."""

    def __init__(
        self, psi: MPS, H: MPO, dt: float, several: int, method: str, bond: int, cutoff: float | None, imaginary: bool
    ):
        check_operator(psi, H)
        prepared(H)
        cutoff = cutoff_of(method, H, dt) if cutoff is None else cutoff
        factor = -dt if imaginary else -1j * dt
        room = room_for(method, H, psi, bond, cutoff, dt)
        self.made_of: Callable[[Sequence[Any]], MPS] = psi._made_of
        self.run, self.scale = run_of(method, H, psi, centred(psi, H, imaginary), factor, several, bond, cutoff, room)

    def advance(self) -> float:
        """Several steps; the logarithm of what the norm gained."""
        return self.run.advance() + self.scale

    @property
    def state(self) -> MPS:
        """That it has become."""
        return self.made_of(self.run.tensors)

    @property
    def lost(self) -> float:
        """The weight that was cut off."""
        return self.run.truncation.discarded

    @property
    def missed(self) -> float:
        """What the variational principle did not see."""
        return self.run.missed


class Recorded:
    """The evolution of recorded operands, as one node of the tape; with a callback as one for each step.

    Of four ways the first that can: all amplitudes with gates, of plain states; an adjoint chain for gates, for terms
    beyond neighbours and for bonds that lack what a change fills, of a state that is not cut; and a reverse sweep.
    """

    lost: float = 0.0
    missed: float = 0.0

    def __init__(
        self, psi: Any, H: MPO, dt: Scalar, several: int, steps: int, method: str, bond: int, cutoff: float | None,
        imaginary: bool, reach: float,
    ):  # fmt: skip
        check_unstacked((*flatten(psi)[0], *H, dt))
        known, factor = plain_of(H), dt * (-1.0 if imaginary else -1j)
        check_operator(psi, known)
        check_hermitian(known.tensors)
        unit = np.zeros((), np.result_type(psi.dtype, H.dtype, value_of(factor)))
        self.kind: GateSteps | TdvpSteps = kind_of(method, psi, known, unit.dtype, several)
        self.made: list[Any] = self.kind.made_of(H, factor)[0]
        self.plan: EvolutionMethod | None = None
        if method in GATES and cutoff is None and psi.conserved is None and fits(psi.phys, bond, len(psi) * steps):
            self.tensors, self.made_of = amplitudes_of(psi) + unit, chain_of
            return
        self.tensors, self.made_of = recorded_centre(psi, H, imaginary), psi._made_of
        usual = cutoff_of(method, known, value_of(dt)) if cutoff is None else cutoff
        room = partial(room_for, method, known, psi, bond=bond, cutoff=usual, dt=abs(value_of(dt)))
        recorded = [any(type(x) is Tensor for x in flatten(part)[0]) for part in (self.made, self.tensors)]
        finer = min(usual, RECORDED_CUTOFF) if cutoff is None else cutoff
        plan = EvolutionMethod(self.kind, bond, usual, finer, reach, room, *recorded, adjoint=None)
        values = list(map(plain, self.made)), list(map(plain, self.tensors))
        paired = method == "tdvp2" and len(psi) > 1 and (room() is not None or plan.misses(*values))
        self.plan = replace(plan, adjoint=Gated if method in GATES else Paired if paired else None)

    def advance(self) -> Real:
        """Several steps; the logarithm of what the norm gained."""
        if self.plan is None:
            self.tensors, gained = advanced(self.made, self.tensors, self.kind)
            return gained
        self.tensors, gained, lost, missed = evolution_of(self.made, self.tensors, self.plan)
        self.lost, self.missed = self.lost + lost, self.missed + missed
        return gained

    @property
    def state(self) -> MPS:
        """That it has become."""
        return self.made_of(self.tensors)


class Driven:
    """The evolution by an operator that changes in time: every step has that at its middle (the midpoint rule).

    It is of second order in the step: W. Magnus, Commun. Pure Appl. Math. 7, 649 (1954), cut after the first term.
    """

    lost: float = 0.0
    missed: float = 0.0

    def __init__(self, psi: Any, H: Callable[[Scalar], Any], dt: Scalar, way: dict[str, Any]):
        self.state: Any = psi
        self.H: Callable[[Scalar], Any] = H
        self.dt: Scalar = dt
        self.way: dict[str, Any] = way
        self.done: int = 0

    def advance(self) -> Real:
        """One step; the logarithm of what the norm gained."""
        middle = (self.done + 0.5) * self.dt
        try:
            operator = as_operator(self.H(middle), self.state)
        except ArgumentError as error:
            raise ArgumentError(
                f"H(t) returns the operator at time t, an MPO or an OpSum; at {middle}: {error}"
            ) from None
        step = course_of(self.state, operator, self.dt, 1, 1, **self.way)
        gained = step.advance()
        self.state, self.done = step.state, self.done + 1
        self.lost, self.missed = self.lost + step.lost, self.missed + step.missed
        return gained


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


def kind_of(method: str, psi: Any, H: MPO, dtype: Any, steps: int) -> GateSteps | TdvpSteps:
    """So many steps of a method, of a state like `psi` of this dtype."""
    if method in GATES:
        return GateSteps(GATES[method], steps, len(psi) - 1, psi.conserved)
    return TdvpSteps(1 if method == "tdvp" else 2, steps, kernel_for(psi, H, dtype))


def run_of(
    method: str, H: MPO, psi: Any, tensors: Sequence[Any], factor: complex, steps: int, bond: int, cutoff: float,
    room: Room | None,
) -> tuple[GateRun | Sweep, float]:  # fmt: skip
    """What evolves tensors of the kind of `psi` by so many steps; and the logarithm of what their norm has lost then.

    Gates have that divided out.
    """
    kind = kind_of(method, psi, H, np.result_type(*[t.dtype for t in tensors]), steps)
    made, scale = kind.made_of(H, factor)
    return kind.run(made, tensors, Truncation(bond, cutoff), room), scale
