"""What people call operators and basis states, and the names that sites have for them."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

SPELLINGS = (
    ("dagger", "dag"), ("†", "dag"), ("plus", "p"), ("minus", "m"), ("+", "p"), ("-", "m"), ("↑", "up"), ("↓", "dn"),
    ("down", "dn"), ("sigma", ""), ("pauli", ""),
)  # fmt: skip
IGNORED = str.maketrans("", "", "_^{}() *\\")
ALIKE = 0.4  # the least likeness of a name that is suggested
ALIASES = {"a": "b", "adag": "bdag", "i": "id", "1": "id", "identity": "id", "one": "id"}


def spelled(name: str) -> str:
    """A name as every way of writing it has in common: "c^dagger_up", "cdag_up" and "Cdagup" are one."""
    text = name.lower().translate(IGNORED)
    for long, short in SPELLINGS:
        text = text.replace(long, short)
    if "dag" in text:
        text = text.replace("dag", "")
        text = text[:1] + "dag" + text[1:]
    return text


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """The known names that are meant, most likely: one, several that are equally near, or none."""
    text, raised = spelled(name), spelled(name.replace("+", "dag"))
    by_spelling = {spelled(other): other for other in known}
    for guess in (text, ALIASES.get(text), raised, ALIASES.get(raised)):
        if guess in by_spelling:
            return [by_spelling[guess]]
    likeness = {other: SequenceMatcher(None, text, spelling).ratio() for spelling, other in by_spelling.items()}
    best = max(likeness.values(), default=0.0)
    return [other for other, ratio in likeness.items() if ratio == best] if best > ALIKE else []


def suggestion(name: str, known: Iterable[str]) -> str:
    """A question that names what is meant, or nothing."""
    near = nearest(str(name), known)
    return f"did you mean {' or '.join(map(repr, near[:3]))}? " if near else ""
