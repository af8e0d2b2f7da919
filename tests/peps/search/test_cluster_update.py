"""Imaginary time in clusters: lower energies than by weights alone, and what a cut leaves of the cluster."""

import numpy as np
import pytest

from qad import peps
from qad.core.errors import ArgumentError
from qad.peps.search.cluster_update import Clustered
from qad.peps.search.paths import OPPOSITE
from qad.peps.search.simple_update import begun, neighbours, path_terms
from qad.peps.search.weighted import leading
from qad.symmetric.generic import as_map, join, matrices_on_columns


@pytest.mark.parametrize(
    "model, best, gain", [(peps.heisenberg(), -0.66023109, 5e-5), (peps.ising(3.2), -3.3761255, 1e-3)], ids=["H", "I"]
)
@pytest.mark.sampled(1)
def test_energies_are_lower_than_by_weights_alone(model, best, gain):
    """`best` is that of one site of bond 2 with all symmetries."""
    states = peps.cluster_update(model, 2), peps.simple_update(model, 2)
    low, high = (peps.energy(state, model, 12, tol=1e-8) for state in states)
    assert best - 1e-5 < low < high - gain


def test_diagonals_next_to_clusters():
    """The best of bond 2 that is known has -0.54326."""
    model = peps.j1j2(1.0, 0.3)
    state = peps.cluster_update(model, 2, ["AB", "CD"], simple=((0.1, 40),), steps=((0.05, 20), (0.01, 20)))
    assert -0.5434 < peps.energy(state, model, 12, tol=1e-8) < -0.5425


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("leg", [3, 4])
def test_cuts_leave_as_much_as_can_be(dtype, leg):
    """The metric is that of all six sites, written out; and in it no cut of the same rank is nearer."""
    rng = np.random.default_rng(0)
    network = Clustered({}, neighbours(("AB", "BA")))
    draw = (lambda *n: rng.standard_normal(n)) if dtype is float else complex_normal(rng)
    network.sites = {name: draw(2, 2, 2, 2, 2) for name in "AB"}
    network.weights = {key: np.array([1.0, 0.4]) / np.sqrt(1.16) for key in network.weights}
    network.is_clustered = True
    q, p = (np.linalg.qr(draw(8, 4))[0].reshape(2, 2, 2, 4) for _ in range(2))
    joint = draw(4, 2, 4, 2)
    metric = network.metric(("A", leg), (q, p))
    assert np.linalg.eigvalsh(metric.reshape(16, 16)).min() > -1e-12
    np.testing.assert_allclose(metric, written_out(network, leg, q, p), atol=1e-12)

    def distance(cut):
        u, values, v = cut
        rest = joint - np.tensordot(u * values, v, 1)
        return np.einsum("adce,acAC,AdCe->", rest, metric, rest.conj()).real

    found = network.cut(joint, ("A", leg), (q, p), 2)
    least = distance(found)
    assert least < 0.999 * distance(leading(joint, 2, 2))
    for _ in range(5):
        u, values, v = found
        near = np.tensordot(u * values + 1e-3 * draw(4, 2, 2), v + 1e-3 * draw(2, 4, 2), 1)
        assert distance(leading(near, 2, 2)) > least - 1e-12


@pytest.mark.parametrize("leg", [3, 4])
def test_the_metric_of_fermions_is_positive(leg):
    """It is a norm, so that no sign may be wrong: neither of a bond in the cluster nor of one that leaves it."""
    model = peps.fermions(1.0, delta=0.7, mu=0.3)
    network, terms, _ = begun(Clustered, model, ["AB", "BA"], 0, None, None)
    network.evolve(terms, 3, ((0.1, 20),))
    (q, r), (p, s) = network.reduced("A", leg), network.reduced("B", OPPOSITE[leg])
    metric, joint = network.metric(("A", leg), (q, p)), join(r, s, ((2,), (2,)))
    where, _ = as_map(joint.transpose(1, 3, 0, 2), 2)
    blocks = matrices_on_columns(where, lambda one: join(one, metric, ((1, 2), (0, 1))))
    assert len(blocks) == 2
    for block in blocks:
        np.testing.assert_allclose(block, block.conj().T, atol=1e-14)
        assert np.linalg.eigvalsh(block).min() > -1e-14
        assert np.linalg.eigvalsh(block).max() > 1e-3


