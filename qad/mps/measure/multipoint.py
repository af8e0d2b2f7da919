"""Products of many operators on as many sites of a chain, in one sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ShapeError
from qad.extend import like
from qad.keywords import keywords_told
from qad.mps.chain.checks import check_kind
from qad.mps.chain.densities import site_density
from qad.mps.chain.state import MPS
from qad.mps.charges.quantities import named, standing
from qad.mps.kernels.environments import past_left
from qad.mps.measure.measures import sides_of
from qad.mps.operators.opsum import OpSum

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.charges.quantities import Kinds
    from qad.typing import Array, ArrayLike


@keywords_told
def multipoint(psi: MPS, operators: Sequence[str | ArrayLike], sites: ArrayLike, *, kind: Kinds = None) -> Array:
    """``<psi| A_i B_j C_k ... |psi> / <psi|psi>`` of products of many operators, on many choices of sites at once.

    Parameters
    ----------
    psi : MPS
    operators : sequence of k names or matrices
        Of plain numbers.  From left to right; fermionic names get their Jordan-Wigner strings and signs.
    sites : int array (..., k)
        The sites of each product, in any order; several operators may stand on one site.
    kind : str, Site, or a sequence of them, optional
        What stands on the sites, where names are looked up; by default what the state knows, or spins.

    Returns
    -------
    array (...)

    Raises
    ------
    ShapeError
        If the last axis of `sites` does not name a site for each operator, or a matrix does not fit.
    ArgumentError
        If a site does not exist, or there is no operator of a name.

    Notes
    -----
    One sweep; products that begin alike share their environments, so that all ``n**4`` four-point functions cost
    ``O(n**4 phys bond**3)``.  A state with charges is taken as the ordinary state that it is.

    Examples
    --------
    >>> import numpy as np, qad
    >>> pair = qad.mps.MPS.product(["full", "full", "empty"], kind="fermion")
    >>> sites = [[0, 1, 1, 0], [0, 1, 0, 1], [0, 2, 2, 0]]
    >>> qad.mps.multipoint(pair, ("Cdag", "Cdag", "C", "C"), sites).real
    array([ 1., -1.,  0.])
    """
    plain = check_kind(psi, MPS).without_symmetry()
    operators, sites = list(operators), np.asarray(sites)
    if not operators or sites.shape[-1:] != (len(operators),) or sites.dtype.kind not in "iu":
        raise ShapeError(
            f"sites of shape {sites.shape} and type {sites.dtype} do not name a site for each of {len(operators)} "
            "operators: give whole numbers (..., k)"
        )
    for name in dict.fromkeys(x for x in operators if isinstance(x, str)):
        named(psi, name, kind)
    total = OpSum(len(plain), standing(psi, kind))
    rows = [total.product(*[x for pair in zip(operators, row, strict=True) for x in pair]) for row in
            sites.reshape(-1, len(operators)).tolist()]  # fmt: skip
    values = products(plain, [string for string, scale in rows if scale != 0], total.operators.matrices)
    numbers = [scale * values[string] if scale != 0 else 0.0 * values[()] for string, scale in rows]
    return np.stack(numbers).reshape(sites.shape[:-1]) if numbers else np.zeros(sites.shape[:-1], plain.dtype)


def products(psi: MPS, strings: list[Any], matrices: Sequence[np.ndarray]) -> dict[Any, Any]:
    """Expectation values of strings of pairs (site, number of a matrix); that of no operator is 1."""
    lefts, tensors, rights = sides_of(psi)
    norm2 = site_density(lefts[0], tensors[0], rights[1]).trace()
    values, waiting, front = {(): norm2 / norm2}, {}, []
    for string in dict.fromkeys(strings):
        if string:
            waiting.setdefault(string[0][0], []).append(string)
    for site, tensor in enumerate(tensors):  # the front: what environments there are, and the strings that share each
        if site in waiting:
            front = [*front, (lefts[site], waiting[site])]
        ways: dict[Any, dict[int, list[Any]]] = {}  # by the operator that stands here, or none, and the environment
        for i, (_, sharing) in enumerate(front):
            for string in sharing:
                ways.setdefault(dict(string).get(site), {}).setdefault(i, []).append(string)
        before, front = front, []
        for number, shared in ways.items():
            ket = tensor if number is None else like(tensor).asarray(matrices[number]) @ tensor
            moved = past_left(np.stack([before[i][0] for i in shared]), ket, tensor)
            for environment, own in zip(moved, shared.values(), strict=True):
                ended = [string for string in own if string[-1][0] == site]
                values |= {string: (environment * rights[site + 1]).sum() / norm2 for string in ended}
                if len(ended) < len(own):
                    front.append((environment, [string for string in own if string[-1][0] > site]))
    return values
