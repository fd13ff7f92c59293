"""A group of a live Kafka: its members' subscriptions and partitions, and the answer of each assignor for it."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from confluent_kafka import Consumer
from live_groups import settled

import partwright as pw
from partwright.kafka import EmbeddedKafka
from partwright.kafka.doctor import examine
from partwright.kafka.groups import any_group
from partwright.kafka.topics import create_topic

if TYPE_CHECKING:
    from collections.abc import Iterator


pytestmark = pytest.mark.broker

PATIENCE_S = 90


class Readers:
    """Consumers of librdkafka that poll, each in its own thread."""

    def __init__(self, servers: str) -> None:
        self._servers = servers
        self._ends = threading.Event()
        self._threads: list[threading.Thread] = []

    def join(self, group: str, topics: list[str], **settings: str) -> None:
        given = {name.replace("_", "."): value for name, value in settings.items()}
        consumer = Consumer({"bootstrap.servers": self._servers, "group.id": group, **given})
        consumer.subscribe(topics)
        self._threads.append(threading.Thread(target=self._poll, args=(consumer,), daemon=True))
        self._threads[-1].start()

    def _poll(self, consumer: Any) -> None:
        while not self._ends.is_set():
            consumer.poll(0.1)
        consumer.close()

    def end(self) -> None:
        self._ends.set()
        for thread in self._threads:
            thread.join(PATIENCE_S)


@pytest.fixture
def readers(broker: EmbeddedKafka) -> Iterator[Readers]:
    found = Readers(broker.bootstrap_servers)
    yield found
    found.end()


def test_a_live_group_is_read_and_compared(broker: EmbeddedKafka, readers: Readers) -> None:
    servers, tag = broker.bootstrap_servers, uuid4().hex[:8]
    orders, users, group = f"orders-{tag}", f"users-{tag}", f"group-{tag}"
    create_topic(servers, orders, 5)
    create_topic(servers, users, 4)
    readers.join(group, [orders, users], partition_assignment_strategy="range", group_instance_id="static")
    readers.join(group, [users], partition_assignment_strategy="range")
    readers.join(group, [orders], partition_assignment_strategy="range")
    found = settled(servers, group, 3)
    assert found["assignor"] == "range"
    assert found["topics"] == {orders: 5, users: 4}
    by_topics = {tuple(each["topics"]): each for each in found["members"]}
    assert set(by_topics) == {(orders, users), (users,), (orders,)}
    assert by_topics[orders, users]["instance_id"] == "static"
    # librdkafka's range sorts only by the member's ID, Java's by group.instance.id first.
    dynamic = [{**each, "instance_id": None} for each in found["members"]]
    given = pw.assign(found["topics"], dynamic, "range").to_dict()
    owned = {
        each["id"]: sorted((topic, at) for topic, those in each["owned"].items() for at in those)
        for each in found["members"]
    }
    assert owned == {name: sorted(pairs) for name, pairs in given.items()}

    def run(*words: str) -> Any:
        command = [
            sys.executable,
            "-m",
            "partwright",
            "assign",
            f"kafka://{servers}",
            "--group",
            group,
            *words,
        ]
        return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    assert set(found["guessed"].values()) == {"the client id 'rdkafka'"}
    led = run("--json")
    assert (led["assignor"], led["unchanged"]) == ("librdkafka:range", True)
    assert {name: sorted(map(tuple, pairs)) for name, pairs in led["assignment"].items()} == owned
    every = run("--leader", "all", "--json")["leaders"]
    assert set(every) == set(owned)
    assert all(each["unchanged"] for each in every.values())
    compared = {each["assignor"]: each for each in run("--compare", "--json")["assignors"]}
    assert (compared["sticky"]["spread"]["max"], compared["sticky"]["moved"]) == (3, 1)


def test_a_group_that_cannot_be_read_is_one_sentence(broker: EmbeddedKafka, readers: Readers) -> None:
    servers, tag = broker.bootstrap_servers, uuid4().hex[:8]
    with pytest.raises(pw.BrokerError) as refused:
        any_group(servers, f"none-{tag}")
    assert str(refused.value) == f"there is no group 'none-{tag}' at {servers}: check its id"
    create_topic(servers, f"t-{tag}", 2)
    readers.join(f"empty-{tag}", [f"t-{tag}"])
    settled(servers, f"empty-{tag}", 1)
    readers.end()
    with pytest.raises(pw.BrokerError, match="has no members: there is nobody to assign anything to"):
        any_group(servers, f"empty-{tag}")


def test_a_live_group_of_the_new_protocol_is_explained(broker: EmbeddedKafka, readers: Readers) -> None:
    servers, tag = broker.bootstrap_servers, uuid4().hex[:8]
    create_topic(servers, f"t-{tag}", 5)
    for _ in range(2):
        readers.join(f"modern-{tag}", [f"t-{tag}"], group_protocol="consumer")
    command = [sys.executable, "-m", "partwright", "assign", f"kafka://{servers}", "--group", f"modern-{tag}"]
    until = time.monotonic() + PATIENCE_S
    while True:
        done = subprocess.run([*command, "--explain", "--json"], capture_output=True, text=True, check=False)
        is_read = done.returncode == 0 and json.loads(done.stdout)["unread"] == 0
        if is_read or time.monotonic() > until:
            break
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["assignor"] == "server-uniform"
    assert sorted(each["partitions"] for each in found["members"]) == [2, 3]
    assert (found["would_move"], found["idle"], found["uneven"]) == (0, [], [])
    # Each member reads the one topic.
    assert (done.stderr, "assumed" in found) == ("", False)
    said = json.loads(subprocess.run([*command, "--json"], capture_output=True, text=True, check=True).stdout)
    assert sorted(map(len, said["assignment"].values())) == [2, 3]


def test_a_live_group_of_the_new_protocol_has_assumed_subscriptions(
    broker: EmbeddedKafka, readers: Readers
) -> None:
    servers, tag = broker.bootstrap_servers, uuid4().hex[:8]
    names = [f"clicks-{tag}", f"orders-{tag}"]
    for name in names:
        create_topic(servers, name, 2)
        for _ in range(2):
            readers.join(f"two-{tag}", [name], group_protocol="consumer")
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            found = any_group(servers, f"two-{tag}")
        except pw.BrokerError as error:
            found = {"members": [], "error": error}
        if sum(bool(each["owned"]) for each in found["members"]) == len(names) * 2:
            break
        assert time.monotonic() < until, found
        time.sleep(0.3)
    assert sorted(each["topics"] for each in found["members"]) == [names[:1]] * 2 + [names[1:]] * 2
    assert found["assumed"] == (
        "assumed subscriptions, as members read separate sets of topics: 2 members to "
        + ", 2 members to ".join(
            dict.fromkeys(topic for each in found["members"] for topic in each["topics"])
        )
        + "; correct them with --subscriptions",
    )
    first = found["members"][0]["id"]
    known = any_group(servers, f"two-{tag}", subscriptions={first: names})
    assert known["members"][0]["topics"] == names
    with pytest.raises(
        pw.BrokerError, match=r"^there is no topic 'none-\w+' at .*: check its name in subscriptions"
    ):
        any_group(servers, f"two-{tag}", subscriptions={first: [f"none-{tag}"]})
    readers.join(f"classic-{tag}", names)
    settled(servers, f"classic-{tag}", 1)
    with pytest.raises(
        pw.PartwrightError, match="send their subscriptions to the broker: leave out --subscriptions"
    ):
        any_group(servers, f"classic-{tag}", subscriptions={first: names})


def test_a_kafka_without_any_group_has_a_coordinator_in_a_moment() -> None:
    """At the first question it creates the coordinators' topic, and answers that it does not exist yet."""
    with EmbeddedKafka(heap="192m") as kafka:
        *_, step = examine(kafka.bootstrap_servers, group="new")
        assert (step.name, step.passed, step.said) == ("group", True, "there is no such group yet")
