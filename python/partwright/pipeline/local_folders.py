"""Folders of Parquet files as this process writes and reads them: one file per partition, by pyarrow.

Records come in the source's order, so they are kept once more, partition by partition: then one file is open at a time,
however many partitions there are.
"""

from __future__ import annotations

import contextlib
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from partwright._check import first_line
from partwright.errors import PartwrightError
from partwright.files.scalars import binary_column, number_column, text
from partwright.kafka.marks import MARK, as_mark
from partwright.pipeline.local_placing import KeptRecords
from partwright.pipeline.local_targets import FoundRecord, LocalTarget, LocalTopic
from partwright.pipeline.local_writing import headers_with
from partwright.pipeline.parquet_folders import LocalFolders, ManifestFile
from partwright.pipeline.settings import KafkaTarget
from partwright.pipeline.targets import Wrote
from partwright.producer.records import HEADERS

if TYPE_CHECKING:
    from partwright.kafka.marks import Mark
    from partwright.kafka.topics import NewTopic
    from partwright.pipeline.context import Context
    from partwright.pipeline.settings import ParquetTarget, PlacementRule
    from partwright.pipeline.topic_source import Source

_GROUP = 16 << 20
"""The bytes of records that are sorted at once, and that one row group of a file has."""
_ROWS = 1 << 13
"""The rows that are read at once."""


def target_at(
    to: KafkaTarget | ParquetTarget, topic: str, new_topic: NewTopic, rule: PlacementRule
) -> LocalTarget:
    """The target that the options name; see `RunnerKind.target_at`."""
    if isinstance(to, KafkaTarget):
        return LocalTopic(to.config, topic, new_topic)
    return ArrowFolders(to.folder, topic, rule)


class ArrowFolders(LocalFolders, LocalTarget):
    """Folders of this machine that this process writes and reads."""

    def how(self, context: Context[LocalTarget]) -> str:
        """See `LocalTarget.how`."""
        del context
        return "by Arrow"

    def write(self, context: Context[LocalTarget], kept: KeptRecords) -> Wrote:
        """See `LocalTarget.write`; the manifest of what is there is written last."""
        mark = context.written_mark
        schema = _schema(context.source, context.settings.columns.value, is_marked=mark is not None)
        try:
            files = self._write_files(kept, schema, mark)
            self._name_whole()
            self._finish(files)
        except OSError as error:
            # Arrow has words of its own around the system's.
            why = os.strerror(error.errno) if error.errno else first_line(error)
            raise PartwrightError(why) from error
        return Wrote()

    def _write_files(
        self, kept: KeptRecords, schema: pa.Schema, mark: Mark | None
    ) -> dict[int | None, list[ManifestFile]]:
        files = {}
        with contextlib.ExitStack() as stack:
            for partition, batches in _by_partition(kept, stack):
                file = self._written_as(partition) / f"part-00000-{self.run}.snappy.parquet"
                file.parent.mkdir()
                rows = _write_file(file, batches, schema, mark)
                path = f"{self._named_as(partition).name}/{file.name}"
                files[partition] = [ManifestFile(path, rows, 0, rows - 1)]
        return files

    def records(self, *, committed: bool) -> Iterator[FoundRecord]:
        """See `LocalTarget.records`.

        Raises:
            PartwrightError: The files are not those of the manifest, or one is damaged.
        """
        # A folder with a manifest has nothing uncommitted.
        del committed
        files = self._files()
        self._refuse_changed(_described(file) for _, file in files)
        for partition, file in files:
            for record in _records(file):
                yield FoundRecord(partition, *record)

    def _files(self) -> list[tuple[int | None, Path]]:
        """Each file that holds records now, with its partition."""
        return [
            (None if folder == self._named_as(None) else int(folder.name.rpartition("-")[2]), file)
            for folder in self._named()
            for file in sorted(folder.iterdir())
            if not file.name.startswith(("_", "."))
        ]


def _schema(source: Source, value: str | None, *, is_marked: bool) -> pa.Schema:
    """The columns of a file as Spark's have them: a value that is text stays text."""
    kind = pa.binary()
    if source.format != "kafka" and (value is None or source.types[value] in _TEXTS):
        kind = pa.string()
    return pa.schema(
        [
            pa.field("offset", pa.int64(), nullable=False),
            pa.field("key", pa.binary()),
            pa.field("value", kind),
            pa.field("headers", HEADERS, nullable=not is_marked),
        ]
    )


