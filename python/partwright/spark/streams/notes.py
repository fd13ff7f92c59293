"""A stream's notes next to Spark's checkpoint: the stream's identity, and where each batch began in the topic.

Spark's own checkpoint says which records a batch has. A batch that was begun and not committed runs again with the same
records, so the offsets at which it first began tell where to look for records that it wrote.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import secrets

# Notes are read by their annotations.
from collections.abc import Mapping  # noqa: TC003
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from partwright._stored import OtherVersionError, stored
from partwright.errors import PartwrightError
from partwright.spark.hadoop_files import ChecksumError, HadoopFolder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["BatchNote", "DamagedNoteError", "StreamNote", "StreamNotes", "run_of"]

_VERSION = 2
_FOLDER = "partwright"
_Note = TypeVar("_Note")
# Spark keeps the same number of its own notes (spark.sql.streaming.minBatchesToRetain).
_KEPT = 100


class DamagedNoteError(PartwrightError):
    """A note exists, and is not as it was written."""


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
        try:
            note = self._read("stream.json", StreamNote)
        except DamagedNoteError as error:
            raise PartwrightError(
                f"{error}, and without it nobody knows which records are this stream's: begin another stream, with a "
                "new checkpoint and a new topic, or restore the file"
            ) from None
        if note.topic != topic:
            raise self._other(f"the topic {note.topic!r}, not {topic!r}")
        if note.topic_id != topic_id:
            raise self._other(f"a topic {topic!r} that was deleted since, and made again")
        for name, was in note.asked.items():
            if asked.get(name) != was:
                raise self._other(f"{name} {was}, not {asked.get(name)}")
        return note

    def batch(self, number: int) -> BatchNote | None:
        """The note of a batch; None if the batch was not begun.

        Raises:
            DamagedNoteError: The note is damaged.
        """
        name = _name(number)
        return self._read(name, BatchNote) if self._folder.exists(name) else None

    def last_n(self, number: int) -> int | None:
        """How many partitions the topic had for the previous batch; None if unknown.

        Raises:
            PartwrightError: The previous batch's note is damaged.
        """
        try:
            before = self.batch(number - 1) if number else None
        except DamagedNoteError as error:
            raise PartwrightError(
                f"{error}: that batch is written; see that the topic got no partitions since, then delete the file and "
                "start again with the same --checkpoint"
            ) from None
        return before.n if before else None

    def forget(self, number: int) -> None:
        """Remove the note of a batch that has no record in the topic."""
        self._folder.remove(_name(number))

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
        self._folder.create_whole(name, content)

    def _read(self, name: str, kind: type[_Note]) -> _Note:
        where = f"the note {f'{_FOLDER}/{name}'!r} in the checkpoint {self._checkpoint!r}"
        content = b" "
        try:
            content = self._folder.read(name)
            return stored(kind, content, _VERSION)
        except (ChecksumError, ValueError):
            raise DamagedNoteError(f"{where} is {'damaged' if content else 'empty'}") from None
        except OtherVersionError as error:
            raise PartwrightError(
                f"{where} has version {error}, and this partwright reads version {_VERSION}"
            ) from None


def run_of(stream: str, number: int) -> bytes:
    """The 8 bytes that the header of a batch's records names."""
    return hashlib.sha256(f"{stream}/{number}".encode()).digest()[:8]


def _name(number: int) -> str:
    return f"batch-{number}.json"
