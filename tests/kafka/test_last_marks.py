"""The last record of a run in each partition, found from the end, and the last values of a compacted topic."""

from __future__ import annotations

import re
import secrets
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from raw_records import produce_raw

from partwright.errors import BrokerError, PartwrightError
from partwright.kafka import compacted, topics
from partwright.kafka.connection import KafkaConfig
from partwright.kafka.marks import Mark, last_marks, settled_ends
from partwright.kafka.partition_writer import PartitionWriter
from partwright.kafka.reading import UnreadableHeaderError, records
from partwright.kafka.records import TopicRecords

if TYPE_CHECKING:
    from collections.abc import Callable

    from partwright.kafka import EmbeddedKafka

pytestmark = pytest.mark.broker

RUN, OTHER = b"run  one", b"run  two"


@pytest.fixture
def config(broker: EmbeddedKafka) -> KafkaConfig:
    return KafkaConfig.read({}, servers=broker.bootstrap_servers)


@pytest.fixture
def topic(broker: EmbeddedKafka) -> Callable[[int], str]:
    def made(partitions: int) -> str:
        name = f"marks-{secrets.token_hex(4)}"
        topics.create_topic(broker.bootstrap_servers, name, partitions)
        return name

    return made


def put(
    config: KafkaConfig, topic: str, partition: int, marks: list[bytes | None], *, how: str = "plain"
) -> None:
    """Records with these marks, or without a mark; committed, aborted or outside a transaction."""
    settings: dict[str, Any] = {**config.librdkafka()}
    if how != "plain":
        settings["transactional.id"] = secrets.token_hex(4)
    producer = Producer(settings)
    if how != "plain":
        producer.init_transactions(30)
        producer.begin_transaction()
    for number, mark in enumerate(marks):
        headers: list[tuple[str, bytes | None]] = [("theirs", RUN), ("partwright", mark)]
        # There are also records without any header, and with a header of another name.
        given = headers if mark is not None else headers[: number % 2]
        producer.produce(topic, b"v", partition=partition, headers=given)  # type: ignore[arg-type]
    assert producer.flush(30) == 0
    if how != "plain":
        producer.commit_transaction(30) if how == "committed" else producer.abort_transaction(30)


def test_it_is_found_behind_whatever_came_later(config: KafkaConfig, topic: Callable[[int], str]) -> None:
    name = topic(7)
    none: list[bytes | None] = [None]
    put(config, name, 0, [RUN + b"a", RUN + b"b", OTHER + b"c"])
    # Deeper than the first spans, which end between them.
    put(config, name, 1, [RUN + b"d", *none * 33])
    put(config, name, 2, [RUN + b"e", RUN + b"f", *none * 700, OTHER])
    put(config, name, 3, none * 45)
    # Only markers at the end, and records that nobody committed.
    put(config, name, 4, [RUN + b"g"], how="committed")
    for _ in range(17):
        put(config, name, 4, [RUN + b"h"], how="aborted")
    # Before the first offset at which it could be.
    put(config, name, 5, [RUN + b"i", *none * 9])
    ends = topics.end_offsets(config, name)
    assert settled_ends(config, name, range(7), patience=10) == ends
    windows = {each: (1 if each == 5 else 0, end) for each, end in ends.items()}
    found = last_marks(config, name, windows, "partwright", RUN, committed=True)
    assert found == {0: RUN + b"b", 1: RUN + b"d", 2: RUN + b"f", 4: RUN + b"g"}
    assert last_marks(config, name, windows, "partwright", RUN)[4] == RUN + b"h"
    # Records after the requested end are not read.
    put(config, name, 0, [RUN + b"z"])
    assert last_marks(config, name, windows, "partwright", RUN)[0] == RUN + b"b"
    assert not last_marks(config, name, {}, "partwright", RUN)
    assert not last_marks(config, name, {6: (0, 0), 0: (3, 3)}, "partwright", RUN)


def test_records_whose_headers_nobody_can_read(config: KafkaConfig, topic: Callable[[int], str]) -> None:
    """Such a record is another writer's. confluent-kafka crashes at a second look at its headers."""
    name = topic(2)
    put(config, name, 0, [RUN + b"a"])
    odd = [(b"k", b"v", [(b"\xff", b"1")]), (b"k", b"v", [(b"partwright\0", OTHER), (b"\x80a", None)])]
    for partition in (0, 1):
        produce_raw(config.required_servers(), name, partition, odd)
    windows = {each: (0, end) for each, end in topics.end_offsets(config, name).items()}
    assert last_marks(config, name, windows, "partwright", RUN) == {0: RUN + b"a"}

    # Whoever needs the headers gets one sentence; whoever does not, gets the records.
    assert sum(len(each.keys) for each in TopicRecords(config, name).batches()) == 5
    with pytest.raises(UnreadableHeaderError) as refused:
        list(TopicRecords(config, name, sizes=True).batches())
    assert re.fullmatch(
        rf"the record at offset [01] of partition [01] of '{name}' has a header name that is not UTF-8, which "
        r"confluent-kafka cannot read: correct its writer, .*",
        str(refused.value),
    )


