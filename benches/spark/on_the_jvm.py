"""Ways to a column of partitions that never leave the JVM, next to ours: the cost of each, and what Spark refuses.

`python benches/spark/on_the_jvm.py [--rows N] [--repeats N] [--json FILE]`: three cached tables, of 12-byte keys, of
bigints under `java:long`, and of keys that repeat. Each way's partitions are compared with those of Kafka's own client.
"""

from __future__ import annotations

import functools
import random
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import lab
from pyspark.errors import PySparkException
from pyspark.sql import functions as sf

import partwright.spark as pws

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pyspark.sql import Column, DataFrame, SparkSession

    Ways: TypeAlias = Mapping[str, DataFrame]

MURMUR2 = "org.apache.commons.codec.digest.MurmurHash2"
"""commons-codec is among Spark's own jars; its MurmurHash2 has Kafka's seed by default."""
KAFKA_UTILS = "org.apache.kafka.common.utils.Utils"
M, SEED, POSITIVE, WORD = 0x5BD1E995, 0x9747B28C, 0x7FFFFFFF, 0xFFFFFFFF
KEY_BYTES = 12
NOTHING = "nothing computed"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write the runs."""
    options = lab.parser(
        __doc__, "spark_jvm.json", rows=(lab.ROWS, "keys in each table"), repeats=(9, "rounds")
    ).parse_args(arguments)
    spark = lab.start(options.json.with_suffix(".log"))
    report: dict[str, object] = {"rows": options.rows, "settings": lab.settings(spark)}
    try:
        report["refused"] = dict(_refusals(spark))
        _check_difficult(spark)
        with tempfile.TemporaryDirectory() as folder:
            for make in (_bytes, _numbers, _repeated):
                ways = make(spark, Path(folder), options.rows)
                for title, way in ways.items():
                    if title != NOTHING:
                        lab.compare(way, title)
                runs = lab.rounds(
                    {title: functools.partial(lab.drop, _shown(way)) for title, way in ways.items()},
                    options.repeats,
                )
                report[make.__name__.removeprefix("_")] = runs
                lab.print_rounds(options.rows, {title: title for title in ways}, runs)
                spark.catalog.clearCache()
    finally:
        spark.stop()
    for what, sentence in report["refused"].items():
        print(f"\nrefused: {what}\n  {sentence}")
    lab.write(report, options.json)
    return 0


def _shown(way: DataFrame) -> DataFrame:
    return way.drop("expected")


def _check_difficult(spark: SparkSession) -> None:
    """The tables below have no null, empty, non-ASCII or non-text keys: fails if such keys go elsewhere."""
    drawn = random.Random(lab.N)  # noqa: S311 - keys, no secrets
    keys = [None, b"", "\N{SNOWMAN} é".encode(), *(drawn.randbytes(length % 40) for length in range(2_000))]
    made = spark.createDataFrame([(key,) for key in keys], "key binary")
    table = lab.cached(made.repartition(lab.TABLE_PARTITIONS))
    key = sf.col("key")
    for title, found in {
        "StaticInvoke of kafka-clients": _kafka_clients(spark, key),
        "StaticInvoke of commons-codec": _commons_codec(spark, key),
    }.items():
        lab.compare(table.withColumn("found", found), title)
    # A Java String replaces bytes that are not UTF-8.
    texts = table.where(sf.is_valid_utf8(key.cast("string")) | key.isNull())
    lab.compare(texts.withColumn("found", _by_reflection(key.cast("string"))), "java_method of commons-codec")


def _kafka_clients(spark: SparkSession, key: Column) -> Column:
    return lab.static_call(spark, lab.PARTITIONER, "partitionForKey", key, sf.lit(lab.N))


def _commons_codec(spark: SparkSession, key: Column) -> Column:
    return _placed(lab.static_call(spark, MURMUR2, "hash32", key, sf.length(key)))


def _by_reflection(text: Column) -> Column:
    """Null where the text is null, which commons-codec does not take."""
    return sf.when(
        text.isNotNull(), _placed(sf.java_method(sf.lit(MURMUR2), sf.lit("hash32"), text).cast("int"))
    )


def _bytes(spark: SparkSession, folder: Path, rows: int) -> Ways:
    file = lab.write_keys(folder, rows)
    table = lab.cached(spark.read.parquet(str(file)).repartition(lab.TABLE_PARTITIONS))
    key, text = sf.col("key"), sf.col("key").cast("string")
    columns = {
        "partwright.spark.partition_for_key": pws.partition_for_key("key", lab.N),
        "the same once more": pws.partition_for_key("key", lab.N),
        "Java UDF over kafka-clients": lab.java_udf("key"),
        "StaticInvoke of kafka-clients": _kafka_clients(spark, key),
        "StaticInvoke of commons-codec": _commons_codec(spark, key),
        "java_method of commons-codec": _by_reflection(text),
        f"SQL, unrolled for {KEY_BYTES} bytes, by ascii": _unrolled(
            [_ascii_word(text, start) for start in range(1, KEY_BYTES, 4)]
        ),
        f"SQL, unrolled for {KEY_BYTES} bytes, by conv": _unrolled(
            [_conv_word(key, start) for start in range(1, KEY_BYTES, 4)]
        ),
    }
    return _beside(table, columns)


def _numbers(spark: SparkSession, folder: Path, rows: int) -> Ways:
    file = lab.write_keys(folder, rows, "long", "int64")
    made = spark.read.parquet(str(file)).repartition(lab.TABLE_PARTITIONS)
    # The eight bytes that Kafka's LongSerializer writes, with Spark's own functions.
    table = lab.cached(made, sf.unhex(sf.lpad(sf.hex("key"), 16, "0")))
    key = sf.col("key")
    columns = {
        "partwright.spark.partition_for_key": pws.partition_for_key("key", lab.N, key_type="java:long"),
        "the same once more": pws.partition_for_key("key", lab.N, key_type="java:long"),
        "SQL": _unrolled([_turned(sf.shiftrightunsigned(key, 32)), _turned(key.bitwiseAND(WORD))]),
    }
    return _beside(table, columns)


def _repeated(spark: SparkSession, folder: Path, rows: int) -> Ways:
    file = lab.write_keys(folder, rows, "tail_numbers")
    table = lab.cached(spark.read.parquet(str(file)).repartition(lab.TABLE_PARTITIONS))
    distinct = table.select("key").distinct()
    placed = distinct.select("key", pws.partition_for_key("key", lab.N).alias("found"))
    columns = {
        "partwright.spark.partition_for_key": pws.partition_for_key("key", lab.N),
        "the same once more": pws.partition_for_key("key", lab.N),
        "Java UDF over kafka-clients": lab.java_udf("key"),
    }
    joined = {"different keys alone, then a broadcast join": table.join(sf.broadcast(placed), "key")}
    return {**_beside(table, columns), **joined}


def _beside(table: DataFrame, columns: Mapping[str, Column]) -> Ways:
    ways = {title: table.withColumn("found", column) for title, column in columns.items()}
    return {**ways, NOTHING: table}


def _refusals(spark: SparkSession) -> Iterator[tuple[str, str]]:
    """Spark's answer to Kafka's own classes in `java_method`, which takes neither bytes nor arrays."""
    tries = {
        f"java_method of {lab.PARTITIONER}.partitionForKey": (
            lab.PARTITIONER, "partitionForKey", sf.lit(b"21"), sf.lit(lab.N)
        ),
        f"java_method of {KAFKA_UTILS}.murmur2 on binary": (KAFKA_UTILS, "murmur2", sf.lit(b"21")),
        f"java_method of {KAFKA_UTILS}.murmur2 on a string": (KAFKA_UTILS, "murmur2", sf.lit("21")),
    }  # fmt: skip
    for what, (java_class, method, *given) in tries.items():
        try:
            spark.range(1).select(sf.java_method(sf.lit(java_class), sf.lit(method), *given)).collect()
        except PySparkException as refused:
            yield what, str(refused).partition(";")[0]
        else:
            raise SystemExit(f"{what} is not refused any more: take it into the bench")


def _placed(murmur2: Column) -> Column:
    return murmur2.bitwiseAND(POSITIVE) % lab.N


def _unrolled(words: Sequence[Column]) -> Column:
    """Kafka's murmur2 and the modulo over whole words, in bigints that never overflow: M has 31 bits, a word 32."""
    h = sf.lit(SEED ^ (4 * len(words)))
    for word in words:
        k = _times_m(word)
        k = _times_m(k.bitwiseXOR(sf.shiftright(k, 24)))
        h = _times_m(h).bitwiseXOR(k)
    h = _times_m(h.bitwiseXOR(sf.shiftright(h, 13)))
    h = h.bitwiseXOR(sf.shiftright(h, 15))
    return (h.bitwiseAND(POSITIVE) % lab.N).cast("int")


def _times_m(word: Column) -> Column:
    return (word * sf.lit(M).cast("bigint")).bitwiseAND(sf.lit(WORD))


def _turned(word: Column) -> Column:
    """A word's four bytes in the other order."""
    return (
        sf.shiftleft(word.bitwiseAND(0xFF), 24)
        .bitwiseOR(sf.shiftleft(word.bitwiseAND(0xFF00), 8))
        .bitwiseOR(sf.shiftright(word, 8).bitwiseAND(0xFF00))
        .bitwiseOR(sf.shiftright(word, 24))
    )


def _ascii_word(text: Column, start: int) -> Column:
    """Four characters of ASCII as a little-endian word."""
    codes = [sf.ascii(sf.substring(text, start + place, 1)).cast("bigint") for place in range(4)]
    return functools.reduce(
        lambda word, code: word.bitwiseOR(code),
        [sf.shiftleft(code, 8 * place) for place, code in enumerate(codes)],
    )


def _conv_word(key: Column, start: int) -> Column:
    """Four bytes of any kind, by way of their hexadecimal digits."""
    return _turned(sf.conv(sf.hex(sf.substring(key, start, 4)), 16, 10).cast("bigint"))


if __name__ == "__main__":
    sys.exit(main())
