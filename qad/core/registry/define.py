"""The registry of derivative rules, and the ways to fill it; `qad.extend` is its public door."""

from __future__ import annotations

from functools import partial, wraps
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from qad.core.freeze_hook import RECORDINGS, as_step
from qad.core.registry.families import defbatch
from qad.core.registry.handlers import install
from qad.core.tape.dispatch import load_rules_of
from qad.core.tape.node import GETITEM, Primitive
from qad.core.tape.operands import PLAIN, highest, refuse_devices
from qad.core.tape.record import record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, overload

    from qad.core.registry.families import RuleFamily
    from qad.typing import Function, P, R
    from qad.typing.words import Rule

PRIMITIVES: dict[Any, Any] = {GETITEM.fn: GETITEM}  # NumPy function or wrapped primitive -> Primitive


if TYPE_CHECKING:

    @overload
    def primitive(fn: Callable[P, R], *, name: str | None = None) -> Callable[P, R]: ...
    @overload
    def primitive(
        fn: None = None, *, name: str | None = None, keeps: bool = False
    ) -> Callable[[Callable[P, Any]], Callable[P, Any]]: ...


def primitive(fn: Any = None, *, name: str | None = None, keeps: bool = False) -> Any:
    """Make a function recordable (a decorator).

    Parameters
    ----------
    fn : callable
        ``fn(*arrays, **metadata)``: arrays positional, everything else by keyword. It runs on plain arrays
        and may return a tuple of them.
    name : str, optional
        What error messages and graphs call it, where that is not the function's own name.
    keeps : bool
        `fn` returns a pair ``(answer, kept)``.  A call gives the answer; the rules get what was kept as the keyword
        `kept`, which lives as long as the recorded operation does and is never to be written into.  It is None, and
        the rule computes it again, where the rule meets other operands than plain arrays: where transforms nest,
        under `qad.vmap`, in forward mode, and in `qad.freeze`.

    Returns
    -------
    callable
        The same function, which records itself when an operand is a Tensor. Give it rules with `defvjp`.

    Examples
    --------
    >>> import numpy as np, qad
    >>> @qad.extend.primitive
    ... def cube(x):
    ...     return x * x * x
    >>> qad.extend.defvjp(cube, lambda g, ans, x: g * 3 * x**2)
    >>> qad.grad(lambda x: cube(x).sum())(np.array([2.0]))
    array([12.])

    A rule that needs what the function has computed on its way:

    >>> @qad.extend.primitive(keeps=True)
    ... def logistic_loss(x):
    ...     e = np.exp(-x)
    ...     return np.log1p(e).sum(), e
    >>> def slope(g, ans, x, kept=None):
    ...     e = np.exp(-x) if kept is None else kept
    ...     return -g * e / (1 + e)
    >>> qad.extend.defvjp(logistic_loss, slope)
    >>> qad.grad(logistic_loss)(np.array([0.0]))
    array([-0.5])
    """
    if fn is None:
        return partial(primitive, name=name, keeps=keeps)

    @wraps(fn)
    def call(*args, **kwargs):
        if highest(args) is not PLAIN:
            return record(p, args, kwargs)
        try:
            return as_step(call, plain, args, kwargs) if RECORDINGS else plain(*args, **kwargs)
        except TypeError as error:
            refuse_devices(p.name, args, error)
            raise

    plain = wraps(fn)(lambda *args, **kwargs: fn(*args, **kwargs)[0]) if keeps else fn
    p = PRIMITIVES[call] = Primitive(call, name or fn.__name__, raw=fn)
    p.keeps = keeps
    return call


