"""Every public function, frozen on plain arrays: a replay with new values gives what the function gives.

`qad.einsum` was a RecursionError.  Of most functions a call that works is found by trying; a function of which none is
found is named in one of the tables, so that a new one cannot be forgotten.
"""

from types import ModuleType

import numpy as np
import pytest
import scipy.sparse

import qad
from tests.cases import normal
from tests.frozen.agree import difference

M = normal(3, 3) + 4 * np.eye(3)
S = M + M.T
Z = normal(3, 3, complex) + 4 * np.eye(3)
V, W, U = normal(3), normal(3, seed=1), np.array([0.2, 0.7, 0.5])
EYE = qad.sparse(scipy.sparse.csr_array(np.diag([1.0, 2.0, 3.0])))
POSITIVE = np.array([0.3, 0.9, 1.7])
INTEGERS = np.array([2, 0, 1])
MASK = np.array([True, False, True])
SIX = np.eye(6) + 0.1 * normal(6, 6)
TRIES = [
    (M,), (V,), (V, W), (M, M.T), (M, V), (U,), (POSITIVE,), (U, 0.3), (POSITIVE, POSITIVE), (POSITIVE, U, 0.3),
    (V, 1), (M, 1), (1, POSITIVE), (2, V), (INTEGERS,), (INTEGERS, INTEGERS), (V, INTEGERS), (M, INTEGERS, 1), (MASK,),
    (MASK, MASK), (MASK, V), (MASK, V, W), (V, W, U), ([V, W],), ([M, M],), (V, (3, 3)), (V, (3, 1)),
    (M, (1, 0)), (M, 0, 1),
    (M[None],),
    (M[None], M[None]), (V, -1.0, 1.0), (1.5, 0.5, V), (1, 0.5, U), (1, 0.5, 0.7, U), (0.5, 0.7, 1.1, U),
    (V, 3, 1), (M, 2), (V, np.sort(W), U), (V, [1]), (V, 1, 2.0), (V, W, 2), (M, np.array([[0, 1, 2]]), 0),
    (np.stack([M, M]), V[:2, None], 0), (3,), ((3, 3),), (0.0, 1.0, 3), (V, (1, 1)), (M, "sum"),
    (V, [MASK], [np.sin, np.cos]),
    ([MASK, ~MASK], [V, W]), (INTEGERS, [V, W, U]), (np.sum, 0, M), (np.sum, M, [0]), (V[None, :, None],),
    (np.eye(6).reshape(2, 3, 6) + 0.1 * normal(2, 3, 6), normal(2, 3)), (np.eye(6).reshape(6, 2, 3), 1), ((3, 3), 2.5),
    (V, 0.4),
    (np.eye(4)[None][0].reshape(4, 2, 2),), (np.eye(24).reshape(6, 4, 8, 3), 2), (V, V[:, None]), (INTEGERS, POSITIVE),
    ((2, 2), (3,)), (V, float), (V, "isreal"),
]  # fmt: skip

