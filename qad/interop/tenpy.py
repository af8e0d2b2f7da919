"""States and operators from TeNPy and to it, as dense tensors of finite open chains.

The order of states on a site is that of TeNPy's site without conserved charges: where charges have permuted it, it is
put back.

Examples
--------
>>> import numpy as np, qad
>>> from qad.interop.tenpy import from_tenpy, to_tenpy
>>> psi = qad.mps.MPS.random(4, 3, seed=1)
>>> theirs = to_tenpy(psi)
>>> bool(np.allclose(from_tenpy(theirs).to_dense(), psi.to_dense()))
True
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, overload

import numpy as np

from qad.installed import require

require("qad.interop.tenpy", "tenpy")

from tenpy.linalg import np_conserved as npc
from tenpy.networks.mpo import MPO as TheirMPO
from tenpy.networks.mps import MPS as TheirMPS
from tenpy.networks.site import Site

from qad.core.errors import ArgumentError
from qad.extend import value_of
from qad.interop.arguments import open_chain
from qad.mps import MPO, MPS, norm

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    @overload
    def from_tenpy(chain: TheirMPS) -> MPS: ...
    @overload
    def from_tenpy(chain: TheirMPO) -> MPO: ...


__all__ = ["from_tenpy", "to_tenpy"]


def from_tenpy(chain: Any) -> Any:
    """A chain of TeNPy as one of qad.

    Parameters
    ----------
    chain : tenpy.networks.mps.MPS or tenpy.networks.mpo.MPO
        With finite boundaries.  Charges are written out as zeros; the norm of a state is kept.

    Returns
    -------
    qad.mps.MPS or qad.mps.MPO
        An operator has the first row of its first tensor (``IdL``) and the last column of its last (``IdR``).

    Raises
    ------
    ArgumentError
        The chain is infinite or a segment, or is no chain.
    """
    if not isinstance(chain, TheirMPS | TheirMPO):
        raise ArgumentError(f"from_tenpy: a {type(chain).__name__} is neither an MPS nor an MPO of TeNPy")
    if chain.bc != "finite":
        raise ArgumentError(f"from_tenpy: the chain has boundaries {chain.bc!r}: only finite chains are converted")
    return _state(chain) if isinstance(chain, TheirMPS) else _operator(chain)


def _state(chain):
    tensors = []
    for i, site in enumerate(chain.sites):
        b = chain.get_B(i, form="B").transpose(["vL", "p", "vR"]).to_ndarray()
        tensors.append(b[:, np.argsort(site.perm)])
    tensors[0] = tensors[0] * chain.norm
    return MPS(tensors)


def _operator(chain):
    tensors = []
    for i, site in enumerate(chain.sites):
        order = np.argsort(site.perm)
        tensors.append(chain.get_W(i).transpose(["wL", "wR", "p", "p*"]).to_ndarray()[:, :, order][..., order])
    left, right = chain.get_IdL(0), chain.get_IdR(chain.L - 1)
    tensors[0] = tensors[0][left : left + 1]
    tensors[-1] = tensors[-1][:, right : right + 1]
    operator = MPO(tensors)
    return operator + operator.mH if chain.explicit_plus_hc else operator


def to_tenpy(chain: MPS | MPO, sites: Sequence[Any] | None = None) -> Any:
    """A finite open chain of qad as one of TeNPy, without charges.

    Parameters
    ----------
    chain : qad.mps.MPS or qad.mps.MPO
        Plain or recorded; no gradient flows to TeNPy.
    sites : sequence of tenpy.networks.site.Site, optional
        Of no conserved charges; by default sites that have no other operator than the identity.

    Returns
    -------
    tenpy.networks.mps.MPS or tenpy.networks.mpo.MPO
        A state in canonical form, its norm kept in ``.norm``.

    Raises
    ------
    ArgumentError
        The chain is periodic or symmetric, or a site conserves charges.
    """
    tensors = [np.asarray(value_of(t)) for t in open_chain(chain, "to_tenpy").tensors]
    axis = 1 if isinstance(chain, MPS) else 2
    if sites is None:
        sites = [Site(npc.LegCharge.from_trivial(t.shape[axis])) for t in tensors]
    if any(site.leg.chinfo.qnumber for site in sites):
        raise ArgumentError("to_tenpy: a site conserves charges: make the sites with conserve=None")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about arguments that TeNPy will ask for in times to come
        if isinstance(chain, MPS):
            found = TheirMPS.from_Bflat(sites, [t.transpose(1, 0, 2) for t in tensors], form=None)
            found.canonical_form()  # which keeps the phase, and loses the norm
            found.norm = float(norm(MPS(tensors)))
            return found
        ws = [npc.Array.from_ndarray_trivial(t, labels=["wL", "wR", "p", "p*"]) for t in tensors]
        ends = [None] * len(tensors)
        return TheirMPO(sites, ws, IdL=[0, *ends], IdR=[*ends, 0])
