"""Programs of the tensornetwork package on the backend "qad": values as on NumPy's backend, gradients against differences."""

import numpy as np
import pytest

import qad

tn = pytest.importorskip("tensornetwork", reason="the optional package tensornetwork is not installed")
pytest.importorskip("qad.interop.tensornetwork")

from qad.interop.tensornetwork import QadBackend  # noqa: E402

rng = np.random.default_rng(7)


def random(*shape, dtype=complex):
    real = rng.standard_normal(shape)
    return real + 1j * rng.standard_normal(shape) if dtype is complex else real


def nodes(*arrays, backend="qad"):
    return [tn.Node(a, backend=backend) for a in arrays]


def hermitian(n):
    a = random(n, n)
    return a + a.conj().T


CHAIN = [random(1, 2, 3), random(3, 2, 4), random(4, 2, 2), random(2, 2, 1)]


# -- networks --------------------------------------------------------------------------------------


def ncon_network(a, b):
    return tn.ncon([a, b], [[-1, 1, 2, 3, 3], [-1, 2, -2, 1]], backend="qad")


def test_ncon_with_batch_labels_and_partial_trace():
    a, b = random(2, 3, 2, 4, 4), random(2, 2, 5, 3)
    expected = np.einsum("bijkk,bjci->bc", a, b)
    np.testing.assert_allclose(ncon_network(a, b), expected)
    qad.check_grads(ncon_network, (a, b), order=2)


def test_ncon_of_a_single_tensor():
    qad.check_grads(lambda a: tn.ncon([a], [[1, -2, 1, -1]], backend="qad"), (random(2, 3, 2, 4),))


@pytest.mark.parametrize("name", ["auto", "greedy", "optimal", "branch"])
def test_contractors(name):
    def ring(*arrays, backend="qad"):
        a, b, c, d = nodes(*arrays, backend=backend)
        a[0] ^ b[1], b[0] ^ c[1], c[0] ^ d[1], d[0] ^ a[1], a[2] ^ c[2]
        return getattr(tn.contractors, name)([a, b, c, d], output_edge_order=[d[2], b[2]]).tensor

    arrays = [random(2, 2, 3) for _ in range(4)]
    np.testing.assert_allclose(ring(*arrays), ring(*arrays, backend="numpy"))
    qad.check_grads(ring, arrays, order=1)


def test_copy_nodes():
    def star(*arrays):
        leaves = nodes(*arrays)
        copy = tn.CopyNode(rank=3, dimension=3, backend="qad")
        for k, leaf in enumerate(leaves):
            copy[k] ^ leaf[0]
        return tn.contract_copy_node(copy).tensor

    qad.check_grads(star, [random(3, 2) for _ in range(3)], order=1)


def test_operators_of_the_wrapper():
    def f(a, b):
        a, b = tn.Tensor(a, backend="qad"), tn.Tensor(b, backend="qad")
        product = tn.tensordot(a, tn.exp(tn.sin(b)), 1) * 2.0 + a.H
        return tn.trace(product).array + tn.norm(tn.kron(a, b))

    qad.check_grads(f, (random(3, 3), random(3, 3)), order=1)


# -- factorisations --------------------------------------------------------------------------------


def rejoined(function, *, keep, **options):
    """Split a node, weigh its parts so that nothing cancels, and contract them again."""

    def f(a):
        (node,) = nodes(a)
        left, *middle, right = function(node, [node[0], node[2]], [node[1]], **options)[:keep]
        product = left @ middle[0] @ right if middle else left @ right
        return product.tensor * np.arange(1.0, a.size + 1).reshape(product.shape)

    return f


@pytest.mark.parametrize("limit", [{}, {"max_singular_values": 2}, {"max_truncation_err": 0.4, "relative": True}])
def test_split_node_full_svd(limit):
    qad.check_grads(rejoined(tn.split_node_full_svd, keep=3, **limit), (random(2, 4, 3),), order=1)


def test_singular_values_kept_and_discarded():
    def f(a):
        _, s, _, rest = tn.split_node_full_svd(*_sides(a), max_singular_values=2)
        return s.tensor, rest

    def _sides(a):
        (node,) = nodes(a)
        return node, [node[0]], [node[1]]

    kept, rest = f(random(4, 3))
    assert kept.dtype == rest.dtype == complex
    assert (kept.shape, rest.shape) == ((2, 2), (1,))
    qad.check_grads(f, (random(4, 3),), order=1)