_TEXTS = {pa.string(), pa.large_string(), pa.string_view()}


def _by_partition(
    kept: KeptRecords, stack: contextlib.ExitStack
) -> Iterator[tuple[int | None, Iterator[pa.RecordBatch]]]:
    """Each partition that has records, with these in the source's order."""
    sorted_records, numbers, count = KeptRecords(stack), defaultdict(list), 0
    for batch in _gathered(kept):
        order = batch.take(pc.sort_indices(batch.column("partition")))
        runs = pc.run_end_encode(order.column("partition"))
        begin = 0
        for end, partition in zip(runs.run_ends.to_pylist(), runs.values.to_pylist(), strict=True):
            sorted_records.add(order.slice(begin, end - begin))
            numbers[partition].append(count)
            begin, count = end, count + 1
    sorted_records.end()
    batches = sorted_records.picked(chain.from_iterable(numbers.values()))
    yield from groupby(batches, lambda batch: batch.column("partition")[0].as_py())


def _gathered(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same records in batches of about `_GROUP` bytes."""
    some: list[pa.RecordBatch] = []
    for batch in chain(batches, [None]):
        if batch is not None:
            some.append(batch)
        if some and (batch is None or sum(each.nbytes for each in some) >= _GROUP):
            yield from pa.Table.from_batches(some).combine_chunks().to_batches()
            some = []


def _write_file(file: Path, batches: Iterable[pa.RecordBatch], schema: pa.Schema, mark: Mark | None) -> int:
    """Write one partition's records; returns how many there are."""
    rows = 0
    with pq.ParquetWriter(file, schema) as writer:
        for batch in _gathered(batches):
            arrays = [
                number_column(range(rows, rows + batch.num_rows)),
                batch.column("key"),
                batch.column("value").cast(schema.field("value").type),
                _headers(batch, mark),
            ]
            writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))
            rows += batch.num_rows
    return rows


def _headers(batch: pa.RecordBatch, mark: Mark | None) -> pa.Array:
    """Each record's headers, with the mark as the last one; null if there are none."""
    rows = batch.column("row").to_pylist()
    if "headers" in batch.schema.names:
        theirs = headers_with(batch, rows, mark)
        return pa.array([each or None for each in theirs], HEADERS)
    if mark is None:
        return pa.nulls(len(rows), HEADERS)
    marks = [pa.repeat(text(MARK), len(rows)), binary_column(mark.values(rows))]
    each_one = number_column(range(len(rows) + 1)).cast(pa.int32())
    return pa.ListArray.from_arrays(each_one, pa.StructArray.from_arrays(marks, fields=[*HEADERS.value_type]))


@contextlib.contextmanager
def _opened(file: Path) -> Iterator[pq.ParquetFile]:
    try:
        with pq.ParquetFile(file) as opened:
            yield opened
    except (pa.ArrowException, OSError) as error:
        raise PartwrightError(f"{str(file)!r} cannot be read back: {first_line(error)}") from None


def _described(file: Path) -> ManifestFile:
    """A file as a manifest has it, with offsets of -1 if it has none."""
    first = last = -1
    with _opened(file) as opened:
        if "offset" in opened.schema_arrow.names:
            for batch in opened.iter_batches(columns=["offset"]):
                least, most = pc.min_max(batch.column(0)).as_py().values()
                first, last = least if first < 0 else min(first, least), max(last, most)
        return ManifestFile(f"{file.parent.name}/{file.name}", opened.metadata.num_rows, first, last)


def _records(file: Path) -> Iterator[tuple[int, bytes | None, bytes | None, bytes | None]]:
    """Offset, key, value and mark of each record of a file."""
    with _opened(file) as opened:
        for batch in opened.iter_batches(_ROWS, columns=["offset", "key", "value", "headers"]):
            columns = (batch.column(name).to_pylist() for name in ("offset", "key"))
            values = batch.column("value").cast(pa.binary()).to_pylist()
            yield from zip(*columns, values, _marks(batch.column("headers")), strict=True)


def _marks(headers: pa.Array) -> Iterator[bytes | None]:
    """The mark among each record's headers; None if it has none."""
    each_header = headers.flatten()
    is_ours = pc.equal(each_header.field("key"), text(MARK))
    rows = pc.list_parent_indices(headers).filter(is_ours).to_pylist()
    marks = dict(zip(rows, each_header.field("value").filter(is_ours).to_pylist(), strict=True))
    return (as_mark(marks.get(row)) for row in range(len(headers)))
