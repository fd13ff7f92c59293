"""docs/rights.md: each command works with exactly the rights listed there, and names the one that is missing."""

from __future__ import annotations

import json
import re
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import confluent_kafka
import pyarrow as pa
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

import partwright as pw
from partwright.errors import BrokerError
from partwright.kafka import EmbeddedKafka, topics
from partwright.kafka.compacted import last_values
from partwright.kafka.connection import KafkaConfig
from partwright.kafka.errors import Meaning, meaning
from partwright.kafka.marks import Mark, last_marks
from partwright.kafka.partition_writer import PartitionWriter
from partwright.kafka.reading import Reading
from partwright.kafka.records import TopicRecords
from partwright.migration.streams import Streams

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from confluent_kafka import KafkaError

    from partwright.kafka.reading import Run

    Told = Callable[..., tuple[int, str, str]]

pytestmark = [pytest.mark.broker, pytest.mark.timeout(180)]

PAGE = Path(__file__).parents[2] / "docs" / "rights.md"
USER, GROUP, N = "alice", "billing", 3
PATIENCE_S = 30.0


class Right(NamedTuple):
    """One right of docs/rights.md."""

    operation: str
    kind: str
    name: str


TOPIC_SEEN, TOPIC_READ = Right("DESCRIBE", "topic", "orders"), Right("READ", "topic", "orders")
OTHER_READ = Right("READ", "topic", "users")
GROUP_SEEN = Right("DESCRIBE", "group", GROUP)
OFFSETS_SEEN = Right("DESCRIBE", "topic", "__consumer_offsets")
STATE_SEEN = Right("DESCRIBE", "topic", "__transaction_state")


class Row(NamedTuple):
    """One row of docs/rights.md: a command's arguments, its rights, and the beginning of its row."""

    words: Sequence[str]
    rights: Sequence[Right]
    of: str


ROWS = {
    "which": Row(["which", "k", "--topic", "kafka:///orders"], [TOPIC_SEEN], "`which --topic`"),
    "fingerprint": Row(["fingerprint", "kafka:///orders"], [TOPIC_READ], "`fingerprint`"),
    "check": Row(["check", "kafka:///orders"], [TOPIC_READ], "`fingerprint`"),
    "resize": Row(["resize", "kafka:///orders", "--to", "6"], [TOPIC_READ], "`fingerprint`"),
    "copartition": Row(
        ["copartition", "kafka:///orders", "kafka:///users"], [TOPIC_READ, OTHER_READ], "`fingerprint`"
    ),
    "bounded": Row(["check", "kafka:///orders", "--last", "5"], [TOPIC_READ], "`fingerprint`"),
    "since": Row(["check", "kafka:///orders", "--since", "2020-01-01"], [TOPIC_READ], "`fingerprint`"),
    "assign": Row(
        ["assign", "kafka://{}", "--group", GROUP, "--compare"], [GROUP_SEEN, TOPIC_SEEN], "`assign --group`"
    ),
    "coordinator": Row(
        ["coordinator", GROUP, "--broker", "{}"], [OFFSETS_SEEN, GROUP_SEEN], "`coordinator --broker` |"
    ),
    "transactional": Row(
        ["coordinator", "t-1", "--broker", "{}", "--transactional"],
        [STATE_SEEN],
        "`coordinator --broker --transactional`",
    ),
    "doctor": Row(["doctor", "--topic", "orders", "--group", GROUP], [TOPIC_READ, GROUP_SEEN], "`doctor`"),
}
CASES = [(name, missing) for name, row in ROWS.items() for missing in range(len(row.rights))]


@pytest.fixture(scope="module")
def kafka() -> Iterator[EmbeddedKafka]:
    """Two topics of the same keys, a group with a member that has committed, and both of Kafka's internal topics."""
    with EmbeddedKafka(security="ACL", heap="192m") as running:
        inside = running.internal_bootstrap_servers
        for topic in ("orders", "users"):
            topics.create_topic(inside, topic, N)
        settings = {"bootstrap.servers": inside, "partitioner": "murmur2_random", "transactional.id": "t-1"}
        with Producer(settings) as producer:
            producer.init_transactions(PATIENCE_S)
            producer.begin_transaction()
            for row in range(300):
                for topic in ("orders", "users"):
                    producer.produce(topic, b"v", key=b"key %d" % row)
            producer.commit_transaction(PATIENCE_S)
        member = Consumer({"bootstrap.servers": inside, "group.id": GROUP})
        member.subscribe(["orders"])
        while not member.assignment():
            member.consume(1, 0.1)
        member.commit(offsets=[TopicPartition("orders", 0, 5)], asynchronous=False)
        yield running
        member.close()


@pytest.fixture
def call(kafka: EmbeddedKafka, told: Told) -> Told:
    """Runs a command as alice."""

    def run(*words: str) -> tuple[int, str, str]:
        placed = [word.format(kafka.bootstrap_servers) for word in words]
        return told(*placed, "--json", "--command-config", kafka.command_config)

    return run


