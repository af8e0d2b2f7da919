"""What one does with a frozen function besides calling it: differentiate, look at, store."""

import pickle
import tracemalloc

import numpy as np
import pytest

import qad
from qad.frozen.memory_plan import MemoryPlan
from qad.frozen.placement import Places
from tests.cases import normal
from tests.frozen.agree import difference

X, Y = normal(3, 3, complex), normal(3, 3, seed=1)


def several(x, y):
    return {"a": np.sin(x) @ y, "b": (x * y).sum(), "c": x.real.T, "d": x * 2 + y}


def scalar(f):
    def loss(x, y):
        out = f(x, y)
        return qad.abs2(out["a"]).sum() + out["b"].real + (out["c"] ** 3).sum()

    return loss


def test_several_results_share_buffers_and_stay_right():
    frozen = qad.freeze(several)
    for x in (X, X, 2 * X):
        assert difference(several(x, Y), frozen(x, Y), False) is None


def test_derivatives_of_a_frozen_function():
    frozen = qad.freeze(several)
    for transform in (qad.value_and_grad(scalar(several), (0, 1)), qad.grad(scalar(several), 1)):
        expected = transform(X, Y)
    for argnums in ((0, 1), 0, 1):
        expected = qad.value_and_grad(scalar(several), argnums)(X, Y)
        for _ in range(2):
            assert difference(expected, qad.value_and_grad(scalar(frozen), argnums)(X, Y), False) is None
    for (root,) in frozen.versions.values():
        assert [backward.stats.recordings for backward in root.backward.values()] == [1]


def test_higher_derivatives_of_a_frozen_function():
    frozen = qad.freeze(several)
    qad.check_grads(lambda x: scalar(frozen)(x, Y), (X,), order=2)


def test_static_arguments_and_tensors():
    frozen = qad.freeze(lambda x, n: x**n, static_argnames="n")
    for _ in range(2):
        assert qad.grad(lambda x: frozen(x, n=3).sum())(np.array([2.0]))[0] == 12
        assert qad.grad(lambda x: frozen(x, 2).sum())(np.array([2.0]))[0] == 4


def test_seeing():
    frozen = qad.freeze(lambda x, y: np.sin(x) @ y if x[0, 0].real < 1e9 else x)
    with pytest.raises(qad.errors.ArgumentError, match="nothing has been recorded"):
        frozen.program  # noqa: B018 - it raises
    frozen(X, Y)
    table = str(frozen.program)
    assert "np.dot" in table
    assert "(3,3)" in table
    assert "54 flops" not in table
    assert "27" in table
    assert frozen.source.startswith("def replay(x0, x1):")
    assert "assert bool(" in frozen.source
    compile(frozen.source, "source", "exec")
    assert "np.sin" in frozen.profile(X, Y)


def test_labels_are_never_executed():
    label = "__import__('os').system('false')"
    frozen = qad.freeze(lambda tree: {label: tree[label] * 2})
    frozen({label: X})
    assert label not in frozen.source
    assert label not in str(frozen.program)


def branching(a):
    return np.linalg.norm(np.linalg.inv(a) @ a[::-1]) ** 2 if a[0, 0] > 0 else np.sum(a[a > 0])


@pytest.mark.parametrize("passes", [(), None])
def test_storing(passes):
    frozen = qad.freeze(qad.value_and_grad(branching), passes=passes)
    for a in (Y, -Y):
        frozen(a)
    read = pickle.loads(pickle.dumps(frozen))
    for a in (Y, -Y):
        assert difference(qad.value_and_grad(branching)(a), read(a), False) is None
    assert read.stats.recordings == 0
    with pytest.raises(qad.errors.ArgumentError, match="holds programs but no function"):
        read(np.ones(3))


def test_storing_a_state():
    psi, operator = qad.mps.MPS.random(n=4, bond=3, seed=0), qad.mps.heisenberg(4)
    frozen = qad.freeze(qad.value_and_grad(qad.mps.energy))
    value, gradient = frozen(psi, operator)
    again = pickle.loads(pickle.dumps(frozen))(psi, operator)
    assert difference((value, gradient), again, False) is None
    assert isinstance(again[1], qad.mps.MPS)


@pytest.mark.parametrize("symmetry", ["U1", "fZ2"])
def test_storing_symmetric_tensors(symmetry):
    """Moves, products of sectors and signs are numbers of the program."""
    leg = qad.symmetric.Leg({0: 2, 1: 1}, +1, symmetry)
    a, b = (qad.symmetric.random((leg, leg, leg.conj()), charge=1, seed=seed, split=1) for seed in range(2))
    frozen = qad.freeze(qad.value_and_grad(lambda a: qad.einsum("abc,dec->abed", a, a.conj()).norm() ** 2))
    frozen(a)
    read = pickle.loads(pickle.dumps(frozen))
    assert difference(frozen(b), read(b), False) is None
    assert read(b)[1].legs == b.legs and read.stats.recordings == 0
    again = pickle.loads(pickle.dumps(read))
    assert difference(frozen(b), again(b), False) is None


