"""How many rows each key has in each partition: exactly, as long as the keys fit into a bounded table."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["KeyCounter", "bytes_of_keys"]

_MOST = 1_000_000
_MOST_BYTES = 128 << 20
# Batches are merged once they have as many rows, or bytes of keys, so that a row is merged few times.
_PENDING = 1 << 20
_PENDING_BYTES = 64 << 20


class KeyCounter:
    """Counts rows by partition and key; gives up beyond a number of pairs, and says so by None.

    Args:
        most: How many pairs of a partition and a key are counted at most.

    Examples:
        >>> counter = KeyCounter()
        >>> counter.add(pa.array([b"a", b"b", b"a", None]), pa.array([1, 0, 1, 0]))
        >>> counter.keys_by_partition(), counter.heaviest(1)
        ({1: 1, 0: 1}, [(b'a', 2, 1)])
    """

    def __init__(self, most: int = _MOST) -> None:
        self.most = most
        self.is_over = False
        self._tables: list[pa.Table] = []
        self._pending = 0
        self._pending_bytes = 0

    def add(self, keys: Any, partitions: Any) -> None:  # noqa: ANN401 - Arrow columns
        """Count some rows.

        Args:
            keys: Their key bytes; null where there is no key, which is not counted.
            partitions: Their partitions, null where there is none.
        """
        if self.is_over:
            return
        # pyarrow counts no views.
        if keys.type == pa.binary_view():
            keys = keys.cast(pa.large_binary())
        rows = pa.table({"key": keys, "partition": partitions})
        if keys.null_count:
            rows = rows.filter(pc.field("key").is_valid())
        grouped = rows.group_by(["partition", "key"], use_threads=False).aggregate([([], "count_all")])
        self._tables.append(grouped.rename_columns(["partition", "key", "rows"]))
        self._pending += grouped.num_rows
        self._pending_bytes += bytes_of_keys(grouped)
        if self._pending > _PENDING or self._pending_bytes > _PENDING_BYTES:
            self._merge()

    def keys_by_partition(self) -> dict[int, int] | None:
        """How many different keys each partition has; None where they were too many."""
        table = self._merge()
        if table is None:
            return None
        found = pc.value_counts(table["partition"]).to_pylist()
        return {each["values"]: each["counts"] for each in found if each["values"] is not None}

    def heaviest(self, count: int) -> list[tuple[bytes, int, int | None]] | None:
        """The keys with the most rows, with their rows and the partition that has most of those; None where none has.

        Args:
            count: How many keys are given.

        Returns:
            The heaviest first, those of the same rows by their bytes; None where there were too many keys.
        """
        table = self._merge()
        if table is None:
            return None
        rows = table.group_by("key", use_threads=False).aggregate([("rows", "sum")])
        # The heaviest alone are sorted by their bytes too.
        places = pc.select_k_unstable(rows, k=count, sort_keys=[("rows_sum", "descending")])
        least = rows["rows_sum"][places[-1].as_py()] if len(places) else 0
        heavy = rows.filter(pc.field("rows_sum") >= least).sort_by(
            [("rows_sum", "descending"), ("key", "ascending")]
        )
        heavy = heavy.slice(0, count)
        of_them = table.filter(pc.is_in(table["key"], pc.unique(heavy["key"])))
        placed = of_them.filter(pc.is_valid(of_them["partition"])).sort_by([("rows", "ascending")])
        at = dict(zip(placed["key"].to_pylist(), placed["partition"].to_pylist(), strict=True))
        return [
            (key, sum_, at.get(key))
            for key, sum_ in zip(heavy["key"].to_pylist(), heavy["rows_sum"].to_pylist(), strict=True)
        ]

    def table(self) -> pa.Table | None:
        """A row for each key in each partition: partition, key, rows; None where they were too many."""
        return self._merge()

    def _merge(self) -> pa.Table | None:
        """All that was counted, in one table; None where it is too much."""
        if self.is_over:
            return None
        if not self._tables:
            return pa.table(
                {
                    "partition": pa.array([], pa.int32()),
                    "key": pa.array([], pa.binary()),
                    "rows": pa.array([], pa.int64()),
                }
            )
        if len(self._tables) > 1:
            whole = pa.concat_tables(self._tables).group_by(["partition", "key"], use_threads=False)
            self._tables = [whole.aggregate([("rows", "sum")]).rename_columns(["partition", "key", "rows"])]
        self._pending = self._pending_bytes = 0
        table = self._tables[0]
        if table.num_rows > self.most or bytes_of_keys(table) > _MOST_BYTES:
            self.is_over, self._tables = True, []
            return None
        return table


def bytes_of_keys(table: pa.Table) -> int:
    """How many bytes the column `key` of a table has."""
    return pc.sum(pc.binary_length(table["key"])).as_py() or 0
