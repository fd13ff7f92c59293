"""What moves when a topic gets another number of partitions: keys, records, and whose order is at risk.

>>> plan = Resize(12, 24)
>>> plan.add(pa.array([f"user-{i}" for i in range(1000)]))
>>> plan.keys, plan.keys_moved, plan.rows_moved
(1000, 489, 489)
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from partwright.errors import PartwrightError
from partwright.files.formats import in_one
from partwright.files.literals import FALSE
from partwright.hashing import encode, partition_for_key
from partwright.key_counter import KeyCounter
from partwright.placement import Placer
from partwright.shown import shown_key

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Choice", "Moved", "Resize"]

_HEAVY = 10
# How many numbers of partitions beside the one that is asked for are looked at, to either side.
_NEARBY = 6


@dataclass(frozen=True)
class Moved:
    """A key that is elsewhere afterwards; `from_` and `to` are its partitions."""

    key: str
    rows: int
    from_: int
    to: int


@dataclass(frozen=True)
class Choice:
    """Another number of partitions.

    Attributes:
        to: The number.
        rows_moved: How many rows would be elsewhere.
        largest_share: The largest partition's share of the rows, 0 to 1.
    """

    to: int
    rows_moved: int
    largest_share: float


class Resize:
    """What moves, summed up batch by batch in bounded memory.

    Args:
        from_: How many partitions the topic has.
        to: How many it would have.
        client: The client profile that writes to it.
        key_type: How a value becomes key bytes.

    Attributes:
        rows: Rows that the client places by their key.
        rows_moved: Those that it would place elsewhere.
        unplaced: Rows that it does not place by their key: they are in any partition before and after.

    Raises:
        PartwrightError: One of them is none, or both numbers are the same.
    """

    def __init__(self, from_: int, to: int, client: str = "java", key_type: str | None = None) -> None:
        self._placer = Placer(from_, client, key_type)
        partition_for_key(None, to, client, key_type)
        if from_ == to:
            raise PartwrightError(f"{from_} partitions are as many as {to}: nothing would move")
        self.from_, self.to = from_, to
        self.rows = self.rows_moved = self.unplaced = 0
        self._before: Counter[int] = Counter()
        self._after: Counter[int] = Counter()
        self._counter = KeyCounter()

    @property
    def seen(self) -> int:
        """All rows seen."""
        return self._placer.rows

    def add(self, keys: Any) -> None:  # noqa: ANN401 - an Arrow column
        """Take the keys of the next rows.

        Raises:
            PartwrightError: A key has no key bytes under the key type.
        """
        before = in_one(self._placer.place(keys))
        after = in_one(partition_for_key(keys, self.to, self._placer.client, self._placer.key_type))
        self.unplaced += before.null_count
        self.rows += len(before) - before.null_count
        self.rows_moved += pc.sum(pc.not_equal(before, after)).as_py() or 0
        for counts, places in ((self._before, before), (self._after, after)):
            for each in pc.value_counts(places.drop_null()).to_pylist():
                counts[each["values"]] += each["counts"]
        if not self._counter.is_over:
            self._counter.add(in_one(encode(keys, self._placer.key_type)), before)

    @property
    def keys(self) -> int | None:
        """How many different keys there are; None where they were too many to count."""
        found = self._by_key()
        return None if found is None else found.num_rows

    @property
    def keys_moved(self) -> int | None:
        """How many of them would be elsewhere."""
        found = self._by_key()
        return None if found is None else self._moved(found, self.to).num_rows

    @property
    def largest_share(self) -> tuple[float, float]:
        """The largest partition's share of the rows, before and after, 0 to 1."""
        return (
            max(self._before.values(), default=0) / (self.rows or 1),
            max(self._after.values(), default=0) / (self.rows or 1),
        )

    def heaviest_moved(self) -> list[Moved] | None:
        """The keys with the most rows that would be elsewhere; None where keys were too many to count."""
        found = self._by_key()
        if found is None:
            return None
        heavy = (
            self._moved(found, self.to)
            .sort_by([("rows", "descending"), ("key", "ascending")])
            .slice(0, _HEAVY)
        )
        return [
            Moved(shown_key(row["key"], self._placer.key_type), row["rows"], row["partition"], row["to"])
            for row in heavy.to_pylist()
        ]

    def nearby(self) -> list[Choice] | None:
        """The numbers around the one that is asked for, and that one; None where keys were too many to count."""
        found = self._by_key()
        if found is None:
            return None
        nulls = pa.table(
            {
                "partition": self._place_of_null(self.from_),
                "key": pa.nulls(1, pa.binary()),
                "rows": [self._placer.null_keys],
            }
        )
        found = pa.concat_tables([found, nulls.cast(found.schema)])
        found = found.filter(pc.is_valid(found["partition"]))
        return [self._choice(found, to) for to in self._candidates()]

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        before, after = self.largest_share
        heaviest, nearby = self.heaviest_moved(), self.nearby()
        return {
            "from": self.from_,
            "to": self.to,
            "client": self._placer.client,
            "keys": self.keys,
            "keys_moved": self.keys_moved,
            "rows": self.rows,
            "rows_moved": self.rows_moved,
            "unplaced": self.unplaced,
            "largest_share": {"from": before, "to": after},
            "heaviest_moved": heaviest
            and [
                {"key": each.key, "rows": each.rows, "from": each.from_, "to": each.to} for each in heaviest
            ],
            "nearby": nearby and [asdict(each) for each in nearby],
        }

    def _by_key(self) -> pa.Table | None:
        """A row for each key that has a place: its key bytes, rows and partition before."""
        table = self._counter.table()
        return None if table is None else table.filter(pc.is_valid(table["partition"]))

    def _place_of_null(self, n: int) -> Any:  # noqa: ANN401 - an Arrow column of one row
        """Where the client puts null keys, which a few of them hash; null where it does not."""
        return partition_for_key(pa.nulls(1, pa.binary()), n, self._placer.client)

    def _after_of(self, table: pa.Table, to: int) -> Any:  # noqa: ANN401 - an Arrow column
        return partition_for_key(table["key"], to, self._placer.client)

    def _moved(self, table: pa.Table, to: int) -> pa.Table:
        after = self._after_of(table, to)
        return table.append_column("to", after).filter(
            pc.fill_null(pc.not_equal(table["partition"], after), FALSE)
        )

    def _choice(self, table: pa.Table, to: int) -> Choice:
        after = pa.table({"to": self._after_of(table, to), "rows": table["rows"]})
        largest = (
            pc.max(after.group_by("to", use_threads=False).aggregate([("rows", "sum")])["rows_sum"]).as_py()
            or 0
        )
        return Choice(to, pc.sum(self._moved(table, to)["rows"]).as_py() or 0, largest / (self.rows or 1))

    def _candidates(self) -> Iterator[int]:
        for to in range(max(1, self.to - _NEARBY), self.to + _NEARBY + 1):
            # A topic's partitions are never fewer, but for a new topic.
            if to != self.from_ and (self.to < self.from_ or to > self.from_):
                yield to
