"""Targets as Spark writes and reads them: what each has to be able to, and a topic by Spark's own connector."""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self

from partwright.pipeline.targets import KafkaTopic, Target, Wrote
from partwright.spark.connector import (
    READER,
    load_topic,
    refuse_second_tasks,
    spark_options,
    windows_read,
    write_topic,
)
from partwright.spark.exactly_once import write_exactly_once
from partwright.spark.marks import mark_of
from partwright.spark.resumed_rows import rest_of, rows_there

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from partwright.kafka.marks import Mark
    from partwright.pipeline.source import Source

# The most that a Java producer sends in one request by default.
_MOST_BYTES = 1 << 20
# A whole topic is read, so requests are fewer and larger than by default (500 records and 1 MiB).
_MANY_AT_ONCE = {"kafka.max.poll.records": "5000", "kafka.max.partition.fetch.bytes": str(4 << 20)}


@dataclass(frozen=True)
class Placed:
    """Records that are ready to be written.

    Attributes:
        frame: `key`, `value`, `headers`, `partition`, `file` and `row`; task i holds partition i, in order.
        mark: The header by which this run's records are known.
        records: How many there are.
        bytes: The bytes of all keys and values.
        has_headers: Whether they have headers besides the mark.
    """

    frame: DataFrame
    mark: Mark
    records: int
    bytes: int
    has_headers: bool


class TargetWriter(NamedTuple):
    """A way to write a run's records.

    Attributes:
        how: It in words.
        write: The function that does it.
    """

    how: str
    write: Callable[[Placed], Wrote]


class SparkTarget(Target):
    """A target that Spark writes and reads."""

    @abstractmethod
    def open(self, spark: SparkSession, *, in_transactions: bool) -> Self:
        """Check, as soon as Spark has started, what cannot be checked without it.

        Raises:
            PartwrightError: Something is there already, Spark cannot reach it, or would write it twice.
        """

    @abstractmethod
    def write(self, placed: DataFrame) -> None:
        """Writes columns `key`, `value`, `headers`, `partition`; task i holds partition i, in order."""

    @abstractmethod
    def read(self, spark: SparkSession, *, committed: bool = False) -> DataFrame:
        """Columns `partition`, `offset`, `key`, `value`, `header` of what was written since `prepare`."""

    def writer(self, *, in_transactions: bool, goes_on: bool) -> TargetWriter:
        """The way to write all records, or those that an earlier try of the same run left."""
        del in_transactions, goes_on
        return TargetWriter("by Spark", self._write_all)

    def _write_all(self, placed: Placed) -> Wrote:
        self.write(placed.frame)
        return Wrote()

    def beside(self, name: str) -> SparkTopic | None:
        """See `Target.beside`."""
        del name
        return None


@dataclass(frozen=True)
class SparkTopic(KafkaTopic, SparkTarget):
    """A topic, written and read by Spark's own Kafka connector."""

    def open(self, spark: SparkSession, *, in_transactions: bool) -> Self:
        """See `SparkTarget.open`."""
        if not in_transactions:
            refuse_second_tasks(spark)
        return self

    def write(self, placed: DataFrame) -> None:
        """See `SparkTarget.write`; if `placed` has no column `partition`, the Java producer chooses."""
        write_topic(placed, self.config, self.topic, self._most_bytes())

    def writer(self, *, in_transactions: bool, goes_on: bool) -> TargetWriter:
        """See `SparkTarget.writer`; what is there already shows by the marks, for both ways to write."""
        what = "what is missing, " if goes_on else ""
        if in_transactions:
            return TargetWriter(
                f"{what}in transactions", functools.partial(self._write_committed, goes_on=goes_on)
            )
        return TargetWriter(f"{what}by Spark's sink", self._write_rest if goes_on else self._write_all)

    def _write_committed(self, placed: Placed, *, goes_on: bool) -> Wrote:
        already_there = write_exactly_once(
            # Without headers of their own, they have none but the mark, which the writer adds.
            placed.frame if placed.has_headers else placed.frame.drop("headers"),
            self.config,
            self.topic,
            self.begin,
            placed.mark,
            placed.bytes / placed.records,
        )
        return Wrote(already_there if goes_on else 0)

    def _write_rest(self, placed: Placed) -> Wrote:
        written_rows = rows_there(self.config, self.topic, self.begin, placed.mark)
        remaining = rest_of(placed.frame, written_rows, self.config, self.topic, placed.mark)
        if remaining.already_there < placed.records:
            self.write(remaining.rows)
        return Wrote(remaining.already_there, remaining.late)

    def _most_bytes(self) -> dict[str, str]:
        """If the new topic takes larger records than the default, its producer takes them too."""
        most = int(self.new_topic.configs.get("max.message.bytes", 0))
        return {"kafka.max.request.size": str(most)} if most > _MOST_BYTES else {}

    def read(self, spark: SparkSession, *, committed: bool = False) -> DataFrame:
        """See `SparkTarget.read`; up to the partitions' present ends, including partitions that were added since."""
        options = {
            **spark_options(self.config),
            **READER,
            **_MANY_AT_ONCE,
            **windows_read(self.topic, self.windows()),
            "includeHeaders": "true",
            "kafka.isolation.level": "read_committed" if committed else "read_uncommitted",
        }
        records = load_topic(spark, options)
        return records.select("partition", "offset", "key", "value", mark_of("headers").alias("header"))

    def losses(self, source: Source, *, in_transactions: bool) -> tuple[str, ...]:
        """See `Target.losses`."""
        times = (
            "the records have the time of this run as their timestamps, because Spark's Kafka sink takes none: "
            "--exactly-once keeps those of the source"
        )
        return (times,) if source.has_headers and not in_transactions else ()

    def beside(self, name: str) -> Self:
        """See `Target.beside`."""
        return super().beside(name)
