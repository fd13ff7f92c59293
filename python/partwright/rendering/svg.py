"""A figure without a browser: as an SVG picture, and with its words and numbers as a piece of HTML for notebooks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from hashlib import sha256
from html import escape
from typing import TYPE_CHECKING, Any

from partwright._text import plain
from partwright.rendering.colours import ACCENT, EMPHASIS
from partwright.rendering.plots import chart, quantity
from partwright.rendering.text import label, lines

if TYPE_CHECKING:
    from partwright.rendering.document import Document, Section
    from partwright.rendering.plots import Spec

_WIDTH = 760
# A notebook has other content, too.
_FIGURES = 2
_ROWS = 20
# Bars of a picture: a table of more rows is none; and the height of each.
_BARS, _ROW_HEIGHT = 40, 22
# What stands at a plot's end has room, in fonts that are wider than the one that was measured, too.
_PADDING = {"left": 28, "top": 6, "right": 36, "bottom": 6}
# What a letter of a plot's text takes, and what an axis has beside it; a name has at most this part of a plot.
_LETTER, _BESIDE, _NAME = 7, 150, 0.3


def svg_picture(figure: Section, width: int = _WIDTH) -> str:
    """A figure's plot as the text of an SVG picture, the same bytes each time; empty if it has no plot.

    Args:
        figure: The figure.
        width: Its width in pixels.

    Returns:
        SVG that takes the colour of the text around it. Each mark with a tooltip has its lines as `data-said`.
    """
    import vl_convert

    spec = figure.spec or bars(figure)
    if spec is None:
        return ""
    # Requests for addresses are denied.
    fitted = {**_fitted(spec, width, spec["height"]), "width": width, "padding": _PADDING}
    drawn = vl_convert.vegalite_to_svg(fitted, allowed_base_urls=[])
    return _with_own_ids(_ROLES.sub("", drawn).replace(' aria-label="', ' data-said="'))


# The parts of a picture have no roles of their own: what it shows is told by its sentence and its table.
_ROLES = re.compile(r' (?:role="graphics-\w+"|aria-roledescription="[^"]*"|aria-hidden="true")')


def _fitted(part: Any, width: int, height: int) -> Any:
    """A specification in which titles and names fit, and each mark says what its tooltip has."""
    if isinstance(part, list):
        return [_fitted(each, width, height) for each in part]
    if not isinstance(part, dict):
        return part
    spec = {name: each if name == "data" else _fitted(each, width, height) for name, each in part.items()}
    if "scale" in spec and spec.get("legend"):
        # As many entries next to each other as there is room for.
        longest = max((len(kind) for kind in spec["scale"].get("domain", ())), default=0)
        spec["legend"]["columns"] = max(1, (width - 80) // (40 + _LETTER * longest))
    if "labelLimit" in spec:
        spec["labelLimit"] = min(spec["labelLimit"], int(width * _NAME))
    for channel, room in (("x", width - _BESIDE), ("y", height)):
        title = spec.get("encoding", {}).get(channel, {}).get("title")
        if title is not None:
            spec["encoding"][channel]["title"] = lines(title, most=max(14, room // _LETTER)) or title
    if "mark" in spec:
        mark = spec["mark"] if isinstance(spec["mark"], dict) else {"type": spec["mark"]}
        tooltip = spec["encoding"].pop("tooltip", None)
        if tooltip:
            spec["transform"] = [
                {"calculate": f"join([{', '.join(map(_line, tooltip))}], '\\n')", "as": "said"}
            ]
            spec["encoding"]["description"] = {"field": "said"}
        spec["mark"] = {**mark, "aria": "description" in spec["encoding"]}
    return spec


def _line(channel: Spec) -> str:
    """A line of a tooltip, as an expression of Vega's."""
    value = f"datum[{json.dumps(channel['field'])}]"
    shown = f"format({value}, {json.dumps(channel['format'])})" if "format" in channel else value
    return f"{json.dumps(channel['title'] + ': ')} + ({value} === null ? '' : {shown})"


