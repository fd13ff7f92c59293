"""Sums of partitions show whether everything is as requested: no random fault escapes them."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple

import pytest
from pyspark.sql import functions as sf

from partwright.kafka.marks import MARK, Mark
from partwright.pipeline import checks
from partwright.pipeline.checks import check
from partwright.spark.partition_layout import laid_out

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

RUN = b"8 bytes."
OURS = Mark(MARK, RUN)


class Asked(NamedTuple):
    """A record as requested; rows count up over the files."""

    key: bytes | None
    value: bytes | None
    partition: int | None
    file: str
    row: int


class There(NamedTuple):
    """A record as found."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    header: bytes | None


def placed(spark: SparkSession, records: list[Asked], n: int) -> DataFrame:
    """Laid out as a run lays out its records, whatever their order was."""
    rows = random.Random(n).sample(records, len(records))
    schema = "key binary, value binary, partition int, file string, row long"
    table = spark.createDataFrame(list(map(tuple, rows)), schema)
    return laid_out(table, table, n, [table.file, table.row])


def there(spark: SparkSession, records: list[There]) -> DataFrame:
    schema = "partition int, offset long, key binary, value binary, header binary"
    return spark.createDataFrame(list(map(tuple, records)), schema)


def drawn_records(drawn: random.Random, n: int, *, places_null_keys: bool) -> list[Asked]:
    """The requested records, in the order of the source."""
    files = sorted(drawn.sample(["", "a", "b/é", "b/z", "c"], drawn.randint(1, 3)))
    rows = sorted(drawn.sample(range(2**40), 40 * len(files)))
    made = []
    for number, row in enumerate(rows):
        key = drawn.choice([None, b"", *(b"%d" % each for each in range(20))])
        partition = None if key is None and not places_null_keys else drawn.randrange(n)
        value = drawn.choice([None, drawn.randbytes(3)])
        made.append(Asked(key, value, partition, files[number // 40], row))
    return made


def read_back(
    drawn: random.Random, asked: list[Asked], n: int, *, markers: bool = False, mixed: bool = False
) -> list[There]:
    """The same records in their partitions; a record requested nowhere is anywhere, or after a partition's others."""
    offsets = [0] * n
    found = []
    at = {record.row: number / len(asked) for number, record in enumerate(asked)}
    for record in asked:
        if record.partition is None:
            at[record.row] = drawn.random() if mixed else 1
    for record in sorted(asked, key=lambda record: at[record.row]):
        home = drawn.randrange(n) if record.partition is None else record.partition
        offsets[home] += markers and drawn.random() < 0.2
        (header,) = OURS.values([record.row])
        found.append(There(home, offsets[home], record.key, record.value, header))
        offsets[home] += 1
    return found


def fault(drawn: random.Random, asked: list[Asked], found: list[There], n: int) -> tuple[str, list[There]]:
    """A fault, and the records that result from it."""
    placed_rows = {record.row for record in asked if record.partition is not None}
    ours = [i for i, each in enumerate(found) if OURS.row(each.header or b"") in placed_rows]
    at = drawn.choice(ours)
    one = found[at]
    after = max(each.offset for each in found if each.partition == one.partition) + 1
    rest = [*found[:at], *found[at + 1 :]]
    same_key = [i for i in ours if i != at and (found[i].partition, found[i].key) == (one.partition, one.key)]
    faults = {
        "lost": rest,
        "twice": [*found, one._replace(offset=after)],
        "foreign": [*found, one._replace(offset=after, header=None)],
        "value_changed": [*rest, one._replace(value=b"other")],
        "key_changed": [*rest, one._replace(key=b"other")],
    }
    if n > 1:
        faults["misplaced"] = [*rest, one._replace(partition=(one.partition + 1) % n, offset=10**6)]
    if same_key:
        other = found[same_key[0]]
        swapped = [*(each for each in rest if each != other), one._replace(offset=other.offset)]
        faults["out_of_order"] = [*swapped, other._replace(offset=one.offset)]
    name = drawn.choice(list(faults))
    return name, faults[name]


@pytest.mark.parametrize(
    ("markers", "mixed"),
    [
        pytest.param(False, False, id="offsets count up"),
        pytest.param(True, False, id="marks of transactions"),
        pytest.param(False, True, id="null keys among the others"),
    ],
)
def test_every_random_fault_is_seen_and_nothing_else(
    spark: SparkSession,
    seed: int,
    cases: Callable[[int], int],
    monkeypatch: pytest.MonkeyPatch,
    markers: bool,
    mixed: bool,
) -> None:
    drawn = random.Random(f"{seed} {markers} {mixed}")
    by_record = checks.each_record
    for _ in range(cases(4)):
        n = drawn.choice([1, 2, 3, 5])
        asked = drawn_records(drawn, n, places_null_keys=markers or (not mixed and drawn.random() < 0.5))
        found = read_back(drawn, asked, n, markers=markers, mixed=mixed)
        table = placed(spark, asked, n)
        # If offsets are not positions, those of one partition are in one task.
        whole = there(spark, found).repartition(1 if n == 1 else drawn.randint(2, 4))
        if markers or mixed:
            whole = laid_out(there(spark, found), whole, n, [sf.col("offset")])
        # Sums show it unless the producer placed some records.
        if all(record.partition is not None for record in asked):
            monkeypatch.setattr(checks, "each_record", None)
        assert check(table, whole, RUN, {}, markers=markers).ok
        monkeypatch.setattr(checks, "each_record", by_record)
        name, wrong = fault(drawn, asked, found, n)
        seen = laid_out(there(spark, wrong), whole, n, [sf.col("offset")])
        broken = check(table, seen, RUN, {}, markers=markers)
        assert getattr(broken, name) >= 1, (name, broken)


def test_a_row_that_was_asked_for_twice_is_there_twice(spark: SparkSession) -> None:
    asked = [Asked(b"a", b"1", 0, "", 4), Asked(b"a", b"2", 0, "", 4), Asked(b"b", b"3", 1, "", 5)]
    found = read_back(random.Random(0), asked, 2)
    broken = check(placed(spark, asked, 2), there(spark, found), RUN, {})
    assert broken.twice
