"""Shared by tests of an embedded Kafka of several brokers: its settings, and what it reports about itself."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from confluent_kafka import Consumer, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

import partwright as pw
from partwright.errors import BrokerError

if TYPE_CHECKING:
    from collections.abc import Callable

    from partwright.kafka import EmbeddedKafka

PATIENCE_S = 90.0
SETTINGS = {
    "offsets.topic.num.partitions": "50",
    "broker.session.timeout.ms": "6000",
}
"""As many partitions as the documents have, and a killed broker that is missed soon."""

NOT_YET = {
    "COORDINATOR_LOAD_IN_PROGRESS",
    "COORDINATOR_NOT_AVAILABLE",
    "NOT_COORDINATOR",
    "_TIMED_OUT",
    "_TRANSPORT",
    "_WAIT_COORD",
}
"""What a commit may be refused with until the coordinator is there; librdkafka calls not all of it retriable."""


def wait_for(what: str, so: Callable[[], object]) -> None:
    """Waits until a condition holds; a cluster whose controller has just gone may not answer meanwhile."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            if so():
                return
        except BrokerError:
            pass
        assert time.monotonic() < deadline, what
        time.sleep(0.1)


def leaders(kafka: EmbeddedKafka, topic: str) -> list[int | None]:
    """The leader of each partition of a topic."""
    return [each.leader for each in pw.Cluster.from_kafka(kafka.bootstrap_servers, [topic]).topics[topic]]


def in_sync(kafka: EmbeddedKafka, topic: str) -> list[set[int]]:
    """The replicas of each partition of a topic that are in sync."""
    with AdminClient({"bootstrap.servers": kafka.bootstrap_servers}) as admin:
        found = admin.list_topics(topic, timeout=PATIENCE_S).topics[topic].partitions
    return [set(found[each].isrs) for each in sorted(found)]


def alive(kafka: EmbeddedKafka) -> set[int]:
    """The brokers that are alive, by those that run."""
    with AdminClient({"bootstrap.servers": kafka.bootstrap_servers}) as admin:
        return set(admin.list_topics(timeout=PATIENCE_S).brokers)


def commits(servers: str, group: str, *at: TopicPartition) -> bool:
    """Whether the coordinator takes the offsets of a group without members.

    A consumer asks it: confluent-kafka's AdminClient may crash if a new coordinator refuses.
    """
    consumer = Consumer({"bootstrap.servers": servers, "group.id": group, "log_level": 0})
    try:
        told = consumer.commit(offsets=list(at), asynchronous=False)
    except KafkaException as error:
        if not (error.args[0].retriable() or error.args[0].name() in NOT_YET):
            raise
        return False
    finally:
        consumer.close()
    return all(each.error is None for each in told)
