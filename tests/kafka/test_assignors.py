"""Real groups of Kafka's own consumers, kafka-python's, confluent-kafka's and of several: each gets what we say."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

import pytest
from confluent_kafka import Consumer
from kafka import KafkaConsumer

import partwright as pw
from partwright.assignors.consumer_partition_assignor import Cluster, ConsumerPartitionAssignor
from partwright.kafka.assignors import kafka_python_assignor
from partwright.kafka.topics import create_topic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from partwright.kafka import EmbeddedKafka

pytestmark = [pytest.mark.slow, pytest.mark.broker, pytest.mark.reference]

REFERENCE = Path(__file__).resolve().parents[1] / "reference"


class Fewest(ConsumerPartitionAssignor):
    """One's own: each partition to who has fewest yet, by id."""

    name = "fewest"

    def assign(self, cluster: Cluster, group_subscription: Any) -> Any:
        given: dict[str, list[tuple[str, int]]] = {member: [] for member in sorted(group_subscription)}
        for topic in cluster.topics():
            for each in cluster.partitions_for_topic(topic):
                given[min(given, key=lambda member: len(given[member]))].append((topic, each.partition))
        return given


class FewestInTwo(Fewest):
    """The same in two rebalances: what another owns is withheld."""

    name = "fewest-in-two"
    supported_protocols = ("COOPERATIVE",)

    def assign(self, cluster: Cluster, group_subscription: Any) -> Any:
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
    # The first leads, and leaves at the end.
    *[(assignor, "java kafka-python confluent-kafka") for assignor in ("range", "roundrobin")],
    *[(assignor, "confluent-kafka java kafka-python") for assignor in ("range", "roundrobin")],
    *[(assignor, "java kafka-python java") for assignor in ("sticky", "cooperative-sticky")],
    *[(assignor, "kafka-python java kafka-python") for assignor in ("sticky", "cooperative-sticky")],
    *[(assignor, "java java java java") for assignor in ("server-uniform", "server-range")],
    *[(assignor, "confluent-kafka java confluent-kafka") for assignor in ("server-uniform", "server-range")],
]
PATIENCE_S = 90
# The broker's own assignors, of groups of KIP-848.
BROKERS = "server-"
STICKY = {"sticky", "cooperative-sticky", "server-uniform", FewestInTwo}
CLASSES = {
    "range": "RangeAssignor",
    "roundrobin": "RoundRobinAssignor",
    "sticky": "StickyAssignor",
    "cooperative-sticky": "CooperativeStickyAssignor",
}
# Who is asked to rejoin hears of it with its next heartbeat.
HEARTBEAT_MS = 300
SESSION_MS = 10_000

Pair = tuple[str, int]


class Reader(Protocol):
    """A member of a group."""

    failed: object

    @property
    def id(self) -> str:
        """Its member id, once it has joined."""

    @property
    def partitions(self) -> set[Pair]:
        """What it reads."""

    def leave(self) -> None:
        """Leave the group."""


class _Polling:
    """A consumer that polls in a thread of its own, as its clients do."""

    def __init__(
        self, consumer: Any, poll_arguments: dict[str, Any], member_id: Callable[[], str | None]
    ) -> None:
        self.consumer = consumer
        self._member_id = member_id
        self.failed: object = None
        self.id = ""
        self.partitions: set[Pair] = set()
        self._arguments = poll_arguments
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._poll, daemon=True)
        self._thread.start()

    def _poll(self) -> None:
        try:
            while not self._ends.is_set():
                self.consumer.poll(**self._arguments)
                self.seen()
            self.consumer.close()
        except BaseException as error:  # noqa: BLE001 - the test says what it was
            self.failed = error

    def seen(self) -> None:
        """Note what it is and has, in the thread that polls: confluent-kafka's client may stand still in another."""
        self.partitions = {(each.topic, each.partition) for each in self.consumer.assignment()}
        self.id = self._member_id() or ""

    def leave(self) -> None:
        self._ends.set()
        self._thread.join(PATIENCE_S)


class KafkaPython(_Polling):
    """kafka-python's consumer with Kafka's own assignors, or one's own."""

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


class Confluent(_Polling):
    """confluent-kafka's consumer, with the assignors that it shares with Java, or the broker's."""

    def __init__(self, servers: str, group: str, topics: Sequence[str], assignor: str) -> None:
        settings: dict[str, Any] = {"bootstrap.servers": servers, "group.id": group}
        if assignor.startswith(BROKERS):
            settings |= {
                "group.protocol": "consumer",
                "group.remote.assignor": assignor.removeprefix(BROKERS),
            }
        else:
            settings |= {
                "partition.assignment.strategy": assignor,
                "heartbeat.interval.ms": HEARTBEAT_MS,
                "session.timeout.ms": SESSION_MS,
            }
        consumer = Consumer(settings)
        consumer.subscribe(list(topics))
        super().__init__(consumer, {"timeout": 0.1}, consumer.memberid)


