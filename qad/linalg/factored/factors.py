"""Factors of a decomposition two of whose values are close, and what programs make of them.

A product like ``(v * f(w)) @ v.conj().T`` is a smooth function of the matrix, however close its eigenvalues are, though
each of its factors turns with ``1 / gap``.  So where values are close, factors are not recorded at once.  What is made
of them is noted as a network: terms with labels, one for each axis, as in `qad.einsum`, and functions of the values.
Once a label of the spectrum is summed over, and the vectors meet in a pair there, the pair is recorded as the function
of the matrix that it is.  Everything else is recorded as the decomposition's own rules have it, and refused there where
they cannot be right.
"""

from __future__ import annotations

from copy import copy
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from qad.extend import Tensor, on_stack, unrecorded
from qad.extend.structure import Structured, form_of, held, is_differentiated, new_family, settled
from qad.linalg.factored.spectrum import Pointwise, Spectrum, is_close, is_near_null
from qad.linalg.support.derivative_order import orders

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeAlias

    from qad.typing import Array

    Places: TypeAlias = dict[int, tuple[Spectrum, tuple[int, ...]]]
    Functions: TypeAlias = dict[int, tuple[Pointwise, ...]]

new_label: Callable[[], int] = count().__next__


class Vectors(NamedTuple):
    """Eigenvectors or singular vectors in columns, as a term of a network; its labels are (row, index of the value)."""

    spectrum: Spectrum
    side: str  # "u" or "v"
    conjugated: bool


class Net(Structured):
    """A product of terms, summed over labels that the result does not have.

    What operations make of it, its method `understood`, stands in ``algebra.py``.

    Attributes
    ----------
    terms : list of (Vectors or operand, tuple of labels)
    out : tuple of labels
    sizes : dict
        Of labels.
    places : dict
        Label of a spectrum -> (Spectrum, the indices of the values in it).
    functions : dict
        Label of a spectrum -> tuple of Pointwise, to be multiplied.
    """

    __slots__ = ("terms", "out", "sizes", "places", "functions")

    terms: list[tuple[Any, tuple[int, ...]]]
    out: tuple[int, ...]
    sizes: dict[int, int]
    places: Places
    functions: Functions

    def __init__(
        self,
        terms: list[tuple[Any, tuple[int, ...]]],
        out: tuple[int, ...],
        sizes: dict[int, int],
        places: Places,
        functions: Functions,
    ):
        self.terms, self.out, self.sizes, self.places, self.functions = terms, out, sizes, places, functions

    @property
    def root(self) -> Array:
        """The matrix of whose factors this was made."""
        return next(iter(self.places.values()))[0].a

    # -- manipulation ----------------------------------------------------------------------------

    def renamed(self, names: dict[int, int]) -> Net:
        """The same network with labels renamed."""

        def of(labels):
            return tuple([names.get(label, label) for label in labels])

        return Net(
            [(x, of(labels)) for x, labels in self.terms],
            of(self.out),
            {names.get(label, label): n for label, n in self.sizes.items()},
            {names.get(label, label): x for label, x in self.places.items()},
            {names.get(label, label): x for label, x in self.functions.items()},
        )

    def fresh(self) -> Net:
        """The same network with labels of its own."""
        return self.renamed({label: new_label() for label in self.sizes})

    def is_free(self, label: int) -> bool:
        """Whether nothing depends on this label, of size 1."""
        return self.sizes[label] == 1 and label not in self.places and all(label not in t for _, t in self.terms)

    def beside(self, other: Net) -> Net:
        """Both networks as one, with the axes of this one."""
        return Net(
            self.terms + other.terms, self.out, self.sizes | other.sizes, self.places | other.places,
            self.functions | other.functions,
        )  # fmt: skip

    def tied(self, one: int, two: int) -> tuple[Net, int] | None:
        """The network with two labels identified, and the label that is left; None where they cannot be."""
        if one == two:
            return self, one
        if self.is_free(one):
            one, two = two, one
        if not self.is_free(two):
            if self.sizes[one] != self.sizes[two] or (one in self.places) != (two in self.places):
                return None
            if one in self.places and self.places[one] != self.places[two]:
                return None
        functions = self.functions.get(one, ()) + self.functions.get(two, ())
        sizes = dict(self.sizes)
        size = sizes.pop(two) if self.is_free(one) else sizes[one]
        net = Net(self.terms, self.out, sizes, self.places, self.functions).renamed({two: one})
        net.sizes[one] = size
        if functions:
            net.functions[one] = functions
        return net, one

    def with_out(self, out: Iterable[int]) -> Net:
        """The same network with these axes of the result."""
        return Net(self.terms, tuple(out), self.sizes, self.places, self.functions)

    # -- values ----------------------------------------------------------------------------------

    def finished(self) -> Net | Tensor | None:
        """The network itself while its result has an axis of a spectrum, else the recorded result; None if none."""
        net = self
        for label in [label for label in net.places if label not in net.out]:
            net = net._summed(label)
            if net is None:
                return None
        return net if net.places else net._evaluated()

    def _summed(self, label):
        """The network with the two vectors that share a label replaced by a function of the matrix; None if none do."""
        (spectrum, places), functions = self.places[label], self.functions.get(label, ())
        here = [(x, labels) for x, labels in self.terms if label in labels]
        rest = [(x, labels) for x, labels in self.terms if label not in labels]
        if len(here) not in (0, 2) or not all(type(x) is Vectors for x, _ in here):
            return None
        found = spectrum.function(places, functions, tuple((x.side, x.conjugated) for x, _ in here))
        if found is None:
            return None
        terms = [*rest, (found, tuple(labels[0] for _, labels in here))]
        tables = ({key: x for key, x in table.items() if key != label} for table in (self.places, self.functions))
        return Net(terms, self.out, dict(self.sizes), *tables)

    def _evaluated(self):
        """The network contracted; all its terms are operands."""
        names = {label: i for i, label in enumerate(self.sizes)}
        out = [label for label in self.out if not self.is_free(label)]
        operands = [part for x, labels in self.terms for part in (x, [names[label] for label in labels])]
        y = np.einsum(*operands, [names[label] for label in out])
        return y[tuple(None if self.is_free(label) else slice(None) for label in self.out)] if self.out else y


