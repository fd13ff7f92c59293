"""The transactional writer, for both of its users; and a fatal error that confluent-kafka loses."""

from __future__ import annotations

import re
import secrets
from contextlib import closing
from typing import TYPE_CHECKING, Any

import confluent_kafka
import listeners
import pyarrow as pa
import pytest
from confluent_kafka import KafkaError, KafkaException, Producer

from partwright.errors import BrokerError
from partwright.kafka import topics, writing
from partwright.kafka.client import SILENT
from partwright.kafka.connection import KafkaConfig
from partwright.kafka.errors import Meaning, meaning
from partwright.kafka.marks import Mark, settled_ends
from partwright.kafka.partition_writer import PartitionWriter
from partwright.kafka.reading import records
from partwright.kafka.troubles import RetriableError, Troubles
from partwright.kafka.writing import own_error
from partwright.migration import Migration, Side
from partwright.migration.ledger import State
from partwright.migration.translate import Slice
from partwright.migration.writer import MigrationWriter

if TYPE_CHECKING:
    from collections.abc import Callable

    from confluent_kafka import Message

    from partwright.kafka import EmbeddedKafka

pytestmark = pytest.mark.broker

OF_ITS_OWN = ValueError()


@pytest.fixture
def topic(broker: EmbeddedKafka) -> str:
    name = f"transactional-{secrets.token_hex(4)}"
    topics.create_topic(broker.bootstrap_servers, name, 1)
    return name


def in_transaction(broker: EmbeddedKafka, name: str) -> Producer:
    given: dict[str, Any] = {"bootstrap.servers": broker.bootstrap_servers, "transactional.id": name}
    producer = Producer(given, logger=SILENT)
    producer.init_transactions(30)
    producer.begin_transaction()
    return producer


def handles_an_exception(error: KafkaError | None, message: Message) -> None:
    """Handles one of its own, as Python's logging does when it first sees a level."""
    del error, message
    # Made before, because nothing can be made while another exception is set.
    try:
        raise OF_ITS_OWN
    except ValueError:
        pass


def test_a_lost_fatal_error_is_found_again(broker: EmbeddedKafka, topic: str) -> None:
    shut_out = []
    for _ in range(2):
        name = secrets.token_hex(4)
        shut_out.append(in_transaction(broker, name))
        in_transaction(broker, name)
        shut_out[-1].produce(topic, b"too late", on_delivery=handles_an_exception)
    with pytest.raises(SystemError, match="without setting an exception"):
        shut_out[0].flush(10)
    with pytest.raises(KafkaException) as caught, own_error(shut_out[1]):
        shut_out[1].flush(10)
    assert meaning(caught.value.args[0]) is Meaning.FENCED
    assert caught.value.args[0].fatal()


def test_any_other_is_raised_as_it_is_after_the_transaction_was_aborted(
    broker: EmbeddedKafka, topic: str
) -> None:
    producer = in_transaction(broker, secrets.token_hex(4))
    producer.produce(topic, b"aborted")
    while producer.flush(1):
        pass
    with pytest.raises(SystemError, match="of something else"), own_error(producer):
        raise SystemError("of something else")
    producer.begin_transaction()
    producer.produce(topic, b"committed")
    producer.commit_transaction(30)
    # A record and a marker each.
    config = KafkaConfig.read({}, servers=broker.bootstrap_servers)
    assert settled_ends(config, topic, [0]) == {0: 4}


@pytest.fixture(params=["exactly-once writes", "copies"])
def write(
    request: pytest.FixtureRequest, broker: EmbeddedKafka, topic: str
) -> Callable[[KafkaConfig, int], None]:
    """Writes some records to the topic's partition with either of the two writers."""

    def exactly_once(config: KafkaConfig, count: int) -> None:
        writer = PartitionWriter(config, topic, 0, 0, Mark("partwright", topic.encode()[-8:]))
        column = pa.array([b"v"] * count)
        writer.write(list(range(count)), column, column)
        writer.end()

    def copied(config: KafkaConfig, count: int) -> None:
        source = f"{topic}-old"
        if topics.partition_count(config, source) is None:
            topics.create_topic(config, source, 1)
            with Producer({"bootstrap.servers": broker.bootstrap_servers}) as producer:
                for _ in range(count):
                    producer.produce(source, b"v", b"v")
        migration = Migration(Side(config, source), Side(config, topic), 1)
        if topics.partition_count(config, migration.ledger) is None:
            topics.create_topic(config, migration.ledger, 1)
        some = list(records(config, source, {0: (0, count)}))
        state = State(["", "", ""], ["", "", ""], {}, "copying", [0], [0], [0])
        with closing(MigrationWriter(migration, 1_000_000)) as writer:
            writer.write(some, Slice([0] * count, list(range(count)), [0] * count, {}), lambda _: state)

    return {"exactly-once writes": exactly_once, "copies": copied}[request.param]


