"""Containers of one's own, and steps of parameters that stand in containers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.attributes import Rest
from qad.core.errors import ArgumentError, GradientTypeError
from qad.core.tape.tensor import value_of
from qad.core.trees import register, tree_map

if TYPE_CHECKING:
    from qad.core.words import Value
    from qad.typing import T, Tree


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
