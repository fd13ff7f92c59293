"""Look at the old topic before anything is written: its size, scattered keys, and what groups re-read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from partwright._check import counted
from partwright.audit.fingerprint_judge import judge
from partwright.audit.key_sums import Observed
from partwright.audit.pair_tables import value_counts
from partwright.errors import PartwrightError
from partwright.kafka.connection import KafkaConfig
from partwright.kafka.records import TopicRecords
from partwright.migration.settings import placement
from partwright.migration.translate import committed_or_begin, layers

if TYPE_CHECKING:
    from partwright.audit.fingerprint_answer import Fingerprint
    from partwright.kafka.records import TopicChunk
    from partwright.migration.groups import MigratedGroup
    from partwright.migration.settings import Migration
    from partwright.migration.topics import DescribedTopic

# Columns with fewer rows cost more in calls than in rows.
_ROWS = 20_000


@dataclass(frozen=True)
class GroupReading:
    """What a group reads in the new topic.

    Attributes:
        unread: How many records it has not read yet.
        reread: How many it reads again, at most.
        positions: By new partition, the number of copies after which the group begins, at least.
    """

    unread: int
    reread: int
    positions: dict[int, int]


@dataclass(frozen=True)
class Scan:
    """The contents of the old topic.

    Attributes:
        partitions: How many partitions it has.
        records: How many committed records.
        bytes: The bytes of their keys, values and headers, uncompressed.
        tombstones: How many have no value.
        keyless: How many the client would place anywhere, because they have no key or it does not use the key.
        keys: How many keys there are, an estimate if `sampled` is more than 1.
        away: How many records are not where the client puts their key.
        scattered_keys: How many keys are in several partitions.
        scattered_records: How many records those keys have.
        sampled: One key in this many was checked for that; 1 if each was.
        untimed: How many have no timestamp.
        shares: By new partition, how many records it gets.
        fingerprint: The client that wrote the topic.
        groups: What each group reads.
    """

    partitions: int
    records: int = 0
    bytes: int = 0
    tombstones: int = 0
    keyless: int = 0
    keys: int = 0
    away: int = 0
    scattered_keys: int = 0
    scattered_records: int = 0
    sampled: int = 1
    untimed: int = 0
    shares: Counter[int] = field(default_factory=Counter)
    fingerprint: Fingerprint | None = None
    groups: dict[str, GroupReading] = field(default_factory=dict)

    @property
    def older(self) -> int | None:
        """The number of partitions before some were added, if the records show that."""
        fingerprint = self.fingerprint
        if fingerprint is None or fingerprint.verdict != "n-change" or fingerprint.change is None:
            return None
        before = fingerprint.change.before
        return before if isinstance(before, int) else None


def scan_topic(
    migration: Migration,
    source: DescribedTopic,
    groups: Sequence[MigratedGroup],
    progress: Callable[[int, float | None], None],
) -> Scan:
    """Read the old topic once.

    Args:
        migration: What is migrated.
        source: The old topic as it is.
        groups: Its consumer groups.
        progress: Called with how many records were read, and with how much of all that is.

    Raises:
        PartwrightError: The name of a record's header is not UTF-8.
        BrokerError: The broker is gone, sends nothing more, or gives no right to read.
    """
    sums = _Sums(migration, source, groups)
    config = KafkaConfig.read(migration.source.config, settings={"isolation.level": "read_committed"})
    records = TopicRecords(config, migration.source.topic, sizes=True)
    held: list[TopicChunk] = []
    rows = 0
    for chunk in records.batches():
        held.append(chunk)
        rows += len(chunk.keys)
        if rows >= _ROWS:
            sums.add(held)
            held, rows = [], 0
            progress(records.records, records.done)
    if held:
        sums.add(held)
    progress(records.records, records.done)
    return sums.scan(records.tombstones)


class _Sums:
    """The old topic's records, added up."""

    def __init__(self, migration: Migration, source: DescribedTopic, groups: Sequence[MigratedGroup]) -> None:
        self._old, self._new = len(source.begin), migration.partitions
        self._place = placement(migration, self._old)
        self._seen = Observed()
        self._groups = _Counted(groups, source, is_layered=migration.order is None)
        self._counts: Counter[Any] = Counter()
        self._shares: Counter[int] = Counter()

    def add(self, chunks: Sequence[TopicChunk]) -> None:
        keys, partitions, offsets, times, sizes = map(pa.concat_arrays, zip(*chunks, strict=True))
        self._seen.add(keys, partitions.cast(pa.int64()), times, offsets, sizes)
        home = self._place.home(keys)
        self._counts.update(
            records=len(keys),
            bytes=pc.sum(sizes).as_py() or 0,
            keyless=home.null_count,
            untimed=times.null_count + (pc.sum(pc.equal(times, 0)).as_py() or 0),
            away=pc.sum(pc.not_equal(home, partitions)).as_py() or 0,
        )
        targets = self._place.of(keys, partitions, offsets)
        self._shares.update(value_counts(targets))
        self._groups.add(partitions, offsets, targets)

    def scan(self, tombstones: int) -> Scan:
        counts, sampled, pairs = self._counts, self._seen.scale, self._seen.pairs()
        keyed = pairs.filter(pc.is_valid(self._place.home(pairs["key"])))
        by_key = keyed.group_by("key", use_threads=False).aggregate([([], "count_all"), ("rows", "sum")])
        several = by_key.filter(pc.greater(by_key["count_all"], 1))
        is_multiple = not self._new % self._old and not counts["away"]
        return Scan(
            partitions=self._old,
            **dict(counts),
            tombstones=tombstones,
            keys=self._seen.keys(),
            scattered_keys=several.num_rows * sampled,
            scattered_records=(pc.sum(several["rows_sum"]).as_py() or 0) * sampled,
            sampled=sampled,
            shares=self._shares,
            fingerprint=judge(self._seen, self._old) if counts["records"] else None,
            groups=self._groups.readings(self._shares, is_multiple=is_multiple),
        )


