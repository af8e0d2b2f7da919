"""States to start a search from: random ones, and those of a smaller bond with a little noise in what is new."""

from __future__ import annotations

from collections import defaultdict
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from qad import symmetric
from qad.core.errors import ArgumentError, ConvergenceError, GradientTypeError
from qad.extend import Tensor, value_and_grad, value_of
from qad.optimize import minimize
from qad.peps.infinite.environment import environment
from qad.peps.infinite.observables import expectation
from qad.peps.infinite.orbits import orbits
from qad.peps.infinite.state import PEPS
from qad.peps.infinite.symmetry import symmetrised
from qad.peps.models import plain, real_if_real
from qad.symmetric import generic

if TYPE_CHECKING:
    from typing import Any

    from qad.peps.models import Model
    from qad.typing import Array

DRAWS, ROUGH, MOST_MOVES = 4, 1e-6, 300  # of random starts; how exactly their environments are known
LOWER = 1e-6  # relative: by how much products of two sublattices have to lie lower
NOISE, SHAKEN = 1e-2, 3e-2  # of what a larger bond adds, beside a site of norm 1, and on states of imaginary time


def normalised(state: PEPS) -> PEPS:
    """The same state, its sites symmetric and of norm 1."""
    sites = [x if state.conserved else symmetrised(x, state.symmetry) for x in map(generic.plain, state.tensors)]
    return PEPS([x / generic.norm(x) for x in sites], state.cell, state.symmetry, state.conserved, state.kind)


def random_start(bond: int, rng: np.random.Generator, shape: dict[str, Any]) -> PEPS:
    """A random state of norm 1 beside a product of random spins of the same weight.

    Environments of random states alone converge badly, and searches from there end in local minima.
    """
    sites = []
    for x in normalised(PEPS.random(bond, seed=rng, **shape)).tensors:
        spin = rng.standard_normal(len(x))
        site = x.copy()
        site[:, 0, 0, 0, 0] += spin / np.linalg.norm(spin)
        sites.append(site)
    return normalised(PEPS(sites, shape["cell"], shape["symmetry"], kind=shape.get("kind")))


def promising_start(bond: int, rng: np.random.Generator, shape: dict[str, Any], model: Model, chi: int) -> PEPS:
    """A random start below the energy of infinite temperature, if one of a few is: others end in local minima."""
    shape, hot = shape | {"kind": model.kind}, sum(mean(t.operator) for t in model.terms)
    for _ in range(DRAWS):
        state = random_start(bond, rng, shape)
        try:
            if expectation(state, model, environment(state, chi, tol=ROUGH, maxiter=MOST_MOVES)) < hot:
                break
        except ConvergenceError:
            pass
    return state


def mean(operator: Array) -> float:
    """The mean of the eigenvalues of a term."""
    return float(matrix(operator).diagonal().real.mean())


def matrix(operator: Array) -> np.ndarray:
    """A term as a matrix."""
    n = int(np.prod(operator.shape[: operator.ndim // 2]))
    return plain(operator).reshape(n, n)


def enlarged(state: PEPS, bond: int, rng: np.random.Generator, noise: float = NOISE) -> PEPS:
    """`state` with larger bonds, which hold noise."""
    wide = PEPS.random(bond, state.cell, rng, state.phys, state.dtype, state.symmetry)
    sites = []
    for x, y in zip(normalised(state).tensors, normalised(wide).tensors, strict=True):
        larger = noise * y
        larger[tuple(slice(n) for n in x.shape)] += x
        sites.append(larger)
    return normalised(PEPS(sites, state.cell, state.symmetry, kind=state.kind))


def check_plain(model: Model) -> None:
    """Raise for a model that is recorded."""
    if any(type(t.operator) is Tensor for t in model.terms):
        raise GradientTypeError(
            "searches take plain numbers: derivatives are those of qad.peps.energy(found.state, model, chi)"
        )


def noisy(state: PEPS, rng: np.random.Generator, noise: float = SHAKEN) -> PEPS:
    """`state` with noise in its blocks: imaginary time keeps symmetries that the ground state need not have."""
    sites = []
    for x in state.tensors:
        y = symmetric.random(x.legs, x.charge, x.dtype, seed=rng)
        sites.append(x / generic.norm(x) + y * (noise / generic.norm(y)))
    return normalised(PEPS(sites, state.cell, None, state.conserved, state.kind))


def check_model(model: Model, like: PEPS, bond: int, is_default: bool) -> None:
    """Raise unless states like this one, of this bond and maybe of the default cell, may be a model's ground state."""
    check_plain(model)
    list(orbits(model, like.symmetry, like.dtype.kind == "c"))
    if like.dtype.kind != "c" and any(np.iscomplexobj(value_of(real_if_real(t.operator))) for t in model.terms):
        raise ArgumentError(f"states of dtype {like.dtype} cannot hold the ground state of a complex model")
    if like.bond > bond:
        raise ArgumentError(f"{like!r} has bonds above {bond}: raise `bond`")
    if is_default:
        check_uniform(model)


def check_uniform(model: Model) -> None:
    """Raise where products of two sublattices lie lower than those of alike sites: that order alternates."""
    one, two = (lowest_product(model, count) for count in (1, 2))
    if two < one - LOWER * max(abs(one), abs(two)):
        raise ArgumentError(
            f"states of alike sites do not hold the order of this model: products of them have the energy {one:.6g} a "
            f'site, those of two sublattices {two:.6g}. Give model.rotated(), or cell=["AB", "BA"]; cell=["A"] insists'
        )


def lowest_product(model: Model, count: int) -> float:
    """The lowest energy per site of products of one state, or of two on the sublattices of a chessboard."""

    sums = defaultdict(float)
    for t, first in product(model.terms, range(count)):  # a term begins on either sublattice
        sums[tuple([(first + row + column) % count for row, column in t.sites])] += matrix(t.operator) / count

    def energies(states: Array) -> Array:
        states, total = states / np.linalg.norm(states, axis=2, keepdims=True), 0.0
        for sublattices, operator in sums.items():
            psi = states[sublattices[0]]
            for place in sublattices[1:]:
                psi = (psi[:, :, None] * states[place][:, None]).reshape(DRAWS, -1)
            total = total + np.sum(psi.conj() * (psi @ operator.T), 1).real
        return total

    rng, shape = np.random.default_rng(0), (count, DRAWS, len(model.terms[0].operator))
    start = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
    found = minimize(value_and_grad(lambda states: np.sum(energies(states))), start, jac=True, ftol=LOWER**2)
    return float(energies(found.params).min())


def natural_dtype(model: Model) -> type:
    """Float for a real model, else complex."""
    return complex if any(np.iscomplexobj(value_of(t.operator)) for t in model.terms) else float
