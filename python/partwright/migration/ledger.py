"""A migration's ledger: a topic of one partition, written in the same transactions as the copies that it tells of.

Each of its records says in JSON how far each old partition is copied. The header `mapping` of one that was written with
copies has where each of them was and is, as Arrow.
"""

from __future__ import annotations

import io
import json
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from partwright.errors import BrokerError, PartwrightError
from partwright.kafka.client import TIMEOUT_S, admin_client
from partwright.kafka.topics import described, offsets_of
from partwright.migration.streams import Streams
from partwright.migration.translate import Slice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from partwright._check import Json
    from partwright.kafka.connection import KafkaConfig
    from partwright.migration.settings import Migration
    from partwright.migration.streams import Record

__all__ = ["MAPPING", "Copies", "Ledger", "Moved", "State", "encoded"]

VERSION = 1
MAPPING = "mapping"
"""The header that has where copies were and are."""
# So many records are looked at first for the last one; behind each transaction lies its mark.
_FEW = 16


@dataclass(frozen=True)
class Moved:
    """A group that was moved to the new topic.

    Attributes:
        committed: Its offset in each old partition, as it was then.
        offsets: Those that were committed for it in the new topic.
        reread: How many records it reads again.
    """

    committed: list[int]
    offsets: dict[str, int]
    reread: int


@dataclass(frozen=True)
class State:
    """How far a migration is: what one record of the ledger says.

    Attributes:
        source: The old topic's cluster, name and id, of which copies are made.
        target: The new topic's cluster, name and, once it is there, its id.
        settings: n, m, client, key type and order.
        phase: `new` until the new topic is there, `copying`, or `moved` once a group was moved.
        begin: The first offset of each old partition, when the copy began.
        at: Up to which offset each old partition is copied.
        ends: The offset behind the last copy in each new partition; 0 where there is none.
        copied: How many records were copied.
        deleted: How many offsets were deleted from the old topic before they could be copied.
        aborted: How many copies lie in the new topic that were aborted, as a copy was interrupted.
        looked: Up to which offset of each new partition such copies were counted.
        untimed: How many records have no timestamp, or that of 1970: their copies have the time of the copy.
        every_key_at_home: Whether each key was where the client puts it, so that one that is not is refused.
        restore: The new topic's own settings that `finish` sets; None for one that it removes.
        older: In the order `generation` the number of partitions before there were more; None once those records that
            lie where it says are copied, or where there is no such order.
        older_ends: Up to where such records are copied first.
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
    groups: dict[str, Moved] = field(default_factory=dict)

    def json(self) -> bytes:
        """As the ledger has it."""
        return json.dumps({"version": VERSION, **asdict(self)}, separators=(",", ":")).encode()

    def check(self, migration: Migration, source: tuple[str, str]) -> State:
        """Refuses a migration that goes on with other settings or another topic than it began with.

        Args:
            migration: What is asked for.
            source: The id of the old topic's cluster, and the topic's own.

        Returns:
            The same.

        Raises:
            PartwrightError: It is another one.
        """
        if self.source[1] != migration.source.topic or self.source[0] != source[0]:
            raise PartwrightError(
                f"the topic {migration.target.topic!r} is being copied from {self.source[1]!r} of the cluster "
                f"{self.source[0]}, and not from {migration.source.topic!r} of {source[0]}: give another new topic"
            )
        if self.source[2] != source[1]:
            raise PartwrightError(
                f"the topic {migration.source.topic!r} was deleted and made again since its copy began: delete "
                f"{migration.target.topic!r} and {migration.ledger!r}, and begin anew"
            )
        asked = settings_of(migration)
        for name, began in self.settings.items():
            if name in asked and asked[name] != began:
                raise PartwrightError(
                    f"this migration began with {name} {began}, and not with {asked[name]}: say the same, or delete "
                    f"{migration.target.topic!r} and {migration.ledger!r} and begin anew",
                    field=name,
                    value=asked[name],
                )
        return self

    def moved(self, group: str, moved: Moved) -> State:
        """The same with one more group that was moved."""
        return replace(self, phase="moved", groups={**self.groups, group: moved})


def settings_of(migration: Migration) -> dict[str, int | str | None]:
    """What must not change as a migration goes on."""
    return {
        "-n": migration.partitions,
        "--client": migration.client,
        "--key-type": migration.key_type,
        "--order": migration.order,
    }


def encoded(some: Slice) -> bytes:
    """Where copies were and are, in about a byte each.

    Offsets are as differences from the one before of their old partition, most of which are 1.
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
    """Where the copies of one transaction were and are, as the ledger has it.

    Args:
        data: What `encoded` made.

    Attributes:
        bases: By new partition the offset of the first of them.
        count: How many they are.
    """

    def __init__(self, data: bytes) -> None:
        self._rows = pa.ipc.open_stream(data).read_all()
        self.bases: dict[int, int] = dict(json.loads(self._rows.schema.metadata[b"bases"]))
        self.count = self._rows.num_rows

    def slice(self) -> Slice:
        """Each of them, which takes more time."""
        partitions, steps, targets = (
            self._rows[name].to_pylist() for name in ("partition", "step", "target")
        )
        before: dict[int, int] = {}
        offsets = []
        for partition, step in zip(partitions, steps, strict=True):
            before[partition] = before.get(partition, 0) + step
            offsets.append(before[partition])
        return Slice(partitions, offsets, targets, self.bases)


