"""The keys with the most rows, in bounded memory: Misra and Gries's summary, over tables.

A pair's kept count is at most its number of rows, and at most `missed` below it; `missed` times the pairs that there is
room for is at most the rows seen. Summaries of parts can be merged: Agarwal et al., Mergeable Summaries, 2012.

>>> heavy = HeavyPairs(counters=1)
>>> heavy.add(pa.table({"partition": [4, 8, 8], "key": [b"a", b"b", b"c"], "rows": [90, 6, 4]}))
>>> heavy.table()["rows"].to_pylist(), heavy.missed
([84], 6)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from partwright.audit.pair_tables import PAIR, PAIRS, rows_by_key, rows_by_pair, rows_by_partition
from partwright.files.scalars import number

if TYPE_CHECKING:
    from typing import Self

__all__ = ["HeavyKey", "HeavyPairs", "bytes_of_keys", "most_rows"]

_COUNTERS = 1 << 16
_MOST_BYTES = 32 << 20
# Parts are merged once they have this many pairs.
_PENDING = 1 << 20

_PAIRS = pa.schema([PAIRS.field(name) for name in (*PAIR, "rows")])


class HeavyKey(NamedTuple):
    """A key with many rows.

    Attributes:
        key: Its bytes.
        rows: How many rows it has, at least.
        at_most: How many it has, at most; the same if they were counted.
        partition: The partition with most of them, the first if several are equal; None if they are in none.
    """

    key: bytes
    rows: int
    at_most: int
    partition: int | None


class HeavyPairs:
    """The heaviest pairs of a key and a partition.

    Args:
        counters: How many pairs are kept at most.
    """

    def __init__(self, counters: int = _COUNTERS) -> None:
        self._missed = 0
        self._counters = counters
        self._tables = [pa.Table.from_batches([], _PAIRS)]
        self._pending = 0

    @property
    def missed(self) -> int:
        """How many rows of a pair are left out at most; all of them, if the pair is not kept."""
        self.table()
        return self._missed

    def add(self, pairs: pa.Table) -> None:
        """Take counted rows: a row for each pair, with the columns partition, key and rows."""
        # Pairs that are light within this part go first, so that little is merged.
        part = self._lightened(pairs.select(_PAIRS.names).cast(_PAIRS))
        self._tables.append(part)
        self._pending += part.num_rows
        if self._pending > _PENDING:
            self.table()

    def merge(self, other: Self) -> None:
        """Take over another summary, of other rows."""
        self._missed += other.missed
        self.add(other.table())

    def table(self) -> pa.Table:
        """The kept pairs, with the least number of rows that each has."""
        if len(self._tables) > 1:
            whole = rows_by_pair(pa.concat_tables(self._tables))
            self._tables, self._pending = [self._lightened(whole)], 0
        return self._tables[0]

    def _lightened(self, pairs: pa.Table) -> pa.Table:
        while pairs.num_rows > (room := self._room(pairs)):
            # The first pair that has no room; its count is subtracted from every pair that has.
            found = rows_by_partition(pairs["rows"])
            heavier = pc.subtract(number(pairs.num_rows), pc.cumulative_sum(found["rows"]))
            light = found["partition"].filter(pc.less_equal(heavier, number(room)))[0]
            self._missed += light.as_py()
            rows = pc.subtract(pairs["rows"], light)
            pairs = pairs.set_column(_PAIRS.get_field_index("rows"), "rows", rows)
            pairs = pairs.filter(pc.greater(pairs["rows"], number(0)))
        return pairs

    def _room(self, pairs: pa.Table) -> int:
        """How many pairs are kept: fewer if their keys have many bytes."""
        return (
            self._counters
            if bytes_of_keys(pairs) <= _MOST_BYTES
            else min(self._counters, pairs.num_rows // 2)
        )


def bytes_of_keys(table: pa.Table) -> int:
    """How many bytes the column `key` of a table has."""
    return pc.sum(pc.binary_length(table["key"])).as_py() or 0


def most_rows(pairs: pa.Table, count: int, missed: int = 0) -> list[HeavyKey]:
    """The keys with the most rows, from pairs of a key and a partition.

    Args:
        pairs: With the columns partition, key and rows.
        count: How many keys are given.
        missed: How many more rows a key may have.
    """
    rows = rows_by_key(pairs["key"], pairs["rows"])
    if not rows.num_rows:  # pyarrow before 22 finds nothing heaviest in an empty table, and raises.
        return []
    # Only the heaviest are also sorted by their bytes.
    places = pc.select_k_unstable(rows, k=count, sort_keys=[("rows", "descending")])
    least = rows["rows"][places[-1].as_py()] if len(places) else number(0)
    heavy = rows.filter(pc.greater_equal(rows["rows"], least)).sort_by(
        [("rows", "descending"), ("key", "ascending")]
    )
    heavy = heavy.slice(0, count)
    of_them = pairs.filter(pc.is_in(pairs["key"], heavy["key"].combine_chunks()))
    # With equal rows the first partition, regardless of the pairs' order.
    placed = of_them.filter(pc.is_valid(of_them["partition"])).sort_by(
        [("rows", "ascending"), ("partition", "descending")]
    )
    at = dict(zip(placed["key"].to_pylist(), placed["partition"].to_pylist(), strict=True))
    return [
        HeavyKey(key, sum_, sum_ + missed, at.get(key))
        for key, sum_ in zip(heavy["key"].to_pylist(), heavy["rows"].to_pylist(), strict=True)
    ]
