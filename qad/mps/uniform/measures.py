"""Numbers of infinite chains: energies, correlation lengths, fidelities, entropies."""

from __future__ import annotations

from math import lcm
from typing import TYPE_CHECKING

import numpy as np
import scipy

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import like, operand, value_of
from qad.keywords import keywords_told
from qad.linalg import dominant_eig, linear_solve
from qad.mps.chain.chain import Chain
from qad.mps.chain.checks import check_kind
from qad.mps.kernels.cells import steps_to_nothing
from qad.mps.kernels.environments import past_left, through_right
from qad.mps.measure.measures import expected, per_site
from qad.mps.operators.opsum import OpSum
from qad.mps.operators.uniform_mpo import UniformMPO, check_hermitian, of_neighbours
from qad.mps.operators.uniform_opsum import UniformOpSum
from qad.mps.uniform.canonical import uniform_schmidt_form
from qad.mps.uniform.state import UniformMPS
from qad.mps.uniform.transfer import check_single, environments, largest_by_charge, refuse_batch

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray

    from qad.mps.charges.quantities import Kinds
    from qad.symmetric.groups import Charge
    from qad.typing import Array, ArrayLike, Real


def energy_density(
    psi: UniformMPS, h: ArrayLike | UniformMPO | UniformOpSum, *, start: ArrayLike | None = None
) -> Real:
    """Energy per site, real.

    Parameters
    ----------
    psi : UniformMPS
        Of any norm.
    h : UniformMPO, UniformOpSum, or array (d, d, d, d)
        The Hamiltonian; an array is a Hermitian term of two neighbours, legs (out, out, in, in), of all bonds.
    start : array (bond, bond), optional
        Where the search for the left environment begins, such as the one of a similar state.

    Returns
    -------
    real scalar
        Differentiable, through the dominant eigenvectors implicitly: H. Xie, J.-G. Liu and L. Wang, PRB 101, 245139
        (2020).

    Raises
    ------
    ArgumentError
        If the Hamiltonian is not Hermitian or not of an infinite chain, or the state is a sum of several ones.
    BatchError
        Under `qad.vmap`: write a loop over the examples.

    Examples
    --------
    >>> import numpy as np, qad
    >>> up = qad.mps.uniform.UniformMPS([np.array([1.0, 0.0]).reshape(1, 2, 1)])
    >>> sz = np.diag([0.5, -0.5])
    >>> round(float(energy_density(up, np.einsum("ac,bd->abcd", sz, sz))), 12)
    0.25
    """
    H, psi = operator_of(h), ordinary(psi)
    check_term(psi, H)
    check_single(psi)
    lefts, rights = environments(psi, start)
    return energy_from(psi, H, lefts[0], rights[-1])


@keywords_told
def local_expectations(psi: UniformMPS, operator: str | ArrayLike | Sequence[ArrayLike], kind: Kinds = None) -> Array:
    """``<operator>`` on every site of the cell.

    Parameters
    ----------
    psi : UniformMPS
    operator : array (d, d), a sequence of one for each site of the cell, or a name
    kind : str, Site, or a sequence of them, optional
        What stands on the sites, where a name is looked up, as in `qad.mps.local_expectations`.

    Returns
    -------
    array (cell,), complex if the state or the operator is

    Examples
    --------
    >>> import qad
    >>> found = qad.mps.uniform.ground_state(qad.mps.uniform.ising(2.0), bond=8, cell=1)
    >>> qad.mps.uniform.local_expectations(found.state, "X").round(6)
    array([0.934215])
    """
    check_kind(psi, UniformMPS)
    operators, psi = per_site(psi, operator, kind), ordinary(psi)
    check_single(psi)
    lefts, rights = environments(psi)
    return expected((lefts, psi.tensors, [None, *rights]), range(len(psi)), operators)


def correlation_length(psi: UniformMPS, charge: Charge | None = None) -> float:
    """``-cell / log|lambda_2 / lambda_1|`` of the transfer operator of the cell, in sites; plain.

    Parameters
    ----------
    psi : UniformMPS
        Of plain arrays.
    charge : int or tuple of int, optional
        For a symmetric state: the length over which operators that add this charge are correlated with their
        adjoints, such as 2 for Sp (in units of 2 Sz); by default the longest of all.

    Returns
    -------
    float
        0 for a product state; inf for a state that is a sum of several.

    Examples
    --------
    >>> import numpy as np, qad
    >>> correlation_length(qad.mps.uniform.UniformMPS([np.ones((1, 2, 1))]))
    0.0
    """
    check_kind(psi, UniformMPS)
    refuse_batch(*psi)
    if charge is not None and psi.conserved is None:
        raise ArgumentError("charge= is of states that conserve: those of ground_state(..., conserve=)")
    second, first = (0.0, 1.0) if psi.bonds[0] == 1 else largest_by_charge(psi, charge)
    return 0.0 if second == 0 else float(np.inf if second >= first else -len(psi) / np.log(second / first))