def defvjp(
    fn: Function,
    *rules: Function | None,
    argnums: Sequence[int] | None = None,
    shared: Function | None = None,
    linear: bool = False,
    elementwise: bool = False,
) -> None:
    """Define the reverse-mode rules of a function.

    Parameters
    ----------
    fn : callable
        A NumPy function or ufunc, or what `primitive` returned.
    *rules : callable or None
        ``rule(g, ans, *args, **kwargs)`` returns the cotangent of one argument; one per argument.
    argnums : tuple of int, optional
        The arguments that `rules` belong to; by default 0, 1, ...
    shared : callable, optional
        One rule for all arguments: ``shared(needed, g, ans, *args, **kwargs)`` returns one cotangent per
        entry of `needed`, a tuple of argument numbers. For several outputs `g` is a list, with None
        for an output that was not used.
    linear : bool
        `fn` is real-linear in each of these arguments separately: forward mode applies it to tangents.
    elementwise : bool
        `fn` is elementwise and holomorphic; a rule may ignore broadcasting, and serves forward mode.

    Notes
    -----
    Cotangents are unconjugated: the loss changes by ``Re sum(g * d_ans)``. A holomorphic function has the rule
    ``g * f'(x)``, any other ``g * f_z + conj(g * f_zbar)``.

    See Also
    --------
    rule : which also takes what forward mode and `qad.vmap` do, and promises that save time or memory.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.special import i1
    >>> from qad.extend import defvjp
    >>> defvjp(np.i0, lambda g, ans, x: g * i1(x), elementwise=True)
    """
    rule(fn, *rules, argnums=argnums, shared=shared, linear=linear, elementwise=elementwise)


def rule(
    fn: Function,
    *cotangents: Rule | None,
    argnums: Sequence[int] | None = None,
    shared: Rule | None = None,
    forward: Rule | Sequence[Rule | None] = (),
    forward_shared: Rule | None = None,
    linear: bool = False,
    elementwise: bool = False,
    batch: Rule | RuleFamily | None = None,
    shows: bool | str = False,
    fresh: bool = False,
    lazy: tuple[type, ...] = (),
    adds: Function | None = None,
    consumes: bool = False,
    scaled: bool = False,
    root: Function | str | None = None,
    canonical: Function | None = None,
    name: str | None = None,
) -> None:
    """All that qad knows of a function: `defvjp`, `defjvp` and `defbatch` in one, and what saves time or memory.

    Parameters
    ----------
    fn, *cotangents, argnums, shared, linear, elementwise
        As in `defvjp`.
    forward, forward_shared : callable or tuple of them
        The rules of `defjvp`: of the only argument, or one per argument; and the one for all arguments.
    batch : callable or kind
        What `defbatch` takes; elementwise functions need none.
    shows : bool or str
        The answer may be a view of the one array that `fn` takes, as NumPy's is: `fn` only moves entries, and may be
        called with an array of their places. "by order", if it is one or a copy as the memory of the array is ordered;
        "real" or "imag", if it shows that part.
    fresh : bool
        The rules always return newly allocated arrays, so that they may be given away, and added to, without a copy.
    lazy : tuple of type
        Kinds of `Lazy` cotangents that the rules accept as they are.
    adds : callable, optional
        For a function of one array: ``adds(total, g, *args)`` adds the cotangent of that array to `total`, in place,
        and returns True; or it returns False, and then the rule is called. It saves an array for each ``x[i]``.
    consumes : bool
        The shared rule takes a keyword ``owned=False`` too, which says whether nobody else holds the cotangent; then
        the rule may write into it, if it is an array.
    scaled : bool
        The shared rule takes a keyword ``end=None`` too: the pair (cotangent, value) from which the backward pass
        set out, which says how large the loss is, and so what is rounding in `g`.
    root : callable or "moved", optional
        The function has a kink which its square has not: ``root(*args, **kwargs)`` computes that square smoothly. The
        square of what `fn` made, however it is written (``r * r``, ``r ** 2``, ``np.square``), is recorded as that.
        "moved", if `fn` only moves entries (an index, a reshape): a square passes through it.
    canonical : callable, optional
        What a function of two operands is recorded as where it is a simpler one of them: ``canonical(x, y)`` is asked
        by every road that records `fn`, and returns the answer, or None. So ``x * x`` is a square.
    name : str, optional
        What users call the function, in messages and pictures; by default its own name.

    Examples
    --------
    >>> import numpy as np, qad
    >>> @qad.extend.primitive
    ... def scaled(x, s):
    ...     return x * s
    >>> qad.extend.rule(
    ...     scaled,
    ...     lambda g, ans, x, s: g * s,
    ...     lambda g, ans, x, s: np.sum(g * x, axis=-1, keepdims=True),
    ...     linear=True,
    ...     fresh=True,
    ...     batch=qad.extend.core(1, 1),
    ... )
    >>> qad.vmap(qad.grad(lambda x: scaled(x, np.array([3.0])).sum()))(np.ones((2, 1)))
    array([[3.],
           [3.]])
    """
    if argnums is not None:
        table = dict(zip(argnums, cotangents, strict=True))
        cotangents = tuple(table.get(i) for i in range(max(argnums) + 1))
    if isinstance(fn, np.ufunc):
        load_rules_of(fn)  # a rule of one's own comes after the one that it replaces
    p = PRIMITIVES.get(fn) or Primitive(fn, fn.__name__)
    p.vjps, p.shared, p.scaled, p.name = cotangents, shared, scaled, name or p.name
    p.consumes, p.adds, p.shows, p.canonical = consumes, adds, shows, canonical
    p.root, p.carries = (None, True) if root == "moved" else (root, False)
    p.linear, p.elementwise, p.fresh, p.accepts = linear, elementwise, fresh, p.accepts.union(lazy)
    if elementwise:
        _spread(p)
    if fn not in PRIMITIVES:
        PRIMITIVES[fn] = p
        install(fn, p)
    if forward or forward_shared:
        p.jvps, p.forward = (forward,) if callable(forward) else forward, forward_shared
    if batch is not None:
        defbatch(fn, batch)


