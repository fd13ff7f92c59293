"""A stream's notes next to Spark's checkpoint: the stream's identity, and where each batch began in the topic.

Spark's own checkpoint says which records a batch has. A batch that was begun and not committed runs again with the same
records, so the offsets at which it first began tell where to look for records that it wrote.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from partwright.errors import PartwrightError
from partwright.spark.hadoop_files import HadoopFolder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession

    from partwright._check import Json

__all__ = ["BatchNote", "StreamNote", "StreamNotes", "run_of"]

_VERSION = 1
_FOLDER = "partwright"
# Spark keeps the same number of its own notes (spark.sql.streaming.minBatchesToRetain).
_KEPT = 100


class DamagedNoteError(PartwrightError):
    """A note exists but is incomplete."""


@dataclass(frozen=True)
class StreamNote:
    """A stream's identity.

    Attributes:
        stream: Its id, 16 hexadecimal digits.
        topic: The topic that it writes to.
        topic_id: Kafka's ID of that topic.
        asked: The settings that decide where its records go, by name.
    """

    stream: str
    topic: str
    topic_id: str
    asked: Mapping[str, str | None]


@dataclass(frozen=True)
class BatchNote:
    """Where a batch began, and its contents.

    Attributes:
        n: How many partitions the topic had.
        begin: The offset that the next record of each partition had before the batch's first one.
        records: How many records it has.
        digest: A number that changes with any record, place or order.
    """

    n: int
    begin: Mapping[int, int]
    records: int
    digest: str


class StreamNotes:
    """The folder `partwright` in a stream's checkpoint.

    Args:
        spark: A classic session.
        checkpoint: The checkpoint's address, on any file system that Spark knows.

    Raises:
        PartwrightError: Spark has no such file system, or it refuses.
    """

    def __init__(self, spark: SparkSession, checkpoint: str) -> None:
        self._checkpoint = checkpoint
        self._own = HadoopFolder(spark, checkpoint)
        self._folder = HadoopFolder(spark, f"{checkpoint.rstrip('/')}/{_FOLDER}")

    def stream(self, topic: str, topic_id: str, asked: Mapping[str, str | None]) -> StreamNote:
        """The stream of this checkpoint, noted the first time.

        Raises:
            PartwrightError: The checkpoint belongs to another stream.
        """
        if not self._folder.exists("stream.json"):
            if self._own.exists("offsets"):
                raise PartwrightError(
                    f"the checkpoint {self._checkpoint!r} is of a stream that partwright did not begin: name a new "
                    "folder"
                )
            note = StreamNote(secrets.token_hex(8), topic, topic_id, dict(asked))
            self._write("stream.json", note)
            return note
        told = self._read("stream.json")
        note = StreamNote(told["stream"], told["topic"], told["topic_id"], told["asked"])
        if note.topic != topic:
            raise self._other(f"the topic {note.topic!r}, not {topic!r}")
        if note.topic_id != topic_id:
            raise self._other(f"a topic {topic!r} that was deleted since, and made again")
        for name, was in note.asked.items():
            if asked.get(name) != was:
                raise self._other(f"{name} {was}, not {asked.get(name)}")
        return note

    def batch(self, number: int) -> BatchNote | None:
        """The note of a batch; None if the batch was not begun."""
        name = _name(number)
        if not self._folder.exists(name):
            return None
        try:
            told = self._read(name)
        except DamagedNoteError:
            # Writing the note was interrupted, which is before the batch's first record.
            self._folder.remove(name)
            return None
        begin = {int(partition): int(offset) for partition, offset in told["begin"].items()}
        return BatchNote(told["n"], begin, told["records"], told["digest"])

    def last_n(self, number: int) -> int | None:
        """How many partitions the topic had for the previous batch; None if unknown."""
        before = self.batch(number - 1) if number else None
        return before.n if before else None

    def begin(self, number: int, note: BatchNote) -> None:
        """Note a batch before its first record, and forget an old one."""
        self._write(_name(number), note)
        if number >= _KEPT:
            self._folder.remove(_name(number - _KEPT))

    def _other(self, what: str) -> PartwrightError:
        return PartwrightError(
            f"the checkpoint {self._checkpoint!r} is of a stream with {what}: give it what it was begun with, or name "
            "another folder"
        )

    def _write(self, name: str, note: StreamNote | BatchNote) -> None:
        content = json.dumps({"version": _VERSION, **dataclasses.asdict(note)}).encode()
        self._folder.create(name, content)

    def _read(self, name: str) -> Json:
        where = f"{name!r} in the checkpoint {self._checkpoint!r}"
        try:
            told: Json = json.loads(self._folder.read(name))
            version = told["version"]
        except (ValueError, TypeError, KeyError):
            raise DamagedNoteError(f"{where} is damaged: name another folder") from None
        if version != _VERSION:
            raise PartwrightError(
                f"{where} has version {version}, and this partwright reads version {_VERSION}"
            )
        return told


def run_of(stream: str, number: int) -> bytes:
    """The first 8 bytes of the header of a batch's records."""
    return hashlib.sha256(f"{stream}/{number}".encode()).digest()[:8]


def _name(number: int) -> str:
    return f"batch-{number}.json"
