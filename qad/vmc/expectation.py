"""Expectation values of sampled wave functions, differentiable by the parameters."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import GradientTypeError
from qad.core.trees import flatten, tree_map
from qad.extend import Tensor, defvjp, primitive, value_of
from qad.keywords import keywords_told
from qad.vmc.descent import Slopes
from qad.vmc.local import LocalValues

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.typing import Seed, Tree
    from qad.vmc.samplers import Sampler
    from qad.vmc.space import Space
    from qad.vmc.statistics import Estimate
    from qad.vmc.wave_functions import LogPsi


@keywords_told
def expect(
    log_psi: LogPsi,
    params: Tree,
    observable: Any,
    space: Space,
    samples: int = 1024,
    sampler: Sampler = "metropolis",
    seed: Seed = 0,
) -> Estimate:
    """The expectation value ``<psi|O|psi> / <psi|psi>`` of an operator, with its error.

    Parameters
    ----------
    log_psi, params, space, samples, sampler, seed
        As of `sample`.
    observable : OpSum, PauliSum or MPO
        Hermitian, called O here.

    Returns
    -------
    Estimate
        Its `mean` can be differentiated by `params`.

    Raises
    ------
    ArgumentError
        As `ground_state`; if the observable is not Hermitian.
    GradientTypeError
        If second derivatives are asked for, or forward mode.

    Warns
    -----
    RuntimeWarning
        If R-hat exceeds 1.05: the chains have not mixed, or are too short to tell.

    Notes
    -----
    With local values ``O_loc = <s|O|psi> / <s|psi>`` the gradient by real parameters is the covariance
    ``2 Re <(O_loc - <O>)* d log psi>``, of the same samples; that by complex ones is the pair of its parts, as qad's
    gradients are.

    Examples
    --------
    >>> import numpy as np, qad
    >>> field = lambda p, s: p * s.sum(1)  # every spin in the state (e^p, e^-p)
    >>> magnet = qad.mps.OpSum(4).add(1.0, "Z", 0)
    >>> found = qad.vmc.expect(field, 0.1, magnet, qad.vmc.Spins(4), 4096)
    >>> bool(abs(found.mean - np.tanh(0.2)) < 4 * found.error)
    True
    >>> qad.grad(lambda p: qad.vmc.expect(field, p, magnet, qad.vmc.Spins(4), sampler="exact").mean)(0.1).round(6)
    np.float64(1.922086)
    """
    leaves, _ = flatten(params)
    plain = tree_map(value_of, params)
    if any(type(x) is Tensor for x in flatten(plain)[0]):
        raise GradientTypeError(ONCE)
    local = LocalValues(log_psi, observable, space, samples, sampler, seed)
    found, drawn, values = local.measure(plain)
    if not any(type(x) is Tensor for x in leaves):
        return found

    def slope():
        slopes = Slopes(log_psi, plain).at(plain, drawn)
        return flatten(slopes.packing.unpack(2 * slopes.transposed(slopes.centred(values))))[0]

    return replace(found, mean=mean_of(*leaves, mean=found.mean, slope=slope))


ONCE = "an expectation value of samples has first derivatives, in reverse mode: there are no second ones"


@primitive
def mean_of(*leaves: Any, mean: float, slope: Callable[[], Any]) -> float:
    """The mean of samples that depend on the leaves."""
    return np.float64(mean)


def _mean_vjp(needed, g, ans, *leaves, mean, slope):
    if any(type(value_of(x)) is Tensor or type(x) is Tensor for x in (g, *leaves)):
        raise GradientTypeError(ONCE)
    found = slope()
    return tuple(g * found[i].conj() for i in needed)


defvjp(mean_of, shared=_mean_vjp)
