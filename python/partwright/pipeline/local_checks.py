"""Read back what was written, in this process, and check every record.

As with Spark, sums come first: each partition's records in order, as two numbers. Only the partitions whose sums are
not as expected are looked at record by record.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from partwright.kafka.marks import MARK, Mark, is_mark
from partwright.kafka.reading import Reading, UnreadableHeaderError, headers_of
from partwright.kafka.topics import end_offsets
from partwright.keys.key_text import shown_key
from partwright.pipeline.report import Checks, PartitionRead

if TYPE_CHECKING:
    from partwright.pipeline.local_placing import KeptRecords
    from partwright.pipeline.targets import KafkaTopic

_EXAMPLES = 5


@dataclass
class PartitionSequence:
    """The records of one partition, in order.

    Attributes:
        records: How many there are.
        order: A sum of their rows, keys, values and places, in 64 bits.
        first: Their smallest offset; None if they have none.
        last: Their largest offset.
    """

    records: int = 0
    order: int = 0
    first: int | None = None
    last: int = -1

    def add(self, record: tuple[int | None, bytes | None, bytes | None]) -> None:
        """The next record: row, key and value."""
        # Python's own hash, of 64 bits: both sides are summed up in this process.
        self.order = hash((self.order, record))
        self.records += 1


class ReadRecord(NamedTuple):
    """A record as it was read back; its row is None if it is not this run's."""

    partition: int
    offset: int
    row: int | None
    key: bytes | None
    value: bytes | None
    of_other_run: bool


def read_back(topic: KafkaTopic, mark: Mark, *, committed: bool) -> Iterator[ReadRecord]:
    """What was written since the topic was prepared, up to the partitions' present ends.

    Raises:
        BrokerError: See `Reading`.
    """
    ends = end_offsets(topic.config, topic.topic)
    windows = {partition: (topic.begin.get(partition, 0), end) for partition, end in sorted(ends.items())}
    reading = Reading(topic.config, topic.topic, windows, committed=committed, topic_id=topic.begun_id)
    prefix = mark.prefix
    for runs in reading.runs():
        for run in runs:
            for record in run.records:
                try:
                    header = dict(headers_of(record)).get(MARK)
                except UnreadableHeaderError:
                    # Ours are UTF-8: it is another writer's record.
                    header = None
                row = None
                if header is not None and is_mark(header) and header.startswith(prefix):
                    row = mark.row(header)
                of_other_run = row is None and is_mark(header)
                yield ReadRecord(
                    run.partition, record.offset(), row, record.key(), record.value(), of_other_run
                )
    reading.refuse_another()


def check(topic: KafkaTopic, kept: KeptRecords, mark: Mark, *, committed: bool) -> Checks:
    """Compare every record that was asked for with what is there.

    Args:
        topic: The topic, with the offsets at which this run began.
        kept: The records that were asked for.
        mark: The header of this run's records.
        committed: Whether they were written in transactions, whose markers leave gaps between the offsets.

    Returns:
        How many records broke each promise.

    Raises:
        BrokerError: See `Reading`.
    """
    expected: defaultdict[int, PartitionSequence] = defaultdict(PartitionSequence)
    for partition, row, key, value in _rows(kept):
        expected[partition].add((row, key, value))
    seen: defaultdict[int, PartitionSequence] = defaultdict(PartitionSequence)
    for record in read_back(topic, mark, committed=committed):
        sequence = seen[record.partition]
        sequence.add((record.row, record.key, record.value))
        sequence.first = record.offset if sequence.first is None else sequence.first
        sequence.last = record.offset
    partitions = tuple(
        PartitionRead(number, each.records, 0, each.first or 0, each.last)
        for number, each in sorted(seen.items())
    )
    gaps = sum(not each.without_gap(topic.begin, markers=committed) for each in partitions)
    unequal = {
        each
        for each in expected.keys() | seen.keys()
        if (expected[each].records, expected[each].order) != (seen[each].records, seen[each].order)
    }
    records = sum(each.records for each in expected.values())
    if not unequal:
        return Checks(records, *(0,) * 7, offset_gaps=gaps, partitions=partitions)
    records_back = (each for each in read_back(topic, mark, committed=committed) if each.partition in unequal)
    return _each_record(records, kept, unequal, records_back, gaps, partitions)


