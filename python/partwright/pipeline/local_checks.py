"""Read back what was written, in this process, and check every record.

As with Spark, sums come first: each partition's records in order, as two numbers. Only the partitions whose sums are
not as expected are looked at record by record.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from partwright.keys.key_text import shown_key
from partwright.pipeline.report import EXAMPLES, Checks, PartitionRead, Proof, record_in_words

if TYPE_CHECKING:
    from partwright.kafka.marks import Mark
    from partwright.pipeline.local_placing import KeptRecords

_NOWHERE = -1


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
    """A record as it was read back; its row is None if it is not this run's.

    Attributes:
        hashes: The hashes of its key and value, where these are not kept.
    """

    partition: int | None
    offset: int
    row: int | None
    key: bytes | None
    value: bytes | None
    of_other_run: bool
    hashes: tuple[int, int] = (0, 0)

    @property
    def place(self) -> tuple[int, int]:
        """Offset and partition, as copies are ordered; records in no partition come before those in one."""
        return self.offset, -1 if self.partition is None else self.partition


def check(
    kept: KeptRecords, read: Callable[[], Iterator[ReadRecord]], begin: Mapping[int, int], *, markers: bool
) -> Checks:
    """Compare every record that was asked for with what is there.

    Args:
        kept: The records that were asked for.
        read: Reads what is there, by offset within each partition.
        begin: The offset of each partition's first record of this run; 0 if it is not named.
        markers: Whether transactions wrote them, whose markers leave gaps between the offsets.

    Returns:
        How many records broke each promise.
    """
    expected: defaultdict[int | None, PartitionSequence] = defaultdict(PartitionSequence)
    for partition, row, key, value in _rows(kept):
        expected[partition].add((row, key, value))
    seen: defaultdict[int | None, PartitionSequence] = defaultdict(PartitionSequence)
    for record in read():
        sequence = seen[record.partition]
        sequence.add((record.row, record.key, record.value))
        sequence.first = record.offset if sequence.first is None else sequence.first
        sequence.last = record.offset
    partitions = tuple(
        PartitionRead(
            number, each.records, 0 if number is not None else each.records, each.first or 0, each.last
        )
        # As Spark sorts them: the one without a number first.
        for number, each in sorted(seen.items(), key=lambda item: -1 if item[0] is None else item[0])
    )
    gaps = sum(not each.without_gap(begin, markers=markers) for each in partitions)
    unequal = {
        each
        for each in expected.keys() | seen.keys()
        if (expected[each].records, expected[each].order) != (seen[each].records, seen[each].order)
    }
    records = sum(each.records for each in expected.values())
    if not unequal:
        return Checks(records, *(0,) * 7, offset_gaps=gaps, partitions=partitions)
    return _each_record(records, kept, unequal, read, gaps, partitions)


def _rows(kept: KeptRecords) -> Iterator[tuple[int | None, int, bytes | None, bytes | None]]:
    """Partition, row, key and value of each record."""
    for batch in kept:
        yield from zip(
            *(batch.column(name).to_pylist() for name in ("partition", "row", "key", "value")), strict=True
        )


class _ExpectedRecord(NamedTuple):
    """A record that was asked for, with the hashes of its key and value: many of them may be looked at."""

    partition: int | None
    key: int
    value: int


def _each_record(
    records: int,
    kept: KeptRecords,
    unequal: set[int | None],
    read: Callable[[], Iterator[ReadRecord]],
    gaps: int,
    partitions: tuple[PartitionRead, ...],
) -> Checks:
    """The answer from each record of the partitions that are not as expected; no others can hold what is wrong."""
    found = _FirstCopies.of(each for each in read() if each.partition in unequal)
    first, copies = found.first, found.copies
    expected: dict[int, _ExpectedRecord] = {}
    for at, row, key, value in _rows(kept):
        if at in unequal or row in first:
            expected[row] = _ExpectedRecord(at, hash(key), hash(value))
            # As a sound partition has it.
            copies[row] += at not in unequal
    broken = _broken({row: each for row, each in expected.items() if each.partition in unequal}, first)
    broken["twice"] = {row for row, count in copies.items() if count > 1}
    broken["foreign"] = first.keys() - expected.keys()
    rows = sorted(set().union(*broken.values()))[:EXAMPLES]
    keys = _keys_of(set(rows), kept, read) if rows else {}
    return Checks(
        records,
        lost=len(broken["lost"]),
        twice=len(broken["twice"]),
        foreign=found.foreign + len(broken["foreign"]),
        misplaced=len(broken["misplaced"]),
        key_changed=len(broken["key_changed"]),
        value_changed=len(broken["value_changed"]),
        out_of_order=_out_of_order(expected, first),
        offset_gaps=gaps,
        other_runs=found.other_runs,
        examples=tuple(
            _in_words(row, keys.get(row), expected.get(row), first.get(row), copies[row]) for row in rows
        ),
        partitions=partitions,
    )


@dataclass
class _FirstCopies:
    """What was read of some partitions.

    Attributes:
        first: This run's records by row, each the copy with the smallest offset, without its bytes.
        copies: How many copies each has.
        foreign: How many records are not this run's.
        other_runs: How many of these another run wrote.
    """

    first: dict[int, ReadRecord] = field(default_factory=dict)
    copies: Counter[int] = field(default_factory=Counter)
    foreign: int = 0
    other_runs: int = 0

    @classmethod
    def of(cls, records: Iterable[ReadRecord]) -> _FirstCopies:
        read = cls()
        for record in records:
            if record.row is None:
                read.foreign += 1
                read.other_runs += record.of_other_run
                continue
            read.copies[record.row] += 1
            short = record._replace(key=None, value=None, hashes=(hash(record.key), hash(record.value)))
            before = read.first.setdefault(record.row, short)
            if record.place < before.place:
                read.first[record.row] = short
        return read


def _broken(
    expected: Mapping[int, _ExpectedRecord], first: Mapping[int, ReadRecord]
) -> defaultdict[str, set[int]]:
    """The rows of records that are missing, or have another place or other bytes, by promise."""
    broken: defaultdict[str, set[int]] = defaultdict(set)
    broken["lost"] = set(expected.keys() - first.keys())
    for row in expected.keys() & first.keys():
        request, found = expected[row], first[row]
        if request.partition != found.partition:
            broken["misplaced"].add(row)
        if request.key != found.hashes[0]:
            broken["key_changed"].add(row)
        if request.value != found.hashes[1]:
            broken["value_changed"].add(row)
    return broken


def _keys_of(
    rows: set[int], kept: KeptRecords, read: Callable[[], Iterator[ReadRecord]]
) -> dict[int, bytes | None]:
    """The keys of some records: as asked for, or of a record that nobody asked for as it was read."""
    keys = {row: key for _, row, key, _ in _rows(kept) if row in rows}
    others = rows - keys.keys()
    return keys | ({each.row: each.key for each in read() if each.row in others} if others else {})


def _out_of_order(expected: Mapping[int, _ExpectedRecord], first: Mapping[int, ReadRecord]) -> int:
    """How many records come before one of the same key that precedes them in the source."""
    latest: dict[tuple[int | None, int], int] = {}
    late = 0
    for record in sorted(
        (each for row, each in first.items() if row in expected), key=lambda each: each.offset
    ):
        place, row = (record.partition, record.hashes[0]), record.row or 0
        late += latest.get(place, -1) > row
        latest[place] = row
    return late


def _in_words(
    row: int, key: bytes | None, expected: _ExpectedRecord | None, found: ReadRecord | None, copies: int
) -> str:
    request = "was not asked for"
    if expected:
        is_left = expected.partition is None
        request = f"asked for {'any partition' if is_left else f'partition {expected.partition}'}"
    place = (found.partition, found.offset) if found else None
    return record_in_words(row, key, request, place, copies)


def keyed_marks(kept: KeptRecords, mark: Mark) -> Iterator[tuple[bytes, bytes]]:
    """The key of each record that has one, and its mark."""
    for batch in kept:
        keys = batch.column("key")
        for key, header in zip(keys.to_pylist(), mark.values(batch.column("row").to_pylist()), strict=True):
            if key is not None:
                yield key, header


def compare(kept: KeptRecords, read: Iterable[ReadRecord], records: int) -> Proof:
    """Compare the partition asked for with the one that the producer chose, for every record with a key.

    Args:
        kept: The records that were asked for.
        read: What was read back of a topic with the keys, which were written without a partition.
        records: How many were asked for.

    Raises:
        BrokerError: See `Reading`.
    """
    # 4 bytes a record, whatever their keys are.
    choices = array("i", (_NOWHERE,)) * records
    for record in read:
        if record.row is not None and record.row < records and record.partition is not None:
            choices[record.row] = record.partition
    counts = {"equal": 0, "different": 0, "lost": 0}
    examples: list[str] = []
    for partition, row, key, _ in _rows(kept):
        if key is None:
            continue
        at = choices[row]
        counts["lost" if at == _NOWHERE else "equal" if at == partition else "different"] += 1
        if at != partition and len(examples) < EXAMPLES:
            where = "is nowhere" if at == _NOWHERE else f"the producer chose partition {at}"
            examples.append(
                f"row {row} with key {shown_key(key)} asked for partition {partition} and {where}"
            )
    return Proof(sum(counts.values()), **counts, examples=tuple(examples))


def copies(read: Iterable[ReadRecord]) -> list[tuple[int, int]]:
    """Partition and offset of each record's copies beyond its first, which has the smallest offset."""
    first: dict[int, tuple[int, int]] = {}
    later: list[tuple[int, int]] = []
    for record in read:
        if record.row is not None:
            before = first.setdefault(record.row, record.place)
            if before != record.place:
                first[record.row] = min(before, record.place)
                later.append(max(before, record.place))
    return sorted((partition, offset) for offset, partition in later)
