"""Place a source's records in this process, add them up, and keep them for the write and the check.

They are kept in memory up to a bound, and beyond it in a file of Arrow's in a temporary folder, which is read batch by
batch: whatever happens to the source meanwhile, the same records are written and checked.
"""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from partwright.audit.key_sums import Observed
from partwright.audit.pair_tables import value_counts
from partwright.errors import PartwrightError
from partwright.files.formats import in_one
from partwright.files.scalars import number, number_column, text
from partwright.folders import temporary_folder
from partwright.kafka.partition_writer import EARLIEST_MS
from partwright.keys.hashing import partition_for_key
from partwright.keys.key_text import shown_key
from partwright.pipeline.local_records import WantedKeys, key_bytes, source_batches
from partwright.pipeline.report import HEAVIEST, KeyShare, PartitionShare, RecordSums
from partwright.pipeline.settings import ID_BYTES, STRIP_ID
from partwright.producer.producer import Producer

if TYPE_CHECKING:
    from partwright.pipeline.context import Context
    from partwright.pipeline.local_records import SourceBatch
    from partwright.pipeline.targets import Target

IN_MEMORY = 64 << 20
"""The bytes of records from which on they are kept in a file."""
_MANY_KEYS = 1_000_000
_NONE = number(0)
_NO_BYTES = _NO_PARTITION = number(-1).cast(pa.int32())
_NOTHING = text("").cast(pa.binary())


class KeptRecords:
    """Placed records, in the source's order, that can be gone through again and again.

    Args:
        folder: Makes the folder for a file, if one is needed.
        in_memory: The bytes from which on it is.
    """

    def __init__(self, folder: contextlib.ExitStack, in_memory: int = IN_MEMORY) -> None:
        self._stack, self._most = folder, in_memory
        self._batches: list[pa.RecordBatch] = []
        self._bytes = 0
        self._count = 0
        self._file: Path | None = None
        self._writer: pa.ipc.RecordBatchFileWriter | None = None

    def add(self, batch: pa.RecordBatch) -> None:
        """Keep the next records.

        Raises:
            PartwrightError: The disk of temporary files is full.
        """
        self._bytes += batch.nbytes
        self._count += 1
        self._batches.append(batch)
        if self._bytes > self._most:
            self._spill(batch.schema)

    def end(self) -> None:
        """All records are kept.

        Raises:
            PartwrightError: The disk of temporary files is full.
        """
        if self._writer is not None:
            with self._explained():
                self._writer.close()

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self.picked(range(self._count))

    def picked(self, numbers: Iterable[int]) -> Iterator[pa.RecordBatch]:
        """Some of the batches, by the numbers in which they were added."""
        if self._file is None:
            yield from map(self._batches.__getitem__, numbers)
            return
        with pa.OSFile(str(self._file)) as file:
            yield from map(pa.ipc.open_file(file).get_batch, numbers)

    def _spill(self, schema: pa.Schema) -> None:
        with self._explained():
            if self._writer is None:
                made = self._stack.enter_context(temporary_folder("partwright-run-"))
                self._file = made.folder / "records.arrow"
                self._writer = pa.ipc.new_file(str(self._file), schema)
                self._stack.callback(_closed, self._writer)
            for batch in self._batches:
                self._writer.write_batch(batch)
        self._batches.clear()

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise PartwrightError(
                f"the records cannot be kept in {str(self._file or tempfile.gettempdir())!r} "
                f"({error.strerror or error}), nothing was written: make room there, or name another folder with TMPDIR"
            ) from None


def _closed(writer: pa.ipc.RecordBatchFileWriter) -> None:
    # A full disk has been reported.
    with contextlib.suppress(OSError):
        writer.close()


@dataclass(frozen=True)
class PlacedRecords:
    """What a source holds.

    Attributes:
        kept: `row`, `key`, `value`, `partition`, and `headers` and `timestamp` if the source has them.
        sums: The same, added up.
        is_estimate: Whether the number of different keys is one.
    """

    kept: KeptRecords
    sums: RecordSums
    is_estimate: bool


