"""The exactly-once writer of one partition: killed, stopped, shut out, and among other writers."""

from __future__ import annotations

import os
import random
import secrets
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import partition_rows
import pyarrow as pa
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from partwright.errors import BrokerError, PartwrightError
from partwright.kafka import partition_writer, topics
from partwright.kafka.connection import KafkaConfig
from partwright.kafka.marks import Mark, settled_ends
from partwright.kafka.partition_writer import PartitionWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from confluent_kafka import Message

    from partwright.kafka import EmbeddedKafka

pytestmark = pytest.mark.broker

PARTITIONS, PARTITION = 3, 1
SCRIPT = Path(partition_rows.__file__)
_END_OF_PARTITION = -191


@pytest.fixture
def config(broker: EmbeddedKafka) -> KafkaConfig:
    return KafkaConfig.read({}, servers=broker.bootstrap_servers)


@pytest.fixture
def topic(broker: EmbeddedKafka) -> str:
    name = f"writer-{secrets.token_hex(4)}"
    topics.create_topic(broker.bootstrap_servers, name, PARTITIONS)
    return name


@pytest.fixture
def mark() -> Mark:
    return Mark(partition_rows.HEADER, secrets.token_bytes(8))


@pytest.fixture
def read(broker: EmbeddedKafka, topic: str) -> Callable[..., list[Message]]:
    """The records of a partition that a consumer of committed records gets."""

    def all_of(partition: int = PARTITION, isolation: str = "read_committed") -> list[Message]:
        given: dict[str, Any] = {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": "test",
            "enable.partition.eof": True,
            "isolation.level": isolation,
        }
        consumer = Consumer(given)
        found = []
        try:
            consumer.assign([TopicPartition(topic, partition, 0)])
            while (message := consumer.poll(30)) is not None:
                if message.error() is not None:
                    assert message.error().code() == _END_OF_PARTITION
                    return found
                found.append(message)
        finally:
            consumer.close()
        raise AssertionError(f"partition {partition} did not end in 30 s")

    return all_of


