"""Quick recorders of the hot operations.

They test for the common case (open reverse level, plain or equal-level operands) and fall back to `record`.  What NumPy
refuses goes that way too, to be refused with the operation's name; a ``try`` that does not fail costs nothing.
"""

from types import FunctionType

from numpy import complex128, float64, matmul, ndarray, ufunc

from qad.core.batch import Batched
from qad.core.batching import batch_one, batch_product, batch_two
from qad.core.forward import push_one, push_product, push_two
from qad.core.glances import look_quickly
from qad.core.levels import BATCH, FORWARD, REVERSE, blocked
from qad.core.node import PRIMITIVE, SCALARS, next_id
from qad.core.operands import NUMBERS, PLAIN, operand, remembered
from qad.core.record import record
from qad.core.tensor import UFUNCS, Tensor
from qad.core.watch import watch

ARRAYS = frozenset((ndarray, Tensor))
BATCHES = frozenset((ndarray, Batched))


def unary(p, operator=None):
    """A quick recorder for a primitive of one operand; `operator` is a quicker one for NumPy's scalars."""
    fn, raw = p.fn, p.raw
    scalar, shows = operator or fn, not p.elementwise

    def recorder(x):
        level = x.level if type(x) is Tensor else PLAIN
        if level in REVERSE and level > blocked():
            v = x.value
            try:
                ans = raw(v) if type(v) is ndarray else scalar(v) if type(v) in SCALARS else deeper(v)
            except ValueError:
                return record(p, (x,))
            out = Tensor(ans, [next_id(), p, (v,), None, ans, (x.node,)], level)
            if shows and (
                ans.base is not None if type(ans) is ndarray else type(v) is not ndarray and type(ans) not in SCALARS
            ):
                look_quickly(out, x, fn, ())
            return out
        try:
            return one_more(p, x, (), level)
        except ValueError:
            return record(p, (x,))

    deeper = past_dispatch(fn, recorder)
    return recorder


def unary_with_metadata(p, once=False):
    """A quick recorder for a primitive of one operand and positional metadata."""
    fn = p.fn

    def recorder(x, *metadata):
        level = x.level if type(x) is Tensor else PLAIN
        if level in REVERSE and level > blocked():
            v = x.value
            try:
                ans = fn(v, *metadata) if type(v) is ndarray else deeper(v, *metadata)
            except ValueError:
                return record(p, (x, *metadata))
            out = Tensor(ans, [next_id(), p, (v, *metadata), None, ans, (x.node,)], level)
            if ans.base is not None if type(ans) is ndarray else type(v) is not ndarray and type(ans) not in SCALARS:
                look_quickly(out, x, fn, metadata)
            return out
        try:
            return one_more(p, x, metadata, level)
        except ValueError:
            return record(p, (x, *metadata))

    deeper = p.deeper = fn if once else past_dispatch(fn, recorder)
    return recorder


def unary_with_one(p):
    """`unary_with_metadata` for one piece of metadata, such as an index; quicker."""
    fn, otherwise = p.fn, unary_with_metadata(p)

    def recorder(x, given):
        if type(x) is Tensor and (level := x.level) in REVERSE and level > blocked() and type(v := x.value) is ndarray:
            try:
                ans = fn(v, given)
            except ValueError:
                return record(p, (x, given))
            out = Tensor(ans, [next_id(), p, (v, given), None, ans, (x.node,)], level)
            if type(ans) is ndarray and ans.base is not None:
                look_quickly(out, x, fn, (given,))
            return out
        return otherwise(x, given)

    return recorder


def past_dispatch(fn, recorder):
    """`fn` for an operand that is most often a Tensor of a lower level, on which it need not go through NumPy."""
    if type(fn) is FunctionType:
        return lambda v, *metadata: (recorder if type(v) is Tensor else fn)(v, *metadata)
    if isinstance(fn, ufunc):
        return lambda v: (UFUNCS.get(fn, fn) if type(v) is Tensor else fn)(v)
    return fn


def one_more(p, x, metadata, level):
    """What the quick recorders of one operand do where they do not record."""
    if level in FORWARD and level > blocked():
        out = push_one(p, x, metadata, level)
    elif level in BATCH and type(blocked()) is int:
        out = batch_one(p, x, metadata, level)
    else:
        return record(p, (x, *metadata))
    if p.root is not None or x.source is not None:
        remembered(p, out, (x, *metadata))
    if not p.elementwise and type(out) is Tensor and type(out.value) not in SCALARS:
        look_quickly(out, x, p.fn, metadata)
    return out


def two_more(p, x, y):
    """What the quick recorders of two operands do where they do not record, or None."""
    level = x.level if type(x) is Tensor else y.level if type(y) is Tensor else PLAIN
    if p.root is not None:
        return None  # its answer will be remembered
    same = p.canonical is not None and (x is y or (type(x) is Tensor and x.source is not None))
    if same and (ans := p.canonical(x, y)) is not None:
        return ans
    if level in FORWARD and level > blocked():
        return push_two(p, x, y, level)
    return batch_two(p, x, y, level) if level in BATCH and type(blocked()) is int else None