def net_of(x: Any) -> Net | None:
    """Operand `x` as a network, with labels of its own; None where it is none."""
    if type(form := form_of(x)) is Net:
        return form.fresh()
    if not (type(x) is Tensor or isinstance(x, (np.ndarray, np.generic, int, float, complex))):
        return None
    x = held(x) if hasattr(x, "shape") else np.asarray(x)
    sizes = {new_label(): n for n in x.shape}
    long = {label: n for label, n in sizes.items() if n != 1}  # along the other axes it is stretched
    x = x if len(long) == len(sizes) else x.reshape(tuple(long.values()))
    return Net([(x, tuple(long))], tuple(sizes), sizes, {}, {})


# -- where they come from ----------------------------------------------------------------------------------------------


def factors(
    a: Array, given: tuple[Array, ...], record: Callable[[], tuple[Array, ...]], owner: str
) -> tuple[Array, ...]:
    """The factors of a recorded matrix `a`, as Tensors that know it where two of its values are close.

    Small singular values of a rectangular matrix are close to the zeros of its null space; a zero is close to itself.
    Functions that end at zero, as entropies do, bend so much beside it that a small eigenvalue decides by its rounding.

    Parameters
    ----------
    given : tuple of bare arrays
        The factors of all examples: ``(w, v)`` of "eigh", ``(u, s, vh)`` of "svd".
    record : callable
        Gives the factors as they are recorded otherwise.
    owner : "eigh" or "svd"

    Returns
    -------
    tuple of Tensors
    """
    order, values = orders(a), given[owner == "svd"]
    close = is_close(values, order) or (owner == "eigh" and order > 1 and is_near_null(np.abs(values), order, False))
    if owner == "svd" and a.ndim == 2:
        close |= is_near_null(values, order, a.shape[0] == a.shape[1])
    if a.ndim != 2 or not close or not is_differentiated(a):
        return record()
    return _known(Spectrum(a, values, order, owner), on_stack(lambda bare: given, a), record)


def by_size(w: Array, v: Array) -> tuple[Array, Array]:
    """Eigenpairs in descending order of size."""
    order = np.argsort(-np.abs(unrecorded(w)), axis=-1, kind="stable")
    if type(order) is np.ndarray and order.ndim == 1:
        return w[order], v[:, order]
    return in_order(w, v, order)


def in_order(w: Array, v: Array, order: np.ndarray) -> tuple[Array, Array]:
    """Eigenpairs in the `order` (..., n), which may differ from example to example."""

    def taken(w, v):
        return np.take_along_axis(w, order, axis=-1), np.take_along_axis(v, order[..., None, :], axis=-1)

    form = form_of(w)
    if type(form) is not Net or form_of(v) is None:
        return taken(w, v)
    spectrum = copy(form.places[form.out[0]][0])
    spectrum.is_sorted = False
    return _known(spectrum, taken(unrecorded(w), unrecorded(v)), lambda: taken(settled(w), settled(v)))


def _known(spectrum, plain, record):
    """The factors, `plain` ones, as Tensors that know their `spectrum`; `record` gives them as they are recorded."""
    recorded, number = _Once(record), new_family()
    row, column, place = new_label(), new_label(), new_label()
    (m, n), k = spectrum.a.shape, spectrum.values.shape[-1]
    sizes, where = {row: m, column: n, place: k}, {place: (spectrum, tuple(range(k)))}
    values = {place: (Pointwise(lambda x, at: x),)}
    u, v = Vectors(spectrum, "u", False), Vectors(spectrum, "v", not spectrum.real)

    def net(i, terms, out, functions):
        form = Net(terms, out, {label: sizes[label] for label in (*out, place)}, where, functions)
        return form.tensor(plain[i], lambda: recorded()[i], number)

    columns = [(u, (row, place))], (row, place), {}
    if spectrum.owner == "eigh":
        return net(0, [], (place,), values), net(1, *columns)
    return net(0, *columns), net(1, [], (place,), values), net(2, [(v, (column, place))], (place, column), {})


class _Once:
    """A function of nothing, called at most once."""

    def __init__(self, fn):
        self.fn, self.found = fn, None

    def __call__(self):
        if self.found is None:
            self.found = self.fn()
        return self.found
