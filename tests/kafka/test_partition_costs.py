"""The cost of a partition for a live broker: the figures that `advise` calls measured."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from kafka import KafkaConsumer, KafkaProducer
from kafka.admin import KafkaAdminClient, NewTopic
from kafka.errors import KafkaError

from partwright.cluster import BrokerFleet, TopicClients, advise, storage
from partwright.cluster.sizing import costs
from partwright.kafka import EmbeddedKafka, topics

pytestmark = [
    pytest.mark.broker,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="files and maps are counted in /proc"),
]

PARTITIONS = 50
TOPIC = "counted"


def open_files(broker: EmbeddedKafka) -> int:
    """How many of the topic's files the broker has open."""
    found = 0
    for handle in Path(f"/proc/{broker.pid}/fd").iterdir():
        try:
            target = handle.readlink()
        except OSError:
            continue
        found += target.parent.name.startswith(f"{TOPIC}-")
    return found


def mapped(broker: EmbeddedKafka) -> list[str]:
    """The topic's files that are mapped into the broker's memory, one for each area."""
    lines = Path(f"/proc/{broker.pid}/maps").read_text(encoding="utf-8").splitlines()
    return [line.rsplit("/", 1)[1] for line in lines if f"/{TOPIC}-" in line]


def sockets(broker: EmbeddedKafka) -> int:
    """Connections that clients have with the broker."""
    ends = Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]
    ends += Path(f"/proc/{broker.pid}/net/tcp6").read_text(encoding="ascii").splitlines()[1:]
    local = f":{broker.port:04X}"
    return sum(line.split()[1].endswith(local) and line.split()[3] == "01" for line in ends)


def test_a_segment_costs_one_open_file_two_map_areas_and_hardly_any_disk() -> None:
    with EmbeddedKafka() as broker:
        topics.create_topic(
            broker.bootstrap_servers, TOPIC, PARTITIONS, topics.NewTopic(configs={"segment.bytes": "1048576"})
        )
        producer = KafkaProducer(bootstrap_servers=broker.bootstrap_servers, batch_size=1)
        for partition in range(PARTITIONS):
            producer.send(TOPIC, value=b"x" * 100, partition=partition)
        producer.flush()
        assert open_files(broker) == PARTITIONS * costs.FILES_A_SEGMENT
        assert len(mapped(broker)) == PARTITIONS * costs.MAPS_A_SEGMENT
        assert {storage.read_segment_file(name).kind for name in mapped(broker)} == {"index", "timeindex"}
        folders = [broker.folder / "data" / name for name in storage.log_directories(TOPIC, PARTITIONS)]
        indexes = [path for folder in folders for path in folder.iterdir() if path.suffix.endswith("index")]
        # Kafka rounds a time index down to whole entries of 12 bytes, and an offset index to entries of 8.
        space = sum(path.stat().st_size for path in indexes)
        assert PARTITIONS * (costs.INDEX_BYTES - 20) <= space <= PARTITIONS * costs.INDEX_BYTES
        assert sum(path.stat().st_blocks * 512 for path in indexes) < space / 1000
        # Each further segment costs as much.
        for _ in range(30):
            producer.send(TOPIC, value=os.urandom(100_000), partition=0).get(60)
        producer.close()
        logs = [name for name in (path.name for path in folders[0].iterdir()) if name.endswith(".log")]
        assert len(logs) > 2
        more = PARTITIONS - 1 + len(logs)
        assert open_files(broker) == more * costs.FILES_A_SEGMENT
        assert len(mapped(broker)) <= more * costs.MAPS_A_SEGMENT


def test_the_controller_makes_no_more_than_ten_thousand_partitions_at_once() -> None:
    with EmbeddedKafka() as broker:
        admin = KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers)
        with pytest.raises(KafkaError, match="Excessively large number of partitions"):
            admin.create_topics([NewTopic(name="many", num_partitions=10_001, replication_factor=1)])
        admin.close()
    clients = TopicClients(produce_mb_s=1, consume_mb_s=1)
    warned = [choice.warnings for choice in advise(1001, clients, BrokerFleet(brokers=1)).choices]
    assert [any("at most 10,000 partitions" in each for each in of_one) for of_one in warned] == [
        False,
        False,
        True,
    ]


def test_a_client_has_as_many_connections_whatever_it_writes_and_reads() -> None:
    with EmbeddedKafka() as broker:
        counted = []
        for partitions in (1, 40):
            topics.create_topic(broker.bootstrap_servers, f"read-{partitions}", partitions)
            before = sockets(broker)
            producer = KafkaProducer(bootstrap_servers=broker.bootstrap_servers)
            for partition in range(partitions):
                producer.send(f"read-{partitions}", value=b"x", partition=partition)
            producer.flush()
            consumer = KafkaConsumer(
                f"read-{partitions}",
                bootstrap_servers=broker.bootstrap_servers,
                group_id=f"readers-{partitions}",
                auto_offset_reset="earliest",
                consumer_timeout_ms=8000,
            )
            assert sum(1 for _, _ in zip(range(partitions), consumer, strict=False)) == partitions
            counted.append(sockets(broker) - before)
            consumer.close()
            producer.close()
        assert counted[0] == counted[1] > 0
