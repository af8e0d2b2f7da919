"""Random functions with captured state, frozen: after every call and every change of that state they are right.

A function is drawn as a list of instructions; most of its operands are read, while it runs, from places that other
code can change between calls: closures, globals, attributes, entries, defaults.  One in three has an argument more, of
whose views it takes a trace of a product (`tests.fuzz.traces`).  Between the calls an array is changed in place, a name
is bound anew, an entry is added, an earlier result is written into.  After each of them the frozen function must give
what the plain one gives, its gradient too, or raise one of qad's errors.
"""

import threading
import warnings
from functools import partial
from types import SimpleNamespace

import numpy as np

import qad
from qad.core.trees import flatten
from qad.frozen.passes import PASSES
from tests.fuzz import traces

N = 3
REAL = (np.dtype(float),)
ALLOWED = 0.02  # share of functions that may be refused
SPACE = {}  # stands for the globals of a module


class Holder:
    """A place for anything."""

    shared = None

    def __init__(self, value):
        self.value = value

    def read(self):
        return self.value

    @property
    def seen(self):
        return self.value


class Slotted:
    __slots__ = ("value",)


def closure(value):
    cell = value

    def put(new):
        nonlocal cell
        cell = new

    return (lambda: cell), put


def by_global(value):
    name = f"g{len(SPACE)}"
    SPACE[name] = value
    read = eval(f"lambda: {name}", SPACE)
    return read, lambda new: SPACE.update({name: new})


def attribute(value):
    holder = Holder(value)
    return (lambda: holder.value), lambda new: setattr(holder, "value", new)


def method(value):
    holder = Holder(value)
    return holder.read, lambda new: setattr(holder, "value", new)


def by_property(value):
    holder = Holder(value)
    return (lambda: holder.seen), lambda new: setattr(holder, "value", new)


def class_attribute(value):
    kind = type("Kind", (Holder,), {"shared": value, "__module__": __name__})
    held = kind(0)
    return (lambda: held.shared), lambda new: setattr(kind, "shared", new)


def overshadowed(value):
    kind = type("Kind", (Holder,), {"shared": value, "__module__": __name__})
    held = kind(0)
    return (lambda: held.shared), lambda new: setattr(held, "shared", new)


def slot(value):
    held = Slotted()
    held.value = value
    return (lambda: held.value), lambda new: setattr(held, "value", new)


def entry(value):
    nested = [0, {"k": [value]}]
    return (lambda: nested[1]["k"][0]), lambda new: nested[1]["k"].__setitem__(0, new)


def by_partial(value):
    given = [value]
    return partial(lambda given: given[0], given), lambda new: given.__setitem__(0, new)


def default(value):
    def read(held=[value]):  # noqa: B006 - which is the case
        return held[0]

    return read, lambda new: read.__defaults__[0].__setitem__(0, new)


def namespace(value):
    space = SimpleNamespace(value=value)
    return (lambda: space.value), lambda new: setattr(space, "value", new)


def object_array(value):
    held = np.empty(2, dtype=object)
    held[0] = value
    return (lambda: held[0]), lambda new: held.__setitem__(0, new)


def order(value):
    """What comes first in a dict, of two."""
    mapping = {"a": value, "b": value}

    def put(new):
        mapping.pop("a", None)
        mapping["a"] = mapping["b"] if np.ndim(new) else new
        mapping["b"] = new

    return (lambda: next(iter(mapping.values()))), put


PLACES = (
    closure, by_global, attribute, method, by_property, class_attribute, overshadowed, slot, entry, by_partial, default,
    namespace, object_array, order,
)  # fmt: skip


def value(rng):
    """Something to capture."""
    return [
        lambda: rng.normal(size=N), lambda: rng.normal(size=(N, N)), lambda: float(rng.normal()),
        lambda: bool(rng.integers(2)), lambda: int(rng.integers(-2, 3)), lambda: rng.normal(size=(80, 60)),
        lambda: np.float64(rng.normal()), lambda: rng.normal(size=(N, N)).T, lambda: rng.normal(size=2 * N)[::2],
    ][rng.integers(9)]()  # fmt: skip


