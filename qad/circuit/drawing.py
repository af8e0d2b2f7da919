"""Circuits as text and as pictures."""

from __future__ import annotations

from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING

from qad.circuit.layout import laid_out

if TYPE_CHECKING:
    from typing import Any

    from matplotlib.axes import Axes

    from qad.circuit.builder import Builder
    from qad.circuit.layout import Symbol

COLOURS = {"R": "#dbeafe", "X": "#fde2e2", "Y": "#fde2e2", "Z": "#fde2e2", "H": "#fef3c7"}
OTHER, INK = "#e8f5e9", "#1f2328"


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


def figure(circuit: Builder, ax: Axes | None = None) -> Any:
    """A picture by matplotlib.

    Parameters
    ----------
    circuit : Circuit
    ax : matplotlib Axes, optional
        Where to draw; by default in a new figure.

    Returns
    -------
    matplotlib Figure
    """
    symbols = laid_out(circuit)
    middles, length = centres(symbols)
    if ax is None:
        from matplotlib.figure import Figure

        shown = Figure(figsize=(max(2.0, 0.45 * (length + 1.2)), 0.5 * circuit.n + 0.3), layout="constrained")
        shown._repr_png_ = partial(png_of, shown)  # notebooks show it, whether pyplot was used before or not
        ax = shown.add_subplot()
    for q in range(circuit.n):
        ax.plot([-0.6, length - 0.1], [q, q], color=INK, lw=0.9, zorder=0)
        ax.text(-0.75, q, f"$q_{{{q}}}$", ha="right", va="center", fontsize=11)
    for symbol in symbols:
        x, (first, last) = middles[symbol.column], symbol.span
        ax.plot([x, x], [first, last], color=INK, lw=1.1, zorder=1)
        for q, mark in symbol.marks.items():
            draw_mark(ax, x, q, mark)
    ax.set(xlim=(-1.4, length + 0.1), ylim=(circuit.n - 0.45, -0.55), aspect="equal")
    ax.axis("off")
    return ax.figure


def png_of(shown: Any) -> bytes:
    """A figure as the bytes of a PNG file."""
    file = BytesIO()
    shown.savefig(file, format="png", dpi=110)
    return file.getvalue()


def centres(symbols: list[Symbol]) -> tuple[dict[int, float], float]:
    """The middle of every column, and the end of the last: columns are as wide as their widest mark."""
    widths = {}
    for symbol in symbols:
        widths[symbol.column] = max([widths.get(symbol.column, 0.0), *map(box_width, symbol.marks.values())])
    middles, x = {}, 0.0
    for column in sorted(widths):
        middles[column] = x + widths[column] / 2
        x += widths[column] + 0.3
    return middles, max(x, 0.5)


def box_width(mark: str) -> float:
    """The width of a mark in units of the distance of wires."""
    return 0.62 if len(mark) < 3 else 0.15 * len(mark) + 0.3


def draw_mark(ax: Axes, x: float, q: int, mark: str) -> None:
    """A control, one end of a swap, or a box with a text."""
    from matplotlib.patches import Circle, FancyBboxPatch

    if mark == "●":
        ax.add_patch(Circle((x, q), 0.09, color=INK, zorder=3))
    elif mark == "⊕":
        ax.add_patch(Circle((x, q), 0.2, facecolor="white", edgecolor=INK, lw=1.1, zorder=2))
        ax.plot([x - 0.2, x + 0.2], [q, q], [x, x], [q - 0.2, q + 0.2], color=INK, lw=1.1, zorder=3)
    elif mark == "×":
        for sign in (1, -1):
            ax.plot([x - 0.13, x + 0.13], [q - 0.13 * sign, q + 0.13 * sign], color=INK, lw=1.4, zorder=3)
    else:
        width = box_width(mark)
        ax.add_patch(FancyBboxPatch(
            (x - width / 2, q - 0.3), width, 0.6, boxstyle="round,pad=0,rounding_size=0.08",
            facecolor=COLOURS.get(mark[0], OTHER), edgecolor=INK, lw=0.9, zorder=2,
        ))  # fmt: skip
        ax.text(x, q, mark, ha="center", va="center", fontsize=9, color=INK, zorder=3)
