"""Names that other packages use, answered with those that they have here."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from typing import NoReturn

    C = TypeVar("C", bound=type)

__all__ = ["attributes_told", "missing", "names_told", "ours_of"]

# what to write here: what others call it
CIRCUITS: dict[str, str] = {
    "qad.Circuit(n).rx(theta, 0), and so with other gates": "RX RY RZ CNOT CX CZ SWAP Hadamard PauliX PauliY PauliZ",
    "qad.Circuit(n), in a function of its angles": "device qnode QNode QuantumCircuit",
    "qad.Circuit(n).expectation(H)": "expval",
    "qad.Circuit(n).probabilities()": "probs",
    'qad.PauliSum({"ZI": 1.0})': "Hamiltonian SparsePauliOp",
    "qad.circuit.metric(circuit)": "metric_tensor",
}
# the same, by the module or class that is asked
NAMES: dict[str, dict[str, str]] = {
    "qad": {
        "qad.freeze(f)": "jit compile",
        "for, if and while of Python, which are differentiated as they stand": "lax scan cond while_loop fori_loop",
        "qad.jacobian(f)": "jacfwd jacrev",
        "qad.vmap(qad.grad(f))": "elementwise_grad",
        "qad.vmap(f)": "pmap",
        "import numpy as np": "numpy anp pnp",
        "np.random.default_rng(seed)": "random rand randn manual_seed PRNGKey",
        "np.float64, and so with other dtypes": "float32 float64 double complex64 complex128 int32 int64",
        "qad.concatenate(arrays)": "cat",
        "qad.linalg, qad.special": "scipy",
        "qad.linalg.svd(a), and so with other functions of matrices": "svd svdvals eig eigh qr expm inv det solve logm",
        "qad.checkpoint(f)": "remat",
        "qad.extend.primitive and qad.extend.defvjp": "custom_vjp custom_jvp Function",
        "qad.grad(f)(x)": "autograd func backward",
        "qad.tensor(x, requires_grad=True)": "Variable Parameter as_tensor from_numpy",
        "qad.interop.torch.primitive(f), of a network in torch": "nn",
        "qad.optimize.minimize(loss, x)": "optim optimizers minimize",
        "qad.integrate.solve_ivp(f, times, y0)": "odeint solve_ivp ode",
        "qad.ncon(tensors, labels), or qad.einsum": "TensorNetwork",
        "qad.mps.MPS": "MPS MatrixProductState",
        "qad.mps.MPO": "MPO MatrixProductOperator",
        "qad.mps.OpSum(n)": "OpSum AutoMPO",
        "qad.mps.ground_state(H, bond)": "ground_state dmrg DMRG",
        "qad.mps.evolve(psi, H, time, steps)": "evolve tebd TEBD tdvp TDVP",
        "qad.peps.PEPS": "PEPS iPEPS",
        **CIRCUITS,
    },
    "qad.mps": {
        "qad.mps.ground_state(H, bond)":
            "dmrg DMRG DMRG1 DMRG2 run TwoSiteDMRGEngine SingleSiteDMRGEngine find_groundstate variational",
        'qad.mps.evolve(psi, H, time, steps, "tebd4")': "tebd TEBD TEBDEngine",
        "qad.mps.evolve(psi, H, time, steps)": "tdvp TDVP TDVPEngine TwoSiteTDVPEngine SingleSiteTDVPEngine",
        "qad.mps.uniform.ground_state(h, bond)": "vumps VUMPS idmrg iDMRG IDMRG iMPS InfiniteMPS",
        "qad.mps.thermal_state(H, beta)": "PurificationMPS purification",
        "qad.mps.ising(n, g)": "TFIChain TFIModel MPO_ham_ising",
        "qad.mps.heisenberg(n)": "HeisenbergChain SpinChain SpinModel MPO_ham_heis",
        "qad.mps.xxz(n, delta)": "XXZChain MPO_ham_XXZ",
        "qad.mps.hubbard(n, t, u)": "FermiHubbardChain FermiHubbardModel",
        "qad.mps.bose_hubbard(n, t, u)": "BoseHubbardChain BoseHubbardModel",
        "qad.mps.OpSum(n), and .mpo()": "AutoMPO CouplingModel CouplingMPOModel SpinHam1D",
        'qad.mps.site("electron"), or kind="electron"': "siteinds SpinHalfSite SpinSite FermionSite",
        "qad.mps.MPS.random(n, bond)": "randomMPS random_mps MPS_rand_state",
        "qad.mps.MPS.product([0, 1, 0, 1])": "productMPS product_state MPS_product_state MPS_computational_state",
        "qad.mps.overlap(psi, phi)": "inner dot fidelity",
        'qad.mps.local_expectations(psi, "Sz")': "expect expectation_value",
        'qad.mps.correlations(psi, "Sz", "Sz")': "correlation_matrix correlation_function",
        "psi.canonicalize(k)": "orthogonalize canonical_form canonize",
        "psi.truncate(bond)[0]": "truncate compress",
        "psi + phi": "add",
        "psi.sample(1000)": "sample",
        "qad.mps.mpo_exp(H, factor)": "expm make_U",
    },
    "MPS": {
        "psi.canonicalize(k)":
            "canonical_form orthogonalize canonize left_canonize left_canonicalize right_canonize right_canonicalize",
        "psi.bonds": "chi linkdims bond_sizes",
        "psi.bond": "maxlinkdim max_bond bond_dimension",
        "len(psi)": "L N nsites num_sites",
        "psi.phys": "phys_dim dim",
        "psi.tensors": "arrays get_B get_theta",
        'psi.measure("Sz"), or psi.expectation(H)': "expectation_value expect magnetization",
        'qad.mps.correlations(psi, "Sz", "Sz")': "correlation_function correlation_matrix correlation correlations",
        "qad.mps.schmidt_values(psi, k)": "schmidt_values get_SL get_SR singular_values",
        "psi.entanglement_entropy()": "entropy",
        "qad.mps.entanglement_spectrum(psi)": "entanglement_spectrum",
        "qad.mps.mutual_information(psi, one, other)": "mutinf_two_site mutual_information",
        "psi.apply(u, sites)": "apply_local_op apply_local_term gate gate_split",
        "psi.truncate(bond)[0]": "compress compress_svd",
        "psi.normalized()": "normalize norm_err",
        "psi.sample(1000)": "sample_measurements",
        "psi.conj()": "H",
        "psi.to_dense()": "contract full",
        "qad.draw(psi)": "draw show",
        "qad.mps.MPS.product([0, 1, 0, 1])": "from_product_state from_lat_product_state",
        "qad.mps.MPS.random(n, bond)": "rand from_random_unitary_evolution from_desired_bond_dimension",
        "qad.mps.MPS(tensors)": "from_Bflat from_tensors",
    },
    "MPO": {
        "H.bonds": "chi linkdims bond_sizes",
        "len(H)": "L N nsites num_sites",
        "H.to_dense()": "to_matrix matrix full",
        "H.dagger()": "H adjoint",
        "H @ psi": "apply apply_naively",
        "psi.expectation(H)": "expectation_value expectation expval",
        "qad.mps.variance(psi, H)": "variance",
        "qad.mps.OpSum(n), and .mpo()": "from_terms from_term_list",
        "qad.mps.mpo_exp(H, factor)": "make_U make_U_I make_U_II",
    },
    "Circuit": {
        "c.h(0)": "H Hadamard hadamard",
        "c.x(0), c.y(0), c.z(0)": "PauliX PauliY PauliZ",
        "c.cx(0, 1)": "CNOT CX",
        "c.ccx(0, 1, 2)": "Toffoli toffoli",
        "c.rzz(theta, 0, 1)": "IsingZZ isingzz",
        "c.exp_pauli(theta, paulis, qubits)": "PauliRot MultiRZ",
        'c.gate("rx", theta, 0)': "add append add_gate apply",
        "c.expectation(H)": "expval expectation_value",
        "c.probabilities()": "probs",
        "c.sample(1000)": "measure_all sample_measurements",
        "c.state()": "run simulate execute statevector",
        "c.n": "num_qubits wires qubits n_qubits",
        "c.with_parameters(theta)": "bind bind_parameters assign_parameters set_parameters",
        "len(c.parameters)": "num_parameters",
        "c.inverse()": "adjoint dagger",
        "qad.grad(lambda theta: c.with_parameters(theta).expectation(H))(theta)": "grad gradient backward",
    },
    "PauliSum": {
        "H.matrix()": "to_matrix sparse_matrix to_dense",
        "c.expectation(H)": "expval expectation expectation_value",
        "H.terms": "coeffs operands to_list",
    },
    "qad.circuit": {**CIRCUITS, "qad.Circuit(n).sample(1000)": "sample counts"},
    "qad.optimize": {
        "qad.optimize.adam(loss, x, rate=0.01)": "Adam AdamOptimizer AdamW",
        "qad.optimize.minimize(loss, x)": "SGD GradientDescentOptimizer LBFGS BFGS TNOptimizer",
        "qad.optimize.natural_descent(loss, x)": "QNGOptimizer",
    },
    "qad.mps.uniform": {
        "qad.mps.uniform.ground_state(h, bond)": "VUMPS idmrg iDMRG IDMRG TwoSiteDMRGEngine",
        "qad.mps.uniform.UniformMPS": "MPS iMPS InfiniteMPS",
    },
    "qad.peps": {
        "qad.peps.environment(state, chi)": "ctmrg CTMRG",
        "qad.peps.PEPS": "iPEPS ipeps InfPEPS",
        "qad.peps.finite.FinitePEPS": "FinitePEPS PEPS_rand",
        "qad.peps.simple_update(h, bond)": "SimpleUpdate SimpleUpdateGen",
    },
    "Tensor": {
        "x.copy()": "clone",
        "x.detach()": "data",
        "y = x.copy(), and y[i] = v": "at",
        "x[None]": "unsqueeze expand_dims",
        "x.transpose(axes)": "permute",
        "x.size": "numel",
        "x.ndim": "dim",
        "x.numpy()": "cpu",
        "qad.to_device(x, device)": "to cuda",
        "x.astype(float)": "double float long type",
        "qad.tensor(x, requires_grad=True)": "requires_grad_",
        "np.exp(x), and so with other functions": "exp log sin cos tanh sqrt abs",
        "np.linalg.norm(x)": "norm",
        "x ** n": "pow",
        "x @ y": "matmul mm bmm",
        "y = x + 1, or x += 1": "add_ mul_ sub_ copy_",
        "x, which is computed already": "block_until_ready",
    },
}  # fmt: skip


def ours_of(place: str) -> dict[str, str]:
    """What to write for each name of other packages that this module or class is asked for."""
    return {name: ours for ours, theirs in NAMES[place].items() for name in theirs.split()}


def missing(called: str, name: str, ours: str | None) -> NoReturn:
    """Answer a name that is not there; where we have nothing for it, Python looks for one that is near."""
    if ours is None:
        raise AttributeError(f"{called} has no attribute {name!r}")
    raise AttributeError(f"{called} has no attribute {name!r}: write {ours}", obj=called)  # Python looks no further


def names_told(module: str) -> None:
    """Let a module answer the names of other packages with ours."""
    ours = ours_of(module)
    sys.modules[module].__getattr__ = lambda name: missing(f"module {module!r}", name, ours.get(name))


class Elsewhere:
    """An attribute that a class and its objects do not have, though others do: it says what they have."""

    def __init__(self, name: str, ours: str) -> None:
        self.name: str = name
        self.ours: str = ours

    def __get__(self, found: Any, kind: type) -> NoReturn:
        missing(f"{kind.__name__!r} object", self.name, self.ours)


def attributes_told(kind: C) -> C:
    """Let a class answer the names of other packages with ours; its objects do not list them."""
    ours = ours_of(kind.__name__)
    for name in ours:
        setattr(kind, name, Elsewhere(name, ours[name]))
    kind.__dir__ = lambda self: sorted({*object.__dir__(self)} - ours.keys())
    return kind
