"""`Picture`: what everything returns that draws."""

from __future__ import annotations

import tempfile
import webbrowser
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from qad.archive import put
from qad.core.errors import ArgumentError
from qad.showing.drawing import Drawing
from qad.showing.painting import paint, painted

if TYPE_CHECKING:
    from typing import Any, Self

    from qad.typing import FilePath

SUFFIXES = (".svg", ".png", ".pdf")


class Picture:
    """A picture: notebooks show it, `save` writes it into a file, and `show` opens it.

    Attributes
    ----------
    alt : str
        What it shows, for readers that cannot see it; it is part of the SVG.

    Examples
    --------
    >>> import qad
    >>> picture = qad.draw(qad.mps.MPS.product([0, 1, 0]))
    >>> picture
    <Picture: MPS(3 sites, open, bonds 1-1-1-1, complex128)>
    >>> picture.svg[:4]
    '<svg'
    """

    alt: str

    def __init__(self, art: Any, alt: str):
        self._art, self.alt = art, alt  # a Drawing, or a Figure of matplotlib

    @property
    def svg(self) -> str:
        """The picture as SVG."""
        if isinstance(self._art, Drawing):
            return self._art.svg(self.alt)
        return self._printed("svg", metadata={"Title": self.alt, "Date": None}).decode()

    def png(self, dpi: float = 144) -> bytes:
        """The picture as the bytes of a PNG file, painted by matplotlib.

        Parameters
        ----------
        dpi : float
            Dots per inch.

        Raises
        ------
        ModuleNotFoundError
            If matplotlib is not installed, with the command that installs it.

        Examples
        --------
        >>> import qad
        >>> qad.draw(qad.Circuit(1).h(0)).png()[1:4]
        b'PNG'
        """
        return self._printed("png", dpi=dpi)

    def save(self, path: FilePath, dpi: float = 144) -> None:
        """Write the picture into a file, in the format that its name ends in.

        Parameters
        ----------
        path : path
            A name that ends in ``.svg``, ``.png`` or ``.pdf``; the latter two need matplotlib.
        dpi : float
            Dots per inch of a PNG.

        Raises
        ------
        ArgumentError
            If the name ends in anything else.
        ModuleNotFoundError
            If matplotlib is needed and not installed.

        Examples
        --------
        >>> import pathlib, tempfile, qad
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder) / "circuit.svg"
        ...     qad.draw(qad.Circuit(1).h(0)).save(path)
        ...     path.read_text()[:4]
        '<svg'
        """
        suffix = Path(path).suffix.lower()
        if suffix not in SUFFIXES:
            raise ArgumentError(f"a picture is saved as {', '.join(SUFFIXES)}: write picture.save('picture.svg')")
        content = self.svg.encode() if suffix == ".svg" else self._printed(suffix[1:], dpi=dpi)
        put(path, lambda file: file.write(content))

    def show(self) -> None:
        """Open the picture: in the browser, from a temporary file; notebooks show it without being asked.

        Examples
        --------
        >>> import qad
        >>> qad.draw(qad.Circuit(1).h(0)).show()  # doctest: +SKIP
        """
        with tempfile.NamedTemporaryFile("w", prefix="qad-", suffix=".svg", delete=False, encoding="utf-8") as file:
            file.write(self.svg)
        webbrowser.open(Path(file.name).as_uri())

    def paint(self, ax: Any | None) -> Self:
        """Paint the picture into Axes of matplotlib, beside figures of your own.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            None paints nowhere.

        Returns
        -------
        Picture
            Itself.

        Raises
        ------
        ArgumentError
            If it is a plot, which is a matplotlib Figure already.

        Examples
        --------
        >>> import qad
        >>> from matplotlib.figure import Figure
        >>> ax = Figure().add_subplot()
        >>> qad.draw(qad.Circuit(1).h(0)).paint(ax)
        <Picture: circuit of 1 qubits and 1 gates>
        >>> [text.get_text() for text in ax.texts]
        ['q0', 'H']
        """
        if not isinstance(self._art, Drawing):
            raise ArgumentError("drawings are painted into Axes; this is a plot, which has Axes of its own")
        if ax is not None:
            paint(self._art, ax)
        return self

    def _printed(self, kind: str, **how: Any) -> bytes:
        figure = painted(self._art) if isinstance(self._art, Drawing) else self._art
        file = BytesIO()
        figure.savefig(file, format=kind, **how)
        return file.getvalue()

    def _repr_svg_(self) -> str | None:
        return self.svg if isinstance(self._art, Drawing) else None

    def _repr_png_(self) -> bytes | None:  # of plots alone: one form of each picture keeps notebooks small
        return None if isinstance(self._art, Drawing) else self.png()

    def __repr__(self) -> str:
        return f"<Picture: {self.alt}>"
