"""A cluster read from a live Kafka: the same through each library, as its brokers describe it, with racks if known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

import kafka
import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient

import partwright as pw
from partwright.cluster import Broker, Partition
from partwright.kafka import EmbeddedKafka
from partwright.kafka.topics import create_topic

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.broker

CLOSED = "127.0.0.1:1"


@pytest.fixture(scope="module")
def racked() -> Iterator[EmbeddedKafka]:
    """A broker that has a rack, creates each topic that is asked for, and has no topics of other tests."""
    overrides = {"auto.create.topics.enable": "true", "num.partitions": "3"}
    with EmbeddedKafka(racks=["eu-west-1a"], overrides=overrides) as running:
        yield running


def sources(servers: str) -> Iterator[tuple[str, Any, str | None]]:
    """Every object from which a cluster can be read, and the rack that it reports."""
    yield "address", servers, "eu-west-1a"
    admin = kafka.KafkaAdminClient(bootstrap_servers=servers)
    yield "kafka-python", admin, "eu-west-1a"
    admin.close()
    yield "AdminClient", AdminClient({"bootstrap.servers": servers}), "eu-west-1a"
    yield "Producer", Producer({"bootstrap.servers": servers}), None
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "none"})
    yield "Consumer", consumer, None
    consumer.close()


def test_every_library_tells_the_same_cluster(racked: EmbeddedKafka) -> None:
    servers = racked.bootstrap_servers
    host, port = servers.split(":")
    create_topic(servers, "orders", 12)
    create_topic(servers, "users", 5)
    led = {
        name: [Partition(n, 1, (1,), (1,)) for n in range(count)]
        for name, count in [("orders", 12), ("users", 5)]
    }
    asked = []
    for name, source, rack in sources(servers):
        wanted = pw.Cluster([Broker(1, host, int(port), rack)], led)
        # Kafka's own topics, which a consumer's group created here, are left out.
        assert pw.Cluster.from_kafka(source) == wanted, name
        some = pw.Cluster.from_kafka(source, ["users"])
        assert some == pw.Cluster(wanted.brokers, {"users": led["users"]}), name
        both = pw.Cluster.from_kafka(source, iter(["users", "orders"]))
        assert list(both.topics) == ["users", "orders"], name
        assert both == wanted, name
        with pytest.raises(pw.BrokerError) as refused:
            pw.Cluster.from_kafka(source, ["orders", "ordres"])
        if name == "address":
            assert str(refused.value) == f"there is no topic 'ordres' at {servers}: did you mean 'orders'?"
        else:
            assert str(refused.value) == (
                "there is no topic 'ordres' in the cluster of this client: check its name, or make it first"
            ), name
        with pytest.raises(pw.PartwrightError, match="cannot be a topic's name"):
            pw.Cluster.from_kafka(source, ["a/b"])
        asked.append(name)
    assert len(asked) == 5
    # Asking for a topic did not create it.
    assert list(pw.Cluster.from_kafka(servers).topics) == ["orders", "users"]


def test_kafkas_own_topics_are_read_where_they_are_named(broker: EmbeddedKafka) -> None:
    servers, topic = broker.bootstrap_servers, f"t-{uuid4().hex[:8]}"
    create_topic(servers, topic, 2)
    producer = Producer({"bootstrap.servers": servers, "transactional.id": topic})
    producer.init_transactions(30)
    assert "__transaction_state" not in pw.Cluster.from_kafka(servers).topics
    assert "__transaction_state" not in pw.Cluster.from_kafka(producer).topics
    for source in (servers, producer):
        assert (
            len(pw.Cluster.from_kafka(source, ["__transaction_state"]).partitions("__transaction_state")) == 4
        )


def test_a_kafka_that_is_not_there_is_one_sentence() -> None:
    with pytest.raises(
        pw.BrokerError, match=rf"no Kafka answers at {CLOSED} \(Connection refused\): `partwright doctor"
    ):
        pw.Cluster.from_kafka(CLOSED)
    for client in (AdminClient, Producer):
        with pytest.raises(
            pw.BrokerError, match=r"confluent-kafka has no metadata \(.*\): is the broker running\?"
        ):
            pw.Cluster.from_kafka(client({"bootstrap.servers": CLOSED, "log_level": 0}), timeout=1.0)


def test_a_client_that_is_closed_is_refused(racked: EmbeddedKafka) -> None:
    admin = kafka.KafkaAdminClient(bootstrap_servers=racked.bootstrap_servers)
    consumer = Consumer({"bootstrap.servers": racked.bootstrap_servers, "group.id": "none"})
    for client in (admin, consumer):
        client.close()
        with pytest.raises(
            pw.BrokerError, match=r"this client cannot be asked \(.*\): give one that is open"
        ):
            pw.Cluster.from_kafka(client)
