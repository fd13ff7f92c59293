"""The docstrings' examples about a broker run as shown, on an embedded Kafka of their own."""

from __future__ import annotations

import time
import warnings
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import docstrings
import pytest

from partwright.kafka import EmbeddedKafka
from partwright.kafka.topics import create_topic

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.broker
# The address that the docstrings show.
SHOWN = "127.0.0.1:9092"
SECONDS = 60


@contextmanager
def with_topics() -> Iterator[str]:
    """A broker with everything that the docstrings name: two topics, six records, and a group that reads."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from kafka import KafkaConsumer, KafkaProducer
    with EmbeddedKafka() as broker:
        address = broker.bootstrap_servers
        create_topic(address, "flights", 2)
        create_topic(address, "orders", 12)
        with closing(KafkaProducer(bootstrap_servers=address)) as producer:
            for number in range(6):
                producer.send("flights", b"", partition=int(number == 0))
            producer.flush()
        with closing(KafkaConsumer("orders", bootstrap_servers=address, group_id="billing")) as consumer:
            until = time.monotonic() + SECONDS
            while not consumer.assignment():
                assert time.monotonic() < until
                consumer.poll(100)
            yield address


def test_what_asks_a_broker() -> None:
    from confluent_kafka import Producer

    modules = {
        name for name in docstrings.modules() if name.startswith(("partwright.kafka", "partwright.cluster"))
    }
    there = {found.name: found for name in modules for found in docstrings.docstrings(name)}
    assert set(there) >= docstrings.AT_A_BROKER
    with with_topics() as address:
        producer = Producer({"bootstrap.servers": address})
        for name in sorted(docstrings.AT_A_BROKER):
            for example in there[name].examples:
                example.source = example.source.replace(SHOWN, address)
            docstrings.run(there[name], {"producer": producer})
        assert producer.flush(SECONDS) == 0
