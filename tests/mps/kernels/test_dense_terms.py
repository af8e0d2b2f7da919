"""Effective operators of every centre against the projected dense matrix; what they are made of."""

import numpy as np
import pytest

import qad
from qad.mps import MPO, MPS
from qad.mps.chain.canonical import canonical
from qad.mps.kernels.terms import identities, multiples
from tests.mps.surroundings import Environments
from tests.strict_array import abroad, home

N = 6


def electrons():
    """Hopping and interaction on sites of dimension 4, written without names."""
    rng = np.random.default_rng(0)
    hop, total = rng.standard_normal((4, 4)), qad.mps.OpSum(4, qad.mps.Site("four", {"Id": np.eye(4)}))
    for i in range(3):
        total.add(1.0, hop, i, hop.T, i + 1).add(1.0, hop.T, i, hop, i + 1)
    return total.mpo()


def scrambled(H):
    """The same operator in another basis of its bonds, in which no channel carries the identity."""
    rng, tensors = np.random.default_rng(1), list(H)
    for i in range(len(H) - 1):
        turn = np.linalg.qr(rng.standard_normal((tensors[i].shape[1],) * 2))[0]
        tensors[i] = np.einsum("abij,bc->acij", tensors[i], turn)
        tensors[i + 1] = np.einsum("cb,bdij->cdij", turn.T, tensors[i + 1])
    return MPO(tensors)


OPERATORS = {
    "neighbours": qad.mps.heisenberg(N),
    "second neighbours": qad.mps.j1j2(N, 1.0, 0.3),
    "ring": qad.mps.j1j2(N, 1.0, 0.3, periodic=True),
    "all distances": qad.mps.long_range_ising(N, 0.5, 1.0),
    "scaled": 0.125 * qad.mps.j1j2(N, 1.0, 0.3),
    "sum of operators": qad.mps.heisenberg(N) + 1j * qad.mps.j1j2(N, 0.4, 1.3),
    "mirrored": MPO([w.swapaxes(0, 1) for w in reversed(list(qad.mps.j1j2(N, 1.0, 0.3)))]),
    "scrambled": scrambled(qad.mps.j1j2(N, 1.0, 0.3)),
    "product": MPO([np.diag([1.0, 2.0])[None, None]] * N),
    "nothing": 0.0 * qad.mps.heisenberg(N),
    "spin 1": qad.mps.blbq(4, 0.3),
    "dimension 4": electrons(),
}


def frame(tensors, first, last):
    """The isometry from the legs of the sites ``first ... last - 1`` and their bonds to the whole chain."""
    left, right = np.eye(1), np.eye(1)
    for t in tensors[:first]:
        left = np.tensordot(left, t, 1).reshape(-1, t.shape[2])
    for t in reversed(tensors[last:]):
        right = np.tensordot(t, right, 1).reshape(len(t), -1)
    middle = np.eye(int(np.prod([t.shape[1] for t in tensors[first:last]])))
    found = np.einsum("xa,pq,by->xpyaqb", left, middle, right)
    return found.reshape(np.prod(found.shape[:3]), -1)


def matrix(apply, size):
    return np.array([apply(row.astype(complex)) for row in np.eye(size)]).T


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("size", [0, 1, 2])
def test_projections_of_the_whole(name, size):
    H, sites = OPERATORS[name], len(OPERATORS[name])
    psi, dense = MPS.random(sites, 5, H[0].shape[2], seed=1), OPERATORS[name].to_dense()
    for site in range(sites - max(size - 1, 0) - (size == 0)):
        tensors = canonical(psi.tensors, site + (size == 0))
        environments = Environments(H, tensors, complex)
        for i in range(site + (size == 0)):
            environments.pass_right(i, tensors[i])
        shape = (*tensors[site].shape[:2], *tensors[site + 1].shape[1:]) if size == 2 else tensors[site].shape
        if size == 0:  # the bond right of the site; its matrix belongs to neither
            environments.right[site] = Environments(H, canonical(psi.tensors, 0), complex).right[site]
            chain = [*tensors[: site + 1], *canonical(psi.tensors, 0)[site + 1 :]]
            shape, projector = (tensors[site].shape[2],) * 2, frame(chain, site + 1, site + 1)
            apply = environments.bond(site, shape)
        else:
            projector = frame(tensors, site, site + size)
            apply = (environments.one_site if size == 1 else environments.two_sites)(site, shape)
        expected = projector.conj().T @ dense @ projector
        tolerance = 1e-13 * max(1.0, np.abs(dense).max()) * len(dense)
        np.testing.assert_allclose(matrix(apply, len(expected)), expected, rtol=0, atol=tolerance)


