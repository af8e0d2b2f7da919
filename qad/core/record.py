"""Recording: apply a primitive to operands of which some are Tensors, and remember it.

`record` is the general road.  `unary` and `binary` make short-cuts for the hot operations: they test for
the common case (open reverse level, plain or equal-level operands) and fall back to `record`.  What NumPy refuses
goes that way too, to be refused with the operation's name; a ``try`` that does not fail costs nothing.
"""

from types import FunctionType

from numpy import complex128, float64, matmul, ndarray, ufunc

from qad.core.batch import Batched, unrecorded
from qad.core.batching import batch_one, batch_product, batch_two, record_batch
from qad.core.errors import ArgumentError, LeakedTensorError, QadError, ShapeError
from qad.core.forward import push_forward, push_one, push_product, push_two
from qad.core.levels import BATCH, CONSTANT, FORWARD, REVERSE, blocked
from qad.core.node import PICK, SCALARS, next_id
from qad.core.operands import NUMBERS, PLAIN, operand, rebuild, split, top_level, variant
from qad.core.tensor import UFUNCS, Tensor, hidden, missing_rule
from qad.core.watch import watch

ARRAYS = frozenset((ndarray, Tensor))
BATCHES = frozenset((ndarray, Batched))


def record(p, args, kwargs=None):
    """Apply primitive `p` to `args` at the highest level among them.

    Plain operands give a plain result, constants and `qad.no_grad` a constant Tensor.
    """
    barrier = blocked()
    if type(barrier) is not int:  # somebody looks on
        return barrier.observe(p, args, kwargs)
    return recorded(p, args, kwargs, barrier)


def recorded(p, args, kwargs, barrier):
    """`record`, where levels up to `barrier` record nothing."""
    level = top_level(args)
    try:
        if level in REVERSE and level > barrier:
            return _record_reverse(p, args, kwargs, level)
        if level == PLAIN:
            return p.fn(*args, **kwargs or {})
        if level in BATCH:
            return record_batch(p, args, kwargs, level)
        if level <= barrier:
            return wrap(p.fn(*map(unrecorded, args), **kwargs or {}), None, CONSTANT)
        if level in FORWARD:
            return push_forward(p, args, kwargs, level)
    except ValueError as error:
        explain(p, args, error)
        raise
    raise leaked(p.name)


def leaked(where) -> LeakedTensorError:
    return LeakedTensorError(
        f"a Tensor of a finished transform was used in {where}: it leaked through a global, a closure or an "
        "attribute. Return it from the function (has_aux=True hands extra results out), or store x.numpy()"
    )


def explain(p, args, error) -> None:
    """Raise a plain ValueError that primitive `p` met as one of ours that names it; nothing for other errors."""
    if type(error) is not ValueError or isinstance(error.__cause__, QadError):
        return
    shapes = " and ".join(str(a.shape) for a in args if hasattr(a, "shape"))
    text = f"{p.name} of shape {shapes}: {str(error).strip()}"
    if p.broadcasting is not None:
        text += "; axes are matched from the last one and must be equal or 1: insert one of length 1 with x[:, None]"
    about_shapes = any(word in str(error) for word in ("shape", "dimension", "size", "axis", "axes"))
    raise (ShapeError if about_shapes else ArgumentError)(text) from error


def _record_reverse(p, args, kwargs, level):
    values, parents = split(args, level)
    for i, parent in enumerate(parents if p.shared is None else ()):
        if parent is not None and not p.has_rule(i):
            raise missing_rule(p.fn, i if any(p.vjps) else None)
    if p.broadcasting is not None:
        p = variant(p, values)
    ans = p.fn(*values, **kwargs or {})
    if type(ans) is Tensor and ans.level >= level:
        raise hidden(p.name)
    return note(p, values, kwargs, ans, parents, level)


def note(p, values, kwargs, ans, parents, level, read=None):
    """What primitive `p` made, as a Tensor (or several) of an open reverse level, with the node that remembers it.

    For plain values, whose nodes on that level are the `parents`, a caller may take this road instead of `record`, and
    say which constants alone the rules of `p` will `read`, by their numbers.
    """
    number = next_id()
    constants = range(len(values)) if read is None else read
    for value in [values[i] for i in constants if parents[i] is None and type(values[i]) is ndarray]:
        seen = REVERSE[level]
        if seen is None or id(value) not in seen:
            watch(level, value, number, names=2)
    return wrap(ans, [number, p, values, kwargs or None, ans, parents], level)


def wrap(ans, node, level):
    """`ans` as a Tensor, or each entry of a tuple of answers."""
    if not isinstance(ans, (tuple, list)):
        return ans if type(ans) is Tensor and node is None else Tensor(ans, node, level)
    if node is None:
        outputs = [wrap(a, None, level) for a in ans]
    else:
        outputs = [Tensor(a, [next_id(), PICK, i, None, a, (node,)], level) for i, a in enumerate(ans)]
    return rebuild(ans, outputs)


