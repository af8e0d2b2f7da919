"""Bad input: what cannot be replayed raises, what would be recorded again and again warns; both name the way out."""

import numpy as np
import pytest

import qad
from tests.frozen.agree import difference

RNG = np.random.default_rng(0)


class Holder:
    """Something with an array, and without a hash."""

    __hash__ = None

    def __init__(self):
        self.array, self.last = np.zeros(3), None


@pytest.fixture
def outer():
    return np.zeros(3)


WRITERS = {
    "an element": lambda a, x: a.__setitem__(0, x.sum()),
    "elements": lambda a, x: a.__setitem__(slice(1, None), x[1:]),
    "in place": lambda a, x: a.__iadd__(x),
    "out=": lambda a, x: np.add(x, 1, out=a),
    "at": lambda a, x: np.add.at(a, [0], x[0]),
    "copyto": lambda a, x: np.copyto(a, x),
    "put": lambda a, x: a.put([0], x[:1]),
    "flat": lambda a, x: a.flat.__setitem__(0, x[0]),
    "without a traced array": lambda a, x: a.__iadd__(1.0),
    "fill": lambda a, x: a.fill(3.0),
    "shuffle": lambda a, x: RNG.shuffle(a),
}


@pytest.mark.parametrize("name", WRITERS)
def test_writing_into_outer_arrays(outer, name):
    outer[:] = (9, 8, 7)

    def f(x):
        WRITERS[name](outer, x)
        return x * 2

    with pytest.raises(qad.errors.ArgumentError) as error:
        qad.freeze(f)(np.ones(3))
    assert any(
        way in str(error.value) for way in ("return the result instead", "np.zeros_like for", "draw them outside")
    )


def test_writing_into_attributes_and_containers():
    holder, table = Holder(), {"a": [np.zeros(3)]}

    def by_attribute(x):
        holder.array[:2] += 1
        return x

    def by_container(x):
        table["a"][0][1] = 5
        return x

    for f in (by_attribute, by_container):
        with pytest.raises(qad.errors.ArgumentError, match="from outside of it"):
            qad.freeze(f)(np.ones(3))