def test_identities_are_read_off_the_tensors():
    left = identities(list(qad.mps.heisenberg(4)))
    np.testing.assert_array_equal(left[2], [1, np.nan, np.nan, np.nan, np.nan])
    scaled = identities(list(0.125 * qad.mps.heisenberg(4)))
    np.testing.assert_array_equal(scaled[3][:1], 0.125)
    twice = identities(list(qad.mps.heisenberg(4) + 3.0 * qad.mps.ising(4, 1.0)))
    assert sorted(twice[2][~np.isnan(twice[2])]) == [1.0, 3.0]
    nearly = np.eye(2)[None, None] * np.array([1.0, 1 + 1e-15])[:, None]
    assert np.isnan(multiples(nearly)).all()


def test_nothing_reaches_an_end_in_vain():
    """Channels that nothing leads to stand for 0, and make no matrix."""
    H = qad.mps.heisenberg(5)
    wider = [np.pad(w, ((0, i > 0), (0, i < 4), (0, 0), (0, 0))) for i, w in enumerate(H)]
    wider[2][-1] = 7.0  # a block that only an unreachable channel leads to
    tensors = MPS.random(5, 4, seed=3).tensors
    terms = [Environments(MPO(ws), canonical(tensors, 0), complex).around(2, 2) for ws in (wider, list(H))]
    live = [[np.count_nonzero(side.any(axis=(1, 2))) for side in (t.left, t.right)] for t in terms]
    assert live == [[4, 3]] * 2 and [t.crossing for t in terms] == [None] * 2


@pytest.mark.parametrize("name, products", [("neighbours", 16), ("second neighbours", 32)])
def test_multiplications(name, products):
    """In units of ``bond**3``, for two spins; channel by channel they are 80 and 128."""
    H = {"neighbours": qad.mps.heisenberg(12), "second neighbours": qad.mps.j1j2(12, 1.0, 0.3)}[name]
    kernel = Environments(H, canonical(MPS.random(12, 2, dtype=float, seed=1).tensors, 0), float)
    bond, counted = 8, []

    class Counting(np.ndarray):
        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            plain = [np.asarray(x) for x in inputs]
            if ufunc is np.matmul and plain[-1].ndim == plain[0].ndim == 2:
                counted.append(plain[0].size * plain[1].shape[-1])
            kwargs.pop("out", None)
            return getattr(ufunc, method)(*plain, **kwargs).view(Counting)

    left, right = np.ones((bond, H[5].shape[0], bond)), np.ones((bond, H[6].shape[1], bond))
    apply, _ = kernel.effective(5, 2, left, right, np.empty((bond, 2, 2, bond)))
    apply(np.ones(4 * bond**2).view(Counting))
    assert sum(counted) == products * bond**3


def test_arrays_of_another_library():
    H, tensors = qad.mps.j1j2(6, 1.0, 0.3), canonical(MPS.random(6, 4, seed=1).tensors, 0)
    pair = np.tensordot(tensors[0], tensors[1], 1)
    expected = Environments(H, tensors, complex).two_sites(0, pair.shape)(pair.reshape(-1))
    foreign = Environments(abroad(H), abroad(list(tensors)), complex).two_sites(0, pair.shape)
    np.testing.assert_array_equal(home(foreign(abroad(pair.reshape(-1)))), expected)
