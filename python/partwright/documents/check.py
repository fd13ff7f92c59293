"""Figures for `partwright check`: records per partition, heaviest keys, and misplaced records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import counted
from partwright.documents.sentences import of_check, summed, times
from partwright.rendering.binned import by_rank
from partwright.rendering.colours import ACCENT, EMPHASIS
from partwright.rendering.document import Column, Document, Section, bounded
from partwright.rendering.flow import flows_of
from partwright.rendering.plots import ZOOM, by_name, by_partition, quantity, tooltip
from partwright.rendering.text import label, number, share, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partwright._check import Fields, Json
    from partwright.audit.check import Check

__all__ = ["document", "heaviest", "partitions"]

# Up to this many partitions are drawn by number; of more, only the largest are, and all by rank.
_BY_NUMBER = 300
_LARGEST = 20


def document(found: Check) -> Document:
    """The page of a check.

    Args:
        found: The check.
    """
    answer = found.to_dict()
    verdicts = of_check(found, answer)
    figures = [
        *partitions(answer["partitions"], answer["heavy_keys"], answer["n"], "rows", answer.get("among")),
        heaviest(answer["heavy_keys"], answer["rows"] - answer["null_keys"], "rows"),
    ]
    if answer["misplaced_by"]:
        figures += _misplaced(answer)
    title = f"Check of {counted(answer['rows'], 'record')}"
    return Document(title, verdicts, tuple(figures), summed(verdicts, answer))


def partitions(
    parts: Sequence[Fields], heavy: Sequence[Fields], n: int, by: str, among: int | None = None
) -> tuple[Section, ...]:
    """Records per partition, the heaviest keys' apart; of many partitions, the largest, and how all are spread.

    Args:
        parts: By partition, how many records it has.
        heavy: The heaviest keys, each with its records and its partition.
        n: How many partitions there are.
        by: The field of how many records: rows or records.
        among: How many of them were read; None for all.
    """
    looked_at = n if among is None else among
    of_heavy: dict[int | None, int] = {}
    for each in heavy:
        of_heavy[each["partition"]] = of_heavy.get(each["partition"], 0) + each[by]
    total = sum(part[by] for part in parts)
    rows = [
        {
            "partition": part["partition"],
            "records": part[by],
            "share": part[by] / (total or 1),
            "keys": part["keys"],
            # Estimates may add up to more than the total.
            "heavy": min(part[by], of_heavy.get(part["partition"], 0)),
        }
        for part in parts
    ]
    ranked = n > _BY_NUMBER
    by_size = sorted(rows, key=lambda row: (-row["records"], row["partition"]))
    drawn = by_size[:_LARGEST] if ranked else rows
    stacked = _stacked(drawn, ranked=ranked)
    kinds = {_HEAVY: EMPHASIS, _OTHERS: ACCENT}
    used = {row["kind"] for row in stacked}
    kinds = {kind: colour for kind, colour in kinds.items() if kind in used} or {_OTHERS: ACCENT}
    figure = Section(
        id="partitions",
        title="The largest partitions" if ranked else "Records a partition",
        sentence=_sentence(by_size, total, looked_at, sum(row["heavy"] for row in rows), ranked=ranked),
        spec=by_partition(stacked, kinds, "records", n=None if ranked else n, even=total / looked_at)
        if total
        else None,
        columns=(
            Column("partition", "partition"),
            Column("records", "records"),
            Column("share", "share", "share"),
            Column("keys", "keys"),
            Column("heavy", "of the heaviest keys"),
        ),
        **bounded(by_size if ranked else rows),
        marks=len(stacked),
        hint=None if ranked else ZOOM,
    )
    return (
        (figure, _spread([row["records"] for row in by_size], total, looked_at))
        if ranked and total
        else (figure,)
    )


def _spread(sizes: Sequence[int], total: int, n: int) -> Section:
    """How full the many partitions are: sizes by rank, and quantiles."""
    spec, marks = by_rank({"records": sizes}, [ACCENT], "records", total / n)
    # Partitions that are not listed are empty.
    ordered = sorted([*sizes, *[0] * max(0, n - len(sizes))])
    rows: list[Json] = [
        {
            "name": name,
            "records": ordered[round(part * (n - 1))],
            "times": ordered[round(part * (n - 1))] * n / total,
        }
        for name, part in _QUANTILES
    ]
    empty = sum(1 for size in ordered if not size)
    half = rows[len(rows) // 2]
    return Section(
        id="spread",
        title="How evenly all partitions are filled",
        sentence=(
            f"{number(n - empty)} of {counted(n, 'partition')} are drawn, neighbours in size in one bar, and "
            f"{counted(empty, 'is', 'are')} empty; the middle one has {counted(half['records'], 'record')}, and "
            f"the fair share "
            f"(dashed) is {number(round(total / n, 1))}."
        ),
        spec=spec,
        columns=(
            Column("name", "partitions", "text"),
            Column("records", "records at most"),
            Column("times", "times fair share"),
        ),
        **bounded(rows),
        marks=marks,
    )


_QUANTILES = (
    ("the smallest", 0.0),
    ("a tenth (p10)", 0.1),
    ("a quarter (p25)", 0.25),
    ("a half (p50)", 0.5),
    ("three quarters (p75)", 0.75),
    ("nine tenths (p90)", 0.9),
    ("all but one in 100 (p99)", 0.99),
)


_HEAVY, _OTHERS = "the heaviest keys", "all others"


def _stacked(rows: Sequence[Fields], *, ranked: bool) -> list[Json]:
    found = []
    for row in rows:
        at = str(row["partition"]) if ranked else row["partition"]
        for kind, start, end in (
            (_HEAVY, 0, row["heavy"]),
            (_OTHERS, row["heavy"], row["records"]),
        ):
            if end > start:
                found.append({"partition": at, "kind": kind, "start": start, "end": end, "size": end - start})
    return found


def _sentence(by_size: Sequence[Fields], total: int, n: int, heavy: int, *, ranked: bool) -> str:
    if not total:
        return "No record is in a partition."
    largest = by_size[0]
    used = sum(1 for row in by_size if row["records"])
    of = f"of {counted(n, 'partition')}"
    words = (
        f"Partition {largest['partition']} has the most, {number(largest['records'])} of {counted(total, 'record')} "
        f"({share(largest['share'])}), {times(largest['share'] * n)} its fair share; "
        f"{counted(used, f'{of} has', f'{of} have')} any"
    )
    if heavy:
        words += f", and the heaviest keys have {number(heavy)} of all ({share(heavy / total)})"
    if ranked:
        words += f"; the {min(_LARGEST, used)} largest are drawn"
    return words + "."


def heaviest(heavy: Sequence[Fields], keyed: int, by: str) -> Section:
    """The keys with the most records.

    Args:
        heavy: The heaviest keys, each with its records and its partition.
        keyed: The number of records of which they have a share.
        by: The field of how many records: rows or records.
    """
    rows = [
        {
            "key": shown(each["key"]),
            "records": each[by],
            "share": each[by] / (keyed or 1),
            "partition": "none or several" if each["partition"] is None else str(each["partition"]),
            # Two long keys may begin alike.
            "label": f"{place}. {label(each['key'])}",
            "text": number(each[by]),
        }
        for place, each in enumerate(heavy, 1)
    ]
    sentence = "No record has a key."
    if rows:
        together = sum(row["records"] for row in rows)
        first = rows[0]
        sentence = (
            f"The heaviest key, {label(first['key'])}, has {number(first['records'])} of "
            f"{counted(keyed, 'record')} with "
            f"a key ({share(first['share'])})"
        )
        if len(rows) > 1:
            part = share(together / (keyed or 1))
            sentence += f"; the {len(rows)} heaviest together have {number(together)} ({part})"
        sentence += "."
    said = tooltip(key="key", records="records|,", share="share|.2%", partition="partition")
    return Section(
        id="heavy-keys",
        title="Heaviest keys",
        sentence=sentence,
        spec=by_name(rows, quantity("records", "records", "whole"), None, said, {"value": EMPHASIS})
        if rows
        else None,
        columns=(
            Column("key", "key", "text"),
            Column("records", "records"),
            Column("share", "share", "share"),
            Column("partition", "partition", "text"),
        ),
        **bounded(rows),
        marks=len(rows),
    )


def _misplaced(answer: Fields) -> tuple[Section, ...]:
    flows = [
        {"from": each["partition"], "to": each["expected"], "rows": each["rows"]}
        for each in answer["misplaced_by"]
    ]
    first = max(flows, key=lambda each: each["rows"])
    rest = answer["misplaced"] - sum(each["rows"] for each in flows)
    misplaced = counted(answer["misplaced"], "is", "are")
    sentence = (
        f"Of {counted(answer['rows'], 'record')}, {misplaced} not where {answer['client']} puts them; the "
        f"most, {number(first['rows'])}, from partition {first['from']} to {first['to']}"
    )
    if rest > 0:
        sentence += f"; {counted(rest, 'is', 'are')} in no partition of the topic, or are not drawn"
    return flows_of(
        flows,
        Section(
            id="misplaced",
            title="Misplaced records",
            sentence=sentence + ".",
            spec=None,
            columns=(
                Column("from", "is in partition"),
                Column("to", "belongs into"),
                Column("rows", "records"),
            ),
            rows=(),
        ),
        ("where records are", "where they belong"),
        (answer["n"], answer["n"]),
    )