def _spread(p: Primitive) -> None:
    """Give an elementwise primitive its variant for operands of different shapes."""
    q = p.broadcasting = p.broadcasting or Primitive(p.fn, p.name)  # recorders hold on to it
    q.vjps, q.fresh, q.root = tuple(map(_unbroadcasting, p.vjps, count())), p.fresh, p.root


def defjvp(fn: Function, *rules: Function | None, shared: Function | None = None) -> None:
    """Define forward-mode rules, where they pay.

    ``rule(t, ans, *args, **kwargs)`` returns the contribution of one argument's tangent `t` to the tangent
    of the answer. Without them forward mode follows from the flags of `defvjp`, or by transposition.
    Where the arguments share work, or the outputs are several, ``shared(tangents, ans, *args, **kwargs)`` returns
    all of the tangent, a tuple for several outputs; an entry of `tangents` is None for an argument that stays.

    Examples
    --------
    >>> import numpy as np, qad
    >>> @qad.extend.primitive
    ... def cube(x):
    ...     return x * x * x
    >>> qad.extend.defvjp(cube, lambda g, ans, x: g * 3 * x**2)
    >>> qad.extend.defjvp(cube, lambda t, ans, x: 3 * x**2 * t)
    >>> qad.jvp(cube, (np.array(2.0),), (np.array(1.0),))[1]
    np.float64(12.0)
    """
    PRIMITIVES[fn].jvps, PRIMITIVES[fn].forward = rules, shared


def _unbroadcasting(rule: Rule | None, i: int) -> Rule | None:
    def spread(g, ans, *args, **kwargs):
        return unbroadcast(rule(g, ans, *args, **kwargs), args[i].shape)

    return spread if rule else None


def unbroadcast(g: Any, shape: tuple[int, ...]) -> Any:
    """Sum `g` over the axes along which an array of this `shape` was broadcast: the adjoint of broadcasting.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.extend.unbroadcast(np.ones((2, 3)), (3,))
    array([2., 2., 2.])
    """
    if g.shape == shape:
        return g
    extra = g.ndim - len(shape)
    if extra > 0:
        g = g.sum(axis=tuple(range(extra)))
    stretched = tuple(i for i, n in enumerate(shape) if n == 1 and g.shape[i] != 1)
    return g.sum(axis=stretched, keepdims=True) if stretched else g
