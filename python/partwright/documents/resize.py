"""What moves when a topic gets another number of partitions, and the steps to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import counted
from partwright.documents.sentences import all_empty, summed, times
from partwright.rendering.binned import by_rank
from partwright.rendering.colours import ACCENT, EMPHASIS, MUTED
from partwright.rendering.document import Column, Document, Section, Verdict, bounded
from partwright.rendering.flow import flows_of
from partwright.rendering.plots import by_kind, by_name, by_partition, quantity, tooltip
from partwright.rendering.text import bytes_, label, number, share

if TYPE_CHECKING:
    from partwright._check import Fields
    from partwright.audit.resize import Resize

__all__ = ["document"]

_BY_NUMBER = 150


def document(resize: Resize) -> Document:
    """What moves, the heaviest keys of it, other numbers of partitions, then the steps and each partition's numbers."""
    answer = resize.to_dict()
    is_whole = "among" not in answer
    sections = [
        *([_heaviest(answer)] if answer["heaviest_moved"] else []),
        *([_nearby(answer)] if is_whole else []),
        *_steps(answer),
        _partitions(answer),
        *_flow(answer),
    ]
    verdicts = _verdicts(answer)
    title = f"From {answer['from']:,} to {counted(answer['to'], 'partition')}"
    return Document(title, verdicts, tuple(sections), summed(verdicts, answer))


def _verdicts(answer: Fields) -> tuple[Verdict, ...]:
    about = "about " if answer["keys_estimated"] else ""
    size = (
        "" if answer["bytes"] is None else f"; {bytes_(answer['bytes_moved'])} of {bytes_(answer['bytes'])}"
    )
    headline = f"From {answer['from']:,} to {counted(answer['to'], 'partition')}"
    of_keys, of_rows = (answer[f"{name}_moved"] / (answer[name] or 1) for name in ("keys", "rows"))
    words = (
        f"{headline}, {about}{answer['keys_moved']:,} of {counted(answer['keys'], 'key')} ({share(of_keys)}) and "
        f"{answer['rows_moved']:,} of {counted(answer['rows'], 'record')} ({share(of_rows)}{size}) move"
    )
    others = []
    if answer["heaviest_moved"]:
        first = answer["heaviest_moved"][0]
        where = f"{counted(first['rows'], 'record')}, from {first['from']} to {first['to']}"
        others.append(f"The heaviest key that moves is {label(first['key'])} ({where}).")
    later = (
        " Let consumers finish the old records first: --plan has the steps." if answer["rows_moved"] else ""
    )
    if "among" not in answer:
        before, after = answer["largest_share"]["from"], answer["largest_share"]["to"]
        others.append(
            f"The largest partition holds {share(before)} of the records now, {times(before * answer['from'])} its "
            f"fair share, and {share(after)} then, {times(after * answer['to'])}."
        )
    if answer["unplaced"]:
        others.append(f"{counted(answer['unplaced'], 'record has', 'records have')} no place by a key.")
    if answer["keys_moved"]:
        others.append(
            f"In a compacted topic, {about}{counted(answer['keys_moved'], 'old record')} would never be replaced, nor "
            "deleted by a tombstone."
        )
    if answer["misplaced"]:
        others.append(
            f"{counted(answer['misplaced'], 'record is', 'records are')} not where {answer['client']} puts them now: "
            "run partwright fingerprint to learn who wrote them."
        )
    return (
        *all_empty(answer["is_all_empty"]),
        Verdict("said", f"{words}.{later}", headline),
        *(Verdict("said", each) for each in others),
    )


def _heaviest(answer: Fields) -> Section:
    rows = [
        {
            **each,
            "label": f"{place}. {label(each['key'])}",
            "text": f"{number(each['rows'])} ({each['from']} → {each['to']})",
        }
        for place, each in enumerate(answer["heaviest_moved"], 1)
    ]
    names = {"key": "key", "rows": "records|,", "from": "from", "to": "to"}
    return Section(
        id="heavy-keys",
        title="Heaviest keys that move",
        spec=by_name(rows, quantity("rows", "records", "whole"), None, tooltip(**names), {"value": EMPHASIS}),
        columns=(
            Column("key", "key", "text"),
            Column("rows", "records"),
            Column("from", "from partition"),
            Column("to", "to partition"),
        ),
        **bounded(rows),
        marks=len(rows),
        bar="rows",
    )


def _nearby(answer: Fields) -> Section:
    total = answer["rows"] or 1
    least = min(each["rows_moved"] for each in answer["nearby"])
    most_even = min(each["largest_share"] * each["to"] for each in answer["nearby"])
    rows = []
    for each in answer["nearby"]:
        over, moved = each["largest_share"] * each["to"], each["rows_moved"] / total
        is_asked = each["to"] == answer["to"]
        notes = {
            "asked for": is_asked,
            "moves least": each["rows_moved"] == least,
            "most even": over == most_even,
        }
        rows.append(
            {
                **each,
                "label": str(each["to"]),
                "share": moved,
                "over": over,
                "text": share(moved),
                "kind": "asked for" if is_asked else "others",
                "note": ", ".join(note for note, holds in notes.items() if holds),
            }
        )
    names = {
        "to": "partitions",
        "rows_moved": "records that move|,",
        "share": "share|.1%",
        "over": "times fair share|.2f",
    }
    return Section(
        id="nearby",
        title="Other numbers of partitions",
        spec=by_name(
            rows,
            quantity("share", "share of the records that move", "share"),
            "partitions",
            tooltip(**names),
            by_kind("kind", ["asked for", "others"], [EMPHASIS, MUTED]),
        ),
        columns=(
            Column("to", "partitions"),
            Column("rows_moved", "records that move"),
            Column("share", "share", "share"),
            Column("largest_share", "largest partition", "share"),
            Column("over", "times fair share"),
            Column("note", "note", "prose"),
        ),
        **bounded(rows),
        marks=len(rows),
        bar="share",
        picked=frozenset(place for place, row in enumerate(rows) if row["kind"] == "asked for"),
    )


