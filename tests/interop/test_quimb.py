"""quimb's networks on Tensors, and its optimiser on qad's derivatives."""

import numpy as np
import pytest
import scipy.linalg

import qad
from qad.core.errors import ArgumentError, CheckError

pytest.importorskip("quimb.tensor", reason="the optional package quimb is not installed")

import autoray
import cotengra
import quimb
import quimb.tensor as qtn

import qad.interop.quimb
from qad.interop.quimb.arrays import array, householder_product
from qad.interop.quimb.namespaces import NotByString, separate_namespaces

pytestmark = pytest.mark.filterwarnings("ignore:Couldn't import `kahypar`")  # cotengra says so once
SITES = 4
HAMILTONIAN = qtn.MPO_ham_heis(SITES)


def tensors(dtype):
    return [np.array(x) for x in qtn.MPS_rand_state(SITES, 2, seed=1, dtype=dtype).arrays]


def against_ones(psi):
    """A number that changes with the phase of `psi`, too."""
    ones = qtn.MPS_product_state([np.array([1.0, 0.5])] * psi.L)
    return qad.abs2((ones.H & psi) ^ all)


def energy(arrays):
    ket = qtn.MatrixProductState(arrays)
    bra, h, k = qtn.tensor_network_align(ket.H, HAMILTONIAN, ket)
    return ((bra & h & k) ^ all).real / ((ket.H & ket) ^ all).real


def compressed(arrays):
    psi = qtn.MatrixProductState(arrays)
    psi.compress(max_bond=1, form="left")
    return against_ones(psi)


def entropy(arrays):
    psi = qtn.MatrixProductState(arrays)
    psi.normalize()
    return psi.entropy(2)


def canonical(arrays):
    psi = qtn.MatrixProductState(arrays)
    psi.canonize(1)
    return against_ones(psi)


def gates(arrays):
    psi = qtn.MatrixProductState(arrays)
    psi.gate_(quimb.hadamard(), 1, contract=True)
    psi.gate_(quimb.CNOT(), (1, 2), contract="swap+split", max_bond=2)
    return against_ones(psi)


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("loss", [energy, compressed, entropy, canonical, gates])
@pytest.mark.sampled(4)
def test_losses_of_chains(loss, dtype):
    qad.check_grads(loss, (tensors(dtype),), order=2 if loss is energy else 1)


def test_boundary_contraction_of_peps():
    peps = qtn.PEPS.rand(2, 2, 2, seed=1, dtype=complex)
    arrays, skeleton = qtn.pack(peps)

    def norm(arrays):
        psi = qtn.unpack(arrays, skeleton)
        return (psi.H & psi).contract_boundary(max_bond=4, cutoff=0.0, layer_tags=("KET", "BRA")).real

    qad.check_grads(norm, (arrays,), order=1)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["contract_boundary", "contract_ctmrg", "contract_hotrg"])
def test_approximate_contractions_of_a_lattice(method):
    """Exact with bond 4; with bond 2 the number is quimb's own, and its derivative that of the cuts that were made."""
    lattice = qtn.TN2D_rand(4, 4, 2, seed=3)
    arrays = [np.abs(tensor.data) + 0.1 for tensor in lattice]

    exact = with_arrays(lattice, arrays) ^ all

    def ratio(arrays, bond):
        return getattr(with_arrays(lattice, arrays), method)(max_bond=bond, cutoff=0.0) / exact

    assert abs(ratio(arrays, 4) - 1) < 1e-12
    assert abs(float(ratio([qad.tensor(x) for x in arrays], 2)) - ratio(arrays, 2)) < 1e-11
    qad.check_grads(lambda arrays: ratio(arrays, 2), (arrays,), order=1)


def with_arrays(network, arrays):
    """A copy of a network with other arrays."""
    network = network.copy()
    for tensor, data in zip(network, arrays, strict=True):
        tensor.modify(data=data)
    return network


def circuit(angles):
    """Parallel gates on |000>: the states between them have equal singular values."""
    found = qtn.CircuitMPS(3)
    for qubit, angle in enumerate(angles):
        found.apply_gate("RX", angle, qubit)
    for pair in ((0, 1), (1, 2)):
        found.apply_gate("CNOT", *pair)
    return found.local_expectation(quimb.pauli("Z") & quimb.pauli("Z"), (0, 2)).real


def test_equal_singular_values_are_no_obstacle():
    """At pi/2 the middle bond has the singular values 1/sqrt 2 twice; <Z0 Z2> = cos(a1) cos(a2)."""
    angles = np.array([np.pi / 2, 0.3, 0.4])
    expected = [0, -np.sin(0.3) * np.cos(0.4), -np.cos(0.3) * np.sin(0.4)]
    np.testing.assert_allclose(qad.grad(circuit)(angles), expected, atol=1e-12)


