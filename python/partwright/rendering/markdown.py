"""A document as Markdown, for a pull request, a ticket or a chat; in GitHub's form of tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from partwright._check import counted
from partwright._text import plain

if TYPE_CHECKING:
    from partwright.rendering.document import Column, Document, Section

_ROWS = 48
# Signs that Markdown or HTML would act on: a name may not begin a link, a tag, a cell or a mention.
_ACTING = re.compile(r"([\\`*_{}\[\]<>#|~@&$])")
_TICKS = re.compile("`+")


def text(document: Document) -> str:
    """A document's verdicts, then its sections, each with a title, a sentence, and a table, of which long ones are cut.

    Args:
        document: The document.

    Returns:
        Markdown that ends in a line end; names stand as code, so that nothing in them acts.
    """
    first, *others = document.verdicts
    parts = [f"### {_words(document.title)}", f"**{_words(first.mark + first.text)}**"]
    if others:
        parts.append("\n".join(f"- {_words(each.mark + each.text)}" for each in others))
    for section in document.sections:
        parts += _section(section)
    return "\n\n".join(parts) + "\n"


def _section(section: Section) -> Iterator[str]:
    yield f"#### {_words(section.title)}"
    if section.sentence:
        yield _words(section.sentence)
    if section.steps:
        yield "\n".join(f"{number}. {_words(step)}" for number, step in enumerate(section.steps, 1))
    for lines in filter(None, (section.code, section.sketch)):
        longest = max((len(ticks) for line in lines for ticks in _TICKS.findall(line)), default=0)
        fence = "`" * max(3, longest + 1)
        yield "\n".join([fence, *map(plain, lines), fence])
    if section.rows and section.columns:
        yield "\n".join(_table(section))
    left = section.left + max(0, len(section.rows) - _ROWS)
    if left and section.columns:
        yield f"… and {counted(left, 'more row')} in the JSON"


def _table(section: Section) -> Iterator[str]:
    yield _row([_words(column.title) for column in section.columns])
    yield _row(["---:" if column.kind not in {"text", "prose"} else "---" for column in section.columns])
    for place, row in enumerate(section.rows[:_ROWS]):
        cells = [_cell(column, column.written(row)) for column in section.columns]
        yield _row([f"**{cell}**" if cell and place in section.picked else cell for cell in cells])


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(column: Column, words: str) -> str:
    """A name as code: in a table, a bar ends a cell even there."""
    if column.kind != "text" or not words.strip():
        return _words(words)
    ticks = "`" * (1 + max(map(len, _TICKS.findall(words)), default=0))
    edge = " " if words.startswith("`") or words.endswith("`") else ""
    return f"{ticks}{edge}{plain(words)}{edge}{ticks}".replace("|", "\\|")


def _words(words: str) -> str:
    return _ACTING.sub(r"\\\1", plain(words))
