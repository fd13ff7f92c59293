"""`partwright rollout` and `assign --explain` of live groups of both protocols."""

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

import partwright as pw
from partwright.kafka.groups import any_group
from partwright.kafka.topics import create_topic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from partwright.kafka import EmbeddedKafka

pytestmark = pytest.mark.broker

PATIENCE_S = 90
MEMBERS = 3


@pytest.fixture(params=["classic", "consumer"])
def group(broker: EmbeddedKafka, request: pytest.FixtureRequest) -> Iterator[tuple[str, str, str]]:
    """A group of three members at rest: the servers, its ID, and its protocol."""
    servers, name = broker.bootstrap_servers, f"roll-{uuid4().hex[:8]}"
    create_topic(servers, name, 6)
    settings = {"bootstrap.servers": servers, "group.id": name, "group.protocol": request.param}
    if request.param == "classic":
        settings["partition.assignment.strategy"] = "cooperative-sticky"
    consumers = [Consumer({**settings, "group.instance.id": f"{name}-{at}"}) for at in range(MEMBERS)]
    ends = threading.Event()

    def read() -> None:
        for each in consumers:
            each.subscribe([name])
        while not ends.is_set():
            for each in consumers:
                each.poll(0.05)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    until = time.monotonic() + PATIENCE_S
    while not is_settled(servers, name):
        assert time.monotonic() < until
        time.sleep(0.5)
    yield servers, name, request.param
    ends.set()
    reader.join(PATIENCE_S)
    for each in consumers:
        each.close()


def is_settled(servers: str, name: str) -> bool:
    """Whether each member reads two partitions."""
    try:
        members = any_group(servers, name)["members"]
    except pw.BrokerError:
        return False
    owned = [
        sum(map(len, each["owned"].values())) if isinstance(each["owned"], dict) else len(each["owned"])
        for each in members
    ]
    return owned == [2] * MEMBERS


def ask(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "partwright", *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )


def run(*words: str) -> Any:
    done = ask(*words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_live_group_is_rolled_as_it_is(group: tuple[str, str, str]) -> None:
    servers, name, protocol = group
    found = run(
        "rollout", f"kafka://{servers}", "--group", name, "--kind", "StatefulSet", "--plays", "1", "--json"
    )
    today = found["candidates"][found["today"]]
    # The client ids of these members are librdkafka's default, and so are the candidates and the lines.
    assert found["clients"] == ["librdkafka"]
    assert set(found["settings"]) <= {"librdkafka", "broker"}
    assert (today["protocol"], today["static"]) == (protocol, True)
    assert today["assignor"] == ("cooperative-sticky" if protocol == "classic" else "uniform")
    # Three pods with two partitions each, away for 12 s in turn, and up to a second more until their polls return them.
    assert 3 * 2 * 12 <= today["unread_s"]["median"] <= 3 * 2 * 13
    by_topic = run(
        "rollout",
        f"kafka://{servers}/{name}",
        "--replicas",
        "3",
        "--kind",
        "StatefulSet",
        "--client",
        "librdkafka",
        "--plays",
        "1",
        "--json",
    )
    assert by_topic["candidates"] == found["candidates"]
    told = run("assign", f"kafka://{servers}", "--group", name, "--explain", "--json")
    assert (told["would_move"], told["unread"], told["idle"]) == (0, 0, [])


def test_a_topic_that_is_not_there_is_named(broker: EmbeddedKafka) -> None:
    words = ["rollout", f"kafka://{broker.bootstrap_servers}/no-such-topic", "--replicas", "3"]
    done = ask(*words)
    assert done.returncode == 2
    assert f"there is no topic 'no-such-topic' at {broker.bootstrap_servers}: check its name" in done.stderr
