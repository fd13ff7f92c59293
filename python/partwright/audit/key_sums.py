"""Sums of a topic's records, batch by batch in bounded memory; summaries of parts can be merged.

>>> seen = Observed()
>>> seen.add(pa.array([b"a", b"b", b"a", None]), pa.array([4, 8, 4, 0]))
>>> seen.rows, seen.null_keys, seen.pairs().num_rows
(4, 1, 2)
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from partwright import _core
from partwright.audit.heavy_keys import HeavyPairs, most_rows
from partwright.audit.pair_tables import PAIR, PAIRS, sums_of, table_of, value_counts
from partwright.files.scalars import binary_column, number
from partwright.keys.hashing import murmur2

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    from partwright.audit.heavy_keys import HeavyKey

__all__ = ["EARLIEST", "Level", "Observed", "scale_of"]

_MOST = 1_000_000
_MOST_BYTES = 128 << 20
# How many records are kept in the order of time: a cycle shows in far fewer.
EARLIEST = 1 << 16
_HASHES = 1 << 32
# A pair that may lack no more than this part of its rows is known well enough to stand for itself.
_KNOWN = 8

_ORDER = pa.schema([("time", pa.int64()), ("partition", pa.int64())])


class Level(NamedTuple):
    """Pairs of a key and a partition that are kept until the hashes have been halved so often, and not longer.

    Attributes:
        level: How often.
        pairs: How many pairs there are.
        key_bytes: How many bytes their keys have.
    """

    level: int
    pairs: int
    key_bytes: int


class Observed:
    """Records by key and partition.

    Beyond a number of pairs of a key and a partition only some keys are kept, with all of their records: those
    with the smallest hashes, so that the parts of a data set keep the same ones. The heaviest are kept beside them.

    Args:
        most: How many pairs of a partition and a key are kept at most.

    Attributes:
        rows: Records seen.
        null_keys: Those without a key.
        null_keys_in: Where they are.
        rows_in: Records by partition, without those in none.
        bytes_in: Their bytes by partition; empty where no sizes are known.
    """

    def __init__(self, most: int = _MOST) -> None:
        self.rows = 0
        self.null_keys = 0
        self.null_keys_in: Counter[int] = Counter()
        self.rows_in: Counter[int] = Counter()
        self.bytes_in: Counter[int] = Counter()
        self._most = most
        self._below = _HASHES
        self._kept = _core.KeySums()
        # All pairs of the rows that the heaviest have not been looked for in, once keys are left out.
        self._latest = _core.KeySums()
        # What is kept as a table, if somebody has asked for it since.
        self._table: pa.Table | None = None
        self._heavy: HeavyPairs | None = None
        self._earliest: pa.Table | Callable[[], pa.Table] = pa.Table.from_batches([], _ORDER)

    def __getstate__(self) -> dict[str, object]:
        """With tables for what the core has."""
        return {**self.__dict__, "_kept": self.pairs(), "_latest": None}

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
        """What another engine has summed up, all of it.

        Args:
            totals: A row for each partition: partition, rows, null_keys and bytes.
            pairs: As `pairs` has them, of the keys that are kept.
            scale: Of how many keys one is kept.
            heavy: As `heavy_pairs` has them, with all rows that each has, where not all keys are kept.
            order: What gives the table that `order` has, if it is asked for; None where there is none.
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
        seen._below = _HASHES // scale
        seen._kept = sums_of(pairs.select(PAIRS.names).cast(PAIRS))
        if heavy is not None:
            seen._heavy = HeavyPairs()
            seen._heavy.add(heavy)
        if order is not None:
            seen._earliest = order
        return seen

    @property
    def is_sampled(self) -> bool:
        """Whether some keys were left out."""
        return self.scale > 1

    @property
    def scale(self) -> int:
        """Of how many keys one was kept, a power of two."""
        self.pairs()
        return _HASHES // self._below

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
            partitions: Where they are, whole numbers of 64 bits, null where they are in none.
            times: Their timestamps as whole numbers of 64 bits, null where they are not known; None for none.
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
        """Take what another one has seen: the records that come after these in their source."""
        self._make_room()
        pairs = other.pairs()
        self.rows += other.rows
        self.null_keys += other.null_keys
        self.null_keys_in.update(other.null_keys_in)
        self.rows_in.update(other.rows_in)
        self.bytes_in.update(other.bytes_in)
        self._keep_earliest(*other.order().select(["partition", "time"]).columns)
        # One that has left keys out has the heaviest of all.
        if other._heavy is not None:
            self._heaviest().merge(other._heavy)
        elif self._heavy is not None:
            self._heavy.add(pairs)
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
        """The pairs of this one and of another whose keys both keep, and what share of all keys that is, 0 to 1."""
        pairs, others = self.pairs(), other.pairs()
        if self._below > other._below:
            return _with_hash_below(pairs, other._below), others, other._below / _HASHES
        return pairs, _with_hash_below(others, self._below), self._below / _HASHES

    def keys(self) -> int:
        """How many different keys there are; where some were left out, an estimate."""
        return len(pc.unique(self.pairs()["key"])) * self.scale

    def keys_in(self) -> dict[int, int]:
        """How many different keys each partition has; the same."""
        found = value_counts(self.pairs()["partition"])
        return {partition: keys * self.scale for partition, keys in found.items()}

    def heaviest(self, count: int, places: int | None = None) -> list[HeavyKey]:
        """The keys with the most rows, the heaviest first, those of the same rows by their bytes.

        Args:
            count: How many keys are given.
            places: In how many partitions the rows of a key may be at most; by default in all that are seen.
        """
        if not self.is_sampled:
            return most_rows(self.pairs(), count)
        heavy = self._heaviest()
        if places is None:
            places = len(self.rows_in) + (self.rows_in.total() < self.rows)
        return most_rows(heavy.table(), count, heavy.missed * places)

    def places_of(self, heavy: Sequence[HeavyKey]) -> dict[bytes, dict[int, int]]:
        """Of some of the heaviest keys the rows by partition, without those in none; where estimated, at least."""
        pairs = self.heavy_pairs()
        keys = binary_column([each.key for each in heavy])
        found: dict[bytes, dict[int, int]] = {each.key: {} for each in heavy}
        wanted = pc.and_(pc.is_in(pairs["key"], keys), pc.is_valid(pairs["partition"]))
        for row in pairs.filter(wanted).to_pylist():
            found[row["key"]][row["partition"]] = row["rows"]
        return found

    def whole(self) -> pa.Table:
        """Partition, key, rows and keys: of each pair how many rows and keys of the whole it stands for.

        All of them, where none was left out; else the heaviest for themselves, and those that are kept for the rest.
        """
        pairs = self.pairs().select([*PAIR, "rows"])
        ones = pa.repeat(number(1), pairs.num_rows)
        if not self.is_sampled:
            return pairs.append_column("keys", ones)
        heavy = self._heaviest()
        heavy_pairs = heavy.table()
        # What may have as much again is not known well enough.
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
        """The heaviest pairs of a key and a partition with the rows that each has at least; all where all were kept."""
        return self._heaviest().table() if self.is_sampled else self.pairs()

    def order(self) -> pa.Table:
        """The times and partitions of the earliest records, in that order; as they came where there are no times."""
        if not isinstance(self._earliest, pa.Table):
            self._earliest = self._earliest()
        return self._earliest

    def _has_too_many(self, sums: _core.KeySums) -> bool:
        return sums.pairs > self._most or sums.key_bytes > _MOST_BYTES

    def _make_room(self) -> None:
        """Keep of all rows no more than there is room for."""
        if self._heavy is not None and self._latest.pairs:
            self._heavy.add(table_of(self._latest))
            self._kept.merge(self._latest, self._below)
            self._latest.clear()
            self._table = None
        while self._has_too_many(self._kept):
            self._heaviest()
            self._below //= 2
            self._kept.keep(self._below)
            self._table = None

    def _heaviest(self) -> HeavyPairs:
        """The summary of the heaviest; it begins with all that is known, before the first key is left out."""
        if self._heavy is None:
            self._heavy = HeavyPairs()
            self._heavy.add(table_of(self._kept))
        return self._heavy

    def _keep_earliest(self, partitions: pa.ChunkedArray, times: pa.ChunkedArray | None) -> None:
        times = pa.nulls(len(partitions), pa.int64()) if times is None else times
        rows = pa.table([times, partitions], schema=_ORDER)
        earliest = self.order()
        known = times.null_count < len(times) or earliest["time"].null_count < len(earliest)
        if earliest.num_rows == EARLIEST:
            if not known:
                return
            last = earliest["time"][-1]
            if last.is_valid:
                # Most come later, and what is of the same time has come later.
                rows = rows.filter(pc.less(rows["time"], last))
                if not rows.num_rows:
                    return
        whole = pa.concat_tables([earliest, rows])
        if known:
            # Stable, for records of one millisecond stay as they came.
            whole = whole.take(pc.sort_indices(whole["time"]).slice(0, EARLIEST))
        self._earliest = whole.slice(0, EARLIEST).combine_chunks()


def scale_of(levels: Sequence[Level], most: int | None = None) -> int:
    """Of how many keys one is kept, where there are so many pairs.

    Args:
        levels: All pairs.
        most: How many are kept at most, where others than by default.

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
    """The pairs whose keys have one of the smallest hashes, of so many."""
    # Signed, so that zero is in the middle; Java's partitions go by the low bits, these are the high ones.
    return pairs.filter(pc.less(murmur2(pairs["key"]).cast(pa.int64()), number(below - _HASHES // 2)))


def _summed(partitions: pa.Array, values: pa.Array) -> dict[int, int]:
    rows = pa.table({"partition": partitions, "value": values}).filter(pc.is_valid(partitions))
    found = rows.group_by("partition", use_threads=False).aggregate([("value", "sum")]).to_pylist()
    return {each["partition"]: each["value_sum"] or 0 for each in found}
