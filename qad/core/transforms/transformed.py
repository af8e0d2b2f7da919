"""What a transform makes of a function."""

from __future__ import annotations

from functools import partial, update_wrapper
from types import MethodType
from typing import TYPE_CHECKING, Any

from qad.core.errors import GradientTypeError

if TYPE_CHECKING:
    from qad.typing import Function


class Transformed(partial[Any]):
    """A function made from another: it is bound as a method of a class, and pickles where that other one does.

    ``partial(call, f, *given)``, so that ``call(f, *given, *args, **kwargs)`` is what it computes; `call` stands on
    the top of a module, where pickle finds it.
    """

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<{self.func.__name__} of {self.args[0]!r}>"


def transformed(call: Function, f: Function, *given: Any) -> Transformed:
    """The function `call` of `f` and of what was `given` with it, with the name and the documentation of `f`."""
    check_function(f)
    return update_wrapper(Transformed(call, f, *given), f)


def check_function(f: Any) -> None:
    """Raise unless `f` can be called."""
    if not callable(f):
        raise GradientTypeError(
            f"a transform takes a function, and {type(f).__name__} is not callable: write qad.grad(f)(x)"
        )
