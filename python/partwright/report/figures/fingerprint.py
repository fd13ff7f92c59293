"""What `partwright fingerprint` found, as figures: what each rule explains, who wrote what, and since when."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright.report.colours import ACCENT, EMPHASIS, MUTED, clients, in_order
from partwright.report.figure import Column, Document, Figure, bounded
from partwright.report.plots import ZOOM, by_kind, by_name, by_partition, quantity, tooltip
from partwright.report.sentences import of_fingerprint
from partwright.report.text import counted, number, of, share

if TYPE_CHECKING:
    from partwright._check import Fields
    from partwright.audit import Fingerprint

__all__ = ["document"]

_LARGEST = 200
_BY_NUMBER = 1_000
_FAMILY, _OTHERS = "what the answer names", "other rules"


def document(found: Fingerprint, source: str | None = None) -> Document:
    """The page of a fingerprint.

    Args:
        found: What it found.
        source: What was read.
    """
    answer = found.to_dict()
    figures = [_explained(answer)]
    if answer["shares"]:
        figures.append(_writers(answer))
    if answer["change"] and answer["change"]["first_offset_after"]:
        figures.append(_since(answer))
    title = f"Who wrote {counted(answer['rows'], 'record')}{of(source)}"
    return Document(title, of_fingerprint(found), tuple(figures), answer)


def _explained(answer: Fields) -> Figure:
    place = {name: at for at, name in enumerate(in_order(answer["explained"], clients()))}
    named = {*answer["family"], *answer["shares"]}
    rows = [
        {
            "client": name,
            "label": name,
            "right": right,
            "of": determined,
            "share": right / (determined or 1),
            "text": share(right / (determined or 1)),
            "kind": _FAMILY if name in named else _OTHERS,
        }
        for name, (right, determined) in answer["explained"].items()
    ]
    rows.sort(key=lambda row: (-row["share"], place[row["client"]]))
    sentence = "There is no rule to compare the records with."
    if rows:
        first = rows[0]
        alike = [
            row["client"] for row in rows if row["right"] == first["right"] and row["share"] == first["share"]
        ]
        others = [row for row in rows if row["client"] not in alike]
        sentence = (
            f"{first['client']}{f' and {len(alike) - 1} more' if len(alike) > 1 else ''} would put "
            f"{number(first['right'])} of {counted(first['of'], 'record')} where they are ({share(first['share'])})"
        )
        if others:
            sentence += f"; the next, {others[0]['client']}, {share(others[0]['share'])}"
        sentence += "."
    kinds = [_FAMILY, _OTHERS]
    spec = by_name(
        rows,
        quantity("share", "share of the records that a rule explains", "share", scale={"domain": [0, 1]}),
        None,
        tooltip(client="client", right="explains|,", of="of|,", share="share|.2%"),
        by_kind("kind", kinds, [ACCENT, MUTED]),
    )
    return Figure(
        id="rules",
        title="What each client's rule explains",
        sentence=sentence,
        spec=spec if rows else None,
        columns=(
            Column("client", "client", "text"),
            Column("right", "records where it puts them"),
            Column("of", "of records that it places"),
            Column("share", "share", "share"),
        ),
        **bounded(rows),
        marks=len(rows),
    )


def _writers(answer: Fields) -> Figure:
    rows = [
        {"writer": name, "label": name, "share": part, "text": share(part)}
        for name, part in sorted(answer["shares"].items(), key=lambda each: -each[1])
    ]
    rows.append(
        {
            "writer": "no rule",
            "label": "no rule",
            "share": answer["unexplained"],
            "text": share(answer["unexplained"]),
        }
    )
    words = ", ".join(f"{row['writer']} {row['text']}" for row in rows[:-1])
    return Figure(
        id="writers",
        title="Who wrote how much",
        sentence=f"Of the records with a key: {words}; no rule explains {share(answer['unexplained'])}.",
        spec=by_name(
            rows,
            quantity("share", "share of the records with a key", "share", scale={"domain": [0, 1]}),
            None,
            tooltip(writer="writer", share="share|.2%"),
        ),
        columns=(Column("writer", "writer", "text"), Column("share", "share", "share")),
        **bounded(rows),
        marks=len(rows),
    )


def _since(answer: Fields) -> Figure:
    change = answer["change"]
    offsets = change["first_offset_after"]
    rows = [{"partition": at, "offset": offset} for at, offset in sorted(offsets.items())]
    n = max(answer["n"] or 0, rows[-1]["partition"] + 1)
    ranked = n > _BY_NUMBER
    drawn = sorted(rows, key=lambda row: -row["offset"])[:_LARGEST] if ranked else rows
    bars = [
        {
            "partition": str(row["partition"]) if ranked else row["partition"],
            "kind": "since",
            "start": 0,
            "end": row["offset"],
            "size": row["offset"],
        }
        for row in drawn
    ]
    steps = " to ".join(str(step) for step in change["steps"])
    return Figure(
        id="since",
        title="Since which offset",
        sentence=(
            f"The {'number of partitions' if change['kind'] == 'n' else 'writer'} went from {steps}: the first offset "
            f"as after is {number(min(row['offset'] for row in rows))} at the earliest and "
            f"{number(max(row['offset'] for row in rows))} at the latest, over {counted(len(rows), 'partition')}."
        ),
        spec=by_partition(
            bars, {"since": EMPHASIS}, "first offset as after", n=None if ranked else n, unit="offset"
        ),
        columns=(Column("partition", "partition"), Column("offset", "first offset as after")),
        **bounded(rows),
        marks=len(bars),
        hint=None if ranked else ZOOM,
    )
