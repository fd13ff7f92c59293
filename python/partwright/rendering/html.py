"""The page of `--report`: one HTML file that needs no network, with the answer's words, plots, numbers and JSON."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
import re
from collections.abc import Mapping
from functools import cache
from importlib import metadata, resources
from pathlib import Path
from typing import TYPE_CHECKING

from partwright._check import counted
from partwright._text import plain_lines
from partwright.errors import PartwrightError
from partwright.folders import save_file
from partwright.keys.key_text import short
from partwright.rendering.document import TABLED
from partwright.rendering.picture import checked_path, refuse_missing
from partwright.rendering.svg import svg_picture

if TYPE_CHECKING:
    from partwright.rendering.document import Document, Section

MOST_BYTES = 5_000_000
"""A page is smaller than this; if its JSON does not fit, the JSON is left out."""

SUFFIXES = (".html", ".htm")
"""How a page's file may end."""
_NAMED = 1000
# How many rows of all tables together are printed.
_PRINTED = 48
_WIDE, _NARROW = 1080, 340


def check(file: str | os.PathLike[str]) -> Path:
    """Check the path of a page before it is written.

    Args:
        file: A .html or .htm file in an existing folder.

    Returns:
        The path.

    Raises:
        PartwrightError: It does not end in .html or .htm, is a folder, or its folder does not exist.
        MissingExtraError: The package that makes pages is missing.

    Examples:
        >>> check("report.pdf")
        Traceback (most recent call last):
        partwright.errors.PartwrightError: a report is a .html or .htm file by its suffix, not 'report.pdf'
    """
    path = checked_path(file, "report", SUFFIXES)
    if path.is_dir():
        raise PartwrightError(f"{str(path)!r} is a folder: name a file for the report")
    if not path.parent.is_dir():
        raise PartwrightError(
            f"there is no folder {str(path.parent)!r} for the report: make it, or name another file"
        )
    if not os.access(path.parent, os.W_OK):
        raise PartwrightError(
            f"nothing can be written to {str(path.parent)!r}: name another file for the report"
        )
    refuse_missing("vl_convert", "jinja2")
    return path


def html_page(document: Document) -> str:
    """The page's text.

    Args:
        document: Its contents.

    Raises:
        PartwrightError: The page would be too large.
    """
    answer, hidden_rows = _script_json(document.answer), _hidden_rows(document)
    plots = {each.id: _plots(each) for each in document.sections if each.spec}
    without = (
        f"The JSON of {counted(len(answer), 'byte')} is not in the page, which would be larger than "
        f"{MOST_BYTES:,} bytes: partwright {document.question.command} --json prints it."
    )
    # A page that is too large first leaves out the rest of its tables, then its JSON.
    whole = [(answer, "", hidden_rows), (answer, "", None)] if len(answer) < MOST_BYTES else []
    for parts in (*whole, (None, without, hidden_rows), (None, without, None)):
        page = _rendered(document, plots, *parts)
        if len(page.encode()) < MOST_BYTES:
            return page
    raise PartwrightError(f"the report would be larger than {MOST_BYTES:,} bytes: leave out --report")


def _plots(figure: Section) -> list[str]:
    """A figure's plot for a screen, and for a phone or half a sheet of paper: its marks get the first one's words."""
    return [svg_picture(figure, _WIDE), _DATA_SAID.sub('data-said=""', svg_picture(figure, _NARROW))]


_DATA_SAID = re.compile(r'data-said="[^"]*"')


def _hidden_rows(document: Document) -> str | None:
    """The rows of tables that are not shown at once, as JSON by figure; None if all are shown."""
    tables = {
        figure.id: [[row.get(column.field) for column in figure.columns] for row in figure.rows[TABLED:]]
        for figure in document.sections
        if len(figure.rows) > TABLED
    }
    return _script_json(tables) if tables else None


def save(text: str, file: str | os.PathLike[str]) -> Path:
    """Write a page next to its path, and move it there in one step.

    Raises:
        PartwrightError: As for `check`; it cannot be written.
    """
    path = check(file)
    save_file(path, text.encode())
    return path


def _rendered(
    document: Document,
    plots: Mapping[str, list[str]],
    answer: str | None,
    without: str,
    hidden_rows: str | None,
) -> str:
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    def finalized(value: object) -> object:
        return value if isinstance(value, Markup) or not isinstance(value, str) else _line(value)

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, finalize=finalized, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["raw"] = _raw
    environment.filters["index"] = list.index
    scripts = [_text("page.js"), _text("page_tables.js")]
    hashes = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    return environment.from_string(_text("page.html.jinja")).render(
        document=document,
        question=document.question,
        version=metadata.version("partwright"),
        without=without,
        answer=answer,
        rest=hidden_rows,
        tabled=TABLED,
        # Together they are about one page.
        printed=max(4, _PRINTED // max(1, len(document.sections))),
        plots=plots,
        style=_text("page.css"),
        scripts=scripts,
        policy=f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; base-uri 'none'; {_FORMS}",
    )


_FORMS = "form-action 'none'"


def _line(text: str) -> str:
    """A text for the page: line ends stay, and all other invisible characters are written out."""
    shown = plain_lines(text)
    return shown if len(shown) <= _NAMED else short(shown)


def _raw(value: object) -> str:
    return json.dumps(value)


def _script_json(value: object) -> str:
    """JSON that may be placed inside a script: nothing in it begins a tag, and each number is valid JSON."""
    try:
        text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    except ValueError:
        # Only the few answers with numbers that JSON lacks are searched for them.
        text = json.dumps(_finite(value), allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e")


def _finite(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    return [_finite(each) for each in value] if isinstance(value, (list, tuple)) else value


@cache
def _text(name: str) -> str:
    return resources.files("partwright.rendering").joinpath(name).read_text(encoding="utf-8")


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