def test_charges_change_nothing():
    """Arrays that begin as the same product state end with the same energy."""
    model, cell, simple, steps = peps.heisenberg(), ("AB", "BA"), ((0.1, 30),), ((0.05, 20),)
    charged = peps.cluster_update(model, 2, cell, conserve="Sz", simple=simple, steps=steps)
    network = Clustered({"AB"[i]: np.eye(2)[i].reshape(2, 1, 1, 1, 1) for i in (0, 1)}, neighbours(cell))
    terms = network.everywhere(path_terms(model))
    network.evolve(terms, 2, simple)
    network.is_clustered = True
    network.evolve(terms, 2, steps)
    plain, same = (peps.PEPS(x, cell) for x in (network.balanced(), [x.to_dense() for x in charged.tensors]))
    found, expected = (peps.energy(state, model, 12) for state in (same, plain))
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
def test_energies_of_fermions_are_lower_than_by_weights_alone():
    model, many = peps.hubbard(1.0, 8.0), {"conserve": ("N", "Sz"), "sector": (4, 0)}
    simple = peps.simple_update(model, 4, steps=((0.1, 40), (0.05, 40), (0.01, 60)), **many)
    cluster = peps.cluster_update(model, 4, simple=((0.1, 40),), steps=((0.05, 40), (0.01, 60)), **many)
    low, high = (4 * peps.energy(state, model, 18, tol=1e-6) for state in (cluster, simple))
    assert -2.09766 < low < high - 5e-4


def complex_normal(rng):
    return lambda *n: rng.standard_normal(n) + 1j * rng.standard_normal(n)


def written_out(network, leg, q, p):
    """The norm of the cluster from its six tensors in ket and bra, in one contraction."""
    w = next(iter(network.weights.values()))
    a, b = (np.einsum("suldr,u,l,d,r->suldr", network.sites[name], *[1 / w] * 4) for name in "AB")
    if leg == 4:  # B A above, A B, B A below; legs (physical, up, left, down, right)
        above = np.einsum("sulDr,u,l,r,tvrdx,v,x->Ddsultvx", b, w, w, w, a, w, w)
        below = np.einsum("sUldr,l,d,r,turex,e,x->Uusldtex", b, w, w, w, a, w, w)
    else:  # columns B A on the left, A B, B A on the right
        above = np.einsum("suldR,u,l,d,tdvex,v,e->Rxsultve", b, w, w, w, a, w, w)
        below = np.einsum("suLdr,u,d,r,tdlex,e,x->Llsurtex", b, w, w, w, a, w, w)
    sides = [np.tensordot(x, x.conj(), (tuple(range(2, 8)),) * 2) for x in (above, below)]  # first, second, and in bra
    # legs of the first one: up, left, down, or up, left, right; of the second: up, down, right, or left, down, right
    first, second = ("xfya", "wzgc") if leg == 4 else ("fxya", "wgzc")
    swap = str.maketrans("xyawzc", "XYAWZC")
    n = np.einsum(
        f"{first},{first.translate(swap)},xwXW,yzYZ,{second},{second.translate(swap)}->acAC",
        q, q.conj(), sides[0], sides[1], p, p.conj(), optimize=True,
    )  # fmt: skip
    return n / np.linalg.norm(n)


def test_what_it_refuses():
    with pytest.raises(ArgumentError, match="joins two sites 'A'"):
        peps.cluster_update(peps.j1j2(1.0, 0.5), 2)
    with pytest.raises(ArgumentError, match="whole"):
        peps.cluster_update(peps.heisenberg(), 1.5)
    with pytest.raises(ArgumentError, match="pairs"):
        peps.cluster_update(peps.heisenberg(), 2, simple=(), steps=((0.1, 2.5),))
