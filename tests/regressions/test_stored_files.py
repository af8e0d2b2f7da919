"""Files that an earlier version wrote are read by this one; see `tests.fixtures.stored` for what they hold."""

import pickle
import shutil

import numpy as np
import pytest

import qad
from qad.core.define import PRIMITIVES
from qad.frozen.old_names import current
from qad.frozen.serialization import _tables
from tests.fixtures import stored
from tests.frozen.agree import difference


@pytest.mark.parametrize("name", stored.FROZEN)
def test_a_frozen_function_of_before(name):
    f, _, calls = stored.FROZEN[name]
    frozen = pickle.loads((stored.HERE / f"frozen_{name}.pickle").read_bytes())
    for call in calls:
        assert difference(f(*call), frozen(*call), False) is None
    assert frozen.stats.recordings == 0


def test_a_chain_and_an_operator_of_before():
    psi, operator = qad.mps.MPS.load(stored.HERE / "state.npz"), qad.mps.MPO.load(stored.HERE / "operator.npz")
    for read, made in zip((psi, operator), stored.energy(), strict=True):
        for a, b in zip(read, made, strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-14)


@pytest.mark.parametrize("method", stored.SEARCHES)
def test_a_search_of_before_goes_on(method, tmp_path):
    path = shutil.copy(stored.HERE / f"search_{method}.npz", tmp_path)
    result = qad.mps.ground_state(stored.energy()[1], 4, method, maxiter=60, checkpoint=path)
    with np.load(stored.HERE / f"search_{method}.npz") as file:
        np.testing.assert_array_equal(result.history[: file["history"].size], file["history"])
    assert result.history[-1] < result.history[2] + 1e-14 and result.energy == pytest.approx(
        -1.6160254037844386, abs=2e-3
    )


def test_tensors_of_before():
    leaf, constant = pickle.loads((stored.HERE / "tensors.pickle").read_bytes())
    assert leaf.requires_grad and leaf.is_leaf and not constant.requires_grad
    np.testing.assert_array_equal(leaf.numpy(), stored.STATE)
    np.testing.assert_array_equal(constant.numpy(), stored.Y)


def test_every_name_that_was_ever_stored_is_known():
    assert list(stored.names())  # which loads every floor that defines primitives
    missing = set(map(current, (stored.HERE / "primitives.list").read_text().split())) - set(_tables()[0])
    assert not missing


def test_no_two_primitives_are_stored_under_one_name():
    assert stored.names()
    own = [f"{fn.__module__}.{fn.__qualname__}" for fn in PRIMITIVES if stored.is_own(fn)]
    assert len(set(own)) == len(own)


@pytest.mark.parametrize("transform", [np.fft.fft, np.fft.ifft, np.fft.rfft], ids=lambda f: f.__name__)
def test_a_stored_fourier_transform_is_that_one(transform):
    f = qad.value_and_grad(lambda y: np.sum(np.abs(transform(y)[1:]) ** 2))
    frozen = qad.freeze(f)
    frozen(stored.Y)
    assert difference(f(stored.Y), pickle.loads(pickle.dumps(frozen))(stored.Y), False) is None


def test_a_program_of_a_pass_that_left_is_refused():
    frozen = qad.freeze(lambda y: np.sin(y) * y)
    frozen(stored.Y)
    make, (name, names, passes, entries) = frozen.__reduce__()
    assert make(name, names, (*passes, "chains"), entries)(stored.Y) is not None  # its name alone does no harm
    (signature, [(path, places, (variables, inputs, constants, steps, *rest), form)]) = entries[0]
    steps = [(("function", "chained"), *steps[0][1:]), *steps[1:]]
    entries = [(signature, [(path, places, (variables, inputs, constants, steps, *rest), form)])]
    with pytest.raises(qad.errors.ArgumentError, match="'chained'.*freeze the function again"):
        make(name, names, passes, entries)
