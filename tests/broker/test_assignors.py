"""kafka-python's consumers with Kafka's own assignors: what each member of a real group gets is what we say."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from kafka import KafkaConsumer

import partwright as pw
from partwright.kafka.assignors import kafka_python_assignor
from partwright.kafka.topics import create_topic

if TYPE_CHECKING:
    from partwright.kafka import EmbeddedKafka

pytestmark = [pytest.mark.slow, pytest.mark.broker]

PARTITIONS = {"orders": 7, "users": 5}
PATIENCE_S = 90


class Reader:
    """A consumer that polls in a thread of its own, as its clients do."""

    def __init__(self, servers: str, group: str, topics: list[str], assignor: str) -> None:
        self._consumer = KafkaConsumer(
            *topics,
            bootstrap_servers=servers,
            group_id=group,
            partition_assignment_strategy=[kafka_python_assignor(assignor)],
            heartbeat_interval_ms=300,
            session_timeout_ms=10_000,
        )
        self._ends = threading.Event()
        self.failed: BaseException | None = None
        self._thread = threading.Thread(target=self._poll, daemon=True)
        self._thread.start()

    def _poll(self) -> None:
        try:
            while not self._ends.is_set():
                self._consumer.poll(timeout_ms=100)
            self._consumer.close()
        except BaseException as error:  # noqa: BLE001 - the test says what it was
            self.failed = error

    @property
    def id(self) -> str:
        """Its member id, once it has joined."""
        return str(self._consumer._coordinator._generation.member_id)

    @property
    def partitions(self) -> set[tuple[str, int]]:
        """What it reads."""
        return {(each.topic, each.partition) for each in self._consumer.assignment()}

    def leave(self) -> None:
        """Leave the group."""
        self._ends.set()
        self._thread.join(PATIENCE_S)


def expected(
    topics: dict[str, int], ids: list[str], assignor: str, before: dict[str, list[tuple[str, int]]]
) -> dict[str, list[tuple[str, int]]]:
    """What the group settles on: cooperative members need a second rebalance."""
    while True:
        members: list[dict[str, Any]] = [{"id": each, "topics": sorted(topics)} for each in ids]
        for member in members:
            if assignor in {"sticky", "cooperative-sticky"} and member["id"] in before:
                member |= {"owned": before[member["id"]], "generation": 1}
        found = pw.assign(topics, members, assignor).to_dict()
        if sum(map(len, found.values())) == sum(topics.values()):
            return found
        before = found


@pytest.mark.parametrize("assignor", ["range", "roundrobin", "sticky", "cooperative-sticky"])
def test_a_group_gets_what_the_java_client_would_give_it(assignor: str, broker: EmbeddedKafka) -> None:
    tag = uuid4().hex[:8]
    topics = {f"{name}-{tag}": count for name, count in PARTITIONS.items()}
    for name, count in topics.items():
        create_topic(broker.bootstrap_servers, name, count)
    readers: list[Reader] = []
    given: dict[str, list[tuple[str, int]]] = {}
    try:
        for step in ("join", "join", "join", "leave"):
            if step == "join":
                readers.append(Reader(broker.bootstrap_servers, f"group-{tag}", sorted(topics), assignor))
            else:
                readers.pop(0).leave()
            until = time.monotonic() + PATIENCE_S
            while True:
                assert [each.failed for each in readers] == [None] * len(readers)
                ids = [each.id for each in readers]
                wanted = expected(topics, ids, assignor, given) if all(ids) else {}
                got = {each.id: each.partitions for each in readers}
                if got == {name: set(pairs) for name, pairs in wanted.items()}:
                    break
                assert time.monotonic() < until, (step, got, wanted)
                time.sleep(0.2)
            given = wanted
    finally:
        for each in readers:
            each.leave()