NAMED = {
    "qad.tr": (lambda a: qad.tr(a, a), M),
    "qad.einsum": (lambda a, b: qad.einsum("ij,jk->ik", a, b), M, V[:, None]),
    "qad.ncon": (lambda a, b: qad.ncon([a, b], [[-1, 1], [1, -2]]), M, S),
    "qad.partial_trace": (lambda a: qad.partial_trace(a, (2, 2), (0,)), normal(4, 4, complex)),
    "qad.sparse": (lambda x: x @ (EYE @ x), V),
    "qad.plan": (lambda a: qad.plan("ij,jk->ik", a, a)(a, a), M),
    "qad.tensordot": (lambda a: qad.tensordot(a, a, ((1,), (0,))), M),
    "qad.grad": (qad.grad(lambda x: np.sum(x**3)), V),
    "qad.value_and_grad": (qad.value_and_grad(lambda x: np.sum(x**3)), V),
    "qad.vjp": (lambda x, w: qad.vjp(np.sin, x)[1](w), V, W),
    "qad.jvp": (lambda x, w: qad.jvp(np.sin, (x,), (w,)), V, W),
    "qad.hvp": (lambda x, w: qad.hvp(lambda x: np.sum(x**3), (x,), (w,)), V, W),
    "qad.vhp": (lambda x, w: qad.vhp(lambda x: np.sum(x**3), (x,), (w,)), V, W),
    "qad.wirtinger": (qad.wirtinger(lambda z: z * np.conj(z)), Z),
    "qad.jacobian": (qad.jacobian(lambda x: np.sin(x) * x[0]), V),
    "qad.value_and_jacobian": (qad.value_and_jacobian(np.sin), V),
    "qad.hessian": (qad.hessian(lambda x: np.sum(x**3) * x[0]), V),
    "qad.checkpoint": (qad.grad(lambda x: np.sum(qad.checkpoint(np.sin)(x))), V),
    "qad.stop_gradient": (qad.grad(lambda x: np.sum(qad.stop_gradient(x) * x)), V),
    "qad.freeze": (lambda x: qad.freeze(np.sin)(x) * 2, V),
    "qad.vmap": (qad.vmap(lambda x: np.sum(x * x)), M),
    "qad.tensor": (lambda x: (qad.tensor(x) * 2).numpy(), V),
    "qad.to_device": (lambda x: qad.to_device({"a": x}, "cpu")["a"] * 2, V),
    "qad.for_each": (lambda x: qad.for_each(lambda a, y: np.sum(a * y), [1.0, 2.0], x), V),
    "qad.tree_map": (lambda x: qad.tree_map(lambda y: 2 * y, {"a": x, "b": [x]}), V),
    "qad.apply_updates": (lambda x, y: qad.apply_updates({"a": x}, {"a": y}), V, W),
    "qad.linalg.expm_multiply": (lambda a, v: qad.linalg.expm_multiply(a, v), M, V),
    "qad.linalg.funm": (lambda a: qad.linalg.funm(np.exp, a), M),
    "qad.linalg.funm_herm": (lambda a: qad.linalg.funm_herm(np.exp, a), S),
    "qad.linalg.funm_svd": (lambda a: qad.linalg.funm_svd(np.tanh, a), M),
    "qad.linalg.multi_dot": (lambda a: qad.linalg.multi_dot([a, a, a]), M),
    "qad.linalg.solve_triangular": (lambda a, b: qad.linalg.solve_triangular(np.tril(a), b, lower=True), M, V),
    "qad.linalg.split": (lambda a: qad.linalg.split(a, 2)[0], M),
    "qad.linalg.truncated_svd": (lambda a: qad.linalg.truncated_svd(a, 2)[1], M),
    "qad.linalg.truncated_eigh": (lambda a: qad.linalg.truncated_eigh(a, 2)[0], S),
    "qad.linalg.tensorsolve": (qad.linalg.tensorsolve, SIX.reshape(2, 3, 6), normal(2, 3)),
    "qad.linalg.tensorinv": (lambda a: qad.linalg.tensorinv(a, ind=1), SIX.reshape(6, 2, 3)),
    "qad.linalg.logm": (lambda a: qad.linalg.logm(a @ a.T), M),
    "qad.linalg.sqrtm": (lambda a: qad.linalg.sqrtm(a @ a.T), M),
    "qad.special.hyp2f1": (lambda x: qad.special.hyp2f1(0.5, 0.7, 1.1, x), U),
    "qad.special.hyp1f1": (lambda x: qad.special.hyp1f1(0.5, 0.7, x), U),
    "qad.is_holomorphic": (lambda z: qad.is_holomorphic(np.sin)(z), Z),
    "qad.bitwise_invert": (lambda i: qad.bitwise_invert(i), INTEGERS),
    "qad.apply_over_axes": (lambda x: qad.apply_over_axes(np.sum, x, [0]), M),
    "qad.choose": (lambda i, x: qad.choose(i, [x, 2 * x, 3 * x]), INTEGERS, V),
    "qad.select": (lambda x: qad.select([x > 0, x < -1], [x, 2 * x], 0.0), V),
    "qad.piecewise": (lambda x: qad.piecewise(x, [x < 0, x >= 0], [np.sin, np.cos]), V),
    "qad.interp": (lambda x, y: qad.interp(x, np.array([-2.0, 0.0, 2.0]), y), V, W),
    "qad.histogram": (lambda x: qad.histogram(x, np.array([-3.0, 0.0, 3.0]))[0], V),
    "qad.digitize": (lambda x: qad.digitize(x, np.array([-1.0, 0.0, 1.0])), V),
    "qad.take_along_axis": (lambda x: qad.take_along_axis(x, np.array([[0, 1, 2]]), 0), M),
    "qad.apply_along_axis": (lambda x: qad.apply_along_axis(np.sum, 0, x), M),
    "qad.broadcast_arrays": (lambda x: qad.broadcast_arrays(x, x[:, None]), V),
    "qad.meshgrid": (lambda x: qad.meshgrid(x, x), V),
    "qad.block": (lambda x: qad.block([[x, x], [x, x]]), M),
    "qad.array": (lambda x: qad.array([[x[0], 1.0], [x[1], x[2]]]), V),
    "qad.polynomial": (lambda x, c: qad.polynomial.chebyshev.chebval(x, c), V, W),
    "qad.insert": (lambda x: qad.insert(x, 1, x[0]), V),
    "qad.invert": (qad.invert, INTEGERS), "qad.bitwise_not": (qad.bitwise_not, INTEGERS),
    "qad.bitwise_count": (qad.bitwise_count, INTEGERS), "qad.unpackbits": (qad.unpackbits, INTEGERS.astype(np.uint8)),
    "qad.ravel_multi_index": (lambda i: qad.ravel_multi_index((i, i), (3, 3)), INTEGERS),
    "qad.linalg.cholesky": (lambda x: qad.linalg.cholesky(x @ x.T + np.eye(len(x))), M),
}  # fmt: skip
# Constants, modules, types, functions of no array, and iterations, which are refused (tests/frozen/test_refusals.py)
NOT_OF_ARRAYS = frozenset((
    "Tensor", "no_grad", "Plan", "Circuit", "PauliSum", "circuit", "register_container", "debug", "draw", "profile",
    "QadError", "array_api", "check_grads", "errors", "extend", "linalg", "mps", "optimize", "special", "e", "inf",
    "nan", "pi", "newaxis", "fft", "Report", "empty", "empty_like", "full", "ones", "zeros", "fixed_point",
    "dominant_eig", "linear_solve", "lowest_eig", "wrap", "from_dlpack", "finfo", "iinfo", "isdtype", "bool",
    "complex128", "complex64", "float32", "float64", "int16", "int32", "int64", "int8", "uint16", "uint32",
    "uint64", "uint8", "asarray", "arange", "can_cast", "broadcast_shapes", "result_type", "eye", "linspace",
    "r_", "c_", "config", "warm_up", "array2string", "array_repr", "array_str", "einsum_path", "isnat",
    "copyto", "put", "putmask", "place", "fill_diagonal", "put_along_axis",  # which write into their argument
))  # fmt: skip
REFUSED = ("qad.linalg.expm_multiply",)  # decides by norms within SciPy


