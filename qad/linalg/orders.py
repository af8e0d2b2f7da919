"""How many derivatives are being taken of an operand."""

from qad.core.batch import Batched
from qad.core.levels import BATCH
from qad.extend import Tensor


def orders(x):
    """The number of levels that differentiate `x` now; those of `qad.vmap` do not count."""
    n = 0
    while type(x) is Tensor or type(x) is Batched:
        if type(x) is Tensor:
            n, x = n + (x.level >= 0 and x.level not in BATCH), x.value
        else:
            x = x.array
    return n