@pytest.fixture
def granted(kafka: EmbeddedKafka) -> Iterator[Callable[[Sequence[Right]], None]]:
    """Gives alice rights for one test."""
    given: list[Right] = []

    def grant(rights: Sequence[Right]) -> None:
        for right in rights:
            kafka.allow(USER, *right)
            given.append(right)

    yield grant
    for right in given:
        assert kafka.revoke(USER, *right) == 1


@pytest.mark.parametrize("name", ROWS)
def test_these_rights_are_enough(
    name: str, call: Told, granted: Callable[[Sequence[Right]], None], kafka: EmbeddedKafka
) -> None:
    granted(ROWS[name].rights)
    with AdminClient({"bootstrap.servers": kafka.internal_bootstrap_servers}) as admin:
        before = {each.group_id for each in admin.list_consumer_groups().result().valid}
        code, out, err = call(*ROWS[name].words)
        assert (code, err) == (0, "")
        assert json.loads(out)
        # Nothing joins a group.
        assert {each.group_id for each in admin.list_consumer_groups().result().valid} == before == {GROUP}


@pytest.mark.parametrize(("name", "missing"), CASES)
def test_one_right_fewer_is_named(
    name: str, missing: int, call: Told, granted: Callable[[Sequence[Right]], None]
) -> None:
    row = ROWS[name]
    wanted = row.rights[missing]
    granted([each for at, each in enumerate(row.rights) if at != missing])
    # Doctor goes step by step, and describes a topic before it reads it.
    operation = "DESCRIBE" if name == "doctor" else wanted.operation
    code, out, err = call(*row.words)
    said = err
    if name == "doctor":
        assert (code, err) == (1, "")
        said = next(each["said"] for each in json.loads(out)["steps"] if not each["passed"])
    else:
        assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"gives this user no right to {operation} the {wanted.kind} '{wanted.name}'" in said
    option = f"--operation {operation.capitalize()} --{wanted.kind} '{wanted.name}' --allow-principal"
    assert option in said


@pytest.mark.parametrize("name", ["fingerprint", "check", "resize", "copartition", "doctor"])
def test_to_describe_is_not_to_read(
    name: str, call: Told, granted: Callable[[Sequence[Right]], None]
) -> None:
    granted([TOPIC_SEEN, *(each for each in ROWS[name].rights if each != TOPIC_READ)])
    code, out, err = call(*ROWS[name].words)
    if name == "doctor":
        failed = [each for each in json.loads(out)["steps"] if not each["passed"]]
        assert (code, [each["name"] for each in failed]) == (1, ["read"])
        err = failed[0]["said"]
    else:
        assert (code, out) == (2, "")
    assert (
        "gives this user no right to READ the topic 'orders': grant it (kafka-acls.sh --add --operation Read"
        in err
    )


def test_a_cluster_is_of_the_topics_that_may_be_described(
    kafka: EmbeddedKafka, granted: Callable[[Sequence[Right]], None]
) -> None:
    config = kafka.client_properties()
    with pytest.raises(
        BrokerError, match="shows this user no topic: make one, or grant DESCRIBE on the existing ones"
    ):
        pw.Cluster.from_kafka(None, kafka_config=config)
    with pytest.raises(BrokerError, match="no right to DESCRIBE the topic 'orders'"):
        pw.Cluster.from_kafka(None, ["orders"], kafka_config=config)
    granted([TOPIC_SEEN])
    assert list(pw.Cluster.from_kafka(None, ["orders"], kafka_config=config).topics) == ["orders"]
    assert list(pw.Cluster.from_kafka(None, kafka_config=config).topics) == ["orders"]


def test_offsets_of_topics_that_may_not_be_described_are_left_out(
    call: Told, granted: Callable[[Sequence[Right]], None]
) -> None:
    granted([OFFSETS_SEEN, GROUP_SEEN])
    assert json.loads(call(*ROWS["coordinator"].words)[1])["offsets"] == []
    granted([TOPIC_SEEN])
    assert [each["topic"] for each in json.loads(call(*ROWS["coordinator"].words)[1])["offsets"]] == [
        "orders"
    ]


def test_making_and_deleting_need_their_own_rights(
    kafka: EmbeddedKafka, granted: Callable[[Sequence[Right]], None]
) -> None:
    config = kafka.client_properties()
    with pytest.raises(BrokerError, match="no right to CREATE the topic 'made'"):
        topics.create_topic(config, "made", 1)
    granted([Right("CREATE", "topic", "made"), Right("DESCRIBE", "topic", "made")])
    topics.create_topic(config, "made", 1)
    with pytest.raises(BrokerError, match="no right to DELETE the topic 'made'"):
        topics.delete_topic(config, "made")
    granted([Right("DELETE", "topic", "made")])
    topics.delete_topic(config, "made")


@pytest.mark.parametrize("name", ROWS)
def test_the_page_says_these_rights(name: str) -> None:
    (line,) = [
        each
        for each in PAGE.read_text(encoding="utf-8").splitlines()
        if each.startswith(f"| {ROWS[name].of}")
    ]
    topic, group, cluster = (cell.strip() for cell in line.split("|")[2:5])
    assert cluster == ""
    for kind, cell in (("topic", topic), ("group", group)):
        wanted = {each.operation for each in ROWS[name].rights if each.kind == kind}
        assert set(re.findall("[A-Z]{4,}", cell)) == wanted


