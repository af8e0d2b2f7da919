"""What notebooks show of an object: a title, a small table and, where there is one, a drawing of letters."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

INHERITED = "color:inherit;font-size:inherit"  # no colours but the notebook's own, dark or light
CELL = "text-align:left;padding:1px 14px 1px 0;background:none"
TEXT = "line-height:1.25;background:none;overflow-x:auto"


def card(title: str, rows: Iterable[tuple[str, object]] = (), text: str = "") -> str:
    """HTML of a title, lines of a name and a value, and text whose spaces count.

    Parameters
    ----------
    title : str
    rows : iterable of (str, object)
        Values are shown as ``str`` shows them; all is escaped.
    text : str

    Returns
    -------
    str

    Examples
    --------
    >>> from qad.showing import card
    >>> card("a < b")
    '<div><b>a &lt; b</b></div>'
    """
    lines = "".join(
        f'<tr style="background:none"><th style="{CELL};font-weight:normal;opacity:0.7">{escape(name)}</th>'
        f'<td style="{CELL}">{escape(str(value))}</td></tr>'
        for name, value in rows
    )
    table = f'<table style="{INHERITED}">{lines}</table>' if lines else ""
    below = f'<pre style="{TEXT}">{escape(text)}</pre>' if text else ""
    return f"<div><b>{escape(title)}</b>{table}{below}</div>"