@pytest.mark.parametrize("absorb", ["both", "left", "right"])
def test_split_of_the_unit_matrix_sees_the_product(absorb):
    weights = np.arange(6.0).reshape(2, 3) + 1j

    def loss(x):
        left, _, right = quimb.tensor.decomp.array_split(x, absorb=absorb, cutoff=0.0)
        return np.sum(weights * (left @ right)).real

    x = np.eye(2, 3) + 0j
    bare = quimb.tensor.decomp.array_split(x, absorb=absorb, cutoff=0.0)
    recorded = quimb.tensor.decomp.array_split(qad.tensor(x, requires_grad=True), absorb=absorb, cutoff=0.0)
    np.testing.assert_allclose(recorded[0].numpy() @ recorded[2].numpy(), bare[0] @ bare[2], atol=1e-14)
    np.testing.assert_allclose(qad.grad(loss)(x), weights.conj(), atol=1e-12)


@pytest.mark.parametrize("absorb, shape", [("right", (2, 3)), ("left", (3, 2))])
def test_qr_without_full_rank_sees_the_product(absorb, shape):
    x, weights = np.ones(shape), np.arange(6.0).reshape(shape)

    def factors(x):
        left, _, right = quimb.tensor.decomp.array_split(x, method="qr", absorb=absorb)
        return left, right

    np.testing.assert_allclose(qad.grad(lambda x: np.sum(weights * np.matmul(*factors(x))))(x), weights, atol=1e-12)
    with pytest.raises(ArgumentError, match="basis of the new bond"):
        qad.grad(lambda x: np.sum(weights[:1, :2] * factors(x)[0][:1, :2] + factors(x)[1][:1, :2]))(x)


@pytest.mark.parametrize("renorm, mode", [(0, "rel"), (1, "rsum1"), (2, "rsum2")])
def test_truncated_split_is_quimbs(renorm, mode):
    x = np.random.default_rng(0).normal(size=(3, 4))

    def split(x):
        return quimb.tensor.decomp.array_split(x, max_bond=2, cutoff=1e-12, cutoff_mode=mode, renorm=renorm)

    (l0, _, r0), (l1, _, r1) = split(x), split(qad.tensor(x, requires_grad=True))
    np.testing.assert_allclose((l1 @ r1).numpy(), l0 @ r0, atol=1e-13)
    qad.check_grads(lambda x: np.matmul(*split(x)[::2]), (x,), order=1)


# -- the optimiser ---------------------------------------------------------------------------------------------------


def normalized(psi):
    return psi.multiply(1 / ((psi.H & psi) ^ all).real ** 0.5, spread_over=1)


def loss_of(psi, h):
    bra, h, ket = qtn.tensor_network_align(psi.H, h, psi)
    return ((bra & h & ket) ^ all).real


def optimizer(dtype=float, **options):
    psi = qtn.MPS_rand_state(SITES, 4, seed=2, dtype=dtype)
    return qtn.TNOptimizer(
        psi, loss_of, normalized, loss_constants={"h": HAMILTONIAN}, autodiff_backend="qad", progbar=False, **options
    )


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("options", [{}, {"freeze": True}, {"hermitian": True}])
def test_optimizer_finds_the_ground_state(options, dtype):
    found = optimizer(dtype, **options)
    best = found.optimize(60)
    exact = float(np.linalg.eigvalsh(HAMILTONIAN.to_dense())[0])
    assert abs(float(loss_of(normalized(best), HAMILTONIAN).real) - exact) < 1e-4
    assert all(type(x) is np.ndarray for x in best.arrays)


def test_hessian_vector_products_of_the_optimizer():
    found = optimizer(complex)
    x, p = np.array(found.vectorizer.vector), np.random.default_rng(3).normal(size=found.d)
    exact = found.vectorized_hessp(x, p)
    slope = [np.array(found.vectorized_value_and_grad(x + t * p)[1]) for t in (1e-5, -1e-5)]
    np.testing.assert_allclose(exact, (slope[0] - slope[1]) / 2e-5, atol=1e-7)


def test_a_wrong_word_about_hermiticity_is_found_out():
    """The Hamiltonian of the loss is not Hermitian."""
    wrong = HAMILTONIAN.copy()
    wrong[0].modify(data=wrong[0].data + 0.1j)
    psi = qtn.MPS_rand_state(SITES, 2, seed=2, dtype=complex)
    found = qtn.TNOptimizer(
        psi, loss_of, loss_constants={"h": wrong}, autodiff_backend="qad", progbar=False, hermitian=True
    )
    with pytest.raises(CheckError):
        found.optimize(1)


