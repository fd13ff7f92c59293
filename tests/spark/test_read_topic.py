"""A live topic as a table: each task reads one partition in order, and gets a consumer's records; point reads."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from contextlib import redirect_stdout
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewPartitions
from pyspark.sql import functions as sf

import partwright as pw
from partwright import spark as pws
from partwright.kafka import EmbeddedKafka, topics
from partwright.kafka.bounds import Bounds, read_partitions
from partwright.kafka.jars import SparkBuild, connector_set
from partwright.kafka.records import TopicRecords
from partwright.spark.requirements import pyspark_version

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.broker

N, RECORDS, KEYS = 12, 600, 5
# Before PySpark 4.1 `copartition` needs it to be off.
ALL_KEYS = "spark.sql.requireAllClusterKeysForCoPartition"
AT_MS = 1_767_225_600_000
AT = datetime.fromtimestamp(AT_MS / 1000, UTC)
TABLE = ["key", "value", "topic", "partition", "offset", "timestamp", "timestampType"]


def write(
    servers: str, topic: str, keys: list[bytes | None], partitioner: str = "murmur2_random", **more: Any
) -> None:
    """A record for each key, a second apart, some without a value."""
    producer = Producer({"bootstrap.servers": servers, "partitioner": partitioner, **more})
    for row, key in enumerate(keys):
        value = None if row % 10 == 9 else b"value %d" % row
        at = AT_MS + 1000 * row
        producer.produce(topic, value, key=key, timestamp=at, headers=[("row", b"%d" % row)])
    assert producer.flush() == 0


@pytest.fixture(scope="module")
def orders(broker: EmbeddedKafka) -> str:
    """A topic of twelve partitions, most of which are empty, by the Java producer's rule."""
    topics.create_topic(broker.bootstrap_servers, "read-orders", N)
    write(broker.bootstrap_servers, "read-orders", [b"user-%d" % (row % KEYS) for row in range(RECORDS)])
    return "read-orders"


@pytest.fixture
def read(spark: SparkSession, broker: EmbeddedKafka) -> Callable[..., DataFrame]:
    def table(topic: str, **arguments: Any) -> DataFrame:
        part = {
            each.name: arguments.pop(each.name) for each in fields(pws.TopicPart) if each.name in arguments
        }
        arguments |= {"part": pws.TopicPart(**part)} if part else {}
        return pws.read_topic(spark, topic, broker.bootstrap_servers, **arguments)

    return table


def as_consumed(broker: EmbeddedKafka, topic: str, bounds: Bounds) -> list[tuple[Any, ...]]:
    """The records that librdkafka reads."""
    found: list[tuple[Any, ...]] = []
    for chunk in TopicRecords(broker.bootstrap_servers, topic, bounds=bounds).batches():
        columns = (chunk.partitions, chunk.offsets, chunk.keys, chunk.timestamps)
        found.extend(zip(*(column.to_pylist() for column in columns), strict=True))
    return sorted(found)


def as_read(df: DataFrame) -> list[tuple[Any, ...]]:
    rows = df.select("partition", "offset", "key", sf.unix_millis("timestamp")).collect()
    return sorted((row[0], row[1], row[2] if row[2] is None else bytes(row[2]), row[3]) for row in rows)


@pytest.mark.parametrize("adaptive", ["true", "false"])
def test_each_task_reads_one_partition_in_the_order_of_its_offsets(
    read: Callable[..., DataFrame], orders: str, configured: Callable[..., Any], adaptive: str
) -> None:
    df = read(orders)
    assert df.columns == TABLE
    with configured({"spark.sql.adaptive.enabled": adaptive, "spark.sql.files.maxPartitionBytes": 1024}):
        rows = df.select(sf.spark_partition_id().alias("task"), "partition", "offset").collect()
    assert len(rows) == RECORDS
    tasks: dict[int, list[tuple[int, int]]] = {}
    for row in rows:
        tasks.setdefault(row.task, []).append((row.partition, row.offset))
    of_tasks = [{partition for partition, _ in places} for places in tasks.values()]
    assert all(len(partitions) == 1 for partitions in of_tasks)
    # No partition is in two tasks.
    assert len(set.union(*of_tasks)) == len(tasks)
    for places in tasks.values():
        assert all(after == before + 1 for (_, before), (_, after) in pairwise(places))


def test_what_comes_later_is_in_no_action(read: Callable[..., DataFrame], broker: EmbeddedKafka) -> None:
    topics.create_topic(broker.bootstrap_servers, "read-later", 3)
    empty = read("read-later")
    write(broker.bootstrap_servers, "read-later", [b"a", None, b"b"])
    df = read("read-later")
    write(broker.bootstrap_servers, "read-later", [b"c"] * 5)
    assert (empty.count(), df.count(), df.count(), read("read-later").count()) == (0, 3, 3, 8)


