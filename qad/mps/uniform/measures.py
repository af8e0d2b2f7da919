"""Numbers of infinite chains: energies, expectation values, fidelities."""

from __future__ import annotations

from itertools import accumulate
from math import lcm
from operator import mul
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import like, operand, value_of
from qad.keywords import keywords_told
from qad.linalg import dominant_eig, linear_solve
from qad.mps.chain.chain import Chain, as_array
from qad.mps.chain.checks import check_kind
from qad.mps.chain.densities import reduced
from qad.mps.chain.gates import as_matrix
from qad.mps.chain.methods import OFFERED
from qad.mps.chain.row import check_standing
from qad.mps.kernels.cells import steps_to_nothing
from qad.mps.kernels.environments import past_left, through_right
from qad.mps.measure.measures import expected, per_site
from qad.mps.operators.opsum import OpSum
from qad.mps.operators.uniform_mpo import UniformMPO, check_hermitian, of_neighbours
from qad.mps.operators.uniform_opsum import UniformOpSum
from qad.mps.uniform.state import UniformMPS
from qad.mps.uniform.transfer import check_single, environments, refuse_batch, sides_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.mps.charges.quantities import Kinds
    from qad.typing import Array, ArrayLike, Real


MOST_SITES = 10  # of an operator on neighbours, whose entries are limited


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


@keywords_told
def expectation(psi: UniformMPS, operator: str | ArrayLike, *, kind: Kinds = None) -> Array:
    """``<operator>`` on neighbouring sites, from every site of the cell.

    Parameters
    ----------
    psi : UniformMPS
        Of any norm.
    operator : array (d**k, d**k), or one axis for each site's ``out`` and then each site's ``in``; or a name
        On k sites, the first of them most significant, Hermitian or not; a name of one site, as in
        `local_expectations`.
    kind : str, Site, or a sequence of them, optional
        What stands on the sites of the cell, where a name is looked up.

    Returns
    -------
    array (cell,), complex if the state or the operator is
        Entry i with its first site on site i.  Differentiable by the state and the operator.

    Raises
    ------
    ShapeError
        If the operator does not fit the sites.
    ArgumentError
        If it is a sum of terms, whose value per site is `energy_density`, or the state is a sum of several ones.

    Examples
    --------
    >>> import numpy as np, qad
    >>> neel = qad.mps.uniform.UniformMPS([np.eye(2)[0].reshape(1, 2, 1), np.eye(2)[1].reshape(1, 2, 1)])
    >>> qad.mps.uniform.expectation(neel, "Sz"), qad.mps.uniform.expectation(neel, np.diag([0.0, 1.0, 0.0, 0.0]))
    (array([ 0.5, -0.5]), array([1., 0.]))
    """
    if isinstance(operator, str):
        return local_expectations(psi, operator, kind)
    if isinstance(operator, (Chain, OpSum, UniformOpSum)):
        raise ArgumentError(f"{operator!r} is no matrix on neighbouring sites: energy_density(psi, H) is that per site")
    (lefts, tensors, rights), operator = sides_of(check_kind(psi, UniformMPS)), as_array(operator)
    values = []
    for i in range(len(tensors)):
        sites = spanned(psi.phys, i, operator.shape)
        matrix = as_matrix(operator, [psi.phys[j] for j in sites])
        ends = [rights[j] for j in (i, *sites)]
        density = reduced(([lefts[i]], [tensors[j] for j in sites], ends), range(len(sites)))
        values.append((density * matrix.T).sum())
    return np.stack(values)


OFFERED["uniform.expectation"] = expectation


def spanned(phys: Sequence[int], first: int, shape: tuple[int, ...]) -> list[int]:
    """The sites of the cell, from one on, on which an operator of this shape acts if it fits."""
    count = max(len(shape) // 2, 1)
    if len(shape) == 2:
        sizes = accumulate((phys[(first + j) % len(phys)] for j in range(MOST_SITES)), mul)
        count = next((k for k, size in enumerate(sizes, 1) if size >= shape[0]), 1)
    return [(first + j) % len(phys) for j in range(count)]


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
    check_standing(one, two, "the other state")

    def dominant(a, b):
        if a.bonds[0] == b.bonds[0] == 1:  # a number, which is 0 for orthogonal states
            return abs(through_right(np.ones((1, 1)), a.tensors, b.tensors)[0, 0])
        start = np.random.default_rng(0).standard_normal((b.bonds[0], a.bonds[0])) + 0j
        return abs(dominant_eig(lambda x: through_right(x, a.tensors, b.tensors), start)[0])

    return (dominant(one, two) / np.sqrt(dominant(one, one) * dominant(two, two))) ** (1 / len(one))


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
    check_standing(psi, H, "the operator")
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
