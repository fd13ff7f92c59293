"""A topic that a command reads: its records, its progress, and the message when the reading ends."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from partwright.cli.echo import echo
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
    """The reading of a topic, with a progress bar; Ctrl-C ends it, and the answer covers what was read so far.

    Args:
        servers: The address's servers; None for the configuration's.
        topic: The topic.
        connection: How its Kafka is reached.
        bounds: Which part is read; None for all.
        sizes: Whether the records' sizes are wanted.

    Raises:
        PartwrightError: The configuration is wrong, or the topic lacks a requested partition.
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
        # Imported only here, so that --help is fast.
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
        """How many of the partitions are read."""
        return self._records.among

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the reading."""
        return self._interrupted

    @property
    def is_part(self) -> bool:
        """Whether only a part of the topic was read, by request or because of Ctrl-C."""
        return self._interrupted or not self._records.bounds.is_whole

    def batches(self, rows: Callable[[], int]) -> Iterator[TopicChunk]:
        """The records, up to Ctrl-C.

        Args:
            rows: A function that returns how many records were handled so far.

        Raises:
            BrokerError: The broker is gone, sends nothing more, or gives no right to read.
        """
        came: list[int] = []

        def noted(number: int, frame: FrameType | None) -> None:
            del frame
            # A second Ctrl-C does not wait for the answer, and neither does a signal that ends a service.
            if number != signal.SIGINT or came:
                raise Ended(number)
            came.append(number)

        with reading(self._name) as read, handled(noted):
            for batch in self._records.batches(lambda: bool(came)):
                yield batch
                read(rows(), self._records.done)
        self._interrupted = bool(came)
        if came:
            echo("interrupted: the answer is of what was read so far", err=True)
        else:
            self._records.look_again()

    def told(self) -> Json:
        """How much was read, as an object for the JSON output."""
        return {**self._records.told(), "interrupted": self._interrupted}

    def exit_code(self, code: int) -> int:
        """The command's exit code, which is Ctrl-C's if that came."""
        return Ended(signal.SIGINT).exit_code if self._interrupted else code