@pytest.mark.parametrize(
    ("given", "bounds"),
    [
        ({}, Bounds()),
        ({"since": AT_MS + 300_500}, Bounds(since=AT_MS + 300_500)),
        ({"since": AT + timedelta(seconds=300)}, Bounds(since=AT_MS + 300_000)),
        (
            {"since": "2026-01-01T00:02:00Z", "until": "2026-01-01 00:03:00"},
            Bounds(since=AT_MS + 120_000, until=AT_MS + 180_000),
        ),
        ({"last": 7}, Bounds(last=7)),
        ({"last": 7, "until": AT_MS + 100_000}, Bounds(last=7, until=AT_MS + 100_000)),
        ({"only_partitions": "5, 7-9"}, Bounds(partitions=read_partitions("5,7-9"))),
        ({"only_partitions": [5, 7]}, Bounds(partitions=read_partitions("5,7"))),
        ({"only_partitions": 7}, Bounds(partitions=read_partitions("7"))),
        ({"since": {7: 100, 8: 0}, "until": {8: 3}}, Bounds(since={7: 100, 8: 0}, until={8: 3})),
    ],
)
def test_bounds_give_the_records_that_a_consumer_reads(
    read: Callable[..., DataFrame], orders: str, broker: EmbeddedKafka, given: dict[str, Any], bounds: Bounds
) -> None:
    expected = as_consumed(broker, orders, bounds)
    assert 0 < len(expected) <= RECORDS
    assert as_read(read(orders, **given)) == expected


def test_offsets_are_where_a_reading_begins_and_ends(read: Callable[..., DataFrame], orders: str) -> None:
    whole = as_read(read(orders))
    part = as_read(read(orders, since={7: 100}, until={7: 103, 11: 2}))
    assert part == [
        row for row in whole if (row[0] != 7 or 100 <= row[1] < 103) and (row[0] != 11 or row[1] < 2)
    ]
    assert (
        as_read(read(orders, since={7: len([row for row in whole if row[0] == 7])}, only_partitions=7)) == []
    )


def test_headers_and_values_are_those_that_were_written(read: Callable[..., DataFrame], orders: str) -> None:
    df = read(orders, headers=True)
    assert df.columns == [*TABLE, "headers"]
    for row in df.collect():
        ((name, number),) = row.headers
        assert (name, row.topic, row.timestampType) == ("row", orders, 0)
        assert row.value == (None if int(number) % 10 == 9 else b"value " + number)


def partitions_read(df: DataFrame, topic: str) -> set[int]:
    """The partitions that its plan assigns."""
    text = io.StringIO()
    with redirect_stdout(text):
        df.explain("extended")
    (assigned,) = set(re.findall(r"strategy=Assign\[(.+?)\]", text.getvalue()))
    return {int(name.removeprefix(f"{topic}-")) for name in assigned.split(", ")}


def test_of_some_keys_their_partitions_alone_are_read(
    read: Callable[..., DataFrame], orders: str, broker: EmbeddedKafka
) -> None:
    whole = as_consumed(broker, orders, Bounds())
    for keys in ("user-3", b"user-3", ["user-3", "user-1", "user-3", "nobody"]):
        wanted = {
            each if isinstance(each, bytes) else each.encode()
            for each in (keys if isinstance(keys, list) else [keys])
        }
        df = read(orders, keys=keys)
        assert partitions_read(df, orders) == {pw.partition_for_key(key, N) for key in wanted}
        assert as_read(df) == [row for row in whole if row[2] in wanted]
    assert read(orders, keys="user-3", last=10, until=AT_MS + 400_000).count() == 10
    # Many keys become one expression.
    assert read(orders, keys=[f"user-{number}" for number in range(10_000)]).count() == RECORDS


def test_keys_are_found_by_the_rule_and_the_bytes_of_their_writer(
    read: Callable[..., DataFrame], broker: EmbeddedKafka
) -> None:
    topics.create_topic(broker.bootstrap_servers, "read-numbers", N)
    keys: list[bytes | None] = [number.to_bytes(8, "big") for number in range(40)]
    write(broker.bootstrap_servers, "read-numbers", [*keys, None], "consistent")
    found = read("read-numbers", keys=[17, 39], client="librdkafka", key_type="java:long").collect()
    assert {bytes(row.key) for row in found} == {keys[17], keys[39]}
    # A client that hashes null keys puts them where it puts empty ones.
    (none,) = read(
        "read-numbers", keys=[None], client="librdkafka:consistent", key_type="java:long"
    ).collect()
    assert (none.key, none.value) == (None, b"value 40")


