"""Reshapes are views or copies as the layout of their operand allows: that of NumPy's operand, not of ours."""

import numpy as np
import pytest

import qad

FLIPS = {
    "flip": lambda d: np.flip(d, 0),
    "flipud": np.flipud,
    "index": lambda d: d[::-1],
    "twice": lambda d: np.flip(np.flip(d[::-1], 0)[::-1], 0),
    "rot90": lambda d: np.rot90(d[:, ::-1], 2),
}


@pytest.mark.parametrize("flat", [np.ravel, lambda e: e.reshape(-1), lambda e: np.reshape(e, (1, 6))[0]])
@pytest.mark.parametrize("flipped", FLIPS.values(), ids=FLIPS)
def test_reshapes_of_what_was_read_again_are_views_where_numpys_are(flipped, flat):
    """After a write, views hold copies, which lie in another order than NumPy's views."""

    def f(y):
        c = y * 1.0
        d = c[::-1]
        e = flipped(d)
        d[0] = d[1] * 5.0
        r = flat(e)
        r[0] = 70.0 * c[1, 1]
        return np.sum(c * c * np.arange(1.0, 7.0).reshape(2, 3)) + np.sum(e * d)

    y = np.arange(6.0).reshape(2, 3) + 1
    right = f(y.copy())
    value, g = qad.value_and_grad(f)(y)
    assert value == right
    frozen = qad.freeze(qad.value_and_grad(f))
    assert all(np.isclose(frozen(y)[0], right) and np.allclose(frozen(y)[1], g) for _ in range(3))
    assert np.allclose(qad.vmap(qad.value_and_grad(f))(np.stack([y, y]))[1], g)
    assert np.isclose(qad.jvp(f, (y,), (y,))[1], np.sum(g * y))
    assert np.isclose(qad.jvp(f, (y,), (y,))[1], 2 * right)  # it is quadratic


SPREAD = {
    "new axis": lambda c: np.broadcast_to(c[0], (2, 3))[None],
    "last axis": lambda c: np.broadcast_to(c[:, :1], (2, 3))[:, None],
    "transposed": lambda c: np.broadcast_to(c[0], (2, 3)).T[None],
    "row": lambda c: np.broadcast_to(c[0], (1, 3))[:1],
    "not spread": lambda c: c.T[None],
}
MADE = {
    "concatenate": lambda d: np.concatenate([d, d]),
    "stack": lambda d: np.stack([d, d]),
    "copy": lambda d: d.copy("K"),
    "entries": lambda d: d[[0, 0]],
    "sin": np.sin,
    "repeat": lambda d: np.repeat(d, 2, 0),
}


@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
@pytest.mark.parametrize("spread", SPREAD.values(), ids=SPREAD)
def test_what_is_made_of_arrays_that_are_spread_out_lies_as_numpys(spread, made):
    def f(y):
        c = y * 1.0
        d = spread(c)
        c[0, 0] = c[1, 1] * 5.0
        r = made(d)
        r.reshape(-1)[::2] = 0.3
        return np.sum(r * r)

    y = np.arange(6.0).reshape(2, 3) + 1
    value, g = qad.value_and_grad(f)(y)
    assert value == f(y.copy())
    frozen = qad.freeze(qad.value_and_grad(f))
    assert all(np.isclose(frozen(y)[0], value) and np.allclose(frozen(y)[1], g) for _ in range(3))
