"""A transactional producer whose fatal error confluent-kafka loses."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import KafkaException, Producer

from partwright.kafka import topics
from partwright.kafka.client import SILENT
from partwright.kafka.connection import KafkaConfig
from partwright.kafka.errors import Meaning, meaning
from partwright.kafka.last_marks import settled_ends
from partwright.kafka.transactional import own_error

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Message

    from partwright.kafka import EmbeddedKafka

pytestmark = [pytest.mark.slow, pytest.mark.broker]

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