def mixed(x, c):
    """`x` with a captured value, whatever that is."""
    if isinstance(c, bool):
        return np.sin(x) if c else np.cos(x)
    if isinstance(c, int):
        return x * 1.25 if c > 0 else x + c
    if np.ndim(c) == 2:
        return c @ x if c.shape == (N, N) else x * c[3, 4] + c[0, 0]
    return x * c + 0.5


def inverse(x, c):
    """The except branch where what is captured makes a matrix singular: exactly, else rounding is all that is left."""
    m = (np.outer(x, x) * 0.1 + np.eye(N)) * (1.0 if np.ndim(c) or c else 0.0)
    try:
        return np.linalg.inv(m) @ x
    except np.linalg.LinAlgError:
        return x - 1.0


def branch(x, c):
    return x * 2 if x[0] > 0 else mixed(x, c)


def checked(x, c):
    try:
        np.linalg.cholesky(np.diag(x + 0.3))
    except np.linalg.LinAlgError:
        return mixed(-x, c)
    return mixed(x, c)


def divided(x, c):
    try:
        with np.errstate(divide="raise"):
            return np.tanh(1 / np.trunc(x)) * 0.5
    except FloatingPointError:
        return mixed(x, c)


def looped(x, c):
    for k in range(int(np.abs(x[1]) * 2) % 3):
        x = mixed(x, c) * 0.5 + k
    return x


def typed(x, c):
    return x + 1 if isinstance(x, np.ndarray) and x is not c else x - 1


STEPS = (mixed, mixed, mixed, inverse, branch, checked, divided, looped, typed)


def draw(rng):
    """A function of an array and a dict, and what changes what it captures; a function that draws one more argument."""
    places = [PLACES[rng.integers(len(PLACES))](value(rng)) for _ in range(rng.integers(1, 5))]
    reads, puts = [read for read, _ in places], [put for _, put in places]
    steps = [(STEPS[rng.integers(len(STEPS))], int(rng.integers(len(reads)))) for _ in range(rng.integers(1, 6))]
    shape = int(rng.integers(4))
    traced, entries = (traces.draw(rng), traces.entries(rng)) if rng.random() < 0.3 else (None, None)

    def f(x, given):
        for step, i in steps:
            x = step(x, reads[i]())
            x = x / (1 + np.sum(x * x))
        for k, each in enumerate(given.values()):
            x = traced(x, reads[0](), each) if each.size > N else x + (k + 1) * each
        if shape == 1:
            return {"b": x, "a": (x, reads[0]())}
        if shape == 2:
            return x, x, x[::-1]
        return (np.sum(x), reads[-1]()) if shape == 3 else x

    return f, reads, puts, entries


def in_place(rng, array):
    """A change of two entries, such as a checksum would not see, or of one."""
    flat = np.unravel_index(rng.integers(array.size, size=2), array.shape)
    one, two = (tuple(int(axis[k]) for axis in flat) for k in (0, 1))
    if rng.integers(2):
        array[one], array[two] = array[two], array[one]
    else:
        array[one] += 1.0


def disturb(rng, reads, puts, results):
    """What happens between two calls."""
    i = int(rng.integers(len(reads)))
    now = reads[i]()
    choice = rng.integers(4)
    if choice == 0 and isinstance(now, np.ndarray):
        in_place(rng, now)
    elif choice == 1:
        puts[i](value(rng))
    elif choice == 2 and results:
        for array in flatten(results[rng.integers(len(results))])[0]:
            if isinstance(array, np.ndarray):
                array += 3.0


def arguments(rng, keys, entries):
    """A point; some of its entries are zero, and its dict is in one of a few orders, now and then of one array."""
    x = rng.normal(size=N) * (rng.random(N) < 0.8)
    shared = rng.normal(size=N)
    aliased = rng.random() < 0.15
    given = {key: shared if aliased else rng.normal(size=N) for key in keys[rng.integers(len(keys))]}
    return x, given if entries is None else {**given, "m": entries(rng)}


