"""What moves when a topic gets another number of partitions: keys, records, and whose order is at risk.

>>> plan = Resize(12, 24)
>>> plan.add(pa.array([f"user-{i}" for i in range(1000)]))
>>> plan.keys, plan.keys_moved, plan.rows_moved
(1000, 489, 489)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from math import gcd
from operator import index
from typing import Any, SupportsIndex

import pyarrow as pa
import pyarrow.compute as pc

from partwright import _core
from partwright._check import Fields, Json, counted
from partwright.answer import Answer
from partwright.audit.check import Placer
from partwright.audit.key_sums import Observed
from partwright.audit.pair_tables import most_rows, rows_by_partition, value_counts
from partwright.audit.record_columns import checked_n, counts, places
from partwright.errors import PartwrightError
from partwright.files.formats import Column, in_one
from partwright.files.scalars import FALSE, number, number_column
from partwright.keys.columns import as_arrow
from partwright.keys.hashing import encode, partition_for_key
from partwright.keys.key_text import shown_key

_HEAVY = 10
# How many numbers of partitions around the requested one are compared, on each side.
_NEARBY = 6
# If there are more partitions than this, a list leaves out the ones without rows.
_LISTED = 10_000


@dataclass(frozen=True)
class MovedKey:
    """A key that moves; `from_` and `to` are its partitions."""

    key: str
    rows: int
    from_: int
    to: int


@dataclass(frozen=True)
class Before:
    """A partition before the change.

    Attributes:
        partition: Its number.
        rows: Its rows that are placed by their key.
        rows_moved: Those that would be elsewhere.
        drain_to: The offset that consumers must have committed here before a producer sees the new partitions: the one
            after the last record whose key moves; None without offsets, or if none moves.
        end: The offset after its last record; None without offsets.
    """

    partition: int
    rows: int
    rows_moved: int
    drain_to: int | None
    end: int | None


@dataclass(frozen=True)
class After:
    """A partition after the change, if it had all records.

    Attributes:
        partition: Its number.
        rows: Its rows that are placed by their key.
        bytes: Their bytes; None if no sizes are known.
    """

    partition: int
    rows: int
    bytes: int | None


@dataclass(frozen=True)
class Alternative:
    """Another number of partitions.

    Attributes:
        to: The number.
        rows_moved: How many rows would be elsewhere.
        largest_share: The largest partition's share of the rows, 0 to 1.
    """

    to: int
    rows_moved: int
    largest_share: float


@dataclass(frozen=True, slots=True)
class RecordColumns:
    """The columns of records other than their keys, by name; in Spark also as a Column. A topic's have their own.

    Attributes:
        partition: Their partitions, whole numbers.
        offset: Their offsets there, the same.
        size: How many bytes each has, the same.
    """

    partition: Any = None
    offset: Any = None
    size: Any = None


class Resize(Answer):
    """What moves, summed up batch by batch in bounded memory.

    Args:
        from_: How many partitions the topic has.
        to: How many it would have.
        client: The client profile that writes to it.
        key_type: How a value becomes key bytes.
        to_client: The client profile that would write to it afterwards; the same by default.
        among: How many of the topic's partitions were read, if not all.

    Attributes:
        client: The client profile.
        to_client: The one afterwards.
        rows: Rows that the client places by their key.
        rows_moved: Those that it would place elsewhere.
        bytes: The bytes of those rows; None if no sizes are known.
        bytes_moved: The same.
        unplaced: Rows that it does not place by their key: they are in any partition before and after.
        misplaced: Rows that are not where it places them now; None if their partitions are not given.

    Raises:
        PartwrightError: One of them is invalid, or both numbers and both clients are the same.
    """

    DOCUMENT = "resize"
    ROWS = "before"

    def __init__(
        self,
        from_: SupportsIndex,
        to: SupportsIndex,
        client: str = "java",
        key_type: str | None = None,
        *,
        to_client: str | None = None,
        among: int | None = None,
    ) -> None:
        checked_n(from_, "from_")
        refuse_same(from_, to, client, key_type, to_client)
        self._placer = Placer(from_, client, key_type)
        self.from_, self.to, self.client = index(from_), index(to), client
        self.to_client = to_client or client
        self.among = self.from_ if among is None else among
        self.rows = self.rows_moved = self.unplaced = 0
        self.misplaced: int | None = None
        self.bytes: int | None = None
        self.bytes_moved: int | None = None
        self._rows_in: Counter[int] = Counter()
        self._moved_in: Counter[int] = Counter()
        self._rows_after: Counter[int] = Counter()
        self._bytes_after: Counter[int] = Counter()
        self._drain_to: dict[int, int] = {}
        self._end: dict[int, int] = {}
        self._seen = Observed()

    @property
    def seen(self) -> int:
        """All rows seen."""
        return self._seen.rows

    @property
    def is_all_empty(self) -> bool:
        """Whether every record has a key, and every key is empty: their writer may have meant none."""
        return self._seen.is_all_empty

    def add(
        self,
        keys: Column,
        partitions: object = None,
        offsets: object = None,
        sizes: object = None,
    ) -> None:
        """Take the next rows.

        Args:
            keys: Their keys.
            partitions: Where they are, whole numbers or text of such; None means where the client places them.
            offsets: Their offsets there, the same; None if they are not known.
            sizes: How many bytes each has, the same.

        Raises:
            PartwrightError: A key has no key bytes under the key type, a partition does not exist, or an offset or a
                size is not a whole number; with the row.
        """
        first = self._placer.rows
        before = in_one(self._placer.place(keys)).cast(pa.int64())
        keys = as_arrow(keys, self._placer.key_type)
        after = in_one(partition_for_key(keys, self.to, self.to_client, self._placer.key_type))
        if partitions is offsets is sizes is None and not before.null_count + after.null_count:
            self._count_moves(before, after)
        else:
            if partitions is not None:
                self.misplaced = self.misplaced or 0
            at = before if partitions is None else places(partitions, first, self.from_)
            last = None if offsets is None else counts(offsets, "offset", first)
            self._count_columns(
                before, after, at, last, None if sizes is None else counts(sizes, "size", first)
            )
        self._seen.add(in_one(encode(keys, self._placer.key_type)), before)

    def _count_moves(self, before: pa.Array, after: pa.Array) -> None:
        """Count records that all have a place and are in it; using one column is faster than several."""
        both = value_counts(pc.add(pc.multiply(before, number(self.to)), after.cast(pa.int64())))
        moves = [(*divmod(place, self.to), rows) for place, rows in both.items()]
        self._count(
            [
                {
                    "before": old,
                    "at": old,
                    "moved": old != new,
                    "rows": rows,
                    "bytes": None,
                    "last_offset": None,
                }
                for old, new, rows in moves
            ],
            [{"after": new, "rows": rows, "bytes": None} for _, new, rows in moves],
        )

    def _count_columns(
        self,
        before: pa.Array,
        after: pa.Array,
        at: pa.Array,
        offsets: pa.Array | None,
        sizes: pa.Array | None,
    ) -> None:
        unknown = pa.nulls(len(before), pa.int64())
        columns = {
            "before": before,
            "after": after,
            "at": at,
            "moved": pc.fill_null(pc.not_equal(before, after), FALSE),
            "offset": unknown if offsets is None else offsets,
            "size": unknown if sizes is None else sizes,
        }
        rows = pa.table(columns)
        of_before = rows.group_by(["before", "at", "moved"], use_threads=False).aggregate(
            [([], "count_all"), ("size", "sum"), ("offset", "max")]
        )
        of_after = rows.group_by("after", use_threads=False).aggregate([([], "count_all"), ("size", "sum")])
        self._count(
            of_before.rename_columns(["before", "at", "moved", "rows", "bytes", "last_offset"]).to_pylist(),
            of_after.rename_columns(["after", "rows", "bytes"]).to_pylist(),
        )

    def take(self, of_before: pa.Table, of_after: pa.Table, seen: Observed, *, is_compared: bool) -> None:
        """Take over the complete sums of another engine.

        Args:
            of_before: Rows, bytes and last_offset by before, at and moved: where the client places them now, where
                they are, and whether that would be elsewhere.
            of_after: Rows and bytes by after, where it would place them.
            seen: The keys by before.
            is_compared: Whether where they are was given.
        """
        self.misplaced = 0 if is_compared else None
        self._count(of_before.to_pylist(), of_after.to_pylist())
        self._seen = seen

    def _count(self, of_before: list[Fields], of_after: list[Fields]) -> None:
        for row in of_before:
            last = row["last_offset"]
            self._count_at(row, end=None if last is None else last + 1)
            if row["before"] is None:
                self.unplaced += row["rows"]
                continue
            self.rows += row["rows"]
            self.rows_moved += row["rows"] if row["moved"] else 0
            if self.misplaced is not None and row["at"] != row["before"]:
                self.misplaced += row["rows"]
            if row["bytes"] is not None:
                self.bytes = (self.bytes or 0) + row["bytes"]
                self.bytes_moved = (self.bytes_moved or 0) + (row["bytes"] if row["moved"] else 0)
        for row in of_after:
            if row["after"] is not None:
                self._rows_after[row["after"]] += row["rows"]
                self._bytes_after[row["after"]] += row["bytes"] or 0

    def _count_at(self, row: Fields, end: int | None) -> None:
        """Count where records are; `end` is the offset after the last of them."""
        at = row["at"]
        if at is None:
            return
        if end is not None:
            self._end[at] = max(end, self._end.get(at, 0))
        if row["before"] is not None:
            self._rows_in[at] += row["rows"]
        if row["moved"]:
            self._moved_in[at] += row["rows"]
            if end is not None:
                self._drain_to[at] = max(end, self._drain_to.get(at, 0))

    @property
    def keys(self) -> int:
        """How many different keys have a place; an estimate if there are too many to count."""
        return sum(self._seen.keys_in().values())

    @property
    def keys_moved(self) -> int:
        """How many different keys would be elsewhere; an estimate if there are too many to count.

        Each key's last old record stays where it is. A compacted topic keeps it forever, because nothing newer of the
        key comes to its partition, not even the tombstone that deletes it.
        """
        moved = _is_elsewhere(self._placed(self._seen.pairs(), self.to))
        return (pc.sum(moved).as_py() or 0) * self._seen.scale

    @property
    def is_estimated(self) -> bool:
        """Whether there were too many keys to count each: figures about keys are estimated, rows and bytes are not."""
        return self._seen.is_sampled

    @property
    def largest_share(self) -> tuple[float, float]:
        """The largest partition's share of the rows, before and after, 0 to 1."""
        return (
            max(self._rows_in.values(), default=0) / (self.rows or 1),
            max(self._rows_after.values(), default=0) / (self.rows or 1),
        )

    @property
    def fed_by(self) -> int:
        """How many old partitions each new one gets records from: a client reduces one number modulo n."""
        return self.from_ // gcd(self.from_, self.to) if self.client == self.to_client else self.from_

    def forget_offsets(self) -> None:
        """Leave out `drain_to` and `end`: if only a part of a topic was seen, later records may move too."""
        self._drain_to.clear()
        self._end.clear()

    def before(self) -> list[Before]:
        """Today's partitions: all if there are at most 10,000, otherwise those that have rows."""
        listed = range(self.from_) if self.from_ <= _LISTED else ()
        return [
            Before(at, self._rows_in[at], self._moved_in[at], self._drain_to.get(at), self._end.get(at))
            for at in sorted({*listed, *self._rows_in, *self._end})
        ]

    def after(self) -> list[After]:
        """The partitions after the change; which of them are listed follows the same rule."""
        listed = range(self.to) if self.to <= _LISTED else sorted(self._rows_after)
        sized = self.bytes is not None
        return [After(to, self._rows_after[to], self._bytes_after[to] if sized else None) for to in listed]

    def heaviest_moved(self) -> list[MovedKey]:
        """The keys with the most rows that move; each has at least as many rows as shown, if estimated."""
        placed = self._placed(self._seen.heavy_pairs(), self.to)
        moved = placed.filter(_is_elsewhere(placed))
        to_of = dict(zip(moved["key"].to_pylist(), moved["to"].to_pylist(), strict=True))
        return [
            MovedKey(
                shown_key(each.key, self._placer.key_type), each.rows, each.partition or 0, to_of[each.key]
            )
            for each in most_rows(moved, _HEAVY)
        ]

    def nearby(self) -> list[Alternative]:
        """The requested number and its neighbours, without numbers at which the client fails."""
        whole = self._whole()
        alternatives = []
        for to in self._candidates():
            # With most numbers of partitions, Java's string hash has keys that it cannot place.
            with suppress(PartwrightError):
                alternatives.append(self._choice(whole, to))
        return alternatives

    def flows(self) -> list[dict[str, int]]:
        """The rows from each partition to each, including those that stay, the most first: `from`, `to`, `rows`.

        Of very many pairs of partitions only those with the most rows; estimated if there were too many keys.
        """
        placed, n = self._placed(self._whole(), self.to), number(self.to)
        both = pc.add(pc.multiply(placed["partition"], n), placed["to"].cast(pa.int64()))
        sums = rows_by_partition(both, placed["rows"])
        from_ = pc.divide(sums["partition"], n)
        to = pc.subtract(sums["partition"], pc.multiply(from_, n))
        by_pair = pa.table({"from": from_, "to": to, "rows": sums["rows"]})
        order = [("rows", "descending"), ("from", "ascending"), ("to", "ascending")]
        top_flows: list[dict[str, int]] = by_pair.sort_by(order).slice(0, _LISTED).to_pylist()
        return top_flows

    def to_dict(self) -> Json:
        """The object for the JSON output."""
        before, after = self.largest_share
        return {
            "from": self.from_,
            "to": self.to,
            **({} if self.among == self.from_ else {"among": self.among}),
            "client": self.client,
            **({} if self.to_client == self.client else {"to_client": self.to_client}),
            "keys": self.keys,
            "keys_moved": self.keys_moved,
            "keys_estimated": self.is_estimated,
            "rows": self.rows,
            "rows_moved": self.rows_moved,
            "bytes": self.bytes,
            "bytes_moved": self.bytes_moved,
            "unplaced": self.unplaced,
            "misplaced": self.misplaced,
            "is_all_empty": self.is_all_empty,
            "largest_share": {"from": before, "to": after},
            "heaviest_moved": [
                {"key": each.key, "rows": each.rows, "from": each.from_, "to": each.to}
                for each in self.heaviest_moved()
            ],
            "nearby": [asdict(each) for each in self.nearby()],
            "before": [asdict(each) for each in self.before()],
            "after": [asdict(each) for each in self.after()],
            "fed_by": self.fed_by,
            "flows": self.flows(),
        }

    def _place_of_null(self) -> pa.Array:
        """The partition of null keys, which a few clients hash; null if this client does not."""
        return partition_for_key(pa.nulls(1, pa.binary()), self.from_, self.client)

    def _whole(self) -> pa.Table:
        """Partition, key, rows and keys of all records with a place, including null keys."""
        nulls = pa.table(
            {
                "partition": self._place_of_null(),
                "key": pa.nulls(1, pa.binary()),
                "rows": number_column([self._seen.null_keys]),
                "keys": number_column([0]),
            }
        )
        whole = self._seen.whole()
        whole = pa.concat_tables([whole, nulls.cast(whole.schema)])
        return whole.filter(pc.is_valid(whole["partition"]))

    def _placed(self, table: pa.Table, to: int) -> pa.Table:
        """The pairs and, as `to`, each key's partition under another number of partitions."""
        return table.append_column("to", partition_for_key(table["key"], to, self.to_client))

    def _choice(self, table: pa.Table, to: int) -> Alternative:
        placed = self._placed(table, to)
        by_place = rows_by_partition(placed["to"].cast(pa.int64()), placed["rows"])
        largest = pc.max(by_place["rows"]).as_py() or 0
        moved = pc.sum(placed["rows"].filter(_is_elsewhere(placed))).as_py() or 0
        return Alternative(to, moved, largest / (self.rows or 1))

    def _candidates(self) -> Iterator[int]:
        for to in range(max(1, self.to - _NEARBY), self.to + _NEARBY + 1):
            # Only a new topic can have fewer partitions.
            if to == self.to or (to != self.from_ and (self.to < self.from_ or to > self.from_)):
                yield to


def refuse_same(
    from_: SupportsIndex, to: SupportsIndex, client: str, key_type: str | None, to_client: str | None = None
) -> None:
    """Refuse a change that is none, and a client or a key type that there is not.

    Raises:
        PartwrightError: They are.
    """
    _core.check(1, client, key_type)
    if to_client is not None:
        _core.check(1, to_client, key_type)
    checked_n(to, "to")
    if index(from_) == index(to) and to_client in {None, client}:
        raise PartwrightError(
            f"the topic would keep its {counted(index(from_), 'partition')}: nothing would move"
        )


def _is_elsewhere(placed: pa.Table) -> pa.ChunkedArray:
    """Which pairs are in another partition afterwards."""
    return pc.fill_null(pc.not_equal(placed["partition"], placed["to"]), FALSE)
