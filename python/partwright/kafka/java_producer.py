"""The real Java producer, which chooses partitions: `KafkaProducer` of kafka-clients in a process of its own."""

from __future__ import annotations

import contextlib
import os
import struct
import subprocess
from collections.abc import Iterable, Iterator
from importlib import resources
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from partwright.errors import BrokerError, PartwrightError
from partwright.folders import temporary_folder
from partwright.kafka.connection.properties import properties_text
from partwright.kafka.jars import jar_files
from partwright.kafka.java import SHORT_LIVED, java_command
from partwright.kafka.marks import MARK

if TYPE_CHECKING:
    from partwright.kafka.connection import KafkaConfig

_PROGRAM = "PartitionChoices.java"
_END = struct.pack(">i", -1)
_END_S = 5


class JavaProducer:
    """A Java process with a producer, which starts while this one goes on, and waits for a topic.

    Args:
        config: How the Kafka is reached.
        folder: A private folder for its files, which may contain secrets.

    Raises:
        MissingExtraError: There is no Java.
        JarError: Kafka's jars cannot be fetched.
    """

    def __init__(self, config: KafkaConfig, folder: Path) -> None:
        self._config = config
        program, settings, self._log = (folder / each for each in (_PROGRAM, "client.properties", "log"))
        program.write_bytes(resources.files("partwright.kafka").joinpath(_PROGRAM).read_bytes())
        reached = {**config.java(), "bootstrap.servers": config.required_servers()}
        settings.write_text(properties_text(reached), encoding="ascii")
        path = os.pathsep.join(map(str, jar_files("broker")))
        command = [str(java_command()), *SHORT_LIVED, "-cp", path, str(program), str(settings), MARK]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(  # noqa: S603 - a list, no shell: the Java that was found
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log
            )
        self._input = cast("IO[bytes]", self._process.stdin)
        self._output = cast("IO[bytes]", self._process.stdout)

    def why_not(self) -> str | None:
        """Waits until it can send; why it cannot, or None."""
        line = self._line()
        return (
            None if line == "ready" else f"Java cannot run the producer ({line}): it takes a JDK, not a JRE"
        )

    def send(self, topic: str, records: Iterable[tuple[bytes, bytes]]) -> None:
        """Let it choose each record's partition, and return once all are delivered.

        Args:
            topic: The topic.
            records: The key of each record and its mark, the value of the header `MARK`.

        Raises:
            BrokerError: Kafka refuses, or the process is gone.
        """
        name = topic.encode()
        # Once it has said why it stops, nobody reads the rest.
        with contextlib.suppress(BrokenPipeError):
            self._input.write(struct.pack(">H", len(name)) + name)
            for key, mark in records:
                self._input.write(b"".join((_size(key), key, _size(mark), mark)))
            self._input.write(_END)
            self._input.flush()
        line = self._line()
        if line != "done":
            raise BrokerError(f"the Java producer stopped: {self._config.redacted(line)}")

    def _line(self) -> str:
        """What it says next, or the first thing that Java says about its end."""
        line = self._output.readline().decode(errors="replace").strip()
        if line:
            return line
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        faults = [each.strip() for each in lines if not each.startswith("SLF4J") and each.strip()]
        return next(
            (each for each in faults if "Error: " in each), faults[0] if faults else "it says nothing"
        )

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_S)
        for each in (self._input, self._output):
            # What is still in the buffer has no reader any more.
            with contextlib.suppress(BrokenPipeError):
                each.close()


def _size(data: bytes) -> bytes:
    return struct.pack(">i", len(data))


@contextlib.contextmanager
def started_producer(config: KafkaConfig) -> Iterator[JavaProducer]:
    """A `JavaProducer` for a block.

    Raises:
        PartwrightError: There is no Java, or its jars or files cannot be had.
    """
    with contextlib.ExitStack() as stack:
        try:
            producer = JavaProducer(config, stack.enter_context(temporary_folder("partwright-java-")).folder)
        except OSError as error:
            raise PartwrightError(f"the Java producer cannot be started ({error})") from None
        stack.callback(producer.close)
        yield producer
