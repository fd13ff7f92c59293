"""No value changes on its way to Python and back, by whichever kind of UDF this PySpark has."""

from __future__ import annotations

import math
import random
import struct
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow as pa
import pyspark
import pytest
from pyspark.errors import PythonException
from pyspark.sql import functions as sf

import partwright as pw
from partwright import spark as pws
from partwright.assignors import quotas
from partwright.spark.engines.arrow import to_arrow

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    Table = Callable[[pa.Table], DataFrame]
    Configured = Callable[[dict[str, object]], AbstractContextManager[None]]

HAS_ARROW_UDF = hasattr(sf, "arrow_udf")
ROWS = 5_000


def whole(bits: int, drawn: random.Random) -> int:
    """Any number with this many bits, and more often the ends, where floats lose digits."""
    near = drawn.choice(
        [0, 2 ** (bits - 1) - 1, -(2 ** (bits - 1)), 2 ** min(53, bits - 1), -(2 ** min(53, bits - 1))]
    )
    number = (
        drawn.getrandbits(bits) - 2 ** (bits - 1) if drawn.random() < 0.8 else near + drawn.randrange(-3, 4)
    )
    return max(-(2 ** (bits - 1)), min(2 ** (bits - 1) - 1, number))


def money(drawn: random.Random) -> Decimal:
    """Any decimal(20,8), and more often zero, which Java writes as 0E-8."""
    return Decimal(drawn.choice([0, 1, -1, drawn.randrange(-(10**20) + 1, 10**20)])).scaleb(-8)


def instant(drawn: random.Random) -> datetime:
    """Any microsecond of 200 years, and more often one in an hour that New York's clocks have twice."""
    if drawn.random() < 0.2:
        return datetime(2024, 11, 3, drawn.choice([5, 6]), 30, tzinfo=UTC)
    return datetime(1900, 1, 1, tzinfo=UTC) + timedelta(
        microseconds=drawn.randrange(200 * 365 * 86_400 * 10**6)
    )


def real(kind: str, drawn: random.Random) -> float:
    """Any float, and only Java's standard NaN."""
    if drawn.random() < 0.1:
        return drawn.choice([0.0, -0.0, math.nan, math.inf, -math.inf])
    (number,) = struct.unpack(kind, drawn.randbytes(struct.calcsize(kind)))
    return math.nan if math.isnan(number) else number


KINDS: dict[str, tuple[pa.DataType, str, Callable[[random.Random], object]]] = {
    "tinyint": (pa.int8(), "java:short", lambda drawn: whole(8, drawn)),
    "smallint": (pa.int16(), "java:short", lambda drawn: whole(16, drawn)),
    "int": (pa.int32(), "java:int", lambda drawn: whole(32, drawn)),
    "bigint": (pa.int64(), "java:long", lambda drawn: whole(64, drawn)),
    "float": (pa.float32(), "java:float", lambda drawn: real("f", drawn)),
    "double": (pa.float64(), "java:double", lambda drawn: real("d", drawn)),
    "boolean": (pa.bool_(), "java:boolean", lambda drawn: drawn.random() < 0.5),
    "binary": (pa.binary(), "bytes", lambda drawn: drawn.randbytes(drawn.randrange(20))),
    "string": (
        pa.string(),
        "utf8",
        lambda drawn: "".join(drawn.choices("aZ0 ß漢🦀\0", k=drawn.randrange(9))),
    ),
    "decimal(20,8)": (pa.decimal128(20, 8), "decimal", money),
    "date": (pa.date32(), "iso-date", lambda drawn: date.fromordinal(drawn.randrange(1, 3_652_060))),
    "timestamp": (pa.timestamp("us", "UTC"), "iso-timestamp", instant),
    "timestamp_ntz": (pa.timestamp("us"), "iso-timestamp", lambda drawn: instant(drawn).replace(tzinfo=None)),
}


@pytest.mark.parametrize("ansi", ["true", "false"])
@pytest.mark.parametrize("kind", KINDS)
def test_any_value_among_nulls_is_what_it_is_outside_of_spark(
    table: Table, configured: Configured, seed: int, kind: str, ansi: str
) -> None:
    to, key_type, value = KINDS[kind]
    drawn = random.Random(f"{seed} {kind}")
    keys = pa.array([None if drawn.random() < 0.2 else value(drawn) for _ in range(ROWS)], to)
    df = table(pa.table({"key": keys}))
    assert dict(df.dtypes) == {"key": kind}
    with configured({"spark.sql.ansi.enabled": ansi, "spark.sql.session.timeZone": "America/New_York"}):
        found = to_arrow(
            df.select(
                pws.partition_for_key("key", 1_000, key_type=key_type).alias("partition"),
                pws.murmur2(sf.col("key"), key_type).alias("murmur2"),
                pws.encode("key", key_type).alias("bytes"),
            )
        )
    assert found["partition"].to_pylist() == pw.partition_for_key(keys, 1_000, key_type=key_type).to_pylist()
    assert found["murmur2"].to_pylist() == pw.murmur2(keys, key_type=key_type).to_pylist()
    assert found["bytes"].to_pylist() == pw.encode(keys, key_type).to_pylist()


