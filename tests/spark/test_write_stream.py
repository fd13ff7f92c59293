"""Streams into a topic: each record once, in order, whatever stops them, and what they refuse to continue with."""

from __future__ import annotations

import json
import os
import secrets
import time
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import pyspark
import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewPartitions
from pyspark.errors import PySparkException

import partwright as pw
from partwright import spark as pws
from partwright.errors import PartwrightError
from partwright.kafka import topics
from partwright.kafka.connection import KafkaConfig
from partwright.kafka.reading import records
from partwright.spark.streams.batches import BatchWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from partwright.kafka import EmbeddedKafka
    from partwright.spark.streams.batches import BatchDone

pytestmark = pytest.mark.broker

N, ROWS, KEYS = 5, 140, 11
PATIENCE_S = 240
AT = 1_767_225_600
HAS_REAL_TIME = tuple(map(int, pyspark.__version__.split(".")[:2])) >= (4, 2)


@pytest.fixture
def topic(broker: EmbeddedKafka) -> str:
    name = f"stream-{secrets.token_hex(4)}"
    topics.create_topic(broker.bootstrap_servers, name, N)
    return name


def key_of(row: int) -> str | None:
    return None if row % 9 == 0 else f"key {row * 7 % KEYS}"


@pytest.fixture
def files(spark: SparkSession, tmp_path: Path) -> Callable[[int], DataFrame]:
    """A stream with this many files, one per batch; their records are numbered on."""
    folder = tmp_path / "some files"
    folder.mkdir()

    def stream(count: int) -> DataFrame:
        for file in range(count):
            path = folder / f"{file}.json"
            if not path.exists():
                rows = range(file * ROWS, (file + 1) * ROWS)
                lines = [json.dumps({"key": key_of(row), "value": str(row)}) for row in rows]
                path.write_text("\n".join(lines), encoding="utf-8")
                os.utime(path, (AT + file, AT + file))
        read = spark.readStream.schema("key string, value string").option("maxFilesPerTrigger", 1)
        return read.json(str(folder))

    return stream


@pytest.fixture
def write(
    broker: EmbeddedKafka, topic: str, tmp_path: Path, spark: SparkSession
) -> Iterator[Callable[..., list[BatchDone]]]:
    """Writes the existing data to its end; returns the finished batches."""

    def to_its_end(df: DataFrame, **settings: Any) -> list[BatchDone]:
        done: list[BatchDone] = []
        given: dict[str, Any] = {
            "topic": topic,
            "checkpoint": str(tmp_path / "a checkpoint"),
            "kafka_config": broker.bootstrap_servers,
        }
        own = {each.name for each in fields(pws.StreamOptions)}
        options = {"available_now": True, "on_batch": done.append} | settings
        given |= {name: each for name, each in settings.items() if name not in own}
        chosen = pws.StreamOptions(**{name: each for name, each in options.items() if name in own})
        query = pws.write_stream(df, **given, options=chosen)
        try:
            assert query.awaitTermination(PATIENCE_S)
        finally:
            query.stop()
        return done

    yield to_its_end
    for query in spark.streams.active:
        query.stop()


@pytest.fixture
def there(broker: EmbeddedKafka, topic: str) -> Callable[[], list[tuple[int, str | None, int]]]:
    """Partition, key and row of each record in the topic, in the order of its partition."""

    def read() -> list[tuple[int, str | None, int]]:
        config = KafkaConfig.read({}, servers=broker.bootstrap_servers)
        ends = topics.end_offsets(broker.bootstrap_servers, topic)
        windows = {each: (0, end) for each, end in ends.items()}
        found = []
        for message in records(config, topic, windows, committed=True):
            key: Any = message.key()
            value: Any = message.value()
            found.append((int(message.partition() or 0), key.decode() if key else None, int(value)))
        return found

    return read


def as_it_should_be(found: list[tuple[int, str | None, int]], rows: int, n: int = N) -> None:
    """Each row once, each key in its partition and in order, and those without one spread."""
    assert sorted(row for _, _, row in found) == list(range(rows))
    by_key: dict[str | None, list[tuple[int, int]]] = {}
    for partition, key, row in found:
        assert key == key_of(row)
        by_key.setdefault(key, []).append((partition, row))
    spread = by_key.pop(None)
    assert len({partition for partition, _ in spread}) == n
    for key, places in by_key.items():
        assert {partition for partition, _ in places} == {pw.partition_for_key(key, n)}
        assert [row for _, row in places] == sorted(row for _, row in places)


