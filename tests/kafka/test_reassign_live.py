"""A broker joins a cluster of three while a producer writes and a consumer reads: it gets its share, and 0 are lost."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, ConfigResource, NewPartitions
from live_cluster import PATIENCE_S, alive, in_sync, leaders, wait_for

import partwright as pw
from partwright.kafka import EmbeddedKafka, topics

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.broker, pytest.mark.timeout(1200)]

TOPIC, PARTITIONS = "orders", 24
SETTINGS = {"offsets.topic.num.partitions": "10"}


class Traffic:
    """A producer that writes and a consumer that reads, each in its own thread, until they are stopped."""

    def __init__(self, servers: str) -> None:
        self.acknowledged: set[int] = set()
        self.read: set[int] = set()
        self.failed: list[object] = []
        self.written = 0
        self._stop = threading.Event()
        self._done = threading.Event()
        self._servers = servers
        self._threads = [threading.Thread(target=each) for each in (self._write, self._read)]
        for each in self._threads:
            each.start()

    def _write(self) -> None:
        producer = Producer({"bootstrap.servers": self._servers, "acks": "all", "enable.idempotence": True})

        def told(error: object, message: Any) -> None:
            if error is not None:
                self.failed.append(error)
            else:
                self.acknowledged.add(int(message.value()))

        while not self._stop.is_set():
            producer.produce(
                TOPIC, str(self.written).encode(), partition=self.written % PARTITIONS, on_delivery=told
            )
            self.written += 1
            producer.poll(0.005)
        producer.flush(PATIENCE_S)
        self._done.set()

    def _read(self) -> None:
        consumer = Consumer(
            {"bootstrap.servers": self._servers, "group.id": "readers", "auto.offset.reset": "earliest"}
        )
        consumer.subscribe([TOPIC])
        while not self._done.is_set() or self.acknowledged - self.read:
            message = consumer.poll(0.2)
            if message is not None and message.error() is None:
                self.read.add(int(message.value() or b"-1"))
            if self._done.is_set() and self._patience <= 0:
                break
            self._patience -= self._done.is_set() and message is None
        consumer.close()

    _patience: int = 300

    def end(self) -> None:
        """Stops writing; everything acknowledged is then read, or time runs out."""
        self._stop.set()
        for each in self._threads:
            each.join()


def reassign(*words: str) -> tuple[int, str, str]:
    ran = subprocess.run(
        [sys.executable, "-m", "partwright", "reassign", *words], capture_output=True, text=True, check=False
    )
    return ran.returncode, ran.stdout, ran.stderr


def throttles(servers: str, broker: int) -> dict[str, str]:
    """The settings of a topic or a broker that throttle copying."""
    asked = [
        ConfigResource(ConfigResource.Type.TOPIC, TOPIC),
        ConfigResource(ConfigResource.Type.BROKER, str(broker)),
    ]
    with AdminClient({"bootstrap.servers": servers}) as admin:
        told = [each.result(PATIENCE_S) for each in admin.describe_configs(asked).values()]
    return {
        name: entry.value
        for each in told
        for name, entry in each.items()
        if name.endswith(("replication.throttled.rate", "replication.throttled.replicas"))
        and entry.value
        and not entry.is_default
    }


def test_an_added_broker_gets_its_share_and_nothing_is_lost(tmp_path: Path) -> None:
    with EmbeddedKafka(
        brokers=3, racks=["a", "b", "c"], overrides=SETTINGS, parent=tmp_path, timeout=300
    ) as kafka:
        servers = kafka.bootstrap_servers
        address = f"kafka://{servers}"
        topics.create_topic(servers, TOPIC, PARTITIONS, replication_factor=2)
        traffic = Traffic(servers)
        try:
            wait_for("records are read", lambda: len(traffic.read) > 1000)
            added = kafka.add("a")
            wait_for("the new broker is seen", lambda: added in alive(kafka))
            folder = str(tmp_path / "plan")
            plan = ["--add", str(added), "--sizes", "kafka", "--within", "100%", "--throttle", "20MB"]
            code, out, said = reassign(address, *plan, "--max-replicas", "6", "--out", folder, "--json")
            assert code == 0, said
            told = json.loads(out)
            assert told["replicas_moved"] == told["bounds"]["fewest"] > 0
            assert len(told["batches"]) > 1
            before = len(traffic.acknowledged)
            code, _, said = reassign(address, "--plan", folder, "--throttle", "20MB", "--execute")
            assert code == 0, said
            assert "executed: " in said
            assert len(traffic.acknowledged) > before
            # Once it is done, it runs again without a move.
            code, _, said = reassign(address, "--plan", folder, "--execute")
            assert code == 0, said
        finally:
            traffic.end()
        assert traffic.failed == []
        assert len(traffic.acknowledged) == traffic.written
        assert traffic.acknowledged == traffic.read
        shares = {each["broker"]: each for each in told["brokers"]}
        names = [TOPIC, "__consumer_offsets"]
        found = pw.Cluster.from_kafka(servers, names)
        for broker, share in shares.items():
            every = [each for name in names for each in found.topics[name]]
            assert sum(broker in each.replicas for each in every) == share["replicas"]
            assert sum(each.replicas[0] == broker for each in every) == share["leaders"]
            assert sum(each.leader == broker for each in every) == share["leaders"]
        replicas = [set(each.replicas) for each in found.topics[TOPIC]]
        assert in_sync(kafka, TOPIC) == replicas
        racks = {broker.id: broker.rack for broker in found.brokers}
        assert all(len({racks[each] for each in own}) == 2 for own in replicas)
        # No throttle is left behind.
        assert throttles(servers, added) == {}


def test_a_plan_is_refused_when_its_topic_has_changed(tmp_path: Path) -> None:
    with EmbeddedKafka(brokers=3, overrides=SETTINGS, parent=tmp_path, timeout=300) as kafka:
        address = f"kafka://{kafka.bootstrap_servers}"
        topics.create_topic(kafka.bootstrap_servers, TOPIC, 4)
        folder = str(tmp_path / "plan")
        code, _, said = reassign(address, "--replication-factor", f"{TOPIC}=3", "--out", folder)
        assert code == 0, said
        with AdminClient({"bootstrap.servers": kafka.bootstrap_servers}) as admin:
            admin.create_partitions([NewPartitions(TOPIC, 6)])[TOPIC].result(PATIENCE_S)
        wait_for("there are more partitions", lambda: len(leaders(kafka, TOPIC)) == 6)
        code, out, said = reassign(address, "--plan", folder, "--execute")
        assert (code, out) == (2, "")
        assert f"topic {TOPIC} has 6 partitions, and had 4: make a new plan" in said