@pytest.mark.parametrize("kind", KINDS)
def test_batches_of_nulls_alone_and_none_at_all(table: Table, configured: Configured, kind: str) -> None:
    to, key_type, value = KINDS[kind]
    keys = pa.array([*[None] * 5, value(random.Random(1)), *[None] * 3], to)
    df = table(pa.table({"key": keys}))
    placed = pws.partition_for_key("key", 12, "librdkafka:murmur2", key_type).alias("partition")
    expected = pw.partition_for_key(keys, 12, "librdkafka:murmur2", key_type).to_pylist()
    with configured({"spark.sql.execution.arrow.maxRecordsPerBatch": 2}):
        assert to_arrow(df.select(placed))["partition"].to_pylist() == expected
        none = to_arrow(df.where("key IS NULL AND key IS NOT NULL").select(placed))
    assert (none.num_rows, none.schema.field("partition").type) == (0, pa.int32())


def test_text_that_is_no_utf8_keeps_its_bytes(spark: SparkSession) -> None:
    keys = [b"\xff\xfe", b"ok", b"\xc3", b"\xed\xa0\x80", b""]
    rows = spark.createDataFrame([(bytearray(key),) for key in keys], "key binary")
    texts = rows.select(sf.col("key").cast("string").alias("key"))
    placed = texts.select(pws.partition_for_key("key", 999), pws.encode("key")).collect()
    assert [row[0] for row in placed] == pw.partition_for_key(keys, 999).to_pylist()
    assert [bytes(row[1]) for row in placed] == keys


@pytest.mark.parametrize(
    "value",
    ["date '2026-11-24'", "timestamp '2026-11-24 01:02:03'", "1.5BD", "array(1)", "map(1, 2)", "struct(1)"],
)
def test_a_type_that_is_no_key_is_one_sentence(spark: SparkSession, value: str) -> None:
    df = spark.range(3).select(sf.expr(value).alias("key"))
    with pytest.raises(PythonException) as refused:
        df.select(pws.partition_for_key("key", 12)).collect()
    sentence = pws.first_sentence(refused.value)
    assert sentence is not None
    assert "\n" not in sentence
    kind = df.dtypes[0][1]
    if not kind.startswith(("array", "map", "struct")):
        assert "has no key bytes of its own: name the key type that its producer writes, " in sentence
    elif not HAS_ARROW_UDF:
        assert sentence == (
            f"partition_for_key takes strings, binaries, numbers, booleans, dates and timestamps, not {kind}"
        )


def test_a_column_that_python_works_out_differently_each_time_is_worked_out_once(
    spark: SparkSession, tmp_path: Path
) -> None:
    log = tmp_path / "calls"

    def drawn(row: int) -> int | None:
        with log.open("a") as calls:
            calls.write("x")
        return None if row % 2 else 2**62 + row

    key = sf.udf(drawn, "bigint", useArrow=False).asNondeterministic()("id")
    found = spark.range(50, numPartitions=1).select(pws.encode(key, "java:long")).collect()
    assert [row[0] and int.from_bytes(row[0], "big") for row in found] == [
        None if row % 2 else 2**62 + row for row in range(50)
    ]
    assert len(log.read_text()) == 50


def test_quotas_of_any_bigint_among_nulls(table: Table, seed: int) -> None:
    drawn = random.Random(seed)
    rows = {
        "i": pa.array(
            [None if drawn.random() < 0.2 else drawn.randrange(2**31) for _ in range(ROWS)], pa.int64()
        ),
        "p": pa.array(
            [None if drawn.random() < 0.2 else drawn.randrange(2**31) for _ in range(ROWS)], pa.int32()
        ),
        "m": pa.array([1 + drawn.randrange(2**31 - 1) for _ in range(ROWS)], pa.int64()),
    }
    given = to_arrow(table(pa.table(rows)).select(pws.over_max_quota("i", "p", "m"), pws.max_quota("p", 7)))
    assert given[0].to_pylist() == quotas.over_max_quota(rows["i"], rows["p"], rows["m"]).to_pylist()
    assert given[1].to_pylist() == quotas.max_quota(rows["p"], 7).to_pylist()


