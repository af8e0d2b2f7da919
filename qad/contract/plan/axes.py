"""The order of axes of every intermediate, chosen for the whole tree.

An intermediate is written by one product and read by another (three each, with the gradient's).  Copies are avoided
where the labels that one of them treats as a group lie side by side, so the candidates are the orders made of blocks:
free labels of either parent, split by what the reader sums.  They are compared by the cost model of
`qad.contract.plan.lower`.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from qad.contract.plan.lower import overhead

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["choose_layouts"]

SWEEPS = 2  # without, networks of large arrays take 0.70 to 1.6 times as long, 1.05 times in the mean


def choose_layouts(
    pairs: Sequence[tuple[int, int]],
    terms: Sequence[tuple[int, ...]],
    count: int,
    sizes: Sequence[int],
    depends: Sequence[bool],
) -> list[tuple[int, ...]]:
    """Choose label orders for the results of all pairs but the last.

    Parameters
    ----------
    pairs : sequence of pairs of int
        The tree; results are numbered on from the operands.
    terms : list
        The labels of all nodes; the order of those that are neither operands nor the last result is free.
    count : int
        The number of operands.
    sizes : sequence of int
    depends : sequence of bool
        Per node, whether it needs a cotangent.

    Returns
    -------
    list of tuples of int
        The labels of all nodes in order.
    """
    terms = list(terms)
    for node, (left, right) in enumerate(pairs[:-1], count):
        terms[node] = tuple(label for label in dict.fromkeys(terms[left] + terms[right]) if label in terms[node])
    readers = {child: number for number, pair in enumerate(pairs) for child in pair}

    def cost(number):
        left, right = pairs[number]
        out = count + number
        total = _overhead((terms[left], terms[right], terms[out]), sizes)
        if depends[left]:
            total += _overhead((terms[out], terms[right], terms[left]), sizes)
        if depends[right]:
            total += _overhead((terms[left], terms[out], terms[right]), sizes)
        return total

    for _ in range(SWEEPS if len(pairs) > 1 else 0):
        for number, pair in enumerate(pairs[:-1]):
            node, reader = count + number, readers[count + number]
            other = sum(pairs[reader]) - node
            best = None
            for term in _candidates(
                terms[node], *(terms[child] for child in pair), terms[other], terms[count + reader]
            ):
                terms[node] = term
                found = cost(number) + cost(reader)
                if best is None or found < best[0]:
                    best = found, term
            terms[node] = best[1]
    return terms


def _overhead(terms, sizes):
    terms = [[label for label in term if sizes[label] != 1] for term in terms]
    times, beside = Counter(chain(*terms)), Counter(chain(*map(pairwise, terms)))
    second = {two for (one, two), count in beside.items() if count == times[one] == times[two]}
    return overhead(*_fused(terms, sizes, second))


def _fused(terms, sizes, second):
    """Canonical terms and shapes in which labels that are always side by side are one; `second` follow another one.

    Arrays of thirty axes have a few such blocks, so that the cost of a layout is found in a third of the time.
    """
    numbers, found, shapes = {}, [], []
    for term in terms:
        blocks, shape = [], []
        for label in term:
            if label in second:
                shape[-1] *= sizes[label]
            else:
                blocks.append(numbers.setdefault(label, len(numbers)))
                shape.append(sizes[label])
        found.append(tuple(blocks))
        shapes.append(tuple(shape))
    return tuple(found), tuple(shapes)


def _candidates(term, left, right, other, out):
    """Block orders: which parent's free labels come first, and within them whether summed labels come first."""
    kept = set(term)
    both = [label for label in left if label in kept and label in right]
    blocks = [[label for label in parent if label in kept and label not in both] for parent in (left, right)]
    gone = kept.intersection(other).difference(out)
    aligned = [label for label in other if label in gone]
    found = {}
    for first, second in (blocks, blocks[::-1]):
        for head in (False, True):
            for tail in (False, True):
                found[(*both, *_split(first, gone, head), *_split(second, gone, tail))] = True
        rest = [label for label in (*both, *first, *second) if label not in gone]
        found[(*rest, *aligned)] = found[(*aligned, *rest)] = True
    return found


def _split(labels, gone, summed_first):
    return sorted(labels, key=lambda label: (label in gone) != summed_first)
