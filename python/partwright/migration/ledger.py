"""A migration's ledger: a topic of one partition, written in the same transactions as the copies.

Each of its records says in JSON how far each old partition is copied. If it was written together with copies, its
header `mapping` has each copy's old and new place, as Arrow.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from partwright._check import Json
from partwright._stored import OtherVersionError, read_stored
from partwright.errors import BrokerError, PartwrightError
from partwright.kafka.client import TIMEOUT_S, admin_client, confluent_kafka
from partwright.kafka.reading import headers_of, records
from partwright.kafka.topics import described, offsets_of
from partwright.migration.translate import Slice

if TYPE_CHECKING:
    from partwright.kafka.reading import Record
    from partwright.migration.settings import Migration

VERSION = 1
MAPPING = "mapping"
"""The header with the copies' old and new places."""
# This many records are searched first for the last one; a marker follows each transaction.
_FEW = 16


@dataclass(frozen=True)
class MovedGroup:
    """A group that was moved to the new topic.

    Attributes:
        committed: Its offset in each old partition at that time.
        offsets: The offsets that were committed for it in the new topic.
        reread: How many records it reads again.
    """

    committed: list[int]
    offsets: dict[str, int]
    reread: int


@dataclass(frozen=True)
class State:
    """A migration's progress: the content of one record of the ledger.

    Attributes:
        source: The cluster, name and ID of the old topic.
        target: The cluster and name of the new topic, and, once it exists, its ID.
        settings: n, m, client, key type and order.
        phase: `new` until the new topic exists, `copying`, `moved` once a group was moved, or `finished`.
        begin: The first offset of each old partition, when the copy began.
        at: The offset up to which each old partition is copied.
        ends: The offset after the last copy in each new partition; 0 if there is none.
        copied: How many records were copied.
        deleted: How many offsets were deleted from the old topic before they could be copied.
        aborted: How many aborted copies are in the new topic, because copying was interrupted.
        looked: The offset in each new partition up to which such copies were counted.
        untimed: How many records have no timestamp, or that of 1970: their copies have the time of the copy.
        every_key_at_home: Whether each key was where the client puts it, so that a later one that is not is refused.
        restore: The new topic's own settings that `finish` sets; None for a setting that it removes.
        older: In the order `generation`, the number of partitions before some were added; None once the records that
            are where that number puts them are copied, or in any other order.
        older_ends: The offsets up to which such records are copied first.
        groups: The groups that were moved.
    """

    source: list[str]
    target: list[str]
    settings: dict[str, int | str | None]
    phase: str
    begin: list[int]
    at: list[int]
    ends: list[int]
    copied: int = 0
    deleted: int = 0
    aborted: int = 0
    looked: list[int] = field(default_factory=list)
    untimed: int = 0
    every_key_at_home: bool = False
    restore: dict[str, str | None] = field(default_factory=dict)
    older: int | None = None
    older_ends: list[int] = field(default_factory=list)
    is_older_done: bool = False
    groups: dict[str, MovedGroup] = field(default_factory=dict)

    def json(self) -> bytes:
        """The text in the ledger."""
        return json.dumps({"version": VERSION, **asdict(self)}, separators=(",", ":")).encode()

    def check(self, migration: Migration, source: tuple[str, str]) -> None:
        """Refuse to continue a migration with other settings or another topic than it began with.

        Args:
            migration: The requested migration.
            source: The IDs of the old topic's cluster and of the topic.

        Raises:
            PartwrightError: Something differs.
        """
        if self.source[1] != migration.source.topic or self.source[0] != source[0]:
            raise PartwrightError(
                f"the topic {migration.target.topic!r} is being copied from {self.source[1]!r} of the cluster "
                f"{self.source[0]}, and not from {migration.source.topic!r} of {source[0]}: give another new topic"
            )
        if self.source[2] != source[1]:
            raise PartwrightError(
                f"the topic {migration.source.topic!r} was deleted and made again since its copy began: "
                f"{self.begin_anew(migration)}"
            )
        settings = settings_of(migration)
        for name, began in self.settings.items():
            if name in settings and settings[name] != began:
                raise PartwrightError(
                    f"this migration began with {name} {began}, and not with {settings[name]}: say the same, or "
                    f"{self.begin_anew(migration)}",
                    field=name,
                    value=settings[name],
                )

    def begin_anew(self, migration: Migration) -> str:
        """How to begin anew: nobody is told to delete a topic that groups read."""
        if self.phase in {"moved", "finished"}:
            return f"give another new topic, since {migration.target.topic!r} is in use after the cutover"
        return f"delete {migration.target.topic!r} and {migration.ledger!r}, and begin anew"

    def moved_groups(self, names: Iterable[str] | None = None) -> Json:
        """Of these moved groups, or of all, what an answer has as `groups` and `reread`."""
        moved = {name: self.groups[name] for name in (self.groups if names is None else names)}
        return {
            "groups": {
                name: {int(target): offset for target, offset in each.offsets.items()}
                for name, each in moved.items()
            },
            "reread": {name: each.reread for name, each in moved.items()},
        }

    def moved(self, group: str, moved: MovedGroup) -> State:
        """The same with one more moved group."""
        return replace(self, phase="moved", groups={**self.groups, group: moved})


def settings_of(migration: Migration) -> dict[str, int | str | None]:
    """What must not change while a migration goes on."""
    return {
        "-n": migration.partitions,
        "--client": migration.client,
        "--key-type": migration.key_type,
        "--order": migration.order,
    }


