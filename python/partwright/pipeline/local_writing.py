"""Write placed records from this process, over one producer: in transactions, or each record once and in order.

Either way a partition gets its records in the source's order, so the last one that is there says how far an earlier try
came. With transactions, nothing before it can be missing.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from itertools import repeat
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from partwright._check import counted
from partwright.errors import PartwrightError
from partwright.files.scalars import FALSE, number, number_column
from partwright.kafka.marks import MARK, Mark, last_rows, mark_in, settled_ends
from partwright.kafka.partition_writer import MOST_BYTES, MOST_RECORDS, MOST_S
from partwright.kafka.reading import records
from partwright.kafka.topics import end_offsets
from partwright.kafka.writing import Writing, WritingAdvice
from partwright.pipeline.targets import Wrote

if TYPE_CHECKING:
    from partwright.pipeline.local_placing import KeptRecords
    from partwright.pipeline.targets import KafkaTopic

_AT_ONCE = 1_000
"""Records that are sent between two looks at librdkafka's queue."""
# More in the queue would use memory, and would be late where the network is slow.
_TUNED = {"delivery.report.only.error": True, "queue.buffering.max.kbytes": MOST_BYTES >> 10}


def write(
    topic: KafkaTopic, kept: KeptRecords, mark: Mark | None, *, in_transactions: bool, goes_on: bool
) -> Wrote:
    """Write the records that are not there yet.

    Args:
        topic: The topic, with the offsets at which this run began.
        kept: All records.
        mark: The header of this run's records; None leaves it out.
        in_transactions: Whether consumers that read only committed records get each of them once, whatever happens.
        goes_on: Whether an earlier try may have written some of them.

    Returns:
        How many were there, and how many of those that were written now precede the last one that was.

    Raises:
        BrokerError: No Kafka answers, or it refuses.
        PartwrightError: The last record that is there is none of these.
    """
    run = "" if mark is None else mark.run.hex()
    name = f"partwright.{run}.all" if in_transactions else None
    advice = WritingAdvice(
        taken_over=f"another process has taken over the writing of this run into {topic.topic!r}: let it go on",
        unsupported="leave out --exactly-once",
        denied=(
            f"this user no right to WRITE as transactional id {name!r}: grant it (kafka-acls.sh --add --operation "
            "Write --transactional-id partwright. --resource-pattern-type prefixed --allow-principal User:...), or "
            "leave out --exactly-once"
        ),
        record="a record",
        again="go on with --resume",
    )
    writing = Writing(topic.config, topic.topic, name, advice, _TUNED)
    earlier = (
        _Earlier.of(topic, kept, mark, committed=in_transactions)
        if goes_on and mark is not None
        else _Earlier()
    )
    began, size = time.monotonic(), 0
    with writing.aborted_if_refused():
        for batch in kept:
            unwritten = batch if not earlier.last else batch.filter(earlier.missing(batch))
            for start in range(0, unwritten.num_rows, _AT_ONCE):
                if not writing.count:
                    writing.begin()
                    began, size = time.monotonic(), 0
                some = unwritten.slice(start, _AT_ONCE)
                _send(writing, topic.topic, some, mark)
                size += some.nbytes
                is_full = writing.count >= MOST_RECORDS or size >= MOST_BYTES
                if in_transactions and (is_full or time.monotonic() - began >= MOST_S):
                    writing.commit()
        if writing.count:
            writing.commit()
    return Wrote(earlier.records, earlier.late)


def _send(writing: Writing, topic: str, batch: pa.RecordBatch, mark: Mark | None) -> None:
    rows = batch.column("row").to_pylist()
    times = batch.column("timestamp") if "timestamp" in batch.schema.names else None
    writing.send(
        topic,
        batch.column("value").to_pylist(),
        batch.column("key").to_pylist(),
        batch.column("partition").to_pylist(),
        _headers(batch, rows, mark),
        timestamps=repeat(0) if times is None else pc.fill_null(times, number(0)).to_pylist(),
    )


