"""What each partition holds, in order, in a few numbers: no record leaves its task to be compared with another one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from partwright.spark.requirements import require_pandas

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, Row

__all__ = [
    "FOREIGN",
    "Sequence",
    "all_as_asked",
    "fingerprint",
    "gathered",
    "kind_of",
    "sequences",
    "summing",
    "unplaced",
]

# The kinds of keys: a client places all of a kind, or leaves all of it to the producer.
_NULL_KEY, _EMPTY_KEY, _KEY = range(3)
# A record that the run did not write, whatever its key.
FOREIGN = 3
_KINDS = 4
_NOWHERE = -1


@dataclass(frozen=True)
class Sequence:
    """The records of one partition with one kind of key, as one task has them.

    Attributes:
        records: How many.
        first: The least place of one: an offset, or a row of the source.
        last: The greatest.
        rising: Whether each one's file and place come after those of the record before it.
        total: The sum of their fingerprints, which is the same in any order.
        digest: A digest of their fingerprints in this order.
    """

    records: int
    first: int
    last: int
    rising: bool
    total: int
    digest: bytes


Sequences = dict[tuple[int | None, int], list[Sequence]]
"""By partition (None: none was asked for) and kind of key, one for each task that has such records."""


def kind_of(key: str) -> Column:
    """The kind of a key, as a number."""
    return F.when(F.col(key).isNull(), _NULL_KEY).when(F.octet_length(key) == 0, _EMPTY_KEY).otherwise(_KEY)


def fingerprint(row: str, key_hash: str, value_hash: str) -> Column:
    """64 bits that stand for a record: its row, and the 64-bit hashes of its key and value."""
    return F.xxhash64(row, key_hash, value_hash)


def sequences(**sides: DataFrame) -> dict[str, Sequences]:
    """Sums up several tables in one job, none of which is shuffled.

    Args:
        sides: Tables of records with the columns `partition` (int), `kind` (int), `file` (text), `place` (bigint) and
            `fingerprint` (bigint), by name.

    Returns:
        By the same names, what each holds.
    """
    require_pandas()
    schema = "of long, records long, first long, last long, rising boolean, total long, digest binary"
    of = (F.coalesce("partition", F.lit(_NOWHERE)).cast("long") * _KINDS + F.col("kind")).alias("of")
    summed = [
        records.select(of, "file", "place", "fingerprint")
        .mapInArrow(summing(), schema)
        .withColumn("side", F.lit(side))
        for side, records in sides.items()
    ]
    together = summed[0]
    for one in summed[1:]:
        together = together.union(one)
    rows = together.collect()
    return {side: gathered(row for row in rows if row.side == side) for side in sides}


def gathered(rows: Iterable[Row]) -> Sequences:
    """What the tasks have summed up, by partition and kind of key."""
    found: Sequences = {}
    for row in rows:
        partition, kind = divmod(row.of, _KINDS)
        sequence = Sequence(row.records, row.first, row.last, row.rising, row.total, bytes(row.digest))
        found.setdefault((None if partition == _NOWHERE else partition, kind), []).append(sequence)
    return found


def unplaced(asked: Mapping[tuple[int | None, int], object]) -> set[int]:
    """The kinds of keys with records for which no partition was asked."""
    return {kind for partition, kind in asked if partition is None}


def all_as_asked(asked: Sequences, there: Sequences) -> bool:
    """Whether every record is there once, unchanged, in its partition and in the order of the source.

    False may also mean that this cannot be seen from sums, as where one task does not have a whole partition.

    Args:
        asked: What was asked for, by the partition asked for; a place is a row in its file.
        there: What is there, by the partition where it is; a place is an offset.
    """
    free = unplaced(asked)
    for kind in free:
        # Anywhere and in any order: which they are is all that was asked for.
        if _all_of(asked, kind) != _all_of(there, kind):
            return False
    placed_asked = {of: found for of, found in asked.items() if of[0] is not None}
    placed_there = {of: found for of, found in there.items() if of[1] not in free}
    return placed_asked.keys() == placed_there.keys() and all(
        _in_the_same_order(placed_asked[of], placed_there[of]) for of in placed_asked
    )


def _all_of(found: Sequences, kind: int) -> tuple[int, int]:
    """How many records a kind has, and the sum of their fingerprints."""
    those = [each for (_, of_kind), several in found.items() if of_kind == kind for each in several]
    return sum(each.records for each in those), sum(each.total for each in those) % 2**64


def _in_the_same_order(asked: list[Sequence], there: list[Sequence]) -> bool:
    if len(asked) != 1 or len(there) != 1:
        return False
    (wanted,), (found,) = asked, there
    same = (wanted.records, wanted.total, wanted.digest) == (found.records, found.total, found.digest)
    return same and wanted.rising and found.rising


def summing() -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What a worker does with a task's records; it is sent by value, and needs pyarrow there and nothing of ours.

    Its records have the columns `of` (partition and kind as one number), `file`, `place` and `fingerprint`; its answer
    has a row for each `of`, with the columns of `Sequence`.
    """

    def summed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import hashlib

        import pyarrow as pa
        import pyarrow.compute as pc

        # By `of`: records, first, last, rising, total, digest, and the last record's file and place.
        found = {}
        for batch in batches:
            kinds = pc.unique(batch.column(0)).to_pylist()
            for of in kinds:
                some = batch if len(kinds) == 1 else batch.filter(pc.equal(batch.column(0), of))
                _, file, place, prints = some.columns
                size = len(place)
                begins = (file[0].as_py(), place[0].as_py())
                ends = (file[size - 1].as_py(), place[size - 1].as_py())
                same_file = pc.equal(file[:-1], file[1:])
                after = pc.or_(
                    pc.less(file[:-1], file[1:]), pc.and_(same_file, pc.less(place[:-1], place[1:]))
                )
                rising = pc.all(after, min_count=0).as_py()
                bounds = pc.min_max(place).as_py()
                total = pc.sum(prints).as_py()
                data = prints.buffers()[1].slice(8 * prints.offset, 8 * size)
                if of not in found:
                    digest = hashlib.blake2b(digest_size=16)
                    found[of] = [0, bounds["min"], bounds["max"], True, 0, digest, None]
                sums = found[of]
                sums[0] += size
                sums[1] = min(sums[1], bounds["min"])
                sums[2] = max(sums[2], bounds["max"])
                sums[3] = sums[3] and rising and (sums[6] is None or sums[6] < begins)
                # As Arrow's own sum, of 64 bits.
                sums[4] = (sums[4] + total + 2**63) % 2**64 - 2**63
                sums[5].update(data)
                sums[6] = ends
        rows = [
            {
                "of": of,
                "records": records,
                "first": first,
                "last": last,
                "rising": rising,
                "total": total,
                "digest": digest.digest(),
            }
            for of, (records, first, last, rising, total, digest, _) in found.items()
        ]
        if rows:
            schema = pa.schema(
                [
                    *((name, pa.int64()) for name in ("of", "records", "first", "last")),
                    ("rising", pa.bool_()),
                    ("total", pa.int64()),
                    ("digest", pa.binary()),
                ]
            )
            yield pa.RecordBatch.from_pylist(rows, schema=schema)

    return summed