def test_of_a_topic_that_grew_each_number_finds_its_records(
    read: Callable[..., DataFrame], broker: EmbeddedKafka
) -> None:
    servers = broker.bootstrap_servers
    topics.create_topic(servers, "read-grown", 3)
    keys = [f"user-{number}" for number in range(20)]
    written: list[bytes | None] = [key.encode() for key in keys]
    write(servers, "read-grown", written)
    admin = AdminClient({"bootstrap.servers": servers})
    admin.create_partitions([NewPartitions("read-grown", 9)])["read-grown"].result(30)
    write(servers, "read-grown", written)
    moved = next(key for key in keys if pw.partition_for_key(key, 3) != pw.partition_for_key(key, 9))
    assert read("read-grown", keys=moved).count() == 1
    assert read("read-grown", keys=moved, n=3).count() == 1
    both = read("read-grown", keys=moved, n=[3, 9])
    assert partitions_read(both, "read-grown") == {pw.partition_for_key(moved, n) for n in (3, 9)}
    assert both.count() == 2


def test_audits_take_it_as_it_is(read: Callable[..., DataFrame], orders: str) -> None:
    df = read(orders)
    found = pws.check(df, "key", N, partition="partition")
    assert (found.ok, found.misplaced, found.rows) == (True, 0, RECORDS)
    assert "java" in pws.fingerprint(df, "key", n=N, timestamp="timestamp", offset="offset").family
    assert pws.check_copartition(df, df, "key", partition="partition").ok


def test_it_meets_another_table(
    read: Callable[..., DataFrame],
    orders: str,
    spark: SparkSession,
    plan: Callable[[DataFrame], str],
    configured: Callable[..., Any],
) -> None:
    """By its own column, or by the rule again: the same rows as in a plain join, and one shuffle for each table."""
    users = spark.createDataFrame(
        [(b"user-%d" % number, number) for number in range(9)], "key binary, age int"
    )
    df = read(orders)
    without_shuffles = {"spark.sql.autoBroadcastJoinThreshold": -1, ALL_KEYS: "false"}
    with configured(without_shuffles):
        plain = sorted(df.join(users, "key").select("offset", "age").collect())
        assert len(plain) == RECORDS
        with pytest.raises(
            pw.PartwrightError, match=r"^the table has a column 'partition' already: rename it"
        ):
            pws.copartition(df, users, "key", N)
        a, b = pws.copartition(df.drop("partition"), users, "key", N)
        joined = a.join(b, [*pws.LAYOUT_COLUMNS, "key"])
        assert sorted(joined.select("offset", "age").collect()) == plain
        if pyspark_version() >= (4, 1):
            placed = pws.with_partition(users, "key", N).repartitionById(N, "partition")
            joined = df.repartitionById(N, "partition").join(placed, ["partition", "key"])
            assert sorted(joined.select("offset", "age").collect()) == plain
            assert plan(joined).count("Exchange") == 2


def test_a_secured_kafka_is_read_and_no_plan_shows_its_password(spark: SparkSession, tmp_path: Path) -> None:
    with EmbeddedKafka(security="SASL_SSL", parent=tmp_path) as kafka:
        topics.create_topic(kafka.internal_bootstrap_servers, "read-secured", 2)
        write(kafka.internal_bootstrap_servers, "read-secured", [b"a", b"b", None])
        spoken = {form: kafka.client_properties(form=form) for form in ("librdkafka", "java")}
        password = spoken["librdkafka"]["sasl.password"]
        assert password in spoken["java"]["sasl.jaas.config"]
        for settings in spoken.values():
            df = pws.read_topic(spark, "read-secured", settings)
            assert df.count() == 3
            keyed = pws.read_topic(spark, "read-secured", kafka_config=settings, keys="a")
            shown = io.StringIO()
            with redirect_stdout(shown):
                for each in (df, keyed, keyed.groupBy("partition").count()):
                    print(each, repr(each))  # noqa: T201 - the test reads the output
                    for mode in ("simple", "extended", "formatted", "cost", "codegen"):
                        each.explain(mode)
            assert keyed.count() == 1
            assert "read-secured" in shown.getvalue()
            assert password not in shown.getvalue()
        with pytest.raises(pw.PartwrightError) as refused:
            pws.read_topic(
                spark, "read-secured", kafka_config={**spoken["librdkafka"], "sasl.password": "planted"}
            )
        assert "planted" not in str(refused.value)


