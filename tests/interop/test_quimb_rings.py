"""Periodic chains of quimb, contracted by what is even and odd under the exchange of bra and ket."""

import numpy as np
import pytest

import qad

pytest.importorskip("quimb.tensor", reason="the optional package quimb is not installed")

import cotengra
import quimb.tensor as qtn
from opt_einsum.paths import ssa_to_linear

import qad.interop.quimb
from qad.core.errors import CheckError
from qad.interop.quimb import networks, rings

SITES, BLOCK = 6, 2
X, Y, Z = np.array([[0.0, 1], [1, 0]]), np.array([[0.0, 1], [-1, 0]]), np.diag([1.0, -1])  # Y is i times Pauli's


@pytest.fixture
def taken(monkeypatch):
    """Rings of any size are taken; whether each network was one."""
    found = []

    def ring_in(*args):
        found.append(rings.ring_in(*args))
        return found[-1]

    monkeypatch.setattr(rings, "FEWEST", 4)
    monkeypatch.setattr(networks, "ring_in", ring_in)
    rings._ring.cache_clear()
    yield found
    rings._ring.cache_clear()


def in_blocks(layers, sites=SITES, block=BLOCK):
    """An order that makes a block of the sites of all layers, one by one, and multiplies the blocks."""
    path, made, following = [], [], layers * sites

    def join(a, b):
        nonlocal following
        path.append((a, b))
        following += 1
        return following - 1

    for start in range(0, sites, block):
        parts = []
        for layer in range(layers):
            node = layer * sites + start
            for site in range(start + 1, start + block):
                node = join(node, layer * sites + site)
            parts.append(node)
        node = join(parts[0], parts[1])
        made.append(node if layers == 2 else join(node, parts[2]))
    node = made[0]
    for other in made[1:]:
        node = join(node, other)
    return tuple(map(tuple, ssa_to_linear(path)))


def one_by_one(sites=SITES, block=BLOCK):
    """The same for three layers, but that the tensors of the last sites are joined to the rest one after the other."""
    path, made, following = [], [], 3 * sites
    for start in range(0, sites - block, block):
        parts = [layer * sites + start + site for layer in range(3) for site in range(block)]
        made.append([*parts])
    rest = [layer * sites + site for layer in range(3) for site in range(sites - block, sites)]
    node = None
    for parts in made:
        here = parts[0]
        for other in parts[1:]:
            path.append((here, other))
            here, following = following, following + 1
        if node is not None:
            path.append((node, here))
            here, following = following, following + 1
        node = here
    for other in rest:
        path.append((node, other))
        node, following = following, following + 1
    return tuple(map(tuple, ssa_to_linear(path)))


def chain(*terms):
    """The sum of products of operators on neighbours around the ring, as quimb's MPO."""
    w = np.zeros((len(terms) + 2, len(terms) + 2, 2, 2))
    w[0, 0] = w[-1, -1] = np.eye(2)
    for k, (a, b) in enumerate(terms, 1):
        w[k, 0], w[-1, k] = a, b
    first = np.zeros_like(w)  # closes the ring
    first[0] = w[-1]
    for k, (a, _) in enumerate(terms, 1):
        first[k, -1] = a
    return qtn.MatrixProductOperator([first, *[w] * (SITES - 1)], shape="lrud")


def regauged(operator):
    """The same operator with another basis of its bonds: no permutation of them exchanges bra and ket."""
    rng, out = np.random.default_rng(5), operator.copy()
    for site in range(SITES):
        n = out[site].shape[1]
        g = rng.normal(size=(n, n))
        left, right = out[site], out[(site + 1) % SITES]
        bond = next(iter(left.bonds(right)))
        left.gate_(g, bond)
        right.gate_(np.linalg.inv(g).T, bond)
    return out


