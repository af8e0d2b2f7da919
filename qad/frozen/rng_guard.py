"""Random numbers inside of a frozen function: they would be drawn once and never again, so they are refused."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Lock, active_count, get_ident
from typing import Any, NoReturn

import numpy as np

from qad.core.errors import ArgumentError


class RandomGuard:
    """The states of the generators that a function can reach, of NumPy's and Python's without names, and of the system.

    Attributes
    ----------
    drawn : bool
        Whether a generator made inside took its seed from the system.
    """

    def __init__(self, generators: Sequence[Any]):
        self.generators: Sequence[Any] = generators
        self.states: list[Any] = self._states()
        self.drawn: bool = False

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Inside, a draw of the running thread from the system's random numbers is noticed."""
        sinks = _sinks.setdefault(get_ident(), [])
        sinks.append(self)
        _intercept(1)
        try:
            yield
        finally:
            _intercept(-1)
            sinks.remove(self)

    def _states(self):
        return [self.common(), random.getstate(), *map(state, self.generators)]

    def common(self) -> tuple[Any, ...]:
        """The state of NumPy's generator without a name."""
        _, keys, place, *rest = np.random.get_state(legacy=True)
        return keys.tobytes(), place, rest

    def before(self) -> tuple[Any, bool]:
        """What `excuse` needs to know of the time before a step."""
        return self.common(), self.drawn

    def excuse(self, before: tuple[Any, bool]) -> None:
        """A step has drawn numbers since `before`; it will draw again in a replay."""
        if self.common() != before[0]:
            self.states = self._states()
        self.drawn = before[1]

    def moved(self) -> bool:
        """Whether a generator has moved since: because of the function, or of another thread, if there is one."""
        if self.drawn or (self._states() != self.states and active_count() == 1):
            self.refuse()
        return self._states() != self.states

    def refuse(self) -> NoReturn:
        """Raise, saying what to do."""
        threads = " (or another thread drew at the same time, every time)" if active_count() > 1 else ""
        raise ArgumentError(
            f"qad.freeze: the function drew random numbers{threads}, which a replay would repeat: draw them outside "
            "and pass the arrays as arguments, or make the generator inside of a fixed seed, np.random.default_rng(0)"
        )


def state(generator: Any) -> Any:
    """Where a generator stands, and how many others it has made."""
    if isinstance(generator, random.Random):
        return generator.getstate()
    bits = getattr(generator, "bit_generator", None) or getattr(generator, "_bit_generator", generator)
    return repr(bits.state), getattr(getattr(bits, "seed_seq", None), "n_children_spawned", 0)


_sinks = {}  # number of a thread -> those who watch it
_lock, _users = Lock(), 0
_system = os.urandom


def _urandom(size):
    for guard in _sinks.get(get_ident(), ()):
        guard.drawn = True
    return _system(size)


def _intercept(change):
    """Replace ``os.urandom``, from which seeds come, while some recording watches."""
    global _users
    with _lock:
        _users += change
        os.urandom = random._urandom = _urandom if _users else _system
