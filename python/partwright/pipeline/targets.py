"""Where placed records go and are read back from: a Kafka topic, or folders of Parquet named after partitions."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Protocol

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's own documents use
from pyspark.sql import types as T  # noqa: N812 - the same

from partwright.cluster import Cluster
from partwright.errors import BrokerError, PartwrightError
from partwright.kafka import topics
from partwright.pipeline.source import HEADER, spark_path

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

__all__ = ["KafkaTopic", "ParquetFolders", "Target"]

# A broker that went away is noticed within half a minute instead of two; a retry is still tried many times.
_PRODUCER = {
    "kafka.delivery.timeout.ms": "30000",
    "kafka.request.timeout.ms": "10000",
    "kafka.max.block.ms": "20000",
}


class Target(Protocol):
    """What a run needs of the place that it writes to.

    Attributes:
        begin: The offset that the first record written gets, by partition; 0 where it is not named.
    """

    begin: Mapping[int, int]

    def existing(self) -> tuple[int | None, int]:
        """The number of partitions that are there, None if nothing is, and how many records they hold."""

    def cluster(self) -> Cluster | None:
        """Where the topic's partitions are; None where it is not there."""

    def prepare(self, n: int) -> None:
        """Makes what is not there yet, ready to be written to."""

    def write(self, placed: DataFrame) -> None:
        """Writes columns `key`, `value`, `headers`, `partition`; task i holds partition i, in order."""

    def written(self) -> Mapping[int, int] | None:
        """How many records each partition got since `prepare`; None where nobody can tell."""

    def read(self, spark: SparkSession) -> DataFrame:
        """Columns `partition`, `offset`, `key`, `value`, `header` of what was written since `prepare`."""


class KafkaTopic:
    """A topic, written and read by Spark's own Kafka connector."""

    begin: Mapping[int, int]

    def __init__(self, bootstrap_servers: str, topic: str) -> None:
        topics.check_topic_name(topic)
        self.bootstrap_servers = bootstrap_servers
        self.topic = topic
        self.begin = {}

    def __str__(self) -> str:
        return f"topic {self.topic!r} at {self.bootstrap_servers}"

    def existing(self) -> tuple[int | None, int]:
        """See `Target.existing`."""
        n = topics.partition_count(self.bootstrap_servers, self.topic)
        if n is None:
            return None, 0
        first = topics.beginning_offsets(self.bootstrap_servers, self.topic)
        end = topics.end_offsets(self.bootstrap_servers, self.topic)
        return n, sum(end.values()) - sum(first.values())

    def cluster(self) -> Cluster | None:
        """See `Target.cluster`."""
        if topics.partition_count(self.bootstrap_servers, self.topic) is None:
            return None
        return Cluster.from_kafka(self.bootstrap_servers, [self.topic])

    def prepare(self, n: int) -> None:
        """Makes the topic where it is not there, and waits until each of its partitions has a leader that answers."""
        if topics.partition_count(self.bootstrap_servers, self.topic) is None:
            topics.create_topic(self.bootstrap_servers, self.topic, n)
        self.begin = topics.end_offsets(self.bootstrap_servers, self.topic)

    def write(self, placed: DataFrame) -> None:
        """See `Target.write`; where `placed` has no column `partition` the Java producer chooses."""
        wanted = [name for name in ("key", "value", "headers", "partition") if name in placed.columns]
        (
            placed.select(*wanted)
            .write.format("kafka")
            .option("kafka.bootstrap.servers", self.bootstrap_servers)
            .option("topic", self.topic)
            .options(**_PRODUCER)
            .save()
        )

    def written(self) -> Mapping[int, int] | None:
        """See `Target.written`; None where the broker does not answer."""
        try:
            end = topics.end_offsets(self.bootstrap_servers, self.topic)
        except BrokerError:
            return None
        return {partition: end[partition] - first for partition, first in sorted(self.begin.items())}

    def read(self, spark: SparkSession) -> DataFrame:
        """See `Target.read`; up to the ends that the partitions have now."""
        end = topics.end_offsets(self.bootstrap_servers, self.topic)
        records = (
            spark.read.format("kafka")
            .option("kafka.bootstrap.servers", self.bootstrap_servers)
            .option("assign", json.dumps({self.topic: sorted(end)}))
            .option("startingOffsets", _offsets(self.topic, self.begin))
            .option("endingOffsets", _offsets(self.topic, end))
            .option("includeHeaders", "true")
            .load()
        )
        ours = F.filter("headers", lambda header: header["key"] == HEADER)
        return records.select(
            "partition", "offset", "key", "value", F.get(ours, F.lit(0))["value"].alias("header")
        )

    def delete(self) -> None:
        """Takes the topic away again."""
        topics.delete_topic(self.bootstrap_servers, self.topic)


