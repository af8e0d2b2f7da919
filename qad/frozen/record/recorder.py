"""Recording: every call on a traced array becomes a step, and is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from qad.core.errors import ArgumentError, LeakedTensorError
from qad.core.registry.define import PRIMITIVES
from qad.core.tape.tensor import rebuild
from qad.frozen.program.functions import (
    ANSWERED,
    MUTATING,
    TRANSPARENT,
    NamedMethod,
    is_of_shapes,
    keeps_shape,
    wants_numbers,
)
from qad.frozen.program.program import Program, Step, Var, check_value, outcome, rebuilt
from qad.frozen.record.code import whereabouts
from qad.frozen.record.traced import Traced, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from qad.frozen.program.program import Outcome

RESULTS = (np.ndarray, np.generic, float, complex, tuple, list, type(None))


class Recorder:
    """One recording: the steps so far, the constants they use, and the decisions that were taken.

    Attributes
    ----------
    path : list
        The outcomes of the guards.
    constants : dict of Var -> array
        Copies of the plain arrays that were met; equal ones are one constant.
    arrays : list of arrays
        Those that were met, for changes to be noticed later.
    refusal : exception or None
        What could not be recorded; raised again in the end, for the function may have caught it.
    silent : bool
        Whether the function itself says which floating-point errors are ignored.
    failure : str or None
        In words, why no program serves this call: a step raised, and the function caught that.
    """

    def __init__(self, copies: Mapping[int, tuple[np.ndarray, bytearray]]):
        self.constants: dict[Var, np.ndarray] = {}
        self.arrays: list[np.ndarray] = []
        self._copies, self._known = copies, {}  # what captured arrays held, by id; Vars, by contents
        self.steps: list[Step] = []
        self.inputs: list[Var] = []
        self.given: list[Any] = []
        self.path: list[Outcome] = []
        self.places: list[str] = []
        self.running: bool = True
        self.refusal: Exception | None = None
        self.failure: str | None = None
        self.silent: bool = False
        self.writes: bool = False
        self._errors = np.geterr()

    def refuse(self, message: str, kind: type[Exception] = ArgumentError) -> NoReturn:
        """Raise, now and when the function has returned."""
        self.refusal = kind(f"qad.freeze: {message}")
        raise self.refusal

    def input(self, value: Any) -> Traced:
        """A traced input with this value, an array in C order."""
        value = np.asarray(value, order="C") if isinstance(value, np.ndarray) else value
        self.inputs.append(Var.like(value))
        self.given.append(value)
        return Traced(value, self.inputs[-1], self)

    # -- steps -------------------------------------------------------------------------------------------------------

    def step(self, fn: Callable[..., Any], args: Any, kwargs: Any, mutates: Any = None) -> Any:
        """Call `fn`, and record that."""
        if not self.running:
            raise LeakedTensorError(
                "a traced array of qad.freeze was used after the function had returned: it leaked through a global, a "
                "list or an attribute. Return it from the function instead"
            )
        self._refuse_order(fn, args, kwargs)
        if wants_numbers(fn):
            args, kwargs = (*args[:1], *self._numbers(args[1:])), kwargs and self._numbers(kwargs)
        values, named = rebuilt(args, _value, (Traced,)), rebuilt(kwargs, _value, (Traced,))
        template, keywords = [rebuilt(x, self._symbol, (Traced, np.ndarray)) for x in (args, kwargs)]
        if mutates is not None:
            self._refuse_target(mutates, fn)
        value = self._called(fn, values, named)
        if mutates is not None:
            self.steps.append(Step(fn, template, keywords, Var(kind="other")))
            self.writes = True
            return None
        if fn.__class__ in (NamedMethod, type(np.sum)) and any(value is x for x in values[1:]):
            self._refuse_out(fn)
        return self._result(value, fn, template, keywords, keeps_shape(fn, args))

    def _refuse_order(self, fn, args, kwargs):
        """Raise where the order of entries of a result depends on how an array happens to lie."""
        order = kwargs.get("order") or (args[1] if len(args) == 2 and type(args[1]) is str else None)
        if order in ("K", "A") and getattr(fn, "__name__", "") in ("ravel", "flatten", "reshape"):
            self.refuse(
                f"{fn.__name__}(order={order!r}) depends on the layout of an array in memory, which a program is not "
                "made for: write order='C' or 'F'"
            )

    def _called(self, fn, values, named):
        """The result of a step; what it raises is noted, for the function may catch that and go on."""
        if (now := np.geterr()) != self._errors:
            self.silent = True
            if not {"ignore", "warn"}.issuperset(now.values()):
                self.failure = f"the function has floating-point errors raise or call something, at {whereabouts()}"
        try:
            return fn(*values, **named)
        except Exception as error:
            if not is_of_shapes(error, fn):
                raised = f"{_name(fn)} raised {type(error).__name__}"
                self.failure = f"{raised} at {whereabouts()}, and the function caught it"
            raise

    def _result(self, value, fn, args, kwargs, settled):
        """`value` as a traced array, or as whatever it is made of."""
        if type(value) in (bool, int):  # upon which Python will decide
            var = Var((), np.dtype(type(value)), "number")
            self.steps.append(Step(fn, args, kwargs, var))
            self.guard(var, outcome(value, type(value).__name__))
            return value
        if type(value) is not np.ndarray or value.dtype.kind not in "fc":
            self._refuse_result(value, fn)
        var = Var.like(value)
        self.steps.append(Step(fn, args, kwargs, var))
        if not settled:
            self.guard(var, outcome(value, "layout"))
        if isinstance(value, (tuple, list)):
            parts = [self._result(v, pick, (var, i), {}, True) for i, v in enumerate(value)]
            return rebuild(value, parts)
        return None if value is None else Traced(value, var, self)

    def _refuse_result(self, value, fn):
        """Raise for what programs cannot hold."""
        if not isinstance(value, RESULTS):
            self.refuse(
                f"{_name(fn)} returned {type(value).__name__}, which is no array: wrap what uses it in "
                "qad.extend.primitive, so that it becomes one step"
            )
        if getattr(getattr(value, "dtype", None), "kind", "f") not in "biufc":
            self.refuse(
                f"{_name(fn)} gives an array of dtype {value.dtype}, and programs are made of numbers: stay with float "
                "or complex, or make one step of all that needs objects with qad.extend.opaque"
            )

    def _numbers(self, x):
        """`x` with integers instead of traced ones, of Python's or of the same dtype; replays check them."""

        def plain(each):
            if each.shape or each.dtype.kind not in "iu":
                return each
            return int(each) if each.symbol.kind == "number" else each.dtype.type(int(each))

        return rebuilt(x, plain, (Traced,))

    def _refuse_target(self, target, fn):
        """Raise where `fn` writes into what belongs to the caller: an argument, or an array from outside."""
        if type(target) is not Traced:
            self.refuse(
                f"{_name(fn)} writes into an array from outside of the function, or made by NumPy alone, which a "
                "replay could not repeat: return the result instead, write into a copy, or make the array by qad.zeros"
            )
        if any(np.may_share_memory(target.value, x) for x in (*self.given, *self.arrays)):
            self.refuse(
                f"{_name(fn)} writes into an argument of the function (or a view of one), which a replay "
                "could not repeat: write into a copy, x = x.copy()"
            )

    # -- calls of traced arrays --------------------------------------------------------------------------------------

    def method(self, fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """A method of a traced array."""
        if "out" in kwargs:
            self._refuse_out(fn)
        return self.step(fn, args, kwargs, args[0] if fn in MUTATING else None)

    def _refuse_out(self, fn):
        name = f"{'x' if type(fn) is NamedMethod else 'np'}.{fn.__name__}"
        self.refuse(f"an array for the result of {name} is not recorded in this place: write y[...] = {name}(...)")

    def function(self, fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """A NumPy function that was given a traced array."""
        if fn in (np.array_repr, np.array_str, np.array2string):
            return shown(args[0], fn)
        if fn in ANSWERED:
            args, kwargs = (rebuilt(x, _value, (Traced,)) for x in (args, kwargs))
            return fn(*args, **kwargs)
        if fn in MUTATING:
            return self.step(fn, args, kwargs, args[0] if args else next(iter(kwargs.values())))
        if fn is np.nan_to_num and not (args[1] if len(args) > 1 else kwargs.get("copy", True)):
            self._refuse_out(fn)
        out = kwargs.get("out")
        if out is None:
            return self.step(fn, args, kwargs)
        self.step(fn, args, kwargs, mutates=out)
        return out

    def primitive(self, call: Callable[..., Any], fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """A primitive: looked into where its inside is made of NumPy's calls, one step otherwise."""
        rules, module = PRIMITIVES.get(call), getattr(fn, "__module__", None) or ""
        if rules is not None and module.startswith("qad."):  # what is not differentiated are axes and the like
            args = [x if rules.has_rule(i) else self._numbers(x) for i, x in enumerate(args)]
            kwargs = self._numbers(kwargs)
        if call in TRANSPARENT:
            return fn(*[self.constant(x) if type(x) is np.ndarray else x for x in args], **kwargs)
        return self.step(call, tuple(args), kwargs)

    # -- plain arrays ------------------------------------------------------------------------------------------------

    def constant(self, array: np.ndarray) -> Traced:
        """A plain array as a traced constant."""
        return Traced(array, self._symbol(array), self)

    def _symbol(self, x):
        """What stands for an array in the program; the values of a plain one are copied now, for they may change."""
        if type(x) is Traced:
            return x.symbol
        if x.dtype.kind not in "biufc":
            self.refuse(
                f"the function uses an array of dtype {x.dtype}, and programs are made of numbers: write "
                "array.astype(float), or keep the objects in a list"
            )
        if not type(x).__module__.startswith("numpy"):
            self.refuse(
                f"the function uses an array of the class {type(x).__name__}, which may have arithmetic of its own: "
                "write np.asarray(array)"
            )
        self.arrays.append(x)
        key = x.shape, x.strides, x.dtype.str, x.tobytes()
        if key in self._known:
            return self._known[key]
        var = self._known[key] = Var(x.shape, x.dtype)
        _, kept = self._copies.get(id(x), (None, None))  # what a captured array is compared with serves
        in_place = kept is not None and x.flags.c_contiguous and kept == x
        self.constants[var] = np.ndarray(x.shape, x.dtype, kept) if in_place else x.copy(order="K")
        return var

    # -- guards ------------------------------------------------------------------------------------------------------

    def guard(self, var: Var, found: Outcome) -> None:
        """A step that raises in a replay unless the outcome of `var` is `found`."""
        number = len(self.path)
        self.path.append(found)
        self.places.append(whereabouts())
        self.steps.append(Step(check_value, (var,), {"expected": found, "number": number}, Var(kind="other")))

    def program(self, outputs: Sequence[Any]) -> Program:
        """The program that gives these leaves of a result."""
        leaves = [x.symbol if type(x) is Traced else x for x in outputs]
        program = Program(self.inputs, self.constants, self.steps, leaves)
        program.writes = self.writes
        return program


def pick(parts: Any, i: int) -> Any:
    """One of several results."""
    return parts[i]


def _value(x):
    return x.value


def _name(fn):
    return getattr(fn, "__name__", str(fn))