class Ledger:
    """A migration's ledger, which is read here; the writer of the copies writes it.

    Args:
        config: How the new topic's Kafka is reached.
        topic: The ledger's name.
    """

    def __init__(self, config: KafkaConfig, topic: str) -> None:
        self._config, self._topic = config, topic

    def extent(self) -> tuple[int, int] | None:
        """From which to which offset it has records; None where there is no ledger.

        Raises:
            BrokerError: No Kafka answers, or it gives no right.
        """
        with admin_client(self._config, TIMEOUT_S) as admin:
            if described(admin, [self._topic], "READ")[self._topic] is None:
                return None
            first = offsets_of(admin, self._topic, [0], "earliest")[0]
            return first, offsets_of(admin, self._topic, [0], "latest", committed=True)[0]

    def last(self) -> State | None:
        """How far the migration is; None where it has not begun.

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

    def entries(self, committed: list[list[int]] | None = None) -> Iterator[tuple[State, Copies | None]]:
        """How far the migration was after each transaction, and which copies it made, in their order.

        Args:
            committed: Groups' offsets: copies before the first that one of them has not read may be left out.
        """
        extent = self.extent()
        if extent is None:
            return
        start = extent[0] if committed is None else self._before(committed, *extent)
        for state, data in self._entries(start, extent[1]):
            yield state, None if data is None else Copies(data)

    def _before(self, committed: list[list[int]], begin: int, end: int) -> int:
        """A record of the ledger when none had been copied that one of the groups has not read."""
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
        with Streams(self._config, self._topic, {0: start}) as streams:
            while (record := streams.head(0, end)) is not None:
                streams.drop(0)
                yield self._read(record), dict(record.headers() or []).get(MAPPING)

    def _read(self, record: Record) -> State:
        try:
            found: Json = json.loads(record.value() or b"")
            version = found.pop("version")
        except (ValueError, KeyError, AttributeError, TypeError):
            raise BrokerError(
                f"the topic {self._topic!r} has a record that is no migration's (offset {record.offset()}): give the "
                "new topic another name"
            ) from None
        if version != VERSION:
            raise PartwrightError(
                f"the ledger {self._topic!r} is of version {version}, and this partwright reads {VERSION}: go on with "
                "the partwright that began it",
                value=version,
            )
        groups = {name: Moved(**each) for name, each in found.pop("groups").items()}
        return State(**found, groups=groups)