def public():
    for module in (qad, qad.linalg, qad.special):
        for name in module.__all__:
            if name not in NOT_OF_ARRAYS and not isinstance(getattr(module, name), ModuleType):
                yield f"{module.__name__}.{name}"


def call_of(name):
    """A function and arguments on which it works."""
    if name in NAMED:
        f, *args = NAMED[name]
        return f, args
    f = eval(name)
    for args in TRIES:
        for kinds in (args, [x.astype(complex) if hasattr(x, "astype") and x.dtype.kind == "f" else x for x in args]):
            try:
                with np.errstate(all="raise"):
                    f(*kinds)
            except Exception:
                continue
            return f, kinds
    pytest.fail(f"no call of {name} is known: write one in NAMED")


def moved(x):
    return x * 1.01 if hasattr(x, "dtype") and x.dtype.kind in "fc" else x


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", list(public()))
def test_every_public_function_frozen(name):
    f, args = call_of(name)
    frozen = qad.freeze(lambda *xs: f(*xs))
    if name in REFUSED:
        with pytest.raises(qad.errors.ArgumentError, match="forced into a plain one"):
            frozen(*args)
        return
    others = [list(map(moved, x)) if isinstance(x, list) else moved(x) for x in args]
    with np.errstate(all="ignore"):
        for point in (args, args, others):
            assert difference(f(*point), frozen(*point), False) is None


