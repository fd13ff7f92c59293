"""Figures for `partwright reassign`: each broker's load and the costs of its loss, before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import counted
from partwright.documents.sentences import summed
from partwright.documents.sentences.reassigning import of_batches, of_reassignment, spread, time_of
from partwright.rendering.colours import ACCENT, MUTED
from partwright.rendering.document import Column, Document, Section, bounded
from partwright.rendering.plots import PICKED, by_kind, chart, legend, quantity, tooltip
from partwright.rendering.text import bytes_, label, number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from partwright._check import Json
    from partwright.cluster.reassignment import Batch, Reassignment
    from partwright.rendering.plots import Spec

__all__ = ["document"]

_KINDS = {"today": MUTED, "after": ACCENT}


def document(
    found: Reassignment,
    min_insync_replicas: int | Mapping[str, int] = 1,
    batches: Sequence[Batch] = (),
) -> Document:
    """The page of a reassignment.

    Args:
        found: The reassignment.
        min_insync_replicas: The value for counting losses.
        batches: Its batches.
    """
    staying = sum(each.stays for each in found.brokers)
    names = ["replicas", "leaders", *(["bytes"] if found.bytes_within is not None else [])]
    figures = [_of_brokers(found, name) for name in names]
    figures += _of_losses(found, min_insync_replicas)
    if len(batches) > 1:
        figures.append(_of_batches(batches))
    throttle = batches[0].throttle if batches else None
    verdicts = (*of_reassignment(found, min_insync_replicas), *of_batches(batches, throttle))
    answer = found.to_dict(min_insync_replicas) | {"batches": [each.to_dict() for each in batches]}
    return Document(
        f"A reassignment to {counted(staying, 'broker')}",
        verdicts,
        tuple(figures),
        summed(verdicts, answer),
    )


def _of_brokers(found: Reassignment, name: str) -> Section:
    rows = [
        {
            "label": str(each.broker),
            "rack": label(each.rack or ""),
            "today": getattr(each, f"{name}_before"),
            "after": getattr(each, name),
        }
        for each in found.brokers
    ]
    ends = found.even()[name]
    kind = "bytes" if name == "bytes" else "number"
    form = bytes_ if name == "bytes" else number
    election = ", once preferred leaders are elected" if name == "leaders" else ""
    return Section(
        id=name,
        title=f"{name.capitalize()} of each broker",
        sentence=(
            f"{name.capitalize()} of a broker: {spread(ends, form)}{election}; one that leaves has none then."
        ),
        spec=_beside(rows, name, "broker", kind),
        columns=(
            Column("label", "broker", "text"),
            Column("rack", "rack", "text"),
            Column("today", "today", kind),
            Column("after", "after", kind),
        ),
        **bounded(rows),
        marks=2 * len(rows),
    )


def _of_losses(found: Reassignment, min_insync_replicas: int | Mapping[str, int]) -> list[Section]:
    """A figure for brokers, and one for racks if there are any."""
    sides = {
        side: {(each.kind, each.name): each for each in one}
        for side, one in zip(_KINDS, found.losses(min_insync_replicas), strict=True)
    }
    figures = []
    for kind, title in (("broker", "The loss of each broker"), ("rack", "The loss of each rack")):
        rows: list[Json] = []
        for key in sorted({key for side in sides.values() for key in side if key[0] == kind}, key=_order):
            row: Json = {"label": label(key[1])}
            for side, one in sides.items():
                lost = one.get(key)
                row[side] = 0 if lost is None else lost.leaders
                row[f"{side}_closed"] = 0 if lost is None else lost.offline + lost.below_min_insync
                for name in ("offline", "below_min_insync", "leaders", "coordinators", "most_taken_over"):
                    row[f"{side}_{name}"] = None if lost is None else getattr(lost, name)
            rows.append(row)
        if rows:
            led, closed = (
                [max(row[f"{side}{what}"] for row in rows) for side in _KINDS] for what in ("", "_closed")
            )
            lose = counted(led[0], "partition loses its leader", "partitions lose their leader")
            refuse = counted(
                closed[0],
                "partition is offline or refuses acks=all",
                "partitions are offline or refuse acks=all",
            )
            said = (
                f"If a {kind} is lost, at most {lose} today, and {number(led[1])} after the plan; at most {refuse} "
                f"today, and {number(closed[1])} after the plan."
            )
            figures.append(_losses(rows, kind, title, said))
    return figures


def _losses(rows: list[Json], kind: str, title: str, said: str) -> Section:
    columns = [Column("label", kind, "text")]
    words = {
        "offline": "offline",
        "below_min_insync": "closed for acks=all",
        "leaders": "leaders lost",
        "coordinators": "coordinators",
        "most_taken_over": "most taken over by one",
    }
    for name, what in words.items():
        columns += [Column(f"{side}_{name}", f"{what}, {side}") for side in _KINDS]
    return Section(
        id=f"lost-{kind}",
        title=title,
        sentence=said,
        spec=_beside(rows, "partitions that lose their leader", f"{kind} that is lost", "number"),
        columns=tuple(columns),
        **bounded(rows),
        marks=2 * len(rows),
    )


def _of_batches(batches: Sequence[Batch]) -> Section:
    rows = [
        {
            "label": str(place),
            "partitions": len(each.moves),
            "replicas": each.replicas,
            "bytes": each.bytes,
            "seconds": each.seconds,
        }
        for place, each in enumerate(batches, 1)
    ]
    known = [each["seconds"] for each in rows]
    name = "bytes" if rows[0]["bytes"] is not None else "replicas"
    words = (
        f"{counted(len(rows), 'batch copies', 'batches copy')} "
        f"{counted(sum(each.replicas for each in batches), 'replica')}"
    )
    if None not in known:
        words += f", the longest in {time_of(max(float(each or 0) for each in known))}"
    return Section(
        id="batches",
        title="Batches",
        sentence=f"{words}.",
        spec=chart(
            rows,
            layer=[
                {
                    "name": "main",
                    "mark": {"type": "bar"},
                    "encoding": {
                        "x": _names("batch"),
                        "y": quantity(name, name, "bytes" if name == "bytes" else "whole"),
                        "color": {"value": ACCENT},
                        "tooltip": tooltip(label="batch", **{name: f"{name}|,"}),
                    },
                }
            ],
        ),
        columns=(
            Column("label", "batch", "text"),
            Column("partitions", "partitions"),
            Column("replicas", "replicas"),
            Column("bytes", "bytes", "bytes"),
            Column("seconds", "seconds"),
        ),
        **bounded(rows),
        marks=len(rows),
    )


def _beside(rows: Sequence[Json], what: str, names: str, kind: str) -> Spec:
    """Bars of today and of afterwards, next to each other."""
    data = [{"label": row["label"], "kind": side, "value": row[side] or 0} for row in rows for side in _KINDS]
    bar: Spec = {
        "x": _names(names),
        "xOffset": {"field": "kind", "sort": list(_KINDS)},
        "y": quantity("value", what, "whole" if kind == "number" else kind),
        "color": by_kind("kind", list(_KINDS), list(_KINDS.values())),
        "opacity": PICKED,
        "tooltip": tooltip(label=names, kind="when", value=f"{what}|,"),
    }
    main = {"name": "main", "params": [legend("kind")], "mark": {"type": "bar"}, "encoding": bar}
    return chart(data, layer=[main])


def _names(title: str) -> Spec:
    return {"field": "label", "type": "ordinal", "sort": None, "title": title, "axis": {"labelAngle": 0}}


def _order(key: tuple[str, str]) -> tuple[int, str]:
    return (int(key[1]) if key[0] == "broker" else 0, key[1])
