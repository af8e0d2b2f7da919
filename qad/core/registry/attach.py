"""Ways for Tensors to reach a primitive besides NumPy's protocols: quick recorders, operators, methods."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from qad.core.registry.define import PRIMITIVES
from qad.core.tape import recorders
from qad.core.tape.tensor import Tensor

if TYPE_CHECKING:
    import numpy as np

    from qad.typing import Function


def quick(fn: Function, operator: Function | None = None) -> Function:
    """A recorder of `fn` with little overhead, for one operand or for two.

    NumPy's scalars go to `operator`, if there is one: Python's operators are ten times quicker on them than ufuncs.

    Examples
    --------
    >>> import numpy as np, qad
    >>> sine = qad.extend.quick(np.sin)
    >>> sine(qad.tensor([0.0]))
    Tensor([0.], shape=(1,), dtype=float64)
    """
    p = PRIMITIVES[fn]
    return recorders.binary(p, operator)[0] if len(p.vjps) == 2 else recorders.unary(p, operator)


def quick_with_metadata(fn: Function) -> Function:
    """As `quick`, for one operand and positional metadata.

    Examples
    --------
    >>> import qad
    >>> from qad.rules.reductions.reduce import sum_over
    >>> total = qad.extend.quick_with_metadata(sum_over)
    >>> total(qad.tensor([1.0, 2.0]), (0,), False)
    Tensor(3., shape=(), dtype=float64)
    """
    return recorders.unary_with_metadata(PRIMITIVES[fn])


def quick_product(fn: Function, method: Function, otherwise: Function, stacks: Function | None = None) -> Function:
    """A recorder of `fn` with little overhead for two matrices, as `method` on ndarrays; `otherwise` takes all else.

    With `stacks`, the primitive for vectors and stacks of matrices, it serves those too.

    Examples
    --------
    >>> import numpy as np, qad
    >>> from qad.rules.products.products import matrix_product
    >>> product = qad.extend.quick_product(matrix_product, np.ndarray.dot, np.matmul)
    >>> product(qad.tensor(np.eye(2)), np.ones((2, 3))).shape
    (2, 3)
    """
    return recorders.product(PRIMITIVES[fn], method, otherwise, PRIMITIVES[stacks] if stacks else None)


def attach_operator(name: str, ufunc: np.ufunc) -> None:
    """Give Tensor the operator ``__name__`` and its reflection, from an elementwise ufunc of two operands.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.extend.attach_operator("add", np.add)  # as qad/rules/protocol/operators.py does
    """
    forward, reflected = recorders.binary(PRIMITIVES[ufunc], getattr(operator, name))
    attach(f"__{name}__", forward)
    attach(f"__r{name}__", reflected)


def attach(name: str, function: Function, property: bool = False) -> None:
    """Give Tensor a method, an operator or (with `property`) an attribute.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.extend.attach("dagger", lambda x: x.conj().mT)
    >>> qad.tensor(np.ones((2, 3))).dagger().shape
    (3, 2)
    >>> del qad.Tensor.dagger
    """
    setattr(Tensor, name, _property(function) if property else function)


_property = property
