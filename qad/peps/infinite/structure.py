"""Structure factors of infinite states, as derivatives of a generating function."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import jvp
from qad.peps.charges import graded
from qad.peps.checks import check_kind
from qad.peps.infinite import cells
from qad.peps.infinite.density import LAYERS, contracted, legs, surroundings
from qad.peps.infinite.environment import Environment
from qad.peps.infinite.observables import standing
from qad.peps.infinite.state import PEPS
from qad.peps.infinite.symmetry import symmetrised
from qad.symmetric.generic import join, plain

if TYPE_CHECKING:
    from qad.typing import Array, ArrayLike

MOST_REPEATS = 8  # of a cell, after which waves repeat


def structure_factor(
    state: PEPS,
    operator: str | ArrayLike,
    momentum: tuple[float, float],
    chi: int,
    *,
    tol: float = 1e-10,
    maxiter: int = 1000,
) -> float:
    """The connected structure factor of an operator, summed over all distances at once.

        S(q) = sum_r exp(-i q r) (<O_0^+ O_r> - <O_0^+> <O_r>) = d/dh <O_q^+>  at h = 0,

    with the state's ket changed by ``1 + h exp(i q r) O_r`` on every site: the derivative of one environment.

    Parameters
    ----------
    state : PEPS
    operator : str or array (d, d)
        Or its name, such as "Sz". Where charges are conserved it conserves them too.
    momentum : (qy, qx)
        Along rows downwards and columns, in radians per site; a fraction of ``2 pi`` of which a few cells are a period.
    chi : int
        About how many states the environment keeps; see `environment`.
    tol, maxiter
        Of `environment`.

    Returns
    -------
    float
        Per site, the mean over the cell; at q = 0 the fluctuations of the mean.

    Raises
    ------
    ArgumentError
        If waves of this momentum do not repeat after 8 sites of the state, or fewer.
    ConvergenceError
        If the environment does not come to rest.

    Notes
    -----
    W.-L. Tu, H.-K. Wu, N. Schuch, N. Kawashima and J.-Y. Chen, Phys. Rev. B 103, 205155 (2021).

    Examples
    --------
    >>> import numpy as np, qad
    >>> state = qad.peps.PEPS([np.array([0.6, 0.8]).reshape(2, 1, 1, 1, 1)])
    >>> print(round(qad.peps.structure_factor(state, np.diag([0.5, -0.5]), (np.pi, np.pi), chi=1), 6))
    0.2304
    """
    check_kind(state, PEPS)
    o = standing(state).matrix(operator) if isinstance(operator, str) else np.asarray(operator)
    if o.ndim != 2 or {o.shape} != {(x.shape[0],) * 2 for x in state.tensors}:
        raise ShapeError(f"the operator of shape {o.shape} does not fit the sites of {state!r}")
    periods = [repeats(q, n) for q, n in zip(momentum, (state.rows, state.columns), strict=True)]
    wide = repeated(state, *periods)
    waves = [np.exp(1j * (momentum[0] * row + momentum[1] * column)) for row, column in wide.positions]
    if np.abs(np.imag(waves)).max() < 1e-12 and not np.iscomplexobj(o):
        waves = np.real(waves)
    cell, kinds, locals_ = cells.cell_of(wide.cell), standing(state), [o] * len(wide.tensors)
    if wide.conserved is not None:
        locals_ = [graded(o, [i], wide.conserved, kinds, [place]) for i, place in enumerate(wide.positions)]
    on_sites = [join(one, x, ((1,), (0,))) for one, x in zip(locals_, wide.tensors, strict=True)]

    def mean(h: Array) -> Array:
        kets = [x + h * w * y for w, x, y in zip(waves, wide.tensors, on_sites, strict=True)]
        layers = [cells.double_layer(ket, bra) for ket, bra in zip(kets, wide.tensors, strict=True)]
        found, error, report = cells.solved(layers, cell, chi, None, "half", (tol, tol), maxiter)
        env, total = Environment(*found, cell, error, report), 0.0
        for w, one, ket, bra, place in zip(waves, locals_, kets, wide.tensors, wide.positions, strict=True):
            measured = closed(join(one.conj().transpose(1, 0), ket, ((1,), (0,))), bra, env, place)
            total = total + np.conj(w) * measured / closed(ket, bra, env, place)
        return (total / len(waves)).real

    return float(jvp(mean, (0.0,), (1.0,))[1])


def repeats(q: float, n: int) -> int:
    """How many cells of n sites a wave needs to repeat."""
    turns = Fraction(float(q) * n / (2 * np.pi)).limit_denominator(MOST_REPEATS)
    if abs(float(turns) - q * n / (2 * np.pi)) > 1e-9:
        raise ArgumentError(f"waves of momentum {q} do not repeat after at most {MOST_REPEATS} cells of {n} sites")
    return turns.denominator


def repeated(state: PEPS, rows: int, columns: int) -> PEPS:
    """The same state in a cell that is so many times as large, with a letter for every site; plain numbers."""
    height, width = rows * state.rows, columns * state.columns
    names = [[chr(0x4E00 + row * width + column) for column in range(width)] for row in range(height)]
    places = [(row, column) for row in range(height) for column in range(width)]
    tensors = [symmetrised(plain(state[place]), state.symmetry) for place in places]
    conserved = state.conserved
    if conserved is not None:
        conserved = replace(conserved, charges=tuple([conserved.charges[state.letter(*place)] for place in places]))
    return PEPS(tensors, ["".join(row) for row in names], None, conserved, state.kind)


def closed(ket: Array, bra: Array, env: Environment, place: tuple[int, int]) -> Array:
    """A site between its corners and edges."""
    layers = [(x, ["s", *legs(*place, layer)]) for layer, x in zip(LAYERS, (ket, bra.conj()), strict=True)]
    return contracted([*surroundings(env, place[:1], place[1:]), *layers], [])