def forget_last_commit(checkpoint: Path) -> None:
    """As if the stream dies after a batch was written, and before Spark notes that."""
    last = max(int(file.name) for file in (checkpoint / "commits").iterdir() if file.name.isdigit())
    (checkpoint / "commits" / str(last)).unlink()
    (checkpoint / "commits" / f".{last}.crc").unlink(missing_ok=True)


@pytest.mark.parametrize("exactly_once", [False, True], ids=["Spark's sink", "exactly once"])
def test_each_record_is_there_once_wherever_the_stream_died(
    exactly_once: bool,
    files: Callable[[int], DataFrame],
    write: Callable[..., list[BatchDone]],
    there: Callable[[], list[tuple[int, str | None, int]]],
    tmp_path: Path,
    topic: str,
    broker: EmbeddedKafka,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done = write(files(2), exactly_once=exactly_once)
    assert [(each.number, each.records, each.already_there, each.n) for each in done] == [
        (0, ROWS, 0, N),
        (1, ROWS, 0, N),
    ]
    as_it_should_be(there(), 2 * ROWS)

    forget_last_commit(tmp_path / "a checkpoint")
    ends = topics.end_offsets(broker.bootstrap_servers, topic)
    done = write(files(2), exactly_once=exactly_once)
    assert [(each.number, each.already_there) for each in done] == [(1, ROWS)]
    assert topics.end_offsets(broker.bootstrap_servers, topic) == ends

    # In the middle of a batch: some partitions have all of their records, some a part, some nothing.
    part = BatchWriter._write

    def dies(self: BatchWriter, placed: DataFrame, *given: Any, **named: Any) -> int:
        part(self, placed.where("partition < 3 AND row < partition * 13"), *given, **named)
        raise PartwrightError("the stream dies here")

    with monkeypatch.context() as patch:
        patch.setattr(BatchWriter, "_write", dies)
        with pytest.raises(PySparkException, match="the stream dies here"):
            write(files(4), exactly_once=exactly_once)
    count = len(there())
    assert 2 * ROWS < count < 3 * ROWS
    # Others write to the topic as well.
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for number in range(50):
        producer.produce(f"{topic}", b"-1", b"foreign", partition=number % N)
    producer.flush(30)
    done = write(files(4), exactly_once=exactly_once)
    assert [(each.number, each.already_there) for each in done] == [(2, count - 2 * ROWS), (3, 0)]
    as_it_should_be([each for each in there() if each[2] >= 0], 4 * ROWS)


def test_what_it_cannot_go_on_with_is_one_sentence(
    files: Callable[[int], DataFrame],
    write: Callable[..., list[BatchDone]],
    tmp_path: Path,
    topic: str,
    broker: EmbeddedKafka,
) -> None:
    write(files(2))
    other = f"{topic}-other"
    topics.create_topic(broker.bootstrap_servers, other, N)
    for settings, why in [
        ({"topic": other}, f"is of a stream with the topic '{topic}', not '{other}'"),
        ({"producer": pws.ProducerConfig(client="sarama")}, "is of a stream with client java, not sarama"),
        ({"workload": pws.Workload(key="value")}, "is of a stream with key key, not value"),
        ({"exactly_once": True}, "is of a stream with exactly_once False, not True"),
    ]:
        refused(write, why, files(2), **settings)

    forget_last_commit(tmp_path / "a checkpoint")
    changed = tmp_path / "some files" / "1.json"
    before = changed.read_text(encoding="utf-8")
    lines = before.split("\n")
    for text, now in [("\n".join(lines[:-1]), ROWS - 1), ("\n".join(reversed(lines)), ROWS)]:
        changed.write_text(text, encoding="utf-8")
        os.utime(changed, (AT + 1, AT + 1))
        with pytest.raises(
            PySparkException, match=f"batch 1 was begun with {ROWS} records, and now has {now}"
        ):
            write(files(2))
    changed.write_text(before, encoding="utf-8")
    os.utime(changed, (AT + 1, AT + 1))
    assert [each.already_there for each in write(files(2))] == [ROWS]

    (foreign := tmp_path / "foreign").mkdir()
    (foreign / "offsets").mkdir()
    refused(write, "is of a stream that partwright did not begin", files(2), checkpoint=str(foreign))
    topics.delete_topic(broker.bootstrap_servers, topic)
    refused(write, "there is no topic", files(2))
    topics.create_topic(broker.bootstrap_servers, topic, N)
    refused(write, f"a topic '{topic}' that was deleted since, and made again", files(2))


def refused(write: Callable[..., Any], match: str, df: DataFrame, **settings: Any) -> None:
    with pytest.raises(PartwrightError, match=match) as told:
        write(df, **settings)
    assert len(str(told.value).splitlines()) == 1


def test_a_note_whose_writing_was_interrupted(
    files: Callable[[int], DataFrame],
    write: Callable[..., list[BatchDone]],
    there: Callable[[], list[tuple[int, str | None, int]]],
    tmp_path: Path,
) -> None:
    """The note is written before a batch's first record, so nothing of the batch exists yet."""
    write(files(1))
    notes = tmp_path / "a checkpoint" / "partwright"
    whole = (notes / "batch-0.json").read_bytes()
    # A damaged note of the previous batch would hide that the topic got partitions.
    (notes / "batch-0.json").write_bytes(b"")
    with pytest.raises(
        PySparkException, match=r"'partwright/batch-0.json' in .* is empty: that batch is written; see"
    ):
        write(files(2))
    (notes / "batch-0.json").write_bytes(whole)
    (notes / "batch-1.json").write_bytes(whole[:40])
    assert [(each.number, each.already_there) for each in write(files(2))] == [(1, 0)]
    as_it_should_be(there(), 2 * ROWS)
    assert sorted(each.name for each in notes.iterdir()) == ["batch-0.json", "batch-1.json", "stream.json"]


@pytest.mark.parametrize("exactly_once", [False, True], ids=["Spark's sink", "exactly once"])
def test_a_damaged_note_never_makes_a_batch_be_written_again(
    exactly_once: bool,
    files: Callable[[int], DataFrame],
    write: Callable[..., list[BatchDone]],
    there: Callable[[], list[tuple[int, str | None, int]]],
    tmp_path: Path,
) -> None:
    write(files(2), exactly_once=exactly_once)
    forget_last_commit(tmp_path / "a checkpoint")
    note = tmp_path / "a checkpoint" / "partwright" / "batch-1.json"
    whole = note.read_bytes()
    for content, what in [
        (b"", "empty"),
        (whole[:40], "damaged"),
        (b'{"version": 2}', "damaged"),
        (b"[]", "damaged"),
        (whole.replace(b'"records": ', b'"records": null, "of": '), "damaged"),
    ]:
        note.write_bytes(content)
        why = (
            rf"'partwright/batch-1.json' in .* is {what}, and {N} of {N} partitions of .* hold records of this batch: "
            "written again, they would be there twice; restore the file"
        )
        with pytest.raises(PySparkException, match=why):
            write(files(2), exactly_once=exactly_once)
        assert note.read_bytes() == content
    note.write_bytes(whole)
    done = write(files(2), exactly_once=exactly_once)
    assert [(each.number, each.already_there) for each in done] == [(1, ROWS)]
    as_it_should_be(there(), 2 * ROWS)
    (stream := note.with_name("stream.json")).write_bytes(b"")
    refused(write, "'partwright/stream.json' in .* is empty, and without it nobody knows", files(2))
    assert stream.read_bytes() == b""


@pytest.fixture
def source(broker: EmbeddedKafka, topic: str, spark: SparkSession) -> Callable[..., DataFrame]:
    """A topic as a stream, with more records each time."""
    name = f"{topic}.source"

    def stream(rows: range, partitions: int = 3, **limits: int) -> DataFrame:
        if topics.partition_count(broker.bootstrap_servers, name) is None:
            topics.create_topic(broker.bootstrap_servers, name, partitions)
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
        for row in rows:
            key = key_of(row)
            # A key's records are in one partition, and those without a key in all.
            partition = (row if key is None else int(key.split()[1])) % partitions
            producer.produce(
                name,
                str(row),
                key,
                partition=partition,
                timestamp=AT * 1000 + row,
                headers=[("h", b"%d" % row)],
            )
        producer.flush(30)
        options = {"kafka.bootstrap.servers": broker.bootstrap_servers, "subscribe": name}
        reader = spark.readStream.format("kafka").options(**options).option("includeHeaders", "true")
        return reader.option("startingOffsets", "earliest").options(**limits).load()

    return stream


def test_partitions_that_are_added_between_batches(
    source: Callable[..., DataFrame],
    write: Callable[..., list[BatchDone]],
    there: Callable[[], list[tuple[int, str | None, int]]],
    topic: str,
    broker: EmbeddedKafka,
) -> None:
    limits = {"maxOffsetsPerTrigger": 60}
    settings: dict[str, Any] = {
        "exactly_once": True,
        "workload": pws.Workload(headers="headers", time=pyspark.sql.functions.unix_millis("timestamp")),
        "order_by": ["partition", "offset"],
    }
    done = write(source(range(150), **limits), **settings)
    assert sum(each.records for each in done) == 150
    assert len(done) >= 3
    as_it_should_be(there(), 150)
    with AdminClient({"bootstrap.servers": broker.bootstrap_servers}) as admin:
        admin.create_partitions([NewPartitions(topic, 8)])[topic].result(30)
    with pytest.raises(
        PySparkException, match=f"the topic '{topic}' has 8 partitions now and had 5: .*--follow-partitions"
    ):
        write(source(range(150, 240), **limits), **settings)
    as_it_should_be(there(), 150)
    done = write(source(range(0), **limits), **settings, follow_partitions=True)
    assert [each.grown_from for each in done] == [5] + [None] * (len(done) - 1)
    assert {each.n for each in done} == {8}
    found = there()
    as_it_should_be([each for each in found if each[2] < 150], 150)
    later = [(partition, key, row) for partition, key, row in found if row >= 150]
    assert sorted(row for _, _, row in later) == list(range(150, 240))
    assert all(partition == pw.partition_for_key(key, 8) for partition, key, _ in later if key is not None)
    config = KafkaConfig.read({}, servers=broker.bootstrap_servers)
    ends = topics.end_offsets(broker.bootstrap_servers, topic)
    for message in records(config, topic, {each: (0, end) for each, end in ends.items()}, committed=True):
        row = int(message.value() or b"")
        assert message.timestamp()[1] == AT * 1000 + row
        assert dict(message.headers() or ())["h"] == b"%d" % row


def test_refusals_by_name(
    files: Callable[[int], DataFrame], write: Callable[..., list[BatchDone]], spark: SparkSession, topic: str
) -> None:
    df = files(1)
    for settings, why in [
        ({"every": 3.0}, "available_now ends after what is there, and every goes on"),
        ({"available_now": False, "every": -1.0}, "every takes seconds, 0 or more, not -1.0"),
        ({"available_now": False, "every": float("nan")}, "every takes seconds, 0 or more, not nan"),
        ({"workload": pws.Workload(time="value")}, "Spark's Kafka sink ignores them"),
        ({"workload": pws.Workload(key="nosuch")}, "nosuch"),
        ({"workload": pws.Workload(size="value")}, "write_stream does not use the column size"),
        ({"workload": {"key": "key"}}, r"workload is a partwright.Workload\(...\), not {'key': 'key'}"),
        ({"producer": "java"}, r"producer is a partwright.ProducerConfig\(...\), not 'java'"),
        ({"topic": f"{topic}-nosuch"}, "there is no topic"),
        ({"real_time": "5 minutes"}, "available_now is for a stream in batches, and real_time has none"),
        (
            {"real_time": "5 minutes", "available_now": False, "exactly_once": True},
            "exactly_once is for a stream in batches",
        ),
        (
            {"real_time": "5 minutes", "available_now": False, "follow_partitions": True},
            "follow_partitions is for a stream in batches",
        ),
        (
            {"real_time": "5 minutes", "available_now": False, "every": 0.0},
            "every is for a stream in batches",
        ),
    ]:
        refused(write, why, df, **settings)
    refused(write, "the table is not a stream", spark.range(3).selectExpr("id key", "string(id) value"))


def test_real_time_mode(
    source: Callable[..., DataFrame],
    write: Callable[..., list[BatchDone]],
    there: Callable[[], list[tuple[int, str | None, int]]],
    topic: str,
    broker: EmbeddedKafka,
    tmp_path: Path,
) -> None:
    # All its tasks run at once: a session with two slots has none for a third.
    df = source(range(60), partitions=2).selectExpr("string(key) AS key", "value")
    if not HAS_REAL_TIME:
        refused(write, "this PySpark has no real-time mode", df, real_time="5 minutes", available_now=False)
        return
    query = pws.write_stream(
        df,
        topic=topic,
        checkpoint=str(tmp_path / "a checkpoint"),
        kafka_config=broker.bootstrap_servers,
        options=pws.StreamOptions(real_time="5 minutes"),
    )
    deadline = time.monotonic() + PATIENCE_S
    try:
        while len(there()) < 60 and query.isActive and time.monotonic() < deadline:
            time.sleep(0.5)
        assert query.exception() is None
    finally:
        query.stop()
    found = there()
    assert sorted(row for _, _, row in found) == list(range(60))
    assert all(partition == pw.partition_for_key(key, N) for partition, key, _ in found if key is not None)