def committed(config: KafkaConfig, topic: str) -> int:
    """How many records a consumer of committed records gets; no transaction may be open."""
    end = settled_ends(config, topic, [0], patience=1)[0]
    return len(list(records(config, topic, {0: (0, end)}, committed=True)))


def test_lost_brokers_are_noticed_while_the_queue_is_full(
    broker: EmbeddedKafka,
    topic: str,
    write: Callable[[KafkaConfig, int], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = KafkaConfig.read({}, servers=broker.bootstrap_servers)
    given = config.librdkafka()
    # So that it is full at once.
    small = {"queue.buffering.max.messages": 10, "linger.ms": 200}
    monkeypatch.setattr(KafkaConfig, "librdkafka", lambda _: {**given, **small})

    class Lost(Troubles):
        def check(self, *_: float) -> None:
            raise RetriableError("broker 1 is gone")

    monkeypatch.setattr(writing, "Troubles", Lost)
    with pytest.raises(RetriableError, match="broker 1 is gone"):
        write(config, 100)
    monkeypatch.undo()
    # What was sent is aborted, so nobody waits for it.
    assert committed(config, topic) == 0
    write(config, 100)
    assert committed(config, topic) == 100


def test_what_may_pass_is_tried_again(
    broker: EmbeddedKafka,
    topic: str,
    write: Callable[[KafkaConfig, int], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As when a coordinator is lost: each step is refused once, and its answer may be lost as well."""
    config = KafkaConfig.read({}, servers=broker.bootstrap_servers)
    refused: list[str] = []

    class Unsteady(Producer):
        def init_transactions(self, *timeout: float) -> None:
            self._once("init", super().init_transactions, *timeout)

        def begin_transaction(self) -> None:
            self._once("begin", super().begin_transaction)

        def commit_transaction(self, *timeout: float) -> None:
            self._once("commit", super().commit_transaction, *timeout)

        def _once(self, step: str, do: Callable[..., None], *timeout: float) -> None:
            if step not in refused:
                refused.append(step)
                raise KafkaException(KafkaError(15, "no coordinator", False, True))
            do(*timeout)

    monkeypatch.setattr(confluent_kafka, "Producer", Unsteady)
    write(config, 50)
    assert sorted(refused) == ["begin", "commit", "init"]
    assert committed(config, topic) == 50


def test_the_reason_is_said_where_the_error_is_only_that_it_has_ended(
    broker: EmbeddedKafka,
    topic: str,
    write: Callable[[KafkaConfig, int], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Fenced off in the middle of a transaction: each later call says only `_FATAL`."""
    config = KafkaConfig.read({}, servers=broker.bootstrap_servers)
    made: list[dict[str, Any]] = []

    class Late(Producer):
        def __init__(self, given: dict[str, Any], **more: Any) -> None:
            super().__init__(given, **more)
            made.append(given)

        def begin_transaction(self) -> None:
            super().begin_transaction()
            in_transaction(broker, made[0]["transactional.id"]).abort_transaction(30)

    monkeypatch.setattr(confluent_kafka, "Producer", Late)
    with pytest.raises(BrokerError, match=r"another (process|copy)") as refused:
        write(config, 50)
    assert meaning(refused.value) is Meaning.FENCED
    monkeypatch.undo()
    assert committed(config, topic) == 0


def without_transactions(said: bytes) -> bytes:
    """What a broker says, without `InitProducerId` among the requests that it takes (KIP-35)."""
    # Each has a number, its least and its most version, and no tagged field; they come in the order of the numbers.
    return re.sub(rb"(?s)(\0\x15.{4}\0)\0\x16(.{4}\0\0\x17)", b"\\1\x7f\x16\\2", said)


def test_an_older_kafka_is_one_sentence_before_anything_is_written(
    broker: EmbeddedKafka, topic: str, write: Callable[[KafkaConfig, int], None]
) -> None:
    now = KafkaConfig.read({}, servers=broker.bootstrap_servers)
    with listeners.relay(broker.port, changed=without_transactions) as port:
        config = KafkaConfig.read({}, servers=f"127.0.0.1:{port}")
        with pytest.raises(BrokerError, match="has no transactions: ") as refused:
            write(config, 5)
    assert len(str(refused.value).splitlines()) == 1
    assert meaning(refused.value) is Meaning.UNSUPPORTED
    assert committed(now, topic) == 0