def test_where_the_beginning_was_deleted(config: KafkaConfig, topic: Callable[[int], str]) -> None:
    name = topic(3)
    put(config, name, 0, [RUN + b"a", *[None] * 60])
    put(config, name, 1, [RUN + b"b", None, RUN + b"c", *[None] * 60])
    put(config, name, 2, [RUN + b"d"] * 5)
    with AdminClient(config.librdkafka()) as admin:
        gone = [TopicPartition(name, 0, 20), TopicPartition(name, 1, 2), TopicPartition(name, 2, 5)]
        for done in admin.delete_records(gone).values():
            done.result(30)
    windows = {each: (0, end) for each, end in topics.end_offsets(config, name).items()}
    assert last_marks(config, name, windows, "partwright", RUN) == {1: RUN + b"c"}


@pytest.mark.parametrize("how", ["Spark's sink", "exactly once"])
def test_a_run_whose_place_was_deleted_does_not_go_on(
    how: str, config: KafkaConfig, topic: Callable[[int], str]
) -> None:
    """Where a record of the run is left, the last one is; otherwise nobody knows how far it came."""
    from partwright.spark.resumed_rows import rows_there

    name, mark = topic(2), Mark("partwright", b"8 bytes.")
    marks: list[bytes | None] = [*mark.values(range(10))]
    for partition in (0, 1):
        put(config, name, partition, marks, how="committed")

    def last_row(partition: int, begin: int) -> int | None:
        if how == "exactly once":
            return PartitionWriter(config, name, partition, begin, mark)._last
        begins = {0: 1_000, 1: 1_000} | {partition: begin}
        there = rows_there(config, name, begins, mark)
        return there[partition].row if there else None

    with AdminClient(config.librdkafka()) as admin:
        gone = [TopicPartition(name, 0, 9), TopicPartition(name, 1, 10)]
        for done in admin.delete_records(gone).values():
            done.result(30)
    assert last_row(0, 0) == 9
    # Only a transaction's marker is left.
    with pytest.raises(PartwrightError) as refused:
        last_row(1, 2)
    assert str(refused.value) == (
        f"Kafka has deleted 8 offsets of partition 1 of '{name}' since this run began, and the rest holds no record of "
        "it, so how far it came is not known: run without --resume, into another --topic"
    )
    # A run that began later lost nothing.
    assert last_row(1, 10) is None


def test_an_open_transaction_ends_or_is_named(config: KafkaConfig, topic: Callable[[int], str]) -> None:
    name = topic(3)
    put(config, name, 2, [None] * 5)
    other = Producer({**config.librdkafka(), "transactional.id": name})
    other.init_transactions(30)
    other.begin_transaction()
    other.produce(name, b"v", partition=2)
    assert other.flush(30) == 0
    # The other partitions are as they are.
    assert settled_ends(config, name, [0, 1], patience=0) == {0: 0, 1: 0}
    with pytest.raises(BrokerError, match=f"partition 2 of '{name}' since offset 5: end it") as refused:
        settled_ends(config, name, [0, 1, 2], patience=0.5)
    assert len(str(refused.value).splitlines()) == 1
    ending = threading.Timer(1, other.abort_transaction, [30])
    ending.start()
    # The end when it was first asked for: the marker comes after it.
    assert settled_ends(config, name, [0, 1, 2], patience=60) == {0: 0, 1: 0, 2: 6}
    ending.join()


def test_a_topic_that_is_deleted_meanwhile_is_one_sentence(
    config: KafkaConfig, topic: Callable[[int], str]
) -> None:
    name = topic(3)
    put(config, name, 1, [None] * 9)
    reading = records(config, name, {1: (0, 10_000)})
    assert next(reading).offset() == 0
    topics.delete_topic(config, name)
    with pytest.raises(BrokerError) as refused:
        # The error is either that the topic is gone, or that a partition has no leader.
        last_marks(config, name, {1: (0, 9)}, "partwright", RUN)
    assert len(str(refused.value).splitlines()) == 1


def test_the_last_value_of_each_key(config: KafkaConfig) -> None:
    name = f"compacted-{secrets.token_hex(4)}"
    assert compacted.last_values(config, name) == {}
    for key, value in [(b"a", b"1"), (b"b", b"2"), (b"a", b"3"), (b"", b"4"), (b"b", b"")]:
        compacted.put(config, name, key, value)
    assert compacted.last_values(config, name) == {b"a": b"3", b"b": b"", b"": b"4"}
    assert topics.partition_count(config, name) == 1
    producer = Producer(config.librdkafka())
    producer.produce(name, None, b"a")
    assert producer.flush(30) == 0
    compacted.put(config, name, b"c", b"x" * 300_000)
    assert compacted.last_values(config, name) == {b"b": b"", b"": b"4", b"c": b"x" * 300_000}


def test_many_write_the_first_value_at_once(config: KafkaConfig) -> None:
    name = f"compacted-{secrets.token_hex(4)}"
    refused: list[Exception] = []

    def write(number: int) -> None:
        try:
            compacted.put(config, name, b"%d" % number, b"v")
        except Exception as error:  # noqa: BLE001 - a thread's error would be lost
            refused.append(error)

    writing = [threading.Thread(target=write, args=[number]) for number in range(5)]
    for thread in writing:
        thread.start()
    for thread in writing:
        thread.join()
    assert not refused
    deadline = time.monotonic() + 30
    while len(found := compacted.last_values(config, name)) < 5 and time.monotonic() < deadline:
        time.sleep(0.2)
    assert found.keys() == {b"%d" % number for number in range(5)}