def test_energies_of_definite_charge_are_not_stored():
    """Their nodes hold operators that were searched for charges: the message says to store the function."""
    psi, operator = qad.mps.MPS.random(4, 3, conserve="Sz"), qad.mps.heisenberg(4)
    for f in (qad.mps.energy, qad.grad(qad.mps.energy)):
        frozen = qad.freeze(lambda psi, f=f: f(psi, operator))
        frozen(psi), frozen(psi)
        assert frozen.stats.recordings == 1  # what an operator remembers is nothing that the function captures
        with pytest.raises(qad.errors.ArgumentError, match="of type Chain cannot be stored: store the function"):
            pickle.dumps(frozen)


def test_what_a_user_computes_is_not_stored():
    double = qad.extend.primitive(lambda a: a * 2)
    frozen = qad.freeze(lambda a: double(a))
    frozen(Y)
    with pytest.raises(qad.errors.ArgumentError, match="neither NumPy's nor qad's"):
        pickle.dumps(frozen)


def test_stored_names_are_looked_up_in_a_table():
    from qad.frozen.serialization import read

    data = (
        [((), np.dtype(float), "array", None, 0)],
        0,
        [],
        [(("function", "os.system"), ("tuple", []), ("dict", []), 0, None)],
    )
    with pytest.raises(qad.errors.ArgumentError, match="no function that programs may call"):
        read((*data, ("tuple", []), []))


def peak(call):
    """Bytes that a call allocates at most at once."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def chain(x):
    for _ in range(10):
        x = np.sin(x @ x)
    return np.sum(x)


def hermitian(tensors):
    """The energy of a chain as one network, and its norm, of which both halves are differentiated."""
    n, operator = len(tensors), [w.astype(complex) for w in qad.mps.heisenberg(len(tensors)).tensors]
    terms = [[i, 100 + i, i + 1] for i in range(n)], [[200 + i, 300 + i, 201 + i] for i in range(n)]
    middle = [[400 + i, 401 + i, 300 + i, 100 + i] for i in range(n)]
    parts = zip([*tensors, *[x.conj() for x in tensors], *operator], [*terms[0], *terms[1], *middle], strict=True)
    return qad.einsum(*[x for part in parts for x in part], [], hermitian=True)


def large_chain():
    return list(qad.mps.MPS.random(n=20, bond=32, seed=0, dtype=complex).tensors)


def norm(tensors):
    left = np.ones((1, 1))
    for x in tensors:
        left = np.tensordot(x.conj(), np.tensordot(left, x, (1, 0)), ((0, 1), (0, 1)))
    return left[0, 0].real


BUFFER = 0 if np.lib.NumpyVersion(np.__version__) >= "2.3.0" else 8 * np.getbufsize()  # which a ufunc took for itself


@pytest.mark.parametrize(
    "f, x",
    [(chain, normal(100, 100)), (norm, large_chain()), (hermitian, large_chain())],
    ids=["chain", "norm", "network"],
)
def test_memory(f, x):
    """A replay allocates its results, and its workspace is no larger than what an eager call holds at once."""
    gradient = qad.value_and_grad(f)
    frozen = qad.freeze(gradient)
    for call in (frozen, gradient):
        call(x)
        call(x)
    results = sum(part.nbytes for part in qad.core.trees.flatten(gradient(x))[0])
    (branches,) = frozen._entries.values()
    workspace = MemoryPlan(Places(branches.branches[0].program)).size
    assert peak(lambda: frozen(x)) < results + 8192 + BUFFER
    assert workspace < 1.05 * peak(lambda: gradient(x))


def wave(a):
    return np.sum(np.sin(a) * a)


def test_batches_inside_and_around():
    x = normal(4, 3)
    batched = qad.vmap(qad.grad(wave))
    frozen = qad.freeze(batched)
    frozen(x)
    assert difference(batched(2 * x), frozen(2 * x), False) is None
    assert difference(qad.vmap(wave)(x), qad.vmap(qad.freeze(wave))(x), False) is None


def test_recorded_buffers_inside():
    def f(a):
        b = qad.zeros(3)
        b[0] = a[0, 0]
        b[1:] = a[1, 1:]
        return (b**2).sum()

    x, gradient = normal(4, 3), qad.grad(f)
    frozen = qad.freeze(gradient)
    frozen(x)
    assert difference(gradient(2 * x), frozen(2 * x), False) is None
