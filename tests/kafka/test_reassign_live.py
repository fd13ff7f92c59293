"""A broker joins a cluster of three while a producer writes and a consumer reads: it gets its share, and 0 are lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, ConfigResource, NewPartitions, NewTopic
from live_cluster import PATIENCE_S, alive, in_sync, leaders, wait_for

import partwright as pw
from partwright.cluster.reassignment import Batch
from partwright.cluster.reassignment.moves import Move
from partwright.cluster.reassignment.saved import load
from partwright.kafka import EmbeddedKafka, topics
from partwright.kafka import reassign as live_reassign
from partwright.kafka.connection import KafkaConfig
from partwright.kafka.throttles import find_throttles

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

pytestmark = [pytest.mark.broker, pytest.mark.timeout(1200)]

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
        topics.create_topic(servers, TOPIC, PARTITIONS, topics.NewTopic(replication_factor=2))
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


SLOW, SLOW_SAID = "100kB", "100,000 bytes a second on brokers 1, 2 and 3"


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedKafka]:
    with EmbeddedKafka(
        brokers=3, overrides=SETTINGS, parent=tmp_path_factory.mktemp("k"), timeout=300
    ) as kafka:
        yield kafka


@pytest.fixture
def crowded(three: EmbeddedKafka) -> Iterator[EmbeddedKafka]:
    """Three brokers, without a topic at the end; `crowd` puts topics on the first of them."""
    yield three
    with AdminClient({"bootstrap.servers": three.bootstrap_servers}) as admin:
        names = [*admin.list_topics(timeout=PATIENCE_S).topics]
        for each in admin.delete_topics(names).values() if names else ():
            each.result(PATIENCE_S)
        wait_for("no topic is left", lambda: not admin.list_topics(timeout=PATIENCE_S).topics)
    assert reassign(f"kafka://{three.bootstrap_servers}", "--unthrottle")[0] == 0


def crowd(kafka: EmbeddedKafka, topic: str, partitions: int = 6, megabytes: int = 6) -> None:
    """A topic whose partitions are all on broker 1, with some megabytes in each."""
    with AdminClient({"bootstrap.servers": kafka.bootstrap_servers}) as admin:
        new = NewTopic(topic, partitions, replica_assignment=[[1]] * partitions)
        admin.create_topics([new])[topic].result(PATIENCE_S)
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers})
    for partition in range(partitions):
        for _ in range(10 * megabytes):
            producer.produce(topic, os.urandom(100_000), partition=partition)
        producer.flush(PATIENCE_S)


def planned(kafka: EmbeddedKafka, folder: Path, *words: str) -> tuple[str, ...]:
    """A plan that spreads the topics of `crowd`, and the words that execute it."""
    address = f"kafka://{kafka.bootstrap_servers}"
    code, _, said = reassign(address, "--out", str(folder), *words)
    assert code == 0, said
    return address, "--plan", str(folder), "--execute"


def limits(kafka: EmbeddedKafka) -> str:
    """What is limited, for each broker and topic that there is."""
    return str(find_throttles(KafkaConfig.read(servers=kafka.bootstrap_servers)) or "")


def moving(kafka: EmbeddedKafka, topic: str) -> bool:
    """Whether Kafka moves partitions: both the old and the new replicas are listed then."""
    return any(
        len(each.replicas) > 1
        for each in pw.Cluster.from_kafka(kafka.bootstrap_servers, [topic]).topics[topic]
    )


@contextmanager
def executing(kafka: EmbeddedKafka, topic: str, words: tuple[str, ...]) -> Iterator[subprocess.Popen[str]]:
    """An execution that has given Kafka partitions which take long."""
    command = [sys.executable, "-m", "partwright", "reassign", *words, "--throttle", SLOW]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            wait_for("Kafka moves partitions", lambda: moving(kafka, topic) or process.poll() is not None)
            assert process.poll() is None, process.communicate()
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_leaves_a_throttle_that_is_named_and_a_rerun_sets_its_own_first(
    crowded: EmbeddedKafka, tmp_path: Path, number: signal.Signals
) -> None:
    crowd(crowded, TOPIC)
    words = planned(crowded, tmp_path / "plan")
    with executing(crowded, TOPIC, words) as process:
        process.send_signal(number)
        _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 128 + number
    assert "; Kafka goes on with " in said
    assert f"at its throttle ({SLOW_SAID}, for topic {TOPIC}), which stays" in said
    assert f"`partwright reassign {words[0]} --unthrottle`" in said
    assert limits(crowded) == f"{SLOW_SAID}, for topic {TOPIC}"
    # At the old rate it would take minutes.
    began = time.monotonic()
    code, _, said = reassign(*words, "--throttle", "500MB")
    assert code == 0, said
    assert time.monotonic() - began < 60
    assert f"an earlier execution left a throttle ({SLOW_SAID}, for topic {TOPIC})" in said
    assert "this one sets 500,000,000 bytes a second" in said
    assert limits(crowded) == ""


def test_what_a_killed_execution_left_is_found_by_the_next_one(
    crowded: EmbeddedKafka, tmp_path: Path
) -> None:
    crowd(crowded, TOPIC)
    words = planned(crowded, tmp_path / "plan")
    with executing(crowded, TOPIC, words) as process:
        process.kill()
    assert limits(crowded) == f"{SLOW_SAID}, for topic {TOPIC}"
    code, _, said = reassign(*words)
    assert code == 0, said
    assert (
        f"an earlier execution left a throttle ({SLOW_SAID}, for topic {TOPIC}): this one removes it" in said
    )
    assert limits(crowded) == ""


def test_what_a_killed_execution_left_is_removed_alone(crowded: EmbeddedKafka, tmp_path: Path) -> None:
    crowd(crowded, TOPIC)
    # Another number of replicas, where Kafka lists the new ones at once.
    words = planned(crowded, tmp_path / "plan", "--replication-factor", "2")
    with executing(crowded, TOPIC, words) as process:
        process.kill()
    code, out, said = reassign(words[0], "--unthrottle", "--json")
    assert code == 0, said
    told = json.loads(out)
    assert told.pop("summary").startswith("Removed: 100,000 bytes a second on brokers 1, 2 and 3, for topic ")
    assert told == {"rates": {"1": 100_000, "2": 100_000, "3": 100_000}, "topics": [TOPIC]}
    assert limits(crowded) == ""
    code, out, said = reassign(words[0], "--unthrottle")
    assert (code, out) == (0, "No broker and no topic has a throttle: nothing is removed.\n"), said
    code, _, said = reassign(*words)
    assert code == 0, said
    assert all(len(each) == 2 for each in in_sync(crowded, TOPIC))


def test_a_deleted_topic_ends_it_and_takes_the_throttle_along(crowded: EmbeddedKafka, tmp_path: Path) -> None:
    crowd(crowded, TOPIC)
    words = planned(crowded, tmp_path / "plan")
    with (
        executing(crowded, TOPIC, words) as process,
        AdminClient({"bootstrap.servers": crowded.bootstrap_servers}) as admin,
    ):
        admin.delete_topics([TOPIC])[TOPIC].result(PATIENCE_S)
        _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 2
    assert f"topic {TOPIC} is gone, and the plan moves it: make a new plan" in said
    assert f"Kafka moves nothing of the plan now, and its throttle ({SLOW_SAID}) is removed" in said
    assert limits(crowded) == ""


def test_a_deleted_topic_leaves_the_throttle_for_another(crowded: EmbeddedKafka, tmp_path: Path) -> None:
    crowd(crowded, TOPIC)
    crowd(crowded, "others")
    words = planned(crowded, tmp_path / "plan")
    with (
        executing(crowded, TOPIC, words) as process,
        AdminClient({"bootstrap.servers": crowded.bootstrap_servers}) as admin,
    ):
        admin.delete_topics(["others"])["others"].result(PATIENCE_S)
        _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 2
    assert "topic others is gone" in said
    assert f"at its throttle ({SLOW_SAID}, for topic {TOPIC}), which stays" in said
    # The plan is refused now, and names what is still limited.
    code, _, said = reassign(*words)
    assert code == 2
    assert "topic others is gone" in said
    assert f"`partwright reassign {words[0]} --unthrottle`" in said


def test_what_the_tool_refuses_leaves_no_throttle(
    crowded: EmbeddedKafka, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first batch is given to Kafka with a throttle, and the second one is refused."""
    crowd(crowded, TOPIC, megabytes=1)
    folder = tmp_path / "plan"
    planned(crowded, folder, "--max-replicas", "1")
    plan = load(folder)
    give, given = live_reassign._give, []

    def refuse(config: KafkaConfig, batch: Batch, words: Sequence[str]) -> None:
        given.append(batch)
        if len(given) > 1:
            raise pw.BrokerError("Kafka's tool refuses")
        give(config, batch, words)

    monkeypatch.setattr(live_reassign, "_give", refuse)
    config = KafkaConfig.read(servers=crowded.bootstrap_servers)
    with pytest.raises(pw.BrokerError) as error:
        live_reassign.execute(
            config,
            plan.before,
            plan.batches,
            throttle=50_000_000,
            timeout=60,
            progress=lambda *_: None,
            note=str,
        )
    said = str(error.value)
    assert said.startswith(
        "Kafka's tool refuses; Kafka moves nothing of the plan now, and its throttle (50,000,000 "
    )
    assert said.endswith(f", for topic {TOPIC}) is removed")
    assert limits(crowded) == ""


