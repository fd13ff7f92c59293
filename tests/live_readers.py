"""Real consumers that join a group and leave it when told to: Kafka's own and confluent-kafka's."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from typing import TYPE_CHECKING, Any, Protocol

from confluent_kafka import Consumer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PATIENCE_S = 90
# The broker's own assignors, of groups of KIP-848.
BROKERS = "server-"
CLASSES = {
    "range": "org.apache.kafka.clients.consumer.RangeAssignor",
    "roundrobin": "org.apache.kafka.clients.consumer.RoundRobinAssignor",
    "sticky": "org.apache.kafka.clients.consumer.StickyAssignor",
    "cooperative-sticky": "org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
}
# A member that must rejoin learns of it with its next heartbeat.
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
        """The partitions that it reads."""

    def leave(self) -> None:
        """Leave the group."""


class Polling:
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
        except BaseException as error:  # noqa: BLE001 - the test shows it
            self.failed = error

    def seen(self) -> None:
        """Note its ID and partitions in the thread that polls: confluent-kafka's client may block in another thread."""
        self.partitions = {(each.topic, each.partition) for each in self.consumer.assignment()}
        self.id = self._member_id() or ""

    def leave(self) -> None:
        self._ends.set()
        self._thread.join(PATIENCE_S)


def _settings(
    servers: str, group: str, assignor: str, names: dict[str, str], config: dict[str, str] | None
) -> dict[str, Any]:
    """A consumer's settings; `names` are its client's names for the assignors of the classic protocol."""
    settings: dict[str, Any] = {"bootstrap.servers": servers, "group.id": group, **(config or {})}
    if assignor.startswith(BROKERS):
        return settings | {
            "group.protocol": "consumer",
            "group.remote.assignor": assignor.removeprefix(BROKERS),
        }
    return settings | {
        "partition.assignment.strategy": names[assignor],
        "heartbeat.interval.ms": HEARTBEAT_MS,
        "session.timeout.ms": SESSION_MS,
    }


class Confluent(Polling):
    """confluent-kafka's consumer, with the assignors that it shares with Java, or the broker's."""

    def __init__(
        self,
        servers: str,
        group: str,
        topics: Sequence[str],
        assignor: str,
        config: dict[str, str] | None = None,
    ) -> None:
        settings = _settings(servers, group, assignor, {assignor: assignor}, config)
        consumer = Consumer(settings)
        consumer.subscribe(list(topics))
        super().__init__(consumer, {"timeout": 0.1}, consumer.memberid)


class JavaMembers:
    """The process of `partwright.GroupMembers`, in which Kafka's own consumers live."""

    def __init__(self, command: Sequence[str]) -> None:
        # The program is part of this project.
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
        self,
        members: JavaMembers,
        servers: str,
        group: str,
        topics: Sequence[str],
        assignor: str,
        config: dict[str, str] | None = None,
    ) -> None:
        Java.made += 1
        self._members, self._name = members, f"java-{Java.made}"
        settings = _settings(servers, group, assignor, CLASSES, config)
        members.tell({"join": self._name, "topics": list(topics), "config": settings})

    @property
    def _said(self) -> dict[str, Any]:
        return self._members.said.get(self._name, {})

    @property
    def failed(self) -> object:
        """The error that its client threw."""
        return self._said.get("failed")

    @property
    def id(self) -> str:
        return self._said.get("id", "")

    @property
    def partitions(self) -> set[Pair]:
        return {(topic, partition) for topic, partition in self._said.get("partitions", [])}

    def leave(self) -> None:
        self._members.tell({"leave": self._name})


def all_get(
    step: str, readers: Sequence[Reader], wanted_of: Callable[[list[str]], dict[str, list[Pair]]]
) -> dict[str, list[Pair]]:
    """Waits until members have the partitions that they should have.

    Args:
        step: The name that a failure shows.
        readers: The members.
        wanted_of: The partitions that they should have, given their IDs.
    """
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
