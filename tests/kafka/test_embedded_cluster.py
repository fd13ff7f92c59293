"""An embedded Kafka of three brokers: each is stopped, killed, restarted and added by its ID, and nothing is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from live_cluster import PATIENCE_S, SETTINGS, alive, commits, in_sync, leaders, wait_for

import partwright as pw
from partwright.errors import BrokerError, PartwrightError
from partwright.kafka import EmbeddedKafka, embedded_access, topics
from partwright.kafka.embedded_properties import FOLDER_PREFIX
from partwright.kafka.groups import GROUPS, coordinator

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.broker, pytest.mark.timeout(600)]


def processes_of(folder: Path) -> list[psutil.Process]:
    """Every process that was started for a broker under the folder."""
    started = f"{folder}/{FOLDER_PREFIX}"
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if any(started in word for word in process.info["cmdline"] or ())
    ]


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedKafka]:
    parent = tmp_path_factory.mktemp("three")
    with EmbeddedKafka(
        brokers=3, racks=["a", "b", "c"], overrides=SETTINGS, parent=parent, timeout=300
    ) as running:
        yield running
    # No waiting: it holds as soon as the block has ended.
    assert not processes_of(parent)
    assert not list(parent.iterdir())


def test_each_broker_has_its_rack_its_port_and_its_folder(three: EmbeddedKafka) -> None:
    topics.create_topic(three.bootstrap_servers, "first", 1)
    found = pw.Cluster.from_kafka(three.bootstrap_servers).brokers
    assert [(each.id, each.rack) for each in found] == [(1, "a"), (2, "b"), (3, "c")]
    assert [f"{each.host}:{each.port}" for each in found] == three.bootstrap_servers.split(",")
    parent = three.folder.parent
    assert {folder.name for folder in parent.iterdir()} == {
        node.settings.folder.name for node in three.nodes.values()
    }
    assert len(processes_of(parent)) == 6
    for node in three.nodes.values():
        java = psutil.Process(node.pid)
        listening = [at.laddr for at in java.net_connections("inet") if at.status == psutil.CONN_LISTEN]
        assert {address.ip for address in listening} == {"127.0.0.1"}
        assert len(listening) == 2
        written = [file.path for file in java.open_files() if file.mode != "r"]
        assert {Path(file).is_relative_to(node.settings.folder) for file in written} == {True}


def test_a_group_is_in_the_partition_of_fifty_that_the_documents_say(three: EmbeddedKafka) -> None:
    topics.create_topic(three.bootstrap_servers, "demo", 3, topics.NewTopic(replication_factor=3))
    # The first group waits for its coordinator.
    at = TopicPartition("demo", 0, 7)
    wait_for("it is not committed", partial(commits, three.bootstrap_servers, "KafkaConsumerDemo", at))
    found = coordinator(three.bootstrap_servers, "KafkaConsumerDemo")
    assert (found["n"], found["partition"]) == (50, 35)
    assert found["offsets"] == [{"topic": "demo", "partition": 0, "offset": 7, "metadata": ""}]
    kept = topics.end_offsets(three.bootstrap_servers, GROUPS)
    assert [partition for partition, end in kept.items() if end] == [35]
    assert {frozenset(each) for each in in_sync(three, GROUPS)} == {frozenset({1, 2, 3})}


def test_a_broker_is_killed_stopped_and_returned_by_its_id(three: EmbeddedKafka) -> None:
    topic, servers = "kept", three.bootstrap_servers
    topics.create_topic(
        servers,
        topic,
        3,
        topics.NewTopic(
            replica_assignment=[[1, 2, 3], [2, 3, 1], [3, 1, 2]], configs={"min.insync.replicas": "2"}
        ),
    )
    pids = {broker: node.pid for broker, node in three.nodes.items()}
    written = 0
    for way, broker in ((three.kill, 2), (three.stop, 3)):
        way(broker)
        assert [each for each, node in three.nodes.items() if not node.is_running] == [broker]
        # If it was killed, its session has to end first; if it was stopped, it has handed over by then.
        wait_for("it still leads", lambda gone=broker: gone not in leaders(three, topic))
        with Producer({"bootstrap.servers": servers, "acks": "all", "log_level": 0}) as producer:
            for number in range(300):
                producer.produce(topic, str(number).encode(), partition=number % 3)
            assert producer.flush(PATIENCE_S) == 0
        written += 300
        three.start(broker)
        assert three.nodes[broker].is_running
        assert broker in {each.id for each in pw.Cluster.from_kafka(servers).brokers}
        wait_for("it does not catch up", lambda: in_sync(three, topic) == [{1, 2, 3}] * 3)
    assert sum(topics.end_offsets(servers, topic).values()) == written
    again = {broker: node.pid for broker, node in three.nodes.items()}
    assert (again[1], three.bootstrap_servers) == (pids[1], servers)
    assert again[2] != pids[2]
    assert again[3] != pids[3]


def test_a_supervisor_that_was_killed_cannot_return_its_broker(tmp_path: Path) -> None:
    with EmbeddedKafka(parent=tmp_path) as kafka:
        kafka.process.supervisor.kill()
        kafka.process.supervisor.wait()
        kafka.kill()
        with pytest.raises(
            BrokerError, match=r"^the supervisor of broker 1, process \d+, was killed, and nobody can"
        ):
            kafka.start()
    assert not list(tmp_path.iterdir())


def test_brokers_that_are_not_there_are_sentences(three: EmbeddedKafka) -> None:
    for change in (three.kill, three.stop, three.start):
        with pytest.raises(
            PartwrightError, match=r"^there is no broker 9: there are the brokers 1, 2 and 3$"
        ):
            change(9)
    with pytest.raises(PartwrightError, match=r"^broker 2 runs already at 127\.0\.0\.1:\d+$"):
        three.start(2)
    with pytest.raises(
        PartwrightError, match=r"^the rack of broker 4 is missing: the other brokers have one$"
    ):
        three.add()
    assert len(three.nodes) == 3


def test_a_broker_is_added_and_takes_what_is_placed_on_it(three: EmbeddedKafka) -> None:
    before = three.bootstrap_servers
    # Without a topic, there is nothing to tell of.
    topics.create_topic(before, "before-it", 1)
    assert three.add("d") == 4
    assert three.bootstrap_servers == f"{before},{three.nodes[4].settings.bootstrap_servers}"

    def told() -> bool:
        """Whether the new broker knows everything; at first it knows of no topic."""
        found = pw.Cluster.from_kafka(three.nodes[4].settings.bootstrap_servers).brokers
        return [(each.id, each.rack) for each in found] == [(1, "a"), (2, "b"), (3, "c"), (4, "d")]

    wait_for("it does not hear of all brokers", told)
    topics.create_topic(before, "on-the-new-one", 1, topics.NewTopic(replica_assignment=[[4]]))
    assert leaders(three, "on-the-new-one") == [4]
    # It is not a controller: with two of the three gone there would be none.
    three.kill(3, 4)
    wait_for("they are not missed", lambda: alive(three) == {1, 2})
    topics.create_topic(before, "with-two-of-three", 1, timeout=PATIENCE_S)
    three.start()
    assert all(node.is_running for node in three.nodes.values())
    resident = sum(psutil.Process(three.nodes[each].pid).memory_info().rss for each in (1, 2, 3))
    assert resident < 2 << 30


@pytest.mark.parametrize("security", ["SASL_SSL:SCRAM-SHA-512", "ACL"])
def test_each_broker_takes_a_client_that_may_and_no_other(security: str, tmp_path: Path) -> None:
    with EmbeddedKafka(brokers=3, security=security, parent=tmp_path) as kafka:
        assert kafka.client_properties()["bootstrap.servers"] == kafka.bootstrap_servers
        told = kafka.client_properties("admin", form="librdkafka")
        topics.create_topic(
            kafka.internal_bootstrap_servers, "secured", 3, topics.NewTopic(replication_factor=3)
        )

        def takes(broker: int, **other: str) -> bool:
            at = {"bootstrap.servers": kafka.nodes[broker].settings.bootstrap_servers}
            return embedded_access.can_log_in({**told, **at, **other}, PATIENCE_S if not other else 3.0)

        assert [takes(broker) for broker in kafka.nodes] == [True] * 3
        kafka.kill(2)
        kafka.start(2)
        kafka.add()
        assert [takes(broker) for broker in kafka.nodes] == [True] * 4
        assert not any(takes(broker, **{"sasl.password": "wrong"}) for broker in (2, 4))
        if security == "ACL":
            for broker in kafka.nodes:
                # The next one is asked at once.
                kafka.allow("alice", "READ", "topic", "secured")
                assert may_describe(kafka, broker)
                assert kafka.revoke("alice", "READ", "topic", "secured") == 1
                assert not may_describe(kafka, broker)
    assert not processes_of(tmp_path)
    assert not list(tmp_path.iterdir())


def may_describe(kafka: EmbeddedKafka, broker: int) -> bool:
    """Whether a broker shows a topic to alice."""
    told = kafka.client_properties(form="librdkafka")
    at = {"bootstrap.servers": kafka.nodes[broker].settings.bootstrap_servers, "log_level": 0}
    with AdminClient({**told, **at}) as admin:
        return admin.list_topics("secured", timeout=PATIENCE_S).topics["secured"].error is None


PROGRAM = """
import sys, time
from pathlib import Path
from partwright.kafka import EmbeddedKafka

