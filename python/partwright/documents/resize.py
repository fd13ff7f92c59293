"""What moves when a topic gets another number of partitions or another client, and the steps to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from partwright._check import Fields, counted
from partwright.documents.check import by_weight
from partwright.documents.sentences import all_empty, times
from partwright.rendering.colours import ACCENT, MUTED
from partwright.rendering.document import (
    Column,
    Document,
    Section,
    Verdict,
    answered,
    bounded,
    columns,
    filled,
    places,
)
from partwright.rendering.flow import flows_of
from partwright.rendering.plots import by_partition, by_rank
from partwright.rendering.text import bytes_, label, share

if TYPE_CHECKING:
    from partwright.audit.resize import Resize

_BY_NUMBER = 150
_MOVED = columns(rows="records", **{"from": "from partition"}, to="to partition")


def document(resize: Resize) -> Document:
    """What moves, the heaviest keys of it, other numbers of partitions, then the steps and each partition's numbers."""
    answer = resize.to_dict()
    moved = answer["heaviest_moved"]
    sections = (
        by_weight(moved, _MOVED, "Heaviest keys that move") if moved else None,
        None if "among" in answer else _nearby(answer),
        *_steps(answer),
        _partitions(answer),
        _flow(answer) if answer["rows_moved"] else None,
    )
    title = f"From {answer['from']:,} to {counted(answer['to'], 'partition')}"
    if (to_client := answer.get("to_client")) is not None:
        n = counted(answer["to"], "partition") if answer["from"] == answer["to"] else title.lower()
        title = f"From {answer['client']} to {to_client}, {n}"
    return answered(title, _verdicts(answer, title), sections, answer)


def _verdicts(answer: Fields, headline: str) -> Iterator[Verdict | str]:
    about = "about " if answer["keys_estimated"] else ""
    size = (
        "" if answer["bytes"] is None else f"; {bytes_(answer['bytes_moved'])} of {bytes_(answer['bytes'])}"
    )
    of_keys, of_rows = (answer[f"{name}_moved"] / (answer[name] or 1) for name in ("keys", "rows"))
    words = (
        f"{headline}, {about}{answer['keys_moved']:,} of {counted(answer['keys'], 'key')} ({share(of_keys)}) and "
        f"{answer['rows_moved']:,} of {counted(answer['rows'], 'record')} ({share(of_rows)}{size}) move"
    )
    later = " Let consumers finish the old records first: --plan has the steps."
    yield from all_empty(answer["is_all_empty"])
    yield Verdict("said", f"{words}.{later if answer['rows_moved'] else ''}", headline)
    if answer["heaviest_moved"]:
        first = answer["heaviest_moved"][0]
        where = f"{counted(first['rows'], 'record')}, from {first['from']} to {first['to']}"
        yield f"The heaviest key that moves is {label(first['key'])} ({where})."
    if "among" not in answer:
        before, after = answer["largest_share"]["from"], answer["largest_share"]["to"]
        yield (
            f"The largest partition holds {share(before)} of the records now, {times(before * answer['from'])} its "
            f"fair share, and {share(after)} then, {times(after * answer['to'])}."
        )
    if answer["unplaced"]:
        yield f"{counted(answer['unplaced'], 'record has', 'records have')} no place by a key."
    if answer["keys_moved"]:
        yield (
            f"In a compacted topic, {about}{counted(answer['keys_moved'], 'old record')} would never be replaced, nor "
            "deleted by a tombstone."
        )
    if answer["misplaced"]:
        yield (
            f"{counted(answer['misplaced'], 'record is', 'records are')} not where {answer['client']} puts them now: "
            "run partwright fingerprint to learn who wrote them."
        )


def _nearby(answer: Fields) -> Section:
    least = min(each["rows_moved"] for each in answer["nearby"])
    most_even = min(each["largest_share"] * each["to"] for each in answer["nearby"])
    rows = []
    for each in answer["nearby"]:
        over = each["largest_share"] * each["to"]
        notes = {
            "asked for": each["to"] == answer["to"],
            "moves least": each["rows_moved"] == least,
            "most even": over == most_even,
        }
        moved = each["rows_moved"] / (answer["rows"] or 1)
        rows.append(
            {**each, "share": moved, "over": round(over, 2), "note": ", ".join(filter(notes.get, notes))}
        )
    return Section(
        id="nearby",
        title="Other numbers of partitions",
        columns=columns(
            to="partitions",
            rows_moved="records that move",
            share="share|share",
            largest_share="largest partition|share",
            over="times fair share",
            note="note|prose",
        ),
        **bounded(rows),
        bar="share",
        picked=places(row["to"] == answer["to"] for row in rows),
    )


