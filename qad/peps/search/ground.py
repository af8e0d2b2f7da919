"""Ground states of infinite lattices by L-BFGS on sites of norm 1, preconditioned by their environments."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from qad.core.process.threads import blas_for
from qad.keywords import keywords_told
from qad.optimize.result import BY_USER
from qad.peps.checks import check_kind
from qad.peps.infinite.environment import check_options
from qad.peps.infinite.state import PEPS
from qad.peps.models import Model
from qad.peps.search.checkpoint import Checkpoint
from qad.peps.search.descent import COARSE, SMALL_CHI, WINDOW, Search
from qad.peps.search.result import GroundState
from qad.peps.search.simple_update import charged_start
from qad.peps.search.starts import check_model, natural_dtype
from qad.showing.progress import bar_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.charges.quantities import Names
    from qad.typing import DTypeLike, FilePath, Progress, Seed


@keywords_told
def ground_state(
    model: Model,
    bond: int,
    chi: int,
    symmetry: str | None = None,
    cell: Sequence[str] | None = None,
    progress: Progress = None,
    checkpoint: FilePath | None = None,
    seed: Seed = 0,
    *,
    start: PEPS | None = None,
    dtype: DTypeLike | None = None,
    conserve: Names | None = None,
    sector: object = None,
    tol: float = 1e-10,
    maxiter: int = 1000,
) -> GroundState:
    """The state of lowest energy among infinite ones of a bond dimension.

    Parameters
    ----------
    model : Model
    bond, chi : int
        Dimensions of the bonds of the state and, about, of its environment; see `environment`.
    symmetry : str, optional
        Of the state; see `PEPS`. "c4v" is the quickest by far.
    cell : sequence of str, optional
        The pattern of the sites; default one site, ``["A"]``, which holds no order that alternates. An antiferromagnet
        needs ``["AB", "BA"]``, or its model as `Model.rotated` has it.
    progress : bool or tqdm, optional
        None for a bar after two seconds, where someone looks: energy, gain and time, in a terminal or a notebook.  True
        for one at once that stays, False for none; or a bar that is moved.
    checkpoint : str or path, optional
        A file that is rewritten after every iteration, atomically. A search goes on from it, to a larger `bond` too;
        one of another model, `chi` of this bond, `cell`, `symmetry` or `start`, or damaged, is refused and left alone.
    seed : int or numpy.random.Generator
        Of the random state, of bond 2 at most, from which the search starts, and of the noise by which bonds grow and
        states of imaginary time are shaken.
    start : PEPS, optional
        A state to start from instead, of at most this bond; `cell`, `symmetry` and `dtype` are its own. One with
        charges keeps its bonds. The descent keeps what symmetry it has, such as spins along one line after
        `simple_update`, and may end on a saddle then: compare with a search from a random state.
    dtype : dtype, optional
        Of the random state; default float for a real model, else complex.
    conserve : str or sequence of str, optional
        What the state conserves, ``"Sz"`` or ``("N", "Sz")``; fermions always conserve their parity. The search starts
        from the state of `simple_update` of this bond and a little noise then, and keeps the sectors of its bonds; the
        default cell is ``["AB", "BA"]``.
    sector : int or tuple of int, optional
        The total of what is conserved in a cell, as in `simple_update`.
    tol : float
        Converged where an iteration gains less than ``tol * max(|E|, 1)``.
    maxiter : int
        Most iterations at one bond.

    Returns
    -------
    GroundState
        Also after Ctrl-C: the best state so far.

    Raises
    ------
    ArgumentError
        If `chi` is below ``bond**2``, the model has not the symmetry, the state is real and the model complex, or the
        checkpoint cannot be read; if no cell is given where products of two sublattices have less energy; and with
        charges as `simple_update`.
    ConvergenceError
        If no environment of the start comes to rest.
    GradientTypeError
        Where a derivative is asked for: that of the energy is that of ``energy(found.state, model, chi)``.

    Warns
    -----
    RuntimeWarning
        If the energy is higher by more than 1e-4 of it in a fresh environment than in that which the search kept: both
        are those of the fresh one then.

    Notes
    -----
    L-BFGS in the metric of single sites: X.-Y. Zhang et al., arXiv:2511.09546. Points at which the environment does not
    converge are rejected. Environments start from that of the best state so far, so that the energy is a function of
    the state; their tolerance follows the gradient. Where they come to rest slowly the descent begins anew from the
    present state, whose environment is cut elsewhere then: the energy may rise by the difference.

    Examples
    --------
    >>> import qad
    >>> found = qad.peps.ground_state(qad.peps.heisenberg().rotated(), bond=2, chi=16, symmetry="c4v", tol=1e-6)
    >>> round(found.energy, 3)
    -0.66
    """
    check_kind(model, Model)
    rng, dtype = np.random.default_rng(seed), natural_dtype(model) if dtype is None else dtype
    first = charged_start(model, bond, cell, dtype, conserve, sector, start, symmetry)
    shape = {"cell": cell or ("A",), "phys": len(model.terms[0].operator), "dtype": dtype, "symmetry": symmetry}
    like = PEPS.random(bond, **shape) if first is None else first
    check_options(bond, chi, tol, maxiter)
    check_model(model, like, bond, is_default=cell is first is None)
    file = None if checkpoint is None else Checkpoint(checkpoint, model, bond, chi, like, start)
    begin, env, history = (file.read() if file else None) or (first, None, [])
    with blas_for(chi), bar_for(progress, "energy") as bar:
        search = Search(model, chi, bar, maxiter, env, file, history, is_given=start is not None)
        try:
            if begin is first is not start:
                return search.checked(search.from_time(begin, rng, tol))
            if begin is None and bond <= 2:
                return search.checked(search.from_random(bond, shape, rng, tol))
            if begin is None:
                begin = search.coarser(2 * SMALL_CHI * 4).from_random(2, shape, rng, max(tol, COARSE), WINDOW).state
            return search.checked(search.run(search.raised(begin, bond, rng, max(tol, COARSE)), tol))
        except KeyboardInterrupt:
            if not search.found:
                raise
            return replace(search.found[-1], converged=False, message=BY_USER)