def rescaled(operator):
    """The same operator, whose Y is nearly nothing on one side of a bond, and nearly everything on the other."""
    out = operator.copy()
    for site in range(1, SITES, 2):
        left, right = out[site], out[(site + 1) % SITES]
        bond, sizes = next(iter(left.bonds(right))), np.array([1, 1, 1e15, 1e-15, 1])
        left.gate_(np.diag(sizes), bond)
        right.gate_(np.diag(1 / sizes), bond)
    return out


def spins(operator):
    """How the state and this operator make an energy."""

    def energy(psi, h):
        bra, h, ket = qtn.tensor_network_align(psi.H, h, psi)
        above = (bra & h & ket).contract(all, optimize=in_blocks(3))
        return above / (psi.H & psi).contract(all, optimize=in_blocks(2))

    def with_options(dtype=float, **options):
        psi = qtn.MPS_rand_state(SITES, 3, cyclic=True, seed=1, dtype=dtype)
        constants = {"h": operator.astype(dtype)}
        return qtn.TNOptimizer(psi, energy, loss_constants=constants, autodiff_backend="qad", progbar=False, **options)

    return with_options


HALVED = {
    "heisenberg": qtn.MPO_ham_heis(SITES, cyclic=True),
    "ising": chain((Z, Z), (X, np.eye(2))),
    "equal terms": chain((Z, Z), (Z, Z), (X, X)),
    "raising and lowering": chain((X + Y, X - Y), (X - Y, X + Y), (Z, X)),
    "the same, twice": chain(*[(X + Y, X - Y), (X - Y, X + Y)] * 2, (Z, Z)),
}
WHOLE = {
    "large and small": rescaled(chain((Y, Y), (X, X), (Z, Z))),
    "odd operators on neighbours": chain((Y, Y), (X, X)),
    "another gauge": regauged(HALVED["heisenberg"]),
}


@pytest.mark.parametrize("options", [{}, {"freeze": True}])
@pytest.mark.parametrize("name", [*HALVED, *WHOLE])
def test_value_gradient_and_curvature(name, options, taken):
    make = spins((HALVED | WHOLE)[name])
    ours, plain = make(hermitian=True, **options), make()
    x, p = np.array(plain.vectorizer.vector), np.random.default_rng(3).normal(size=plain.d)
    for point in x, x + 0.1 * p:
        (value, gradient), (exact, slope) = (
            [np.array(y) for y in each.vectorized_value_and_grad(point)] for each in (ours, plain)
        )
        np.testing.assert_allclose(value, exact, rtol=1e-12)
        np.testing.assert_allclose(gradient, slope, atol=1e-12 * np.abs(slope).max())
    curved, exact = (np.array(each.vectorized_hessp(x, p)) for each in (ours, plain))
    np.testing.assert_allclose(curved, exact, atol=1e-11 * np.abs(exact).max())
    energies = taken[::2]
    assert energies and all((ring is not None) == (name in HALVED) for ring in energies)
    assert all(ring is not None for ring in taken[1::2])  # norms


def test_blocks_that_the_order_joins_tensor_by_tensor(taken):
    psi = qtn.MPS_rand_state(SITES, 3, cyclic=True, seed=1, dtype=float)
    operator = HALVED["heisenberg"]

    def energy(arrays, hermitian):
        bra, h, ket = qtn.tensor_network_align(psi.H, operator, psi)
        terms = [tensor.inds for tensor in (*bra.tensors, *h.tensors, *ket.tensors)]
        with networks.hermitian_forms(hermitian):
            return cotengra.array_contract(
                [*arrays, *[x.data for x in h.tensors], *arrays], terms, (), optimize=one_by_one()
            )

    both, arrays = qad.value_and_grad(energy), [np.array(x.data) for x in psi.tensors]
    (value, gradient), (exact, slope) = (both(arrays, hermitian) for hermitian in (True, False))
    assert [len(ring.blocks) for ring in taken] == [3]
    np.testing.assert_allclose(value, exact, rtol=1e-12)
    for a, b in zip(gradient, slope, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12 * abs(exact))


