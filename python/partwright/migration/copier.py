"""Copy a topic up to some offsets, transaction by transaction, and keep track of the progress."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from threading import Event
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from partwright.errors import PartwrightError
from partwright.migration.settings import placement
from partwright.migration.streams import Streams
from partwright.migration.topics import describe_target, made_again, patiently
from partwright.migration.translate import Slice, committed_or_begin, layers

if TYPE_CHECKING:
    from partwright.kafka.reading import Record
    from partwright.migration.groups import MigratedGroup
    from partwright.migration.ledger import State
    from partwright.migration.settings import Migration, RecordPlacement
    from partwright.migration.writer import MigrationWriter

# Fewer records make transactions expensive; more make readers of committed records wait.
_RECORDS, _BYTES = 60_000, 32 << 20


class Older:
    """Finds the records from before partitions were added: they are where the smaller number puts their key.

    Args:
        migration: What is migrated.
        older: The earlier number of partitions.
        now: Where records go in the new topic.
    """

    def __init__(self, migration: Migration, older: int, now: RecordPlacement) -> None:
        self._before, self._now = placement(migration, older), now

    def of(self, keys: pa.Array, partitions: pa.Array) -> pa.Array:
        """For each record, whether it is one; one with the same place under both numbers may be copied later."""
        is_old = pc.equal(self._before.home(keys), partitions)
        is_new = pc.equal(self._now.home(keys), partitions)
        return pc.fill_null(pc.and_not(is_old, is_new), pa.scalar(False))


class Copier:
    """Copies a topic up to given offsets.

    Args:
        migration: What is migrated.
        state: The progress.
        writer: The writer.
        progress: Called after each transaction with how many records are copied.
        rate: The most records per second; None for no limit.

    Attributes:
        state: The progress.
    """

    def __init__(
        self,
        migration: Migration,
        state: State,
        writer: MigrationWriter,
        progress: Callable[[int], None],
        *,
        rate: float | None = None,
    ) -> None:
        self.state = state
        self._migration, self._writer, self._rate, self._progress = migration, writer, rate, progress
        self._place = placement(migration, len(state.at))
        self._older = None if state.older is None else Older(migration, state.older, self._place)
        # A transaction lasts about a second, however slow the copy should be.
        self._most = _RECORDS if rate is None else max(1, min(_RECORDS, int(rate)))
        self._began = time.monotonic()
        self._copied = 0
        self._streams: Streams | None = None
        self._filler = ThreadPoolExecutor(1, "partwright-migrate")

    def close(self) -> None:
        """End its threads."""
        self._filler.shutdown()
        if self._streams is not None:
            self._streams.close()

    def to(self, ends: Sequence[int], groups: Sequence[MigratedGroup]) -> None:
        """Copy each old partition up to an offset: in layers, by how far the groups have read, if no order is named.

        Raises:
            BrokerError: A broker is gone, or refuses, or the new topic was replaced meanwhile by another.
            PartwrightError: A record's key is not where the client puts it, although all were when the copy began.
        """
        begin, is_layered = self.state.begin, self._migration.order is None
        read = [committed_or_begin(group.committed, begin) for group in groups] if is_layered else []
        for bounds in layers(read, self.state.at, ends) or [tuple(ends)]:
            if self._older is not None and not self.state.is_older_done:
                self._to(self.state.older_ends)
                # From the beginning again, for everything that is left.
                self.state = self._writer.note(replace(self.state, is_older_done=True, at=list(begin)))
                if self._streams is not None:
                    self._streams.close()
                    self._streams = None
            self._to(bounds)
            patiently(partial(describe_target, self._migration, self.state))

    def settle(self) -> None:
        """Record the progress in the ledger, if the copy has passed transaction markers since."""
        self.state = self._writer.note(self.state)

    def _to(self, bounds: Sequence[int]) -> None:
        if self._streams is None:
            self._streams = Streams(
                self._migration.source.config, self._migration.source.topic, dict(enumerate(self.state.at))
            )
        streams = self._streams
        take = streams.take_by_time if self._migration.order == "time" else streams.take
        while True:
            records = take(bounds, self._most, _BYTES)
            if not records:
                break
            self._copy(records, bounds, streams)
        at = [max(pair) for pair in zip(self.state.at, bounds, strict=True)]
        self.state = replace(self.state, at=at, deleted=self._deleted(streams))

    def _copy(self, records: Sequence[Record], bounds: Sequence[int], streams: Streams) -> None:
        keys = pa.array([record.key() for record in records], pa.binary())
        places = [[record.partition() for record in records], [record.offset() for record in records]]
        partitions, offsets = pa.array(places[0], pa.int32()), pa.array(places[1], pa.int64())
        self._refuse_strays(keys, partitions, offsets)
        targets = self._place.of(keys, partitions, offsets)
        at = list(self.state.at)
        for partition, offset in dict(zip(*places, strict=True)).items():
            at[partition] = offset + 1
        for partition, bound in enumerate(bounds):
            if streams.passed(partition, bound):
                at[partition] = max(at[partition], bound)
        rows = self._rows_of_generation(keys, partitions, offsets)
        if rows is not None:
            records = [records[row] for row in rows]
            partitions, offsets, targets = (each.take(rows) for each in (partitions, offsets, targets))
        if not records:
            self.state = replace(self.state, at=at)
            return
        untimed = sum([record.timestamp()[1] <= 0 for record in records])
        before, deleted = self.state, self._deleted(streams)

        def reached(copies: Slice) -> State:
            if any(base < before.ends[target] for target, base in copies.bases.items()):
                raise made_again(self._migration, self.state)
            return replace(
                before,
                at=at,
                ends=_ends(before.ends, copies.bases, copies.counts()),
                copied=before.copied + len(records),
                untimed=before.untimed + untimed,
                deleted=deleted,
            )

        copies = Slice(partitions.to_pylist(), offsets.to_pylist(), targets.to_pylist(), {})
        with self._filling(streams, bounds):
            self.state = self._writer.write(records, copies, reached)
        self._copied += len(records)
        self._progress(self.state.copied)
        self._wait()

    @contextmanager
    def _filling(self, streams: Streams, bounds: Sequence[int]) -> Iterator[None]:
        """The next records arrive while these are written, and only then."""
        stopped = Event()
        filled = self._filler.submit(streams.fill, bounds, self._most, stopped)
        try:
            yield
        finally:
            stopped.set()
            wait([filled])
        filled.result()

    def _deleted(self, streams: Streams) -> int:
        deleted, streams.reading.deleted = self.state.deleted + streams.reading.deleted, 0
        return deleted

    def _rows_of_generation(
        self, keys: pa.Array, partitions: pa.Array, offsets: pa.Array
    ) -> list[int] | None:
        """In the order `generation`, the rows that are copied now; otherwise None."""
        if self._older is None:
            return None
        is_older = self._older.of(keys, partitions)
        if self.state.is_older_done:
            ends = pa.array(self.state.older_ends, pa.int64())
            is_older = pc.invert(pc.and_(is_older, pc.less(offsets, ends.take(partitions))))
        rows: list[int] = pc.indices_nonzero(is_older).to_pylist()
        return rows

    def _refuse_strays(self, keys: pa.Array, partitions: pa.Array, offsets: pa.Array) -> None:
        if not self.state.every_key_at_home:
            return
        home = self._place.home(keys)
        row = pc.index(pc.not_equal(home, partitions), True).as_py()
        if row >= 0:
            raise PartwrightError(
                f"the key {keys[row].as_py()!r} was written to partition {partitions[row]} of "
                f"{self._migration.source.topic!r} (offset {offsets[row]}), and {self._migration.client} puts it into "
                f"{home[row].as_py()}, as every key before: find its writer, whose order could not be kept, then "
                f"delete {self._migration.target.topic!r} and {self._migration.ledger!r} and say --order time",
                value=keys[row].as_py(),
            )

    def _wait(self) -> None:
        if self._rate is not None:
            time.sleep(max(0.0, self._copied / self._rate - (time.monotonic() - self._began)))


def _ends(before: Sequence[int], bases: Mapping[int, int], counts: Mapping[int, int]) -> list[int]:
    """The offset after the last copy in each new partition."""
    ends = list(before)
    for target, base in bases.items():
        ends[target] = base + counts[target]
    return ends