def unary(p, operator=None):
    """A quick recorder for a primitive of one operand; `operator` is a quicker one for NumPy's scalars."""
    fn, raw = p.fn, p.raw
    scalar = operator or fn

    def recorder(x):
        level = x.level if type(x) is Tensor else PLAIN
        if level in REVERSE and level > blocked():
            v = x.value
            try:
                ans = raw(v) if type(v) is ndarray else scalar(v) if type(v) in SCALARS else deeper(v)
            except ValueError:
                return record(p, (x,))
            return Tensor(ans, [next_id(), p, (v,), None, ans, (x.node,)], level)
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
            return Tensor(ans, [next_id(), p, (v, *metadata), None, ans, (x.node,)], level)
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
            return Tensor(ans, [next_id(), p, (v, given), None, ans, (x.node,)], level)
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
        return push_one(p, x, metadata, level)
    if level in BATCH:
        return batch_one(p, x, metadata, level)
    return record(p, (x, *metadata))


def binary(p, operator=None, twice=None):
    """A quick recorder for an elementwise primitive of two operands, and its reflection.

    The broadcasting variant of `p` is chosen here, while shapes are at hand, and only where it is needed.  Numbers go
    to Python's `operator`, if there is one, which is ten times quicker on them than a ufunc; one Tensor that is both
    operands to `twice`, if there is that.
    """
    fn, broadcasting = p.fn, p.broadcasting or p
    scalar = operator or fn

    def recorder(x, y):
        try:
            if type(x) is Tensor and (level := x.level) in REVERSE and level > blocked():
                kind = type(y)
                if kind is Tensor and y.level == level:
                    if y is x and twice is not None:
                        return twice(x)
                    v, w = x.value, y.value
                    if type(v) in SCALARS and type(w) is type(v):
                        ans, chosen = scalar(v, w), p
                    else:
                        ans = fn(v, w) if type(v) is ndarray else scalar(v, w)
                        chosen = p if v.shape == w.shape else broadcasting
                    return Tensor(ans, [next_id(), chosen, (v, w), None, ans, (x.node, y.node)], level)
                if kind is ndarray:
                    v = x.value
                    ans, number = fn(v, y), next_id()
                    seen = REVERSE[level]
                    if seen is None or (y is not seen.last and id(y) not in seen):
                        watch(level, y, number)
                    chosen = p if v.shape == y.shape else broadcasting
                    return Tensor(ans, [number, chosen, (v, y), None, ans, (x.node, None)], level)
                if kind in NUMBERS:
                    v = x.value
                    ans = fn(v, y) if type(v) is ndarray else scalar(v, y)
                    return Tensor(ans, [next_id(), p, (v, y), None, ans, (x.node, None)], level)
            elif type(y) is Tensor and (level := y.level) in REVERSE and level > blocked():
                kind = type(x)
                if kind is ndarray:
                    w = y.value
                    ans, number = fn(x, w), next_id()
                    seen = REVERSE[level]
                    if seen is None or (x is not seen.last and id(x) not in seen):
                        watch(level, x, number)
                    chosen = p if x.shape == w.shape else broadcasting
                    return Tensor(ans, [number, chosen, (x, w), None, ans, (None, y.node)], level)
                if kind in NUMBERS:
                    w = y.value
                    real = kind is not complex and type(w) is float64  # 1j * float64(1) is Python's
                    ans = scalar(x, w) if real or type(w) is complex128 else fn(x, w)
                    return Tensor(ans, [next_id(), p, (x, w), None, ans, (None, y.node)], level)
            if type(x) is Tensor or type(y) is Tensor:
                level = x.level if type(x) is Tensor else y.level
                if level in FORWARD and level > blocked() and (ans := push_two(p, x, y, level)) is not None:
                    return ans
                if level in BATCH and (ans := batch_two(p, x, y, level)) is not None:
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
                        ans, number = method(v, w) if arrays else multiplied(v, w, m <= 2 >= n), next_id()
                        if left is None or right is None:
                            plain, seen = v if left is None else w, REVERSE[level]
                            if seen is None or (plain is not seen.last and id(plain) not in seen):
                                watch(level, plain, number, names=3)
                        return Tensor(ans, [number, q, (v, w), None, ans, (left, right)], level)
                    if level in FORWARD and level > blocked():
                        return push_product(multiplied, v, left, w, right, m <= 2 >= n, level)
                except ValueError:
                    pass
        elif stacks is not None and level in BATCH and type(v) in BATCHES and type(w) in BATCHES and v.ndim and w.ndim:
            return batch_product(p if v.ndim == 2 == w.ndim else stacks, v, w, level)
        return otherwise(x, y)

    def multiplied(v, w, small):
        """The product of two values, `small` if none of them is a stack."""
        if type(v) is type(w) is ndarray:
            return method(v, w) if small else matmul(v, w)
        return recorder(v, w)

    return recorder
