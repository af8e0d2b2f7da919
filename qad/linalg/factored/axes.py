"""Operations on the axes of factors that stay networks: transposes, sums, diagonals, slices; see ``algebra.py``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import any_traced
from qad.extend.structure import form_of
from qad.linalg.factored.factors import Net, SpectrumValues, new_label
from qad.linalg.factored.spectrum import Pointwise
from qad.rules.reductions.axes import axes_of

if TYPE_CHECKING:
    from typing import Any


def permuted(p: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Net:
    net = form_of(args[0]).fresh()
    dummy = np.broadcast_to(np.zeros(()), tuple(range(2, 2 + len(net.out))))
    return net.with_out(net.out[n - 2] for n in p.fn(dummy, *args[1:], **kwargs).shape)


def reshaped(p: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Net | None:
    """A reshape that only adds or drops axes of size 1; None for any other."""
    net = form_of(args[0]).fresh()
    shape = np.empty(args[0].shape, bool).reshape(args[1]).shape
    kept = [label for label in net.out if not net.is_free(label)]
    if [n for n in shape if n != 1] != [net.sizes[label] for label in kept]:
        return None
    kept, out = iter(kept), []
    for n in shape:
        out.append(new_label() if n == 1 else next(kept))
        net.sizes.setdefault(out[-1], 1)
    return net.with_out(out)


def summed(p: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Net | None:
    def over(x, axis=None, keepdims=False):
        net = form_of(x).fresh()
        axes, out = axes_of(axis, len(net.out)), list(net.out)
        for a in axes:
            if net.is_free(out[a]) or out.count(out[a]) > 1:
                return None
            out[a] = new_label() if keepdims else None
            net.sizes[out[a]] = 1
        net.sizes.pop(None, None)
        return net.with_out(label for label in out if label is not None)

    return over(*args, **kwargs)


def on_diagonal(p: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Net | None:
    net = form_of(args[0]).fresh()
    if len(net.out) != 1 or kwargs["offset"] or kwargs["shape"] != 2 * (net.sizes[net.out[0]],):
        return None
    return net.with_out(2 * net.out)


def item(p: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Net | None:
    net, index = form_of(args[0]).fresh(), args[1]
    index = index if type(index) is tuple else (index,)
    if not all(i is None or i is Ellipsis or isinstance(i, (slice, list, np.ndarray)) for i in index):
        return None
    if sum(isinstance(i, (list, np.ndarray)) for i in index) > 1 or any(map(any_traced, index)):
        return None
    missing = len(net.out) - sum(i is not None and i is not Ellipsis for i in index)
    at = next((n for n, i in enumerate(index) if i is Ellipsis), len(index))
    index = (*index[:at], *missing * (slice(None),), *index[at + 1 :])
    labels, out = iter(net.out), []
    for i in index:
        if i is None:
            out.append(new_label())
            net.sizes[out[-1]] = 1
            continue
        label = next(labels)
        net, label = (net, label) if type(i) is slice and i == slice(None) else _selected(net, label, i)
        if net is None:
            return None
        out.append(label)
    return net.with_out(out)


def _selected(net, label, index):
    """With only some values of a spectrum along an axis."""
    if label not in net.values or net.out.count(label) > 1 or (type(index) is not slice and np.ndim(index) != 1):
        return None, None
    chosen = np.arange(net.sizes[label])[index]
    if len(set(chosen.tolist())) < len(chosen) or not len(chosen):
        return None, None
    spectrum, places, functions = net.values[label]
    some = SpectrumValues(spectrum, tuple(places[i] for i in chosen), tuple(_taken(f, chosen) for f in functions))
    return Net(net.terms, net.out, net.sizes | {label: len(chosen)}, net.values | {label: some}), label


def _taken(f, chosen):
    return Pointwise(lambda x, at: f.fn(x, chosen[at]), tuple(t[chosen] for t in f.tables))
