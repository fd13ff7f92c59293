"""One script played under each protocol: what each life costs, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright.documents.sentences import named, of_lives, summed
from partwright.rendering.colours import ACCENT, MUTED, PROTOCOLS, in_order
from partwright.rendering.document import Column, Document, Section, bounded
from partwright.rendering.plots import by_kind, by_name, quantity, tooltip
from partwright.rendering.text import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partwright._check import Fields

__all__ = ["document", "extremes_of"]

_TIES = 3


def document(answer: Sequence[Fields]) -> Document:
    """The page of several lives side by side.

    Args:
        answer: Their costs, as `partwright.group.costs` gives them.
    """
    order = in_order((each["protocol"] for each in answer), PROTOCOLS)
    rows = [
        {
            **each,
            "members": "static" if each["static"] else "dynamic",
            "label": f"{each['protocol']}, {'static' if each['static'] else 'dynamic'}",
        }
        for each in sorted(answer, key=lambda each: (order.index(each["protocol"]), each["static"]))
    ]
    verdicts = of_lives(answer)
    figures = (
        _cost(rows, "unowned_s", "Without a reader", "seconds of partitions without a reader"),
        _cost(rows, "moved", "Partitions moved", "partitions"),
    )
    told = summed(verdicts, {"lives": list(answer)})
    return Document("The same script under each protocol", verdicts, figures, told)


def extremes_of(rows: Sequence[Fields], field: str, name: str) -> str:
    """Which rows have the least and the most of something, with ties."""
    low, high = (which(row[field] for row in rows) for which in (min, max))
    few, many = ([row[name] for row in rows if row[field] == value] for value in (low, high))
    if low == high:
        return f"{number(low)} with each"
    return f"{number(low)} with {named(few, _TIES)}, the least, and {number(high)} with {named(many, _TIES)}, the most"


def _cost(rows: Sequence[Fields], field: str, title: str, axis: str) -> Section:
    bars = [{**row, "text": number(row[field]), "failures": len(row["failures"])} for row in rows]
    return Section(
        id=field.removesuffix("_s"),
        title=title,
        sentence=f"{axis[0].upper()}{axis[1:]}: {extremes_of(rows, field, 'label')}.",
        spec=by_name(
            bars,
            quantity(field, axis),
            None,
            tooltip(protocol="protocol", members="members", **{field: f"{axis}|,"}),
            by_kind("members", ["dynamic", "static"], [MUTED, ACCENT]),
        )
        if any(row[field] for row in rows)
        else None,
        columns=(
            Column("protocol", "protocol", "text"),
            Column("members", "members", "text"),
            Column("generations", "generations"),
            Column("moved", "moved"),
            Column("unowned_s", "unread, s"),
            Column("longest_s", "longest, s"),
            Column("not_read", "not read"),
            Column("read_twice", "read twice"),
        ),
        **bounded(bars),
        marks=len(bars),
    )