ARGUMENTS = {
    "elements": lambda x: x.__setitem__(slice(1, None), 1.0),
    "a view": lambda x: x[::2].__iadd__(1),
    "out=": lambda x: np.exp(x, out=x),
    "sort": lambda x: x.sort(),
    "fill": lambda x: x.fill(0.0),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_writing_into_arguments(name):
    def f(x):
        ARGUMENTS[name](x)
        return x

    with pytest.raises(qad.errors.ArgumentError, match=r"write into a copy, x = x.copy\(\)"):
        qad.freeze(f)(np.ones(3))


@pytest.mark.parametrize(
    "f, message",
    [
        (lambda x: x + np.random.normal(), "default_rng"),
        (lambda x: x + RNG.normal(), "pass the arrays as arguments"),
        (lambda x: np.poly1d(x), "of type poly1d"),
        (lambda x: qad.tensor(x, requires_grad=True), "x.numpy"),
        (lambda x: (y for y in x), "of type generator"),
        (lambda x: np.array([x[0], x[1]]), "np.stack"),
        (lambda x: x.reshape(3, 1).ravel("K"), "order='C'"),
        (lambda x: x.sum(out=np.zeros(())), "write y[...] = x.sum"),
    ],
)  # fmt: skip
def test_refusals(f, message):
    with pytest.raises(qad.errors.ArgumentError) as error:
        qad.freeze(f)(np.ones(3))
    assert message in str(error.value)


def test_attributes_that_traced_arrays_have_not():
    with pytest.raises(AttributeError, match="qad.extend.primitive"):
        qad.freeze(lambda x: x.tobytes())(np.ones(3))


def test_printing_what_is_not_traced_is_fine(capsys):
    @qad.freeze
    def f(x):
        print("recording", x.shape)
        return x * 2

    for scale in (1, 2):
        assert f(np.full(2, scale))[0] == 2 * scale
    assert capsys.readouterr().out == "recording (2,)\n"


def test_refuses_what_is_no_function_or_number():
    with pytest.raises(qad.errors.ArgumentError, match="takes a function"):
        qad.freeze(3)
    with pytest.raises(qad.errors.ArgumentError, match="dtype object"):
        qad.freeze(lambda x: x)(np.array([None]))


def test_static_arguments_are_hashable():
    with pytest.raises(qad.errors.ArgumentError, match="cannot be hashed.*as an array, a tuple or a frozen dataclass"):
        qad.freeze(lambda x, mode: x)(np.ones(2), mode={1})
    with pytest.raises(qad.errors.ArgumentError, match="Holder.*frozen dataclass"):
        qad.freeze(lambda x, holder: x)(np.ones(2), Holder())


def test_arrays_of_static_arguments_are_watched():
    class Model:
        def __init__(self):
            self.weights = np.ones(3)

    model, f = Model(), qad.freeze(lambda x, model: x * model.weights.sum())
    assert f(2.0, model) == 6
    model.weights[0] = 4
    assert f(2.0, model) == 12


SHAPES = {
    "mask": lambda x: x[x > 0] * 2, "nonzero": lambda x: np.nonzero(x > 0)[0] * 2, "where": lambda x: np.where(x > 0),
    "method": lambda x: x.compress(x > 0) * x.compress(x > 0).size, "nonzero method": lambda x: (x > 0).nonzero(),
    "repeat": lambda x: np.repeat(x, (x > 0).astype(int)), "repeat method": lambda x: x.repeat((x > 0).astype(int)),
    "unique": lambda x: np.unique(np.sign(x)) * 2, "arange": lambda x: np.arange(int((x > 0).sum())) * x[0],
    "range": lambda x: [x[0] * i for i in range(int((x > 0).sum()))], "slice": lambda x: x[: np.argmin(x) + 1].mean(),
    "trim": lambda x: np.trim_zeros(np.maximum(x, 0)), "extract": lambda x: np.extract(x > 0, x).mean(),
    "index": lambda x: x[np.flatnonzero(x > 0)].mean(), "union": lambda x: np.union1d(np.round(x), [1.0]),
    "loop": lambda x: [y for y in x if y > 0], "gradient": qad.value_and_grad(lambda x: (x[x > 0] ** 2).mean()),
    "split": lambda x: qad.linalg.split(np.outer(x, x) + np.diag(np.maximum(x, 0)), 4, cutoff=1e-8)[0].shape[1] * x,
}  # fmt: skip


ONE = {
    "reshape": lambda x, n: x.reshape(n, -1).sum(0), "broadcast": lambda x, n: np.broadcast_to(x, (n, 4)).sum(0),
    "like": lambda x, n: np.zeros_like(x, shape=(n,)).size * x, "tile": lambda x, n: np.tile(x, n).size * x,
    "sum": lambda x, n: np.outer(x, x * x).sum(n % 2),
    "moveaxis": lambda x, n: np.moveaxis(np.outer(x, x * x), n % 2, 0),
    "stack": lambda x, n: np.stack([x, 2 * x], n % 2)[0], "fft": lambda x, n: np.fft.fft(x, n).real.mean(),
    "concatenate": lambda x, n: np.concatenate([np.outer(x, x)] * 2, n % 2).shape[0] * x,
    "slice": lambda x, n: x[:n].mean(), "step": lambda x, n: x[::n].mean(),
    "trace": lambda x, n: np.trace(np.outer(x, x), n),
}  # fmt: skip


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("passes", [(), None])
def test_integers_that_depend_on_values(name, passes):
    def loss(x):
        return (np.sin(ONE[name](x, np.argmin(x) + 1)) * 1.5).sum()

    for f in (lambda x: ONE[name](x, np.argmin(x) + 1), qad.value_and_grad(loss)):
        frozen = qad.freeze(f, passes=passes)
        for x in (np.array([2, 0.1, 3, 4]), np.array([0.1, 2, 3, 4]), np.array([2, 3, 4, 0.1])) * 2:
            assert difference(f(x), frozen(x), False) is None


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_that_depend_on_values(name):
    frozen = qad.freeze(SHAPES[name])
    points = np.array([[1.5, -2, 3, 4], [-1, 2.5, 3, 4.2], [1, 2, 3, 4], [-1, -2, -3.5, 4]])
    for x in (*points, *points):
        assert difference(SHAPES[name](x), frozen(x), False) is None
    assert frozen.stats.recordings > 1
    assert frozen.stats.replays >= 8 - frozen.stats.recordings


def reasons(*calls, f=lambda x, n=1, m=None: x if m is None else m):
    """Why recordings after the first were made."""
    frozen = qad.freeze(f)
    for args in calls:
        frozen(*args)
    assert frozen.stats.recordings == len(calls)
    return frozen.stats.reasons


def test_every_recording_has_a_reason():
    x = np.ones(3)
    assert "shape (2,) of float64 instead of shape (3,)" in reasons((x,), (x[:2],))[0]
    assert "complex64 instead of shape (3,) of float64" in reasons((x,), (x.astype(np.complex64),))[0]
    assert "structure" in reasons(([x],), ((x, x),))[0]
    assert "2 instead of 1" in reasons((x, 1), (x, 2))[0]
    assert "a bool decided upon at test_refusals.py" in reasons((x,), (-x,), f=lambda x, n=1: x if x[0] > 0 else -x)[0]
    assert "came out as 2 instead of 1" in reasons((x,), (x * 2,), f=lambda x, n=1: int(x[0]) * x)[0]
    captured = np.zeros(3)
    frozen = qad.freeze(lambda x: x + captured)
    frozen(x)
    captured[0] = 1
    frozen(x)
    assert frozen.stats.reasons == ["what the function captured has changed: captured"]


def test_leaked_arrays_raise():
    kept = []
    f = qad.freeze(lambda x: kept.append(x) or x * 2)
    f(np.ones(2))
    with pytest.raises(qad.errors.LeakedTensorError):
        kept[0] + 1


def test_many_branches_are_bounded():
    f = qad.freeze(lambda x: x * int(x))
    for n in range(40):
        assert f(float(n)) == n * n
    (branches,) = f._entries.values()
    assert len(branches.branches) == 32


ROOT = np.ones(3)
ITERATIONS = {
    "fixed_point": lambda x: qad.fixed_point(lambda y, x: np.cos(y) * x / 4, ROOT, x),
    "linear_solve": lambda x: qad.linalg.linear_solve(lambda y: x * y, ROOT),
    "dominant_eig": lambda x: qad.linalg.dominant_eig(lambda y: x * y, ROOT)[0],
    "lowest_eig": lambda x: qad.linalg.lowest_eig(lambda y: x * y, ROOT)[0],
}


@pytest.mark.parametrize("name", ITERATIONS)
def test_iterations_are_refused_or_one_step(name):
    solve, x = ITERATIONS[name], np.array([1.0, 2.0, 4.0])
    with pytest.raises(qad.errors.ArgumentError, match=rf"{name}.* cannot be frozen.*qad.extend.opaque"):
        qad.freeze(solve)(x)
    frozen = qad.freeze(lambda x: qad.extend.opaque(solve)(x + 0) * 2)
    for point in (x, x, 3 * x):
        np.testing.assert_allclose(frozen(point), 2 * solve(point), rtol=1e-12)
    assert frozen.stats.recordings == 1
