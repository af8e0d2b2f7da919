"""The functions that transforms return: they are bound as methods, and pickle where the user's function does."""

from __future__ import annotations

from functools import partial, update_wrapper
from types import MethodType
from typing import TYPE_CHECKING, Any

from qad.core.errors import GradientTypeError

if TYPE_CHECKING:
    from qad.typing import Function


CALLS = {"qad.hvp": "(f, (x,), (t,))", "qad.vhp": "(f, (x,), (v,))"}  # others return a function


class Transformed(partial[Any]):
    """A function made from another: it is bound as a method of a class, and pickles where that other one does.

    ``partial(call, f, *given)``, so that ``call(f, *given, *args, **kwargs)`` is what it computes; `call` stands on
    the top of a module, where pickle finds it.
    """

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<{self.func.__name__} of {self.args[0]!r}>"


def transformed(call: Function, f: Function, *given: Any, name: str) -> Transformed:
    """The function `call` of `f` and of what was `given` with it, as the transform of this `name` returns it."""
    check_function(f, name)
    return update_wrapper(Transformed(call, f, *given), f)


def check_function(f: Any, name: str) -> None:
    """Raise unless `f`, which the transform of this name is given, can be called."""
    if not callable(f):
        right = name + CALLS.get(name, "(f)(x)")
        raise GradientTypeError(f"{name} takes a function, and {type(f).__name__} is not callable: write {right}")
