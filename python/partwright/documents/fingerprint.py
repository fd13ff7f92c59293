"""Figures for `partwright fingerprint`: what each rule explains, who wrote what, and since when."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import counted
from partwright.documents.sentences import named, of_fingerprint, summed, time
from partwright.rendering.colours import ACCENT, EMPHASIS, MUTED, PALETTE, clients, in_order
from partwright.rendering.document import Column, Document, Section, bounded
from partwright.rendering.plots import ZOOM, by_kind, by_name, by_partition, chart, quantity, tooltip
from partwright.rendering.text import number, share

if TYPE_CHECKING:
    from partwright._check import Fields, Json
    from partwright.audit import Fingerprint

__all__ = ["document"]

_LARGEST = 200
_BY_NUMBER = 1_000
_FAMILY, _OTHERS = "what the answer names", "other rules"


def document(found: Fingerprint) -> Document:
    """The page of a fingerprint.

    Args:
        found: The fingerprint.
    """
    answer = found.to_dict()
    figures = [_explained(answer)]
    if answer["shares"]:
        figures.append(_writers(answer))
    if answer["course"]:
        figures.append(_course(answer))
    if answer["change"] and answer["change"]["first_offset_after"]:
        figures.append(_since(answer))
    title = f"Who wrote {counted(answer['rows'], 'record')}"
    verdicts = of_fingerprint(found)
    return Document(title, verdicts, tuple(figures), summed(verdicts, answer))


def _explained(answer: Fields) -> Section:
    place = {name: at for at, name in enumerate(in_order(answer["explained"], clients()))}
    answers = {*answer["family"], *answer["shares"]}
    equal: dict[tuple[int, int], list[str]] = {}
    for name in sorted(answer["explained"], key=place.__getitem__):
        equal.setdefault(tuple(answer["explained"][name]), []).append(name)
    rows: list[Json] = [
        {
            "client": ", ".join(names),
            "label": named(names, 1).replace(" and ", " + "),
            "right": right,
            "of": determined,
            "share": right / (determined or 1),
            "text": share(right / (determined or 1)),
            "kind": _FAMILY if answers & set(names) else _OTHERS,
        }
        for (right, determined), names in equal.items()
    ]
    rows.sort(key=lambda row: -row["share"])
    sentence = f"No client's rule can be compared with {counted(answer['rows'], 'record')}."
    if rows:
        first, *others = rows
        sentence = (
            f"The rule of {first['label']} puts {number(first['right'])} of {counted(first['of'], 'record')} where "
            f"they are ({share(first['share'])})"
        )
        if others:
            sentence += f"; the next, of {others[0]['label']}, {share(others[0]['share'])}"
        sentence += "."
    kinds = [_FAMILY, _OTHERS]
    spec = by_name(
        rows,
        quantity("share", "share of the records that a rule explains", "share", scale={"domain": [0, 1]}),
        None,
        tooltip(client="clients", right="explains|,", of="of|,", share="share|.2%"),
        by_kind("kind", kinds, [ACCENT, MUTED]),
    )
    return Section(
        id="rules",
        title="What each client's rule explains",
        sentence=sentence,
        spec=spec if rows else None,
        columns=(
            Column("client", "clients with the rule", "text"),
            Column("right", "records where it puts them"),
            Column("of", "of records that it places"),
            Column("share", "share", "share"),
        ),
        **bounded(rows),
        marks=len(rows),
    )


def _writers(answer: Fields) -> Section:
    parts = sorted(answer["shares"].items(), key=lambda each: -each[1])
    if answer["fault"]:
        by_clients = sum(answer["shares"].values())
        parts.append((answer["fault"]["name"], 1 - by_clients - answer["unexplained"]))
    parts.append(("no rule", answer["unexplained"]))
    rows = [{"writer": name, "label": name, "share": part, "text": share(part)} for name, part in parts]
    words = ", ".join(f"{row['writer']} {row['text']}" for row in rows[:-1])
    return Section(
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


def _course(answer: Fields) -> Section:
    """The share of each writer's rule over time."""
    spans = answer["course"]
    start, kinds = spans[0]["from_ms"], list(spans[0]["rows"])
    rows: list[Json] = []
    for span in spans:
        total, at = sum(span["rows"].values()), 0.0
        for kind in kinds:
            part = span["rows"][kind] / (total or 1)
            if part:
                rows.append(
                    {
                        "from": (span["from_ms"] - start) / 1000,
                        "to": (span["to_ms"] - start) / 1000,
                        "kind": kind,
                        "low": at,
                        "high": at + part,
                        "share": part,
                        "records": span["rows"][kind],
                    }
                )
            at += part
    first, last = (max(span["rows"], key=span["rows"].__getitem__) for span in (spans[0], spans[-1]))
    colours = [PALETTE[place % len(PALETTE)] for place in range(len(kinds))]
    return Section(
        id="course",
        title="Who wrote when",
        sentence=(
            f"In {counted(len(spans), 'span')} of {(spans[0]['to_ms'] - start) / 1000:,.1f} s each, the records that "
            f"one rule alone explains: at first mostly of {first}, at last of {last}."
        ),
        spec=chart(
            rows,
            height=220,
            name="main",
            mark={"type": "bar"},
            encoding={
                "x": {**quantity("from", f"seconds since {time(start)}"), "scale": {"nice": False}},
                "x2": {"field": "to"},
                "y": quantity("low", "share of the records", "share", scale={"domain": [0, 1]}),
                "y2": {"field": "high"},
                "color": by_kind("kind", kinds, colours),
                "tooltip": tooltip(
                    **{
                        "kind": "rule",
                        "from": "from, s|,",
                        "to": "to, s|,",
                        "share": "share|.1%",
                        "records": "records|,",
                    }
                ),
            },
        ),
        columns=(
            Column("from", "from, s"),
            Column("to", "to, s"),
            Column("kind", "rule", "text"),
            Column("records", "records"),
            Column("share", "share", "share"),
        ),
        **bounded(rows),
        marks=len(rows),
    )


def _since(answer: Fields) -> Section:
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
    return Section(
        id="since",
        title="Since which offset",
        sentence=(
            f"The {'number of partitions' if change['kind'] == 'n' else 'writer'} went from {steps}: the first offset "
            f"by the new rule is {number(min(row['offset'] for row in rows))} at the earliest and "
            f"{number(max(row['offset'] for row in rows))} at the latest, over {counted(len(rows), 'partition')}."
        ),
        spec=by_partition(
            bars, {"since": EMPHASIS}, "first offset by the new rule", n=None if ranked else n, unit="offset"
        ),
        columns=(Column("partition", "partition"), Column("offset", "first offset by the new rule")),
        **bounded(rows),
        marks=len(bars),
        hint=None if ranked else ZOOM,
    )
