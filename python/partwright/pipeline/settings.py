"""What a run is asked to do, and where its records go: the words of the command line, checked before Spark starts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from partwright import _core
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["KafkaTarget", "ParquetTarget", "Settings", "parse_kafka", "parse_target"]

_BROKER = re.compile(r"(\[[0-9a-fA-F:]+\]|[^\s:/\[\],]+):([0-9]{1,5})")
_LARGEST_PORT = 65535
# Spark counts the rows of a limit in an int.
_LARGEST_LIMIT = 2**31 - 1


@dataclass(frozen=True)
class KafkaTarget:
    """Topics of a Kafka cluster."""

    bootstrap_servers: str

    def __str__(self) -> str:
        return f"kafka://{self.bootstrap_servers}"


@dataclass(frozen=True)
class ParquetTarget:
    """A folder with one folder a partition, named as Kafka's own log directories are."""

    folder: Path

    def __str__(self) -> str:
        return f"parquet:{self.folder}"


@dataclass(frozen=True)
class Settings:
    """One run of the main job.

    Attributes:
        source: A csv, json or parquet file or folder, `kafka://host:port/topic`, whatever Spark's `format` loads;
            None stands for the flights of 2013.
        format: The name of Spark's data source, where the source's own name does not say it.
        options: Options of that data source.
        key: The column whose value is the record's key.
        key_type: How that value becomes key bytes (`partwright.encode`).
        value: The column that is the record's value, text or binary; None makes a JSON object of all columns.
        topic: The topic, or the first part of the folders' names.
        partitions: How many partitions the topic has; None takes the topic's own number, or 12 for a new topic.
        target: Where the records go; None stands for an embedded Kafka that lives as long as the run.
        client: The client profile whose partitions are taken.
        master: Spark's master.
        limit: How many records are taken, the source's first ones; None takes all.
        check: Whether every record is read back and checked.
        proof: Whether a Java producer is asked too: the records go to a second topic without a partition.
        append: Whether a topic that holds records already may be written to.
        configs: Further settings of the Spark session.
    """

    source: str | None = None
    format: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    key: str | None = None
    key_type: str | None = None
    value: str | None = None
    topic: str | None = None
    partitions: int | None = None
    target: KafkaTarget | ParquetTarget | None = None
    client: str = "java"
    master: str = "local[*]"
    limit: int | None = None
    check: bool = True
    proof: bool = True
    append: bool = False
    configs: Mapping[str, str] = field(default_factory=dict)

    DEFAULT_PARTITIONS = 12

    @property
    def agrees_with_java(self) -> bool:
        """Whether the client puts every key where a Java producer does."""
        return any(row["client"] == self.client and row["agrees_with_java"] for row in _core.clients())

    def __post_init__(self) -> None:
        """Refuses what no run could do.

        Raises:
            PartwrightError: The number of partitions, the client, the key type or the limit is none.
        """
        number = self.DEFAULT_PARTITIONS if self.partitions is None else self.partitions
        _core.check(number, self.client, self.key_type)
        if self.limit is not None and not 1 <= self.limit <= _LARGEST_LIMIT:
            raise PartwrightError(
                f"--limit takes a whole number from 1 to {_LARGEST_LIMIT}, not {self.limit}"
            )


def parse_kafka(address: str) -> tuple[str, str | None]:
    """The bootstrap servers and the topic of `kafka://host:port[,host:port][/topic]`.

    Raises:
        PartwrightError: The address is not of this form.

    Examples:
        >>> parse_kafka("kafka://127.0.0.1:9092/flights")
        ('127.0.0.1:9092', 'flights')
        >>> parse_kafka("kafka://a:9092,b:9092")
        ('a:9092,b:9092', None)
    """
    servers, _, topic = address.removeprefix("kafka://").partition("/")
    for server in servers.split(","):
        match = _BROKER.fullmatch(server)
        if not address.startswith("kafka://") or match is None or not 0 < int(match[2]) <= _LARGEST_PORT:
            raise PartwrightError(
                f"{address!r} is no Kafka: write kafka://host:port, kafka://127.0.0.1:9092 say"
            )
    return servers, topic or None


def parse_target(text: str) -> tuple[KafkaTarget | ParquetTarget, str | None]:
    """Where `--to` points, and the topic if it names one.

    Raises:
        PartwrightError: It is neither `kafka://host:port[/topic]` nor `parquet:DIR`.

    Examples:
        >>> parse_target("kafka://127.0.0.1:9092/flights")
        (KafkaTarget(bootstrap_servers='127.0.0.1:9092'), 'flights')
    """
    if text.startswith("kafka:"):
        servers, topic = parse_kafka(text)
        return KafkaTarget(servers), topic
    kind, _, folder = text.partition(":")
    if kind == "parquet" and folder and "://" not in text:
        return ParquetTarget(Path(folder)), None
    raise PartwrightError(
        f"--to takes kafka://host:port or parquet:DIR, a folder of this machine, not {text!r}"
    )