def differing(found, expected):
    """What differs, in words, or None."""
    (a, one), (b, two) = flatten(found), flatten(expected)
    if one != two:
        return f"structure {one} instead of {two}"
    for x, y in zip(a, b, strict=True):
        if type(x) is not type(y) or np.shape(x) != np.shape(y):
            return f"{x!r} instead of {y!r}"
        if not np.allclose(x, y, rtol=1e-9, atol=1e-9, equal_nan=True):
            return f"{x!r} instead of {y!r}"
    return None


def loss(f):
    def scalar(x, given):
        reals = [y for y in flatten(f(x, given))[0] if isinstance(y, float) or getattr(y, "dtype", None) in REAL]
        return sum((np.sum(y * y) for y in reals), 0.0)

    return scalar


def answered(f, args):
    """The result of a call, or its error."""
    try:
        return f(*args), None
    except (ArithmeticError, ValueError, TypeError, AttributeError) as error:
        return None, error


def check(seed):
    """Problems of one function, in words; a function that is refused from the beginning counts for the share alone."""
    rng = np.random.default_rng(seed)
    f, reads, puts, entries = draw(rng)
    kinds = [lambda f: f, lambda f: qad.value_and_grad(loss(f)), lambda f: qad.grad(loss(f), (0, 1))]
    plain = kinds[rng.integers(3)](f)
    some = tuple(name for name in PASSES if rng.integers(2))
    passes = [None, None, (), some][rng.integers(4)]
    frozen = qad.freeze(plain, passes=passes)
    outside = qad.grad(loss(qad.freeze(f, passes=passes))) if rng.integers(4) == 0 else None
    keys = [
        [str(key) for key in rng.permutation(["a", "b", "c"])[: rng.integers(3)]] for _ in range(rng.integers(1, 3))
    ]
    results, problems = [], []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for turn in range(int(rng.integers(4, 12))):
            args = arguments(rng, keys, entries)
            expected, error = answered(plain, args)
            found, refused = answered(frozen, args)
            if refused is not None and isinstance(refused, qad.QadError) and error is None:
                return problems if _is_known(refused) else [f"call {turn}: refused: {refused}"]
            if (error is None) != (refused is None):
                problems.append(f"call {turn}: {refused!r} instead of {error!r}")
            elif error is None:
                if wrong := differing(found, expected):
                    problems.append(f"call {turn}: {wrong}")
                results.append(found)
            if outside is not None:
                problems += _outside(outside, f, args, turn)
            if turn == 1 and rng.integers(8) == 0:
                problems += _threads(frozen, plain, [arguments(rng, keys, entries) for _ in range(3)])
            if rng.integers(2):
                disturb(rng, reads, puts, results)
    SPACE.clear()
    return problems


REFUSALS = {"count": 0}


def _is_known(error):
    """Whether a refusal is one of those that are meant: counted, and bounded by the tests."""
    REFUSALS["count"] += 1
    return "qad.freeze" in str(error)


def _outside(outside, f, args, turn):
    """The gradient through a frozen function, against that of the function."""
    expected, error = answered(qad.grad(loss(f)), args)
    found, refused = answered(outside, args)
    if error is not None or refused is not None:
        return [] if (error is None) == (refused is None) else [f"call {turn}, outside: {refused!r} not {error!r}"]
    wrong = differing(found, expected)
    return [f"call {turn}, outside: {wrong}"] if wrong else []


def _threads(frozen, plain, points):
    """What is wrong where three threads call one frozen function."""
    wrong = []

    def work(args):
        with np.errstate(all="ignore"):
            expected, error = answered(plain, args)
            found, refused = answered(frozen, args)
            if (error is None) != (refused is None) or (error is None and differing(found, expected)):
                wrong.append(f"in a thread: {found!r} {refused!r} instead of {expected!r} {error!r}")

    threads = [threading.Thread(target=work, args=(args,)) for args in points]
    [t.start() for t in threads]
    [t.join() for t in threads]
    return wrong