with EmbeddedKafka(brokers=3, parent=Path(sys.argv[1])) as kafka:
    if sys.argv[2] == "running":
        print("up", flush=True)
        time.sleep(600)
"""


@pytest.mark.parametrize("moment", ["starting", "running"])
def test_a_starter_that_is_killed_leaves_nothing(tmp_path: Path, moment: str) -> None:
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, tmp_path, moment],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    if moment == "running":
        assert program.stdout is not None
        assert program.stdout.readline() == "up\n"
        assert len(processes_of(tmp_path)) == 6
    else:
        wait_for("it does not start", lambda: len(list(tmp_path.glob("*/data/meta.properties"))) == 3)
    os.killpg(program.pid, signal.SIGKILL)
    program.communicate(timeout=PATIENCE_S)
    wait_for("a process is left", lambda: not processes_of(tmp_path))
    wait_for("a folder is left", lambda: not list(tmp_path.iterdir()))


def test_one_that_does_not_start_takes_all_away(tmp_path: Path) -> None:
    with pytest.raises(
        BrokerError, match=r"^broker [123] of Kafka 4\.3\.1 ended with exit code 1 while starting"
    ):
        EmbeddedKafka(brokers=3, overrides={"num.io.threads": "-1"}, parent=tmp_path).__enter__()
    assert not processes_of(tmp_path)
    assert not list(tmp_path.iterdir())
