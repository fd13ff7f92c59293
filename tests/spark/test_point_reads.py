"""A point read through Spark finds a real producer's record in one partition of twelve, a twelfth of the topic."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer

from partwright import spark as pws
from partwright.kafka import EmbeddedKafka, topics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.broker

DOCUMENT = Path(__file__).parents[2] / "docs" / "point-reads.md"
N = 12
RECORDS, KEYS = 12_000, 3_000


@pytest.fixture(scope="module")
def servers() -> Iterator[str]:
    """A topic that librdkafka wrote by the Java producer's rule, and one that it wrote by its own."""
    with EmbeddedKafka() as kafka:
        for topic, partitioner in [("orders", "murmur2_random"), ("own", "consistent_random")]:
            topics.create_topic(kafka.bootstrap_servers, topic, N)
            write(kafka.bootstrap_servers, topic, partitioner)
        yield kafka.bootstrap_servers


def write(servers: str, topic: str, partitioner: str) -> None:
    producer = Producer({"bootstrap.servers": servers, "partitioner": partitioner})
    for record in range(RECORDS):
        producer.produce(topic, b"order %d" % record, key=b"user-%d" % (record % KEYS))
    assert producer.flush() == 0


@pytest.fixture
def read(spark: SparkSession, servers: str) -> Callable[..., DataFrame]:
    def load(**options: str) -> DataFrame:
        return spark.read.format("kafka").options(**{"kafka.bootstrap.servers": servers} | options).load()

    return load


@pytest.mark.parametrize(("topic", "client"), [("orders", "java"), ("own", "librdkafka")])
def test_one_key_is_found_in_one_partition_of_twelve(
    read: Callable[..., DataFrame], topic: str, client: str
) -> None:
    whole = read(subscribe=topic)
    one = read(assign=pws.assign_json(topic, "user-17", N, client))
    wanted = sorted(b"order %d" % record for record in range(17, RECORDS, KEYS))
    for table in (whole, one):
        found = table.where("key = CAST('user-17' AS BINARY)").select("value").collect()
        assert sorted(bytes(row.value) for row in found) == wanted
    records, all_records = one.count(), whole.count()
    assert all_records == RECORDS
    assert 0.8 / N < records / all_records < 1.2 / N
    assert one.select("partition").distinct().count() == 1
    if client == "java":
        told = f"Spark reads {records:,} of the {all_records:,} records, {records / all_records:.1%}."
        assert told in DOCUMENT.read_text(encoding="utf-8")


def test_some_keys_are_found_and_no_partition_is_read_twice(read: Callable[..., DataFrame]) -> None:
    keys = [f"user-{number}" for number in (17, 18, 19, 17)]
    few = read(assign=pws.assign_json("orders", keys, N))
    found = few.selectExpr("CAST(key AS STRING) AS key").where(f"key IN {tuple(keys)}").groupBy("key").count()
    assert dict(found.collect()) == dict.fromkeys(keys, RECORDS // KEYS)
    assert few.select("partition").distinct().count() <= 3


def test_by_another_clients_rule_it_is_not_found(read: Callable[..., DataFrame]) -> None:
    """It matters by whose rule the topic was written: here the two rules differ."""
    assert pws.assign_json("own", "user-17", N) != pws.assign_json("own", "user-17", N, "librdkafka")
    assert (
        read(assign=pws.assign_json("own", "user-17", N)).where("key = CAST('user-17' AS BINARY)").count()
        == 0
    )
