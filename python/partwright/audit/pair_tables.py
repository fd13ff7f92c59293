"""Tables of pairs of a key and a partition, and what the core sums up of them.

pyarrow's own grouping imports its data sets and pandas, which takes a fifth of a second at each start of a command.

>>> pairs = pa.table({"partition": [4, 8, 8], "key": [b"a", b"a", b"b"], "rows": [1, 2, 3]})
>>> rows_by_key(pairs["key"], pairs["rows"]).to_pylist()
[{'key': b'a', 'rows': 3}, {'key': b'b', 'rows': 3}]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from partwright import _core
from partwright.files.formats import in_one

if TYPE_CHECKING:
    from partwright.files.formats import Column

__all__ = [
    "HASHES",
    "PAIR",
    "PAIRS",
    "ROWS",
    "merged",
    "rows_by_key",
    "rows_by_partition",
    "sums_of",
    "table_of",
    "value_counts",
]

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
    found = _core.KeySums()
    for batch in pairs.to_batches():
        partitions, keys, rows, *sums = batch.columns
        found.add(keys, partitions, sums or [None] * 5, rows)
    return found


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
    found = _core.rows_by_partition(in_one(partitions), None if rows is None else in_one(rows))
    return pa.Table.from_batches([pa.RecordBatch.from_struct_array(found)])


def value_counts(column: pa.Array | pa.ChunkedArray) -> dict[int, int]:
    """How many rows of a column of whole numbers have each value, the smallest first; nulls are left out."""
    found = rows_by_partition(column.cast(pa.int64()))
    return dict(zip(found["partition"].to_pylist(), found["rows"].to_pylist(), strict=True))
