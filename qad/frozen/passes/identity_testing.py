"""Products that are equal for all inputs, though they are computed in different ways, are computed once.

So are those of which one is the conjugate or the transpose of the other: of the gradient of ``<psi|H|psi>`` the halves
that belong to kets and to bras.  Equality is decided in a finite field, at two points; see `qad.frozen.modular`.
"""

from math import prod

import numpy as np

from qad.frozen.functions import RESHAPE, TRANSPOSE
from qad.frozen.index_notation import notation, sizes_of
from qad.frozen.modular import LONGEST, P, reduced, residues
from qad.frozen.passes.rewriting import add_view, rewrite
from qad.frozen.program import Step

__all__ = ["equals"]

FEWEST = 2  # products of a program, for these to be compared
DEAREST = 4  # multiply-adds an entry above which a conjugate is cheaper
WIDTH = 512  # entries of a row


def equals(program):
    """Merge equal products; the number of those that went."""
    products = {step.out for step in program.steps if _is_dear(step)}
    if len(products) < FEWEST or not _is_of_one_precision(program):
        return 0
    same = _matches(_prints(program, products, 0))
    if same:
        again = {root for root, (first, *_) in same.items()}.union(first for first, *_ in same.values())
        confirmed = _matches(_prints(program, again, 1))
        same = {root: match for root, match in same.items() if confirmed.get(root) == match}
    return rewrite(program, lambda step, definitions: _made(step.out, *same[step.out]) if step.out in same else None)


def _is_of_one_precision(program):
    """Whether all arithmetic is, so that equal results are equally good."""
    every = [*program.inputs, *program.constants, *(step.out for step in program.steps)]
    dtypes = {x.dtype for x in every if x.dtype is not None and x.dtype.kind in "fc"}
    return len({np.finfo(dtype).eps for dtype in dtypes}) == 1


def _is_dear(step):
    terms = notation(step)
    return (
        terms is not None
        and step.out.kind == "array"
        and step.out.size <= WIDTH * LONGEST
        and prod(sizes_of(step, terms).values()) >= DEAREST * step.out.size
    )


def _prints(program, roots, seed):
    """Dict of Var -> fingerprints of its residues, and of those of its transpose."""
    rng = np.random.default_rng(seed + 100)
    weights = [rng.integers(-(P // 2), P // 2, (n, 2)).astype(float) for n in (WIDTH, LONGEST)]
    return {
        step.out: [_print(x, step.out.dtype, *weights) for x in (value, value.T)]
        for step, value in residues(program, seed)
        if step.out in roots and value.any()  # what is 0 as a polynomial may be rounding
    }


def _print(value, dtype, columns, rows):
    """Two random combinations of all entries in C order, with their number and dtype."""
    flat = value.ravel()
    whole = flat.size // WIDTH
    found = reduced(flat[whole * WIDTH :] @ columns[: flat.size % WIDTH])
    if whole:
        found = found + reduced(reduced(flat[: whole * WIDTH].reshape(whole, WIDTH) @ columns) * rows[:whole]).sum(0)
    return flat.size, dtype, tuple(reduced(reduced(found)).tolist())


def _matches(prints):
    """Dict of Var -> (an earlier one, whether to transpose that, the result, and whether to conjugate)."""
    first, same = {}, {}
    for root, (straight, turned) in prints.items():
        keys = [(key, is_turned, False) for key, is_turned in ((straight, False), (turned, True))]
        keys += [(_mirrored(key), is_turned, True) for key, is_turned, _ in keys]
        found = next((entry for entry in keys if entry[0] in first), None)
        if found is not None:
            same[root] = (*first[found[0]], *found[1:])
            continue
        first[straight] = root, False
        first.setdefault(turned, (root, True))
    return same


def _mirrored(key):
    """The fingerprint of the conjugate."""
    size, dtype, found = key
    return size, dtype, tuple([x.conjugate() for x in found])


def _made(out, x, x_turned, turned, conjugated):
    """What makes `out` of another array, where they or their transposes have the same or conjugate entries."""
    steps, shape = [], out.shape[::-1] if turned else out.shape
    if x_turned:
        x = _transposed(steps, x)
    if x.shape != shape:
        x = add_view(steps, RESHAPE, x, shape)
    if turned:
        x = _transposed(steps, x)
    return [*steps, Step(np.conjugate, (x,), {}, out)] if conjugated else steps or x


def _transposed(steps, x):
    return add_view(steps, TRANSPOSE, x, tuple(range(len(x.shape)))[::-1])