def encoded(some: Slice) -> bytes:
    """The copies' old and new places, in about a byte each.

    Offsets are stored as differences from the previous one of the same old partition, most of which are 1.
    """
    before: dict[int, int] = {}
    steps = []
    for partition, offset in zip(some.partitions, some.offsets, strict=True):
        steps.append(offset - before.get(partition, 0))
        before[partition] = offset
    names = {"bases": json.dumps(list(some.bases.items()))}
    rows = pa.record_batch(
        [_short(some.partitions), pa.array(steps, pa.int64()), _short(some.targets)],
        pa.schema(
            [
                ("partition", _type(some.partitions)),
                ("step", pa.int64()),
                ("target", _type(some.targets)),
            ],
            metadata=names,
        ),
    )
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, rows.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_batch(rows)
    return sink.getvalue()


def _type(numbers: Any) -> pa.DataType:
    return pa.uint8() if max(numbers, default=0) < 256 else pa.int32()  # noqa: PLR2004 - what a byte holds


def _short(numbers: Any) -> pa.Array:
    return pa.array(numbers, _type(numbers))


class Copies:
    """The old and new places of one transaction's copies, from the ledger.

    Args:
        data: What `encoded` made.

    Attributes:
        bases: By new partition, the offset of the first copy.
        count: How many copies there are.
    """

    def __init__(self, data: bytes) -> None:
        self._rows = pa.ipc.open_stream(data).read_all()
        self.bases: dict[int, int] = dict(json.loads(self._rows.schema.metadata[b"bases"]))
        self.count = self._rows.num_rows

    def slice(self) -> Slice:
        """Each copy's places, which takes more time."""
        partitions, steps, targets = (
            self._rows[name].to_pylist() for name in ("partition", "step", "target")
        )
        before: dict[int, int] = {}
        offsets = []
        for partition, step in zip(partitions, steps, strict=True):
            before[partition] = before.get(partition, 0) + step
            offsets.append(before[partition])
        return Slice(partitions, offsets, targets, self.bases)


class MigrationLedger:
    """A migration's ledger, for reading; the copies' writer writes it."""

    def __init__(self, migration: Migration) -> None:
        self._config, self._topic = migration.target.config, migration.ledger

    def extent(self) -> tuple[int, int] | None:
        """The offsets between which it has records; None if there is no ledger.

        Raises:
            BrokerError: No Kafka answers, or it gives no right.
        """
        with admin_client(self._config, TIMEOUT_S) as admin:
            if described(admin, [self._topic], "READ")[self._topic] is None:
                return None
            first = offsets_of(admin, self._topic, [0], "earliest")[0]
            return first, offsets_of(admin, self._topic, [0], "latest", committed=True)[0]

    def last(self) -> State | None:
        """The migration's progress; None if it has not begun.

        Raises:
            BrokerError: No Kafka answers, or it gives no right.
            PartwrightError: Another version of partwright wrote it.
        """
        extent = self.extent()
        if extent is None:
            return None
        begin, end = extent
        window = _FEW
        while end > begin:
            start = max(begin, end - window)
            states = [state for state, _ in self._entries(start, end)]
            if states:
                return states[-1]
            if start == begin:
                break
            window *= 4
        return None

    def keep_last(self) -> None:
        """Delete every record before the last one.

        Raises:
            BrokerError: No Kafka answers, or it gives no right.
        """
        extent = self.extent()
        if extent is None:
            return
        begin, end = extent
        window = {0: (max(begin, end - _FEW), end)}
        for record in records(self._config, self._topic, window, committed=True):
            begin = record.offset()
        place = confluent_kafka().TopicPartition(self._topic, 0, begin)
        with admin_client(self._config, TIMEOUT_S) as admin:
            futures = admin.client.delete_records([place], request_timeout=admin.timeout)
            for answer in futures.values():
                admin.answer(answer, "DELETE", f"the topic {self._topic!r}")

    def entries(self, committed: list[list[int]] | None = None) -> Iterator[tuple[State, Copies | None]]:
        """The progress after each transaction, and the copies that it made, in their order.

        Args:
            committed: Groups' offsets: copies before the first one that some group has not read may be left out.
        """
        extent = self.extent()
        if extent is None:
            return
        start = extent[0] if committed is None else self._before(committed, *extent)
        for state, data in self._entries(start, extent[1]):
            yield state, None if data is None else Copies(data)

    def _before(self, committed: list[list[int]], begin: int, end: int) -> int:
        """A record of the ledger from before anything was copied that some group has not read."""
        window = _FEW
        while True:
            start = max(begin, end - window)
            if start == begin:
                return begin
            first = next(self._entries(start, end), None)
            if first is not None:
                at = first[0].at
                if all(all(map(int.__le__, at, each)) for each in committed):
                    return start
            window *= 4

    def _entries(self, start: int, end: int) -> Iterator[tuple[State, bytes | None]]:
        for record in records(self._config, self._topic, {0: (start, end)}, committed=True):
            yield self._read(record), dict(headers_of(record)).get(MAPPING)

    def _read(self, record: Record) -> State:
        try:
            return read_stored(State, record.value() or b"", VERSION)
        except ValueError:
            raise BrokerError(
                f"the topic {self._topic!r} has a record that is not a migration's (offset {record.offset()}): give "
                "the new topic another name"
            ) from None
        except OtherVersionError as error:
            raise PartwrightError(
                f"the ledger {self._topic!r} is of version {error}, and this partwright reads {VERSION}: go on with "
                "the partwright that began it",
                value=error.args[0],
            ) from None
