"""Evolution by a Hamiltonian that changes in time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from qad.core.errors import ArgumentError
from qad.extend import value_of
from qad.mps.chain.chain import site_count
from qad.mps.chain.checks import as_operator


def driven(
    evolve: Callable[..., Any],
    psi: Any,
    H: Callable[[float], Any],
    time: Any,
    steps: int,
    callback: Callable[[Any, float], object] | None,
    **options: Any,
) -> Any:
    """Steps of `evolve`, each with the operator at its middle: the midpoint rule, of second order in the step.

    W. Magnus, Commun. Pure Appl. Math. 7, 649 (1954), cut after the first term.
    """
    steps, discarded, missed, gained, result = site_count(steps, 1, "steps"), 0.0, 0.0, 0.0, None
    for k in range(steps):
        middle, now = (k + 0.5) * (time / steps), (k + 1) * (time / steps)
        try:
            operator = as_operator(H(middle), psi)
        except ArgumentError as error:
            raise ArgumentError(
                f"H(t) returns the operator at time t, an MPO or an OpSum; at {middle}: {error}"
            ) from None
        result = evolve(psi, operator, time / steps, 1, **options)
        psi, discarded, gained = result.state, discarded + result.discarded, gained + result.log_norm
        missed += result.projection_error
        result = replace(result, time=value_of(now), discarded=discarded, log_norm=gained, projection_error=missed)
        if callback is not None:
            try:
                callback(psi, result.time)
            except StopIteration:
                break
    return result
