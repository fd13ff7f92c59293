"""Figures for `partwright rollout`: candidates side by side, and who reads what in a roll with the recommended one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from partwright._check import counted
from partwright.documents.group_compared import extremes_of
from partwright.documents.group_timeline import timeline_figure
from partwright.documents.sentences import of_rollout
from partwright.group import play
from partwright.rendering.colours import ACCENT, MUTED
from partwright.rendering.document import Column, Document, Section, bounded
from partwright.rendering.plots import by_kind, by_name, quantity, tooltip
from partwright.rendering.text import number

if TYPE_CHECKING:
    from partwright._check import Json
    from partwright.group import Rollout
    from partwright.group.rollouts.answer import Tried

__all__ = ["document"]

# For a larger roll, the chart would take too much memory for a page.
_MOST_READ = 5_000_000


def document(found: Rollout) -> Document:
    """The page of a rollout.

    Args:
        found: The rollout.
    """
    rows = [_row(each, found, place) for place, each in enumerate(found.tried)]
    figures = [
        _side_by_side(
            rows, "unread", "Partitions without a reader", "seconds of partitions without a reader"
        ),
        _side_by_side(rows, "longest", "The longest wait of a partition", "seconds"),
        _side_by_side(rows, "moved", "Partitions moved", "partitions"),
    ]
    size = counted(found.workload.replicas, "pod")
    title = f"A roll of {size} of a {found.workload.kind}"
    return Document(title, of_rollout(found), (*figures, *_roll(found)), found.to_dict())


def _row(tried: Tried, found: Rollout, place: int) -> Json:
    marks = [word for word, at in (("take", found.recommended), ("today", found.today)) if at == place]
    return {
        "label": tried.candidate.label.removesuffix(" members") + (f" ({', '.join(marks)})" if marks else ""),
        "name": tried.candidate.label,
        "members": "static" if tried.candidate.static else "dynamic",
        "unread": tried.unread_s.median,
        "unread_p95": tried.unread_s.p95,
        "longest": tried.longest_unread_s.median,
        "still": tried.still_s.median,
        "rebalances": tried.rebalances,
        "moved": tried.moved,
        "idle": tried.idle,
    }


def _side_by_side(rows: list[Json], field: str, title: str, axis: str) -> Section:
    bars = [{**row, "text": number(row[field])} for row in rows]
    return Section(
        id=field,
        title=title,
        sentence=f"{axis[0].upper()}{axis[1:]}, the median of all rolls: {extremes_of(rows, field, 'name')}.",
        spec=by_name(
            bars,
            quantity(field, axis),
            None,
            tooltip(label="candidate", **{field: f"{axis}|,"}),
            by_kind("members", ["dynamic", "static"], [MUTED, ACCENT]),
        )
        if any(row[field] for row in rows)
        else None,
        columns=(
            Column("label", "candidate", "text"),
            Column("unread", "unread, s"),
            Column("unread_p95", "unread, s, p95"),
            Column("longest", "longest, s"),
            Column("still", "still, s"),
            Column("rebalances", "rebalances"),
            Column("moved", "moved"),
            Column("idle", "idle pods"),
        ),
        **bounded(bars),
        marks=len(bars),
    )


def _roll(found: Rollout) -> tuple[Section, ...]:
    """Members by time in the median roll with the recommended candidate; nothing if that is too large."""
    lived = sorted(found.best.lived, key=lambda each: each.unread_ms)
    script = lived[(len(lived) - 1) // 2].played
    if sum(script["topics"].values()) * len(script["events"]) > _MOST_READ:
        return ()
    figure = timeline_figure(play(script))
    told = f"The first minute is the start-up, which is not counted: {figure.sentence}"
    return (replace(figure, title=f"A roll with {found.best.candidate.label}", sentence=told),)
