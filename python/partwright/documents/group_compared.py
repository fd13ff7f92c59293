"""One script played under each protocol: what each life costs, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import counted
from partwright.documents.sentences import named, seconds
from partwright.rendering.colours import PROTOCOLS, in_order
from partwright.rendering.document import Document, Section, Verdict, answered, bounded, columns, places

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from partwright._check import Fields
    from partwright.group.lives import Lives

__all__ = ["document"]


def document(lives: Lives) -> Document:
    """Which protocol leaves partitions unread least in the same life, what went wrong, and all costs."""
    answer = lives.to_dict()
    order = in_order((each["protocol"] for each in answer["lives"]), PROTOCOLS)
    rows = [
        {
            **each,
            "members": "static" if each["static"] else "dynamic",
            "not_read": round(each["not_read"]),
            "read_twice": round(each["read_twice"]),
        }
        for each in sorted(answer["lives"], key=lambda each: (order.index(each["protocol"]), each["static"]))
    ]
    title, verdicts = "The same script under each protocol", _verdicts(answer["lives"])
    return answered(title, verdicts, [_costs(rows)], answer)


def _verdicts(rows: Sequence[Fields]) -> Iterator[Verdict | str]:
    best, worst = min(rows, key=_rank), max(rows, key=_rank)
    equal = [row for row in rows if _rank(row) == _rank(best)]
    names = named([_name(row) for row in equal], 2)
    if len({row["static"] for row in equal}) == 1:
        names = f"{named([row['protocol'] for row in equal])} with {_members(best)}"
    words = (
        f"Take {names.replace(' and ', ' or ')}: partitions have no reader for {best['unowned_s']:,.1f} s in all, and "
        f"{counted(best['moved'], 'partition moves', 'partitions move')}"
    )
    if _rank(worst) != _rank(best):
        words += f"; {_name(worst)} costs most, {worst['unowned_s']:,.1f} s"
    yield f"{words}."
    for row in rows:
        for each in row["failures"]:
            end = f"{each['member']} ended at {seconds(each['at_ms'])} with {each['error']}"
            yield Verdict("fails", f"{_name(row)}: {end}")


def _name(row: Fields) -> str:
    return f"{row['protocol']} with {_members(row)}"


def _members(row: Fields) -> str:
    return "static members" if row["static"] else "dynamic members"


def _rank(row: Fields) -> tuple[bool, float, int]:
    return bool(row["failures"]), row["unowned_s"], row["moved"]


def _costs(rows: Sequence[Fields]) -> Section:
    least = min(map(_rank, rows))
    has_records = any(row["not_read"] for row in rows)
    return Section(
        id="lives",
        title="Without a reader",
        sentence=(
            "Unread adds up the seconds in which partitions had no reader, and longest is one partition's longest; "
            "range and sticky rebalance eagerly, and consumer is KIP-848 with the broker's uniform."
        ),
        columns=columns(
            protocol="protocol|prose",
            members="members|text",
            unowned_s="unread|seconds",
            longest_s="longest|seconds",
            moved="moved",
            not_read="not read" if has_records else None,
            read_twice="read twice" if has_records else None,
            generations="generations",
        ),
        **bounded(rows),
        bar="unowned_s",
        picked=places(_rank(row) == least for row in rows),
    )
