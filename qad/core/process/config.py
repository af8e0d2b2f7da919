"""The settings of qad, which hold for the whole process."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from qad.core.errors import ArgumentError
from qad.core.process import malloc as memory
from qad.core.process.threads import set_threads


@dataclass(frozen=True)
class Settings:
    """What `qad.config` returns: the settings as they are now."""

    keep_memory: str | bool = "auto"
    messages: bool = True
    progress: bool = True
    threads: str | int = "auto"


WAYS: dict[str | bool, tuple[bool, dict[int, int]]] = {
    "auto": (True, memory.USUAL),
    True: (False, memory.KEPT),
    False: (False, memory.USUAL),
}
WORDS: dict[str, dict[str, Any]] = {
    "QAD_KEEP_MEMORY": {"auto": "auto", "1": True, "0": False},
    "QAD_MESSAGES": {"1": True, "0": False},
    "QAD_PROGRESS": {"1": True, "0": False},
}
_settings = Settings()


def config(
    *, keep_memory: str | bool | None = None, messages: bool | None = None, progress: bool | None = None,
    threads: int | str | None = None,
) -> Settings:  # fmt: skip
    """Change settings, which hold for the whole process, and say what they are.

    Parameters
    ----------
    keep_memory : "auto", True or False, optional
        Whether the GNU C library is told to keep freed blocks of up to 32 MB in the process (at most 64 MB of them
        unused) instead of returning them to the system, which saves gradients of large arrays half of their time.
        "auto" does so at the first gradient of an array of 16 KB or more, True at once, False never. The environment
        variable ``QAD_KEEP_MEMORY`` (``auto``, ``1`` or ``0``) says so before qad is imported.
    messages : bool, optional
        Whether qad says, in one line on stderr, for what it takes more than a second besides the computation itself:
        to compile kernels, to plan a contraction. The environment variable ``QAD_MESSAGES`` (``1`` or ``0``) says so
        before qad is imported.
    progress : bool, optional
        Whether what takes more than two seconds shows a progress bar on stderr, where that is a terminal or a notebook;
        a function whose ``progress=`` is given does what that says. The environment variable ``QAD_PROGRESS`` (``1`` or
        ``0``) says so before qad is imported.
    threads : "auto" or int, optional
        On how many threads compiled kernels work, and BLAS, that of NumPy and that of SciPy. With "auto" BLAS has as
        many as it had, and kernels as many as the environment says (``OMP_NUM_THREADS``) or there are processors.
        However many these are, searches and sweeps along chains of small bonds have BLAS work on one, for its products
        are over before other threads are awake.

    Returns
    -------
    Settings
        All settings, by their names; what is not given stays as it is.

    Raises
    ------
    ArgumentError
        For a value that is none of those above.

    Examples
    --------
    >>> import qad
    >>> qad.config(keep_memory=False)
    Settings(keep_memory=False, messages=True, progress=True, threads='auto')
    >>> qad.config(keep_memory="auto", threads=2).threads
    2
    >>> qad.config(threads="auto").threads
    'auto'
    """
    global _settings
    is_way = isinstance(keep_memory, (bool, str)) and keep_memory in WAYS
    _check("keep_memory", keep_memory, is_way, '"auto", True or False')
    for name, value in (("messages", messages), ("progress", progress)):
        _check(name, value, isinstance(value, bool), "True or False")
    by_itself = isinstance(threads, str) and threads == "auto"
    _check("threads", threads, by_itself or _is_count(threads), '"auto" or a number from 1')
    if keep_memory is not None:
        memory.become(*WAYS[keep_memory])
    if threads is not None:
        set_threads(None if by_itself else int(threads))
    given = {"keep_memory": keep_memory, "messages": messages, "progress": progress, "threads": threads}
    _settings = replace(_settings, **{name: value for name, value in given.items() if value is not None})
    return _settings


def _check(name: str, value: object, is_right: bool, words: str) -> None:
    if value is not None and not is_right:
        raise ArgumentError(f"{name}={value!r}: write {words}")


def _is_count(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value > 0


def from_environment() -> None:
    """Settings that the environment makes."""
    for name, words in WORDS.items():
        word = os.environ.get(name)
        if word is not None and word not in words:
            raise ArgumentError(f"the environment variable {name} is {word!r}: write {', '.join(words)}")
        if word is not None:
            config(**{name.removeprefix("QAD_").lower(): words[word]})


from_environment()
