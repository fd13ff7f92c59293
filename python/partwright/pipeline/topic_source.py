"""Where records come from, once it is found; of a topic, which offsets: they are fixed once, as a run begins."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from partwright.errors import PartwrightError
from partwright.kafka.address import parse_kafka
from partwright.kafka.connection import KafkaConfig
from partwright.kafka.extent import extent
from partwright.spark.connector import spark_options

if TYPE_CHECKING:
    from collections.abc import Mapping

    from partwright._check import Json
    from partwright.pipeline.settings import RunSettings

__all__ = ["Source", "topic_source", "what_was_read"]

# Spark's options that say what is read of which topics, in lower case.
_FIXED = {
    *("assign", "subscribe", "subscribepattern", "startingoffsets", "endingoffsets"),
    *("startingtimestamp", "endingtimestamp", "startingoffsetsbytimestamp", "endingoffsetsbytimestamp"),
}


@dataclass(frozen=True)
class Source:
    """Where records come from, found and named, but not read yet.

    Attributes:
        name: What it is called.
        format: The name of Spark's data source.
        path: What that loads; None of a topic.
        options: The options of that; secrets may be among them.
        key: The column that is the key; None where somebody has to say it.
        topic: The topic that the records go to by default.
        windows: Of a topic, from which offset to which, that one left out, each partition is read: fixed once, so that
            whatever is read again is the same, and what comes meanwhile is in nothing.
        of: How many offsets the whole topic had by then.
    """

    name: str
    format: str
    path: str | None
    options: dict[str, str] = field(repr=False)
    key: str | None
    topic: str
    windows: Mapping[int, tuple[int, int]] | None = None
    of: int = 0

    @property
    def identity(self) -> str:
        """By which it is known again, however its name was typed: a path of this machine from its root on."""
        if self.path is None:
            return self.name
        path = re.sub(r"^file:/+", "/", self.path)
        return path if "://" in path else str(Path(path).absolute())

    @property
    def passed(self) -> int:
        """How many offsets the windows have."""
        return sum(end - begin for begin, end in (self.windows or {}).values())

    def within(self, topic: str, windows: Mapping[int, tuple[int, int]]) -> Source:
        """The same topic, read from other offsets to others.

        Args:
            topic: Its name.
            windows: See `windows`.
        """
        begins = {str(partition): begin for partition, (begin, _) in windows.items()}
        ends = {str(partition): end for partition, (_, end) in windows.items()}
        options = {
            "assign": json.dumps({topic: [*windows]}),
            "startingOffsets": json.dumps({topic: begins}),
            "endingOffsets": json.dumps({topic: ends}),
        }
        return replace(self, windows=dict(windows), options=self.options | options)


def topic_source(address: str, settings: RunSettings, *, endless: bool = False) -> Source:
    """A topic as a source, its windows asked for now.

    Args:
        address: `kafka://host:port/topic`.
        settings: How the Kafka is reached, and what bounds the source.
        endless: Whether it is read as a stream, for which there need not be a record yet.

    Raises:
        PartwrightError: The address names no topic, the topic lacks what the bounds name, or nothing is within them.
        BrokerError: No Kafka answers, there is no such topic, or no right to see it.
    """
    servers, topic = parse_kafka(address)
    if topic is None:
        raise PartwrightError(f"{address!r} names no topic to read: write {address.rstrip('/')}/TOPIC")
    for option in settings.options:
        if option.lower() in _FIXED:
            raise PartwrightError(
                f"--option {option} is fixed by the run: say which part of the topic is read with --since, --until, "
                "--last, --only-partitions, --from-offsets and --to-offsets"
            )
    config = KafkaConfig.read(settings.source_config, servers=servers)
    found = extent(config, topic, settings.bounds)
    options = {**spark_options(config, reading=True), "includeHeaders": "true"}
    of = sum(found.end.values()) - sum(found.first.values())
    source = Source(address, "kafka", None, options, "key", topic, of=of).within(topic, found.windows)
    if not source.passed and not endless:
        part = "no records within these bounds" if source.of else "no records: it is empty"
        raise PartwrightError(f"{address} has {part}, nothing was written")
    return source


def what_was_read(source: Source, settings: RunSettings, records: int) -> Json | None:
    """What was read of a topic, and of how much, as JSON has it; None of a source that is no topic.

    Args:
        source: The source.
        settings: What bounds it.
        records: How many of its records the run takes.

    Returns:
        `records`; `of`, how many offsets the topic had as the run began; `passed`, how many of them were read; `whole`,
        whether all records of the topic were taken; `bounds`; `windows`, the first offset of each partition and the one
        at which it ended; and how many `only_keys` were named, and the `limit`, where there are such.
    """
    if source.windows is None:
        return None
    chosen = {"only_keys": len(settings.wanted_keys) or None, "limit": settings.limit}
    narrowed = {name: value for name, value in chosen.items() if value is not None}
    return {
        "records": records,
        "of": source.of,
        "passed": source.passed,
        "whole": source.passed == source.of and not narrowed,
        "bounds": settings.bounds.to_dict(),
        "windows": {str(partition): [*window] for partition, window in source.windows.items()},
        **narrowed,
    }