@pytest.mark.parametrize("function", [tn.split_node, tn.split_node_qr, tn.split_node_rq])
def test_split_node(function):
    qad.check_grads(rejoined(function, keep=2), (random(2, 4, 3),), order=1)


@pytest.mark.parametrize("shape", [(4, 3), (3, 3), (3, 4)])
@pytest.mark.parametrize("method", ["qr", "rq"])
def test_positive_diagonal_fixes_the_factors(method, shape):
    def f(a):
        return getattr(QadBackend(), method)(a, 1, non_negative_diagonal=True)

    a = random(*shape)
    first, second = f(a)
    np.testing.assert_allclose(first @ second, a)
    diagonal = np.diagonal(second if method == "qr" else first[:, ::-1][::-1])
    if shape[0] == shape[1]:
        np.testing.assert_allclose(np.abs(diagonal), diagonal)
    qad.check_grads(f, (a,), order=1)


# -- chains ----------------------------------------------------------------------------------------


def measurements(*tensors, backend="qad"):
    mps = tn.FiniteMPS(list(tensors), canonicalize=True, center_position=1, backend=backend)
    z, x = np.diag([1.0, -1.0]).astype(complex), np.array([[0, 1], [1, 0]], complex)
    local = mps.measure_local_operator([z, x], [0, 3])
    return [*local, *mps.measure_two_body_correlator(x, z, 2, [0, 1, 2, 3])]


def test_canonicalised_finite_mps():
    expected = measurements(*CHAIN, backend="numpy")
    np.testing.assert_allclose(measurements(*CHAIN), expected, atol=1e-14)
    qad.check_grads(lambda *tensors: np.stack(measurements(*tensors)), CHAIN, order=1)


def test_two_site_gate_with_truncation():
    gate = random(2, 2, 2, 2)

    def f(gate, *tensors):
        mps = tn.FiniteMPS(list(tensors), canonicalize=True, center_position=1, backend="qad")
        lost = mps.apply_two_site_gate(gate, 1, 2, max_singular_values=3, center_position=1)
        mps.position(3, normalize=False)
        return np.stack(mps.measure_local_operator([np.diag([1.0, 2.0j])], [2])), lost

    qad.check_grads(f, (gate, *CHAIN), order=1)


def xxz(jz, jxy, field, n=4):
    """The package's XXZ chain, which takes plain numbers, as a linear function of recorded ones."""

    def tensors(*couplings):
        jz, jxy, field = (np.full(n, c) for c in couplings)
        return tn.FiniteXXZ(jz[1:], jxy[1:], field, dtype=complex, backend="numpy").tensors

    zero = tensors(0.0, 0.0, 0.0)
    units = [tensors(*row) for row in np.eye(3)]
    sites = [w + sum(c * (u[k] - w) for c, u in zip((jz, jxy, field), units, strict=True)) for k, w in enumerate(zero)]
    return tn.FiniteMPO(sites, backend="qad")


def dmrg(couplings, tensors, backend="qad"):
    mps = tn.FiniteMPS(list(tensors), canonicalize=True, backend=backend)
    return tn.FiniteDMRG(mps, xxz(*couplings, n=len(tensors)))


def test_energy_of_a_chain_and_its_gradient():
    def energy(couplings, *tensors):
        return dmrg(couplings, tensors).compute_energy()

    qad.check_grads(energy, (np.array([1.0, 0.8, 0.3]), *CHAIN), order=1)


@pytest.mark.parametrize("method", ["run_one_site", "run_two_site"])
def test_dmrg(method, capsys):
    options = {"num_sweeps": 2, "num_krylov_vecs": 4, **({"max_bond_dim": 3} if method == "run_two_site" else {})}

    def energy(couplings, *tensors):
        return getattr(dmrg(couplings, tensors), method)(**options).real

    couplings = np.array([1.0, 0.8, 0.3])
    qad.check_grads(energy, (couplings, *CHAIN), order=1, rtol=1e-7)
    