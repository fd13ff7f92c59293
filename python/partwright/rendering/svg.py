"""A figure without a browser: as an SVG picture, and with its words and numbers as a piece of HTML for notebooks."""

from __future__ import annotations

import re
from hashlib import sha256
from html import escape
from typing import TYPE_CHECKING

from partwright._text import plain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from partwright.rendering.document import Document, Section

__all__ = ["fragment", "svg"]

_WIDTH = 760
# A notebook has other content, too.
_FIGURES = 2
_ROWS = 20


def svg(figure: Section) -> str:
    """A figure's plot as the text of an SVG picture, the same bytes each time; empty if it has no plot.

    Args:
        figure: The figure.

    Returns:
        SVG that takes the colour of the text around it.
    """
    import vl_convert

    if figure.spec is None:
        return ""
    # Requests for addresses are denied.
    drawn = vl_convert.vegalite_to_svg({**figure.spec, "width": _WIDTH}, allowed_base_urls=[])
    return _with_own_ids(drawn)


def _with_own_ids(drawn: str) -> str:
    """Name clip paths by the picture's content: Vega only counts on, and pictures of one page must not share them."""
    numbers = {name: str(place) for place, name in enumerate(dict.fromkeys(_CLIP.findall(drawn)))}
    unnamed = _CLIP.sub(lambda found: f"clip{numbers[found[1]]}", drawn)
    own = sha256(unnamed.encode()).hexdigest()[:8]
    return _CLIP.sub(lambda found: f"clip-{own}-{found[1]}", unnamed)


# Only in attributes: text is between tags.
_CLIP = re.compile(r"""(?<=[#"])clip(\d+)(?=[)"])""")


def fragment(document: Document, *, is_drawn: bool = True) -> str:
    """An answer in short: its words and its first figures.

    Args:
        document: The answer's document.
        is_drawn: Whether its figures have plots; otherwise they are only tables, which are open.

    Returns:
        HTML without a script.
    """
    first, *others = (_text(verdict.mark + verdict.text) for verdict in document.verdicts[:_FIGURES])
    said = f"<p><b>{first}</b></p>{''.join(f'<p>{each}</p>' for each in others)}"
    plotted = [section for section in document.sections if section.spec] or document.sections
    figures = "".join(_figure(figure, is_drawn=is_drawn) for figure in plotted[:_FIGURES])
    return f'<div class="partwright"><p><b>{_text(document.title)}</b></p>{said}{figures}</div>'


def _figure(figure: Section, *, is_drawn: bool) -> str:
    head = "".join(f'<th scope="col">{_text(column.title)}</th>' for column in figure.columns)
    rows = "".join(_row(column.written(row) for column in figure.columns) for row in figure.rows[:_ROWS])
    left = figure.left + max(0, len(figure.rows) - _ROWS)
    more = f"<p>… and {left:,} more</p>" if left else ""
    plot = svg(figure) if is_drawn else ""
    is_open = "" if is_drawn else " open"
    picture = f'<div role="img" aria-label="{_text(figure.sentence)}">{plot}</div>' if plot else ""
    return (
        f"<p><b>{_text(figure.title)}</b>: {_text(figure.sentence)}</p>{picture}"
        f"<details{is_open}><summary>The numbers</summary><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table>{more}</details>"
    )


def _row(cells: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in cells)}</tr>"


def _text(text: object) -> str:
    return escape(plain(text))