def test_operators_that_are_not_symmetric_are_refused(taken):
    ours = spins(chain((X + 0.3 * Y, Z)))(hermitian=True)
    with pytest.raises(CheckError):
        ours.vectorized_value_and_grad(np.array(ours.vectorizer.vector))
    assert taken[0] is None


def test_single_precision(taken):
    make = spins(HALVED["heisenberg"])
    ours, plain = make("float32", hermitian=True), make()
    x = np.array(plain.vectorizer.vector)
    value, gradient = ours.vectorized_value_and_grad(x)
    assert {x.dtype for x in ours.vectorizer.unpack()} == {np.dtype("float32")}
    exact, slope = plain.vectorized_value_and_grad(x)
    np.testing.assert_allclose(value, exact, rtol=1e-4)
    np.testing.assert_allclose(gradient, slope, atol=1e-3 * np.abs(slope).max())
    assert all(taken)


def test_complex_states_are_contracted_whole(taken):
    ours = spins(HALVED["heisenberg"])(complex, hermitian=True)
    ours.vectorized_value_and_grad(np.array(ours.vectorizer.vector))
    assert taken and not any(taken)


def test_another_operator_is_another_ring(taken):
    """The proof is of the constants; the same shapes with other contents are looked at anew."""
    for name in ("ising", "heisenberg"):
        first, second = HALVED[name], HALVED[name].copy()
        second[0].modify(data=second[0].data * 1.5)
        found = []
        for operator in (first, second):
            ours, plain = (spins(operator)(**options) for options in ({"hermitian": True}, {}))
            x = np.array(plain.vectorizer.vector)
            found.append(ours.vectorized_value_and_grad(x)[0])
            np.testing.assert_allclose(found[-1], plain.vectorized_value_and_grad(x)[0], rtol=1e-12)
        assert found[0] != found[1]
    assert all(taken)


def test_an_operator_that_is_an_argument_of_a_frozen_function(taken):
    """It may be another one in the next call."""

    def energy(arrays, operator):
        ket = qtn.MatrixProductState(arrays)
        bra, h, ket = qtn.tensor_network_align(ket.H, qtn.MatrixProductOperator(operator, shape="lrud"), ket)
        with networks.hermitian_forms():
            return (bra & h & ket).contract(all, optimize=in_blocks(3))

    both = qad.value_and_grad(energy)
    arrays = [np.array(x) for x in qtn.MPS_rand_state(SITES, 3, cyclic=True, seed=1).arrays]
    step = qad.freeze(both, constant=True)
    for terms in ((Z, Z), (X, np.eye(2))), ((Z, X), (X, Z)):
        operator = [np.array(x) for x in chain(*terms).arrays]
        (value, gradient), (exact, slope) = (f(arrays, operator) for f in (step, both))
        np.testing.assert_allclose(value, exact, rtol=1e-12)
        for a, b in zip(gradient, slope, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-11)
    assert not taken[0]  # while it was recorded
    assert step.stats.replays == 1


def test_a_leg_of_all_blocks(taken):
    """A sum over products of an operator on every site."""
    rng, sites = np.random.default_rng(1), range(SITES)
    kets = [rng.normal(size=(2, 2, 2)) for _ in sites]
    operators = [x + x.swapaxes(1, 2) for x in rng.normal(size=(SITES, 3, 2, 2))]
    terms = [[(layer, s), (layer, (s + 1) % SITES), (layer, "spin", s)] for layer in "kb" for s in sites]
    terms[SITES:SITES] = [["all", ("k", "spin", s), ("b", "spin", s)] for s in sites]

    def energy(kets, hermitian):
        with networks.hermitian_forms(hermitian):
            arrays = [*kets, *operators, *[x.conj() for x in kets]]
            return cotengra.array_contract(arrays, terms, (), optimize=in_blocks(3))

    both = qad.value_and_grad(energy)
    (value, gradient), (exact, slope) = (both(kets, hermitian) for hermitian in (True, False))
    assert not any(taken)
    np.testing.assert_allclose(value, exact, rtol=1e-12)
    np.testing.assert_allclose(gradient, slope, rtol=1e-10)
