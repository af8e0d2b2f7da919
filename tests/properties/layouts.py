"""What a reshape sees of an array, for operands that lie in memory in many ways."""

from contextlib import suppress

import numpy as np

import qad
from qad.core.mutation.aliases import root_of, shadow
from qad.core.tape.tensor import Tensor, value_of
from qad.core.trees import flatten, tree_map, unflatten
from qad.core.vmap.layouts import bottom


def layouts(x) -> dict:
    """Arrays of the shape and dtype of `x`, and its numbers (but where entries share memory), by how they lie."""
    x = np.asarray(x)
    if not x.ndim:
        return {"C": x}
    turn = np.roll(np.arange(x.ndim), 1)
    found = {
        "C": x, "F": np.asfortranarray(x), "permuted": x.transpose(turn).copy().transpose(np.argsort(turn)),
        "strided": np.zeros([2 * n for n in x.shape], x.dtype)[(slice(None, None, 2),) * x.ndim],
        "reversed": np.zeros([2 * n for n in x.shape], x.dtype, "F")[(slice(None, None, -2),) * x.ndim],
    }  # fmt: skip
    for y in (found["strided"], found["reversed"]):
        y[...] = x
    if x.size:
        found |= {"broadcast": np.broadcast_to(x[:1] * 1, x.shape), "columns": np.broadcast_to(x[..., :1] * 1, x.shape)}
    return found


def steps(x, arguments=()):
    """The strides, in entries, of the axes longer than 1: those that decide what is a view of `x`."""
    if type(x) is Tensor:
        given = {id(y) for y in arguments}
        x = bottom(x)[0] if id(root_of(x)) in given else shadow(x)  # an argument is strided, and not written into
    if not isinstance(x, np.ndarray) or x.size < 2:
        return None
    return tuple([step // x.itemsize for step, n in zip(x.strides, x.shape, strict=True) if n > 1])


ROADS = {
    "leaf": lambda f, point: f(*tree_map(lambda x: qad.tensor(x, requires_grad=True), point)),
    "constant": lambda f, point: f(*tree_map(qad.tensor, point)),
    "reverse": lambda f, point: qad.vjp(f, *point),
    "forward": lambda f, point: qad.jvp(f, point, point),
    "nested": lambda f, point: qad.jvp(lambda *xs: qad.vjp(f, *xs)[0], point, point),
}


def met(road, f, point):
    """What reshapes see of the results of `f` on a road, and of those for the same bare arrays."""
    seen = []

    def looking(*xs):
        out = f(*xs)
        seen.append((tree_map(value_of, xs), [steps(y, flatten(xs)[0]) for y in flatten(out)[0]]))
        return out

    with suppress(qad.QadError, ValueError, TypeError):  # layouts are no matter of whether there is a derivative
        ROADS[road](looking, point)
    if not seen:
        return None
    bare, found = seen[0]
    return found, [steps(x) for x in flatten(f(*bare))[0]]


def points(case) -> dict:
    """The point of a case by how its arrays lie, each way once: vectors and matrices lie alike by several names."""
    leaves, spec = flatten(case.point)
    ways = [layouts(x) for x in leaves]
    found, seen = {}, set()
    for how in {name: None for way in ways for name in way}:
        arrays = [way.get(how, np.asarray(x)) for x, way in zip(leaves, ways, strict=True)]
        lying = tuple([(x.strides, x.tobytes()) for x in arrays])
        if lying not in seen:
            found[how] = unflatten(spec, arrays)
            seen.add(lying)
    return found


def differing(case, roads=tuple(ROADS), ways=None) -> list:
    """The roads and operands for which results lie in another way than NumPy's, in words; `ways` names operands."""
    words = []
    for how, point in points(case).items():
        if ways is not None and how not in ways:
            continue
        try:
            case.f(*point)
        except (qad.QadError, ValueError, TypeError, IndexError, np.linalg.LinAlgError):
            continue  # not for numbers that are equal
        for road in roads:
            pair = met(road, case.f, point)
            if pair is not None and pair[0] != pair[1]:
                words.append(f"{case}, operands {how}, {road}: {pair[0]}, NumPy {pair[1]}")
    return words