def _steps(answer: Fields) -> tuple[Section, ...]:
    """In place and by an ordered replay; for fewer partitions, only by a replay."""
    to, old = answer["to"], counted(answer["from"], "old partition")
    client = answer.get("to_client", answer["client"])
    start = "Start the producers" if client == answer["client"] else f"Start the producers as {client}"
    become = counted(answer["from"], "partition becomes", "partitions become")
    each = "the 1 old partition" if answer["from"] == 1 else f"each of the {old}"
    feeds = "one old partition" if answer["fed_by"] == 1 else counted(answer["fed_by"], "old partition")
    in_place = Section(
        id="in-place",
        title=f"In place, with {client}" if to == answer["from"] else f"In place, {become} {to:,}",
        steps=(
            "Stop the producers.",
            (
                "Wait until every group has committed the offset `drain to`, or a later one, in each partition: "
                "kafka-consumer-groups.sh --describe shows CURRENT-OFFSET."
            ),
            *([] if to == answer["from"] else [f"kafka-topics.sh --alter --topic TOPIC --partitions {to}"]),
            (
                f"{start}. Consumers that keep state by partition, as Kafka Streams does, lose the state of "
                "keys that move, and a compacted topic keeps their old records: replay into a new topic instead."
            ),
        ),
        columns=filled(
            answer["before"],
            Column("partition", "partition"),
            Column("rows", "records"),
            Column("rows_moved", "records that move"),
            Column("drain_to", "drain to"),
            Column("end", "end"),
        ),
        **bounded(answer["before"]),
        is_detail=True,
    )
    apart = ""
    if answer["misplaced"]:
        apart = (
            f" {counted(answer['misplaced'], 'record is', 'records are')} not where {answer['client']} puts them. The "
            "records of a key in several partitions have no order between those: merge them by their timestamps."
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
                f"with an idempotent producer that places keys as {client} does. Each key is in one old "
                f"partition, so its order is kept; each new partition is fed by {feeds}.{apart}"
            ),
            "Stop the producers of the old topic, and copy the rest.",
            "Let the old topic's consumers finish, start them on the new one, then the producers.",
        ),
        is_detail=True,
    )
    return (replay,) if to < answer["from"] else (in_place, replay)


def _partitions(answer: Fields) -> Section:
    """Each partition's records now and then; of many, all by their size."""
    now = {each["partition"]: each["rows"] for each in answer["before"]}
    then = {
        each["partition"]: {**each, "share": each["rows"] / (answer["rows"] or 1)} for each in answer["after"]
    }
    rows = [{"partition": at, "now": now.get(at), **then.get(at, {})} for at in sorted({*now, *then})]
    colours = {"now": MUTED, "then": ACCENT}
    bars = [
        {"partition": row["partition"], "kind": kind, "start": 0, "end": size, "size": size}
        for row in rows
        for kind, size in zip(colours, (row["now"], row.get("rows")), strict=True)
        if size
    ]
    sentence, spec, n = "", None, max(answer["from"], answer["to"])
    if not bars:
        sentence = "No key decides a partition."
    elif n > _BY_NUMBER:
        empty = counted(answer["to"] - sum(bool(row.get("rows")) for row in rows), "is", "are")
        sentence = f"All that have records are drawn by their size, and {empty} empty then."
        sizes = {kind: [bar["size"] for bar in bars if bar["kind"] == kind] for kind in colours}
        spec = by_rank(sizes, list(colours.values()), "records")
        rows.sort(key=lambda row: -max(row["now"] or 0, row.get("rows") or 0))
    else:
        spec = by_partition(bars, colours, "records", n=n, beside=True)
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
        columns=columns(
            partition="partition",
            now="records now",
            rows="records then",
            share="share then|share",
            bytes=None if answer["bytes"] is None else "size then|bytes",
        ),
        **bounded(rows),
        bar="rows",
        is_detail=True,
    )


def _flow(answer: Fields) -> Section:
    section = Section(
        id="flow",
        title="Where records go",
        columns=columns(**{"from": "from partition", "to": "to partition", "rows": "records"}),
        is_detail=True,
    )
    ends = (f"{counted(answer['from'], 'partition')} now", f"{answer['to']:,} then")
    return flows_of(answer["flows"], section, ends, (answer["from"], answer["to"]))