def _headers(batch: pa.RecordBatch, rows: list[int], mark: Mark | None) -> Iterator[object]:
    """Each record's headers, with the mark as the last one."""
    marks = repeat(None) if mark is None else mark.values(rows)
    if "headers" not in batch.schema.names:
        # confluent-kafka copies it before it asks for the next one.
        return ([] if each is None else {MARK: each} for each in marks)
    return (
        [(header["key"], header["value"]) for header in theirs or () if each is None or header["key"] != MARK]
        + ([] if each is None else [(MARK, each)])
        for theirs, each in zip(batch.column("headers").to_pylist(), marks, strict=False)
    )


class _Earlier:
    """What an earlier try of the same run has written.

    Attributes:
        last: By partition, the row of its last record there.
        records: How many records are there.
        late: How many are missing before the last ones, as a delivery that timed out leaves them.
    """

    def __init__(self, last: Mapping[int, int] | None = None) -> None:
        self.last = dict(last or {})
        self.records = self.late = 0
        self._late = number_column([])

    @classmethod
    def of(cls, topic: KafkaTopic, kept: KeptRecords, mark: Mark, *, committed: bool) -> _Earlier:
        config, name = topic.config, topic.topic
        ends = end_offsets(config, name)
        if committed:
            ends = settled_ends(config, name, sorted(ends))
        windows = {each: (topic.begin.get(each, 0), end) for each, end in ends.items()}
        earlier = cls(last_rows(config, name, windows, mark, committed=committed))
        earlier._count(kept, windows)
        if not committed:
            earlier._look_for_late(topic, kept, mark, windows)
        return earlier

    def _is_before(self, batch: pa.RecordBatch) -> pa.Array:
        """Whether each record comes no later than the last one that is there in its partition."""
        partitions = batch.column("partition").cast(pa.int64())
        last = pc.index_in(partitions, number_column([*self.last]))
        rows = number_column([*self.last.values()]).take(last)
        return pc.fill_null(pc.less_equal(batch.column("row"), rows), fill_value=FALSE)

    def missing(self, batch: pa.RecordBatch) -> pa.Array:
        """Whether each record of a batch is to be written."""
        return pc.or_(pc.invert(self._is_before(batch)), pc.is_in(batch.column("row"), self._late))

    def _count(self, kept: KeptRecords, windows: Mapping[int, tuple[int, int]]) -> None:
        self.up_to: dict[int, int] = dict.fromkeys(windows, 0)
        ends = set(self.last.values())
        for batch in kept:
            before = batch.filter(self._is_before(batch))
            for partition in before.column("partition").to_pylist():
                self.up_to[partition] += 1
            ends.difference_update(before.column("row").to_pylist())
        if ends:
            row = min(ends)
            lost = next(each for each, last in self.last.items() if last == row)
            raise PartwrightError(
                f"row {row}, the last one in partition {lost}, is not in the source any more: the source has changed, "
                "so this run cannot go on"
            )
        self.records = sum(self.up_to.values())

    def _look_for_late(
        self, topic: KafkaTopic, kept: KeptRecords, mark: Mark, windows: Mapping[int, tuple[int, int]]
    ) -> None:
        """Read the partitions that have fewer or more offsets than records, and see which records are missing there."""
        unequal = {
            each: window
            for each, window in windows.items()
            if each in self.last and window[1] - window[0] != self.up_to[each]
        }
        if not unequal:
            return
        seen: set[int] = set()
        came = dict.fromkeys(unequal, 0)
        for record in records(topic.config, topic.topic, unequal):
            came[record.partition()] += 1
            header = mark_in(record)
            if header is not None and header.startswith(mark.prefix):
                seen.add(mark.row(header))
        for each, (begin, end) in unequal.items():
            if came[each] < end - begin and end - begin < self.up_to[each]:
                raise PartwrightError(
                    f"partition {each} of {topic.topic!r} never got {self.up_to[each] - (end - begin):,} of the first "
                    f"{counted(self.up_to[each], 'record')}, and Kafka has deleted others since, so which ones is not "
                    "known: run without --resume, into another --topic"
                )
        whole = [each for each, (begin, end) in unequal.items() if came[each] == end - begin]
        late: list[int] = []
        for batch in kept:
            before = batch.filter(self._is_before(batch))
            pairs = zip(before.column("partition").to_pylist(), before.column("row").to_pylist(), strict=True)
            late += [row for partition, row in pairs if partition in whole and row not in seen]
        self._late, self.late = number_column(late), len(late)
        self.records -= self.late
