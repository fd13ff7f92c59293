"""The source of records; for a topic, its offsets are fixed once, when a run begins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from partwright._check import Json
from partwright.errors import PartwrightError
from partwright.kafka.address import parse_kafka
from partwright.kafka.connection import KafkaConfig
from partwright.kafka.records import extent

if TYPE_CHECKING:
    import pyarrow as pa

    from partwright.kafka.bounds import Bounds

# Spark's options that choose topics and offsets, in lower case.
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
        path: What that loads; None for a topic.
        options: The options that the user gives Spark's reader, which may hold secrets.
        key: The key's column; None if the user has to name it.
        topic: The default topic for the records.
        windows: For a topic, each partition's first offset and the one at which reading ends (exclusive). They are
            fixed once, so that a second reading sees the same records, and no reading sees later ones.
        of: How many offsets the whole topic had at that time.
        first: For a topic, the first offset that each partition had then.
        config: For a topic, how its Kafka is reached.
        topic_id: Kafka's ID of the topic.
        types: The columns of the files and their types, if they are read in this process.
    """

    name: str
    format: str
    path: str | None
    options: dict[str, str] = field(repr=False)
    key: str | None
    topic: str
    windows: Mapping[int, tuple[int, int]] | None = None
    of: int = 0
    first: Mapping[int, int] = field(default_factory=dict)
    config: KafkaConfig | None = None
    topic_id: str | None = None
    types: Mapping[str, pa.DataType] = field(default_factory=dict)

    @property
    def identity(self) -> str:
        """What identifies it, however its name was typed: for a local file, its absolute path."""
        if self.path is None:
            return self.name
        path = re.sub(r"^file:/+", "/", self.path)
        return path if "://" in path else str(Path(path).absolute())

    @property
    def passed(self) -> int:
        """How many offsets the windows hold."""
        return sum(end - begin for begin, end in (self.windows or {}).values())

    @property
    def has_headers(self) -> bool:
        """Whether its records have headers, and timestamps, of their own."""
        return self.path is None

    @property
    def can_grow(self) -> bool:
        """Whether more records may come: into a topic or a folder, not into a file."""
        return self.path is None or not Path(self.path).is_file()

    def within(self, windows: Mapping[int, tuple[int, int]] | None) -> Source:
        """The same topic with other windows; None leaves it as it is.

        Args:
            windows: See `windows`.
        """
        return self if windows is None else replace(self, windows=dict(windows))


def find_topic_source(
    address: str,
    source_config: KafkaConfig | None,
    bounds: Bounds,
    reader_options: Iterable[str],
    *,
    endless: bool = False,
) -> Source:
    """A topic as a source, with its windows as of now.

    Args:
        address: `kafka://host:port/topic`.
        source_config: How to reach the Kafka.
        bounds: Which part is read.
        reader_options: The names of the options of Spark's reader.
        endless: Whether it is read as a stream, which needs no record yet.

    Raises:
        PartwrightError: The address names no topic, the topic lacks what the bounds name, or nothing lies within them.
        BrokerError: No Kafka answers, there is no such topic, or no right to see it.
    """
    servers, topic = parse_kafka(address)
    if topic is None:
        raise PartwrightError(f"{address!r} names no topic to read: write {address.rstrip('/')}/TOPIC")
    for option in reader_options:
        if option.lower() in _FIXED:
            raise PartwrightError(
                f"--option {option} is fixed by the run: say which part of the topic is read with --since, --until, "
                "--last, --only-partitions, --from-offsets and --to-offsets"
            )
    config = KafkaConfig.read(source_config, servers=servers)
    topic_extent = extent(config, topic, bounds)
    of = sum(topic_extent.end.values()) - sum(topic_extent.first.values())
    source = Source(
        address,
        "kafka",
        None,
        {},
        "key",
        topic,
        of=of,
        first=topic_extent.first,
        config=config,
        topic_id=topic_extent.topic_id,
    )
    source = source.within(topic_extent.windows)
    if not source.passed and not endless:
        part = "no records within these bounds" if source.of else "no records: it is empty"
        raise PartwrightError(f"{address} has {part}, nothing was written")
    return source


def what_was_read(source: Source, bounds: Bounds, records: int, **narrowed: int | None) -> Json | None:
    """How much of a topic was read, as an object for JSON; None for any other source.

    Args:
        source: The source.
        bounds: Which part is read.
        records: How many of its records the run takes.
        narrowed: What else narrowed them, by name: how many `only_keys` were named, and the `limit`; None for nothing.

    Returns:
        `records`; `of`, how many offsets the topic had when the run began; `passed`, how many of them were read;
        `whole`, whether all records of the topic were taken; `bounds`; `windows`, each partition's first offset and the
        one at which reading ended; and, if given, how many `only_keys` were named, and the `limit`.
    """
    if source.windows is None:
        return None
    narrowings = {name: value for name, value in narrowed.items() if value is not None}
    return {
        "records": records,
        "of": source.of,
        "passed": source.passed,
        "whole": source.passed == source.of and not narrowings,
        "bounds": bounds.to_dict(),
        "windows": {str(partition): [*window] for partition, window in source.windows.items()},
        **narrowings,
    }
