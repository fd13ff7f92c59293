"""Read both topics and compare them record by record, in the order in which they were copied, by the ledger.

Of compacted topics, each of which may lose older records at any time, the last value of each key is compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b

import pyarrow as pa

from partwright.kafka.reading import Record, headers_of, records
from partwright.migration.answer import MigrationStep
from partwright.migration.copier import Older
from partwright.migration.copy_step import finished_before, not_begun, step_answer
from partwright.migration.groups import groups_of
from partwright.migration.ledger import MigrationLedger, State
from partwright.migration.settings import Migration, Side, placement
from partwright.migration.streams import Streams
from partwright.migration.topics import DescribedTopic, describe_target, settings_of, source_of
from partwright.migration.translate import Slice, committed_or_begin


def verify(
    migration: Migration,
    groups: Sequence[str] = (),
    progress: Callable[[int, int], None] = lambda _compared, _of: None,
) -> MigrationStep:
    """Compare every record of the old topic, as far as it is copied, with its copy.

    For a compacted topic, either side of which may lose records at any time, the last value of each key is compared.

    Args:
        migration: What is migrated.
        groups: The consumer groups whose offsets are checked; by default every one that has committed some.
        progress: Called with how many copies were compared, and how many there are.

    Returns:
        The answer.

    Raises:
        PartwrightError: Nothing was copied yet, or with other settings.
        BrokerError: No Kafka answers, it gives no right, or a topic is missing or was made again.
    """
    if done := finished_before("verify", migration):
        return done
    source, ids = source_of(migration)
    state = MigrationLedger(migration).last()
    if state is None or state.phase == "new":
        raise not_begun(migration)
    state.check(migration, ids)
    target = describe_target(migration, state)
    moving = groups_of(migration.source, groups)
    is_compacted = any(
        "compact" in settings_of(side).all.get("cleanup.policy", "")
        for side in (migration.source, migration.target)
    )
    more = {"compared": "last value of each key" if is_compacted else "every record"}
    lag = sum(source.ends) - sum(state.at)
    answer = step_answer("verify", migration, state, moving, more, lag=lag)
    if is_compacted:
        records, written, *wrong = last_values(migration, state, source, target, progress)
        lost, twice, changed = wrong
        return replace(answer, records=records, written=written, lost=lost, twice=twice, changed=changed)
    unread = {
        group.name: (committed_or_begin(group.committed, state.begin), answer.groups[group.name])
        for group in moving
    }
    pairs = _Pairs(migration, state, source, target, unread)
    pairs.compare(progress)
    return replace(
        answer,
        records=pairs.compared + pairs.lost,
        written=pairs.compared + pairs.twice,
        lost=pairs.lost,
        twice=pairs.twice,
        changed=pairs.changed,
        out_of_order=pairs.out_of_order,
        skipped=pairs.skipped.total(),
        more={**answer.more, "gone": pairs.gone, "first_wrong": pairs.first_wrong},
    )


@dataclass
class _Pairs:
    """Both topics, side by side."""

    migration: Migration
    state: State
    source: DescribedTopic
    target: DescribedTopic
    groups: Mapping[str, tuple[Sequence[int], Mapping[int, int]]]
    compared: int = 0
    lost: int = 0
    twice: int = 0
    changed: int = 0
    out_of_order: int = 0
    gone: int = 0
    first_wrong: str | None = None
    skipped: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        state = self.state
        self._place = placement(self.migration, len(state.at))
        self._older = None if state.older is None else Older(self.migration, state.older, self._place)
        self._is_older_pass = self._older is not None
        self._begin = [max(pair) for pair in zip(state.begin, self.source.begin, strict=True)]
        self._last: dict[tuple[int, int], int] = {}

    def compare(self, progress: Callable[[int, int], None]) -> None:
        """Compare them."""
        state, target = self.state, self.migration.target
        # Until others may write, records after the last copy are compared too, up to the end.
        ends = state.ends if state.phase == "moved" else self.target.ends
        copies = Streams(target.config, target.topic, dict(enumerate(self.target.begin)))
        records = self._records()
        try:
            for at, made in MigrationLedger(self.migration).entries():
                if made is None:
                    continue
                if self._is_older_pass and at.is_older_done:
                    # The copy started over, with the records that it left out at first.
                    self._miss_remaining(records, state.older_ends)
                    records.close()
                    records = self._records()
                    self._is_older_pass = False
                self._slice(made.slice(), records, copies)
                progress(self.compared, state.copied)
            self._miss_remaining(records, state.at)
            for partition, end in enumerate(ends):
                while (copy := copies.head(partition, end)) is not None:
                    self._extra(copy)
                    copies.drop(partition)
        finally:
            records.close()
            copies.close()

    def _records(self) -> Streams:
        source = self.migration.source
        return Streams(source.config, source.topic, dict(enumerate(self._begin)))

    def _slice(self, some: Slice, records: Streams, copies: Streams) -> None:
        keys: list[bytes | None] = []
        places: list[tuple[int, int, int]] = []
        for partition, offset, target, at in some.places():
            self._order(partition, offset, target)
            self._skips(partition, offset, target, at)
            record = self._record(records, partition, offset)
            copy = self._copy(copies, target, at)
            if copy is None:
                self.lost += 1
                self._say(f"the copy of offset {offset} of partition {partition} is not at {at} of {target}")
                continue
            if record is None:
                # These were deleted from the old topic after they were copied.
                self.gone += 1
            elif not _same(record, copy):
                self.changed += 1
                self._say(f"offset {at} of partition {target} is not as offset {offset} of {partition}")
            self.compared += 1
            keys.append(copy.key())
            places.append((partition, offset, target))
        partitions = pa.array([each[0] for each in places], pa.int32())
        offsets = pa.array([each[1] for each in places], pa.int64())
        targets = self._place.of(pa.array(keys, pa.binary()), partitions, offsets).to_pylist()
        for target, (partition, offset, copied_to) in zip(targets, places, strict=True):
            if target != copied_to:
                self.changed += 1
                self._say(
                    f"the copy of offset {offset} of partition {partition} is in {copied_to}, not in {target}"
                )

    def _order(self, partition: int, offset: int, target: int) -> None:
        last = self._last.get((partition, target), -1)
        if offset <= last and not self.state.older:
            self.out_of_order += 1
        self._last[partition, target] = max(last, offset)

    def _skips(self, partition: int, offset: int, target: int, at: int) -> None:
        for name, (committed, offsets) in self.groups.items():
            if offset >= committed[partition] and at < offsets[target]:
                self.skipped[name] += 1

    def _record(self, records: Streams, partition: int, offset: int) -> Record | None:
        """The record at an offset; earlier records that should have a copy lack one."""
        if offset < self._begin[partition]:
            return None
        while (record := records.head(partition, offset + 1)) is not None:
            records.drop(partition)
            if record.offset() == offset:
                return record
            self._missed(record)
        return None

    def _copy(self, copies: Streams, target: int, at: int) -> Record | None:
        while (copy := copies.head(target, at + 1)) is not None:
            copies.drop(target)
            if copy.offset() == at:
                return copy
            self._extra(copy)
        return None

    def _miss_remaining(self, records: Streams, ends: Sequence[int]) -> None:
        for partition, end in enumerate(ends):
            while (record := records.head(partition, end)) is not None:
                records.drop(partition)
                self._missed(record)

    def _missed(self, record: Record) -> None:
        if self._older is not None:
            partition = record.partition()
            at = pa.array([partition], pa.int32())
            is_older = self._older.of(pa.array([record.key()], pa.binary()), at)[0].as_py()
            is_first = is_older and record.offset() < self.state.older_ends[partition]
            if is_first != self._is_older_pass:
                return
        self.lost += 1
        self._say(f"offset {record.offset()} of partition {record.partition()} has no copy")

    def _extra(self, copy: Record) -> None:
        self.twice += 1
        self._say(
            f"offset {copy.offset()} of partition {copy.partition()} of the new topic is not a copy, or is an extra one"
        )

    def _say(self, wrong: str) -> None:
        self.first_wrong = self.first_wrong or wrong


def _same(record: Record, copy: Record) -> bool:
    time = record.timestamp()[1]
    return (
        record.key() == copy.key()
        and record.value() == copy.value()
        and headers_of(record) == headers_of(copy)
        # A record without a time got that of its copying.
        and (time <= 0 or time == copy.timestamp()[1])
    )


# A mark that no value can have.
_DELETED = b""
_STEP = 10_000


def last_values(
    migration: Migration,
    state: State,
    source: DescribedTopic,
    target: DescribedTopic,
    progress: Callable[[int, int], None],
) -> tuple[int, int, int, int, int]:
    """Compare them; this takes memory for each key.

    Args:
        migration: What is migrated.
        state: The progress.
        source: The old topic as it is.
        target: The new topic as it is.
        progress: Called with how many records were read, and how many there are.

    Returns:
        For how many keys each topic has a last value, how many the new one lacks, how many it has in addition, and how
        many differ.
    """
    whole = sum(source.ends) - sum(source.begin) + sum(target.ends) - sum(target.begin)
    old, old_later, read = _last(migration.source, source, state.at, lambda count: progress(count, whole))
    new, new_later, _ = _last(
        migration.target, target, state.ends, lambda count: progress(read + count, whole)
    )
    lost = changed = twice = 0
    for key, value in old.items():
        # A later record of the key may have replaced its copy.
        if key not in new:
            lost += value != _DELETED and key not in new_later
        else:
            changed += new[key] != value
    for key, value in new.items():
        twice += key not in old and value != _DELETED and key not in old_later
    return len(old), len(new), lost, twice, changed


def _last(
    side: Side, topic: DescribedTopic, ends: Sequence[int], progress: Callable[[int], None]
) -> tuple[dict[bytes, bytes], set[bytes], int]:
    """By a key's digest, the digest of its last record before some offsets; and the keys with later records."""
    last: dict[bytes, bytes] = {}
    later: set[bytes] = set()
    read = 0
    windows = dict(enumerate(zip(topic.begin, topic.ends, strict=True)))
    for record in records(side.config, side.topic, windows, committed=True):
        key = blake2b(record.key() or b"", digest_size=16).digest()
        if record.offset() < ends[record.partition()]:
            last[key] = _digest(record)
        else:
            later.add(key)
        read += 1
        if not read % _STEP:
            progress(read)
    progress(read)
    return last, later, read


def _digest(record: Record) -> bytes:
    value = record.value()
    if value is None:
        return _DELETED
    parts = repr((value, list(headers_of(record)), record.timestamp()[1])).encode()
    return blake2b(parts, digest_size=16).digest()
