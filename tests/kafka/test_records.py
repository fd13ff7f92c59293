"""`partwright check` on a topic: records of real producers, misplaced records, transactions, gaps."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import listeners
import pyarrow as pa
import pytest
from confluent_kafka import Producer
from kafka import KafkaAdminClient, KafkaProducer, TopicPartition

import partwright as pw
from partwright.audit.resize import Resize
from partwright.errors import BrokerError
from partwright.kafka import reading, records, topics
from partwright.kafka.bounds import Bounds
from partwright.kafka.reading import Reading
from partwright.kafka.records import TopicRecords

if TYPE_CHECKING:
    from partwright.kafka import EmbeddedKafka

pytestmark = pytest.mark.broker


def check(broker: EmbeddedKafka, topic: str, *words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "partwright",
            "check",
            f"kafka://{broker.bootstrap_servers}/{topic}",
            *map(str, words),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def found(broker: EmbeddedKafka, topic: str, *words: object) -> dict[str, Any]:
    done = check(broker, topic, "--json", *words)
    assert done.returncode in {0, 1}, done.stderr
    assert done.stderr == ""
    answer: dict[str, Any] = json.loads(done.stdout)
    assert answer["ok"] == (done.returncode == 0)
    return answer


def test_what_a_producer_wrote_is_right(broker: EmbeddedKafka) -> None:
    topics.create_topic(broker.bootstrap_servers, "right", 5)
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "partitioner": "murmur2_random"})
    for row in range(20_000):
        producer.produce("right", b"v", key=None if row % 100 == 0 else b"key %d" % (row % 1000))
    producer.flush()
    answer = found(broker, "right")
    assert (answer["rows"], answer["misplaced"], answer["undetermined"], answer["n"]) == (20_000, 0, 200, 5)
    assert sum(part["rows"] for part in answer["partitions"]) == 20_000
    assert sum(part["keys"] for part in answer["partitions"]) == 990
    assert answer["heavy_keys"][0]["rows"] == 20
    # With another number of partitions it is not.
    other = check(broker, "right", "-n", 7, "--json")
    assert other.stderr == "the topic has 5 partitions, -n says 7\n"
    assert json.loads(other.stdout)["misplaced"] > 10_000


def test_what_is_elsewhere_is_shown(broker: EmbeddedKafka) -> None:
    topics.create_topic(broker.bootstrap_servers, "wrong", 3)
    belongs = pw.partition_for_key("a", 3)
    elsewhere = (belongs + 1) % 3
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for partition in (belongs, elsewhere, belongs, elsewhere):
            producer.send("wrong", b"v", key=b"a", partition=partition).get(10)
    answer = found(broker, "wrong")
    assert (answer["rows"], answer["misplaced"]) == (4, 2)
    assert [(each["offset"], each["partition"], each["expected"]) for each in answer["examples"]] == [
        (0, elsewhere, belongs),
        (1, elsewhere, belongs),
    ]
    done = check(broker, "wrong", "--show", 1)
    assert done.returncode == 1
    words = " ".join(done.stdout.split())
    assert words.startswith(
        "✗ 2 of 4 records (50.0%) are not where java puts them; the first: key a is in "
        f"{elsewhere} and belongs in {belongs}. Run partwright fingerprint to learn who wrote them. "
    )
    assert (
        f"partition {elsewhere}, offset 0: key a is in partition {elsewhere}, java puts it into {belongs}"
        in words
    )


def test_what_a_topic_would_move_is_said(broker: EmbeddedKafka) -> None:
    topics.create_topic(broker.bootstrap_servers, "moves", 5)
    keys = [f"key {row % 300}" for row in range(1000)]
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        sent = [producer.send("moves", b"v" * 9, key=key.encode(), headers=[("h", b"12")]) for key in keys]
        written = [future.get(timeout=30) for future in sent]
    address = f"kafka://{broker.bootstrap_servers}/moves"
    done = subprocess.run(
        [sys.executable, "-m", "partwright", "resize", address, "--to", "10", "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    plan = Resize(5, 10)
    plan.add(
        pa.array(keys),
        pa.array([record.partition for record in written]),
        pa.array([record.offset for record in written]),
        pa.array([len(key) + 9 + 3 for key in keys]),
    )
    answer = json.loads(done.stdout)
    read, summary = answer.pop("read"), answer.pop("summary")
    assert answer == plan.to_dict()
    assert summary.startswith("From 5 to 10 partitions, ")
    assert (read["records"], read["of"], read["whole"]) == (1000, 1000, True)
    assert answer["misplaced"] == 0
    assert all(0 < part["drain_to"] <= part["end"] for part in answer["before"])


def test_an_empty_topic_is_sound(broker: EmbeddedKafka) -> None:
    topics.create_topic(broker.bootstrap_servers, "empty", 4)
    answer = found(broker, "empty")
    assert (answer["rows"], answer["n"], answer["used"]) == (0, 4, 0)


@pytest.mark.parametrize("end", ["commit", "abort"])
def test_marks_of_transactions_hold_nothing_up(broker: EmbeddedKafka, end: str) -> None:
    """A topic's end offset counts the marker, and no record has that offset."""
    topic = f"transactions-{end}"
    topics.create_topic(broker.bootstrap_servers, topic, 2)
    producer = Producer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "transactional.id": topic,
            "partitioner": "murmur2_random",
        }
    )
    producer.init_transactions(30)
    for _ in range(3):
        producer.begin_transaction()
        for row in range(10):
            producer.produce(topic, b"v", key=b"%d" % row)
        # An abort would drop records that were not sent yet.
        producer.flush(30)
        producer.commit_transaction(30) if end == "commit" else producer.abort_transaction(30)
    assert sum(topics.end_offsets(broker.bootstrap_servers, topic).values()) == 36
    answer = found(broker, topic)
    assert (answer["rows"], answer["misplaced"]) == (30, 0)
    # If there are only markers, they are passed before the broker counts as silent, however long it may wait for new
    # records.
    marks = TopicRecords(
        {"fetch.max.wait.ms": 60_000, "bootstrap.servers": broker.bootstrap_servers},
        topic,
        bounds=Bounds(last=1),
        stall=5,
    )
    assert list(marks.batches()) == []
    assert (marks.read_counts()["passed"], marks.records) == (2, 0)


