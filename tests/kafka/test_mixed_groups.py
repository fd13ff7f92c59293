"""Real members of several clients in one group of a real Kafka: what they send, and their leader's answer."""

from __future__ import annotations

import asyncio
import threading
import warnings
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from aiokafka import AIOKafkaConsumer
from aiokafka.coordinator.assignors.range import RangePartitionAssignor as AioRange
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor as AioSticky
from confluent_kafka import Consumer
from confluent_kafka.admin import AdminClient
from kafka import KafkaConsumer
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from live_groups import settled

from partwright.assignors.mixed.group_leaders import leaders
from partwright.assignors.mixed.subscription import Held, member_metadata
from partwright.kafka.topics import create_topic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from partwright.kafka import EmbeddedKafka

pytestmark = pytest.mark.broker
PATIENCE_S = 60


class Members:
    """Consumers that are polled until the end."""

    def __init__(self, servers: str) -> None:
        self._servers = servers
        self._ends = threading.Event()
        self._threads: list[threading.Thread] = []

    def librdkafka(self, group: str, topics: list[str], assignor: str) -> None:
        consumer = Consumer(
            {"bootstrap.servers": self._servers, "group.id": group, "partition.assignment.strategy": assignor}
        )
        consumer.subscribe(topics)

        def poll() -> None:
            while not self._ends.is_set():
                consumer.poll(0.1)
            consumer.close()

        self._start(poll)

    def kafka_python(self, group: str, topics: list[str], assignor: type) -> None:
        def poll() -> None:
            consumer = KafkaConsumer(
                bootstrap_servers=self._servers, group_id=group, partition_assignment_strategy=[assignor]
            )
            consumer.subscribe(topics)
            while not self._ends.is_set():
                consumer.poll(100)
            consumer.close()

        self._start(poll)

    def aiokafka(self, group: str, topics: list[str], assignor: type) -> None:
        async def read() -> None:
            consumer = AIOKafkaConsumer(
                *topics,
                bootstrap_servers=self._servers,
                group_id=group,
                partition_assignment_strategy=[assignor],
            )
            await consumer.start()
            while not self._ends.is_set():
                await consumer.getmany(timeout_ms=100)
            await consumer.stop()

        self._start(lambda: asyncio.run(read()))

    def _start(self, poll: Callable[[], None]) -> None:
        self._threads.append(threading.Thread(target=poll, daemon=True))
        self._threads[-1].start()

    def end(self) -> None:
        self._ends.set()
        for thread in self._threads:
            thread.join(PATIENCE_S)


@pytest.fixture
def members(broker: EmbeddedKafka) -> Iterator[Members]:
    found = Members(broker.bootstrap_servers)
    yield found
    found.end()


def metadata(servers: str, group: str) -> dict[str, bytes]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        (found,) = AdminClient({"bootstrap.servers": servers}).list_groups(group, timeout=10)
    return {each.client_id: each.metadata for each in found.members}


def by_client(found: dict[str, Any]) -> dict[str, Any]:
    return {each["client"]: each for each in found["members"]}


def test_members_of_three_clients_share_by_range(broker: EmbeddedKafka, members: Members) -> None:
    servers, tag = broker.bootstrap_servers, uuid4().hex[:8]
    orders, users, group = f"mixed-orders-{tag}", f"mixed-users-{tag}", f"mixed-{tag}"
    create_topic(servers, orders, 7)
    create_topic(servers, users, 4)
    members.aiokafka(group, [orders], AioRange)
    settled(servers, group, 1, all_read=True)
    members.kafka_python(group, [orders, users], RangePartitionAssignor)
    settled(servers, group, 2, all_read=True)
    members.librdkafka(group, [orders, users], "range")
    found = settled(servers, group, 3, all_read=True)
    assert set(by_client(found)) == {"librdkafka", "kafka-python", "aiokafka"}
    told = {name.split("-3")[0].split("-0")[0]: data for name, data in metadata(servers, group).items()}
    both = Held((orders, users), None, -1, None, None)
    assert told["rdkafka"] == member_metadata("librdkafka", "range", both)
    # kafka-python keeps topics in a set, whose order differs in each process.
    walked = tuple(by_client(found)["kafka-python"]["topics"])
    assert set(walked) == {orders, users}
    assert told["kafka-python"] == member_metadata("kafka-python", "range", both._replace(topics=walked))
    assert told["aiokafka"] == member_metadata("aiokafka", "range", both._replace(topics=(orders,)))
    for each in leaders(found["topics"], found["members"], "range"):
        assert each.unchanged, each


def test_a_cooperative_group_of_librdkafka_and_kafka_python(broker: EmbeddedKafka, members: Members) -> None:
    servers, tag = broker.bootstrap_servers, uuid4().hex[:8]
    topic, group = f"mixed-cooperative-{tag}", f"mixed-cooperative-{tag}"
    create_topic(servers, topic, 5)
    members.librdkafka(group, [topic], "cooperative-sticky")
    before = settled(servers, group, 1, all_read=True)
    members.kafka_python(group, [topic], CooperativeStickyAssignor)
    found = settled(servers, group, 2, all_read=True)
    # The answer follows from what they owned when the second one joined.
    new = [each for each in found["members"] if each["client"] == "kafka-python"]
    asked = [*before["members"], *({**each, "owned": None, "generation": -1} for each in new)]
    (led,) = leaders(found["topics"], asked, "cooperative-sticky", leader=before["members"][0]["id"])
    assert (led.rounds, led.moved) == (2, 2)
    sizes = {each["client"]: len(each["owned"][topic]) for each in found["members"]}
    assert sizes == {"librdkafka": 3, "kafka-python": 2}


def test_kafka_python_puts_a_version_before_the_user_data_of_sticky(
    broker: EmbeddedKafka, members: Members
) -> None:
    servers, tag = broker.bootstrap_servers, uuid4().hex[:8]
    topic, group = f"mixed-sticky-{tag}", f"mixed-sticky-{tag}"
    create_topic(servers, topic, 6)
    members.aiokafka(group, [topic], AioSticky)
    settled(servers, group, 1, all_read=True)
    members.kafka_python(group, [topic], StickyPartitionAssignor)
    settled(servers, group, 2, all_read=True)
    members.aiokafka(group, [topic], AioSticky)
    found = settled(servers, group, 3, all_read=True)
    (asked,) = (each for each in found["members"] if each["client"] == "kafka-python")
    (led,) = leaders(
        found["topics"],
        [each for each in found["members"] if each is not asked] + [asked],
        "sticky",
        leader=next(each["id"] for each in found["members"] if each["client"] == "aiokafka"),
    )
    assert led.forgotten == [asked["id"]]