def test_devices_are_refused():
    with pytest.raises(ArgumentError, match="leave out device"):
        optimizer(device="gpu")


# -- what autoray is told --------------------------------------------------------------------------------------------


def test_what_autoray_creates():
    x = qad.tensor(np.ones((2, 2)), requires_grad=True)
    assert type(array([[x[0, 0], 1.0], [0.0, x[1, 1]]])) is qad.Tensor
    for name, args in (("eye", (2,)), ("arange", (3,)), ("indices", ((2, 2),)), ("tri", (3,))):
        np.testing.assert_array_equal(autoray.do(name, *args, like=x), getattr(np, name)(*args))
    assert autoray.get_lib_fn("qad", "finfo")("float32").bits == 32
    assert autoray.do("random.normal", size=(2,), like="qad").shape == (2,)
    assert autoray.do("linalg.svd", qad.tensor(np.ones((2, 3))))[2].shape == (2, 3)  # thin
    with pytest.raises(ArgumentError, match="detach"):
        autoray.to_numpy(x)
    assert type(autoray.to_numpy(x.detach())) is np.ndarray


NAMES = "det", "eigvalsh", "inv", "norm", "pinv", "svdvals", "polar", "lu", "expm", "cholesky", "solve_triangular", "qr"


@pytest.mark.parametrize("name", NAMES)
def test_functions_of_scipy_by_name(name):
    """The same numbers as SciPy's, of tall matrices where these are allowed, and with derivatives."""
    x = np.random.default_rng(0).normal(size=(4, 3) if name in ("norm", "pinv", "svdvals", "qr") else (3, 3))
    x = x @ x.T + 2 * np.eye(3) if x.shape == (3, 3) else x
    rest = (np.ones(3),) if name == "solve_triangular" else ()
    keywords = {"mode": "economic"} if name == "qr" else {}

    def call(x):
        found = autoray.do(f"scipy.linalg.{name}", x, *rest, **keywords)
        return found if isinstance(found, tuple) else (found,)

    wanted = getattr(scipy.linalg, name)(x, *rest, **keywords)
    found = call(qad.tensor(x, requires_grad=True))
    for ours, theirs in zip(found, wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
        np.testing.assert_allclose(np.abs(qad.stop_gradient(ours)), np.abs(theirs), atol=1e-12)
    gradient = qad.grad(lambda x: np.sum(call(x)[-1] ** 2))(x)
    assert np.all(np.isfinite(gradient)) and np.any(gradient)


def test_scipys_other_ways():
    x = qad.tensor(np.random.default_rng(0).normal(size=(4, 3)), requires_grad=True)
    q, r = autoray.do("scipy.linalg.qr", x)
    assert q.shape == (4, 4) and autoray.do("scipy.linalg.qr", x, mode="r")[0].shape == r.shape == (4, 3)
    with pytest.raises(ArgumentError, match="not 'raw'"):
        autoray.do("scipy.linalg.qr", x, mode="raw")
    square = x.T @ x
    lower = autoray.do("scipy.linalg.cholesky", square, lower=True)
    np.testing.assert_allclose((lower @ lower.T).numpy(), square.numpy(), atol=1e-13)


def test_householder_product():
    (packed, tau), _ = scipy.linalg.qr(np.random.default_rng(0).normal(size=(4, 2)), mode="raw")
    q = householder_product(packed, tau)
    np.testing.assert_allclose(q.T @ q, np.eye(2), atol=1e-14)
    qad.check_grads(householder_product, (packed, tau), order=1)


def test_namespaces_of_old_versions_are_told_apart():
    """As in autoray 0.8: what is remembered is remembered for the class `str`."""

    class Old:
        _NAMESPACE_CACHE = {(str, None): "whoever was first"}  # noqa: RUF012

        @staticmethod
        def get_namespace(name):
            return Old._NAMESPACE_CACHE.setdefault((str, None), name) if type(Old._NAMESPACE_CACHE) is dict else name

    with pytest.warns(UserWarning, match="has replaced its cache"):
        assert separate_namespaces(Old)
    assert type(Old._NAMESPACE_CACHE) is NotByString and not Old._NAMESPACE_CACHE
    assert autoray.get_namespace("qad") is not autoray.get_namespace("numpy")


def test_networks_of_plain_arrays_are_contracted_as_before():
    arrays, terms = [np.ones((2, 3)), np.ones((3, 2))], [("a", "b"), ("b", "a")]
    assert cotengra.array_contract(arrays, terms, ()) == cotengra.array_contract.before(arrays, terms, ()) == 6
    assert qad.grad(lambda x: cotengra.array_contract([x, arrays[1]], terms, ()))(arrays[0]).sum() == 6
