"""Functions of a matrix that are known by its spectrum: their rules, from the first and the second derivative.

Both derivatives are symmetric in the trace with all their directions, ``tr(X D2F[E, G]) = tr(G D2F[E, X])``; of a
function of singular values in ``Re tr X^H (..)``.  So each is its own pullback, but for a transpose or a conjugate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.core.errors import MissingRuleError
from qad.extend import core, rule

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def twice_differentiable(
    owner: str, functions: tuple[Any, Any, Any], ranks: tuple[int, ...], turned: Callable, onto: Callable = lambda x: x
) -> None:
    """Give three primitives their rules: a function of matrices, and its derivatives along one and two directions.

    Parameters
    ----------
    owner : str
        The function, for messages.
    functions : three primitives
        ``function(a, f=f)``, the value and the factors of a decomposition of `a`; ``along(e, a, *factors, f=f)`` and
        ``along_two(e, d, a, *factors, f=f)``.
    ranks : tuple of int
        Numbers of axes of the factors.
    turned : callable
        Makes a cotangent a direction, and back: the transpose or the conjugate.
    onto : callable
        Projects directions to those that `a` may move along.
    """

    function, along, along_two = functions

    def pullback(needed, g, ans, a, *, f):
        return (a * 0.0 if g[0] is None else onto(turned(along(turned(g[0]), a, *ans[1:], f=f))),)

    def pushed(t, ans, a, *, f):
        return along(onto(t), a, *ans[1:], f=f), *(x * 0.0 for x in ans[1:])

    rule(function, shared=pullback, forward=pushed, batch=core(2))
    rule(
        along,
        lambda g, ans, e, *rest, f: turned(along(turned(g), *rest, f=f)),
        lambda g, ans, e, *rest, f: onto(turned(along_two(e, turned(g), *rest, f=f))),
        *(_nothing(i) for i in range(2, 2 + len(ranks))),
        forward=(
            lambda t, ans, e, *rest, f: along(t, *rest, f=f),
            lambda t, ans, e, *rest, f: along_two(e, onto(t), *rest, f=f),
            *len(ranks) * (lambda t, ans, *args, f: ans * 0.0,),
        ),
        batch=core(2, 2, *ranks),
    )
    rule(
        along_two,
        lambda g, ans, e, d, *rest, f: turned(along_two(turned(g), d, *rest, f=f)),
        lambda g, ans, e, d, *rest, f: turned(along_two(e, turned(g), *rest, f=f)),
        *(1 + len(ranks)) * (_no_third(owner),),
        batch=core(2, 2, 2, *ranks),
    )


def _nothing(i):
    """The rule of a factor, argument number `i`: that of the matrix speaks for it."""
    return lambda g, ans, *args, f: args[i] * 0.0


def _no_third(owner):
    def rule(*args, **kwargs):
        raise MissingRuleError(
            f"{owner} has two derivatives; here is a third one. Where the spectrum is well separated, compose "
            "the function of eigh or svd, which have them to every order; expm, logm and sqrtm have them everywhere"
        )

    return rule
