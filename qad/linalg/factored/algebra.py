"""Operations on factors that stay networks: products, sums, elementwise functions of values, axes, slices.

See ``factors.py``.  Each rule takes the primitive, its operands and keywords, and gives a network, or None.
"""

from __future__ import annotations

from operator import getitem
from typing import TYPE_CHECKING

import numpy as np

from qad.extend import Tensor, any_traced
from qad.extend.structure import CONTRACTIONS, form_of
from qad.linalg.factored import axes
from qad.linalg.factored.factors import UNDERSTOOD, Net, SpectrumValues, Vectors, net_of, new_label
from qad.linalg.factored.spectrum import Pointwise, product
from qad.rules.elementwise.complex import square_of_size
from qad.rules.making.casts import cast
from qad.rules.products.products import matrix_product, stack_product
from qad.rules.reductions.reduce import sum_over
from qad.rules.shapes.diagonal import on_diagonal
from qad.rules.shapes.index import chosen
from qad.rules.shapes.shape import T, mT, reshape, transpose

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from qad.linalg.factored.factors import Rule

ELEMENTWISE: frozenset[Callable[..., Any]] = frozenset((chosen, cast))  # besides ufuncs and what is flagged


# -- elementwise functions of values -----------------------------------------------------------------------------------


def elementwise(p: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Net | None:
    """An elementwise function of the values of one spectrum, and of constants."""
    if not (p.elementwise or p.fn in ELEMENTWISE or (isinstance(p.fn, np.ufunc) and p.fn.signature is None)):
        return None
    forms = [form_of(a) for a in args]
    known = [form for form in forms if form is not None]
    if kwargs or not all(type(form) is Net and _is_values(form) for form in known):
        return None
    where = {(-len(f.out) + f.out.index(label), *x[:2]) for f in known for label, x in f.values.items()}
    if len(where) != 1:
        return None
    ((axis, spectrum, places),) = where
    parts = [_part(a, form, axis, len(places)) for a, form in zip(args, forms, strict=True)]
    if None in parts:
        return None
    ndim = max(np.ndim(a) for a in args if isinstance(a, (np.ndarray, Tensor)))
    label, out = new_label(), [new_label() for _ in range(ndim)]
    out[axis] = label
    sizes = dict.fromkeys(out, 1) | {label: len(places)}

    def fn(x, at):
        return p.fn(*[part.fn(x, at) for part in parts])

    made = Pointwise(fn, tuple(t for part in parts for t in part.tables))
    return Net([], tuple(out), sizes, {label: SpectrumValues(spectrum, places, (made,))})


def _is_values(net):
    """Whether it is a function of the values of one spectrum and of nothing else."""
    return not net.terms and len(net.values) == 1 and net.out.count(next(iter(net.values))) == 1


def _part(a, form, axis, size):
    """An operand as a function of the values; None where it is none."""
    if form is not None:
        functions = next(iter(form.values.values())).functions
        return Pointwise(lambda x, at: product(functions, x, at), tuple(t for f in functions for t in f.tables))
    if type(a) is Tensor or any_traced(a):
        return None
    if not np.ndim(a):
        return Pointwise(lambda x, at: a)
    if np.shape(a) != tuple(size if i == axis else 1 for i in range(-np.ndim(a), 0)):
        return None
    return table(a)


def table(a: Any) -> Pointwise:
    """Constants that differ from value to value."""
    a = np.array(a).reshape(-1)
    return Pointwise(lambda x, at: a[at], (a,))


# -- products ----------------------------------------------------------------------------------------------------------


def contraction(p: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Net | None:
    """What a function makes that says its labels."""
    return contracted(args, CONTRACTIONS[p.fn](*args, **kwargs)) if p.fn in CONTRACTIONS else None


def contracted(args: tuple[Any, ...], labels: Sequence[Sequence[int]] | None) -> Net | None:
    """The sum of products that labels of the axes say, those of each operand and, last, of the result."""
    nets = [net_of(a) for a in args]
    if labels is None or None in nets:
        return None
    *terms, out = labels
    total, pairs = nets[0], []
    for net, term in zip(nets, terms, strict=True):
        total = total if net is nets[0] else total.beside(net)
        pairs += [list(pair) for pair in zip(term, net.out, strict=True)]
    names = {}
    for i in range(len(pairs)):
        asked, label = pairs[i]
        if asked not in names:
            names[asked] = label
            continue
        found = _tied(total, names[asked], label)
        if found is None:
            return None
        before, (total, kept) = {names[asked], label}, found
        for pair in pairs:
            pair[1] = kept if pair[1] in before else pair[1]
        names = {key: kept if value in before else value for key, value in names.items()}
    return total.with_out(names[asked] for asked in out)


def _tied(net, one, two):
    """`Net.tied`, where a vector of constants may run along a spectrum."""
    if (one in net.values) != (two in net.values):
        one, two = (one, two) if one in net.values else (two, one)
        here = [(x, t) for x, t in net.terms if two in t]
        if len(here) == 1 and here[0][1] == (two,) and type(here[0][0]) is np.ndarray:  # and not traced
            rest = [(x, t) for x, t in net.terms if two not in t]
            values = net.values[one]._replace(functions=(table(here[0][0]),))
            net = Net(rest, net.out, net.sizes, net.values | {two: values})
    return net.tied(one, two)


def _broadcast(*args):
    """Labels of operands that are multiplied elementwise."""
    terms = [tuple(range(-np.ndim(a), 0)) for a in args]
    return *terms, max(terms, key=len)


def _matmul(a, b):
    """Labels of a matrix product."""
    m, n = np.ndim(a), np.ndim(b)
    if not (1 <= m <= 2 and 1 <= n <= 2):
        return None
    left, right = (("i", "k") if m == 2 else ("k",)), (("k", "j") if n == 2 else ("k",))
    return left, right, (*left[:-1], *right[1:])


CONTRACTIONS.update({np.multiply: _broadcast, matrix_product: _matmul, stack_product: _matmul})


def _divide(p, args, kwargs):
    """``x / y`` as ``x * (1 / y)``, for functions y of the values and for what is no factor."""
    x, y = args
    form = form_of(y)
    if form is not None and not (type(form) is Net and _is_values(form)):
        return None
    return contracted((x, 1 / y), _broadcast(x, y))


def _negative(p, args, kwargs):
    return contracted((args[0], -1.0), _broadcast(args[0], -1.0))


def _absolute_square(p, args, kwargs):
    return contracted((args[0], args[0].conj()), _broadcast(*args, *args))


def _conjugate(p, args, kwargs):
    def term(x):
        if type(x) is Vectors:
            return x if x.spectrum.real else x._replace(conjugated=not x.conjugated)
        return np.conj(x)

    net = form_of(args[0])
    values = {label: x._replace(functions=tuple(map(_conjugated, x.functions))) for label, x in net.values.items()}
    return Net([(term(x), t) for x, t in net.terms], net.out, net.sizes, values).fresh()


def _conjugated(f):
    return Pointwise(lambda x, at: np.conj(f.fn(x, at)), f.tables)


RULES: dict[Callable[..., Any], Rule] = {
    np.true_divide: _divide,
    np.negative: _negative,
    np.conjugate: _conjugate,
    square_of_size: _absolute_square,
    T: axes.permuted,
    mT: axes.permuted,
    transpose: axes.permuted,
    reshape: axes.reshaped,
    sum_over: axes.summed,
    on_diagonal: axes.on_diagonal,
    getitem: axes.item,
}


def by_rule(p: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Net | None:
    """What a function makes that has a rule here."""
    return RULES[p.fn](p, args, kwargs) if p.fn in RULES else None


UNDERSTOOD += [elementwise, contraction, by_rule]
