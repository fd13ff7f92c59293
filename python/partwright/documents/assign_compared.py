"""Assignors side by side, as figures: how even each is, and what each moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import counted, span
from partwright.documents.sentences import named, of_assumed, of_comparison, summed
from partwright.rendering.colours import ACCENT, EMPHASIS, MUTED, assignors, in_order
from partwright.rendering.document import Column, Document, Section, Verdict, bounded
from partwright.rendering.plots import by_kind, by_name, chart, quantity, tooltip
from partwright.rendering.text import label, number, share, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from partwright._check import Fields
    from partwright.assignors.compare import Compared

__all__ = ["document"]


def document(
    found: Iterable[Compared],
    topics: Mapping[str, int] | None = None,
    members: Sequence[object] = (),
    assumed: Sequence[str] = (),
) -> Document:
    """The page of several assignors' answers about one group.

    Args:
        found: What `partwright.assignors.compare.compare` gives.
        topics: The group's topics, with their numbers of partitions.
        members: Its members.
        assumed: What was assumed about the group, a sentence each.
    """
    found = list(found)
    order = in_order((each.assignor for each in found), assignors())
    rows = [
        {
            "assignor": shown(each.assignor),
            "label": label(each.assignor),
            "least": each.spread.min,
            "most": each.spread.max,
            "apart": each.topic_spread,
            "moved": each.moved,
            "unread": each.unread,
            "in_rack": each.in_rack_share,
            "ms": None if each.seconds is None else each.seconds * 1000,
            "range": span(each.spread.min, each.spread.max),
        }
        for each in sorted(found, key=lambda each: order.index(each.assignor))
        if each.error is None
    ]
    said: tuple[Verdict, ...] = ()
    if topics is not None:
        words = (
            f"{counted(len(members), 'member')}, {counted(len(topics), 'topic')}, "
            f"{counted(sum(topics.values()), 'partition')}"
        )
        said = (Verdict("said", words),)
    figures = (_spread(rows), _moved(rows)) if rows else ()
    verdicts = of_comparison(found)
    answer = summed(verdicts, {"assignors": [each.to_dict() for each in found]}, assumed)
    said += of_assumed(assumed)
    return Document("Assignors side by side", (*verdicts, *said), figures, answer)


_COLUMNS = (
    Column("assignor", "assignor", "text"),
    Column("least", "fewest a member"),
    Column("most", "most a member"),
    Column("apart", "apart in one topic"),
    Column("moved", "moved"),
    Column("unread", "unread"),
    Column("in_rack", "in rack", "share"),
    Column("ms", "ms"),
)


def _evenness(row: Fields) -> str:
    each = span(row["least"], row["most"], "partition")
    return f"{each} a member and {row['apart']:,} apart in one topic"


def _spread(rows: Sequence[Fields]) -> Section:
    gaps = [(row["most"] - row["least"], row["apart"]) for row in rows]
    rows_even = [row for row, gap in zip(rows, gaps, strict=True) if gap == min(gaps)]
    rows_apart = [row for row, gap in zip(rows, gaps, strict=True) if gap == max(gaps)]
    even, apart = ([row["assignor"] for row in those] for those in (rows_even, rows_apart))
    least = "" if even == apart else f", and {named(apart)} least, with {_evenness(rows_apart[0])}"
    x = quantity("least", "partitions a member, the fewest to the most", "whole")
    y = {
        "field": "label",
        "type": "nominal",
        "sort": None,
        "title": None,
        "axis": {"labelLimit": 190, "ticks": False},
    }
    spec = chart(
        rows,
        height=26 * len(rows),
        layer=[
            {
                "mark": {"type": "rule", "strokeWidth": 2, "opacity": 0.5},
                "encoding": {"x": x, "x2": {"field": "most"}, "y": y},
            },
            {
                "name": "main",
                "transform": [{"fold": ["least", "most"], "as": ["end", "partitions"]}],
                "mark": {"type": "circle", "size": 110, "opacity": 1, "color": ACCENT},
                "encoding": {
                    "x": {"field": "partitions", "type": "quantitative"},
                    "y": y,
                    "tooltip": tooltip(
                        assignor="assignor", range="partitions a member", apart="apart in one topic|,"
                    ),
                },
            },
        ],
    )
    return Section(
        id="spread",
        title="How even each assignor is",
        sentence=(
            f"{named(even)} {'is' if len(even) == 1 else 'are'} most even, with {_evenness(rows_even[0])}{least}."
        ),
        spec=spec,
        columns=_COLUMNS[:4],
        **bounded(rows),
        marks=2 * len(rows),
    )


def _names(rows: Sequence[Fields], field: str, value: float) -> list[str]:
    return [row["assignor"] for row in rows if row[field] == value]


def _moved(rows: Sequence[Fields]) -> Section:
    kinds = {"moved": EMPHASIS, "unread": MUTED}
    bars = [
        {
            **row,
            "kind": kind,
            "partitions": row[kind],
            "label": f"{row['label']}: {kind}",
            "text": number(row[kind]),
        }
        for row in rows
        for kind in kinds
    ]
    least, most, unread = (
        min(row["moved"] for row in rows),
        *(max(row[kind] for row in rows) for kind in kinds),
    )
    sentence = "No assignor moves anything that a member owns."
    if most:
        fewest = _names(rows, "moved", least)
        verb = "move" if len(fewest) > 1 else "moves"
        sentence = f"{named(fewest)} {verb} least, {counted(least, 'partition')}"
        if most > least:
            sentence += f", and {named(_names(rows, 'moved', most))} most, {counted(most, 'partition')}"
        if unread:
            lack = counted(unread, "partition has", "partitions have")
            sentence += (
                f"; under {named(_names(rows, 'unread', unread))}, {lack} no reader until the next rebalance"
            )
        near = [row["in_rack"] for row in rows if row["in_rack"] is not None]
        if near:
            best = _names(rows, "in_rack", max(near))
            verb = "read most in their racks" if len(best) > 1 else "reads most in its rack"
            sentence += f"; {named(best)} {verb}, {share(max(near))}"
        sentence += "."
    return Section(
        id="moved",
        title="What each assignor moves",
        sentence=sentence,
        spec=by_name(
            bars,
            quantity("partitions", "partitions", "whole"),
            None,
            tooltip(assignor="assignor", kind="which are", partitions="partitions|,"),
            by_kind("kind", list(kinds), list(kinds.values())),
        )
        if any(bar["partitions"] for bar in bars)
        else None,
        columns=(_COLUMNS[0], *_COLUMNS[4:]),
        **bounded(rows),
        marks=len(bars),
    )
