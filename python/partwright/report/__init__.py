"""One page of an answer: its words, plots and numbers in one HTML file that needs no network.

>>> import partwright as pw
>>> timeline = pw.group.play({"topics": {"t": 2}, "events": "+2, -1"})
>>> page(timeline)[:15]
'<!DOCTYPE html>'
"""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from partwright.errors import MissingExtraError
from partwright.report.html_page import Asked, check, html, save
from partwright.report.sentences import of_reading
from partwright.report.svg import fragment
from partwright.report.topics import topic_of

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from partwright._check import Json
    from partwright.report.figure import Document

__all__ = ["Asked", "check", "notebook", "page", "write"]


def page(answer: object, *, asked: Asked | None = None, **more: object) -> str:
    """The page of an answer, as text.

    Args:
        answer: A Check, a Fingerprint, a Resize, a Meeting, an Assignment, a Timeline, a Rollout, a Simulation, a
            Tuning, an Advice, ReplicaCounts, a Reassignment, or a run's report; or with `asked`, several side by side
            as `compare` of the same parts gives them.
        asked: The question that it answers; by default only the command.
        more: Further values that the figures of such an answer need.

    Returns:
        HTML.

    Raises:
        PartwrightError: There is no page for this type of answer, or it is too large for one.
        MissingExtraError: The package that makes pages is missing: `pip install 'partwright[report]'`.
    """
    check("report.html")
    asked, document = _document(answer, asked, more)
    return html(document, asked)


def notebook(answer: object) -> str:
    """An answer for a notebook: its words and first figures, as SVG.

    Args:
        answer: See `page`.

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
    _, document = _document(answer, None, {})
    return fragment(document, is_drawn=is_drawn)


def _document(answer: object, asked: Asked | None, more: dict[str, object]) -> tuple[Asked, Document]:
    topic = topic_of(answer, None if asked is None else asked.command)
    asked = asked or Asked(topic)
    module = importlib.import_module(f"partwright.report.figures.{topic}")
    found: Document = module.document(answer, asked.source, **more)
    if asked.read is not None:
        verdicts = (*found.verdicts, of_reading(asked.read))
        found = replace(found, verdicts=verdicts, answer={**cast("Json", found.answer), "read": asked.read})
    return asked, found


def write(
    answer: object,
    file: str | os.PathLike[str],
    *,
    asked: Asked | None = None,
    **more: object,
) -> Path:
    """Write the page of an answer.

    Args:
        answer: See `page`.
        file: The page's file, .html or .htm, which is replaced in one step.
        asked: See `page`.
        more: See `page`.

    Returns:
        The file's path.

    Raises:
        PartwrightError: See `page`; the file has another suffix, or cannot be written.
        MissingExtraError: See `page`.

    Examples:
        >>> import partwright as pw
        >>> write(pw.assign({"t": 2}, {"c1": ["t"]}), "report.txt")
        Traceback (most recent call last):
        partwright.errors.PartwrightError: a report is a .html or .htm file by its suffix, not 'report.txt'
    """
    check(file)
    return save(page(answer, asked=asked, **more), file)
