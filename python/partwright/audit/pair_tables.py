"""Tables of pairs of a key and a partition, what the core sums up of them, and the heaviest of them.

pyarrow's own grouping imports its data sets and pandas, which takes a fifth of a second at each start of a command.

>>> pairs = pa.table({"partition": [4, 8, 8], "key": [b"a", b"a", b"b"], "rows": [1, 2, 3]})
>>> rows_by_key(pairs["key"], pairs["rows"]).to_pylist()
[{'key': b'a', 'rows': 3}, {'key': b'b', 'rows': 3}]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

import pyarrow as pa
import pyarrow.compute as pc

from partwright import _core
from partwright.files.formats import in_one
from partwright.files.scalars import number

if TYPE_CHECKING:
    from partwright.files.formats import Column

PAIR = ["partition", "key"]
PAIRS = pa.schema(
    [
        ("partition", pa.int64()),
        ("key", pa.binary()),
        ("rows", pa.int64()),
        ("bytes", pa.int64()),
        ("first", pa.int64()),
        ("last", pa.int64()),
        ("first_offset", pa.int64()),
        ("last_offset", pa.int64()),
    ]
)
# How many hashes the core tells keys apart by; it keeps those below a bound.
HASHES = 1 << 32
ROWS = pa.schema([PAIRS.field(name) for name in (*PAIR, "rows")])


def sums_of(pairs: pa.Table) -> _core.KeySums:
    """The core's sums of a table with the columns of `PAIRS`, or of `ROWS`."""
    key_sums = _core.KeySums()
    for batch in pairs.to_batches():
        partitions, keys, rows, *sums = batch.columns
        key_sums.add(keys, partitions, sums or [None] * 5, rows)
    return key_sums


def table_of(sums: _core.KeySums) -> pa.Table:
    """The core's sums as a table with the columns of `PAIRS`."""
    batches = [pa.RecordBatch.from_struct_array(each) for each in sums.batches()]
    return pa.Table.from_batches(batches, PAIRS)


def merged(pairs: pa.Table) -> pa.Table:
    """A table with the columns of `PAIRS` or `ROWS`, with one row for each key in each partition."""
    return table_of(sums_of(pairs))


def rows_by_key(keys: pa.ChunkedArray, rows: pa.ChunkedArray) -> pa.Table:
    """Keys and the sum of their rows, in the order in which the keys were first seen.

    Args:
        keys: Binary or large binary without nulls.
        rows: int64 without nulls, as long.

    Returns:
        A table with the columns `key`, of the keys' type, and `rows`: int64.
    """
    nowhere = pa.nulls(len(keys), pa.int64())
    table = merged(pa.table([nowhere, keys, rows], ROWS.names))
    return pa.table({"key": table["key"].cast(keys.type), "rows": table["rows"]})


def rows_by_partition(partitions: Column, rows: Column | None = None) -> pa.Table:
    """Partitions, or other whole numbers, and the sum of their rows, the smallest partition first.

    Args:
        partitions: int64; nulls are left out.
        rows: int64 without nulls, as long; None counts each as one.

    Returns:
        A table with the columns `partition` and `rows`: int64. Partitions without rows are left out.

    Examples:
        >>> rows_by_partition(pa.chunked_array([[8, 4, 8]]), pa.chunked_array([[1, 2, 3]])).to_pylist()
        [{'partition': 4, 'rows': 2}, {'partition': 8, 'rows': 4}]
    """
    sums = _core.rows_by_partition(in_one(partitions), None if rows is None else in_one(rows))
    return pa.Table.from_batches([pa.RecordBatch.from_struct_array(sums)])


def total(rows: Column) -> int:
    """The sum of a column of whole numbers, or how many are true; 0 of nothing.

    Examples:
        >>> total(pa.array([1, 2, None])), total(pa.array([], pa.bool_()))
        (3, 0)
    """
    return pc.sum(rows).as_py() or 0


def value_counts(column: pa.Array | pa.ChunkedArray) -> dict[int, int]:
    """How many rows of a column of whole numbers have each value, the smallest first; nulls are left out."""
    counts = rows_by_partition(column.cast(pa.int64()))
    return dict(zip(counts["partition"].to_pylist(), counts["rows"].to_pylist(), strict=True))


_COUNTERS = 1 << 16
_MOST_BYTES = 32 << 20
# The lightest are dropped once there are this many pairs.
_PENDING = 1 << 20


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
    """The heaviest pairs of a key and a partition, in bounded memory: Misra and Gries's summary, over tables.

    A pair's kept count is at most its number of rows, and at most `missed` below it; `missed` times the pairs that
    there is room for is at most the rows seen. Summaries of parts can be merged: Agarwal et al., Mergeable Summaries,
    2012.

    Args:
        counters: How many pairs are kept at most.

    Examples:
        >>> heavy = HeavyPairs(counters=1)
        >>> heavy.add(sums_of(pa.table({"partition": [4, 8, 8], "key": [b"a", b"b", b"c"], "rows": [90, 6, 4]})))
        >>> heavy.table()["rows"].to_pylist(), heavy.missed
        ([84], 6)
    """

    def __init__(self, counters: int = _COUNTERS) -> None:
        self._missed = 0
        self._counters = counters
        self._sums = _core.KeySums()

    def __getstate__(self) -> dict[str, object]:
        """Pickle the core's sums as a table."""
        table = self.table()  # It may miss more rows by that.
        return {**self.__dict__, "_sums": table}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._sums = sums_of(state["_sums"])

    @property
    def missed(self) -> int:
        """How many rows of a pair are left out at most; all of them, if the pair is not kept."""
        self._sums = self._lightened(self._sums)
        return self._missed

    def add(self, sums: _core.KeySums) -> None:
        """Take counted rows, which stay as they are."""
        # Pairs that are light within this part go first, so that little is merged.
        self._sums.merge(self._lightened(sums), HASHES)
        if self._sums.pairs > _PENDING:
            self._sums = self._lightened(self._sums)

    def merge(self, other: Self) -> None:
        """Take over another summary, of other rows."""
        self._missed += other.missed
        self.add(other._sums)

    def table(self) -> pa.Table:
        """The kept pairs, with the least number of rows that each has; the columns are partition, key and rows."""
        self._sums = self._lightened(self._sums)
        return table_of(self._sums).select(ROWS.names)

    def _lightened(self, sums: _core.KeySums) -> _core.KeySums:
        while sums.pairs > (room := self._room(sums)):
            less, sums = sums.heaviest(room)
            self._missed += less
        return sums

    def _room(self, sums: _core.KeySums) -> int:
        """How many pairs are kept: fewer if their keys have many bytes."""
        return self._counters if sums.key_bytes <= _MOST_BYTES else min(self._counters, sums.pairs // 2)


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