@pytest.mark.parametrize("key", [2**53 - 1, 1 - 2**53, 0, 2**53, 2**53 + 1, -(2**53), 2**63 - 1, -(2**63)])
def test_sql_gives_a_bigint_among_nulls_or_refuses_it(spark: SparkSession, table: Table, key: int) -> None:
    pws.register(spark)
    # All in one batch.
    table(pa.table({"key": pa.array([key, None, 7])})).coalesce(1).createOrReplaceTempView("numbers")
    query = "SELECT kafka_partition(key, 999, 'java', 'java:long') FROM numbers"
    if HAS_ARROW_UDF or abs(key) < 2**53:
        expected = pw.partition_for_key([key, None, 7], 999, key_type="java:long").to_pylist()
        assert [row[0] for row in spark.sql(query).collect()] == expected
    else:
        with pytest.raises(PythonException) as refused:
            spark.sql(query).collect()
        assert pws.first_sentence(refused.value) == (
            f"kafka_partition: PySpark {pyspark.__version__[:3]} hands numbers with NULLs over as floats, of which "
            f"{float(key)} may stand for another number: leave the NULLs out with WHERE, or use the column of "
            "partwright.spark instead of SQL"
        )
    # Without nulls they stay whole numbers in every version.
    there = spark.sql(f"{query} WHERE key IS NOT NULL").collect()
    assert [row[0] for row in there] == pw.partition_for_key([key, 7], 999, key_type="java:long").to_pylist()


@pytest.mark.skipif(HAS_ARROW_UDF, reason="an Arrow UDF gets the zone")
@pytest.mark.parametrize("kind", ["timestamp", "timestamp_ntz"])
def test_sql_refuses_timestamps_where_it_gets_them_without_their_zone(spark: SparkSession, kind: str) -> None:
    pws.register(spark)
    query = f"SELECT kafka_partition({kind}'2024-01-31 12:00:00', 9, 'java', 'iso-timestamp')"
    with pytest.raises(PythonException) as refused:
        spark.sql(query).collect()
    assert pws.first_sentence(refused.value) == (
        f"kafka_partition: PySpark {pyspark.__version__[:3]} hands timestamps over without their zone: use the column "
        "of partwright.spark instead of SQL"
    )


@pytest.mark.skipif(HAS_ARROW_UDF, reason="an Arrow UDF tells NULL from NaN")
@pytest.mark.parametrize("kind", ["float", "double"])
def test_sql_refuses_floats_among_nulls_where_it_cannot_tell_them_from_nan(
    spark: SparkSession, kind: str
) -> None:
    pws.register(spark)
    for values in ([1.5, None], [0.1, math.nan], [math.nan], [None]):
        rows = spark.createDataFrame([(value,) for value in values], f"x {kind}").coalesce(1)
        called = sf.call_function("kafka_partition", "x", sf.lit(9), sf.lit("java"), sf.lit(f"java:{kind}"))
        with pytest.raises(PythonException) as refused:
            rows.select(called).collect()
        assert pws.first_sentence(refused.value)


def test_a_table_keeps_its_other_columns_whatever_they_are(spark: SparkSession) -> None:
    df = spark.range(20, numPartitions=2).select(
        sf.expr("concat('key ', id)").alias("key"),
        sf.expr("timestamp_micros(id)").alias("at"),
        sf.expr("CAST(id AS decimal(38, 5))").alias("amount"),
        sf.expr("map(concat('m', id), array(named_struct('a.b', id, 'c', CAST(NULL AS date))))").alias(
            "nested"
        ),
        sf.expr("make_dt_interval(id)").alias("gap"),
        sf.expr("CAST(NULL AS int)").alias("partition"),
    )
    given = pws.with_partition(
        df, pws.Workload(key="key", partition="partition"), 5, pws.ProducerConfig("round-robin")
    )
    assert given.columns == df.columns
    rest = "CAST(struct(key, at, amount, nested, gap) AS string)"
    assert [row[0] for row in given.selectExpr(rest).collect()] == [
        row[0] for row in df.selectExpr(rest).collect()
    ]
    assert [row[0] for row in given.select("partition").collect()] == [*range(5)] * 4


def test_a_table_comes_to_the_driver_as_it_is(spark: SparkSession, configured: Configured) -> None:
    df = spark.range(7, numPartitions=3).selectExpr(
        "id",
        "CAST(IF(id % 2 = 0, NULL, 9007199254740993 + id) AS bigint) AS large",
        "id % 2 = 0 AS flag",
        "CAST(id AS decimal(20, 2)) AS amount",
        "date '0001-01-01' AS day",
        "timestamp '2026-11-24 01:02:03 UTC' AS at",
        "array(struct(id AS a)) AS nested",
    )
    with configured({"spark.sql.session.timeZone": "Asia/Kolkata"}):
        rows = to_arrow(df.orderBy(sf.desc("id")))
        none = to_arrow(df.where("id < 0"))
    assert rows["id"].to_pylist() == [*range(6, -1, -1)]
    assert rows.slice(5).to_pylist() == [
        {
            "id": each,
            "large": 9007199254740994 if each else None,
            "flag": not each,
            "amount": Decimal(each),
            "day": date(1, 1, 1),
            "at": datetime(2026, 11, 24, 1, 2, 3, tzinfo=UTC),
            "nested": [{"a": each}],
        }
        for each in (1, 0)
    ]
    assert (none.num_rows, none.column_names, none["large"].type) == (0, df.columns, pa.int64())
