"""The new topic of a migration: created as `copy` is told; refused if it exists and differs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType

from partwright.kafka import EmbeddedKafka, topics

if TYPE_CHECKING:
    from collections.abc import Callable

    from migrating import Migrate

pytestmark = pytest.mark.broker


def settings_of(servers: str, topic: str) -> dict[str, str]:
    """The topic's own settings."""
    resource = ConfigResource(ResourceType.TOPIC, topic)
    admin = AdminClient({"bootstrap.servers": servers})
    told = admin.describe_configs([resource])[resource].result()
    return {name: entry.value for name, entry in told.items() if int(entry.source) == 1}


def test_the_new_topic_is_as_asked(
    broker: EmbeddedKafka, migrate: Callable[[str, str, int], Migrate], refusal: Callable[..., str]
) -> None:
    servers = broker.bootstrap_servers
    topics.create_topic(
        servers, "made", 3, topics.NewTopic(configs={"retention.ms": "900000000", "segment.bytes": "1048576"})
    )
    producer = Producer({"bootstrap.servers": servers, "partitioner": "murmur2_random"})
    for row in range(50):
        producer.produce("made", b"value", b"%d" % row)
    producer.flush()
    wanted = ["--topic-config", "segment.bytes=2097152", "--topic-config", "retention.ms=800000000"]
    step = migrate("made", "made-5", 5)
    refused = refusal("migrate", "copy", *step.words, "--replication-factor", "3")
    assert "replication factor of 3 cannot be reached" in refused
    assert topics.partition_count(servers, "made-5") is None
    assert "cleanup.polcy" in refusal(
        "migrate", "copy", *step.words, "--topic-config", "cleanup.polcy=compact"
    )
    step("copy", *wanted, "--replication-factor", 1)
    meanwhile = settings_of(servers, "made-5")
    assert (meanwhile["segment.bytes"], meanwhile["retention.ms"]) == ("2097152", "-1")
    assert step("copy", *wanted)["copied_now"] == 0
    other = refusal("migrate", "copy", *step.words, "--topic-config", "segment.bytes=3145728")
    assert "segment.bytes is 2097152, not 3145728" in other
    later = refusal("migrate", "copy", *step.words, "--topic-config", "retention.ms=7")
    assert "retention.ms will be 800000000, not 7" in later
    step("cutover")
    step("finish")
    assert settings_of(servers, "made-5")["retention.ms"] == "800000000"
