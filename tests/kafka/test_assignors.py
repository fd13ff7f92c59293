"""Real groups of Kafka's own consumers, kafka-python's, confluent-kafka's and of several: each gets our answer."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from kafka import KafkaConsumer
from live_readers import (
    HEARTBEAT_MS,
    SESSION_MS,
    Confluent,
    Java,
    JavaMembers,
    Pair,
    Polling,
    Reader,
    all_get,
)

import partwright as pw
from partwright.assignors.consumer_partition_assignor import ConsumerPartitionAssignor, GroupCluster
from partwright.kafka.assignors import kafka_python_assignor
from partwright.kafka.topics import create_topic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from partwright.kafka import EmbeddedKafka

pytestmark = [pytest.mark.broker, pytest.mark.reference]

REFERENCE = Path(__file__).resolve().parents[1] / "reference"


class Fewest(ConsumerPartitionAssignor):
    """A user's own assignor: each partition goes to the member with the fewest so far, by ID."""

    name = "fewest"

    def assign(self, cluster: GroupCluster, group_subscription: Any) -> Any:
        given: dict[str, list[tuple[str, int]]] = {member: [] for member in sorted(group_subscription)}
        for topic in cluster.topics():
            for each in cluster.partitions_for_topic(topic):
                given[min(given, key=lambda member: len(given[member]))].append((topic, each.partition))
        return given


class FewestInTwo(Fewest):
    """The same in two rebalances: partitions that another member owns are withheld."""

    name = "fewest-in-two"
    supported_protocols = ("COOPERATIVE",)

    def assign(self, cluster: GroupCluster, group_subscription: Any) -> Any:
        owners = {pair: name for name, said in group_subscription.items() for pair in said.owned_partitions}
        return {
            name: [pair for pair in pairs if owners.get(pair, name) == name]
            for name, pairs in super().assign(cluster, group_subscription).items()
        }


PARTITIONS = {"orders": 7, "users": 5}
GROUPS = [
    *[(assignor, "java java java") for assignor in ("range", "roundrobin", "sticky", "cooperative-sticky")],
    *[
        (assignor, "kafka-python " * 3)
        for assignor in ("range", "roundrobin", "sticky", "cooperative-sticky")
    ],
    *[(assignor, "kafka-python " * 3) for assignor in (Fewest, FewestInTwo)],
    *[(assignor, "confluent-kafka " * 3) for assignor in ("range", "roundrobin")],
    # The first member leads, and leaves at the end.
    *[(assignor, "java kafka-python confluent-kafka") for assignor in ("range", "roundrobin")],
    *[(assignor, "confluent-kafka java kafka-python") for assignor in ("range", "roundrobin")],
    *[(assignor, "java kafka-python java") for assignor in ("sticky", "cooperative-sticky")],
    *[(assignor, "kafka-python java kafka-python") for assignor in ("sticky", "cooperative-sticky")],
    *[(assignor, "java java java java") for assignor in ("server-uniform", "server-range")],
    *[(assignor, "confluent-kafka java confluent-kafka") for assignor in ("server-uniform", "server-range")],
]
STICKY = {"sticky", "cooperative-sticky", "server-uniform", FewestInTwo}


class KafkaPython(Polling):
    """kafka-python's consumer with Kafka's own assignors, or a user's own."""

    def __init__(self, servers: str, group: str, topics: Sequence[str], assignor: Any) -> None:
        consumer = KafkaConsumer(
            *topics,
            bootstrap_servers=servers,
            group_id=group,
            partition_assignment_strategy=[kafka_python_assignor(assignor)],
            heartbeat_interval_ms=HEARTBEAT_MS,
            session_timeout_ms=SESSION_MS,
        )
        super().__init__(consumer, {"timeout_ms": 100}, lambda: consumer._coordinator._generation.member_id)


@pytest.fixture(scope="module")
def java(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JavaMembers]:
    sys.path.insert(0, str(REFERENCE))
    from builds import build_java

    sys.path.remove(str(REFERENCE))
    members = JavaMembers([*build_java(tmp_path_factory.mktemp("reference")), "partwright.GroupMembers"])
    yield members
    members.end()


def expected(
    topics: dict[str, int],
    ids: list[str],
    assignor: Any,
    before: dict[str, list[Pair]],
    topic_ids: dict[str, str],
) -> dict[str, list[Pair]]:
    """The assignment on which the group settles: cooperative members need a second rebalance."""
    while True:
        members: list[dict[str, Any]] = [{"id": each, "topics": sorted(topics)} for each in ids]
        for member in members:
            if assignor in STICKY and member["id"] in before:
                member |= {"owned": before[member["id"]], "generation": 1}
        found = pw.assign(topics, members, assignor, topic_ids=topic_ids).to_dict()
        if sum(map(len, found.values())) == sum(topics.values()):
            return found
        before = found


# kafka-python forgets to close a socket if its coordinator moves meanwhile; that socket is not ours.
@pytest.mark.filterwarnings(
    "ignore:Exception ignored in. <socket.socket:pytest.PytestUnraisableExceptionWarning"
)
@pytest.mark.parametrize(("assignor", "clients"), GROUPS)
def test_each_member_of_a_real_group_gets_what_we_say(
    assignor: Any, clients: str, broker: EmbeddedKafka, java: JavaMembers
) -> None:
    # On a busy machine a broker may assign twice while one joins, and a client may miss heartbeats: then there are two
    # more attempts, each in a new group. A wrong answer of ours stays wrong there too.
    for left in (2, 1, 0):
        try:
            _tell(assignor, clients, broker, java)
        except AssertionError:
            if not left:
                raise
        else:
            return


def _tell(assignor: Any, clients: str, broker: EmbeddedKafka, java: JavaMembers) -> None:
    """Members join one after another, and the first of them leaves."""
    made: dict[str, Callable[..., Reader]] = {
        "java": partial(Java, java),
        "kafka-python": KafkaPython,
        "confluent-kafka": Confluent,
    }
    tag = uuid4().hex[:8]
    topics = {f"{name}-{tag}": count for name, count in PARTITIONS.items()}
    for name, count in topics.items():
        create_topic(broker.bootstrap_servers, name, count)
    topic_ids = java.topic_ids(broker.bootstrap_servers, list(topics))
    readers: list[Reader] = []
    given: dict[str, list[Pair]] = {}
    try:
        for step in [*clients.split(), "leave"]:
            if step == "leave":
                readers.pop(0).leave()
            else:
                readers.append(made[step](broker.bootstrap_servers, f"group-{tag}", sorted(topics), assignor))
            wanted = partial(expected, topics, assignor=assignor, before=given, topic_ids=topic_ids)
            given = all_get(step, readers, wanted)
    finally:
        for each in readers:
            each.leave()
