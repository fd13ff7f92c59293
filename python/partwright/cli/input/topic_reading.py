"""A topic that a command reads: its records, its progress, and the message when the reading ends."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import click

from partwright.cli.reading_progress import reading
from partwright.signals import Ended, handled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from partwright._check import Json
    from partwright.cli.input.connection import Connection
    from partwright.kafka.bounds import Bounds
    from partwright.kafka.records import TopicChunk

__all__ = ["TopicReading"]


class TopicReading:
    """What is read of a topic, with a bar of progress; Ctrl-C ends the reading, and what is known so far is the answer.

    Args:
        servers: Those of the address; None for those of the configuration.
        topic: The topic.
        connection: How its Kafka is reached.
        bounds: Which part of it is read; None for all.
        sizes: Whether the records' sizes are wanted.

    Raises:
        PartwrightError: The configuration is wrong, or the topic has not a partition that is asked for.
        BrokerError: No Kafka answers, there is no such topic, or no right to see it.
    """

    def __init__(
        self,
        servers: str | None,
        topic: str,
        connection: Connection,
        bounds: Bounds | None,
        *,
        sizes: bool = False,
    ) -> None:
        # Imported here alone: --help is there at once.
        from partwright.kafka.bounds import WHOLE
        from partwright.kafka.records import TopicRecords

        config = connection.config(servers)
        self._records = TopicRecords(None, topic, bounds=bounds or WHOLE, sizes=sizes, kafka_config=config)
        self._name = f"kafka://{config.required_servers()}/{topic}"
        self._interrupted = False

    @property
    def partitions(self) -> int:
        """How many partitions the topic has."""
        return self._records.partitions

    @property
    def among(self) -> int:
        """How many of them are read."""
        return self._records.among

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the reading."""
        return self._interrupted

    @property
    def is_part(self) -> bool:
        """Whether a part of the topic alone was to be read, or Ctrl-C ended the reading."""
        return self._interrupted or not self._records.bounds.is_whole

    def batches(self, rows: Callable[[], int]) -> Iterator[TopicChunk]:
        """The records, up to Ctrl-C.

        Args:
            rows: How many were taken in so far.

        Raises:
            BrokerError: The broker is gone, sends nothing more, or gives no right to read.
        """
        came: list[int] = []

        def noted(number: int, frame: FrameType | None) -> None:
            del frame
            # The second one does not wait for the answer; nor does what ends a service.
            if number != signal.SIGINT or came:
                raise Ended(number)
            came.append(number)

        with reading(self._name) as read, handled(noted):
            for batch in self._records.batches(lambda: bool(came)):
                yield batch
                read(rows(), self._records.done)
        self._interrupted = bool(came)
        if came:
            click.echo("interrupted: the answer is of what was read so far", err=True)
        else:
            self._records.look_again()

    def told(self) -> Json:
        """What was read of how much, as JSON has it."""
        return {**self._records.told(), "interrupted": self._interrupted}

    def exit_code(self, code: int) -> int:
        """The command's exit code: that of Ctrl-C where it came."""
        return Ended(signal.SIGINT).exit_code if self._interrupted else code