def test_the_throttle_of_another_reassignment_stays(crowded: EmbeddedKafka, tmp_path: Path) -> None:
    """While it runs, Kafka's tool refuses ours."""
    crowd(crowded, TOPIC)
    words = planned(crowded, tmp_path / "plan")
    with executing(crowded, TOPIC, words) as process:
        process.kill()
    crowd(crowded, "others", megabytes=1)
    words = planned(crowded, tmp_path / "another", "--topic", "others")
    code, _, said = reassign(*words)
    assert code == 2
    assert "refuses: " in said
    assert f"a throttle that this execution has not set stays ({SLOW_SAID}): " in said
    assert limits(crowded) == f"{SLOW_SAID}, for topic {TOPIC}"


def test_a_plan_without_a_move_holds_its_election(crowded: EmbeddedKafka) -> None:
    """Another order of replicas changes the preferred leader, but not the leader."""
    with AdminClient({"bootstrap.servers": crowded.bootstrap_servers}) as admin:
        new = NewTopic(TOPIC, 3, replica_assignment=[[2, 1], [2, 3], [3, 1]])
        admin.create_topics([new])[TOPIC].result(PATIENCE_S)
    wait_for("all have a leader", lambda: leaders(crowded, TOPIC) == [2, 2, 3])
    config = KafkaConfig.read(servers=crowded.bootstrap_servers)
    live_reassign._give(config, Batch((Move(TOPIC, 0, (2, 1), (1, 2)),)), [])
    wait_for("the order is another", lambda: preferred(crowded) == [1, 2, 3])
    assert leaders(crowded, TOPIC) == [2, 2, 3]
    code, out, said = reassign(f"kafka://{crowded.bootstrap_servers}", "--execute")
    assert code == 0, said
    assert out.startswith("No replica moves; 1 partition gets its preferred leader back.\n")
    assert "executed: no replica moved, and 1 partition got its preferred leader\n" in said
    wait_for("the preferred leader leads", lambda: leaders(crowded, TOPIC) == [1, 2, 3])


def preferred(kafka: EmbeddedKafka) -> list[int]:
    found = pw.Cluster.from_kafka(kafka.bootstrap_servers, [TOPIC]).topics[TOPIC]
    return [each.replicas[0] for each in found]
