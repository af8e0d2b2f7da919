"""How many derivatives are being taken of an operand."""

from qad.extend.recording import directions


def orders(x):
    """The number of levels that differentiate `x` now; those of `qad.vmap` do not count."""
    return len(directions(x))


def is_pushed_gradient(x):
    """Whether `x` is differentiated backward, and that forward, and nothing else: `qad.hvp` and `qad.hessian`."""
    return directions(x) == ["backward", "forward"]