def _steps(answer: Fields) -> tuple[Section, ...]:
    """In place and by an ordered replay; for fewer partitions, only by a replay."""
    to, old = answer["to"], counted(answer["from"], "old partition")
    each = "the 1 old partition" if answer["from"] == 1 else f"each of the {old}"
    feeds = "one old partition" if answer["fed_by"] == 1 else counted(answer["fed_by"], "old partition")
    in_place = Section(
        id="in-place",
        title=f"In place, {counted(answer['from'], 'partition becomes', 'partitions become')} {to:,}",
        steps=(
            "Stop the producers.",
            (
                "Wait until every group has committed the offset `drain to`, or a later one, in each partition: "
                "kafka-consumer-groups.sh --describe shows CURRENT-OFFSET."
            ),
            f"kafka-topics.sh --alter --topic TOPIC --partitions {to}",
            (
                "Start the producers. Consumers that keep state by partition, as Kafka Streams does, lose the state of "
                "keys that move, and a compacted topic keeps their old records: replay into a new topic instead."
            ),
        ),
        columns=(
            Column("partition", "partition"),
            Column("rows", "records"),
            Column("rows_moved", "records that move"),
            Column("drain_to", "drain to"),
            Column("end", "end"),
        ),
        **bounded(answer["before"]),
        is_detail=True,
    )
    apart = (
        ""
        if not answer["misplaced"]
        else (
            f" {counted(answer['misplaced'], 'record is', 'records are')} not where {answer['client']} puts them. The "
            "records of a key in several partitions have no order between those: merge them by their timestamps."
        )
    )
    replay = Section(
        id="replay",
        title=f"Ordered replay into a new topic of {counted(to, 'partition')}",
        sentence="Kafka cannot remove a partition: for fewer, make a new topic."
        if to < answer["from"]
        else "It also suits a compacted topic.",
        steps=(
            f"kafka-topics.sh --create --topic NEW --partitions {to}, with the old topic's settings.",
            (
                f"Read {each} from its beginning in the order of its offsets, with one reader each. Write its records "
                f"with an idempotent producer that places keys as {answer['client']} does. Each key is in one old "
                f"partition, so its order is kept; each new partition is fed by {feeds}.{apart}"
            ),
            "Stop the producers of the old topic, and copy the rest.",
            "Let the old topic's consumers finish, start them on the new one, then the producers.",
        ),
        columns=(
            Column("partition", "new partition"),
            Column("rows", "records"),
            Column("share", "share", "share"),
            Column("bytes", "size", "bytes"),
        ),
        **bounded([{**each, "share": each["rows"] / (answer["rows"] or 1)} for each in answer["after"]]),
        bar="rows",
        is_detail=True,
    )
    return (replay,) if to < answer["from"] else (in_place, replay)


def _partitions(answer: Fields) -> Section:
    before, after = (
        {part["partition"]: part["rows"] for part in answer[side]} for side in ("before", "after")
    )
    rows = [
        {"partition": at, "before": before.get(at), "after": after.get(at)}
        for at in sorted({*before, *after})
    ]
    n = max(answer["from"], answer["to"])
    is_ranked = n > _BY_NUMBER
    kinds = {"now": MUTED, "then": ACCENT}
    bars = [
        {"partition": row["partition"], "kind": kind, "start": 0, "end": row[field], "size": row[field]}
        for row in rows
        for kind, field in (("now", "before"), ("then", "after"))
        if row[field]
    ]
    sentence, spec, marks = "No key decides a partition.", None, 0
    if bars and is_ranked:
        empty = answer["to"] - sum(1 for row in rows if row["after"])
        sentence = (
            f"All that have records are drawn by their size, and {counted(empty, 'is', 'are')} empty then."
        )
        series = {kind: [bar["size"] for bar in bars if bar["kind"] == kind] for kind in kinds}
        spec, marks = by_rank(series, list(kinds.values()), "records")
        rows.sort(key=lambda row: -max(row["before"] or 0, row["after"] or 0))
    elif bars:
        sentence = ""
        spec, marks = by_partition(bars, kinds, "records", n=n, beside=True), len(bars)
    if "among" in answer:
        of = f"of {counted(answer['from'], 'partition')}"
        sentence = (
            f"{counted(answer['among'], f'{of} was', f'{of} were')} read, and the others are not drawn."
        )
    return Section(
        id="partitions",
        title="Records a partition, now and then",
        sentence=sentence,
        spec=spec,
        columns=(
            Column("partition", "partition"),
            Column("before", "records now"),
            Column("after", "records then"),
        ),
        **bounded(rows),
        marks=marks,
        is_detail=True,
    )


def _flow(answer: Fields) -> tuple[Section, ...]:
    moved = [each for each in answer["flows"] if each["from"] != each["to"]]
    sentence = "No record would go to another partition."
    if moved:
        most = max(moved, key=lambda each: each["rows"])
        sentence = f"The most, {number(most['rows'])}, go from partition {most['from']} to {most['to']}."
    section = Section(
        id="flow",
        title="Where records go",
        sentence=sentence,
        columns=(Column("from", "from partition"), Column("to", "to partition"), Column("rows", "records")),
        is_detail=True,
    )
    ends = (f"{counted(answer['from'], 'partition')} now", f"{answer['to']:,} then")
    return flows_of(answer["flows"], section, ends, (answer["from"], answer["to"])) if moved else (section,)