def test_a_transaction_that_is_open_holds_nothing_up(broker: EmbeddedKafka) -> None:
    topics.create_topic(broker.bootstrap_servers, "open", 1)
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "transactional.id": "open"})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce("open", b"v", key=b"a")
    producer.flush(30)
    assert found(broker, "open")["rows"] == 1
    producer.abort_transaction(30)


def test_deleted_and_compacted_records_leave_gaps(broker: EmbeddedKafka) -> None:
    settings = {
        "cleanup.policy": "compact",
        "segment.ms": "100",
        "min.cleanable.dirty.ratio": "0.001",
        "max.compaction.lag.ms": "100",
    }
    topics.create_topic(broker.bootstrap_servers, "gaps", 1, topics.NewTopic(configs=settings))
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for row in range(200):
            producer.send("gaps", b"v", key=b"%d" % (row % 2)).get(10)
            time.sleep(0.002)
    deadline, rows, end = time.monotonic() + 60, 200, 200
    while rows == end and time.monotonic() < deadline:
        with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
            # A segment ends only when a record for the next one comes.
            producer.send("gaps", b"v", key=b"last").get(10)
        time.sleep(1)
        end = topics.end_offsets(broker.bootstrap_servers, "gaps")[0]
        rows = found(broker, "gaps")["rows"]
    assert 0 < rows < end
    topics.create_topic(broker.bootstrap_servers, "trimmed", 1)
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for _ in range(10):
            producer.send("trimmed", b"v", key=b"a").get(10)
    admin = KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers)
    try:
        admin.delete_records({TopicPartition("trimmed", 0): 6})
    finally:
        admin.close()
    assert found(broker, "trimmed")["rows"] == 4


def test_records_that_come_later_are_left_out(broker: EmbeddedKafka) -> None:
    topics.create_topic(broker.bootstrap_servers, "growing", 1)
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        producer.send("growing", b"v", key=b"a").get(10)
        read = TopicRecords(broker.bootstrap_servers, "growing")
        assert read.done == 0
        producer.send("growing", b"v", key=b"b").get(10)
        assert [batch.keys.to_pylist() for batch in read.batches()] == [[b"a"]]
    assert read.done == 1
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("kafka-io")]