@pytest.fixture
def start(
    config: KafkaConfig, topic: str, mark: Mark
) -> Iterator[Callable[[int, int, int], subprocess.Popen[str]]]:
    """A process that writes rows in batches, and in transactions of this size."""
    running: list[subprocess.Popen[str]] = []

    def begun(rows: int, batch: int, transaction: int) -> subprocess.Popen[str]:
        words = [config.servers, topic, PARTITION, mark.run.hex(), rows, batch, transaction]
        process = subprocess.Popen(
            [sys.executable, SCRIPT, *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ,
        )
        running.append(process)
        return process

    yield begun
    for process in running:
        process.kill()
        process.communicate()


def rows_of(messages: Sequence[Message], mark: Mark) -> list[int]:
    """The row of each of a run's records."""
    values = [dict(message.headers() or ()).get(mark.header) for message in messages]
    return [mark.row(value) for value in values if isinstance(value, bytes) and value.startswith(mark.prefix)]


def foreign(config: KafkaConfig, topic: str, count: int, **settings: Any) -> Producer:
    """Records of another producer; if it has a transactional ID, in a transaction that stays open."""
    producer = Producer({**config.librdkafka(), **settings})
    if settings:
        producer.init_transactions(30)
        producer.begin_transaction()
    for number in range(count):
        producer.produce(
            topic, b"%d" % number, partition=PARTITION, headers=[("theirs", b"x"), ("partwright", b"short")]
        )
    assert producer.flush(30) == 0
    return producer


def write(writer: PartitionWriter, mark: Mark, rows: range, batch: int = 37) -> None:
    for start in range(rows.start, rows.stop, batch):
        writer.write(*partition_rows.columns(mark.run, range(start, min(start + batch, rows.stop))))


@pytest.mark.timeout(600)
def test_killed_anywhere_each_row_is_there_once_and_in_order(
    start: Callable[..., subprocess.Popen[str]],
    read: Callable[..., list[Message]],
    mark: Mark,
    config: KafkaConfig,
    topic: str,
    seed: int,
    cases: Callable[[int], int],
) -> None:
    drawn = random.Random(seed)
    rows, kills = 3_000, 0
    for _ in range(cases(8)):
        transaction = drawn.choice([1, 3, 17, 40, 250])
        # Small transactions are slow, and a process that will be killed need not get far.
        process = start(rows, drawn.randint(1, 90), transaction)
        assert process.stdout is not None
        for _ in range(drawn.randint(0, 12)):
            if not process.stdout.readline():
                break
        time.sleep(drawn.random() * 0.2)
        process.kill()
        kills += process.wait() == -signal.SIGKILL
        if not drawn.randint(0, 3):
            foreign(config, topic, drawn.randint(1, 60))
    assert kills > 0
    out, err = start(rows, 500, 700).communicate(timeout=300)
    assert err == ""
    *_, last = out.splitlines()
    written, there = map(int, last.split()[1:])
    assert written + there == rows
    messages = [
        each
        for each in read()
        if (dict(each.headers() or ()).get(mark.header) or b"").startswith(mark.prefix)
    ]
    assert rows_of(messages, mark) == list(range(rows))
    for row, message in enumerate(messages):
        key, value, headers, at = partition_rows.record(mark.run, row)
        assert (message.key(), message.value(), message.headers()) == (key, value, headers)
        assert message.timestamp()[1] == at
    assert not read(0)
    assert not read(2)


def test_a_process_that_wakes_up_later_is_shut_out(
    start: Callable[..., subprocess.Popen[str]],
    read: Callable[..., list[Message]],
    mark: Mark,
    config: KafkaConfig,
    topic: str,
) -> None:
    sleeper = start(900, 50, 130)
    assert sleeper.stdout is not None
    for _ in range(6):
        assert sleeper.stdout.readline()
    sleeper.send_signal(signal.SIGSTOP)
    successor = PartitionWriter(config, topic, PARTITION, 0, mark, transaction=90)
    write(successor, mark, range(900))
    successor.end()
    assert successor.written + successor.already_there == 900
    sleeper.send_signal(signal.SIGCONT)
    _, err = sleeper.communicate(timeout=120)
    assert err == (
        f"another process has taken over the writing of partition {PARTITION} of {topic!r}: let it go on\n"
    )
    assert sleeper.returncode == 1
    assert rows_of(read(), mark) == list(range(900))


def test_what_is_there_is_passed_over_among_the_records_of_others(
    read: Callable[..., list[Message]], mark: Mark, config: KafkaConfig, topic: str
) -> None:
    """After a commit whose answer was lost, among foreign records, a run's aborted ones, and those of another run."""
    foreign(config, topic, 9)
    first = PartitionWriter(config, topic, PARTITION, 0, mark, transaction=100)
    write(first, mark, range(230))
    first.end()
    assert (first.written, first.already_there) == (230, 0)
    foreign(config, topic, 700)
    other = Mark(mark.header, secrets.token_bytes(8))
    another = PartitionWriter(config, topic, PARTITION, 0, other)
    write(another, other, range(1_000, 1_060))
    another.end()
    # Rows of this run that were never committed do not count as written.
    aborted = Producer({**config.librdkafka(), "transactional.id": f"aborted-{topic}"})
    aborted.init_transactions(30)
    aborted.begin_transaction()
    for row in range(230, 260):
        headers = [(mark.header, *mark.values([row]))]
        aborted.produce(topic, b"aborted", partition=PARTITION, headers=headers)
    aborted.flush(30)
    aborted.abort_transaction(30)

    again = PartitionWriter(config, topic, PARTITION, 9, mark)
    write(again, mark, range(230), batch=100)
    again.end()
    assert (again.written, again.already_there) == (0, 230)
    longer = PartitionWriter(config, topic, PARTITION, 9, mark)
    write(longer, mark, range(400), batch=80)
    longer.end()
    assert (longer.written, longer.already_there) == (170, 230)
    messages = read()
    assert rows_of(messages, mark) == list(range(400))
    assert rows_of(messages, other) == list(range(1_000, 1_060))
    assert len(messages) == 400 + 60 + 709


def test_without_headers_each_record_has_the_mark_alone(
    read: Callable[..., list[Message]], mark: Mark, config: KafkaConfig, topic: str
) -> None:
    writer = PartitionWriter(config, topic, PARTITION, 0, mark, transaction=1_700)
    for start in (0, 1_300):
        rows, keys, values, _, _ = partition_rows.columns(mark.run, range(start, start + 1_300))
        writer.write(rows, keys, values)
    writer.end()
    assert writer.written == 2_600
    messages = read()
    assert [each.headers() for each in messages] == [
        [(mark.header, value)] for value in mark.values(range(2_600))
    ]
    assert rows_of(messages, mark) == list(range(2_600))
    again = PartitionWriter(config, topic, PARTITION, 0, mark)
    write(again, mark, range(2_700), batch=1_000)
    again.end()
    assert (again.written, again.already_there) == (100, 2_600)


@pytest.mark.parametrize("bound", ["_BYTES", "_SECONDS"])
def test_a_transaction_ends_by_its_bytes_and_its_time(
    bound: str,
    read: Callable[..., list[Message]],
    mark: Mark,
    config: KafkaConfig,
    topic: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(partition_writer, bound, 0)
    writer = PartitionWriter(config, topic, PARTITION, 0, mark)
    write(writer, mark, range(30), batch=10)
    assert writer.written == 30
    writer.end()
    assert rows_of(read(), mark) == list(range(30))


def test_the_last_row_must_come_up(
    read: Callable[..., list[Message]], mark: Mark, config: KafkaConfig, topic: str
) -> None:
    first = PartitionWriter(config, topic, PARTITION, 0, mark)
    write(first, mark, range(60))
    first.end()
    other_rows = PartitionWriter(config, topic, PARTITION, 0, mark)
    write(other_rows, mark, range(40))
    write(other_rows, mark, range(70, 90))
    with pytest.raises(PartwrightError, match=f"row 59, the last one in partition {PARTITION}") as refused:
        other_rows.end()
    assert len(str(refused.value).splitlines()) == 1
    assert rows_of(read(), mark) == list(range(60))


def test_an_open_transaction_of_another_producer_is_waited_for(
    read: Callable[..., list[Message]],
    mark: Mark,
    config: KafkaConfig,
    topic: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nobody could see past it; if it never ends, that is an error, and nothing is written."""
    first = PartitionWriter(config, topic, PARTITION, 0, mark)
    write(first, mark, range(50))
    first.end()
    other = foreign(config, topic, 40, **{"transactional.id": f"other-{topic}"})
    monkeypatch.setattr(partition_writer, "settled_ends", partial(settled_ends, patience=1.5))
    with pytest.raises(
        BrokerError,
        match=f"another producer holds a transaction open in partition {PARTITION} of '{topic}' since offset 51",
    ) as refused:
        PartitionWriter(config, topic, PARTITION, 0, mark)
    assert len(str(refused.value).splitlines()) == 1
    monkeypatch.undo()
    waited = []

    def ends(*given: Any, **named: Any) -> dict[int, int]:
        waited.append(given)
        other.commit_transaction(30)
        return settled_ends(*given, **named)

    monkeypatch.setattr(partition_writer, "settled_ends", ends)
    again = PartitionWriter(config, topic, PARTITION, 0, mark)
    write(again, mark, range(80))
    again.end()
    assert waited
    assert (again.written, again.already_there) == (30, 50)
    assert rows_of(read(), mark) == list(range(80))


def one_row(mark: Mark, row: int, value: bytes, at: int | None) -> tuple[Any, ...]:
    headers = [[{"key": mark.header, "value": mark.values([row])[0]}]]
    return (
        [row],
        pa.array([None], pa.binary()),
        pa.array([value], pa.binary()),
        pa.array(headers, partition_rows.HEADERS),
        pa.array([at], pa.int64()),
    )


def ended(writer: PartitionWriter, row: tuple[Any, ...]) -> None:
    """Some writers refuse a record when it is written, some when it is committed."""
    writer.write(*row)
    writer.end()


def test_timestamps(read: Callable[..., list[Message]], mark: Mark, config: KafkaConfig, topic: str) -> None:
    """The earliest times that a producer can express are kept; earlier ones are refused, or they would become "now"."""
    writer = PartitionWriter(config, topic, PARTITION, 0, mark)
    before = int(time.time() * 1000)
    for row, at in enumerate([1, None, 86_400_000, before - 7_000]):
        writer.write(*one_row(mark, row, b"a", at))
    writer.end()
    times = [message.timestamp()[1] for message in read()]
    assert times[0::2] == [1, 86_400_000]
    assert times[3] == before - 7_000
    assert before <= times[1] <= int(time.time() * 1000)
    for at in [0, -1, -86_400_000]:
        with pytest.raises(PartwrightError, match=f"row 4 .* {at} ms") as refused:
            writer.write(*one_row(mark, 4, b"a", at))
        assert len(str(refused.value).splitlines()) == 1
    assert len(read(isolation="read_uncommitted")) == 4


def test_what_the_topic_refuses_is_one_sentence_and_holds_nobody_up(
    read: Callable[..., list[Message]], mark: Mark, config: KafkaConfig, topic: str
) -> None:
    for value, at, why in [
        (os.urandom(3_000_000), None, "max.message.bytes"),
        (b"a", int(time.time() * 1000) + 30 * 86_400_000, "message.timestamp.after.max.ms"),
    ]:
        writer = PartitionWriter(config, topic, PARTITION, 0, mark)
        writer.write(*one_row(mark, 0, b"small", None))
        with pytest.raises(BrokerError, match=f"a record for partition {PARTITION} .*{why}") as refused:
            ended(writer, one_row(mark, 1, value, at))
        assert len(str(refused.value).splitlines()) == 1
        settled_ends(config, topic, [PARTITION], patience=5)
    assert not read()


def test_the_topic_says_how_large_a_record_may_be(mark: Mark, config: KafkaConfig, topic: str) -> None:
    large = f"{topic}-large"
    topics.create_topic(config, large, 1, topics.NewTopic(configs={"max.message.bytes": "4000000"}))
    writer = PartitionWriter(config, large, 0, 0, mark)
    writer.write(*one_row(mark, 0, os.urandom(3_000_000), None))
    writer.end()
    again = PartitionWriter(config, large, 0, 0, mark)
    again.write(*one_row(mark, 0, b"", None))
    again.end()
    assert (again.written, again.already_there) == (0, 1)


def test_a_header_name_with_a_nul_is_refused(config: KafkaConfig, topic: str, mark: Mark) -> None:
    """confluent-kafka would write it up to the NUL."""
    writer = PartitionWriter(config, topic, PARTITION, 0, mark)
    kind = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
    names = [["a"], [], None, ["b", "n\0m"], ["\0"]]
    headers = pa.array(
        [None if each is None else [{"key": name, "value": b"x"} for name in each] for each in names], kind
    )
    rows, column = list(range(10, 15)), pa.array([b"x"] * 5)
    with pytest.raises(PartwrightError) as refused:
        writer.write(rows, column, column, headers)
    assert str(refused.value) == (
        "row 13 has a header with a NUL in its name, and the writer of --exactly-once would cut it there: rename it, "
        "or leave --exactly-once out"
    )
    assert sum(topics.end_offsets(config, topic).values()) == 0
    writer.write(rows[:3], column[:3], column[:3], headers[:3])
    writer.end()
    # A slice of a longer column has its own rows.
    with pytest.raises(PartwrightError, match=r"^row 14 has"):
        writer.write(rows[4:], column[4:], column[4:], headers[4:])