def _rows(kept: KeptRecords) -> Iterator[tuple[int, int, bytes | None, bytes | None]]:
    """Partition, row, key and value of each record."""
    for batch in kept:
        yield from zip(
            *(batch.column(name).to_pylist() for name in ("partition", "row", "key", "value")), strict=True
        )


class _ExpectedRecord(NamedTuple):
    partition: int
    key: bytes | None
    value: bytes | None


def _each_record(
    records: int,
    kept: KeptRecords,
    unequal: set[int],
    records_back: Iterable[ReadRecord],
    gaps: int,
    partitions: tuple[PartitionRead, ...],
) -> Checks:
    """The answer from each record of the partitions that are not as expected; no others can hold what is wrong."""
    expected = {row: _ExpectedRecord(at, key, value) for at, row, key, value in _rows(kept) if at in unequal}
    copies: Counter[int] = Counter()
    first: dict[int, ReadRecord] = {}
    foreign = other_runs = 0
    for record in records_back:
        if record.row is None:
            foreign += 1
            other_runs += record.of_other_run
            continue
        copies[record.row] += 1
        before = first.setdefault(record.row, record)
        if (record.offset, record.partition) < (before.offset, before.partition):
            first[record.row] = record
    broken: defaultdict[str, set[int]] = defaultdict(set)
    broken["lost"] = expected.keys() - first.keys()
    broken["twice"] = {row for row, count in copies.items() if count > 1}
    broken["foreign"] = first.keys() - expected.keys()
    for row in expected.keys() & first.keys():
        request, found = expected[row], first[row]
        if request.partition != found.partition:
            broken["misplaced"].add(row)
        if request.key != found.key:
            broken["key_changed"].add(row)
        if request.value != found.value:
            broken["value_changed"].add(row)
    rows = sorted(set().union(*broken.values()))[:_EXAMPLES]
    return Checks(
        records,
        lost=len(broken["lost"]),
        twice=len(broken["twice"]),
        foreign=foreign + len(broken["foreign"]),
        misplaced=len(broken["misplaced"]),
        key_changed=len(broken["key_changed"]),
        value_changed=len(broken["value_changed"]),
        out_of_order=_out_of_order(expected, first),
        offset_gaps=gaps,
        other_runs=other_runs,
        examples=tuple(_in_words(row, expected.get(row), first.get(row), copies[row]) for row in rows),
        partitions=partitions,
    )


def _out_of_order(expected: Mapping[int, _ExpectedRecord], first: Mapping[int, ReadRecord]) -> int:
    """How many records come before one of the same key that precedes them in the source."""
    latest: dict[tuple[int, bytes | None], int] = {}
    late = 0
    for record in sorted(
        (each for row, each in first.items() if row in expected), key=lambda each: each.offset
    ):
        place, row = (record.partition, record.key), record.row or 0
        late += latest.get(place, -1) > row
        latest[place] = row
    return late


def _in_words(row: int, expected: _ExpectedRecord | None, found: ReadRecord | None, copies: int) -> str:
    key = expected.key if expected else found.key if found else None
    request = f"asked for partition {expected.partition}" if expected else "was not asked for"
    where = f"is in partition {found.partition} at offset {found.offset}" if found else "is nowhere"
    times = f", {copies} times" if copies > 1 else ""
    return f"row {row} with key {shown_key(key)} {request} and {where}{times}"


def copies(topic: KafkaTopic, mark: Mark, *, committed: bool) -> list[tuple[int, int]]:
    """Partition and offset of each record's copies beyond its first, which has the smallest offset."""
    places: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for record in read_back(topic, mark, committed=committed):
        if record.row is not None:
            places[record.row].append((record.offset, record.partition))
    later = (place for each in places.values() for place in sorted(each)[1:])
    return sorted((partition, offset) for offset, partition in later)
