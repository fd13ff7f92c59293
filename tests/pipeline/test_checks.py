"""The checks notice each way in which a record can go wrong: every fault is made by hand and counted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from partwright.kafka.marks import MARK, Mark
from partwright.keys.key_text import shown_key
from partwright.pipeline import checks
from partwright.pipeline.checks import check, compare, doubles
from partwright.pipeline.report import Checks
from partwright.spark.partition_layout import laid_out

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RUN = b"8 bytes."
OTHER = b"another."


def header(run: bytes, row: int) -> bytes:
    return Mark(MARK, run).values([row])[0]


class Record(NamedTuple):
    """A record as requested and as found."""

    row: int
    key: bytes | None
    value: bytes
    asked: int | None
    partition: int
    offset: int

    @property
    def header(self) -> bytes:
        return header(RUN, self.row)


# Two keys in their partitions, and a null key that the producer put somewhere.
SOUND = [
    Record(0, b"a", b"1", 0, 0, 0),
    Record(1, b"b", b"2", 1, 1, 0),
    Record(2, b"a", b"3", 0, 0, 1),
    Record(2**33, b"b", b"4", 1, 1, 1),
    Record(2**33 + 1, None, b"5", None, 1, 2),
    Record(2**33 + 2, b"", b"6", 0, 0, 2),
]


def placed(spark: SparkSession, records: list[Record]) -> DataFrame:
    """Laid out as a run lays out its records."""
    rows = [(r.key, r.value, r.asked, "file", r.row) for r in records]
    schema = "key binary, value binary, partition int, file string, row long"
    table = spark.createDataFrame(rows, schema)
    return laid_out(table, table, 2, [table.row])


def there(spark: SparkSession, records: list[Record], more: list[tuple[Any, ...]] | None = None) -> DataFrame:
    rows = [(r.partition, r.offset, r.key, r.value, r.header) for r in records]
    schema = "partition int, offset long, key binary, value binary, header binary"
    return spark.createDataFrame(rows + (more or []), schema).coalesce(1)


def broken(found: Checks) -> dict[str, int]:
    return {promise: getattr(found, promise) for promise in Checks.PROMISES if getattr(found, promise)}


def test_sound_records_pass(spark: SparkSession) -> None:
    found = check(placed(spark, SOUND), there(spark, SOUND), RUN, {})
    assert found.ok
    assert found.records == len(SOUND)
    assert [(part.partition, part.records, part.null_keys) for part in found.partitions] == [
        (0, 3, 0),
        (1, 3, 1),
    ]


def test_sound_records_are_summed_up_and_not_joined(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("each_record", "each_choice"):
        monkeypatch.setattr(checks, name, None)
    keyed = [each for each in SOUND if each.asked is not None]
    assert check(placed(spark, keyed), there(spark, keyed), RUN, {}).ok
    assert compare(placed(spark, SOUND), there(spark, SOUND), RUN).ok


def test_a_partition_in_several_tasks_is_sound_too(spark: SparkSession) -> None:
    scattered = there(spark, SOUND).repartition(3)
    whole = check(placed(spark, SOUND), there(spark, SOUND), RUN, {})
    assert check(placed(spark, SOUND), scattered, RUN, {}) == whole


def test_records_that_were_laid_out_in_the_wrong_order_are_noticed(spark: SparkSession) -> None:
    wrong = [SOUND[2]._replace(offset=0), *SOUND[1:2], SOUND[0]._replace(offset=1), *SOUND[3:]]
    assert broken(check(placed(spark, wrong), there(spark, wrong), RUN, {})) == {"out_of_order": 1}


def test_empty_keys_may_be_left_to_the_producer_as_null_ones_are(spark: SparkSession) -> None:
    left = [r._replace(asked=None) if not r.key else r for r in SOUND]
    found = check(placed(spark, left), there(spark, left), RUN, {})
    assert found.ok
    assert [part.null_keys for part in found.partitions] == [1, 1]
    some = [r._replace(asked=r.partition) if r.key is None else r for r in left]
    more = [*some, Record(2**33 + 3, None, b"7", None, 0, 3)]
    assert check(placed(spark, more), there(spark, more), RUN, {}).ok


@pytest.mark.parametrize(
    ("offsets", "begin", "gaps"),
    [
        pytest.param((0, 1, 2), 0, 0, id="no mark"),
        pytest.param((1, 2, 5), 0, 0, id="marks before and among"),
        pytest.param((7, 8, 11), 6, 0, id="after what was there"),
        pytest.param((5, 8, 11), 6, 1, id="one before the beginning"),
        pytest.param((0, 0, 1), 0, 1, id="fewer offsets than records"),
    ],
)
def test_marks_of_transactions_take_offsets(
    spark: SparkSession, offsets: tuple[int, ...], begin: int, gaps: int
) -> None:
    where = dict(zip((0, 2, 2**33 + 2), offsets, strict=True))
    moved = [r._replace(offset=where.get(r.row, r.offset)) for r in SOUND]
    found = check(placed(spark, SOUND), there(spark, moved), RUN, {0: begin}, markers=True)
    assert found.offset_gaps == gaps


def test_doubles_are_the_copies_beyond_the_first(spark: SparkSession) -> None:
    copies = [
        *SOUND,
        SOUND[1]._replace(offset=3),
        SOUND[1]._replace(offset=4),
        SOUND[0]._replace(offset=3),
        SOUND[0]._replace(partition=1, offset=5),
    ]
    read = there(spark, copies, [(1, 6, b"b", b"2", header(OTHER, 0)), (1, 7, b"b", b"2", None)])
    found = {tuple(row) for row in doubles(read, RUN).select("row", "partition", "offset").collect()}
    assert found == {(1, 1, 3), (1, 1, 4), (0, 0, 3), (0, 1, 5)}
    assert check(placed(spark, SOUND), read, RUN, {}).twice == len({row for row, _, _ in found})


def changed(row: int, **fields: object) -> list[Record]:
    return [r._replace(**fields) if r.row == row else r for r in SOUND]


@pytest.mark.parametrize(
    ("read", "more", "expected"),
    [
        pytest.param(
            [r for r in SOUND if r.row != 2**33 + 2], [], {"lost": 1}, id="the last one is not there"
        ),
        pytest.param(
            [r for r in SOUND if r.row != 1], [], {"lost": 1, "offset_gaps": 1}, id="a first one is not there"
        ),
        pytest.param([*SOUND, SOUND[0]._replace(offset=3)], [], {"twice": 1}, id="one is there twice"),
        pytest.param(
            changed(0, partition=1, offset=3),
            [],
            {"misplaced": 1, "offset_gaps": 1},
            id="one is in another partition",
        ),
        pytest.param(changed(0, key=b"A"), [], {"key_changed": 1}, id="a key has other bytes"),
        pytest.param(changed(2**33 + 2, key=None), [], {"key_changed": 1}, id="an empty key became null"),
        pytest.param(changed(2**33 + 1, key=b""), [], {"key_changed": 1}, id="a null key became empty"),
        pytest.param(changed(0, value=b"0"), [], {"value_changed": 1}, id="a value has other bytes"),
        pytest.param(changed(2**33 + 2, offset=3), [], {"offset_gaps": 1}, id="an offset is skipped"),
        pytest.param(SOUND, [(1, 3, b"b", b"2", None)], {"foreign": 1}, id="a record without a header"),
        pytest.param(
            SOUND, [(1, 3, b"b", b"2", header(OTHER, 0))], {"foreign": 1}, id="a record of another run"
        ),
        pytest.param(
            SOUND,
            [(1, 3, b"b", b"2", header(RUN, 99))],
            {"foreign": 1},
            id="a row that nobody asked for",
        ),
        pytest.param(
            [
                *(r for r in SOUND if r.row not in {0, 2}),
                SOUND[0]._replace(offset=1),
                SOUND[2]._replace(offset=0),
            ],
            [],
            {"out_of_order": 1},
            id="two of one key changed places",
        ),
    ],
)
def test_each_fault_is_counted(
    spark: SparkSession, read: list[Record], more: list[tuple[Any, ...]], expected: dict[str, int]
) -> None:
    found = check(placed(spark, SOUND), there(spark, read, more), RUN, {})
    assert not found.ok
    assert broken(found) == expected


def test_offsets_count_from_where_the_run_began(spark: SparkSession) -> None:
    later = [r._replace(offset=r.offset + 5) if r.partition == 1 else r for r in SOUND]
    assert check(placed(spark, SOUND), there(spark, later), RUN, {0: 0, 1: 5}).ok
    assert broken(check(placed(spark, SOUND), there(spark, later), RUN, {})) == {"offset_gaps": 1}


def test_an_example_says_which_record_and_where(spark: SparkSession) -> None:
    found = check(placed(spark, SOUND), there(spark, changed(0, partition=1, offset=3)), RUN, {})
    assert found.examples == ("row 0 with key a asked for partition 0 and is in partition 1 at offset 3",)


def test_a_record_before_an_earlier_one_of_another_key_is_no_fault(spark: SparkSession) -> None:
    moved = [r._replace(offset={0: 1, 2: 2, 2**33 + 2: 0}.get(r.row, r.offset)) for r in SOUND]
    assert check(placed(spark, SOUND), there(spark, moved), RUN, {}).ok


def test_the_proof_counts_keyed_records_alone(spark: SparkSession) -> None:
    elsewhere = [r._replace(partition=7) if r.key is None else r for r in SOUND]
    proof = compare(placed(spark, SOUND), there(spark, elsewhere), RUN)
    assert proof.ok
    assert (proof.keyed, proof.equal, proof.different, proof.lost) == (5, 5, 0, 0)


def test_the_proof_notices_another_partition_and_a_lost_record(spark: SparkSession) -> None:
    chosen = [r for r in changed(0, partition=3) if r.row != 1]
    proof = compare(placed(spark, SOUND), there(spark, chosen), RUN)
    assert not proof.ok
    assert (proof.keyed, proof.equal, proof.different, proof.lost) == (5, 3, 1, 1)
    assert len(proof.examples) == 2


@pytest.mark.parametrize("promise", Checks.PROMISES)
def test_any_broken_promise_makes_a_run_unsound(promise: str) -> None:
    sound = Checks(1, 0, 0, 0, 0, 0, 0, 0, 0)
    assert sound.ok
    assert not replace(sound, **{promise: 1}).ok


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        (None, "null"),
        (b"", "(empty)"),
        (b"N14228", "N14228"),
        (b"\x00*", "0x002a"),
        (b"\xff", "0xff"),
        ("é".encode(), "é"),
    ],
)
def test_keys_are_shown_as_text_where_they_are_text(key: bytes | None, shown: str) -> None:
    assert shown_key(key) == shown
