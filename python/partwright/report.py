"""An answer as a document in any form: a page that needs no network, Markdown, JSON, a picture, a notebook's cell.

>>> import partwright as pw
>>> timeline = pw.group.play({"topics": {"t": 2}, "events": "+2, -1"})
>>> page(timeline)[:15]
'<!DOCTYPE html>'
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from partwright._check import shown
from partwright.answer import Answer
from partwright.documents import document
from partwright.errors import MissingExtraError, PartwrightError
from partwright.folders import save_file
from partwright.rendering import html, markdown, picture, svg, terminal
from partwright.rendering.html import check

__all__ = ["check", "document", "notebook", "page", "text", "write"]


def page(answer: Answer) -> str:
    """The page of an answer, as text.

    Args:
        answer: See `document`.

    Returns:
        HTML.

    Raises:
        PartwrightError: There is no page for this type of answer, or it is too large for one.
        MissingExtraError: The package that makes pages is missing: `pip install 'partwright[report]'`.
    """
    check("report.html")
    return html.html_page(document(answer))


def text(answer: Answer) -> str:
    """An answer for a terminal or a pipe of 88 columns: its words and tables, without colours.

    Args:
        answer: See `document`.

    Returns:
        Lines, without the last one's end.

    Examples:
        >>> import partwright as pw
        >>> text(pw.assign({"t": 2}, ["c1", "c2"])).splitlines()[0]
        '2 members read 2 partitions by range, 1 each.'
    """
    return terminal.text(
        document(answer), terminal.TerminalStyle(terminal.WIDTH, is_styled=False, is_ascii=False)
    ).rstrip("\n")


def notebook(answer: Answer) -> str:
    """An answer for a notebook: its words and first figures, as SVG.

    Args:
        answer: See `document`.

    Returns:
        A piece of HTML without a script. If the package that draws plots is missing (`pip install
        'partwright[report]'`), it has only the words and the numbers.

    Examples:
        >>> import partwright as pw
        >>> notebook(pw.assign({"t": 2}, {"c1": ["t"]}))[:49]
        '<div class="partwright"><p><b>Who reads what</b><'
    """
    try:
        check("report.html")
        is_drawn = True
    except MissingExtraError:
        is_drawn = False
    return svg.fragment(document(answer), is_drawn=is_drawn)


def write(answer: Answer, file: str | os.PathLike[str]) -> Path:
    """Write an answer in the form that the file's suffix names.

    Args:
        answer: See `document`.
        file: A .html or .htm page, .md Markdown, .json, or a .svg, .png or .pdf picture of its first plot; it is
            replaced in one step.

    Returns:
        The file's path.

    Raises:
        PartwrightError: See `page`; the file has another suffix, or cannot be written.
        MissingExtraError: See `page`.

    Examples:
        >>> import partwright as pw
        >>> write(pw.assign({"t": 2}, {"c1": ["t"]}), "report.txt")
        Traceback (most recent call last):
        partwright.errors.PartwrightError: an answer is written as .html, .md, .json, .svg, .png or .pdf by its suffix,\
 not as 'report.txt'
    """
    try:
        path = Path(file)
    except TypeError:
        raise PartwrightError(f"an answer's file is named by its path, not by {shown(file)}") from None
    suffix = path.suffix.lower()
    if suffix in picture.SUFFIXES:
        picture.draw(document(answer), path)
    elif suffix in html.SUFFIXES:
        html.save(page(answer), path)
    elif suffix in {".md", ".json"}:
        made = document(answer)
        written = markdown.text(made) if suffix == ".md" else f"{json.dumps(made.answer)}\n"
        save_file(path, written.encode())
    else:
        raise PartwrightError(
            f"an answer is written as .html, .md, .json, .svg, .png or .pdf by its suffix, not as {str(file)!r}"
        )
    return path
