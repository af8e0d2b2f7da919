"""Circuits as text and as pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.circuit.program.layout import laid_out
from qad.showing.drawing import GREY, INK, Drawing
from qad.showing.picture import Picture

if TYPE_CHECKING:
    from qad.circuit.program.builder import Builder
    from qad.circuit.program.layout import Symbol

COLOURS = {"R": "#d3e9f7", "X": "#fbdcc9", "Y": "#fbdcc9", "Z": "#fbdcc9", "H": "#fbf6c2"}  # tints of Okabe and Ito's
OTHER = "#d5efe6"
WIRE, MARGIN = 36.0, 40.0  # pixels: between wires, and left of them


def text(circuit: Builder, width: int = 120) -> str:
    """A drawing of lines and letters; where it is wider than `width`, it goes on below.

    Parameters
    ----------
    circuit : Circuit
    width : int
        Columns of the terminal.

    Returns
    -------
    str
    """
    symbols = laid_out(circuit)
    names = [f"q{q}: " for q in range(circuit.n)]
    margin = max(map(len, names))
    names = [name.ljust(margin) for name in names]
    blocks = [names_and_gaps(names)]
    for column in range(1 + max((s.column for s in symbols), default=-1)):
        piece = column_of([s for s in symbols if s.column == column], circuit.n)
        if len(blocks[-1][0]) > margin and len(blocks[-1][0]) + len(piece[0]) > width:
            blocks.append(names_and_gaps(names))
        blocks[-1] = [line + more for line, more in zip(blocks[-1], piece, strict=True)]
    if not symbols:
        blocks[-1] = [line + "─" * (i % 2 == 0) for i, line in enumerate(blocks[-1])]
    return "\n\n".join("\n".join(trimmed(block)) for block in blocks)


def names_and_gaps(names: list[str]) -> list[str]:
    """The beginnings of all lines: a name for each wire, and spaces between wires."""
    lines = [line for name in names for line in (name, " " * len(name))]
    return lines[:-1]


def column_of(symbols: list[Symbol], n: int) -> list[str]:
    """One column: a line for each wire and for each gap between wires."""
    width = max(len(mark) for s in symbols for mark in s.marks.values())
    lines = [("─" if i % 2 == 0 else " ") * (width + 2) for i in range(2 * n - 1)]
    for symbol in symbols:
        first, last = symbol.span
        for i in range(2 * first, 2 * last + 1):
            mark = symbol.marks.get(i // 2, "┼") if i % 2 == 0 else "│"
            lines[i] = "─" + mark.center(width, "─") + "─" if i % 2 == 0 else " " + mark.center(width) + " "
    return lines


def trimmed(block: list[str]) -> list[str]:
    """Lines without spaces at their ends; wires end in a dash."""
    return [line.rstrip() if line.strip() else "" for line in block]


def drawn(circuit: Builder) -> Picture:
    """A picture: a line for each qubit, boxes and controls on it."""
    symbols = laid_out(circuit)
    middles, length = centres(symbols)
    width, height = length + MARGIN + 14, WIRE * circuit.n + 14
    drawing = Drawing(width, height)
    lines = [7 + WIRE * (q + 0.5) for q in range(circuit.n)]
    for q, y in enumerate(lines):
        drawing.line([(MARGIN, y), (width - 8, y)], width=1.1)
        drawing.text(MARGIN - 8, y, f"q{q}", 12, GREY, align="end")
    for symbol in symbols:
        x, (first, last) = MARGIN + middles[symbol.column], symbol.span
        if last > first:
            drawing.line([(x, lines[first]), (x, lines[last])], width=1.3)
        for q, mark in symbol.marks.items():
            draw_mark(drawing, x, lines[q], mark)
    return Picture(drawing, f"circuit of {circuit.n} qubits and {len(symbols)} gates")


def centres(symbols: list[Symbol]) -> tuple[dict[int, float], float]:
    """The middle of every column, and the end of the last: columns are as wide as their widest mark."""
    widths = {}
    for symbol in symbols:
        widths[symbol.column] = max([widths.get(symbol.column, 0.0), *map(box_width, symbol.marks.values())])
    middles, x = {}, 12.0
    for column in sorted(widths):
        middles[column] = x + widths[column] / 2
        x += widths[column] + 12
    return middles, max(x, 24.0)


def box_width(mark: str) -> float:
    """The width of a mark in pixels."""
    return 28.0 if len(mark) < 3 else 7.0 * len(mark) + 12


def draw_mark(drawing: Drawing, x: float, y: float, mark: str) -> None:
    """A control, one end of a swap, or a box with a text."""
    if mark == "●":
        drawing.disc(x, y, 4, fill=INK)
    elif mark == "⊕":
        drawing.disc(x, y, 9)
        drawing.line([(x - 9, y), (x + 9, y)], width=1.3)
        drawing.line([(x, y - 9), (x, y + 9)], width=1.3)
    elif mark == "×":
        for sign in (1, -1):
            drawing.line([(x - 6, y - 6 * sign), (x + 6, y + 6 * sign)], width=1.6)
    else:
        width = box_width(mark)
        drawing.box(x - width / 2, y - 13, width, 26, COLOURS.get(mark[0], OTHER))
        drawing.text(x, y, mark, 12)
