"""Numbers as the command line takes them."""

from __future__ import annotations


def seed(words: str) -> int:
    """A whole number that is not negative."""
    number = int(words)
    if number < 0:
        raise ValueError
    return number