class JavaMembers:
    """The process of `partwright.GroupMembers`, in which Kafka's own consumers live."""

    def __init__(self, command: Sequence[str]) -> None:
        # The program is this project's own.
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
        self.said: dict[str, dict[str, Any]] = {}
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            said = json.loads(line)
            self.said[said.get("name", "ids")] = said

    def tell(self, what: dict[str, Any]) -> None:
        """Tell the process to do something."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{json.dumps(what)}\n")
        self._process.stdin.flush()

    def topic_ids(self, servers: str, topics: list[str]) -> dict[str, str]:
        """The ids that a broker has given to topics."""
        self.said.pop("ids", None)
        self.tell({"ids": topics, "config": {"bootstrap.servers": servers}})
        until = time.monotonic() + PATIENCE_S
        while "ids" not in self.said:
            assert time.monotonic() < until
            time.sleep(0.05)
        assert "failed" not in self.said["ids"], self.said["ids"]
        found: dict[str, str] = self.said["ids"]["ids"]
        return found

    def end(self) -> None:
        """All leave, and the process ends."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(PATIENCE_S)
        self._listener.join(PATIENCE_S)
        self._process.stdout.close()


class Java:
    """Kafka's own consumer."""

    made = 0

    def __init__(
        self, members: JavaMembers, servers: str, group: str, topics: Sequence[str], assignor: str
    ) -> None:
        Java.made += 1
        self._members, self._name = members, f"java-{Java.made}"
        config: dict[str, Any] = {"bootstrap.servers": servers, "group.id": group}
        if assignor.startswith(BROKERS):
            config |= {"group.protocol": "consumer", "group.remote.assignor": assignor.removeprefix(BROKERS)}
        else:
            config |= {
                "partition.assignment.strategy": f"org.apache.kafka.clients.consumer.{CLASSES[assignor]}",
                "heartbeat.interval.ms": HEARTBEAT_MS,
                "session.timeout.ms": SESSION_MS,
            }
        members.tell({"join": self._name, "topics": list(topics), "config": config})

    @property
    def _said(self) -> dict[str, Any]:
        return self._members.said.get(self._name, {})

    @property
    def failed(self) -> object:
        """What its client threw."""
        return self._said.get("failed")

    @property
    def id(self) -> str:
        return self._said.get("id", "")

    @property
    def partitions(self) -> set[Pair]:
        return {(topic, partition) for topic, partition in self._said.get("partitions", [])}

    def leave(self) -> None:
        self._members.tell({"leave": self._name})


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
    """What the group settles on: cooperative members need a second rebalance."""
    while True:
        members: list[dict[str, Any]] = [{"id": each, "topics": sorted(topics)} for each in ids]
        for member in members:
            if assignor in STICKY and member["id"] in before:
                member |= {"owned": before[member["id"]], "generation": 1}
        found = pw.assign(topics, members, assignor, topic_ids=topic_ids).to_dict()
        if sum(map(len, found.values())) == sum(topics.values()):
            return found
        before = found


# A socket that kafka-python forgets to close, where its coordinator moved on meanwhile, is not ours.
@pytest.mark.filterwarnings(
    "ignore:Exception ignored in. <socket.socket:pytest.PytestUnraisableExceptionWarning"
)
@pytest.mark.parametrize(("assignor", "clients"), GROUPS)
def test_each_member_of_a_real_group_gets_what_we_say(
    assignor: Any, clients: str, broker: EmbeddedKafka, java: JavaMembers
) -> None:
    # On a busy machine a broker may assign twice while one joins, and a client may miss heartbeats: twice more then,
    # in a new group. What we say wrongly is wrong there, too.
    for left in (2, 1, 0):
        try:
            _tell(assignor, clients, broker, java)
        except AssertionError:
            if not left:
                raise
        else:
            return


def _tell(assignor: Any, clients: str, broker: EmbeddedKafka, java: JavaMembers) -> None:
    """Members come one after another, and the first of them goes."""
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
            given = _settled(step, readers, wanted)
    finally:
        for each in readers:
            each.leave()


def _settled(
    step: str, readers: list[Reader], wanted_of: Callable[[list[str]], dict[str, list[Pair]]]
) -> dict[str, list[Pair]]:
    """What members were to get, once they have got it."""
    until = time.monotonic() + PATIENCE_S
    while True:
        assert [each.failed for each in readers] == [None] * len(readers)
        ids = [each.id for each in readers]
        wanted = wanted_of(ids) if all(ids) else {}
        got = {each.id: each.partitions for each in readers}
        if got == {name: set(pairs) for name, pairs in wanted.items()}:
            return wanted
        assert time.monotonic() < until, (step, got, wanted)
        time.sleep(0.2)
