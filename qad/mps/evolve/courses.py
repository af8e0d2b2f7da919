"""What takes a state through steps of an evolution: of plain operands, of recorded ones, and by an operator of time."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, BatchError, GradientTypeError
from qad.core.trees import flatten
from qad.extend import Tensor, stack_of, value_of
from qad.mps.chain.checks import as_operator, check_operator
from qad.mps.energy.hamiltonian import check_hermitian, strength
from qad.mps.evolve.adjoint import EvolutionMethod, evolution_of
from qad.mps.evolve.dual import AdjointState
from qad.mps.evolve.recorded import GateSteps, TdvpSteps, centred, check_full
from qad.mps.evolve.room import BUDGET, Run, room_for
from qad.mps.evolve.suzuki import ORDERS
from qad.mps.evolve.tdvp import MOST_PRODUCTS
from qad.mps.evolve.tebd import cutoff_for
from qad.mps.evolve.truncation import Truncation
from qad.mps.evolve.whole import advanced, amplitudes_of, chain_of, exponentiated, fits
from qad.mps.kernels.operators import kernel_for, operator_for
from qad.mps.operators.mpo import plain_of
from qad.symmetric.generic import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from qad.mps.chain.state import MPS
    from qad.mps.operators.mpo import MPO
    from qad.typing import Real, Scalar

GATES = {"tebd": 2, "tebd4": 4}  # and the order of the product formula
NO_SLOPE = 'derivatives by "tdvp2" and "tdvp" are of Hermitian operators: give method="tebd4", whose gates take any'
RECORDED_CUTOFF = 1e-24  # the least weight that is cut by default where it counts how weights grow


def operator_at(H: Any, time: Scalar, psi: Any) -> MPO:
    """An operator, or the one that a function gives at a time."""
    if not callable(H):
        return as_operator(H, psi)
    try:
        return as_operator(H(time), psi)
    except ArgumentError as error:
        raise ArgumentError(f"H(t) returns the operator at time t, an MPO or an OpSum; at {time}: {error}") from None


class Course:
    """The evolution of a state, several steps at a time.

    Plain operands take step after step.  Recorded ones are one node of the tape, or with a callback one for each step.
    Of four ways the first that can: all amplitudes with gates; all amplitudes where bonds lack what a change fills,
    both of short plain chains; an adjoint chain for gates, for terms beyond neighbours and for such bonds, of a state
    that is not cut; and a reverse sweep.

    Parameters
    ----------
    psi, H, dt
        The state, the operator, and the length of a step.
    several, steps : int
        How many steps are taken at a time, and how many in all.
    method, bond, cutoff, imaginary, reach, hermitian
        As of `qad.mps.evolve`.
    """

    tensors: Sequence[Any]
    made_of: Callable[[Sequence[Any]], MPS]
    errors: tuple[float, float] = (0.0, 0.0)
    scale: float
    run: Run | None = None
    plan: EvolutionMethod | None = None

    def __init__(
        self, psi: Any, H: MPO, dt: Scalar, several: int, steps: int, method: str, bond: int, cutoff: float | None,
        imaginary: bool, reach: float = 1.0, hermitian: bool = True,
    ):  # fmt: skip
        self.sites: Any = psi.sites or H.sites
        operands, known, factor = (*flatten(psi)[0], *H, dt), plain_of(H), dt * (-1.0 if imaginary else -1j)
        recorded, length = any(type(x) is Tensor for x in operands), abs(value_of(dt))
        check_unstacked(operands)
        check_operator(psi, known)
        check_generator(known, hermitian, recorded and method not in GATES)
        unit = np.zeros((), np.result_type(psi.dtype, H.dtype, value_of(factor)))
        self.kind: GateSteps | TdvpSteps = kind_of(method, psi, known, unit.dtype, several, hermitian)
        made, self.scale = self.kind.made_of(H, factor)
        self.made: list[Any] = made
        self.amplitudes: Any = None if method == "tdvp" else advanced if method in GATES else exponentiated
        vectors = steps * (len(psi) if method in GATES else MOST_PRODUCTS)
        whole = recorded and self.amplitudes and cutoff is psi.conserved is None and fits(psi.phys, bond, vectors)
        if whole and method in GATES:
            self.tensors, self.made_of = amplitudes_of(psi) + unit, chain_of
            return
        self.tensors, self.made_of = centred(psi, H, imaginary), psi._made_of
        usual = cutoff_of(method, known, length) if cutoff is None else cutoff
        room = partial(room_for, method, known, psi, bond=bond, cutoff=usual, dt=length)
        if not recorded:
            self.truncation: Truncation = Truncation(bond, usual)
            self.run = Run(self.tensors, self.kind.forth(made, self.truncation), room())
            return
        sites = list(map(plain, H if psi.conserved is None else operator_for(psi, known).sites_of(H)))
        finer = min(usual, RECORDED_CUTOFF) if cutoff is None else cutoff
        plan = EvolutionMethod(self.kind, sites, bond, usual, finer, reach, room, adjoint=None)
        values = list(map(plain, made)), list(map(plain, self.tensors))
        if method == "tdvp":
            check_full(values[1])
        paired = method == "tdvp2" and len(psi) > 1 and (room() is not None or misses(plan, *values, whole))
        if whole and paired:
            self.tensors, self.made_of = amplitudes_of(psi) + unit, chain_of
            return
        self.plan = replace(plan, adjoint=AdjointState if paired or method in GATES else None)

    def advance(self) -> Real:
        """Several steps; the logarithm of what the norm gained."""
        if self.run is not None:
            gained = self.run.advance(self.kind.pieces) + self.scale
            self.tensors = self.run.tensors
        elif self.plan is None:
            self.tensors, gained = self.amplitudes(self.made, self.tensors, self.kind)
        else:
            self.tensors, gained, lost, missed = evolution_of(self.made, self.tensors, self.plan)
            self.errors = self.errors[0] + lost, self.errors[1] + missed
        return gained

    def account(self) -> tuple[float, float]:
        """The weight that was cut off, and what the variational principle did not see."""
        return (self.truncation.discarded, self.run.missed) if self.run is not None else self.errors

    @property
    def state(self) -> MPS:
        """That it has become."""
        return self.made_of(self.tensors)._on(self.sites)


def check_generator(H: MPO, hermitian: bool, needs: bool) -> None:
    """Raise unless an operator is Hermitian where that is said, or where the derivative of a method needs it."""
    if hermitian:
        check_hermitian(H.tensors)
    elif needs:
        raise GradientTypeError(NO_SLOPE)


def cutoff_of(method: str, H: MPO, dt: float) -> float:
    """The weight that a cut may discard in steps of this length."""
    step, cuts = dt * strength([value_of(w) for w in H]), max(2 * (len(H) - 1), 1)
    if method not in GATES:
        return cutoff_for(BUDGET * step, cuts)
    order = GATES[method]
    return cutoff_for(step ** (order + 1), cuts * len(ORDERS[order]))


def kind_of(method: str, psi: Any, H: MPO, dtype: Any, steps: int, hermitian: bool) -> GateSteps | TdvpSteps:
    """So many steps of a method, of a state like `psi` of this dtype."""
    if method in GATES:
        return GateSteps(GATES[method], steps, len(psi) - 1, psi.conserved, hermitian)
    return TdvpSteps(1 if method == "tdvp" else 2, steps, kernel_for(psi, H, dtype), hermitian=hermitian)


def misses(plan: EvolutionMethod, made: Sequence[Any], tensors: Sequence[Any], whole: bool) -> bool:
    """Whether bonds lack directions that a change may fill in the first step, or in any: derivatives were refused."""
    try:
        for k in range(len(plan.kind) if whole else 1):
            tensors, _ = plan.step(made, tensors, k)
    except ArgumentError:
        return True
    return False


def check_unstacked(operands: Sequence[Any]) -> None:
    """Raise under `qad.vmap`."""
    if any(np.ndim(stack_of(x)) > np.ndim(x) for x in operands):
        raise BatchError(
            "evolve under qad.vmap: the bonds of a chain differ from example to example: write a loop over the examples"
        )
