"""A function whose answer is a view in NumPy says so where its rule stands: one that was missed would not follow."""

import numpy as np
import pytest

import qad
from qad.core.buffers.stored import is_buffer
from qad.core.registry.define import PRIMITIVES
from qad.core.tape.node import ARGS, KWARGS, PRIMITIVE
from tests.rules.test_registry import gathered, nodes_of


@pytest.mark.slow
def test_every_linear_function_of_one_array_that_moves_places_is_declared():
    missed, tried = set(), set()
    for case in gathered(("rules", "contract", "linalg")):
        for node in nodes_of(case):
            p, args = node[PRIMITIVE], node[ARGS]
            if p.fn is None or type(args) is not tuple or PRIMITIVES.get(p.fn) is not p or not p.linear:
                continue
            first = args[0] if args else None
            if not hasattr(first, "shape") or any(hasattr(a, "dtype") and np.ndim(a) for a in args[1:]):
                continue
            places = np.arange(np.prod(first.shape, dtype=int)).reshape(first.shape)
            try:
                found = p.fn(places, *args[1:], **(node[KWARGS] or {}))
            except (TypeError, ValueError, AttributeError, qad.QadError):  # it takes no integers
                continue
            tried.add(p.fn)
            if isinstance(found, np.ndarray) and found.size and np.shares_memory(found, places) and not p.shows:
                missed.add(p.name)
    assert not missed
    assert len(tried) > 10


VIEWS = {
    "row": lambda b: b[1], "column": lambda b: b[:, 2], "backwards": lambda b: b[::-1], "new axis": lambda b: b[None],
    "T": lambda b: b.T, "reshape": lambda b: b.reshape(-1), "ravel": np.ravel, "swapaxes": lambda b: b.swapaxes(0, 1),
    "flip": np.flip, "fliplr": np.fliplr, "rot90": np.rot90, "squeeze": lambda b: b[None].squeeze(),
    "mT": lambda b: b.mT,
    "split": lambda b: np.split(b, 3)[1], "diagonal": lambda b: np.einsum("ii->i", b),
    "expand_dims": lambda b: np.expand_dims(b, 1), "atleast_3d": np.atleast_3d, "dots": lambda b: b[..., 0, 0],
}  # fmt: skip


@pytest.mark.parametrize("name", VIEWS)
def test_views_show_what_is_written_and_write(name):
    plain, b = np.zeros((3, 3)), qad.zeros((3, 3))
    one, two = VIEWS[name](plain), VIEWS[name](b)
    assert is_buffer(two)
    plain[...] = np.arange(9.0).reshape(3, 3)
    b[...] = np.arange(9.0).reshape(3, 3)
    np.testing.assert_array_equal(two.numpy(), one)
    one[...] = -1.0
    two[...] = -1.0
    np.testing.assert_array_equal(b.numpy(), plain)