def _audited(config: KafkaConfig) -> int:
    return sum(len(each.keys) for each in TopicRecords(config, "orders").batches())


def _marks(config: KafkaConfig) -> int:
    ends = topics.end_offsets(config, "orders")
    # None has this header, so every record is looked at.
    return len(last_marks(config, "orders", {each: (0, end) for each, end in ends.items()}, "none", b""))


def _copied(config: KafkaConfig) -> int:
    ends = topics.end_offsets(config, "orders")
    with closing(Streams(config, "orders", dict.fromkeys(ends, 0))) as streams:
        return len(streams.take([ends[each] for each in range(N)], 1000, 1 << 20))


def test_each_right_of_exactly_once_writes_is_named_before_anything_is_written(
    kafka: EmbeddedKafka, granted: Callable[[Sequence[Right]], None]
) -> None:
    """The topic is one of several: the user may write to the others, and in transactions of other names."""
    config, mark = KafkaConfig.read(kafka.client_properties()), Mark("partwright", b"8 bytes.")
    name = f"partwright.{mark.run.hex()}.0"
    topics.create_topic(kafka.internal_bootstrap_servers, "payments", 1)
    before = topics.end_offsets(kafka.internal_bootstrap_servers, "payments")
    granted([Right("WRITE", "topic", "users"), Right("WRITE", "transactional_id", "t-1")])
    for right, said in [
        (
            Right("WRITE", "transactional_id", name),
            f"WRITE as transactional id '{name}': grant it (kafka-acls.sh",
        ),
        (Right("DESCRIBE", "topic", "payments"), "WRITE the topic 'payments': grant it (kafka-acls.sh"),
        (Right("WRITE", "topic", "payments"), "WRITE the topic 'payments': grant it (kafka-acls.sh"),
    ]:
        with pytest.raises(BrokerError, match=re.escape(f"gives this user no right to {said}")) as refused:
            written_once(config, mark, before[0])
        assert len(str(refused.value).splitlines()) == 1
        assert topics.end_offsets(kafka.internal_bootstrap_servers, "payments") == before
        granted([right])
    written_once(config, mark, before[0])
    assert topics.end_offsets(kafka.internal_bootstrap_servers, "payments")[0] > before[0]


def written_once(config: KafkaConfig, mark: Mark, begin: int) -> None:
    writer, column = PartitionWriter(config, "payments", 0, begin, mark), pa.array([b"v"])
    writer.write([0], column, column)
    writer.end()


READERS: dict[str, tuple[Callable[[KafkaConfig], int], int]] = {
    "audits": (_audited, 300),
    "a run's ledger": (lambda config: len(last_values(config, "orders")), 300),
    "exactly-once marks": (_marks, 0),
    "migrations": (_copied, 300),
}


@pytest.mark.parametrize("name", READERS)
def test_every_reader_needs_the_right_to_read_the_topic_and_none_to_a_group(
    name: str,
    kafka: EmbeddedKafka,
    granted: Callable[[Sequence[Right]], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read, count = READERS[name]
    config = KafkaConfig.read(kafka.client_properties())
    granted([TOPIC_SEEN])
    with pytest.raises(BrokerError, match="gives this user no right to READ the topic 'orders'"):
        read(config)
    granted([TOPIC_READ])
    # librdkafka reports the group's missing right in place of a record, so wait for that in the middle of a reading.
    events: list[Meaning | None] = []
    event, poll = Reading._event, Reading.poll

    def noted(self: Reading, consumer: Consumer, partition: int, offset: int, error: KafkaError) -> None:
        events.append(meaning(error))
        event(self, consumer, partition, offset, error)

    def waiting(self: Reading) -> list[Run]:
        came = poll(self)
        while Meaning.NO_RIGHT not in events:
            came += poll(self)
        return came

    monkeypatch.setattr(Reading, "_event", noted)
    monkeypatch.setattr(Reading, "poll", waiting)
    assert read(config) == count


@pytest.mark.parametrize("name", READERS)
def test_every_reader_takes_the_settings_for_reading(
    name: str, kafka: EmbeddedKafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[dict[str, object]] = []

    def consumer(given: dict[str, object], **more: Any) -> Consumer:
        made.append(given)
        return Consumer(given, **more)

    monkeypatch.setattr(confluent_kafka, "Consumer", consumer)
    settings = {"client.rack": "west", "fetch.max.bytes": "2000000", "isolation.level": "read_uncommitted"}
    config = KafkaConfig.read(
        {"bootstrap.servers": kafka.internal_bootstrap_servers, **settings, "fetch.max.wait.ms": "70"}
    )
    READERS[name][0](config)
    assert made
    for given in made:
        assert (given["client.rack"], given["fetch.max.bytes"], given["fetch.wait.max.ms"]) == (
            "west",
            "2000000",
            70,
        )