def fidelity(one: UniformMPS, two: UniformMPS) -> Real:
    """Overlap per site of two uniform states, ``|lambda_12| / sqrt(lambda_11 lambda_22)`` to the power 1/cell.

    Parameters
    ----------
    one, two : UniformMPS
        Of equal cells.

    Returns
    -------
    real scalar
        1 if and only if the states are the same.
    """
    one, two = ordinary(one), ordinary(two)
    check_kind(one, UniformMPS)
    check_kind(two, UniformMPS)
    refuse_batch(*one, *two)
    if [t.shape[1] for t in one] != [t.shape[1] for t in two]:
        raise ShapeError(f"fidelity needs equal cells, but got {one!r} and {two!r}: repeat the shorter one")

    def dominant(a, b):
        if a.bonds[0] == b.bonds[0] == 1:  # a number, which is 0 for orthogonal states
            return abs(through_right(np.ones((1, 1)), a.tensors, b.tensors)[0, 0])
        start = np.random.default_rng(0).standard_normal((b.bonds[0], a.bonds[0])) + 0j
        return abs(dominant_eig(lambda x: through_right(x, a.tensors, b.tensors), start)[0])

    return (dominant(one, two) / np.sqrt(dominant(one, one) * dominant(two, two))) ** (1 / len(one))


def entanglement_entropy(psi: UniformMPS) -> NDArray[np.float64]:
    """Von Neumann entropy ``-sum w^2 log w^2`` of a cut left of every site of the cell, in nats; plain.

    Parameters
    ----------
    psi : UniformMPS
        Of plain arrays.

    Returns
    -------
    array (cell,)
    """
    return np.array([-scipy.special.xlogy(w**2, w**2).sum() for w in uniform_schmidt_form(psi)[1]])


def ordinary(psi: Any) -> Any:
    """A state that conserves as one of arrays; any other as it is."""
    return psi.without_symmetry() if isinstance(psi, UniformMPS) else psi


def operator_of(h: ArrayLike | UniformMPO | UniformOpSum) -> UniformMPO:
    """A Hamiltonian of an infinite chain as an operator."""
    if isinstance(h, UniformOpSum):
        return h.mpo()
    return h if isinstance(h, UniformMPO) else of_neighbours(two_site_term(h))


def two_site_term(h: Any) -> Array:
    """The array of a Hermitian term of neighbours; raises for what is none."""
    if isinstance(h, (Chain, OpSum)) or not hasattr(h := operand(h), "shape"):
        raise ArgumentError(f"{h!r} is of no infinite chain: write the Hamiltonian as a qad.mps.uniform.UniformOpSum")
    refuse_batch(h)
    d = len(h)
    if h.shape != (d, d, d, d):
        raise ShapeError(f"a two-site term has shape (d, d, d, d) (out, out, in, in), not {h.shape}")
    matrix = h.reshape(d * d, d * d)
    if not np.abs(matrix - matrix.conj().mT).max() <= 1e-10 * np.abs(matrix).max():
        raise ArgumentError("the two-site term is not Hermitian, or not finite, so that it has no energy")
    return h


def check_term(psi: UniformMPS, H: UniformMPO) -> None:
    """Raise unless the operator is Hermitian and acts on sites like those of the state."""
    check_kind(psi, UniformMPS)
    refuse_batch(*psi, *H)
    sites = lcm(len(psi), len(H))
    if tuple(t.shape[1] for t in psi) * (sites // len(psi)) != H.phys * (sites // len(H)):
        raise ShapeError(f"a cell of sites {[t.shape[1] for t in psi]} does not fit an operator of sites {[*H.phys]}")
    check_hermitian(H)


def energy_from(psi: UniformMPS, H: UniformMPO, left: Array, right: Array) -> Array:
    """The energy per site, given the environments of the cell without an operator.

    With the left environment in channel 0, the channels in between are what terms have begun on the left: the solution
    of ``x = (T(left) + T(x)) / lambda``, lambda the eigenvalue of the transfer operator T.  What one more cell adds to
    the last channel is the energy of a cell.
    """
    cell = lcm(len(psi), len(H))
    kets, tensors = psi.tensors * (cell // len(psi)), H.tensors * (cell // len(H))
    channels = tensors[0].shape[0]

    def passed(first, middle):
        x = np.concatenate([first[:, None], middle, like(left).zeros((len(left), 1, len(left)), left.dtype)], axis=1)
        for ket, w in zip(kets, tensors, strict=True):
            x = past_left(x, ket, operator=w)
        return x

    begun = passed(left, like(left).zeros((len(left), channels - 2, len(left)), left.dtype))
    factor = (begun[:, 0] * right).sum() / (left * right).sum()
    middle, steps = begun[:, 1:-1] / factor, steps_to_nothing([value_of(w) for w in tensors])
    if steps is None:
        middle = linear_solve(lambda x: x - passed(0 * left, x)[:, 1:-1] / factor, middle, tol=1e-13)
    else:
        for _ in range(steps - 1):
            middle = passed(left, middle)[:, 1:-1] / factor
    energy = (passed(left, middle)[:, -1] * right).sum() / (begun[:, 0] * right).sum()
    return energy.real / cell
