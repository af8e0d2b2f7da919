"""Ground states of infinite chains: what is asked for, checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError, GradientTypeError
from qad.core.process.threads import blas_for
from qad.extend import Tensor
from qad.keywords import keywords_told
from qad.mps.chain.chain import site_count
from qad.mps.charges.channels import conserve_for
from qad.mps.charges.quantities import conserved_by
from qad.mps.operators.uniform_mpo import UniformMPO, check_hermitian
from qad.mps.operators.uniform_opsum import UniformOpSum
from qad.mps.search.start import check_sector
from qad.mps.uniform.measures import check_term, operator_of
from qad.mps.uniform.variational import Run
from qad.showing.progress import bar_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.charges.quantities import Charge, Names, Quantities
    from qad.mps.uniform.state import UniformGroundState, UniformMPS
    from qad.typing import ArrayLike, DTypeLike, Progress, Seed

METHODS = ("vumps", "riemannian")


@keywords_told
def ground_state(
    h: ArrayLike | UniformMPO | UniformOpSum,
    bond: int = 8,
    cell: int | None = None,
    method: str = "vumps",
    seed: Seed = 0,
    progress: Progress = None,
    *,
    start: UniformMPS | None = None,
    dtype: DTypeLike | None = None,
    tol: float = 1e-10,
    maxiter: int = 2000,
    starts: int = 3,
    conserve: str | Sequence[str] | None = None,
    sector: int | tuple[int, ...] | None = None,
) -> UniformGroundState:
    """The uniform state of lowest energy per site.

    Parameters
    ----------
    h : UniformMPO, UniformOpSum, or array (d, d, d, d)
        The Hamiltonian; an array is a Hermitian term of two neighbours, legs (out, out, in, in), of all bonds, in which
        a field is shared out between the bonds.
    bond, cell : int
        Bond dimension, and number of sites of the cell: a multiple of the Hamiltonian's, by default that, or 2 if it is
        one site (antiferromagnets need 2).
    method : str
        "vumps": variational, centres between infinite environments; bonds grow where H asks for it.  "riemannian":
        L-BFGS in rounds, on changes of an isometric state that are free of gauge and have its metric, with implicit
        gradients of the dominant eigenvectors, from where "vumps" leads coarsely.
    seed : int or numpy.random.Generator
    progress : bool or tqdm, optional
        As in `qad.mps.ground_state`.
    start : UniformMPS, optional
        To start from; `cell`, `dtype` and `starts` are not used then.  Smaller bonds than `bond` grow.
    dtype : dtype, optional
        Default float for a real `h`, else complex.
    tol : float
        Converged when 40 iterations ("vumps": 4) gain less than this, relative to the energy ("vumps": to the size of
        the terms), and all further iterations too, extrapolated as a geometric series.  "vumps" asks for a gradient
        below ``sqrt(tol) / 200``, in the same units, as well.
    maxiter : int
        Most iterations from one start at one bond dimension.
    starts : int
        From how many random states the search begins, at small bonds, for there are local minima.  The lowest energy is
        gone on with.
    conserve : str or sequence of str, optional
        Quantities that `h` conserves, "Sz", "N", both, or "parity" (of flips along x where `h` conserves that one): the
        search is one among symmetric states of one charge per cell, by "vumps", and its state has symmetric tensors.
        Quicker from bond 64 or so on.  Not converged where domains of basis states, of other charges but the same mean,
        are lower, as below the highest spin of a ferromagnet.
    sector : int or tuple of int, optional
        The charge of a cell, one number for each quantity (2 Sz for spins); by default 0.

    Returns
    -------
    UniformGroundState
        Also after Ctrl-C: the best state so far, whose bond may be smaller than `bond`.

    Raises
    ------
    ArgumentError
        If `h` is not Hermitian or does not fit the cell; for an unknown method; if `h` does not conserve a quantity of
        `conserve`, or no state of a cell has the charge.
    GradientTypeError
        Where a derivative is asked for: `ground_energy` has one.

    Examples
    --------
    >>> import numpy as np, qad
    >>> H = qad.mps.uniform.UniformOpSum().add(-1.0, "Z", 0, "Z", 1).add(-1.5, "X", 0)  # the Ising chain at g = 1.5
    >>> found = qad.mps.uniform.ground_state(H, bond=6, cell=1)
    >>> round(found.energy, 6), found.converged  # exact: -1.671926221536195
    (-1.671926, True)
    """
    bond, maxiter, starts = (site_count(x, 1, n) for x, n in ((bond, "bond"), (maxiter, "maxiter"), (starts, "starts")))
    if method not in METHODS:
        raise ArgumentError(f"unknown method {method!r}: choose one of {', '.join(map(repr, METHODS))}")
    if not tol >= 0:
        raise ArgumentError(f"tol must not be negative, but got {tol!r}")
    if isinstance(h, (UniformMPO, UniformOpSum)):
        conserve = conserve_for(h, conserve, around=True)
    charged = conserve is not None or getattr(start, "conserved", None) is not None
    if charged:
        h = charged_operator(h, start.conserved.names if conserve is None else conserve, method)
    elif sector is not None:
        raise ArgumentError(f"sector={sector!r} is the charge of what conserve= names: give both")
    H = plain_operator(h, cell if start is None else len(start))
    if start is not None:
        check_term(start, H)
    dtype = dtype_for(H, dtype) if start is None else np.result_type(start.dtype, least_dtype(H))
    wide = np.result_type(dtype, H.dtype, np.float64)
    with blas_for(max(bond, start.bond if start else 1)), bar_for(progress, "energy") as bar:
        quantities = known(H, conserve, sector, start) if charged else (None, None)
        run = Run(H, bar, maxiter, wide, *quantities, descends=method == "riemannian")
        return run.ended(start, bond, starts, tol, np.random.default_rng(seed), dtype)


def charged_operator(h: Any, conserve: Names, method: str) -> UniformMPO:
    """The Hamiltonian as an operator, its terms split into parts that conserve where it is a sum."""
    if method != "vumps":
        raise ArgumentError(f'{method!r} keeps no charges: leave out conserve, or write method="vumps"')
    if not isinstance(h, (UniformOpSum, UniformMPO)):
        raise ArgumentError(
            "a search that conserves charges takes a UniformOpSum or a UniformMPO: write the terms as one"
        )
    return h.mpo(conserve) if isinstance(h, UniformOpSum) else h


def known(H: UniformMPO, conserve: Names | None, sector: object, start: UniformMPS | None) -> tuple[Quantities, Charge]:
    """What is conserved, and the charge of a cell, as the caller or the start says."""
    if start is None:
        conserved = conserved_by(H, conserve)
        return conserved, conserved.symmetry.neutral if sector is None else conserved.sector(sector)
    check_sector(start, conserve, sector)
    return start.conserved, start.total


def least_dtype(H: UniformMPO) -> type:
    """The least dtype that a state of lowest energy may have, and that eigenvectors take."""
    return np.complex64 if H.dtype.kind == "c" else np.float32


def dtype_for(H: UniformMPO, dtype: DTypeLike | None) -> np.dtype:
    """The dtype of random states for a Hamiltonian; raises where they cannot hold its ground state."""
    dtype = np.result_type(H.dtype, float) if dtype is None else np.dtype(dtype)
    if dtype.kind not in "fc" or not np.can_cast(least_dtype(H), dtype):
        raise ArgumentError(f"states of dtype {dtype} cannot hold the ground state of a {H.dtype} Hamiltonian")
    return dtype


def plain_operator(h: ArrayLike | UniformMPO | UniformOpSum, cell: int | None) -> UniformMPO:
    """The Hamiltonian of a cell of sites, Hermitian and of plain numbers."""
    H = operator_of(h)
    if any(type(w) is Tensor for w in H):
        raise GradientTypeError("searches take plain numbers: differentiate qad.mps.uniform.ground_energy(h, bond)")
    check_hermitian(H)
    cell = max(2, len(H)) if cell is None else site_count(cell, 1, "cell")
    if cell % len(H):
        raise ArgumentError(f"a cell of {cell} sites does not repeat the Hamiltonian's {len(H)}: give a multiple")
    return H.repeated(cell)
