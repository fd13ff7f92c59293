"""What is seen of a topic's records, summed up batch by batch in bounded memory; summaries of parts can be merged.

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

from partwright.audit.heavy_keys import HeavyPairs, bytes_of_keys, most_rows
from partwright.files.scalars import TRUE, binary_column, number
from partwright.keys.hashing import murmur2

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Self

    from partwright.audit.heavy_keys import HeavyKey

__all__ = ["EARLIEST", "Level", "Observed", "merged", "scale_of"]

_MOST = 1_000_000
_MOST_BYTES = 128 << 20
# Batches are merged once they have as many rows, or bytes of keys, so that a row is merged few times.
_PENDING = 1 << 20
_PENDING_BYTES = 64 << 20
# Rows are grouped so many at a time, or so many bytes of keys: a key that many batches have is then grouped few times.
_GROUPED = 1 << 20
_GROUPED_BYTES = 64 << 20
# An Arrow column of binary has no more than 2 GiB, and one of large binary is grouped ten times as slowly.
_BATCH_BYTES = 1 << 30
# How many records are kept in the order of time: a cycle shows in far fewer.
EARLIEST = 1 << 16
_HASHES = 1 << 32
# A pair that may lack no more than this part of its rows is known well enough to stand for itself.
_KNOWN = 8

_PAIR = ["partition", "key"]
_PAIRS = pa.schema(
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
# Of each sum of a batch the column that it is of; and how sums are summed up again.
_SUMS = {
    "bytes": ("size", "sum"),
    "first": ("time", "min"),
    "last": ("time", "max"),
    "first_offset": ("offset", "min"),
    "last_offset": ("offset", "max"),
}
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
        # Rows that no table has yet, all of one schema.
        self._rows: list[pa.Table] = []
        self._rows_bytes = 0
        self._tables: list[pa.Table] = []
        self._pending = self._pending_bytes = 0
        self._heavy: HeavyPairs | None = None
        self._earliest: pa.Table | Callable[[], pa.Table] = _ORDER.empty_table()

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
        seen._tables = [pairs.select(_PAIRS.names).cast(_PAIRS)]
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
        if not pa.types.is_binary(keys.type):
            # Of any other layout Arrow's kernels do not take each.
            keys = keys.cast(pa.large_binary())
        given = {"time": times, "offset": offsets, "size": sizes}
        columns = {name: column for name, column in given.items() if column is not None}
        rows = pa.table({"partition": partitions, "key": keys, **columns})
        if times is not None or self.rows < EARLIEST:
            self._keep_earliest(rows)
        self.rows += rows.num_rows
        self.rows_in.update(_counted(rows["partition"]))
        if sizes is not None:
            self.bytes_in.update(_summed(rows, "size"))
        if keys.null_count:
            keyless = rows.filter(pc.is_null(rows["key"]))
            self.null_keys += keyless.num_rows
            self.null_keys_in.update(_counted(keyless["partition"]))
            rows = rows.filter(pc.is_valid(rows["key"]))
        if self._rows and self._rows[0].schema != rows.schema:
            self._group()
        self._rows.append(rows)
        self._rows_bytes += bytes_of_keys(rows)
        if sum(each.num_rows for each in self._rows) >= _GROUPED or self._rows_bytes >= _GROUPED_BYTES:
            self._group()

    def merge(self, other: Self) -> None:
        """Take what another one has seen: the records that come after these in their source."""
        self._group()
        pairs = other.pairs()
        self.rows += other.rows
        self.null_keys += other.null_keys
        self.null_keys_in.update(other.null_keys_in)
        self.rows_in.update(other.rows_in)
        self.bytes_in.update(other.bytes_in)
        self._keep_earliest(other.order())
        # One that has left keys out has the heaviest of all.
        if other._heavy is not None:
            self._heaviest().merge(other._heavy)
        elif self._heavy is not None:
            self._heavy.add(pairs)
        self._below = min(self._below, other._below)
        self._keep(pairs)

    def pairs(self) -> pa.Table:
        """A row for each key in each partition: how many rows, their bytes, the first and last times and offsets."""
        self._group()
        if len(self._tables) != 1:
            whole = pa.concat_tables(self._tables or [_PAIRS.empty_table()])
            # What was kept before may be too much now.
            self._tables = [merged(self._kept(whole) if self._below < _HASHES else whole)]
        self._pending = self._pending_bytes = 0
        while self._tables[0].num_rows > self._most or bytes_of_keys(self._tables[0]) > _MOST_BYTES:
            self._heaviest()
            self._below //= 2
            self._tables = [self._kept(self._tables[0])]
        return self._tables[0]

    def comparable(self, other: Self) -> tuple[pa.Table, pa.Table, float]:
        """The pairs of this one and of another whose keys both keep, and what share of all keys that is, 0 to 1."""
        pairs, others = self.pairs(), other.pairs()
        if self._below > other._below:
            return other._kept(pairs), others, other._below / _HASHES
        return pairs, self._kept(others), self._below / _HASHES

    def keys(self) -> int:
        """How many different keys there are; where some were left out, an estimate."""
        return len(pc.unique(self.pairs()["key"])) * self.scale

    def keys_in(self) -> dict[int, int]:
        """How many different keys each partition has; the same."""
        found = _counted(self.pairs()["partition"])
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
        pairs = self.pairs().select([*_PAIR, "rows"])
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

    def _group(self) -> None:
        """Sum up the rows that are waiting."""
        if not self._rows:
            return
        rows, self._rows, self._rows_bytes = pa.concat_tables(self._rows), [], 0
        known = [name for name, (column, _) in _SUMS.items() if column in rows.schema.names]
        for some in _grouped_fast(rows):
            grouped = some.group_by(_PAIR, use_threads=False).aggregate(
                [([], "count_all"), *(_SUMS[name] for name in known)]
            )
            self._take(_completed(grouped.rename_columns([*_PAIR, "rows", *known])))

    def _heaviest(self) -> HeavyPairs:
        """The summary of the heaviest; it begins with all that is known, before the first key is left out."""
        if self._heavy is None:
            self._heavy = HeavyPairs()
            for table in self._tables:
                self._heavy.add(table)
        return self._heavy

    def _take(self, grouped: pa.Table) -> None:
        if self._heavy is not None:
            self._heavy.add(grouped)
        self._keep(grouped)

    def _keep(self, grouped: pa.Table) -> None:
        kept = self._kept(grouped) if self._below < _HASHES else grouped
        self._tables.append(kept)
        self._pending += kept.num_rows
        self._pending_bytes += bytes_of_keys(kept)
        if self._pending > _PENDING or self._pending_bytes > _PENDING_BYTES:
            self.pairs()

    def _kept(self, pairs: pa.Table) -> pa.Table:
        return pairs.filter(_has_hash_below(pairs["key"], self._below))

    def _keep_earliest(self, rows: pa.Table) -> None:
        times = rows["time"] if "time" in rows.schema.names else pa.nulls(rows.num_rows, pa.int64())
        rows = pa.table([times, rows["partition"]], schema=_ORDER)
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


def merged(pairs: pa.Table) -> pa.Table:
    """Pairs with one row for each key in each partition."""
    known = [name for name in _SUMS if pairs[name].null_count < pairs.num_rows]
    grouped = pairs.group_by(_PAIR, use_threads=False).aggregate(
        [("rows", "sum"), *((name, _SUMS[name][1]) for name in known)]
    )
    return _completed(grouped.rename_columns([*_PAIR, "rows", *known]))


def _completed(sums: pa.Table) -> pa.Table:
    """Sums with nulls for what is not known."""
    unknown = pa.nulls(sums.num_rows, pa.int64())
    return pa.table(
        [sums[name] if name in sums.schema.names else unknown for name in _PAIRS.names], _PAIRS.names
    ).cast(_PAIRS)


def _grouped_fast(rows: pa.Table) -> Iterator[pa.Table]:
    """The rows with keys of a type that Arrow groups fast; in several parts where it cannot hold them all."""
    if pa.types.is_binary(rows["key"].type):
        yield rows
    elif bytes_of_keys(rows) <= _BATCH_BYTES or rows.num_rows == 1:
        key = rows.schema.get_field_index("key")
        try:
            keys = rows["key"].cast(pa.binary())
        except pa.ArrowInvalid:
            # A slice of keys beyond the first 2 GiB.
            keys = _copied(rows)["key"].cast(pa.binary())
        yield rows.set_column(key, "key", keys)
    else:
        half = rows.num_rows // 2
        for part in (rows.slice(0, half), rows.slice(half)):
            yield from _grouped_fast(_copied(part))


def _copied(rows: pa.Table) -> pa.Table:
    """The same rows without those that they are a slice of, whose offsets they have."""
    return rows.take(pc.indices_nonzero(pa.repeat(TRUE, rows.num_rows)))


def _has_hash_below(keys: pa.ChunkedArray, below: int) -> pa.ChunkedArray:
    """Whether keys have one of the smallest hashes, of so many."""
    # Signed, so that zero is in the middle; Java's partitions go by the low bits, these are the high ones.
    return pc.less(murmur2(keys).cast(pa.int64()), number(below - _HASHES // 2))


def _counted(column: pa.ChunkedArray) -> dict[int, int]:
    return {each["values"]: each["counts"] for each in pc.value_counts(column.drop_null()).to_pylist()}


def _summed(rows: pa.Table, name: str) -> dict[int, int]:
    by_partition = rows.filter(pc.is_valid(rows["partition"])).group_by("partition", use_threads=False)
    found = by_partition.aggregate([(name, "sum")]).to_pylist()
    return {each["partition"]: each[f"{name}_sum"] or 0 for each in found}
