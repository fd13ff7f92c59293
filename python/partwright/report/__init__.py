"""One page of an answer: its words, plots and numbers in one HTML file that needs no network.

>>> import partwright as pw
>>> timeline = pw.group.play({"topics": {"t": 2}, "events": "+2, -1"})
>>> page(timeline)[:15]
'<!DOCTYPE html>'
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from partwright.errors import MissingExtraError, PartwrightError
from partwright.report.svg import fragment
from partwright.report.writing import Asked, check, html, save

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from partwright.report.figure import Document

__all__ = ["Asked", "check", "notebook", "page", "write"]

# By the class of an answer, the command that gives it.
_TOPICS = {
    "Placement": "check",
    "Fingerprint": "fingerprint",
    "Resize": "resize",
    "Assignment": "assign",
    "Timeline": "group",
    "Simulation": "batch",
    "Tuning": "batch",
    "Report": "run",
}


def page(answer: Any, *, asked: Asked | None = None, **more: Any) -> str:  # noqa: ANN401 - whatever commands answer
    """The page of an answer, as text.

    Args:
        answer: A Placement, a Fingerprint, a Resize, an Assignment, a Timeline, a Simulation, a Tuning, or a run's
            report; or with `asked`, several side by side as `compare` of the same parts gives them.
        asked: What it answers; by default the command alone.
        more: What the figures of such an answer are told beside it.

    Returns:
        HTML.

    Raises:
        PartwrightError: It is none of these, or too much for a page.
        MissingExtraError: What makes pages is missing: `pip install 'partwright[report]'`.
    """
    check("report.html")
    asked, document = _document(answer, asked, more)
    return html(document, asked)


def notebook(answer: Any) -> str | None:  # noqa: ANN401 - see `page`
    """What a notebook shows of an answer: its words and first figures, as SVG.

    Args:
        answer: See `page`.

    Returns:
        A piece of HTML without a script; None where what makes it is missing, and a notebook shows the answer's text.

    Examples:
        >>> import partwright as pw
        >>> notebook(pw.assign({"t": 2}, {"c1": ["t"]}))[:49]
        '<div class="partwright"><p><b>Who reads what</b><'
    """
    try:
        check("report.html")
    except MissingExtraError:
        return None
    _, document = _document(answer, None, {})
    return fragment(document)


def _document(answer: Any, asked: Asked | None, more: dict[str, Any]) -> tuple[Asked, Document]:  # noqa: ANN401
    topic = _TOPICS.get(type(answer).__name__)
    if topic is None and asked is not None and isinstance(answer, (dict, list)):
        # Several side by side.
        topic = asked.command
    if topic is None or topic not in _TOPICS.values():
        raise PartwrightError(
            f"there is no report of a {type(answer).__name__}: there are those of {_known()}"
        )
    asked = asked or Asked(topic)
    module = importlib.import_module(f"partwright.report.figures.{topic}")
    return asked, module.document(answer, asked.source, **more)


def write(
    answer: Any,  # noqa: ANN401 - see `page`
    file: str | os.PathLike[str],
    *,
    asked: Asked | None = None,
    **more: Any,  # noqa: ANN401 - the same
) -> Path:
    """Writes the page of an answer.

    Args:
        answer: See `page`.
        file: Where it is written to: a .html or .htm file, which is replaced in one step.
        asked: See `page`.
        more: See `page`.

    Returns:
        The file's path.

    Raises:
        PartwrightError: See `page`; the file is named otherwise, or cannot be written.
        MissingExtraError: See `page`.

    Examples:
        >>> import partwright as pw
        >>> write(pw.assign({"t": 2}, {"c1": ["t"]}), "report.txt")
        Traceback (most recent call last):
        partwright.errors.PartwrightError: a report is a .html or .htm file by its suffix, not 'report.txt'
    """
    check(file)
    return save(page(answer, asked=asked, **more), file)


def _known() -> str:
    return ", ".join(_TOPICS)