def _offsets(topic: str, offsets: Mapping[int, int]) -> str:
    return json.dumps({topic: {str(partition): offset for partition, offset in offsets.items()}})


class ParquetFolders:
    """One folder a partition, `<topic>-<partition>`, as in Kafka's own log directories; null keys in `<topic>-null`.

    A file holds `offset`, `key`, `value` and `headers`, ordered by offset.
    """

    UNPLACED = "null"

    begin: Mapping[int, int]

    def __init__(self, folder: Path, topic: str) -> None:
        topics.check_topic_name(topic)
        self.folder = folder.absolute()
        self.topic = topic
        self.begin = {}

    def __str__(self) -> str:
        return f"folder {str(self.folder)!r}"

    def existing(self) -> tuple[int | None, int]:
        """Refuses a folder that holds partitions of this topic already.

        Raises:
            PartwrightError: It does, or it is no folder.
        """
        if self.folder.exists() and not self.folder.is_dir():
            raise PartwrightError(f"{str(self.folder)!r} is a file: --to parquet:DIR takes a folder")
        there = self._folders()
        if there:
            raise PartwrightError(
                f"{str(self.folder)!r} holds {there[0].name!r} already, from an earlier run: nothing was written; take "
                "another folder or another --topic, or remove what is there"
            )
        return None, 0

    def cluster(self) -> None:
        """Folders have no leaders."""

    def prepare(self, n: int) -> None:
        """Makes the folder; all `n` partitions get theirs as they are written."""
        try:
            self._unfinished.mkdir(parents=True)
        except FileExistsError:
            raise PartwrightError(
                f"{str(self._unfinished)!r} is what an earlier run left when it stopped while writing: remove it"
            ) from None
        except OSError as error:
            raise PartwrightError(f"{str(self.folder)!r} cannot be written to: {error.strerror}") from None
        self._n = n

    def write(self, placed: DataFrame) -> None:
        """See `Target.write`; what is complete gets its name only at the end."""
        within = Window.partitionBy("partition").orderBy("file", "row")
        files = placed.withColumn("offset", F.row_number().over(within).cast("long") - 1)
        order = files.sortWithinPartitions("partition", "offset")
        wanted = [
            name for name in ("offset", "key", "value", "headers", "partition") if name in order.columns
        ]
        order.select(*wanted).write.mode("append").partitionBy("partition").parquet(str(self._unfinished))
        for partition in range(self._n):
            self._named(str(partition), self._unfinished / f"partition={partition}")
        nulls = self._unfinished / "partition=__HIVE_DEFAULT_PARTITION__"
        if nulls.exists():
            self._named(self.UNPLACED, nulls)
        shutil.rmtree(self._unfinished)

    def written(self) -> Mapping[int, int] | None:
        """See `Target.written`; a write that stopped leaves nothing under a partition's name."""
        shutil.rmtree(self._unfinished, ignore_errors=True)
        return {}

    def read(self, spark: SparkSession) -> DataFrame:
        """See `Target.read`."""
        schema = T.StructType(
            [
                T.StructField("offset", T.LongType()),
                T.StructField("key", T.BinaryType()),
                T.StructField("value", T.BinaryType()),
                T.StructField(
                    "headers",
                    T.ArrayType(
                        T.StructType(
                            [T.StructField("key", T.StringType()), T.StructField("value", T.BinaryType())]
                        )
                    ),
                ),
            ]
        )
        folders = [spark_path(folder) for folder in self._folders()]
        name = F.regexp_extract("_metadata.file_path", r"-([0-9]+|null)/[^/]*$", 1)
        partition = F.when(name != self.UNPLACED, name).cast("int")
        records = spark.read.schema(schema).parquet(*folders).withColumn("partition", partition)
        ours = F.filter("headers", lambda header: header["key"] == HEADER)
        return records.select(
            "partition", "offset", "key", "value", F.get(ours, F.lit(0))["value"].alias("header")
        )

    @property
    def _unfinished(self) -> Path:
        return self.folder / f".{self.topic}.unfinished"

    def _folders(self) -> list[Path]:
        names = (path for path in self.folder.glob(f"{self.topic}-*") if path.is_dir())
        ends = ((path, path.name.removeprefix(f"{self.topic}-")) for path in names)
        return sorted(path for path, end in ends if end.isdigit() or end == self.UNPLACED)

    def _named(self, name: str, written: Path) -> None:
        target = self.folder / f"{self.topic}-{name}"
        if written.exists():
            written.replace(target)
        else:
            target.mkdir()
