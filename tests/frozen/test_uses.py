"""What one does with a frozen function besides calling it: differentiate, look at, store."""

import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import qad
from qad.frozen.passes import improve
from qad.frozen.run import executable
from qad.frozen.run.placement import Places, memory_plan
from tests.cases import normal
from tests.frozen.agree import difference

X, Y = normal(3, 3, complex), normal(3, 3, seed=1)


def several(x, y):
    return {"a": np.sin(x) @ y, "b": (x * y).sum(), "c": x.real.T, "d": x * 2 + y}


def test_several_results_share_buffers_and_stay_right():
    frozen = qad.freeze(several)
    for x in (X, X, 2 * X):
        assert difference(several(x, Y), frozen(x, Y), False) is None


def test_seeing():
    frozen = qad.freeze(lambda x, y: np.sin(x) @ y if x[0, 0].real < 1e9 else x)
    with pytest.raises(qad.errors.ArgumentError, match="nothing has been recorded"):
        frozen.program  # noqa: B018 - it raises
    frozen(X, Y)
    table = str(frozen.program)
    assert "dot(" in table
    assert "(3, 3)" in table
    assert "check_value(" in table


def test_programs_are_planned_when_they_are_replayed(monkeypatch):
    """What is recorded anew each time costs a recording, and no more."""
    planned = []
    monkeypatch.setattr(executable, "improve", lambda *given: planned.append(given) or improve(*given))
    h = np.ones(3)
    frozen = qad.freeze(lambda x: np.sum(np.sin(x) * h))
    for k in range(3):
        h[0] = k
        frozen(np.ones(3))
    assert (frozen.stats.recordings, len(planned)) == (3, 0)
    results = [frozen(np.ones(3)) for _ in range(3)]
    assert (frozen.stats.recordings, len(planned)) == (3, 1)
    np.testing.assert_allclose(results, np.sin(1.0) * (h.sum()), rtol=1e-14)


def test_threads_that_replay_first_at_once():
    frozen = qad.freeze(qad.value_and_grad(lambda x: np.sum(np.sin(x @ x).real)))
    frozen(X)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: frozen(X), range(32)))
    assert frozen.stats.recordings == 1
    assert all(difference(each, frozen.f(X), False) is None for each in found)


def test_traces_compare_nothing():
    """The vector of ones that a trace is multiplied with is qad's own."""
    frozen = qad.freeze(qad.value_and_grad(lambda x, y: qad.tr(x @ y).real, (0, 1)))
    frozen(X, Y)
    assert not frozen._latest.branches[0].captured._arrays


def test_labels_are_never_executed():
    label = "__import__('os').system('false')"
    frozen = qad.freeze(lambda tree: {label: tree[label] * 2})
    frozen({label: X})
    assert label not in str(frozen.program)


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
    """A workspace is no larger than what a tape and its sweep hold at once, with what a replay allocates."""
    gradient = qad.value_and_grad(f)
    frozen = qad.freeze(gradient)
    for call in (frozen, gradient):
        call(x)
        call(x)
    results = sum(part.nbytes for part in qad.core.trees.flatten(gradient(x))[0])
    (branches,) = frozen._entries.values()
    workspace = memory_plan(Places(branches.branches[0].program, True))[1]
    tape = peak(lambda: qad.vjp(f, x)[1](1.0)) - results  # kept, as `gradient` does not; arguments are copied
    assert workspace < 1.05 * tape
    assert workspace + peak(lambda: frozen(x)) < 1.05 * tape + results + 8192 + BUFFER


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
