"""Derivatives of decays at rate 1, where coherences vanish as the root of ``1 - gamma``.

What is measured is a polynomial in these roots r_k: where all are 0 it is ``F(0) + sum_k r_k dF/dr_k`` to first order.
Taken apart like this, infinity meets only numbers at the end, and nowhere the zeros of a circuit.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from qad.circuit.noise.channels import Channel, decay, power, times
from qad.core.errors import GradientTypeError
from qad.extend import jvp, stack_of, unrecorded, value_of
from qad.extend.recording import directions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    F = TypeVar("F", bound=Callable[..., Any])

NEAR = "differentiate at a rate of 1 - 1e-9"
SMALL = 1e-13  # beside the values: rounding


def beside_roots(measured: F) -> F:
    """Let a real answer of a noisy circuit have its derivatives where decays of rate 1 are differentiated."""

    @wraps(measured)
    def found(circuit, *args, **kwargs):
        places = vanishing(circuit.matrices)
        if not places:
            return measured(circuit, *args, **kwargs)
        if any(len(directions(circuit.matrices[k].rates)) > 1 for k in places):
            raise GradientTypeError(f"amplitude_damping(1.0) has first derivatives alone: {NEAR}")

        def at(roots):
            return measured(with_roots(circuit, places, roots), *args, **kwargs)

        answer = at(np.zeros(len(places)))
        if len(places) > 1:
            refuse_products(at, len(places), unrecorded(answer))
        for k, place in enumerate(places):
            unit = np.eye(len(places))[k]
            slope = unrecorded(jvp(lambda r, unit=unit: at(r * unit), (0.0,), (1.0,))[1])
            answer = answer + times(slope, power(circuit.matrices[place].rates[1], k=0.5))
        return answer

    return found


def vanishing(matrices: Sequence[Any]) -> list[int]:
    """Which of the matrices of a circuit are differentiated decays of rate 1."""
    return [k for k, u in enumerate(matrices) if type(u) is Channel and u.superoperator is not None and u.recorded
            and not np.any(stack_of(value_of(u.rates)[1]))]  # fmt: skip


def with_roots(circuit: Any, places: Sequence[int], roots: Sequence[Any]) -> Any:
    """A copy of the circuit in which these decays have other roots than their rates say."""
    other = circuit.copy()
    other.matrices = list(circuit.matrices)
    for place, root in zip(places, roots, strict=True):
        other.matrices[place] = decay(circuit.matrices[place].rates, root)
    return other


def refuse_products(at: Callable[[np.ndarray], Any], count: int, value: Any) -> None:
    """Raise where an answer depends on a product of two roots, which may be of one rate: that has a derivative."""
    roots = np.random.default_rng(0).uniform(0.5, 1.0, count)
    both = unrecorded(at(roots)) + unrecorded(at(-roots)) - 2 * value
    if np.any(np.abs(stack_of(both)) > SMALL * (1 + np.abs(stack_of(value)))):
        raise GradientTypeError(
            "amplitude_damping(1.0) is differentiated on several places, and the answer depends on a product of "
            f"coherences that vanish there: {NEAR}"
        )


def check_roots(matrices: Sequence[Any]) -> None:
    """Raise where derivatives of a density matrix, which has these roots in its entries, are not told right."""
    places = vanishing(matrices)
    if len(places) > 1 or any("forward" in directions(matrices[k].rates) for k in places):
        raise GradientTypeError(
            "amplitude_damping(1.0) has infinite derivatives of the coherences of a density matrix: expectation(H) and "
            f"probabilities() have those that are finite, or {NEAR}"
        )
