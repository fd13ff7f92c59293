"""Write placed records from this process, over one producer: in transactions, or each record once and in order.

Either way a partition gets its records in the source's order, so the last one that is there says how far an earlier try
came. With transactions, nothing before it can be missing.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from partwright.files.scalars import FALSE, number, number_column
from partwright.kafka.marks import MARK, last_row_gone, last_rows, mark_in, never_arrived, settled_ends
from partwright.kafka.partition_writer import MOST_BYTES, MOST_RECORDS, MOST_S, run_advice
from partwright.kafka.reading import records
from partwright.kafka.writing import Writing
from partwright.pipeline.targets import Wrote

if TYPE_CHECKING:
    from partwright.kafka.marks import Mark
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
    advice = run_advice(str(name), f"this run into {topic.topic!r}", "a record")
    writing = Writing(topic.config, topic.topic, name, advice, _TUNED)
    earlier = _Earlier({}, 0)
    if goes_on and mark is not None:
        earlier = _earlier(topic, kept, mark, committed=in_transactions)
    began, size = time.monotonic(), 0
    with writing.aborted_if_refused():
        for batch in kept:
            unwritten = earlier.missing(batch)
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
    return Wrote(earlier.records, len(earlier.late))


def _send(writing: Writing, topic: str, batch: pa.RecordBatch, mark: Mark | None) -> None:
    rows = batch.column("row").to_pylist()
    times = batch.column("timestamp") if "timestamp" in batch.schema.names else None
    writing.send(
        topic,
        batch.column("value").to_pylist(),
        batch.column("key").to_pylist(),
        batch.column("partition").to_pylist(),
        headers_with(batch, rows, mark),
        timestamps=repeat(0) if times is None else pc.fill_null(times, number(0)).to_pylist(),
    )


def headers_with(batch: pa.RecordBatch, rows: list[int], mark: Mark | None) -> Iterator[Any]:
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


@dataclass(frozen=True)
class _Earlier:
    """What an earlier try of the same run has written.

    Attributes:
        last: By partition, the row of its last record there.
        records: How many records are there.
        late: The rows that are missing before the last ones, as a delivery that timed out leaves them.
    """

    last: Mapping[int, int]
    records: int
    late: Sequence[int] = ()

    def missing(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The records of a batch that are to be written."""
        if not self.last:
            return batch
        is_late = pc.is_in(batch.column("row"), number_column(self.late))
        return batch.filter(pc.or_(pc.invert(_is_passed(batch, self.last)), is_late))


def _earlier(topic: KafkaTopic, kept: KeptRecords, mark: Mark, *, committed: bool) -> _Earlier:
    """What an earlier try has written, by the last record in each partition."""
    windows = topic.windows()
    if committed:
        ends = settled_ends(topic.config, topic.topic, sorted(windows))
        windows = {each: (begin, ends[each]) for each, (begin, _) in windows.items()}
    last = last_rows(topic.config, topic.topic, windows, mark, committed=committed)
    counts = _counts_passed(kept, last)
    late = (
        []
        if committed
        else _late_rows(topic, kept, mark, last, {each: windows[each] for each in counts}, counts)
    )
    return _Earlier(last, sum(counts.values()) - len(late), late)


def _is_passed(batch: pa.RecordBatch, last: Mapping[int, int]) -> pa.Array:
    """Whether each record comes no later than the last one that is there in its partition."""
    partitions = batch.column("partition").cast(pa.int64())
    rows = number_column([*last.values()]).take(pc.index_in(partitions, number_column([*last])))
    return pc.fill_null(pc.less_equal(batch.column("row"), rows), fill_value=FALSE)


def _passed(kept: KeptRecords, last: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """Partition and row of the records up to the last ones that are there."""
    for batch in kept:
        passed = batch.filter(_is_passed(batch, last))
        yield from zip(passed.column("partition").to_pylist(), passed.column("row").to_pylist(), strict=True)


def _counts_passed(kept: KeptRecords, last: Mapping[int, int]) -> dict[int, int]:
    """How many records come no later than the last one that is there, by partition.

    Raises:
        PartwrightError: The last record that is there is none of these.
    """
    counts: dict[int, int] = {}
    found = set()
    for partition, row in _passed(kept, last):
        counts[partition] = counts.get(partition, 0) + 1
        if last[partition] == row:
            found.add(partition)
    gone = last.keys() - found
    if gone:
        raise last_row_gone(last[min(gone)], min(gone))
    return counts


def _late_rows(
    topic: KafkaTopic,
    kept: KeptRecords,
    mark: Mark,
    last: Mapping[int, int],
    windows: Mapping[int, tuple[int, int]],
    counts: Mapping[int, int],
) -> list[int]:
    """The rows that are missing before the last ones: only partitions with another number of offsets are read."""
    unequal = {each: (begin, end) for each, (begin, end) in windows.items() if end - begin != counts[each]}
    if not unequal:
        return []
    seen: set[int] = set()
    came = dict.fromkeys(unequal, 0)
    for record in records(topic.config, topic.topic, unequal):
        came[record.partition()] += 1
        header = mark_in(record)
        if header is not None and header.startswith(mark.prefix):
            seen.add(mark.row(header))
    # If a topic lost records by compaction or age, it cannot show which of them never arrived.
    whole = {each for each, (begin, end) in unequal.items() if came[each] == end - begin}
    for each in unequal.keys() - whole:
        begin, end = unequal[each]
        if end - begin < counts[each]:
            raise never_arrived(topic.topic, each, counts[each] - (end - begin), counts[each])
    return [row for partition, row in _passed(kept, last) if partition in whole and row not in seen]