def _with_own_ids(drawn: str) -> str:
    """Name clip paths by the picture's content: Vega only counts on, and pictures of one page must not share them."""
    numbers = {name: str(place) for place, name in enumerate(dict.fromkeys(_CLIP.findall(drawn)))}
    unnamed = _CLIP.sub(lambda found: f"clip{numbers[found[1]]}", drawn)
    own = sha256(unnamed.encode()).hexdigest()[:8]
    return _CLIP.sub(lambda found: f"clip-{own}-{found[1]}", unnamed)


# Only in attributes: text is between tags.
_CLIP = re.compile(r"""(?<=[#"])clip(\d+)(?=[)"])""")


def bars(figure: Section) -> Spec | None:
    """The bars that a table has in a terminal and on a page, as a plot of their own; None if it has none.

    Args:
        figure: The table, whose first column names its rows; those that stand out have another colour.
    """
    shown = figure.rows[:_BARS]
    if figure.bar is None or not figure.most:
        return None
    column = next(each for each in figure.columns if each.field == figure.bar)
    names = [label(figure.columns[0].written(row)) for row in shown]
    is_unique = len({*names}) == len(names)
    rows = [
        {
            # Two long names may begin and end alike.
            "label": name if is_unique else f"{place + 1}. {name}",
            "value": row.get(column.field),
            "text": column.written(row),
            "said": "\n".join(f"{each.title}: {each.written(row)}" for each in figure.columns),
            "picked": place in figure.picked,
        }
        for place, (name, row) in enumerate(zip(names, shown, strict=True))
    ]
    axis = {"labelLimit": 190, "labelOverlap": False, "ticks": False, "domain": False}
    y = {"field": "label", "type": "nominal", "sort": None, "title": None, "axis": axis}
    kinds = {"number": "whole", "seconds": "number"}
    drawn = {"y": y, "x": quantity("value", column.title, kinds.get(column.kind, column.kind))}
    colour = {"condition": {"test": "datum.picked", "value": EMPHASIS}, "value": ACCENT}
    return chart(
        rows,
        height=_ROW_HEIGHT * len(rows),
        layer=[
            {
                "name": "main",
                "mark": {"type": "bar", "height": {"band": 0.72}},
                "encoding": {**drawn, "color": colour, "description": {"field": "said"}},
            },
            {
                "mark": {"type": "text", "align": "left", "dx": 4},
                "encoding": {**drawn, "text": {"field": "text"}},
            },
        ],
    )


def fragment(document: Document, *, is_drawn: bool = True) -> str:
    """An answer in short: its words and its first figures.

    Args:
        document: The answer's document.
        is_drawn: Whether its figures have plots; otherwise they are only tables, which are open.

    Returns:
        HTML without a script.
    """
    first, *others = (_text(verdict.mark + verdict.text) for verdict in document.verdicts[:_FIGURES])
    paragraphs = f"<p><b>{first}</b></p>{''.join(f'<p>{each}</p>' for each in others)}"
    plotted = [section for section in document.sections if section.spec or section.bar] or document.sections
    figures = "".join(_figure(figure, is_drawn=is_drawn) for figure in plotted[:_FIGURES])
    return f'<div class="partwright"><p><b>{_text(document.title)}</b></p>{paragraphs}{figures}</div>'


def _figure(figure: Section, *, is_drawn: bool) -> str:
    head = "".join(f'<th scope="col">{_text(column.title)}</th>' for column in figure.columns)
    rows = "".join(_row(column.written(row) for column in figure.columns) for row in figure.rows[:_ROWS])
    left = figure.left + max(0, len(figure.rows) - _ROWS)
    more = f"<p>… and {left:,} more</p>" if left else ""
    plot = svg_picture(figure) if is_drawn else ""
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
