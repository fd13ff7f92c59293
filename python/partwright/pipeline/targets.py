"""Where placed records go and are read back from: what a run needs of it, and a Kafka topic."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Protocol

from partwright.cluster import Cluster
from partwright.errors import BrokerError, PartwrightError
from partwright.kafka import topics
from partwright.kafka.client import TIMEOUT_S, admin_client
from partwright.kafka.new_topic import NewTopic
from partwright.kafka.topic_differences import differences
from partwright.pipeline.target_state import Look, refuse_changed
from partwright.spark.connector import READER, spark_options, write_topic
from partwright.spark.continued import mark_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame, SparkSession

    from partwright.kafka.connection import KafkaConfig

__all__ = ["KafkaTopic", "Target"]


# What a Java producer sends at most in one request, unless it is told otherwise.
_MOST_BYTES = 1 << 20


class Target(Protocol):
    """What a run needs of the place that it writes to.

    Attributes:
        begin: The offset that the first record written gets, by partition; 0 where it is not named.
    """

    begin: Mapping[int, int]

    def look(self) -> Look:
        """What is there now."""

    def cluster(self) -> Cluster | None:
        """Where the topic's partitions are; None where it is not there."""

    def foresee(self, n: int, first: Look) -> None:
        """Asks whether what is not there yet can be made for `n` partitions, and makes nothing.

        Raises:
            PartwrightError: It cannot.
        """

    def prepare(self, n: int, first: Look, *, append: bool) -> None:
        """Makes what is not there yet, ready to be written to; looks again, for `first` may be minutes old.

        Raises:
            PartwrightError: Somebody has changed the target since `first`; nothing was written.
        """

    def write(self, placed: DataFrame) -> None:
        """Writes columns `key`, `value`, `headers`, `partition`; task i holds partition i, in order."""

    def written(self) -> Mapping[int, int] | None:
        """How many records each partition got since `prepare`; None where nobody can tell."""

    def partitions_now(self) -> int | None:
        """How many partitions there are now, 0 where the topic is gone; None where nobody can add any."""

    def read(self, spark: SparkSession, *, committed: bool = False) -> DataFrame:
        """Columns `partition`, `offset`, `key`, `value`, `header` of what was written since `prepare`."""


class KafkaTopic:
    """A topic, written and read by Spark's own Kafka connector.

    Args:
        config: How its Kafka is reached.
        topic: Its name.
        new_topic: What it is like where it has to be made; one that is there already must be like that.
    """

    begin: Mapping[int, int]

    def __init__(self, config: KafkaConfig, topic: str, new_topic: NewTopic | None = None) -> None:
        topics.check_topic_name(topic)
        self.config = config
        self.new_topic = new_topic or NewTopic()
        self.bootstrap_servers = config.required_servers()
        self.topic = topic
        self.begin = {}

    def __str__(self) -> str:
        return f"topic {self.topic!r} at {self.bootstrap_servers}"

    def look(self) -> Look:
        """See `Target.look`.

        Raises:
            PartwrightError: The topic is there, and is not like the one that was asked for.
        """
        if topics.partition_count(None, self.topic, kafka_config=self.config) is None:
            return Look()
        self._refuse_different()
        first = topics.beginning_offsets(None, self.topic, kafka_config=self.config)
        ends = topics.end_offsets(None, self.topic, kafka_config=self.config)
        return Look(len(ends), sum(ends.values()) - sum(first.values()), ends)

    def cluster(self) -> Cluster | None:
        """See `Target.cluster`."""
        if topics.partition_count(None, self.topic, kafka_config=self.config) is None:
            return None
        return Cluster.from_kafka(None, [self.topic], kafka_config=self.config)

    def foresee(self, n: int, first: Look) -> None:
        """See `Target.foresee`; the brokers themselves say what they would refuse."""
        if first.partitions is None:
            self._make(n, validate_only=True)

    def prepare(self, n: int, first: Look, *, append: bool) -> None:
        """See `Target.prepare`; waits until each partition of a new topic has a leader that answers."""
        now = self.look()
        if now.partitions is None and first.partitions is None:
            self._make(n)
            now = self.look()
        refuse_changed(first, now, n, append, str(self))
        self.begin = now.ends

    def _make(self, n: int, *, validate_only: bool = False) -> None:
        # Somebody may make it in this very moment: what they made is then looked at.
        with contextlib.suppress(topics.TopicExistsError):
            topics.create_topic(
                None,
                self.topic,
                n,
                self.new_topic.configs,
                replication_factor=self.new_topic.replication_factor,
                replica_assignment=self.new_topic.replica_assignment,
                validate_only=validate_only,
                kafka_config=self.config,
            )

    def _refuse_different(self) -> None:
        found = differences(self.config, self.topic, self.new_topic)
        if found:
            raise PartwrightError(
                f"{self} is there already and is not as asked ({'; '.join(found)}): nothing was written and nothing "
                "changed; leave these options out, alter the topic first (kafka-configs.sh, "
                "kafka-reassign-partitions.sh), or take another --topic"
            )

    def write(self, placed: DataFrame) -> None:
        """See `Target.write`; where `placed` has no column `partition` the Java producer chooses."""
        write_topic(placed, self.config, self.topic, self._most_bytes())

    def _most_bytes(self) -> dict[str, str]:
        """Where the new topic takes larger records than a topic does by default, its producer takes them too."""
        most = int(self.new_topic.configs.get("max.message.bytes", 0))
        return {"kafka.max.request.size": str(most)} if most > _MOST_BYTES else {}

    def written(self) -> Mapping[int, int] | None:
        """See `Target.written`; None where the broker does not answer."""
        try:
            end = topics.end_offsets(None, self.topic, kafka_config=self.config)
        except BrokerError:
            return None
        return {partition: offset - self.begin.get(partition, 0) for partition, offset in sorted(end.items())}

    def topic_id(self) -> str:
        """Kafka's id of the topic, which another one of the same name does not have.

        Raises:
            BrokerError: No Kafka answers, or there is no such topic.
        """
        with admin_client(self.config, TIMEOUT_S) as admin:
            return str(topics.existing(admin, self.topic).topic_id)

    def read(self, spark: SparkSession, *, committed: bool = False) -> DataFrame:
        """See `Target.read`; up to the ends that the partitions have now, those that were added since included."""
        end = topics.end_offsets(None, self.topic, kafka_config=self.config)
        begin = {partition: self.begin.get(partition, 0) for partition in end}
        records = (
            spark.read.format("kafka")
            .options(**spark_options(self.config), **READER)
            .option("assign", json.dumps({self.topic: sorted(end)}))
            .option("startingOffsets", _offsets(self.topic, begin))
            .option("endingOffsets", _offsets(self.topic, end))
            .option("includeHeaders", "true")
            .option("kafka.isolation.level", "read_committed" if committed else "read_uncommitted")
            .load()
        )
        return records.select("partition", "offset", "key", "value", mark_of("headers").alias("header"))

    def partitions_now(self) -> int:
        """See `Target.partitions_now`."""
        return topics.partition_count(None, self.topic, kafka_config=self.config) or 0

    def delete(self) -> None:
        """Takes the topic away again."""
        topics.delete_topic(None, self.topic, kafka_config=self.config)


def _offsets(topic: str, offsets: Mapping[int, int]) -> str:
    return json.dumps({topic: {str(partition): offset for partition, offset in offsets.items()}})
