"""Sums of a topic's records, batch by batch in bounded memory; summaries of parts can be merged.

>>> seen = Observed()
>>> seen.add(pa.array([b"a", b"b", b"a", None]), pa.array([4, 8, 4, 0]))
>>> seen.rows, seen.null_keys, seen.pairs().num_rows
(4, 1, 2)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Self

import pyarrow as pa
import pyarrow.compute as pc

from partwright import _core
from partwright.audit.pair_tables import (
    HASHES,
    PAIR,
    PAIRS,
    ROWS,
    HeavyPairs,
    most_rows,
    rows_by_partition,
    sums_of,
    table_of,
    value_counts,
)
from partwright.files.scalars import binary_column, number
from partwright.keys.hashing import murmur2

if TYPE_CHECKING:
    from partwright.audit.pair_tables import HeavyKey

_MOST = 1_000_000
_MOST_BYTES = 128 << 20
# How many records are kept in order of time: a cycle shows in far fewer.
EARLIEST = 1 << 16
# A pair is known well enough to count as exact if it has more than this many times the rows that may be missing.
_KNOWN = 8

ORDER = pa.schema([("time", pa.int64()), ("partition", pa.int64())])


class Level(NamedTuple):
    """The pairs of a key and a partition that survive this many halvings of the hash range, but not one more.

    Attributes:
        level: The number of halvings.
        pairs: How many pairs there are.
        key_bytes: How many bytes their keys have.
    """

    level: int
    pairs: int
    key_bytes: int


class Observed:
    """Records by key and partition.

    If there are too many pairs of a key and a partition, only some keys are kept, with all of their records: the keys
    with the smallest hashes, so that all parts of a data set keep the same ones. The heaviest keys are kept as well.

    Args:
        most: How many pairs of a partition and a key are kept at most.

    Attributes:
        rows: Records seen.
        null_keys: Records without a key.
        null_keys_in: Their number by partition.
        rows_in: Records by partition, without those in none.
        bytes_in: Their bytes by partition; empty if no sizes are known.
    """

    def __init__(self, most: int = _MOST) -> None:
        self.rows = 0
        self.null_keys = 0
        self.null_keys_in: Counter[int] = Counter()
        self.rows_in: Counter[int] = Counter()
        self.bytes_in: Counter[int] = Counter()
        self._most = most
        self._below = HASHES
        self._kept = _core.KeySums()
        # Once keys are left out: the pairs of the rows that the summary of the heaviest has not taken yet.
        self._latest = _core.KeySums()
        # The kept pairs as a table, if it was asked for since the last change.
        self._table: pa.Table | None = None
        self._heavy: HeavyPairs | None = None
        self._earliest: pa.Table | Callable[[], pa.Table] = pa.Table.from_batches([], ORDER)

    def __getstate__(self) -> dict[str, object]:
        """Pickle the core's sums as tables."""
        pairs = self.pairs()  # Fewer keys may be kept by that.
        return {**self.__dict__, "_kept": pairs, "_latest": None}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._kept, self._latest = sums_of(state["_kept"]), _core.KeySums()

    @classmethod
    def of_sums(
        cls,
        totals: pa.Table,
        pairs: pa.Table,
        scale: int,
        heavy: pa.Table | None = None,
        order: Callable[[], pa.Table] | None = None,
    ) -> Self:
        """The complete sums of another engine.

        Args:
            totals: A row for each partition: partition, rows, null_keys and bytes.
            pairs: The kept keys' pairs, in the form of `pairs`.
            scale: How many keys each kept key stands for.
            heavy: The heaviest pairs with all their rows, in the form of `heavy_pairs`; None if all keys are kept, or
                if nobody will ask for the heaviest.
            order: A function that returns the table of `order`; None if the order is unknown.
        """
        seen = cls()
        for row in totals.to_pylist():
            seen.rows += row["rows"]
            seen.null_keys += row["null_keys"]
            if row["partition"] is not None:
                seen.rows_in[row["partition"]] += row["rows"]
                # Counters are compared with those of files, which have no zeros.
                seen.null_keys_in += Counter({row["partition"]: row["null_keys"]})
                seen.bytes_in += Counter({row["partition"]: row["bytes"] or 0})
        seen._below = HASHES // scale
        seen._kept = sums_of(pairs.select(PAIRS.names).cast(PAIRS))
        if heavy is not None:
            seen._heavy = HeavyPairs()
            seen._heavy.add(sums_of(heavy.select(ROWS.names).cast(ROWS)))
        if order is not None:
            seen._earliest = order
        return seen

    @property
    def is_sampled(self) -> bool:
        """Whether some keys were left out."""
        return self.scale > 1

    @property
    def scale(self) -> int:
        """How many keys each kept key stands for, a power of two."""
        self.pairs()
        return HASHES // self._below

    def add(
        self,
        keys: pa.Array,
        partitions: pa.Array,
        times: pa.Array | None = None,
        offsets: pa.Array | None = None,
        sizes: pa.Array | None = None,
    ) -> None:
        """Take some records, the next of their source.

        Args:
            keys: Their key bytes, null where there is no key.
            partitions: Their partitions, whole numbers of 64 bits, null if they are in none.
            times: Their timestamps as whole numbers of 64 bits, null if unknown; None for none.
            offsets: Their offsets, the same.
            sizes: How many bytes each has, the same.
        """
        if times is not None or self.rows < EARLIEST:
            self._keep_earliest(partitions, times)
        self.rows += len(keys)
        self.rows_in.update(value_counts(partitions))
        if sizes is not None:
            self.bytes_in.update(_summed(partitions, sizes))
        if keys.null_count:
            self.null_keys += keys.null_count
            self.null_keys_in.update(value_counts(partitions.filter(pc.is_null(keys))))
        sums = self._kept if self._heavy is None else self._latest
        sums.add(keys, partitions, [sizes, times, times, offsets, offsets])
        self._table = None
        if self._has_too_many(sums):
            self._make_room()

    def merge(self, other: Self) -> None:
        """Take over the sums of the records that follow these in their source."""
        self._make_room()
        other._make_room()
        self.rows += other.rows
        self.null_keys += other.null_keys
        self.null_keys_in.update(other.null_keys_in)
        self.rows_in.update(other.rows_in)
        self.bytes_in.update(other.bytes_in)
        self._keep_earliest(*other.order().select(["partition", "time"]).columns)
        # One that has left keys out has a summary of the heaviest of all its rows.
        if other._heavy is not None:
            self._heaviest().merge(other._heavy)
        elif self._heavy is not None:
            self._heavy.add(other._kept)
        if other._below < self._below:
            self._below = other._below
            self._kept.keep(self._below)
        self._kept.merge(other._kept, self._below)
        self._make_room()

    def pairs(self) -> pa.Table:
        """A row for each key in each partition: how many rows, their bytes, the first and last times and offsets."""
        self._make_room()
        if self._table is None:
            self._table = table_of(self._kept)
        return self._table

    def comparable(self, other: Self) -> tuple[pa.Table, pa.Table, float]:
        """The pairs of both whose keys both would keep, and what share of all keys that is, 0 to 1."""
        pairs, others = self.pairs(), other.pairs()
        if self._below > other._below:
            return _with_hash_below(pairs, other._below), others, other._below / HASHES
        return pairs, _with_hash_below(others, self._below), self._below / HASHES

    @property
    def is_all_empty(self) -> bool:
        """Whether every record has a key, and every key is empty."""
        if not self.rows or self.null_keys or self.is_sampled:
            return False
        longest: int = pc.max(pc.binary_length(self.pairs()["key"])).as_py()
        return longest == 0

    def keys(self) -> int:
        """How many different keys there are; an estimate if some were left out."""
        return len(pc.unique(self.pairs()["key"])) * self.scale

    def keys_in(self) -> dict[int, int]:
        """How many different keys each partition has; an estimate if some were left out."""
        pairs_in = value_counts(self.pairs()["partition"])
        return {partition: keys * self.scale for partition, keys in pairs_in.items()}

    def heaviest(self, count: int, places: int | None = None) -> list[HeavyKey]:
        """The keys with the most rows, the heaviest first; keys with equal rows are in the order of their bytes.

        Args:
            count: How many keys are given.
            places: In how many partitions a key's rows may be at most; by default in all seen partitions.
        """
        if not self.is_sampled:
            return most_rows(self.pairs(), count)
        heavy = self._heaviest()
        if places is None:
            places = len(self.rows_in) + (self.rows_in.total() < self.rows)
        return most_rows(heavy.table(), count, heavy.missed * places)

    def places_of(self, heavy: Sequence[HeavyKey]) -> dict[bytes, dict[int, int]]:
        """For some of the heaviest keys, their rows by partition, without rows in none; a lower bound if estimated."""
        pairs = self.heavy_pairs()
        keys = binary_column([each.key for each in heavy])
        rows_by_key: dict[bytes, dict[int, int]] = {each.key: {} for each in heavy}
        is_heavy = pc.and_(pc.is_in(pairs["key"], keys), pc.is_valid(pairs["partition"]))
        for row in pairs.filter(is_heavy).to_pylist():
            rows_by_key[row["key"]][row["partition"]] = row["rows"]
        return rows_by_key

    def whole(self) -> pa.Table:
        """Partition, key, rows and keys: how many rows and keys of the whole each pair stands for.

        If no key was left out, each pair stands for itself; otherwise the heaviest do, and the other kept pairs stand
        for the rest.
        """
        pairs = self.pairs().select([*PAIR, "rows"])
        ones = pa.repeat(number(1), pairs.num_rows)
        if not self.is_sampled:
            return pairs.append_column("keys", ones)
        heavy = self._heaviest()
        heavy_pairs = heavy.table()
        # A pair that may have a large share more is not known well enough.
        heavy_pairs = heavy_pairs.filter(pc.greater(heavy_pairs["rows"], number(_KNOWN * heavy.missed)))
        others = pairs.filter(
            pc.invert(pc.is_in(pairs["key"], pc.unique(heavy_pairs["key"]))),
        )
        scale = number(self.scale)
        return pa.concat_tables(
            [
                heavy_pairs.append_column("keys", pa.repeat(number(1), heavy_pairs.num_rows)),
                others.set_column(2, "rows", pc.multiply(others["rows"], scale)).append_column(
                    "keys", pa.repeat(scale, others.num_rows)
                ),
            ]
        )

    def heavy_pairs(self) -> pa.Table:
        """The heaviest pairs of a key and a partition with the least rows that each has; all pairs if all were kept."""
        return self._heaviest().table() if self.is_sampled else self.pairs()

    def order(self) -> pa.Table:
        """The times and partitions of the earliest records, in order of time, or of arrival if there are no times."""
        if not isinstance(self._earliest, pa.Table):
            self._earliest = self._earliest()
        return self._earliest

    def _has_too_many(self, sums: _core.KeySums) -> bool:
        return sums.pairs > self._most or sums.key_bytes > _MOST_BYTES

    def _make_room(self) -> None:
        """Drop keys until the rest fits."""
        if self._heavy is not None and self._latest.pairs:
            self._heavy.add(self._latest)
            self._kept.merge(self._latest, self._below)
            self._latest.clear()
            self._table = None
        while self._has_too_many(self._kept):
            self._heaviest()
            self._below //= 2
            self._kept.keep(self._below)
            self._table = None

    def _heaviest(self) -> HeavyPairs:
        """The summary of the heaviest; it starts with all pairs, before the first key is left out."""
        if self._heavy is None:
            if self._below < HASHES:
                raise RuntimeError("these sums of another engine came without the heaviest pairs")
            self._heavy = HeavyPairs()
            self._heavy.add(self._kept)
        return self._heavy

    def _keep_earliest(self, partitions: pa.ChunkedArray, times: pa.ChunkedArray | None) -> None:
        times = pa.nulls(len(partitions), pa.int64()) if times is None else times
        rows = pa.table([times, partitions], schema=ORDER)
        earliest = self.order()
        known = times.null_count < len(times) or earliest["time"].null_count < len(earliest)
        if earliest.num_rows == EARLIEST:
            if not known:
                return
            last = earliest["time"][-1]
            if last.is_valid:
                # Most records are later; records of the same time arrived later.
                rows = rows.filter(pc.less(rows["time"], last))
                if not rows.num_rows:
                    return
        whole = pa.concat_tables([earliest, rows])
        if known:
            # A stable sort: records of one millisecond stay in their order of arrival.
            whole = whole.take(pc.sort_indices(whole["time"]).slice(0, EARLIEST))
        self._earliest = whole.slice(0, EARLIEST).combine_chunks()


def scale_of(levels: Sequence[Level], most: int | None = None) -> int:
    """How many keys each kept key stands for, given the numbers of pairs.

    Args:
        levels: All pairs.
        most: How many pairs are kept at most, if not the default.

    Examples:
        >>> scale_of([Level(0, 500, 5000), Level(1, 300, 3000), Level(2, 200, 2000)], most=500)
        2
    """
    most = _MOST if most is None else most
    level = 0
    while (
        sum(each.pairs for each in levels if each.level >= level) > most
        or sum(each.key_bytes for each in levels if each.level >= level) > _MOST_BYTES
    ):
        level += 1
    return 1 << level


def _with_hash_below(pairs: pa.Table, below: int) -> pa.Table:
    """The pairs of keys whose hash is below a bound."""
    # Signed, so zero is in the middle. Java's partitions depend on the low bits; this uses the high ones.
    return pairs.filter(pc.less(murmur2(pairs["key"]).cast(pa.int64()), number(below - HASHES // 2)))


def _summed(partitions: pa.Array, values: pa.Array) -> dict[int, int]:
    sums = rows_by_partition(partitions, pc.fill_null(values, number(0)))
    return dict(zip(sums["partition"].to_pylist(), sums["rows"].to_pylist(), strict=True))