REFUSED = [
    ({"topic": "read-order"}, "there is no topic 'read-order' at "),
    ({"topic": "a b"}, "'a b' cannot be a topic's name"),
    (
        {"keys": "a", "only_partitions": 3},
        "keys say which partitions are read: leave out only_partitions, or keys",
    ),
    ({"client": "java"}, "client is for the records of some keys: name them with keys"),
    ({"n": 3}, "n is for the records of some keys: name them with keys"),
    ({"keys": "a", "client": "jav"}, 'there is no client "jav"; did you mean java?'),
    ({"keys": "a", "key_type": "java:lon"}, 'there is no key type "java:lon"'),
    ({"keys": []}, "there are no keys: name at least one"),
    ({"keys": [None]}, "row 0: the key null has no partition of its own by client java"),
    ({"keys": 17}, "int64 has no key bytes of its own"),
    (
        {"keys": "a", "n": 13},
        "n is 13, and the topic 'read-orders' has 12 partitions: a topic never gets fewer",
    ),
    ({"keys": "a", "n": 0}, "n, the number of partitions, must be from 1 to 2147483647, not 0"),
    ({"keys": "a", "n": []}, "n is empty: say how many partitions the topic had, or leave n out"),
    (
        {"only_partitions": 12},
        "only_partitions names 12, and the topic 'read-orders' has 12 partitions: name",
    ),
    ({"only_partitions": [-1]}, "only_partitions takes partitions such as 0,3-5, not '-1'"),
    ({"only_partitions": []}, "only_partitions takes partitions such as 0,3-5, not ''"),
    ({"last": 0}, "last is a whole number from 1 to"),
    ({"since": datetime(2026, 1, 1)}, "since is 2026-01-01T00:00:00 in no time zone"),  # noqa: DTZ001 - that is it
    ({"since": "soon"}, "since is a time, 2026-01-31T12:00:00Z or milliseconds since 1970, not 'soon'"),
    ({"since": 2, "until": 1}, "since 2 (ms since 1970) is not before until 1: nothing lies between"),
    ({"since": {}}, "since has no partition: name one with its offset, or leave it out"),
    ({"since": {12: 0}}, "since has the offset 0 of partition 12, and the topic has partitions 0 to 11"),
    ({"until": {7: 10_000}}, "until has the offset 10000 of partition 7, which holds 0 to "),
    ({"until": {7: -1}}, "the offset in until is a whole number from 0 to"),
    (
        {"since": {7: 9}, "until": {7: 8}},
        "since has the offset 9 of partition 7, and until 8, which comes before",
    ),
]


@pytest.mark.parametrize(("arguments", "sentence"), REFUSED)
def test_a_refusal_is_one_sentence(
    read: Callable[..., DataFrame], orders: str, arguments: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(pw.PartwrightError) as refused:
        read(**{"topic": orders, **arguments})
    assert str(refused.value).startswith(sentence)
    assert "\n" not in str(refused.value)


def test_the_nearest_topic_is_named(read: Callable[..., DataFrame], orders: str) -> None:
    with pytest.raises(pw.errors.BrokerError, match=rf": did you mean {orders!r}\?$"):
        read("read-order")


def test_digits_that_look_like_a_date_are_told(read: Callable[..., DataFrame], orders: str) -> None:
    with pytest.warns(UserWarning, match=r"^since 20260101 is in milliseconds: 1970-01-01T05:37:40Z"):
        read(orders, since="20260101")


SESSIONS = """
import json, sys
from pyspark.sql import SparkSession
from partwright import PartwrightError, spark as pws

def refused(spark):
    try:
        return pws.read_topic(spark, sys.argv[2], sys.argv[1]).columns
    except PartwrightError as error:
        return str(error)

spark = pws.session(master="local[1]", log_file="log")
said = [refused(spark)]
spark.stop()
print(json.dumps([*said, refused(spark), spark.version]))
"""


@pytest.mark.skipif("PARTWRIGHT_TEST_REMOTE" in os.environ, reason="it starts classic sessions")
def test_a_session_without_the_connector_and_one_that_is_stopped(
    orders: str, broker: EmbeddedKafka, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SESSIONS, broker.bootstrap_servers, orders],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        timeout=300,
    )
    without, stopped, version = json.loads(done.stdout)
    scala = "2.12" if version.startswith("3.") else "2.13"
    connector = connector_set(SparkBuild(version, scala)).removeprefix("connector-").partition("_")[0]
    assert without == (
        "this Spark session has no Kafka connector: make it with pws.session(kafka=True), or start Spark with "
        f"--packages org.apache.spark:spark-sql-kafka-0-10_{scala}:{connector}"
    )
    assert stopped == "this Spark session was stopped: make a new one"
