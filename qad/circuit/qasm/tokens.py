"""Words of OpenQASM 2 and 3, each with its line and column."""

from __future__ import annotations

import re
from typing import NamedTuple

from qad.core.errors import QasmError

PATTERN = re.compile(
    r"(?P<space>\s+|//[^\n]*|/\*[\s\S]*?\*/|#?pragma\s+braket\s+result\b[^\n]*)"
    r"|(?P<real>(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)"
    r"|(?P<int>\d+)"
    r"|(?P<word>[^\W\d]\w*)"
    r"|(?P<physical>\$\d+)"
    r'|(?P<string>"[^"\n]*")'
    r"|(?P<sign>->|==|!=|<=|>=|&&|\|\||\*\*|[-+*/%^(){}\[\],;:@=<>!])"
)


MOST_ELEMENTS = 100_000  # of all registers
MOST_STEPS = 1_000_000  # gates and statements that a program may unfold to


class Token(NamedTuple):
    """A word: its kind, a group of the pattern or "end", its text, and where it stands."""

    kind: str
    text: str
    line: int
    column: int

    def error(self, message: str) -> QasmError:
        """An exception that points here."""
        return QasmError(message, self.line, self.column)

    def __str__(self) -> str:
        return "the end of the program" if self.kind == "end" else repr(self.text)


def tokens_of(program: str) -> list[Token]:
    """All tokens of a program, the last of kind "end"."""
    found, at, line, begin = [], 0, 1, 0
    while at < len(program):
        match = PATTERN.match(program, at)
        if match is None:
            raise QasmError(f"{program[at]!r} has no meaning here", line, at - begin + 1)
        if match.lastgroup != "space":
            found.append(Token(match.lastgroup, match[0], line, at - begin + 1))
        if newlines := match[0].count("\n"):
            line += newlines
            begin = at + match[0].rindex("\n") + 1
        at = match.end()
    return [*found, Token("end", "", line, at - begin + 1)]


class Reader:
    """Hands out tokens one by one."""

    tokens: list[Token]
    at: int

    def __init__(self, program: str):
        self.tokens, self.at = tokens_of(program), 0

    @property
    def next(self) -> Token:
        """The token that comes next."""
        return self.tokens[self.at]

    def take(self) -> Token:
        """That token; the one after it is next now."""
        token = self.next
        self.at += token.kind != "end"
        return token

    def accept(self, text: str) -> bool:
        """Whether this text came next; it is taken then."""
        found = self.next.text == text and self.next.kind != "string"
        self.at += found
        return found

    def expect(self, text: str) -> None:
        """Take this text."""
        if not self.accept(text):
            raise self.next.error(f"expected {text!r}, not {self.next}")

    def expect_kind(self, kind: str, what: str) -> Token:
        """Take a token of this kind."""
        if self.next.kind != kind:
            raise self.next.error(f"expected {what}, not {self.next}")
        return self.take()
