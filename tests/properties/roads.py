"""One program on the quick roads and on the plain ones: what it records, and what comes out of every transform."""

import re
from functools import cache

import numpy as np

import qad
from qad.core.debug.observer import plain_roads
from qad.core.tape.node import LEAF, PICK, given
from qad.core.tape.tensor import Tensor, value_of
from qad.core.trees import flatten, tree_map
from tests.cases import normal

LARGE = 16  # numbers of an argument beyond which a Hessian is a longer batch of the same
SIMPLE = {int, float, complex, str, bool, type(None), tuple, slice, type(...)}


def noise(tree, seed):
    """Random numbers of the structure, shapes and dtypes of `tree`, as arrays."""
    return tree_map(lambda x: drawn(np.shape(value_of(x)), np.asarray(value_of(x)).dtype.type, seed).copy(), tree)


@cache
def drawn(shape, dtype, seed):
    """`normal`, which takes longer to make its generator than many a case to run."""
    return normal(*shape, dtype, seed=seed)


def recorded(f, point) -> list:
    """The operations that ``f(*point)`` records, in order: names, the numbers of their operands, and metadata."""
    leaves = tree_map(lambda x: qad.tensor(x, requires_grad=True), point)
    waiting = [x.node for x in flatten(f(*leaves))[0] if type(x) is Tensor and x.node is not None]
    found = {}
    while waiting:
        node = waiting.pop()
        if node[0] not in found:
            found[node[0]] = node
            waiting += [parent for parent in node[5] if parent is not None]
    number = {x.node[0]: ("leaf", i) for i, x in enumerate(flatten(leaves)[0])}
    for key in sorted(found.keys() - number.keys()):
        number[key] = len(number)
    return [described(found[key], number) for key in sorted(found) if found[key][1] is not LEAF]


def described(node, number):
    _, p, args, _, _, parents = node
    kwargs = given(node)
    operands = [None if parent is None else number[parent[0]] for parent in parents]
    while operands[-1] is None:  # metadata, which only some recorders give a place
        operands.pop()
    if p is PICK:
        return "pick", args, operands[0]
    simple = {key: value for key, value in kwargs.items() if type(value) in SIMPLE}
    return (
        p.name,
        p.fn,
        operands,
        repr([a for a in args if type(a) in SIMPLE]),
        sorted(kwargs),
        re.sub(r" at 0x\w+", "", repr(simple)),
    )


def outcomes(f, point, order):
    """Values and derivatives, by the name of the transform; an error stands as its type."""
    out = qad.vjp(f, *point)[0]
    w, v = noise(out, 1), tuple(noise(point, 2))

    def gradient(*xs):
        return qad.vjp(f, *xs)[1](w)

    runs = {
        "reverse": lambda: qad.vjp(f, *point)[0:1] + gradient(*point),
        "forward": lambda: qad.jvp(f, point, v),
        "batch": lambda: qad.vmap(f)(*twice(point)),
        "batch of gradients": lambda: qad.vmap(gradient)(*twice(point)),
    }
    if order > 1:
        u = noise(gradient(*point), 3)
        runs["forward over reverse"] = lambda: qad.jvp(gradient, point, v)[1]
        runs["reverse over reverse"] = lambda: qad.vjp(gradient, *point)[1](u)
        runs["reverse over forward"] = lambda: qad.vjp(lambda *xs: qad.jvp(f, xs, v)[1], *point)[1](w)
    if len(point) == 1 and type(point[0]) is np.ndarray and isinstance(out, (np.ndarray, np.inexact)):
        runs |= whole(f, point[0], order)
    runs["tape"] = lambda: taped(f, point, w)
    return {name: attempt(run) for name, run in runs.items()}


def whole(f, x, order):
    """Derivatives as arrays: their batches of unit vectors, of cotangents and of tangents, have short-cuts."""
    by = qad.jacobian if x.dtype.kind == "f" else qad.wirtinger
    wide = normal(3 * max(1, x.size), max(1, np.size(f(x))))  # so many outputs that tangents are the cheaper way
    runs = {"rows": lambda: by(f)(x), "columns": lambda: by(lambda x: wide @ np.reshape(f(x), -1))(x)}
    if order > 1 and x.size <= LARGE:
        runs["hessian"] = lambda: second(lambda x: np.sum(np.real(f(x)) ** 2), x)
    return runs


def second(loss, x):
    h = qad.hessian(loss)(x)
    return h if x.dtype.kind == "f" else (h.zz, h.zzbar)


def taped(f, point, w):
    """Gradients of PyTorch's style, by a pass that frees the graph."""
    leaves = tree_map(lambda x: qad.tensor(x, requires_grad=True), point)
    loss = sum(np.sum(np.real(y * v)) for y, v in zip(flatten(f(*leaves))[0], flatten(w)[0], strict=True))
    if type(loss) is Tensor and loss.requires_grad:
        loss.backward()
    return tree_map(lambda x: np.zeros(x.shape) if x.grad is None else x.grad, leaves)


def twice(point):
    return tree_map(lambda x: np.stack([x, x]), point)


def attempt(run):
    try:
        return run()
    except (qad.QadError, ValueError, TypeError, IndexError) as error:
        return type(error)


def differing(f, point, order=2, tolerance=1e-11) -> list:
    """What differs between the quick and the plain roads, in words."""
    quick, nodes = outcomes(f, point, order), recorded(f, point)
    with plain_roads():
        plain, slow_nodes = outcomes(f, point, order), recorded(f, point)
    found = [f"records {a} quickly, {b} plainly" for a, b in zip(nodes, slow_nodes, strict=False) if a != b][:1]
    if len(nodes) != len(slow_nodes):
        found.append(f"records {len(nodes)} operations quickly, {len(slow_nodes)} plainly")
    return found + [f"{name}: {words}" for name in quick for words in unlike(quick[name], plain[name], tolerance)]


def unlike(one, two, tolerance) -> list:
    if isinstance(one, type) or isinstance(two, type):
        return [] if one is two else [f"{one} quickly, {two} plainly"]
    (ones, spec), (twos, other) = flatten(one), flatten(two)
    if spec != other:
        return [f"{spec} quickly, {other} plainly"]
    if all(map(identical, ones, twos)):
        return []
    numbers = [np.abs(x) for x in twos if np.asarray(x).dtype.kind in "fc"]
    scale = 1 + max([float(x[np.isfinite(x)].max(initial=0)) for x in map(np.asarray, numbers)], default=0.0)
    return [words for a, b in zip(ones, twos, strict=True) for words in apart(a, b, tolerance * scale)]


def identical(a, b) -> bool:
    """Whether two leaves are alike to the last bit."""
    if type(a) is not type(b) or not isinstance(a, (np.ndarray, np.generic)):
        return False
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def apart(a, b, tolerance) -> list:
    if type(a) is not type(b) or np.shape(a) != np.shape(b) or np.asarray(a).dtype != np.asarray(b).dtype:
        return [f"{kind(a)} quickly, {kind(b)} plainly"]
    if np.asarray(a).dtype.kind not in "fc":
        return [] if np.array_equal(a, b) else [f"{a} quickly, {b} plainly"]
    if np.asarray(a).dtype.itemsize <= (4 if np.asarray(a).dtype.kind == "f" else 8):
        tolerance = tolerance * 1e8
    close = np.isclose(a, b, rtol=0, atol=tolerance, equal_nan=True)
    return [] if close.all() else [f"{np.ravel(a)[:4]} quickly, {np.ravel(b)[:4]} plainly"]


def kind(x) -> str:
    return f"{type(x).__name__} {np.asarray(x).dtype}{np.shape(x)}"
