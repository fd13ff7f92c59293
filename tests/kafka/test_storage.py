"""A live Kafka's log.dirs hold the folders and files that we predict, and its controller refuses what we refuse."""

from __future__ import annotations

import os
import subprocess
import time
from typing import TYPE_CHECKING

import pytest
from kafka import KafkaProducer
from kafka.admin import KafkaAdminClient, NewTopic
from kafka.errors import InvalidReplicationAssignmentError, KafkaError

import partwright as pw
from partwright.cluster import placement, storage
from partwright.kafka import EmbeddedKafka, topics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.broker

WAIT_S = 60
LONGEST = "x" * 249


def soon(found: Callable[[], object]) -> object:
    """What exists within a minute."""
    deadline = time.monotonic() + WAIT_S
    while not (there := found()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return there


def names_in(broker: EmbeddedKafka, folder: str = "") -> list[str]:
    """The content of `log.dirs`, or of one of its folders."""
    return [path.name for path in (broker.folder / "data" / folder).iterdir()]


@pytest.fixture
def admin(broker: EmbeddedKafka) -> Iterator[KafkaAdminClient]:
    client = KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers)
    yield client
    client.close()


def test_topics_have_the_folders_that_we_name(broker: EmbeddedKafka) -> None:
    made = {"firstTopic": 3, "first_topic": 1, "a-b.c-0": 2, "-": 1, "...": 1, "0-delete": 2, LONGEST: 2}
    for topic, partitions in made.items():
        topics.create_topic(broker.bootstrap_servers, topic, partitions)
    named = {
        name for topic, partitions in made.items() for name in storage.log_directories(topic, partitions)
    }
    names = names_in(broker)
    assert named <= set(names)
    found = storage.read_listing(names)
    assert found.others == ()
    assert {"meta.properties", "recovery-point-offset-checkpoint"} <= set(found.own)
    by_topic: dict[str, list[int]] = {}
    for log in found.logs:
        by_topic.setdefault(log.topic, []).append(log.partition)
    assert {topic: sorted(by_topic[topic]) for topic in made} == {
        topic: list(range(partitions)) for topic, partitions in made.items()
    }


def test_a_deleted_topics_folders_are_told(broker: EmbeddedKafka, admin: KafkaAdminClient) -> None:
    topics.create_topic(broker.bootstrap_servers, "to-be-deleted", 2)
    admin.delete_topics(["to-be-deleted"])

    def waiting() -> list[storage.LogDirectory]:
        logs = storage.read_listing(names_in(broker)).logs
        return [log for log in logs if log.topic == "to-be-deleted" and log.state == "delete"]

    found = soon(lambda: len(waiting()) == 2 and waiting())
    assert isinstance(found, list)
    assert sorted(log.partition for log in found) == [0, 1]
    assert all(len(log.id) == 32 for log in found)


def test_segments_have_the_names_that_we_say(broker: EmbeddedKafka) -> None:
    settings = {"segment.bytes": "1048576", "index.interval.bytes": "4096"}
    topics.create_topic(broker.bootstrap_servers, "segmented", 1, topics.NewTopic(configs=settings))
    producer = KafkaProducer(bootstrap_servers=broker.bootstrap_servers, batch_size=1)
    for _ in range(40):
        producer.send("segmented", value=os.urandom(100_000), partition=0).get(WAIT_S)
    producer.close()
    names = names_in(broker, storage.log_directory("segmented", 0))
    files = []
    for name in names:
        try:
            files.append(storage.read_segment_file(name))
        except pw.PartwrightError:
            assert name in {"leader-epoch-checkpoint", "partition.metadata"}
    starts = sorted(file.base_offset for file in files if file.kind == "log")
    assert starts[0] == 0
    assert len(starts) > 2
    # Each has its two indexes, and each but the first a snapshot of the producers before it.
    for start in starts:
        assert {storage.segment_file(start, kind) for kind in ("log", "index", "timeindex")} <= set(names)
        assert start == 0 or storage.segment_file(start, "snapshot") in names
    assert not [file for file in files if file.kind == "txnindex"]


@pytest.mark.parametrize("name", [".", "..", "", "a" * 250, "a b", "é", "a/b"])
def test_kafka_refuses_the_names_that_we_refuse(name: str, admin: KafkaAdminClient) -> None:
    with pytest.raises(pw.PartwrightError):
        storage.check_topic(name)
    with pytest.raises(KafkaError):
        admin.create_topics([NewTopic(name=name, num_partitions=1, replication_factor=1)])


def test_kafka_refuses_a_name_that_collides(broker: EmbeddedKafka, admin: KafkaAdminClient) -> None:
    topics.create_topic(broker.bootstrap_servers, "to.collide", 1)
    assert storage.collisions(["to.collide", "to_collide"])
    with pytest.raises(KafkaError, match="collide"):
        admin.create_topics([NewTopic(name="to_collide", num_partitions=1, replication_factor=1)])


@pytest.mark.parametrize("replicas", [[[0, 0]], [[7]], [[]], [[0], [0, 7]]])
def test_the_controller_refuses_the_assignments_that_we_refuse(
    replicas: list[list[int]], broker: EmbeddedKafka, admin: KafkaAdminClient
) -> None:
    cluster = pw.Cluster.from_kafka(broker.bootstrap_servers)
    only = cluster.brokers[0].id
    wanted = [[each + only for each in row] for row in replicas]
    with pytest.raises(pw.PartwrightError):
        placement.explicit(wanted, cluster)
    with pytest.raises(InvalidReplicationAssignmentError):
        admin.create_topics([NewTopic(name="assigned", replica_assignments=dict(enumerate(wanted)))])


def test_an_assignment_that_we_take_is_what_the_topic_has(
    broker: EmbeddedKafka, admin: KafkaAdminClient
) -> None:
    cluster = pw.Cluster.from_kafka(broker.bootstrap_servers)
    only = cluster.brokers[0].id
    wanted = placement.explicit(f"{only},{only}", cluster)
    assignment = dict(enumerate(map(list, wanted.replicas)))
    admin.create_topics([NewTopic(name="as-assigned", replica_assignments=assignment)])
    assert soon(lambda: topics.partition_count(broker.bootstrap_servers, "as-assigned")) == 2
    found = placement.Placement.of(
        pw.Cluster.from_kafka(broker.bootstrap_servers, ["as-assigned"]), "as-assigned"
    )
    assert found.replicas == wanted.replicas
    assert found.lost([only]).offline == (0, 1)


def test_a_broker_does_not_start_with_a_folder_of_another_name() -> None:
    with EmbeddedKafka() as broker:
        topics.create_topic(broker.bootstrap_servers, "firstTopic", 1)
        start = broker.process.settings.commands[-1]
        broker.kill()
        folder = broker.folder / "data"
        stranger = folder / "firstTopic_0"
        stranger.mkdir()
        assert storage.read_listing(path.name for path in folder.iterdir()).others == (stranger.name,)
        done = subprocess.run(start, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode != 0
        assert "is not in the form of topic-partition" in done.stdout + done.stderr + log_of(broker)


def log_of(broker: EmbeddedKafka) -> str:
    """Everything that the broker has printed."""
    return broker.process.log.read_text(encoding="utf-8", errors="replace")
