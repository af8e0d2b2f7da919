"""Factors of a decomposition two of whose values are close, and what programs make of them.

A product like ``(v * f(w)) @ v.conj().T`` is a smooth function of the matrix, however close its eigenvalues are, though
each of its factors turns with ``1 / gap``.  So where values are close, factors are not recorded at once.  What a
program makes of the factors is noted as a network: terms with labels, one for each axis, as in `qad.einsum`, and
functions of the values.  Once a label of the spectrum is summed over, and the vectors meet in a pair there, the pair is
recorded as the function of the matrix that it is.  Every other use of the factors is recorded by the rules of the
decomposition, which refuse where a gap is too small for them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
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

    Rule: TypeAlias = Callable[[Any, tuple[Any, ...], dict[str, Any]], "Net | None"]

new_label: Callable[[], int] = count().__next__
UNDERSTOOD: list[Rule] = []  # what give the network that a primitive makes of operands and keywords: see ``algebra.py``


class Vectors(NamedTuple):
    """Eigenvectors or singular vectors in columns, as a term of a network; its labels are (row, index of the value)."""

    spectrum: Spectrum
    side: str  # "u" or "v"
    conjugated: bool


class SpectrumValues(NamedTuple):
    """Values of a spectrum along an axis, at these places in it, and functions of them that are multiplied."""

    spectrum: Spectrum
    places: tuple[int, ...]
    functions: tuple[Pointwise, ...] = ()


@dataclass(slots=True, eq=False)
class Net(Structured):
    """A product of terms, summed over labels that the result does not have.

    Attributes
    ----------
    terms : list of (Vectors or operand, tuple of labels)
    out : tuple of labels
    sizes : dict
        Of labels.
    values : dict
        Label of a spectrum -> Values.
    """

    terms: list[tuple[Any, tuple[int, ...]]]
    out: tuple[int, ...]
    sizes: dict[int, int]
    values: dict[int, SpectrumValues]

    def understood(self, p: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Net | Tensor | None:
        """The result of the primitive `p` with this network among its operands, or None."""
        found = next((net for rule in UNDERSTOOD if (net := rule(p, args, kwargs)) is not None), None)
        return None if found is None else found.finished()

    @property
    def root(self) -> Array:
        """The matrix of whose factors this was made."""
        return next(iter(self.values.values())).spectrum.a

    # -- manipulation ----------------------------------------------------------------------------

    def renamed(self, names: dict[int, int]) -> Net:
        """The same network with labels renamed."""

        def of(labels):
            return tuple([names.get(label, label) for label in labels])

        sizes, values = ({names.get(key, key): x for key, x in table.items()} for table in (self.sizes, self.values))
        return Net([(x, of(labels)) for x, labels in self.terms], of(self.out), sizes, values)

    def fresh(self) -> Net:
        """The same network with labels of its own."""
        return self.renamed({label: new_label() for label in self.sizes})

    def is_free(self, label: int) -> bool:
        """Whether nothing depends on this label, of size 1."""
        return self.sizes[label] == 1 and label not in self.values and all(label not in t for _, t in self.terms)

    def beside(self, other: Net) -> Net:
        """Both networks as one, with the axes of this one."""
        return Net(self.terms + other.terms, self.out, self.sizes | other.sizes, self.values | other.values)

    def tied(self, one: int, two: int) -> tuple[Net, int] | None:
        """The network with two labels identified, and the label that is left; None where they cannot be."""
        if one == two:
            return self, one
        if self.is_free(one):
            one, two = two, one
        known, other = self.values.get(one), self.values.get(two)
        if not self.is_free(two) and (
            self.sizes[one] != self.sizes[two] or (known and known[:2]) != (other and other[:2])
        ):
            return None
        sizes = dict(self.sizes)
        size = sizes.pop(two) if self.is_free(one) else sizes[one]
        net = Net(self.terms, self.out, sizes, self.values).renamed({two: one})
        net.sizes[one] = size
        if known and other:
            net.values[one] = known._replace(functions=known.functions + other.functions)
        return net, one

    def with_out(self, out: Iterable[int]) -> Net:
        """The same network with these axes of the result."""
        return Net(self.terms, tuple(out), self.sizes, self.values)

    # -- values ----------------------------------------------------------------------------------

    def finished(self) -> Net | Tensor | None:
        """The network itself while its result has an axis of a spectrum, else the recorded result; None if none."""
        net = self
        for label in [label for label in net.values if label not in net.out]:
            net = net._summed(label)
            if net is None:
                return None
        return net if net.values else net._evaluated()

    def _summed(self, label):
        """The network with the two vectors that share a label replaced by a function of the matrix; None if none do."""
        spectrum, places, functions = self.values[label]
        here = [(x, labels) for x, labels in self.terms if label in labels]
        rest = [(x, labels) for x, labels in self.terms if label not in labels]
        if len(here) not in (0, 2) or not all(type(x) is Vectors for x, _ in here):
            return None
        found = spectrum.function(places, functions, tuple((x.side, x.conjugated) for x, _ in here))
        if found is None:
            return None
        terms = [*rest, (found, tuple(labels[0] for _, labels in here))]
        return Net(terms, self.out, dict(self.sizes), {key: x for key, x in self.values.items() if key != label})

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
    return Net([(x, tuple(long))], tuple(sizes), sizes, {})


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
    return _known(Spectrum(held(a), values, order, owner), on_stack(lambda bare: given, a), record)


def by_size(w: Array, v: Array) -> tuple[Array, Array]:
    """Eigenpairs in descending order of size."""
    order = np.argsort(-np.abs(unrecorded(w)), axis=-1, kind="stable")
    if type(order) is np.ndarray and order.ndim == 1:
        return w[order], v[:, order]

    def taken(w, v):
        return np.take_along_axis(w, order, axis=-1), np.take_along_axis(v, order[..., None, :], axis=-1)

    form = form_of(w)
    if type(form) is not Net or form_of(v) is None:
        return taken(w, v)
    spectrum = replace(form.values[form.out[0]].spectrum, is_sorted=False)
    return _known(spectrum, taken(unrecorded(w), unrecorded(v)), lambda: taken(settled(w), settled(v)))


def _known(spectrum, plain, record):
    """The factors, `plain` ones, as Tensors that know their `spectrum`; `record` gives them as they are recorded."""
    recorded, number = cache(record), new_family()
    row, column, place = new_label(), new_label(), new_label()
    (m, n), k = spectrum.a.shape, spectrum.values.shape[-1]
    sizes, bare = {row: m, column: n, place: k}, SpectrumValues(spectrum, tuple(range(k)))
    u, v = Vectors(spectrum, "u", False), Vectors(spectrum, "v", not spectrum.real)

    def net(i, terms, out, values):
        form = Net(terms, out, {label: sizes[label] for label in (*out, place)}, {place: values})
        return form.tensor(plain[i], lambda: recorded()[i], number)

    columns = [(u, (row, place))], (row, place), bare
    w = [], (place,), bare._replace(functions=(Pointwise(lambda x, at: x),))
    if spectrum.owner == "eigh":
        return net(0, *w), net(1, *columns)
    return net(0, *columns), net(1, *w), net(2, [(v, (column, place))], (place, column), bare)
