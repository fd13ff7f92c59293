"""The options with which commands reach a Kafka and select a part of a topic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from partwright.cli.input.options import key_values
from partwright.cli.output import echo
from partwright.cli.parsing import Listed, combined, heading, option, repeated
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from partwright.kafka.bounds import Bounds
    from partwright.kafka.connection import KafkaConfig


@dataclass(frozen=True, repr=False)
class Connection:
    """The values of `--command-config` and `-X`; nothing is read until it is needed.

    Attributes:
        file: The properties file; None if none is named.
        settings: The settings of `-X`.
    """

    file: str | None
    settings: Mapping[str, str]
    _shown: set[tuple[str | None, str]] = field(default_factory=set, compare=False)

    @property
    def is_given(self) -> bool:
        """Whether any of these options was given."""
        return self.file is not None or bool(self.settings)

    def of(self, file: str | None) -> Connection:
        """The same with another file, if one is named."""
        return self if file is None else replace(self, file=file)

    def refuse_unused(self, instead: str) -> None:
        """Refuse these options where no Kafka is reached.

        Raises:
            PartwrightError: One was given; the sentence says what to do instead.
        """
        if self.is_given:
            raise PartwrightError(f"--command-config and -X are for reaching a Kafka: {instead}")

    def config(self, servers: str | None = None) -> KafkaConfig:
        """The client configuration; its notes are printed on stderr, once for each file.

        Args:
            servers: An address's servers, which take precedence.

        Raises:
            PartwrightError: A setting is refused, or the file cannot be read.
        """
        # Imported only here, because it imports half of the package.
        from partwright.kafka.connection import KafkaConfig

        config = KafkaConfig.read(self.file, settings=self.settings, servers=servers)
        for note in config.notes:
            # Two clusters may have the same configuration.
            if (self.file, note) not in self._shown:
                self._shown.add((self.file, note))
                echo(note, err=True)
        return config


def _connection(command_config: str | None, settings: tuple[str, ...]) -> Connection:
    if command_config == "":
        raise PartwrightError("--command-config is empty: name a file, or leave it out")
    return Connection(command_config, key_values("-X", settings, may_be_secret=True))


connection_options = combined(
    "connection",
    _connection,
    heading("How to reach Kafka"),
    option(
        "--command-config FILE",
        "The client configuration: a properties file with Kafka's or librdkafka's names "
        "(default: the file that PARTWRIGHT_COMMAND_CONFIG names).",
    ),
    repeated(
        "-X K=V",
        "One setting of the client configuration, which overrides the file's; may be repeated.",
        "settings",
    ),
)
"""The options for reaching a Kafka, which the command's function gets as `connection`."""


def _bounds(
    since: str | None, until: str | None, last: int | None, only_partitions: str | None
) -> Bounds | None:
    if (since, until, last, only_partitions) == (None, None, None, None):
        return None
    from partwright.kafka.bounds import Bounds, note_of_time, read_partitions, read_time

    times: list[int | None] = []
    for spelling, text in (("--since", since), ("--until", until)):
        if text is not None and (note := note_of_time(text, spelling)):
            echo(note, err=True)
        times.append(None if text is None else read_time(text, spelling))
    partitions = None if only_partitions is None else read_partitions(only_partitions)
    return Bounds(times[0], times[1], last, partitions)


reading_options = combined(
    "bounds",
    _bounds,
    heading("Which part of a topic"),
    option(
        "--since TIME",
        "Start in each partition at the first record of this time or later: ISO 8601, or ms since 1970.",
    ),
    option("--until TIME", "Stop in each partition before the first record of this time or later."),
    option("--last N", "Read only the newest N offsets of each partition.", type=int),
    option("--only-partitions P", "Read only these partitions of the topic, such as 0,3-5.", cls=Listed),
)
"""The options that say which part of a topic is read, which the command's function gets as `bounds`."""


def within_offsets(bounds: Bounds | None, from_offsets: str | None, to_offsets: str | None) -> Bounds:
    """The bounds of the reading options, combined with offsets where partitions begin and end.

    Args:
        bounds: The result of `reading_options`.
        from_offsets: The value of `--from-offsets`.
        to_offsets: The value of `--to-offsets`.

    Raises:
        PartwrightError: A time bounds the same side, or they are not offsets, or are of a partition that is not read.
    """
    from partwright.kafka.bounds import WHOLE, read_offsets

    bounds = bounds or WHOLE
    sides = [("--from-offsets", from_offsets, "since"), ("--to-offsets", to_offsets, "until")]
    for spelling, text, side in sides:
        if text is None:
            continue
        if getattr(bounds, side) is not None:
            raise PartwrightError(
                f"--{side} and {spelling} bound the same side of a topic: leave one of them out"
            )
        offsets = read_offsets(text, spelling)
        for partition in offsets:
            if bounds.partitions is not None and not any(partition in each for each in bounds.partitions):
                raise PartwrightError(
                    f"{spelling} names partition {partition}, which --only-partitions leaves out: take it out of one "
                    "of them"
                )
        bounds = replace(bounds, since=offsets) if side == "since" else replace(bounds, until=offsets)
    return bounds


def refuse_for_file(file: str, connection: Connection, bounds: Bounds | None) -> None:
    """Refuse options for topics with a file.

    Raises:
        PartwrightError: One was given.
    """
    if connection.is_given:
        raise PartwrightError(
            f"--command-config and -X are for reaching a Kafka, and {file!r} is a file: leave them out",
            path=file,
        )
    if bounds is not None:
        raise PartwrightError(
            f"--since, --until, --last and --only-partitions are for a topic, and {file!r} is a file: leave them out",
            path=file,
        )