class _Counted:
    """How many records each group has read and has not read, by layer and new partition."""

    def __init__(self, groups: Sequence[MigratedGroup], source: DescribedTopic, *, is_layered: bool) -> None:
        self._offsets = {each.name: committed_or_begin(each.committed, source.begin) for each in groups}
        bounds = layers(self._offsets.values(), source.begin, source.ends) if is_layered else []
        # Records after the last bound, which arrive during the scan, are one more layer.
        self._bounds = [pa.array(bound, pa.int64()) for bound in bounds[:-1]]
        self._of_layer: Counter[tuple[int, int]] = Counter()
        self._unread: dict[str, Counter[tuple[int, int]]] = {name: Counter() for name in self._offsets}

    def add(self, partitions: pa.Array, offsets: pa.Array, targets: pa.Array) -> None:
        layer = pa.repeat(pa.scalar(0, pa.int64()), len(offsets))
        for bound in self._bounds:
            is_behind = pc.greater_equal(offsets, bound.take(partitions))
            layer = pc.add(layer, is_behind.cast(pa.int64()))
        rows = pa.table({"layer": layer, "target": targets})
        self._of_layer.update(_by_layer(rows))
        for name, committed in self._offsets.items():
            is_unread = pc.greater_equal(offsets, pa.array(committed, pa.int64()).take(partitions))
            self._unread[name].update(_by_layer(rows.filter(is_unread)))

    def readings(self, shares: Counter[int], *, is_multiple: bool) -> dict[str, GroupReading]:
        group_readings = {}
        for name, unread in self._unread.items():
            reread = 0
            positions = {}
            for target, share in sorted(shares.items()):
                layers_ = [layer for layer, each in unread if each == target]
                first = min(layers_, default=len(self._bounds) + 1)
                before = sum(
                    count
                    for (layer, each), count in self._of_layer.items()
                    if each == target and layer < first
                )
                missing = sum(unread[layer, target] for layer in layers_)
                again = share - before - missing
                # Each new partition has records of only one old partition, in their order.
                positions[target] = share - missing if is_multiple else before
                reread += 0 if is_multiple else again
            group_readings[name] = GroupReading(unread.total(), reread, positions)
        return group_readings


def _by_layer(rows: pa.Table) -> dict[tuple[int, int], int]:
    grouped = rows.group_by(["layer", "target"], use_threads=False).aggregate([([], "count_all")])
    return {(each["layer"], each["target"]): each["count_all"] for each in grouped.to_pylist()}


def refuse_scattered(migration: Migration, scan_result: Scan) -> None:
    """Refuse a topic that cannot be copied in order, or would not stay in order.

    Raises:
        PartwrightError: Keys are in several partitions and no order was chosen, or another client than the named one
            wrote the topic.
    """
    topic = migration.source.topic
    seen = scan_result.fingerprint
    about = "about " if scan_result.sampled > 1 else ""
    if scan_result.scattered_keys and migration.order is None:
        raise PartwrightError(
            f"{about}{counted(scan_result.scattered_keys, f'key of {topic!r} is', f'keys of {topic!r} are each')} in "
            f"several partitions, {about}{counted(scan_result.scattered_records, 'record')} without an order of their "
            f"own{_why(seen)}: say --order time to merge "
            "them by their timestamps, or --order generation where partitions were added",
            value=scan_result.scattered_keys,
        )
    if migration.order == "generation" and scan_result.older is None:
        raise PartwrightError(
            f"the records of {topic!r} do not show from which number of partitions it grew (partwright fingerprint "
            f"says {seen.verdict if seen else 'no-keys'}): say --order time",
            value=migration.order,
        )
    if seen is None or migration.is_client_said or not scan_result.away:
        return
    if seen.verdict == "one-writer" and migration.client not in seen.family:
        raise PartwrightError(
            f"{topic!r} was written by the rule of {seen.family[0]}, and not of {migration.client}: say --client "
            f"{seen.family[0]}, or --client {migration.client} if clients of that rule write the new topic",
            value=seen.family[0],
        )


def _why(seen: Fingerprint | None) -> str:
    if seen is None or seen.change is None or seen.verdict != "n-change":
        return ""
    return f" (partitions were added: there were {seen.change.before} before, and {seen.change.after} since)"
