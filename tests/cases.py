"""Cases: programs at points, whose derivatives the tests of every floor check.

A test module states its cases in a list called ``CASES`` and checks them with one parametrised test::

    from tests.cases import Case, normal

    CASES = [
        Case(np.cumsum, normal(3, 4)),                      # real
        Case(lambda z: np.cumsum(z, 0), normal(3, 4, complex)),
        Case(np.multiply, (normal(3), normal(3, complex))), # several arguments
    ]

    @pytest.mark.parametrize("case", CASES, ids=str)
    def test_derivatives(case):
        case.check()

``tests/rules/test_registry.py`` gathers the lists of all modules, and fails for a primitive that no case records.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

import qad
from qad.core.tape.backward import plain_sweep, sweep
from qad.core.tape.node import LEAF, PICK
from qad.core.tape.tensor import Tensor
from qad.core.trees import flatten, tree_map

needs_fast = pytest.mark.skipif(sweep is plain_sweep, reason="counts what the plain roads do not save")
KEYWORDS = np.lib.NumpyVersion(np.__version__) >= "2.1.0"  # whether np.clip has min= and max=, reshape shape= and copy=


def normal(*shape_and_dtype, seed=0):
    """Normal random numbers: ``normal(3, 4)``, ``normal(3, 4, complex)``, ``normal(2, np.complex64)``."""
    given = bool(shape_and_dtype) and isinstance(shape_and_dtype[-1], type)
    *shape, dtype = shape_and_dtype if given else (*shape_and_dtype, float)
    rng = np.random.default_rng([seed, *shape])
    x = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.standard_normal(shape)
    return np.asarray(x).astype(dtype)


def apart(*shape, seed=0):
    """Real numbers of both signs, no two of them (nor their sizes) within 0.1: for functions with kinks."""
    n = int(np.prod(shape))
    rng = np.random.default_rng([seed, *shape])
    return (rng.permutation(n) - n / 2 + 0.3).reshape(shape) / 4


@dataclass(frozen=True)
class Case:
    """A function and the point, an array or a tuple of pytrees of them, at which to differentiate it."""

    f: Callable
    args: object
    order: int = 2
    name: str = ""

    def __str__(self):
        name = self.name or getattr(self.f, "__name__", repr(self.f))
        kinds = ",".join(f"{x.dtype.char}{'x'.join(map(str, x.shape))}" for x in flatten(self.point)[0])
        return f"{name}-{kinds}"

    @property
    def point(self) -> tuple:
        return self.args if isinstance(self.args, tuple) else (self.args,)

    def check(self):
        """`qad.check_grads`, to this case's order."""
        qad.check_grads(self.f, self.point, order=self.order)

    def nodes(self):
        """Every node that the function and its gradient record."""
        xs = tree_map(lambda x: qad.tensor(x, requires_grad=True), self.point)
        found = below(self.f(*xs))
        if self.order > 1:
            out, pullback = qad.vjp(self.f, *xs)
            found += below(pullback(tree_map(lambda y: _noise(y.value if type(y) is Tensor else y), out)))
        return found


def _noise(y):
    return normal(*np.shape(y), np.asarray(y).dtype.type)


def below(tree) -> list:
    """The nodes of operations from which the Tensors in `tree` came."""
    waiting = [x.node for x in flatten(tree)[0] if type(x) is Tensor and x.node is not None]
    seen, found = set(), []
    while waiting:
        node = waiting.pop()
        if node[0] in seen:
            continue
        seen.add(node[0])
        waiting += [parent for parent in node[5] if parent is not None]
        if node[1] not in (LEAF, PICK):
            found.append(node)
    return found
