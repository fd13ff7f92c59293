"""A topic as a table: each task reads one partition; for the records of some keys, only their partitions are read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from operator import index
from typing import SupportsIndex, cast

from pyspark.errors import AnalysisException
from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from partwright._check import counted, options
from partwright.errors import PartwrightError
from partwright.kafka.bounds import TopicPart
from partwright.kafka.connection import KafkaConfig, KafkaConfigLike, configured
from partwright.kafka.point_reads import assign_json
from partwright.kafka.records import extent
from partwright.kafka.topics import check_topic_name
from partwright.keys.hashing import Column, Key, encode, partition_for_key
from partwright.spark.connector import no_connector, spark_options, windows_read
from partwright.spark.executors.replies import is_classic

# This key type shortens the record's key only for the hash.
_OF_THE_HASH = "confluent:strip-id"
_NO_SOURCE = "Failed to find"


def read_topic(
    spark: SparkSession,
    topic: str,
    kafka_config: KafkaConfigLike = None,
    *,
    keys: Key | Column | None = None,
    n: SupportsIndex | Iterable[SupportsIndex] | None = None,
    client: str | None = None,
    key_type: str | None = None,
    part: TopicPart | None = None,
) -> DataFrame:
    """Read a topic's records as a table: each task reads one partition, in the order of its offsets.

    Kafka is asked now where each partition begins and ends, by confluent-kafka from this process, also in Spark
    Connect. So each action on the table reads the same records, and never later ones. A partition without records to
    read has no task, so a task's number may differ from its partition's: use the column `partition`.

    Python cannot tell Spark that a table is already laid out by partition, so a join or a group by `partition` shuffles
    the table once.

    Args:
        spark: The session, with Spark's Kafka connector: `partwright.spark.session(kafka=True)`.
        topic: The topic.
        kafka_config: The client configuration, also for Spark's executors: `host:port`, a dict of settings by Kafka's
            or by librdkafka's names, or the path of a properties file.
        keys: Read only the records of these keys, one key or a column of them, and only the partitions that they are
            in.
        n: With `keys`, the topic's number of partitions when the records were written, or several such numbers, whose
            partitions are all read; by default its present number. If the topic got more partitions, a key's old
            records are where the old number put them.
        client: With `keys`, the client profile that wrote the records; `java` by default.
        key_type: With `keys`, how a value becomes key bytes; see `partwright.encode`.
        part: Which part of the topic is read, by time, offsets or partitions, and whether with headers.

    Returns:
        The columns of Spark's Kafka source: `key` and `value` (binary), `topic`, `partition` (int), `offset` (bigint),
        `timestamp`, `timestampType` (int) and perhaps `headers` (`array<struct<key: string, value: binary>>`, with
        U+FFFD for each part of a name that is not UTF-8). A job fails if records are gone by the time it reads them.

    Raises:
        MissingExtraError: confluent-kafka is missing.
        BrokerError: No Kafka answers, the topic does not exist, or it may not be seen.
        PartwrightError: The session has no Kafka connector, or is stopped; the client or key type is unknown; a key has
            no partition of its own; the topic does not have a partition, an offset or an `n`; bounds are not understood
            or contradict each other.

    Examples:
        >>> one = read_topic(spark, "flights", "127.0.0.1:9092", keys="N14228")  # doctest: +SKIP
        >>> one.select("partition").distinct().collect()  # doctest: +SKIP
        [Row(partition=8)]
    """
    is_classic(spark)
    check_topic_name(topic)
    for_keys = {"client": client, "key_type": key_type, "n": n}
    alone = next((name for name, value in for_keys.items() if value is not None), None)
    if keys is None and alone is not None:
        raise PartwrightError(f"{alone} is for the records of some keys: name them with keys")
    part = options(part, TopicPart, "part")
    if keys is not None and part.only_partitions is not None:
        raise PartwrightError("keys say which partitions are read: leave out only_partitions, or keys")
    config = configured(kafka_config)
    topic_extent = extent(config, topic, part.bounds())
    windows = topic_extent.windows
    if keys is None:
        return _load(spark, config, topic, windows, headers=part.headers)
    numbers = _numbers(n, len(topic_extent.end), topic)
    placed = _partitions_of(topic, keys, numbers, client or "java", key_type)
    table = _load(spark, config, topic, {each: windows[each] for each in placed}, headers=part.headers)
    return table.where(_is_one_of(keys, key_type))


def _load(
    spark: SparkSession,
    config: KafkaConfig,
    topic: str,
    windows: Mapping[int, tuple[int, int]],
    *,
    headers: bool,
) -> DataFrame:
    """The table of these partitions, each from one offset to another."""
    options = {
        **spark_options(config, reading=True),
        **windows_read(topic, windows),
        "includeHeaders": str(headers).lower(),
    }
    try:
        table = spark.read.format("kafka").options(**options).load()
        # Spark Connect asks its server only now.
        _ = table.schema
    except AnalysisException as error:
        if _NO_SOURCE in str(error):
            raise no_connector(spark) from None
        raise
    return table


def _numbers(
    n: SupportsIndex | Iterable[SupportsIndex] | None, partition_count: int, topic: str
) -> list[int]:
    """The numbers of partitions under which the keys were placed."""
    if n is None:
        return [partition_count]
    numbers = list(n) if isinstance(n, Iterable) else [n]
    if not numbers:
        raise PartwrightError("n is empty: say how many partitions the topic had, or leave n out")
    for each in numbers:
        partition_for_key(None, each)
        if index(each) > partition_count:
            raise PartwrightError(
                f"n is {index(each)}, and the topic {topic!r} has {counted(partition_count, 'partition')}: "
                "a topic never gets fewer",
                value=index(each),
            )
    return [index(each) for each in numbers]


def _partitions_of(
    topic: str, keys: Key | Column, numbers: Iterable[int], client: str, key_type: str | None
) -> list[int]:
    """The partitions of the keys under any of these numbers of partitions."""
    partitions: set[int] = set()
    for each in numbers:
        partitions.update(json.loads(assign_json(topic, keys, each, client, key_type))[topic])
    return sorted(partitions)


def _is_one_of(keys: Key | Column, key_type: str | None) -> SparkColumn:
    """Whether a record's key is one of these, by its bytes."""
    wire = encode(cast("Column", keys), None if key_type == _OF_THE_HASH else key_type)
    # For a single key, only its bytes.
    values: list[bytes | None] = (
        wire.to_pylist() if hasattr(wire, "to_pylist") else [cast("bytes | None", wire)]
    )
    # Literals within one expression, because each Column would cost a call to Spark.
    literals = sorted({f"X'{value.hex()}'" for value in values if value is not None})
    conditions = [f"key IN ({', '.join(literals)})"] if literals else []
    if None in values:
        conditions.append("key IS NULL")
    return sf.expr(" OR ".join(conditions))
