"""Parts of a topic: the meaning of bounds, and that exactly those records are read, counted and reported."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

import partwright as pw
from partwright.cli import main
from partwright.errors import BrokerError
from partwright.kafka import topics
from partwright.kafka.bounds import WHOLE, Bounds, read_partitions, read_time
from partwright.kafka.connection import KafkaConfig
from partwright.kafka.records import TopicRecords

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from partwright.kafka import EmbeddedKafka
    from partwright.kafka.records import TopicChunk

live = pytest.mark.broker

DAY_MS = 86_400_000


@pytest.mark.parametrize(
    ("text", "told"),
    [("1970-01-02", DAY_MS), ("1970-01-01T00:00:01.5Z", 1500), ("1970-01-01T01:00:00+01:00", 0), (" 7 ", 7)],
)
def test_a_time_is_read(text: str, told: int) -> None:
    assert read_time(text, "--since") == told


@pytest.mark.parametrize("text", ["", "yesterday", "-1", "1969-12-31", "2026-13-01", "9" * 30, "\0", "1e3"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(pw.PartwrightError, match=r"^--since is a time, ") as refused:
        read_time(text, "--since")
    assert refused.value.field == "--since"


@pytest.mark.parametrize(
    "text", ["", ",", "1-", "-1", "3-1", "a", "1,,2", "1 2", "٣", "9" * 11, "2147483647"]
)
def test_what_are_no_partitions_is_refused(text: str) -> None:
    with pytest.raises(pw.PartwrightError, match=r"^--only-partitions takes partitions such as 0,3-5, not "):
        read_partitions(text)


def test_partitions_are_chosen_once_each() -> None:
    bounds = Bounds(partitions=read_partitions("4-6, 0,5,0-0"))
    assert bounds.partitions_in("t", 7) == [0, 4, 5, 6]
    with pytest.raises(
        pw.PartwrightError,
        match="--only-partitions names 6, and the topic 't' has 6 partitions: name some of 0 to 5",
    ):
        bounds.partitions_in("t", 6)


def test_a_huge_range_of_partitions_takes_no_memory() -> None:
    bounds = Bounds(partitions=read_partitions("0-2147483646"))
    with pytest.raises(pw.PartwrightError, match="names 2147483646"):
        bounds.partitions_in("t", 12)


@pytest.mark.parametrize(("since", "until"), [(5, 5), (6, 5)])
def test_bounds_that_hold_nothing_are_refused(since: int, until: int) -> None:
    with pytest.raises(pw.PartwrightError, match="nothing lies between"):
        Bounds(since=since, until=until)


@pytest.mark.parametrize("last", [0, -1, True, 1.5])
def test_a_last_that_is_no_number_is_refused(last: Any) -> None:
    with pytest.raises(pw.PartwrightError, match="--last"):
        Bounds(last=last)


def test_windows_stay_within_the_topic() -> None:
    first, end = {0: 10, 1: 0, 2: 7}, {0: 20, 1: 0, 2: 9}
    times: dict[int, dict[int, int]] = {100: {0: 15, 1: -1, 2: -1}, 200: {0: 25, 1: -1, 2: 8}}

    def windows(bounds: Bounds) -> dict[int, tuple[int, int]]:
        return bounds.windows(first, end, times.__getitem__)

    assert windows(WHOLE) == {0: (10, 20), 1: (0, 0), 2: (7, 9)}
    assert windows(Bounds(since=100)) == {0: (15, 20), 1: (0, 0), 2: (9, 9)}
    assert windows(Bounds(until=200)) == {0: (10, 20), 1: (0, 0), 2: (7, 8)}
    assert windows(Bounds(last=3)) == {0: (17, 20), 1: (0, 0), 2: (7, 9)}
    assert windows(Bounds(since=100, until=200, last=3)) == {0: (17, 20), 1: (0, 0), 2: (8, 8)}


Place = tuple[int, int]


def plainly(kafka: EmbeddedKafka, topic: str, wanted: Callable[[Any], bool]) -> set[Place]:
    """The places of the records that a plain consumer reads from the whole topic, aborted ones too."""
    settings = {
        "bootstrap.servers": kafka.bootstrap_servers,
        "group.id": "plain",
        "enable.partition.eof": True,
    }
    consumer = Consumer({**settings, "isolation.level": "read_uncommitted", "enable.auto.commit": False})
    count = topics.partition_count(kafka.bootstrap_servers, topic)
    assert count is not None
    consumer.assign([TopicPartition(topic, partition, 0) for partition in range(count)])
    found, ends = set(), 0
    while ends < count:
        for message in consumer.consume(1000, 1):
            if message.error() is not None:
                ends += 1
            elif wanted(message):
                found.add((message.partition(), message.offset()))
    consumer.close()
    return found


def ours(kafka: EmbeddedKafka, topic: str, bounds: Bounds) -> tuple[set[Place], dict[str, Any]]:
    records = TopicRecords(kafka.bootstrap_servers, topic, bounds=bounds)
    places = [
        place
        for batch in records.batches()
        for place in zip(batch.partitions.to_pylist(), batch.offsets.to_pylist(), strict=True)
    ]
    assert len(places) == len(set(places))
    return set(places), records.read_counts()


@pytest.fixture(scope="module")
def mixed(broker: EmbeddedKafka) -> str:
    """A topic with committed and aborted transactions, null keys, tombstones, empty values, and an empty partition."""
    topics.create_topic(broker.bootstrap_servers, "mixed", 4)
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "transactional.id": "mixed"})
    producer.init_transactions(30)
    for turn in range(4):
        producer.begin_transaction()
        for row in range(50):
            value = (b"v", None, b"")[row % 3]
            key = None if row % 7 == 0 else b"%d" % row
            # Times go back within a partition.
            producer.produce("mixed", value, key, row % 3, timestamp=1_000_000 + 1000 * turn - row)
        producer.flush(30)
        producer.commit_transaction(30) if turn % 2 else producer.abort_transaction(30)
    return "mixed"


def test_all_of_a_topic_is_counted(broker: EmbeddedKafka, mixed: str) -> None:
    places, told = ours(broker, mixed, WHOLE)
    assert places == plainly(broker, mixed, lambda _: True)
    # A marker in each of three partitions for each of four transactions.
    assert (told["records"], told["of"], told["passed"], told["whole"]) == (200, 212, 212, True)
    assert told["tombstones"] == len(plainly(broker, mixed, lambda message: message.value() is None)) == 68


def test_a_part_is_what_a_plain_consumer_reads_of_it(broker: EmbeddedKafka, mixed: str) -> None:
    ends = topics.end_offsets(broker.bootstrap_servers, mixed)
    places, told = ours(broker, mixed, Bounds(last=10))
    assert places == plainly(broker, mixed, lambda each: each.offset() >= ends[each.partition()] - 10)
    assert (told["passed"], told["whole"]) == (30, False)
    places, told = ours(broker, mixed, Bounds(partitions=read_partitions("1,3")))
    assert places == plainly(broker, mixed, lambda each: each.partition() == 1)
    assert told["bounds"] == {"partitions": [[1, 1], [3, 3]]}


def test_times_are_those_of_the_broker(broker: EmbeddedKafka) -> None:
    """Without transactions, whose markers have the time at which they were written."""
    topics.create_topic(broker.bootstrap_servers, "timed", 4)
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for row in range(200):
        # Times go back within a partition.
        producer.produce("timed", b"v", b"k", row % 3, timestamp=1_000_000 + 1000 * (row // 50) - row)
    producer.flush(30)
    ends = topics.end_offsets(broker.bootstrap_servers, "timed")
    for since, until in ((1_001_000, None), (None, 1_001_000), (1_000_990, 1_002_000), (5_000_000, None)):
        bounds = Bounds(since=since, until=until)
        places, _ = ours(broker, "timed", bounds)
        first = {
            time: {
                partition: min((at for where, at in found if where == partition), default=ends[partition])
                for partition in ends
            }
            for time in (since, until)
            if time is not None
            for found in [plainly(broker, "timed", lambda each, time=time: each.timestamp()[1] >= time)]
        }
        begin = first.get(since or -1, dict.fromkeys(ends, 0))
        end = first.get(until or -1, ends)
        assert places == plainly(
            broker,
            "timed",
            lambda each, begin=begin, end=end: (
                begin[each.partition()] <= each.offset() < end[each.partition()]
            ),
        ), bounds


def test_what_is_deleted_meanwhile_is_counted(broker: EmbeddedKafka) -> None:
    servers = broker.bootstrap_servers
    topics.create_topic(servers, "lost", 1)
    producer = Producer({"bootstrap.servers": servers})
    for row in range(500):
        producer.produce("lost", b"v", b"%d" % row, 0)
    producer.flush(30)
    records = TopicRecords(servers, "lost")
    admin = AdminClient({"bootstrap.servers": servers})
    for deleted in admin.delete_records([TopicPartition("lost", 0, 400)]).values():
        deleted.result(30)
    for row in range(7):
        producer.produce("lost", b"later", b"%d" % row, 0)
    producer.flush(30)
    assert [offset for batch in records.batches() for offset in batch.offsets.to_pylist()] == [
        *range(400, 500)
    ]
    records.look_again()
    told = records.read_counts()
    assert (told["records"], told["deleted"], told["came"], told["whole"]) == (100, 400, 7, False)


@pytest.mark.parametrize("signals", [1, 2])
def test_ctrl_c_ends_with_what_is_known(
    broker: EmbeddedKafka,
    signals: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    servers, topic = broker.bootstrap_servers, f"long-{signals}"
    topics.create_topic(servers, topic, 3)
    producer = Producer({"bootstrap.servers": servers, "partitioner": "murmur2_random"})
    for row in range(20_000):
        producer.produce(topic, b"v", b"%d" % (row % 500))
    producer.flush(30)
    batches = TopicRecords.batches

    def interrupted(records: TopicRecords, stopped: Callable[[], bool]) -> Iterator[TopicChunk]:
        for number, batch in enumerate(batches(records, stopped)):
            if number == 2:
                for _ in range(signals):
                    signal.raise_signal(signal.SIGINT)
            yield batch

    monkeypatch.setattr(TopicRecords, "batches", interrupted)
    with pytest.raises(SystemExit) as ended:
        main(["check", f"kafka://{servers}/{topic}", "--json"])
    assert ended.value.code == 130
    out, err = capsys.readouterr()
    if signals == 2:
        assert (out, err.strip()) == ("", "partwright: interrupted")
        return
    assert err == "interrupted: the answer is of what was read so far\n"
    answer = json.loads(out)
    assert answer["read"]["interrupted"] is True
    assert 0 < answer["read"]["records"] == answer["rows"] < 20_000
    assert answer["misplaced"] == 0


def rewritten(topic: str, servers: str) -> None:
    """Another topic of the same name, with as many records."""
    topics.delete_topic(servers, topic)
    topics.create_topic(servers, topic, 1)
    written(servers, topic, 4000)


def written(servers: str, topic: str, records: int) -> None:
    with Producer({"bootstrap.servers": servers, "partitioner": "murmur2_random"}) as producer:
        for row in range(records):
            producer.produce(topic, b"v", b"%d" % (row % 500))


def test_a_topic_that_is_made_anew_is_another_one(broker: EmbeddedKafka) -> None:
    servers = broker.bootstrap_servers
    topics.create_topic(servers, "anew", 1)
    written(servers, "anew", 4000)
    records = TopicRecords(servers, "anew")
    batches = records.batches()
    next(batches)
    rewritten("anew", servers)
    with pytest.raises(BrokerError, match="the topic 'anew' was deleted while it was read: start again"):
        list(batches)


def test_who_reads_what_is_committed_does_not_wait_for_a_transaction(broker: EmbeddedKafka) -> None:
    servers = broker.bootstrap_servers
    topics.create_topic(servers, "unfinished", 1)
    written(servers, "unfinished", 10)
    with Producer({"bootstrap.servers": servers, "transactional.id": "unfinished"}) as producer:
        producer.init_transactions(30)
        producer.begin_transaction()
        producer.produce("unfinished", b"v", b"k")
        producer.flush(30)
        for level, count in (("read_committed", 10), ("read_uncommitted", 11)):
            # Such a long wait at the broker does not count as silence.
            config = {"isolation.level": level, "fetch.max.wait.ms": 70_000}
            records = TopicRecords(KafkaConfig.read(config, servers=servers), "unfinished")
            assert sum(len(each.keys) for each in records.batches()) == count
            assert records.read_counts()["whole"]
        producer.abort_transaction(30)


@pytest.fixture
def halves(broker: EmbeddedKafka) -> str:
    """A topic of two partitions; java placed the records of each."""
    topics.create_topic(broker.bootstrap_servers, "halves", 2)
    written(broker.bootstrap_servers, "halves", 1000)
    return f"kafka://{broker.bootstrap_servers}/halves"


@pytest.mark.broker
def test_an_answer_of_a_part_says_no_more_than_that(
    halves: str, told: Callable[..., tuple[int, str, str]], refusal: Callable[..., str]
) -> None:
    some = ["--only-partitions", "1"]
    code, out, _ = told("check", halves, *some, "--min-used", "100%", "--json")
    found = json.loads(out)
    # Shares are of the partitions that were read.
    assert (code, found["n"], found["among"], found["largest_over_mean"]) == (0, 2, 1, 1.0)
    code, out, _ = told("check", halves, *some)
    assert "Partition 1 holds 100.0% of the records, 1.0\u00d7 its fair share" in " ".join(out.split())
    code, out, _ = told("resize", halves, "--to", "4", *some, "--json")
    before = json.loads(out)["before"]
    assert (code, [each["drain_to"] for each in before], [each["end"] for each in before]) == (
        *(0, [None, None], [None, None]),
    )
    assert "times fair share" not in told("resize", halves, "--to", "4", *some)[1]
    assert "needs the whole topic" in refusal("resize", halves, "--to", "4", "--plan", *some)
    said = refusal("copartition", halves, halves, "--since", "2099-01-01")
    assert "it is open whether the topics meet" in said
    code, out, _ = told("check", halves, "--since", "2099-01-01")
    assert (code, "Nothing was checked: there are no records." in out) == (0, True)
    code, _, err = told("check", halves, "--since", "20261124")
    assert err == "--since 20261124 is in milliseconds: 1970-01-01T05:37:41Z; write a date as 2026-11-24\n"
