"""The local runner's checks notice each way in which a record can go wrong: every fault is made by hand and counted."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from partwright.kafka.marks import MARK, Mark
from partwright.pipeline.local_checks import ReadRecord, check, compare, copies, keyed_marks
from partwright.pipeline.local_placing import KeptRecords
from partwright.pipeline.report import Checks

if TYPE_CHECKING:
    from collections.abc import Callable

RUN = Mark(MARK, b"8 bytes.")
# Row, key, value and partition.
RECORDS = [
    (0, b"a", b"1", 0),
    (1, b"b", b"2", 1),
    (2, b"a", b"3", 0),
    (3, None, b"4", 1),
    (4, b"b", b"5", 1),
    (5, b"", None, 0),
]
SOUND = [
    ReadRecord(0, 7, 0, b"a", b"1", of_other_run=False),
    ReadRecord(0, 8, 2, b"a", b"3", of_other_run=False),
    ReadRecord(0, 9, 5, b"", None, of_other_run=False),
    ReadRecord(1, 0, 1, b"b", b"2", of_other_run=False),
    ReadRecord(1, 1, 3, None, b"4", of_other_run=False),
    ReadRecord(1, 2, 4, b"b", b"5", of_other_run=False),
]


def kept_records(stack: contextlib.ExitStack) -> KeptRecords:
    kept = KeptRecords(stack)
    rows, keys, values, partitions = zip(*RECORDS, strict=True)
    arrays = [pa.array(rows, pa.int64()), pa.array(keys, pa.binary()), pa.array(values, pa.binary())]
    names = ["row", "key", "value", "partition"]
    whole = pa.RecordBatch.from_arrays([*arrays, pa.array(partitions, pa.int32())], names)
    kept.add(whole.slice(0, 4))
    kept.add(whole.slice(4))
    kept.end()
    return kept


@pytest.fixture
def checked() -> Callable[..., Checks]:
    def run(read: list[ReadRecord], *, markers: bool = False) -> Checks:
        with contextlib.ExitStack() as stack:
            return check(kept_records(stack), lambda: iter(read), {0: 7}, markers=markers)

    return run


def broken(found: Checks) -> dict[str, int]:
    return {promise: getattr(found, promise) for promise in Checks.PROMISES if getattr(found, promise)}


def test_sound_records_pass(checked: Callable[..., Checks]) -> None:
    found = checked(SOUND)
    assert found.ok
    assert found.records == 6
    assert [
        (each.partition, each.records, each.first_offset, each.last_offset) for each in found.partitions
    ] == [
        (0, 3, 7, 9),
        (1, 3, 0, 2),
    ]


@pytest.mark.parametrize(
    ("change", "promises"),
    [
        (lambda read: read[1:], {"lost": 1, "offset_gaps": 1}),
        (lambda read: [*read, read[5]._replace(offset=3)], {"twice": 1}),
        # The copy is in a partition that is not its own.
        (lambda read: [*read, read[0]._replace(partition=1, offset=3)], {"twice": 1}),
        (lambda read: [*read, ReadRecord(1, 3, None, b"z", b"z", of_other_run=False)], {"foreign": 1}),
        (lambda read: [*read, ReadRecord(2, 0, None, b"z", b"z", of_other_run=True)], {"foreign": 1}),
        (lambda read: [*read, ReadRecord(1, 3, 77, b"z", b"z", of_other_run=False)], {"foreign": 1}),
        (lambda read: [*read[:2], *read[3:], read[2]._replace(partition=1, offset=3)], {"misplaced": 1}),
        (lambda read: [read[0]._replace(key=b"A"), *read[1:]], {"key_changed": 1}),
        (lambda read: [*read[:2], read[2]._replace(key=None), *read[3:]], {"key_changed": 1}),
        (lambda read: [*read[:2], read[2]._replace(value=b""), *read[3:]], {"value_changed": 1}),
        (
            lambda read: [read[1]._replace(offset=7), read[0]._replace(offset=8), *read[2:]],
            {"out_of_order": 1},
        ),
        (lambda read: [*read[:5], read[5]._replace(offset=9)], {"offset_gaps": 1}),
    ],
)  # fmt: skip
def test_each_broken_promise_is_counted(
    change: Callable[[list[ReadRecord]], list[ReadRecord]],
    promises: dict[str, int],
    checked: Callable[..., Checks],
) -> None:
    found = checked(change(SOUND))
    assert broken(found) == promises
    assert found.records == 6
    named = {"lost", "twice", "misplaced", "key_changed", "value_changed"} & promises.keys()
    assert bool(found.examples) >= bool(named)


def test_the_first_broken_records_are_named(checked: Callable[..., Checks]) -> None:
    found = checked(
        [*SOUND[:2], SOUND[2]._replace(partition=1, offset=3), *SOUND[4:], SOUND[4]._replace(offset=4)]
    )
    assert found.examples == (
        "row 1 with key b asked for partition 1 and is nowhere",
        "row 3 with key null asked for partition 1 and is in partition 1 at offset 1, 2 times",
        "row 5 with key (empty) asked for partition 0 and is in partition 1 at offset 3",
    )


def test_markers_of_transactions_are_no_gaps(checked: Callable[..., Checks]) -> None:
    read = [each._replace(offset=2 * each.offset) for each in SOUND]
    assert checked(read, markers=True).ok
    assert broken(checked(read)) == {"offset_gaps": 2}


def test_another_run_is_told_from_other_writers(checked: Callable[..., Checks]) -> None:
    theirs = ReadRecord(1, 3, None, b"z", b"z", of_other_run=True)
    found = checked([*SOUND, theirs, theirs._replace(offset=4, of_other_run=False)])
    assert (found.foreign, found.other_runs) == (2, 1)


def test_copies_beyond_the_first_are_listed() -> None:
    read = [
        *SOUND,
        SOUND[0]._replace(offset=10),
        SOUND[0]._replace(partition=2, offset=7),
        SOUND[4]._replace(offset=9),
    ]
    assert copies(read) == [(0, 10), (1, 9), (2, 7)]


def test_the_proof_counts_keyed_records_alone() -> None:
    """Of the records without a key, none is sent to the producer."""
    with contextlib.ExitStack() as stack:
        kept = kept_records(stack)
        sent = list(keyed_marks(kept, RUN))
        assert [key for key, _ in sent] == [b"a", b"b", b"a", b"b", b""]
        assert [RUN.row(mark) for _, mark in sent] == [0, 1, 2, 4, 5]
        proof = compare(kept, [each for each in SOUND if each.key is not None], len(RECORDS))
        assert proof.ok
        assert (proof.keyed, proof.equal, proof.different, proof.lost) == (5, 5, 0, 0)


def test_the_proof_notices_another_partition_and_a_lost_record() -> None:
    foreign = ReadRecord(0, 3, None, b"b", None, of_other_run=True)
    with contextlib.ExitStack() as stack:
        kept = kept_records(stack)
        proof = compare(kept, [SOUND[0]._replace(partition=3), *SOUND[1:4], foreign], len(RECORDS))
    assert not proof.ok
    assert (proof.keyed, proof.equal, proof.different, proof.lost) == (5, 3, 1, 1)
    assert proof.examples == (
        "row 0 with key a asked for partition 0 and the producer chose partition 3",
        "row 4 with key b asked for partition 1 and is nowhere",
    )