STATE, OPERATOR = qad.mps.MPS.random(n=4, bond=2, seed=0), qad.mps.heisenberg(4)
MPS = {
    "energy": lambda psi: qad.mps.energy(psi, OPERATOR),
    "gradient of the energy": lambda psi: qad.grad(qad.mps.energy)(psi, OPERATOR),
    "norm": qad.mps.norm, "norm2": qad.mps.norm2, "log_norm2": qad.mps.log_norm2,
    "overlap": lambda psi: qad.mps.overlap(psi, STATE),
    "expectation": lambda psi: qad.mps.expectation(psi, OPERATOR),
    "local_expectations": lambda psi: qad.mps.local_expectations(psi, np.diag([1.0, -1.0])),
    "correlations": lambda psi: qad.mps.correlations(psi, np.diag([1.0, -1.0]), np.diag([1.0, -1.0])),
    "entanglement_entropy": lambda psi: qad.mps.entanglement_entropy(psi, 2),
    "reduced_density": lambda psi: qad.mps.reduced_density(psi, [1, 2]),
    "variance": lambda psi: qad.mps.variance(psi, OPERATOR),
    "amplitudes": lambda psi: psi.amplitudes(np.array([[0, 1, 0, 1], [1, 1, 0, 0]])),
    "to_dense": lambda psi: psi.to_dense(),
    "transfer": lambda psi: qad.mps.transfer(psi).to_dense(),
}  # fmt: skip


@pytest.mark.parametrize("name", MPS)
def test_functions_of_states_frozen(name):
    f = MPS[name]
    try:
        f(STATE)
    except (TypeError, ValueError, AttributeError) as error:
        pytest.fail(f"{type(error).__name__}: {error}")
    frozen = qad.freeze(f)
    for scale in (1.0, 1.0, 1.01):
        psi = qad.tree_map(lambda x, scale=scale: x * scale, STATE)
        assert difference(f(psi), frozen(psi), False) is None


def circuit(theta):
    c = qad.Circuit(3)
    for q in range(3):
        c.ry(theta[q], q)
    return c.cx(0, 1).cx(1, 2).rz(theta[0] * theta[1], 2).rx(theta[2], 1)


SUM = qad.PauliSum({"ZZI": 1.0, "IXX": 0.7})
CIRCUITS = {
    "expectation": lambda x: circuit(x).expectation(SUM),
    "gradient": qad.grad(lambda x: circuit(x).expectation(SUM)),
    "state": lambda x: circuit(x).state(),
    "probabilities": lambda x: circuit(x).probabilities(),
    "overlap": lambda x: qad.circuit.overlap(circuit(x), circuit(x[::-1])),
    "reduced_density": lambda x: qad.circuit.reduced_density(circuit(x), [0]),
    "entropy": lambda x: qad.circuit.entropy(circuit(x), [0]),
    "noisy": lambda x: (
        qad.circuit.NoisyCircuit(3).append(circuit(x)).channel(qad.circuit.depolarizing(0.1), 0).probabilities()
    ),
}


@pytest.mark.parametrize("name", CIRCUITS)
def test_circuits_frozen(name):
    f = CIRCUITS[name]
    frozen = qad.freeze(f)
    for x in (U, U, U * 1.1):
        assert difference(f(x), frozen(x), False) is None