def placed_records(context: Context[Target], stack: contextlib.ExitStack) -> PlacedRecords:
    """Read a source, place each record, and keep it.

    Raises:
        PartwrightError: The source cannot be read, or a key has no key bytes.
    """
    kept, seen = KeptRecords(stack), Observed(_MANY_KEYS)
    digest = _Digest()
    place = _placing(context)
    rows = unplaced = with_key = size = 0
    left: Counter[int] = Counter()
    only_keys = _named_keys(context.settings.wanted_keys, context.settings.key_type)
    columns = context.settings.columns._replace(key=context.source.key)
    for batch in source_batches(context.source, columns, only_keys, context.settings.limit):
        try:
            keys, partitions = key_bytes(batch.keys, context.settings.source_key_type), place(batch)
        except PartwrightError as error:
            raise error.moved(rows.__add__) from None
        count = len(keys)
        numbers = number_column(range(rows, rows + count))
        destinations = partitions
        if partitions.null_count and context.spreads:
            # By their place in the source, as evenly as keys.
            destinations = pc.coalesce(
                partitions, in_one(partition_for_key(numbers, context.n, key_type="java:long"))
            )
        bytes_of = pc.add(
            *(pc.fill_null(pc.binary_length(each).cast(pa.int64()), _NONE) for each in (keys, batch.values))
        )
        seen.add(keys, partitions.cast(pa.int64()), sizes=bytes_of)
        arrays = {"row": numbers, "key": keys, "value": batch.values, "partition": destinations}
        if batch.headers is not None:
            arrays["headers"] = batch.headers
        if batch.timestamps is not None:
            _refuse_early(rows, batch.timestamps)
            arrays["timestamp"] = batch.timestamps
        placed = pa.RecordBatch.from_pydict(arrays)
        kept.add(placed)
        digest.add(placed)
        unplaced += partitions.null_count
        left.update(value_counts(destinations.filter(pc.is_null(partitions))))
        rows += count
        with_key += count - keys.null_count
        size += pc.sum(bytes_of).as_py()
    kept.end()
    keys_in, pairs = seen.keys_in(), seen.pairs()
    placed_pairs = pairs.filter(pc.is_valid(pairs["partition"]))
    sums = RecordSums(
        partitions=tuple(
            PartitionShare(
                each,
                seen.rows_in[each],
                seen.bytes_in[each],
                keys_in.get(each, 0),
                # Records that are in no partition do not count for any.
                left[each] if unplaced == left.total() else None,
            )
            for each in range(context.n)
        ),
        heaviest_keys=_heaviest(seen),
        records=rows,
        unplaced=unplaced,
        with_key=with_key,
        keys=len(pc.unique(placed_pairs["key"])) * seen.scale,
        bytes=size,
        digest=digest.hex(),
    )
    return PlacedRecords(kept, sums, seen.is_sampled)


class _Digest:
    """A sum over records in their order, which does not depend on how a reader cuts them into batches."""

    def __init__(self) -> None:
        # Lengths and bytes are two streams for each column, each of which goes on from batch to batch.
        self._streams = [hashlib.blake2b(digest_size=8) for _ in range(5)]

    def add(self, placed: pa.RecordBatch) -> None:
        keys, values = (placed.column(name) for name in ("key", "value"))
        partitions = pc.fill_null(placed.column("partition"), _NO_PARTITION)
        parts = [*_lengths_and_bytes(keys), *_lengths_and_bytes(values), _plain(partitions)]
        for stream, part in zip(self._streams, parts, strict=True):
            stream.update(part)

    def hex(self) -> str:
        whole = hashlib.blake2b(b"".join(each.digest() for each in self._streams), digest_size=8)
        return whole.hexdigest()


def _lengths_and_bytes(column: pa.Array) -> tuple[memoryview, memoryview]:
    lengths = pc.fill_null(pc.binary_length(column), _NO_BYTES)
    column = pc.fill_null(column, _NOTHING) if column.null_count else column
    offsets = memoryview(column.buffers()[1]).cast("i")
    begin, end = offsets[column.offset], offsets[column.offset + len(column)]
    data = column.buffers()[2]
    return _plain(lengths), memoryview(b"" if data is None else data)[begin:end]


def _plain(numbers: pa.Array) -> memoryview:
    """The bytes of whole numbers of 32 bits without a null."""
    return memoryview(numbers.buffers()[1]).cast("B")[
        4 * numbers.offset : 4 * (numbers.offset + len(numbers))
    ]


def _refuse_early(rows: int, timestamps: pa.Array) -> None:
    first = pc.min(timestamps).as_py()
    if first is not None and first < EARLIEST_MS:
        row = rows + pc.index(timestamps, number(first)).as_py()
        raise PartwrightError(
            f"row {row} has the timestamp {first} ms, and --runner local writes none before {EARLIEST_MS}: correct it",
            row=row,
            value=first,
        )


def _named_keys(keys: frozenset[bytes], key_type: str | None) -> WantedKeys | None:
    return WantedKeys(keys, ID_BYTES if key_type == STRIP_ID else 0) if keys else None


def _heaviest(seen: Observed) -> tuple[KeyShare, ...]:
    heavy = seen.heaviest(HEAVIEST)
    places = seen.places_of(heavy)
    return tuple(
        KeyShare(shown_key(each.key), each.rows, each.partition if len(places[each.key]) == 1 else None)
        for each in heavy
    )


def _placing(context: Context[Target]) -> Callable[[SourceBatch], pa.Array]:
    """What gives a batch its partitions, null where the client does not place a record by its key."""
    settings = context.settings
    if context.cluster is None:
        rule = settings.client, settings.source_key_type
        return lambda batch: in_one(partition_for_key(batch.keys, context.n, *rule))
    # This process is one producer.
    strategy = settings.producer.strategy or "key"
    producer = Producer(context.cluster, replace(settings.producer, strategy=strategy))

    def place(batch: SourceBatch) -> pa.Array:
        columns = {"key": batch.keys, "partition": batch.named, "field": batch.fields, "value": batch.values}
        return in_one(
            producer.place(pa.table({name: each for name, each in columns.items() if each is not None}))
        )

    return place
