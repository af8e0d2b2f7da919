"""The settings of qad, which hold for the whole process."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from qad.core import malloc as memory
from qad.core.errors import ArgumentError


@dataclass(frozen=True)
class Settings:
    """What `qad.config` returns: the settings as they are now."""

    keep_memory: str | bool = "auto"


WAYS = {"auto": memory.wait, True: memory.keep, False: memory.leave}
WORDS = {"auto": "auto", "1": True, "0": False}  # in the environment
_settings = Settings()


def config(*, keep_memory: str | bool | None = None) -> Settings:
    """Change settings, which hold for the whole process, and say what they are.

    Parameters
    ----------
    keep_memory : "auto", True or False, optional
        Whether the GNU C library is told to keep freed blocks of up to 32 MB in the process (at most 64 MB of them
        unused) instead of returning them to the system, which saves gradients of large arrays half of their time.
        "auto" does so at the first gradient of an array of 16 KB or more, True at once, False never. The environment
        variable ``QAD_KEEP_MEMORY`` (``auto``, ``1`` or ``0``) says so before qad is imported.

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
    Settings(keep_memory=False)
    >>> qad.config(keep_memory="auto").keep_memory
    'auto'
    """
    global _settings
    if keep_memory is not None:
        if not isinstance(keep_memory, (bool, str)) or keep_memory not in WAYS:
            raise ArgumentError(f'keep_memory={keep_memory!r}: write "auto", True or False')
        WAYS[keep_memory]()
        _settings = replace(_settings, keep_memory=keep_memory)
    return _settings


def from_environment():
    """Settings that the environment makes."""
    word = os.environ.get("QAD_KEEP_MEMORY")
    if word is None:
        return
    if word not in WORDS:
        raise ArgumentError(f"the environment variable QAD_KEEP_MEMORY is {word!r}: write auto, 1 or 0")
    config(keep_memory=WORDS[word])


from_environment()
