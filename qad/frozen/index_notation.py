"""Each product of arrays in index notation: the labels of its operands, then those of the result."""

import string

import numpy as np

__all__ = ["notation", "sizes_of"]


def notation(step):
    """Labels of every array that a step reads, and of the result; each stands in two places at least.

    None for what is no product of two arrays or more with axes, or has no such notation.
    """
    write = NOTATIONS.get(step.fn)
    if write is None or step.out.kind not in ("array", "scalar") or step.out.dtype.kind not in "fc":
        return None
    fine = [x.kind == "array" and x.shape and 0 not in x.shape for x in step.reads()]
    return write(step) if len(fine) > 1 and all(fine) else None


def sizes_of(step, terms):
    """Dict of label -> size, of a step with this notation."""
    pairs = zip(step.reads(), terms[:-1], strict=True)
    return {label: size for x, term in pairs for label, size in zip(term, x.shape, strict=True)}


def _matrix_product(step):
    if step.kwargs:
        return None
    one, two = (len(x.shape) for x in step.args)
    if one == two == 2:
        return "ik", "kj", "ij"
    if step.fn is np.dot and max(one, two) > 2:
        return None
    left, right = "k" if one == 1 else "ik", "k" if two == 1 else "kj"
    out = "i" * (one > 1) + "j" * (two > 1)
    loops = [_loops(x.shape[:-2], step.out.shape[: len(step.out.shape) - len(out)]) for x in step.args]
    return (*loops[0], *left), (*loops[1], *right), (*range(len(step.out.shape) - len(out)), *out)


def _loops(shape, out):
    """Labels for axes that are spread against those of the result."""
    first = len(out) - len(shape)
    return [axis if shape[axis - first] == out[axis] else ("one", axis) for axis in range(first, len(out))]


def _spread_product(step):
    """An elementwise product that is larger than both factors, spread against each other."""
    if step.kwargs or step.out.size <= max(x.size for x in step.args):
        return None
    return *(tuple(_loops(x.shape, step.out.shape)) for x in step.args), tuple(range(len(step.out.shape)))


def _outer(step):
    """``np.outer``, which flattens all else than vectors."""
    return ("i", "j", "ij") if not step.kwargs and all(len(x.shape) == 1 for x in step.args) else None


def _inner(step):
    one, two = (tuple([(side, axis) for axis in range(len(x.shape) - 1)]) for side, x in enumerate(step.args))
    return (*one, "k"), (*two, "k"), one + two


def _tensordot(step):
    """``np.tensordot`` with a number of axes, or with lists of them."""
    given = dict(zip(("a", "b", "axes"), step.args, strict=False)) | step.kwargs
    a, b, axes = given["a"], given["b"], given.get("axes", 2)
    if set(given) - {"a", "b", "axes"}:
        return None
    n, m = len(a.shape), len(b.shape)
    pairs = (range(n - axes, n), range(axes)) if type(axes) is int else [np.atleast_1d(each).tolist() for each in axes]
    left, right = [("a", i) for i in range(n)], [("b", i) for i in range(m)]
    for i, j in zip(*pairs, strict=True):
        right[j] = left[i]
    both = set(left).intersection(right)
    return tuple(left), tuple(right), tuple([x for x in (*left, *right) if x not in both])


def _einsum(step):
    """``np.einsum`` of a text in letters, in which each stands in two places at least and in no operand twice."""
    text, *arrays = step.args
    if type(text) is not str or set(step.kwargs) - {"optimize"} or len(arrays) != len(step.reads()):
        return None
    inputs, arrow, out = text.replace(" ", "").partition("->")
    letters = [x for x in sorted(set(inputs)) if x in string.ascii_letters]
    out = out if arrow else "".join(x for x in letters if inputs.count(x) == 1)
    terms = (*inputs.split(","), out)
    fine = set(inputs + out) <= {",", *letters} and all(len(set(term)) == len(term) for term in terms)
    return terms if fine and all(sum(x in term for term in terms) > 1 for x in letters) else None


NOTATIONS = {
    np.dot: _matrix_product,
    np.matmul: _matrix_product,
    np.multiply: _spread_product,
    np.outer: _outer,
    np.inner: _inner,
    np.tensordot: _tensordot,
    np.einsum: _einsum,
}
