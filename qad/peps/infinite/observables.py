"""What is measured in infinite states: energies, expectation values, correlation lengths."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ShapeError
from qad.mps.charges.quantities import kinds
from qad.peps.charges import check_same_kind, graded
from qad.peps.checks import check_kind
from qad.peps.infinite.density import closed, reduced_density
from qad.peps.infinite.environment import Environment, environment
from qad.peps.infinite.orbits import orbits
from qad.peps.infinite.state import PEPS
from qad.peps.models import Model, Term, term

if TYPE_CHECKING:
    from qad.mps.operators.local import Site
    from qad.typing import Array, ArrayLike, Real


def energy(state: PEPS, model: Model, chi: int, start: Environment | None = None, **options: float) -> Real:
    """The energy per site of an infinite state; differentiable by state and model.

    Parameters
    ----------
    state : PEPS
    model : Model
    chi : int
        About how many states the environment keeps; see `environment`.
    start : Environment, optional
        That of a similar state, to start from.
    **options
        `tol`, `maxiter` and `method` of `environment`.

    Returns
    -------
    real scalar

    Raises
    ------
    ConvergenceError
        If the environment does not come to rest.
    ShapeError
        If a term does not fit the sites that it acts on.
    ArgumentError
        If the model has not the symmetry of the state.

    Examples
    --------
    >>> import qad
    >>> state = qad.peps.PEPS.random(bond=2, symmetry="c4v", seed=0)
    >>> model = qad.peps.heisenberg().rotated()
    >>> value, gradient = qad.value_and_grad(lambda state: qad.peps.energy(state, model, chi=12))(state)
    >>> gradient
    PEPS(cell A, bond 2, physical 2, complex128, c4v)
    """
    return expectation(state, model, environment(state, chi, start, **options))


def expectation(state: PEPS, operator: Model | Term, env: Environment) -> Real:
    """The expectation value of a term, or of a model per site.

    Parameters
    ----------
    state : PEPS
    operator : Model or Term
        A term is measured where it stands; a model is summed over the cell, and divided by its sites.
    env : Environment
        Of this state.

    Returns
    -------
    real scalar

    Examples
    --------
    >>> import numpy as np, qad
    >>> state = qad.peps.PEPS.random(bond=2, symmetry="c4v", seed=0)
    >>> env = qad.peps.environment(state, chi=12)
    >>> sz = qad.peps.term(np.diag([0.5, -0.5]), [(0, 0)])
    >>> abs(float(qad.peps.expectation(state, sz, env))) <= 0.5
    True
    """
    check_kind(state, PEPS)
    if isinstance(operator, Term):
        return measured(state, operator, (0, 0), env)
    check_kind(operator, Model)
    check_kind(env, Environment)
    check_same_kind(operator, state.conserved, state.kind)
    total = 0.0
    for weight, t in orbits(operator, state.symmetry, np.dtype(state.dtype).kind == "c"):
        for position in env.cell.first:
            total = total + weight * measured(state, t, position, env)
    return total / len(env.cell.first)


def measured(state: PEPS, t: Term, origin: tuple[int, int], env: Environment) -> Real:
    """The expectation value of a term that starts from `origin`."""
    places = [(row + origin[0], column + origin[1]) for row, column in t.sites]
    shape = tuple(state[place].shape[0] for place in places)
    if t.operator.shape != shape * 2:
        raise ShapeError(f"a term of shape {t.operator.shape} does not fit the sites {places} of dimensions {shape}")
    rho = reduced_density(state, places, env)
    if state.conserved is not None:
        own = [state.letter(*place) for place in places]
        return closed(rho, [graded(t.operator, own, state.conserved, standing(state), t.sites)]).real
    n = int(np.prod(shape))
    return (rho.reshape(n, n) * t.operator.reshape(n, n).T).sum().real


def local_expectations(state: PEPS, operator: str | ArrayLike, env: Environment) -> Array:
    """The expectation values of an operator on each site of the cell.

    Parameters
    ----------
    state : PEPS
    operator : str or array (d, d)
        Hermitian; or the name of an operator of the kind of sites, such as "Sz".
    env : Environment
        Of this state.

    Returns
    -------
    real array (rows, columns)

    Examples
    --------
    >>> import qad
    >>> state = qad.peps.PEPS.random(bond=2, symmetry="c4v", seed=0)
    >>> qad.peps.local_expectations(state, "Sz", qad.peps.environment(state, chi=12)).shape
    (1, 1)
    """
    check_kind(state, PEPS)
    check_kind(env, Environment)
    if isinstance(operator, str):
        operator = standing(state).matrix(operator)
    values = [measured(state, term(operator, [(0, 0)]), position, env) for position in env.cell.first]
    return np.stack([np.stack([values[kind] for kind in row]) for row in env.cell.places])


def standing(state: PEPS) -> Site:
    """What stands on the sites of a state: what it says, else spins."""
    return kinds(state.kind, [state.phys])[0]
