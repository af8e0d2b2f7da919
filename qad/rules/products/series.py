"""``qad.polynomial``: NumPy's ``np.polynomial`` for recorded coefficients.

NumPy's own functions there turn coefficients into plain arrays, which a recorded Tensor refuses, and its classes
(``np.polynomial.Chebyshev(c)(x)``) do so with points, too; ``np.polynomial.chebyshev.chebval(x, c)`` of plain `c` is
differentiable in `x` as it stands.  The six namespaces here (``qad.polynomial.chebyshev.chebval``, ...) have the names
and signatures of NumPy's, for coefficients, points or both.  What is linear in the
coefficients is a matrix that NumPy makes.

Examples
--------
>>> import numpy as np, qad
>>> qad.grad(lambda c: qad.polynomial.chebyshev.chebval(0.5, c))(np.array([1.0, 2.0, 3.0]))
array([ 1. ,  0.5, -0.5])
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import like, operand
from qad.rules.elementwise.complex import abs2
from qad.rules.elementwise.functions import nonzero

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from qad.typing import Function, Value

    Step: TypeAlias = Callable[[int], tuple[float, float, float]]  # of a recurrence: its coefficients, by the degree

STEPS: dict[str, Step] = {  # P_{k+1} = (a x + b) P_k - c P_{k-1}: the triple (a, b, c) of k
    "poly": lambda k: (1, 0, 0),
    "cheb": lambda k: (1 if k == 0 else 2, 0, 1),
    "leg": lambda k: ((2 * k + 1) / (k + 1), 0, k / (k + 1)),
    "herm": lambda k: (2, 0, 2 * k),
    "herme": lambda k: (1, 0, k),
    "lag": lambda k: (-1 / (k + 1), (2 * k + 1) / (k + 1), k / (k + 1)),
}
MODULES = {
    "poly": "polynomial", "cheb": "chebyshev", "leg": "legendre", "herm": "hermite", "herme": "hermite_e",
    "lag": "laguerre",
}  # fmt: skip


def _coefficients(c: Value) -> Value:
    c = np.atleast_1d(operand(c))
    return c if c.dtype.kind in "fc" else c * 1.0


def _vander(step: Step) -> Function:
    def vander(x, deg):
        x = operand(x)
        columns = [np.ones_like(x) + 0 * x]
        for k in range(deg):
            a, b, c = step(k)
            columns.append((a * x + b) * columns[k] - (c * columns[k - 1] if k else 0))
        return np.stack(columns, -1)

    return vander


def _val(step: Step) -> Function:
    def val(x, c, tensor=True):
        """Clenshaw's recurrence."""
        c, x = _coefficients(c), operand(x)
        x = np.asarray(x) if isinstance(x, (int, float, complex)) else x
        if tensor:
            c = c.reshape(c.shape + (1,) * np.ndim(x))
        after, y = 0, c[len(c) - 1] + 0 * x
        for k in range(len(c) - 2, -1, -1):
            (a, b, _), (_, _, following) = step(k), step(k + 1)
            after, y = y, c[k] + (a * x + b) * y - following * after
        return y

    return val


def _linear(function: Function, c: Value, axis: int, *options: Any) -> Value:
    """What NumPy's `function` makes of coefficients along an axis: a matrix times them."""
    c = _coefficients(c)
    matrix = like(c).asarray(function(np.eye(c.shape[axis]), *options))
    return np.moveaxis(np.tensordot(matrix, c, axes=(1, axis)), 0, axis)


def _der(function: Function) -> Function:
    def der(c, m=1, scl=1, axis=0):
        return _linear(function, c, axis, m, scl)

    return der


def _int(function: Function) -> Function:
    def integral(c, m=1, k=(), lbnd=0, scl=1, axis=0):
        c = _coefficients(c)
        constants = like(c).asarray(function(np.zeros(1), m, k, lbnd, scl))  # what the constants of integration add
        y = np.moveaxis(_linear(function, c, axis, m, [], lbnd, scl), axis, 0)
        constants = np.pad(constants, (0, max(0, len(y) - len(constants))))[: len(y)]
        return np.moveaxis(y + constants.reshape(-1, *[1] * (y.ndim - 1)), 0, axis)

    return integral


def _sum(combine: Function) -> Function:
    def total(c1, c2):
        a, b = _coefficients(c1), _coefficients(c2)
        n = max(len(a), len(b))
        return combine(*(np.pad(c, (0, n - len(c))) for c in (a, b)))

    return total


def _mul(function: Function) -> Function:
    def product(c1, c2):
        a, b = _coefficients(c1), _coefficients(c2)
        n, table = len(a) + len(b) - 1, []
        for unit in np.eye(len(a)):
            rows = [function(unit, other) for other in np.eye(len(b))]
            table.append([np.pad(row, (0, n - len(row))) for row in rows])
        return np.einsum("i,ijk,j->k", a, like(a, b).array(table), b)

    return product


def _fit(vander: Function) -> Function:
    def fit(x, y, deg, rcond=None, full=False, w=None):
        """Only the coefficients, by least squares."""
        if full or np.ndim(deg):
            raise ArgumentError("a fit of Tensors gives the coefficients of all degrees up to deg, and no diagnostics")
        matrix, y = vander(operand(x) * 1.0, deg), operand(y) * 1.0
        if w is not None:
            matrix, y = matrix * operand(w)[:, None], (y.T * operand(w)).T
        rcond = len(matrix) * np.finfo(matrix.dtype).eps if rcond is None else rcond
        scale = np.sqrt(
            nonzero(np.sum(abs2(matrix), axis=0))
        )  # of fewer points than coefficients the answer depends on it
        return (np.linalg.lstsq(matrix / scale, y, rcond)[0].T / scale).T

    return fit


def _namespace(name: str) -> SimpleNamespace:
    module = getattr(np.polynomial, MODULES[name])
    functions = {
        "val": _val(STEPS[name]),
        "vander": _vander(STEPS[name]),
        "der": _der(getattr(module, name + "der")),
        "int": _int(getattr(module, name + "int")),
        "add": _sum(np.add),
        "sub": _sum(np.subtract),
        "mul": _mul(getattr(module, name + "mul")),
        "fit": _fit(_vander(STEPS[name])),
    }
    for kind, function in functions.items():
        function.__name__ = function.__qualname__ = name + kind
        function.__doc__ = f"`numpy.polynomial.{MODULES[name]}.{name}{kind}`, of recorded Tensors, too."
    return SimpleNamespace(**{name + kind: function for kind, function in functions.items()})


polynomial: SimpleNamespace
chebyshev: SimpleNamespace
legendre: SimpleNamespace
hermite: SimpleNamespace
hermite_e: SimpleNamespace
laguerre: SimpleNamespace
polynomial, chebyshev, legendre, hermite, hermite_e, laguerre = map(_namespace, MODULES)
__all__ = ["chebyshev", "hermite", "hermite_e", "laguerre", "legendre", "polynomial"]
