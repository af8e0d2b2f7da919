"""Networks and factorisations of the tensornetwork package on the backend "qad", and the backend itself."""

import re
from pathlib import Path

import numpy as np
import pytest

import qad

tn = pytest.importorskip("tensornetwork", reason="the optional package tensornetwork is not installed")

from qad.interop.tensornetwork import QadBackend  # noqa: E402
from tests.interop.samples import random  # noqa: E402


def nodes(*arrays, backend="qad"):
    return [tn.Node(a, backend=backend) for a in arrays]


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
        return ((a * 2.0 - b / a) @ a.H + b.T.conj()).reshape((9,)).array

    qad.check_grads(f, (random(3, 3), random(3, 3)), order=1)


def test_functions_of_the_wrapper():
    operations = pytest.importorskip("tensornetwork.linalg.operations", reason="tensornetwork-ng has none")

    def f(a, b):
        a, b = tn.Tensor(a, backend="qad"), tn.Tensor(b, backend="qad")
        product = operations.tensordot(a, operations.exp(operations.sin(b)), 1) + tn.linalg.linalg.expm(a)
        return operations.trace(product).array + tn.linalg.linalg.norm(operations.kron(a, b))

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
    qad.check_grads(rejoined(tn.split_node_full_svd, keep=3, **limit), (random(2, 4, 3),), order=1, rtol=1e-7)


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

    a = random(*shape) + 3 * np.eye(*shape)
    first, second = f(a)
    np.testing.assert_allclose(first @ second, a)
    diagonal = np.diagonal(second if method == "qr" else first[:, ::-1][::-1])
    if shape[0] == shape[1]:
        np.testing.assert_allclose(np.abs(diagonal), diagonal)
    qad.check_grads(f, (a,), order=1)


# -- the backend itself ----------------------------------------------------------------------------


def test_it_is_registered_by_name():
    assert isinstance(tn.backends.backend_factory.get_backend("qad"), QadBackend)
    with tn.DefaultBackend("qad"):
        assert tn.Node(np.eye(2)).backend.name == "qad"


def test_plain_arrays_stay_plain():
    a, b = nodes(random(2, 3), random(3, 2))
    a[1] ^ b[0]
    assert type((a @ b).tensor) is np.ndarray


def test_items_of_tensors_stay_recorded():
    backend = QadBackend()
    assert type(backend.item(np.array([[2.0]]))) is float
    x = backend.item(qad.tensor([[2.0]], requires_grad=True))
    assert (x.shape, x.requires_grad) == ((), True)


def test_masked_entries_are_replaced():
    backend, x = QadBackend(), random(3)
    mask = x.real > 0
    plain = backend.index_update(x, mask, 0.5)
    np.testing.assert_array_equal(backend.index_update(qad.tensor(x), mask, 0.5).numpy(), plain)
    qad.check_grads(lambda x: backend.index_update(x, mask, 0.5), (x,), order=1)


def test_serialisation_keeps_values():
    backend = QadBackend()
    x = qad.tensor(random(2, 2), requires_grad=True)
    np.testing.assert_array_equal(backend.deserialize_tensor(backend.serialize_tensor(x)), x.numpy())


def test_the_page_of_the_guide():
    page = (Path(__file__).parents[2] / "docs" / "tensornetwork.md").read_text("utf-8")
    for block in re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL):
        exec(block, {"__name__": "page"})
