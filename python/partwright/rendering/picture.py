"""A picture of a document's first plot, as an .svg, .png or .pdf file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from partwright._check import enumeration, shown
from partwright._text import plain
from partwright.errors import MissingExtraError, PartwrightError
from partwright.folders import save_file
from partwright.rendering.svg import bars, svg_picture
from partwright.rendering.text import lines

if TYPE_CHECKING:
    from partwright.rendering.document import Document, Section

SUFFIXES = (".svg", ".png", ".pdf")
"""How a picture's file may end."""

_SCALE = 2.0
# How many characters a line of the sentence above the plot has.
_LINE = 110


def check(file: str | os.PathLike[str]) -> Path:
    """Check the path of a picture before it is drawn.

    Raises:
        PartwrightError: Its suffix is not a picture's.
        MissingExtraError: The package that draws it is missing.

    Examples:
        >>> check("tuning.gif")
        Traceback (most recent call last):
        partwright.errors.PartwrightError: a picture is a .svg, .png or .pdf file by its suffix, not 'tuning.gif'
    """
    path = checked_path(file, "picture", SUFFIXES)
    refuse_missing("vl_convert")
    return path


def checked_path(file: str | os.PathLike[str], what: str, suffixes: Sequence[str]) -> Path:
    """The path of a picture or a report.

    Raises:
        PartwrightError: It is no path, or its suffix is another one.
    """
    try:
        path = Path(file)
    except TypeError:
        raise PartwrightError(f"a {what} is named by its path, not by {shown(file)}", value=file) from None
    if "\0" in str(path):
        raise PartwrightError(f"a {what}'s path has no NUL: {str(path)!r}")
    if path.suffix.lower() not in suffixes:
        forms = enumeration(suffixes).replace(" and ", " or ")
        raise PartwrightError(f"a {what} is a {forms} file by its suffix, not {shown(str(path))}")
    return path


def refuse_missing(*packages: str) -> None:
    """Refuse to draw without the packages that do it.

    Raises:
        MissingExtraError: One is missing.
    """
    for package in packages:
        if find_spec(package) is None:
            raise MissingExtraError(f"{package} is missing: pip install 'partwright[report]'")


def draw(document: Document, file: str | os.PathLike[str]) -> None:
    """Write a document's first plot with its title and its sentence; a .svg or .png has the same bytes each time.

    Args:
        document: The document.
        file: The picture's path.

    Raises:
        PartwrightError: As for `check`; there is no plot; the file cannot be written.
        MissingExtraError: As for `check`.
    """
    path = check(file)
    drawn = svg_picture(_titled(document))
    save_file(path, _as(path.suffix.lower(), drawn))


def _titled(document: Document) -> Section:
    """The first figure that draws anything, with words that explain it without a page."""
    figure, spec = next(
        ((each, spec) for each in document.sections if (spec := each.spec or bars(each))), (None, None)
    )
    if figure is None or spec is None:
        raise PartwrightError("there is nothing to draw: leave out --plot")
    subtitle = [*lines(document.verdicts[0].text, most=_LINE), *lines(figure.sentence, most=_LINE)]
    title = {"text": plain(document.title), "subtitle": [plain(line) for line in subtitle], "anchor": "start"}
    # On paper there is no surrounding text whose colours it could take.
    return replace(figure, spec={**spec, "title": title, "background": "white"})


def _as(suffix: str, drawn: str) -> bytes:
    import vl_convert

    if suffix == ".svg":
        return drawn.encode()
    if suffix == ".png":
        return bytes(vl_convert.svg_to_png(drawn, scale=_SCALE))
    return bytes(vl_convert.svg_to_pdf(drawn))