def binary(p, operator=None):
    """A quick recorder for an elementwise primitive of two operands, and its reflection.

    The broadcasting variant of `p` is chosen here, while shapes are at hand, and only where it is needed.  Numbers go
    to Python's `operator`, if there is one, which is ten times quicker on them than a ufunc.
    """
    fn, broadcasting = p.fn, p.broadcasting or p
    scalar = operator or fn

    def recorder(x, y):
        try:
            if type(x) is Tensor and (level := x.level) in REVERSE and level > blocked():
                kind = type(y)
                if kind is Tensor and y.level == level:
                    special = (y is x or x.node[PRIMITIVE].root is not None) and p.canonical is not None
                    if special and (ans := p.canonical(x, y)) is not None:
                        return ans
                    v, w = x.value, y.value
                    if type(v) in SCALARS and type(w) is type(v):
                        ans, chosen = scalar(v, w), p
                    else:
                        ans = fn(v, w) if type(v) is ndarray else scalar(v, w)
                        chosen = p if v.shape == w.shape else broadcasting
                    return Tensor(ans, [next_id(), chosen, (v, w), None, ans, (x.node, y.node)], level)
                if kind is ndarray:
                    v = x.value
                    ans, seen = fn(v, y), REVERSE[level]
                    y = watch(level, y) if seen is None or y is not seen.last or seen.held != y else seen.copy
                    chosen = p if v.shape == y.shape else broadcasting
                    return Tensor(ans, [next_id(), chosen, (v, y), None, ans, (x.node, None)], level)
                if kind in NUMBERS:
                    v = x.value
                    ans = fn(v, y) if type(v) is ndarray else scalar(v, y)
                    return Tensor(ans, [next_id(), p, (v, y), None, ans, (x.node, None)], level)
            elif type(y) is Tensor and (level := y.level) in REVERSE and level > blocked():
                kind = type(x)
                if kind is ndarray:
                    w = y.value
                    ans, seen = fn(x, w), REVERSE[level]
                    x = watch(level, x) if seen is None or x is not seen.last or seen.held != x else seen.copy
                    chosen = p if x.shape == w.shape else broadcasting
                    return Tensor(ans, [next_id(), chosen, (x, w), None, ans, (None, y.node)], level)
                if kind in NUMBERS:
                    w = y.value
                    real = kind is not complex and type(w) is float64  # 1j * float64(1) is Python's
                    ans = scalar(x, w) if real or type(w) is complex128 else fn(x, w)
                    return Tensor(ans, [next_id(), p, (x, w), None, ans, (None, y.node)], level)
            if (ans := two_more(p, x, y)) is not None:
                return ans
        except (ValueError, TypeError):
            pass
        if getattr(y, "__array_ufunc__", fn) is None:  # NumPy's sign that the operator is the other's
            return NotImplemented
        return record(p, (operand(x), operand(y)))

    def reflected(y, x):
        return recorder(x, y)

    return recorder, reflected


def product(p, method, otherwise, stacks=None):
    """A quick recorder for a product of two matrices.

    Primitive `p` serves two matrices, as `method` where their values are ndarrays; the primitive `stacks`, if there is
    one, vectors and stacks; the function `otherwise` everything else.  The choice is made here, while shapes are at
    hand, so that the rules of `p` need not look at them.
    """

    def recorder(x, y):
        if type(x) is Tensor:
            if x is y and p.canonical is not None and (ans := p.canonical(x, y)) is not None:
                return ans
            level, v, left = x.level, x.value, x.node
            if type(y) is not Tensor:
                w, right = y, None
            elif y.level == level:
                w, right = y.value, y.node
            else:
                return otherwise(x, y)
        elif type(y) is Tensor:
            level, v, left, w, right = y.level, x, None, y.value, y.node
        else:
            return otherwise(x, y)
        if type(v) in ARRAYS and type(w) in ARRAYS:
            m, n = v.ndim, w.ndim
            q = p if m == 2 == n else stacks if m and n else None
            if q is not None:
                try:
                    if level in REVERSE and level > blocked():
                        arrays = q is p and type(v) is ndarray and type(w) is ndarray
                        ans = method(v, w) if arrays else multiplied(v, w, m <= 2 >= n)
                        if left is None or right is None:
                            plain, seen = v if left is None else w, REVERSE[level]
                            quick = seen is not None and plain is seen.last and seen.held == plain
                            kept = seen.copy if quick else watch(level, plain, names=3)
                            v, w = (kept, w) if left is None else (v, kept)
                        return Tensor(ans, [next_id(), q, (v, w), None, ans, (left, right)], level)
                    if level in FORWARD and level > blocked():
                        return push_product(multiplied, v, left, w, right, m <= 2 >= n, level)
                except ValueError:
                    pass
        elif stacks is not None and level in BATCH and type(v) in BATCHES and type(w) in BATCHES:
            m, n = v.ndim, w.ndim
            if m and n and type(blocked()) is int:
                return batch_product(p if m == 2 == n else stacks, v, w, level)
        return otherwise(x, y)

    def multiplied(v, w, small):
        """The product of two values, `small` if none of them is a stack."""
        if type(v) is type(w) is ndarray:
            return method(v, w) if small else matmul(v, w)
        return recorder(v, w)

    return recorder
