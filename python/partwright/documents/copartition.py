"""Figures for `partwright copartition`: the keys of both tables, and the keys that do not meet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import counted
from partwright.documents.sentences import of_meeting, of_reading, summed
from partwright.rendering.colours import ACCENT, EMPHASIS, MUTED
from partwright.rendering.document import Column, Document, Section, bounded
from partwright.rendering.plots import by_kind, by_name, quantity, tooltip
from partwright.rendering.text import number, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partwright._check import Fields, Json
    from partwright.audit.copartition import Meeting

__all__ = ["document"]

_KINDS = {"meets": ACCENT, "does not meet": EMPHASIS, "in one table alone": MUTED}


def document(found: Meeting, *, both: Sequence[Json | None] | None = None) -> Document:
    """The page of a meeting.

    Args:
        found: The answer.
        both: For each of two topics, how much of it was read; None if both are files.
    """
    answer = found.to_dict()
    figures = [_keys(answer)]
    if answer["examples"]:
        figures.append(_apart(answer))
    verdicts = of_meeting(found)
    told = summed(verdicts, answer)
    if both is not None:
        told["read"] = list(both)
        verdicts += tuple(verdict for each in both if each is not None for verdict in of_reading(each))
    title = "Whether two tables meet"
    return Document(title, verdicts, tuple(figures), told)


def _keys(answer: Fields) -> Section:
    apart = answer["keys_shared"] - answer["keys_meeting"]
    counts = [
        ("in both, in the same partition", "meets", answer["keys_meeting"]),
        ("in both, in other partitions", "does not meet", apart),
        ("in A alone", "in one table alone", answer["a"]["keys_alone"]),
        ("in B alone", "in one table alone", answer["b"]["keys_alone"]),
    ]
    rows = [
        {"label": label, "kind": kind, "keys": count, "text": number(count)} for label, kind, count in counts
    ]
    return Section(
        id="keys",
        title="Keys of both tables",
        sentence=(
            f"A has {counted(answer['a']['keys'], 'different key')} and B {number(answer['b']['keys'])}; "
            f"{counted(answer['keys_shared'], 'is', 'are')} in both, of which {number(answer['keys_meeting'])} meet."
        ),
        spec=by_name(
            rows,
            quantity("keys", "different keys", "whole"),
            None,
            tooltip(label="keys", keys="different keys|,"),
            by_kind("kind", list(_KINDS), list(_KINDS.values())),
        ),
        columns=(Column("label", "keys", "text"), Column("keys", "different keys")),
        **bounded(rows),
        marks=len(rows),
    )


def _apart(answer: Fields) -> Section:
    rows = [
        {
            "key": shown(each["key"]),
            "a": ", ".join(map(str, each["a"])) or "any",
            "b": ", ".join(map(str, each["b"])) or "any",
        }
        for each in answer["examples"]
    ]
    first = rows[0]
    return Section(
        id="apart",
        title="Keys that do not meet",
        sentence=f"The one with the most records is in partition {first['a']} of A and {first['b']} of B.",
        spec=None,
        columns=(
            Column("key", "key", "text"),
            Column("a", "partition in A", "text"),
            Column("b", "partition in B", "text"),
        ),
        **bounded(rows),
    )