def one_record(broker: EmbeddedKafka, topic: str) -> None:
    topics.create_topic(broker.bootstrap_servers, topic, 1)
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        producer.send(topic, b"v", key=b"a").get(10)


def reading_up_to(
    monkeypatch: pytest.MonkeyPatch, ends: dict[int, int], broker: EmbeddedKafka, topic: str
) -> TopicRecords:
    """A reader whose topic seems to end elsewhere."""
    asked = topics.offsets_of

    def told(admin: Any, topic: str, partitions: Any, spec: str | int, **more: bool) -> dict[int, int]:
        return ends if spec == "latest" else asked(admin, topic, partitions, spec, **more)

    monkeypatch.setattr(records, "offsets_of", told)
    return TopicRecords(broker.bootstrap_servers, topic, stall=1)


def test_a_broker_that_sends_nothing_more_is_said(
    broker: EmbeddedKafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_record(broker, "mute")
    read = reading_up_to(monkeypatch, {0: 2}, broker, "mute")
    with pytest.raises(
        BrokerError, match=r"sends nothing more of the topic 'mute' for 1 s, at offset 1 of 2 in partit"
    ):
        list(read.batches())


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_every_compression_is_read(broker: EmbeddedKafka, codec: str) -> None:
    topics.create_topic(broker.bootstrap_servers, codec, 3)
    settings = {"bootstrap.servers": broker.bootstrap_servers, "compression.type": codec, "linger.ms": 50}
    producer = Producer({**settings, "partitioner": "murmur2_random"})
    for row in range(1000):
        producer.produce(codec, b"v" * 100, key=b"key %d" % row)
    producer.flush()
    answer = found(broker, codec)
    assert (answer["rows"], answer["misplaced"]) == (1000, 0)


def test_the_file_that_place_makes_agrees_with_the_topic(broker: EmbeddedKafka, tmp_path: Any) -> None:
    """The same keys, by a real producer and by place."""
    keys = [f"customer {row}" for row in range(500)]
    topics.create_topic(broker.bootstrap_servers, "same", 9)
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "partitioner": "murmur2_random"})
    for key in keys:
        producer.produce("same", b"v", key=key.encode())
    producer.flush()
    file = tmp_path / "x.csv"
    file.write_text("k\n" + "\n".join(keys), encoding="utf-8")
    placed = subprocess.run(
        [sys.executable, "-m", "partwright", "place", str(file), "--key", "k", "-n", "9"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    by_file = {
        key: int(partition) for key, _, partition in (line.partition(",") for line in placed.split("\n")[1:])
    }
    by_topic = {
        key.decode(): partition
        for batch in TopicRecords(broker.bootstrap_servers, "same").batches()
        for key, partition in zip(batch.keys.to_pylist(), batch.partitions.to_pylist(), strict=True)
    }
    assert by_file == by_topic


def test_a_broker_that_pauses_is_waited_for(broker: EmbeddedKafka, monkeypatch: pytest.MonkeyPatch) -> None:
    """Like a broker whose memory is being cleaned: it keeps its connections, and answers nobody."""
    topics.create_topic(broker.bootstrap_servers, "pausing", 1)
    with Producer({"bootstrap.servers": broker.bootstrap_servers}) as producer:
        for row in range(5000):
            producer.produce("pausing", b"v" * 100, key=b"%d" % row)
    said, until, asked = [0], [0.0], []

    def slowed(size: int) -> None:
        said[0] += size
        if said[0] > 200_000 and not until[0]:
            until[0] = time.monotonic() + 3
        while time.monotonic() < until[0]:
            time.sleep(0.05)

    standstill = Reading._refuse_standstill

    def noted(*words: Any) -> None:
        asked.append(words)
        standstill(*words)

    monkeypatch.setattr(Reading, "_refuse_standstill", noted)
    with listeners.relay(broker.port, slowed=slowed) as port:
        read = TopicRecords(f"127.0.0.1:{port}", "pausing")
        monkeypatch.setattr(reading, "TIMEOUT_S", 0.5)
        assert sum(len(each.keys) for each in read.batches()) == 5000
    assert asked
