"""What is seen of a topic's records, summed up batch by batch in bounded memory; summaries of parts can be merged.

>>> seen = Observed()
>>> seen.add(pa.array([b"a", b"b", b"a", None]), pa.array([4, 8, 4, 0]))
>>> seen.rows, seen.null_keys, seen.pairs().num_rows
(4, 1, 2)
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from partwright.hashing import murmur2
from partwright.key_counter import bytes_of_keys

if TYPE_CHECKING:
    from typing import Self

__all__ = ["Observed", "merged"]

_MOST = 1_000_000
_MOST_BYTES = 128 << 20
# Batches are merged once they have as many rows, or bytes of keys, so that a row is merged few times.
_PENDING = 1 << 20
_PENDING_BYTES = 64 << 20
# How many records are kept in the order of time: a cycle shows in far fewer.
_EARLIEST = 1 << 16
_HASHES = 1 << 32

_PAIR = ["partition", "key"]
_PAIRS = pa.schema(
    [
        ("partition", pa.int64()),
        ("key", pa.large_binary()),
        ("rows", pa.int64()),
        ("first", pa.int64()),
        ("last", pa.int64()),
        ("first_offset", pa.int64()),
        ("last_offset", pa.int64()),
    ]
)
_ORDER = pa.schema([("time", pa.int64()), ("partition", pa.int64())])


class Observed:
    """Records by key and partition.

    Beyond a number of pairs of a key and a partition only some keys are kept, with all of their records: those
    with the smallest hashes, so that the parts of a data set keep the same ones.

    Args:
        most: How many pairs of a partition and a key are kept at most.

    Attributes:
        rows: Records seen.
        null_keys: Those without a key.
        null_keys_in: Where they are.
        rows_in: Records by partition.
    """

    def __init__(self, most: int = _MOST) -> None:
        self.rows = 0
        self.null_keys = 0
        self.null_keys_in: Counter[int] = Counter()
        self.rows_in: Counter[int] = Counter()
        self._most = most
        self._below = _HASHES
        self._tables: list[pa.Table] = []
        self._pending = self._pending_bytes = 0
        self._earliest = _ORDER.empty_table()

    @property
    def is_sampled(self) -> bool:
        """Whether some keys were left out."""
        return self._below < _HASHES

    def add(self, keys: Any, partitions: Any, times: Any = None, offsets: Any = None) -> None:  # noqa: ANN401
        """Take some records, the next of their source.

        Args:
            keys: Their key bytes, null where there is no key.
            partitions: Where they are, whole numbers of 64 bits without nulls.
            times: Their timestamps as whole numbers of 64 bits, null where they are not known; None for none.
            offsets: Their offsets, the same.
        """
        unknown = pa.nulls(len(keys), pa.int64())
        columns = [
            partitions,
            keys.cast(pa.large_binary()),
            unknown if times is None else times,
            unknown if offsets is None else offsets,
        ]
        rows = pa.table(columns, names=["partition", "key", "time", "offset"])
        self._keep_earliest(rows.select(["time", "partition"]))
        self.rows += rows.num_rows
        self.rows_in.update(_counted(rows["partition"]))
        if keys.null_count:
            keyless = rows.filter(pc.is_null(rows["key"]))
            self.null_keys += keyless.num_rows
            self.null_keys_in.update(_counted(keyless["partition"]))
            rows = rows.filter(pc.is_valid(rows["key"]))
        grouped = rows.group_by(_PAIR, use_threads=False).aggregate(
            [([], "count_all"), ("time", "min"), ("time", "max"), ("offset", "min"), ("offset", "max")]
        )
        self._take(grouped.rename_columns(_PAIRS.names).cast(_PAIRS))

    def merge(self, other: Self) -> None:
        """Take what another one has seen: the records that come after these in their source."""
        self.rows += other.rows
        self.null_keys += other.null_keys
        self.null_keys_in.update(other.null_keys_in)
        self.rows_in.update(other.rows_in)
        self._below = min(self._below, other._below)
        self._keep_earliest(other._earliest)
        self._take(other.pairs())

    def pairs(self) -> pa.Table:
        """A row for each key in each partition: how many rows, and the first and last times and offsets."""
        if len(self._tables) != 1:
            self._tables = [merged(pa.concat_tables(self._tables or [_PAIRS.empty_table()]))]
        self._pending = self._pending_bytes = 0
        while self._tables[0].num_rows > self._most or bytes_of_keys(self._tables[0]) > _MOST_BYTES:
            self._below //= 2
            self._tables = [self._kept(self._tables[0])]
        return self._tables[0]

    def order(self) -> pa.Table:
        """The times and partitions of the earliest records, in that order; as they came where there are no times."""
        return self._earliest

    def _take(self, grouped: pa.Table) -> None:
        self._tables.append(self._kept(grouped) if self.is_sampled else grouped)
        self._pending += grouped.num_rows
        self._pending_bytes += bytes_of_keys(grouped)
        if self._pending > _PENDING or self._pending_bytes > _PENDING_BYTES:
            self.pairs()

    def _kept(self, pairs: pa.Table) -> pa.Table:
        # Signed, so that zero is in the middle; Java's partitions go by the low bits, these are the high ones.
        limit = pa.scalar(self._below - _HASHES // 2, pa.int64())
        return pairs.filter(pc.less(murmur2(pairs["key"]).cast(pa.int64()), limit))

    def _keep_earliest(self, rows: pa.Table) -> None:
        known = rows["time"].null_count < rows.num_rows or self._earliest["time"].null_count < len(
            self._earliest
        )
        if not known and self._earliest.num_rows == _EARLIEST:
            return
        whole = pa.concat_tables([self._earliest, rows])
        if known:
            # Stable, for records of one millisecond stay as they came.
            whole = whole.take(pc.sort_indices(whole["time"]).slice(0, _EARLIEST))
        self._earliest = whole.slice(0, _EARLIEST).combine_chunks()


def merged(pairs: pa.Table) -> pa.Table:
    """Pairs with one row for each key in each partition."""
    grouped = pairs.group_by(_PAIR, use_threads=False).aggregate(
        [
            ("rows", "sum"),
            ("first", "min"),
            ("last", "max"),
            ("first_offset", "min"),
            ("last_offset", "max"),
        ]
    )
    return grouped.rename_columns(_PAIRS.names).cast(_PAIRS)


def _counted(column: Any) -> dict[int, int]:  # noqa: ANN401 - an Arrow column
    return {each["values"]: each["counts"] for each in pc.value_counts(column).to_pylist()}
