"""Views, with axes, of arrays without axes: what is written there names the one entry once, several times, or never."""

import numpy as np
import pytest

import qad

VIEWS = {
    "reshape": lambda b: b.reshape(1),
    "ravel": np.ravel,
    "row": lambda b: b.reshape(1, 1)[0],
    "new axis": lambda b: b[None],
    "real": lambda b: b.real.reshape(1)[:],
    "imag": lambda b: b.imag.reshape(1),
    "ravel of imag": lambda b: b.reshape(1).imag.ravel(),
}
COMPLEX = VIEWS["real"], VIEWS["imag"], VIEWS["ravel of imag"]
INDICES = {
    "no slice": slice(0, 0),
    "no mask": np.array([False]),
    "mask": np.array([True]),
    "no list": [],
    "twice": [0, -1],
    "rows": np.array([[0, 0], [0, -1]]),
    "entry": 0,
    "all": ...,
}


def _assign(w, index, v):
    w[index] = v


def _add(w, index, v):
    w[index] += v


def _take_part(w, index, v):
    part = w[index]
    part *= 0.5
    w[index] = part + v


WRITES = {"assign": _assign, "add": _add, "add.at": np.add.at, "part": _take_part}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_writes_through_a_view_of_an_array_without_axes(view, index, write):
    def f(x):
        b = (x * np.array([2.0 + 1.0j if view in COMPLEX else 2.0])).reshape(()).copy()
        w = view(b)
        named = np.shape(np.zeros(1)[index])
        if named == () and write is _take_part:
            return b.real
        write(w, index, x * x * np.arange(1.0, 1.0 + np.prod(named, dtype=int)).reshape(named))
        return np.sum(qad.abs2(b)) + x * np.sum(w * w)

    x, h = np.float64(1.3), 1e-5
    right, slope = f(x), (f(x + h) - f(x - h)) / (2 * h)
    assert np.allclose(qad.value_and_grad(f)(x), (right, slope))
    assert np.allclose(qad.jvp(f, (x,), (1.0,)), (right, slope))
    assert np.isclose(qad.extend.value_of(f(qad.tensor(x))), right)
    values, slopes = qad.vmap(qad.value_and_grad(f))(np.array([0.7, x]))
    assert np.allclose((values[1], slopes[1]), (right, slope))
    if write is not np.add.at:
        frozen = qad.freeze(qad.value_and_grad(f))
        frozen(0.4)
        assert np.allclose(frozen(x), (right, slope))


def test_a_mask_that_is_false_writes_nothing_into_an_array_without_axes():
    def f(x):
        b = (x * x).reshape(()).copy()
        b[np.array(False)] = 7.0
        b[np.array([], bool).any()] = 7.0
        return b * x.sum()

    x = np.array([1.5])
    value, slope = qad.value_and_grad(f)(x)
    assert np.allclose((value, slope[0]), (1.5**3, 3 * 1.5**2))
    assert np.isclose(qad.hessian(f)(x)[0, 0], 9.0)


@pytest.mark.parametrize("part", [np.real, np.imag, lambda s: s.conj().real, lambda s: s.T.imag])
def test_a_frozen_number_has_no_views(part):
    """NumPy's numbers own what they show; those of a program lie in its memory."""

    def f(x):
        d = part(np.sum(x) * np.full((), 0.7))
        e = d[...]
        p = e[...]
        p *= 0.5
        return np.sin(d) + 10 * np.cos(e)

    z = np.array([1 + 2j, 0.3, 0.1j])
    frozen = qad.freeze(f)
    frozen(2 * z)
    assert np.isclose(frozen(z), f(z))


@pytest.mark.parametrize("number", [lambda y: y[()], lambda y: y[()].T, lambda y: y.real[()], lambda y: y.sum()])
@pytest.mark.parametrize("widened", [lambda s: np.expand_dims(s, 0), lambda s: np.reshape(s, (1, 1)), np.atleast_1d])
def test_what_a_frozen_program_writes_into_shares_memory_with_nothing(widened, number):
    """A number taken of an array without axes is a copy, and so is what is made of it."""

    def f(z):
        last = np.sin(z).conj()[..., -1]
        e = widened(number(last))
        e[...] = 0.7
        return np.abs(last) + 10 * np.sum(e).real

    z = np.array([1 + 2j, 0.3, 0.1j])
    frozen, slope = qad.freeze(f), qad.freeze(qad.value_and_grad(f))
    frozen(2 * z), slope(2 * z)
    assert np.isclose(frozen(z), f(z.copy()))
    assert np.isclose(slope(z)[0], f(z.copy()))


@pytest.mark.parametrize("view", [lambda y: y.reshape(1), lambda y: y[None], np.atleast_1d])
def test_nothing_is_written_through_a_view_of_an_array_without_axes(view):
    """Another such array made of it, ``y.reshape(())``, would not show it."""
    y = qad.tensor(np.array(1.0))
    with pytest.raises(qad.QadError, match="a number cannot be written into"):
        view(y)[0] = 5.0
