"""Pytrees: nested containers of arrays, through optree; containers of your own.

A registered class or a dataclass is its fields, and a namedtuple its entries.  Dataclasses register themselves the
first time they are met; fields marked ``field(metadata={"static": True})`` are structure, not leaves.  Every
other attribute of an object is kept as it is and has no derivative, so it must not hold a recorded Tensor.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import optree

from qad.core.errors import ArgumentError, GradientTypeError
from qad.core.tape.operands import brought, check_arithmetic
from qad.core.tape.tensor import CONSTANT, Tensor, settled, value_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.core.tape.levels import Level
    from qad.typing import Function, T, Tree
    from qad.typing.words import Spec, Value

NAMESPACE = "qad"  # of the classes that optree knows from here
_LEAVES = (np.ndarray, Tensor, float, complex)
_ARRAYS = frozenset((np.ndarray, Tensor))
ONE_LEAF: Spec = optree.treespec_leaf(namespace=NAMESPACE)


def flatten(tree: Tree) -> tuple[list[Any], Spec]:
    """Leaves of `tree` and the spec that rebuilds it."""
    if type(tree) in _LEAVES:
        return [tree], ONE_LEAF
    if type(tree) is list and _ARRAYS.issuperset(map(type, tree)):  # a common case, quickly
        return tree[:], _list_spec(len(tree))
    leaves, spec = optree.tree_flatten(tree, namespace=NAMESPACE)
    strangers = [cls for cls in set(map(type, leaves)) if hasattr(cls, "__dataclass_fields__")]
    for cls in strangers:
        with suppress(ValueError):  # another thread was first
            register_dataclass(cls)
    return flatten(tree) if strangers else (leaves, spec)


@cache
def _list_spec(n: int) -> Spec:
    """The spec of a list of `n` leaves."""
    return optree.tree_structure([0] * n, namespace=NAMESPACE)


def unflatten(spec: Spec, leaves: Sequence[Any]) -> Tree:
    """The tree of this `spec` with these `leaves`."""
    if spec is ONE_LEAF:
        return leaves[0]
    return list(leaves) if spec is _list_spec(len(leaves)) else spec.unflatten(leaves)


def tree_map(function: Function, tree: Tree, *rest: Tree) -> Any:
    """Apply a function to each leaf of a nested container, and collect the results in containers of the same kind.

    Parameters
    ----------
    function : callable
        Takes a leaf of each tree.
    tree : pytree
    *rest : pytrees
        Of the structure of the first.

    Raises
    ------
    ArgumentError
        If the structures differ.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.tree_map(lambda x: 2 * x, {"a": np.ones(2), "b": [3.0]})
    {'a': array([2., 2.]), 'b': [6.0]}
    """
    leaves, spec = flatten(tree)
    columns = [leaves]
    for other in rest:
        other_leaves, other_spec = flatten(other)
        if other_spec != spec:
            raise ArgumentError(f"trees of different structure: {nesting(spec)} and {nesting(other_spec)}")
        columns.append(other_leaves)
    return unflatten(spec, [function(*row) for row in zip(*columns, strict=True)])


def apply_updates(params: Tree, updates: Tree) -> Tree:
    """Parameters plus updates, leaf by leaf.

    Parameters
    ----------
    params : pytree of arrays
    updates : pytree of the same structure
        What is added, such as ``-step`` times a gradient.

    Returns
    -------
    pytree
        New arrays, each of the dtype of its parameter; `params` is not changed.

    Raises
    ------
    ArgumentError
        If the structures differ.
    GradientTypeError
        If an update is complex and its parameter real.

    Examples
    --------
    >>> import numpy as np, qad
    >>> params = {"w": np.array([1.0, 2.0]), "b": [np.array(0.5)]}
    >>> gradient = qad.grad(lambda p: np.sum(p["w"] ** 2) + p["b"][0])(params)
    >>> qad.apply_updates(params, qad.tree_map(lambda g: -0.25 * g, gradient))
    {'w': array([0.5, 1. ]), 'b': [array(0.25)]}
    """
    return tree_map(_updated, params, updates)


def _updated(value: Value, update: Value) -> Value:
    total = value + update
    if np.result_type(value_of(total)).kind == "c" != np.result_type(value_of(value)).kind:
        raise GradientTypeError("an update is complex, but its parameter is real: write update.real")
    dtype = getattr(value, "dtype", None)
    total = total if dtype is None or total.dtype == dtype else total.astype(dtype)
    return np.asarray(total) if type(value) is np.ndarray else total


def register(cls: type, children: Function, rebuild: Function) -> None:
    """Make a class a pytree.

    Parameters
    ----------
    cls : type
    children : callable
        ``children(obj)`` returns a pair: a tuple of subtrees, and hashable structure that carries no numbers.
    rebuild : callable
        ``rebuild(structure, subtrees)`` returns the object.
    """
    optree.register_pytree_node(cls, children, rebuild, namespace=NAMESPACE)


class Rest:
    """What an object holds beside its `fields`: a part of the structure of a tree.

    Attributes
    ----------
    fields : tuple of str
    attributes : list of (name, value)
        The same objects come along whenever the object is rebuilt.
    compared : frozenset of str
        The names of those by which trees are of one structure.
    """

    __slots__ = ("kind", "fields", "attributes", "compared")

    def __init__(self, obj: object, fields: tuple[str, ...], compared: frozenset[str] = frozenset()) -> None:
        state = object.__getstate__(obj)
        space, slots = state if type(state) is tuple else (state, None)
        held = {**(space or {}), **(slots or {})}
        self.kind: Any = type(obj)
        self.fields: tuple[str, ...] = fields
        self.attributes: list[tuple[str, Any]] = [(name, x) for name, x in held.items() if name not in fields]
        self.compared: frozenset[str] = compared

    def rebuilt(self, subtrees: Sequence[Any]) -> Any:
        """A new object of the class with these subtrees, and all else as it was."""
        made = object.__new__(self.kind)
        for name, value in (*zip(self.fields, subtrees, strict=True), *self.attributes):
            object.__setattr__(made, name, value)
        return made

    def __eq__(self, other: Any) -> bool:
        if type(other) is not Rest or self.fields != other.fields:
            return False
        mine, others = self._structure(), other._structure()
        return mine.keys() == others.keys() and all(_equal(mine[name], others[name]) for name in mine)

    def __hash__(self) -> int:
        return hash((self.fields, *sorted(self._structure())))

    def __repr__(self) -> str:
        return repr(tuple(self._structure().values()))

    def _structure(self):
        return {name: x for name, x in self.attributes if name in self.compared}


def _equal(x, y):
    if isinstance(x, np.ndarray) or isinstance(y, np.ndarray):
        return type(x) is type(y) and np.array_equal(x, y)
    return x is y or x == y


def register_container(cls: type[T], *fields: str) -> type[T]:
    """Make a class a container, whose gradients come back as objects of that class.  Dataclasses need no registration.

    Parameters
    ----------
    cls : type
    *fields : str
        The attributes that hold arrays, or containers of them: the container is these fields. All other attributes are
        taken over as they are, and have no derivative: a function that returns such an object computes fields alone.

    Returns
    -------
    type
        `cls` itself.

    Raises
    ------
    ArgumentError
        If no field is named, or the class is a container already.

    Examples
    --------
    >>> import numpy as np, qad
    >>> class Layer:
    ...     def __init__(self, weights, bias, name):
    ...         self.weights, self.bias, self.name = weights, bias, name
    >>> Layer = qad.register_container(Layer, "weights", "bias")
    >>> layer = Layer(np.ones((2, 2)), np.zeros(2), "first")
    >>> g = qad.grad(lambda l, x: np.sum(l.weights @ x + l.bias))(layer, np.array([1.0, 2.0]))
    >>> g.weights, g.bias, g.name
    (array([[1., 2.],
           [1., 2.]]), array([1., 1.]), 'first')
    """
    if not fields:
        raise ArgumentError('name the attributes that hold arrays: qad.register_container(Layer, "weights", "bias")')

    def children(obj):
        return tuple([getattr(obj, name) for name in fields]), Rest(obj, fields)

    try:
        register(cls, children, Rest.rebuilt)
    except ValueError as error:
        raise ArgumentError(f"{cls.__name__} is a container already: register it once, beside its class") from error
    return cls


def register_dataclass(cls: type) -> None:
    """Make a dataclass a pytree of its fields."""
    dynamic = tuple(f.name for f in fields(cls) if not f.metadata.get("static"))
    static = frozenset(f.name for f in fields(cls) if f.metadata.get("static"))

    def children(obj):
        there = tuple([name for name in dynamic if hasattr(obj, name)])  # ``__init__`` need not set all of them
        return tuple([getattr(obj, name) for name in there]), Rest(obj, there, static), there

    register(cls, children, Rest.rebuilt)


def check_leaf(leaf: Any, path: Callable[[], object]) -> None:
    """Raise unless `leaf` is an array or number that can have a gradient."""
    leaf = brought(leaf)
    check_arithmetic(leaf)
    dtype = getattr(leaf, "dtype", None)
    kind = dtype.kind if dtype is not None else {float: "f", complex: "c"}.get(type(leaf), "O")
    if kind not in "fc":
        what = f"dtype {dtype}" if dtype is not None else f"type {type(leaf).__name__}"
        instead = f"write {leaf}.0" if type(leaf) is int else "convert it with np.asarray(x, dtype=float)"
        raise GradientTypeError(
            f"argument {path()} has {what}, which has no gradient: {instead}, or leave it out with argnums"
        )


def leaf_path(tree: Tree, i: int) -> str:
    """Where in `tree` leaf number `i` stands, as Python would write it: ``['a'][0]``."""
    if flatten(tree)[1] is ONE_LEAF:
        return ""
    accessor = optree.tree_accessors(tree, namespace=NAMESPACE)[i]
    return accessor.codify("")


def nesting(spec: Spec) -> str:
    """A spec in Python's notation, with a star for each array: ``{'a': (*, *)}``."""
    return re.fullmatch(r"PyTreeSpec\((.*?)(, namespace='.*')?\)", str(spec)).group(1)


def strip(leaf: Any, level: Level) -> Any:
    """The value below `level` of a leaf that may be recorded on it."""
    if type(leaf) is not Tensor:
        return leaf
    leaf = settled(leaf)
    if leaf.level is level:
        return leaf.value
    return value_of(leaf) if leaf.level is CONSTANT else leaf
