"""A level of one's own, outside of the package: it counts the numbers that operations make."""

import numpy as np
import pytest

import qad
from qad.core.tape.levels import Level
from qad.core.tape.operands import split
from qad.core.tape.tensor import Tensor, rebuild, settled, value_of
from qad.core.trees import flatten, tree_map, unflatten
from tests.rules.test_registry import FLOORS, gathered


class Counting(Level):
    """Counts the entries of all results."""

    __slots__ = ("count",)

    def __init__(self):
        super().__init__()
        self.count = 0

    def apply(self, primitive, operands, keywords):
        values, _ = split(operands, self)
        ans = primitive.fn(*values, **keywords)
        return self.seen(ans)

    def seen(self, ans):
        if isinstance(ans, (tuple, list)):
            return rebuild(ans, map(self.seen, ans))
        self.count += np.size(value_of(ans))
        return Tensor(ans, None, self)


def counted(f, *args):
    """What `f` makes of these arguments, and the count."""
    with Counting() as level:
        leaves, spec = flatten(args)
        lifted = [Tensor(np.asarray(x)[()] if np.ndim(x) == 0 else x, None, level) for x in leaves]
        out = f(*unflatten(spec, lifted))
        out = tree_map(lambda y: value_of(settled(y)), out)
    return out, level.count


CASES = list(gathered(FLOORS))


@pytest.mark.parametrize("part", range(8))
def test_the_whole_registry_runs_under_it(part):
    total = 0
    for case in CASES[part::8]:
        expected = tree_map(value_of, case.f(*tree_map(qad.tensor, case.point)))
        found, count = counted(case.f, *case.point)
        for a, b in zip(flatten(found)[0], flatten(expected)[0], strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12, err_msg=str(case))
        total += count
    assert total > 1000


def filled(x):
    b = qad.zeros((3, 3))
    row, diagonal = b[1], np.einsum("ii->i", b)
    b[0] = x
    b.T[2, 1:] = x[:2] * b[0, 1]
    row += x
    diagonal[:] *= 2.0
    np.add.at(b, ([0, 0], [1, 1]), x[:2])
    return b


def test_writes_into_buffers_are_seen():
    x = np.array([1.0, 2.0, 3.0])
    found, count = counted(filled, x)
    np.testing.assert_allclose(found, value_of(filled(qad.tensor(x))))
    assert count > 9


def test_it_nests_in_other_levels():
    x = np.array([1.0, 2.0, 3.0])

    def loss(x):
        with Counting() as level:
            y = filled(Tensor(x, None, level))
            return np.sum(settled(y).value ** 2)

    np.testing.assert_allclose(qad.grad(loss)(x), qad.grad(lambda x: np.sum(filled(x) ** 2))(x))
    np.testing.assert_allclose(qad.vmap(loss)(np.stack([x, 2 * x]))[0], loss(qad.tensor(x)).numpy())
