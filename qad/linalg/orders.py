"""How many derivatives are being taken of an operand."""

from qad.core.batch import Batched
from qad.core.levels import BATCH, FORWARD
from qad.core.structured import form_of
from qad.extend import Tensor


def orders(x):
    """The number of levels that differentiate `x` now; those of `qad.vmap` do not count."""
    return sum(1 for _ in _levels(x))


def is_pushed_gradient(x):
    """Whether `x` is differentiated backward, and that forward, and nothing else: `qad.hvp` and `qad.hessian`."""
    kinds = [level in FORWARD for level in _levels(x)]
    return kinds == [False, True]


def _levels(x):
    while type(x) is Tensor or type(x) is Batched:
        if (form := form_of(x)) is not None:
            x = form.root
        elif type(x) is Tensor:
            if x.level >= 0 and x.level not in BATCH:
                yield x.level
            x = x.value
        else:
            x = x.array
