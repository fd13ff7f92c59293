"""The target of placed records: what a run needs of it, and a Kafka topic."""

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
from partwright.spark.connector import READER, load_topic, spark_options, write_topic
from partwright.spark.marks import mark_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame, SparkSession

    from partwright.kafka.connection import KafkaConfig

__all__ = ["KafkaTopic", "Target"]


# The most that a Java producer sends in one request by default.
_MOST_BYTES = 1 << 20
# A whole topic is read, so requests are fewer and larger than by default (500 records and 1 MiB).
_MANY_AT_ONCE = {"kafka.max.poll.records": "5000", "kafka.max.partition.fetch.bytes": str(4 << 20)}


class Target(Protocol):
    """What a run needs from the place that it writes to.

    Attributes:
        begin: By partition, the offset of the first written record; 0 if it is not named.
    """

    begin: Mapping[int, int]

    def look(self) -> Look:
        """What is there now."""

    def cluster(self) -> Cluster | None:
        """The topic's partitions and leaders; None if the topic does not exist."""

    def foresee(self, n: int, first: Look) -> None:
        """Ask whether what is missing can be created for `n` partitions, without creating it.

        Raises:
            PartwrightError: It cannot.
        """

    def prepare(self, n: int, first: Look, *, append: bool) -> None:
        """Create what is missing, ready to be written to; looks again, because `first` may be minutes old.

        Raises:
            PartwrightError: Somebody has changed the target since `first`; nothing was written.
        """

    def write(self, placed: DataFrame) -> None:
        """Writes columns `key`, `value`, `headers`, `partition`; task i holds partition i, in order."""

    def written(self) -> Mapping[int, int] | None:
        """How many records each partition got since `prepare`; None if nobody can tell."""

    def partitions_now(self) -> int | None:
        """How many partitions there are now, 0 if the topic is gone; None if nobody can add any."""

    def read(self, spark: SparkSession, *, committed: bool = False) -> DataFrame:
        """Columns `partition`, `offset`, `key`, `value`, `header` of what was written since `prepare`."""


class KafkaTopic:
    """A topic, written and read by Spark's own Kafka connector.

    Args:
        config: How to reach its Kafka.
        topic: Its name.
        new_topic: Its settings if it has to be created; an existing topic must have them.
    """

    begin: Mapping[int, int]

    def __init__(self, config: KafkaConfig, topic: str, new_topic: NewTopic | None = None) -> None:
        topics.check_topic_name(topic)
        self.config = config
        self.new_topic = new_topic or NewTopic()
        self.bootstrap_servers = config.required_servers()
        self.topic = topic
        self.begin = {}
        # Kafka's ID of the topic that is written to; another topic of the same name has another one.
        self._begun_id: str | None = None

    def __str__(self) -> str:
        return f"topic {self.topic!r} at {self.bootstrap_servers}"

    def look(self) -> Look:
        """See `Target.look`.

        Raises:
            PartwrightError: The topic exists and differs from what was asked for.
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
        """See `Target.foresee`; the brokers themselves tell what they would refuse."""
        if first.partitions is None:
            self._make(n, validate_only=True)

    def prepare(self, n: int, first: Look, *, append: bool) -> None:
        """See `Target.prepare`; waits until each partition of a new topic has a leader that answers."""
        now = self.look()
        if now.partitions is None and first.partitions is None:
            self._make(n)
            now = self.look()
        refuse_changed(first, now, n, append, str(self))
        self.begin_at(now.ends)

    def begin_at(self, begin: Mapping[int, int]) -> None:
        """Note which topic this run writes to, and from which offsets on.

        Raises:
            BrokerError: No Kafka answers, or there is no such topic.
        """
        self.begin, self._begun_id = begin, self.topic_id()

    def _make(self, n: int, *, validate_only: bool = False) -> None:
        # Somebody may create it at this very moment; then that topic is checked.
        with contextlib.suppress(topics.TopicExistsError):
            topics.create_topic(
                None,
                self.topic,
                n,
                self.new_topic,
                validate_only=validate_only,
                kafka_config=self.config,
            )

    def _refuse_different(self) -> None:
        found = differences(self.config, self.topic, self.new_topic)
        if found:
            raise PartwrightError(
                f"{self} exists already and is not as asked ({'; '.join(found)}): nothing was written and nothing "
                "changed; leave these options out, alter the topic first (kafka-configs.sh, "
                "kafka-reassign-partitions.sh), or take another --topic"
            )

    def write(self, placed: DataFrame) -> None:
        """See `Target.write`; if `placed` has no column `partition`, the Java producer chooses."""
        write_topic(placed, self.config, self.topic, self._most_bytes())

    def _most_bytes(self) -> dict[str, str]:
        """If the new topic takes larger records than the default, its producer takes them too."""
        most = int(self.new_topic.configs.get("max.message.bytes", 0))
        return {"kafka.max.request.size": str(most)} if most > _MOST_BYTES else {}

    def written(self) -> Mapping[int, int] | None:
        """See `Target.written`; None if the broker does not answer."""
        try:
            end = topics.end_offsets(None, self.topic, kafka_config=self.config)
        except BrokerError:
            return None
        return {partition: offset - self.begin.get(partition, 0) for partition, offset in sorted(end.items())}

    def topic_id(self) -> str:
        """Kafka's ID of the topic, which differs for another topic of the same name.

        Raises:
            BrokerError: No Kafka answers, or there is no such topic.
        """
        with admin_client(self.config, TIMEOUT_S) as admin:
            return str(topics.existing(admin, self.topic).topic_id)

    def read(self, spark: SparkSession, *, committed: bool = False) -> DataFrame:
        """See `Target.read`; up to the partitions' present ends, including partitions that were added since."""
        end = topics.end_offsets(None, self.topic, kafka_config=self.config)
        begin = {partition: self.begin.get(partition, 0) for partition in end}
        options = {
            **spark_options(self.config),
            **READER,
            **_MANY_AT_ONCE,
            "assign": json.dumps({self.topic: sorted(end)}),
            "startingOffsets": _offsets(self.topic, begin),
            "endingOffsets": _offsets(self.topic, end),
            "includeHeaders": "true",
            "kafka.isolation.level": "read_committed" if committed else "read_uncommitted",
        }
        records = load_topic(spark, options)
        return records.select("partition", "offset", "key", "value", mark_of("headers").alias("header"))

    def partitions_now(self) -> int:
        """See `Target.partitions_now`; if the topic was made again, the one that was written to is gone."""
        with admin_client(self.config, TIMEOUT_S) as admin:
            now = topics.described(admin, [self.topic])[self.topic]
        return len(now.partitions) if now and self._begun_id in {None, str(now.topic_id)} else 0

    def is_gone(self) -> bool:
        """Whether the topic that was written to is known not to exist any more."""
        with contextlib.suppress(BrokerError):
            return self.partitions_now() == 0
        return False

    def delete(self) -> None:
        """Delete the topic again."""
        topics.delete_topic(None, self.topic, kafka_config=self.config)


def _offsets(topic: str, offsets: Mapping[int, int]) -> str:
    return json.dumps({topic: {str(partition): offset for partition, offset in offsets.items()}})
