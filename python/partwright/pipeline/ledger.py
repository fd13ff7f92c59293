"""A run's identity, recorded before its first record, so that any machine can resume it (`--resume`)."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import re

# The fields of a run are read by their annotations.
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from pyarrow import fs

from partwright._check import counted, first_line
from partwright._stored import OtherVersionError, read_stored
from partwright.errors import PartwrightError
from partwright.folders import write_file
from partwright.kafka.compacted import last_values, put

if TYPE_CHECKING:
    from partwright.kafka.connection import KafkaConfig

RUNS = "__partwright_runs"
"""The compacted topic, of one partition, that holds the last run of each source into each topic of its cluster."""
_VERSION = 2
_ID = re.compile("[0-9a-f]{16}")


@dataclass(frozen=True)
class RecordedRun:
    """A run as the ledger has it: everything that decides which records it writes, where, and in what order.

    Attributes:
        run: Its ID, 16 hexadecimal digits, which its records' header names.
        topic: The topic.
        topic_id: Kafka's ID of that topic; a topic created anew has another one.
        source: What identifies the source: for a local file, its absolute path.
        began: When it began, in words.
        n: How many partitions the topic had.
        options: The settings that decide about records, by option.
        files: For each file read, its size in bytes and the time of its last change (ms).
        windows: For each partition of a source topic, the offsets between which it is read.
        cut: Spark's settings for splitting files into tasks; row numbers depend on them.
        tasks: How many tasks read the source.
        records: How many records there are to write.
        digest: A sum over all records, their contents and places.
        begin: For each partition, the offset of this run's first record.
        exactly_once: Whether they are written in transactions.
    """

    run: str
    topic: str
    topic_id: str
    source: str
    began: str
    n: int
    options: Mapping[str, str | None]
    files: Mapping[str, tuple[int, int]]
    windows: Mapping[int, tuple[int, int]] | None
    cut: Mapping[str, str]
    tasks: int
    records: int
    digest: str
    begin: Mapping[int, int]
    exactly_once: bool

    def to_json(self) -> str:
        """The text for the ledger."""
        return json.dumps({"version": _VERSION, **dataclasses.asdict(self)}, sort_keys=True)

    @classmethod
    def of_json(cls, text: str | bytes, where: str) -> RecordedRun:
        """Read what `to_json` wrote.

        Args:
            text: The text.
            where: Where it was found, in words.

        Raises:
            PartwrightError: It is damaged, or of another version.
        """
        try:
            recorded_run = read_stored(cls, text, _VERSION)
            if not _ID.fullmatch(recorded_run.run):
                raise ValueError(f"'run' is {recorded_run.run!r}")  # noqa: TRY301 - one error for all damage
        except OtherVersionError as error:
            raise PartwrightError(
                f"{where} has version {error}, and this partwright reads version {_VERSION}: go on with the "
                "partwright that began it"
            ) from None
        except ValueError as error:
            raise PartwrightError(
                f"{where} is damaged ({error}): run without --resume, into another --topic"
            ) from None
        return recorded_run

    def changed(self, now: RecordedRun) -> str | None:
        """How the source differs from that of a run that should resume this one, in words; None if it does not."""
        if file := self._changed_file(now.files):
            return file
        if self.records != now.records:
            return f"its source had {counted(self.records, 'record')}, and has {now.records:,} now"
        if self.tasks != now.tasks:
            return (
                f"Spark cut its source into {counted(self.tasks, 'task')}, and cuts it into {now.tasks} now"
            )
        if self.digest != now.digest:
            return "its source has other records, or the same ones in another order"
        return None

    def _changed_file(self, now: Mapping[str, tuple[int, int]]) -> str | None:
        for name, was in self.files.items():
            if name not in now:
                return f"the file {name!r} of its source is gone"
            if was != now[name]:
                return f"the file {name!r} of its source was changed since"
        new = next((name for name in now if name not in self.files), None)
        return f"the file {new!r} was added to its source since" if new is not None else None


class TopicLedger:
    """The ledger in the target's own cluster: the topic `__partwright_runs`."""

    def __init__(self, config: KafkaConfig) -> None:
        self._config = config

    def read(self, topic: str, source: str) -> RecordedRun | None:
        """The last run of a source into a topic; None if none is known."""
        text = last_values(self._config, RUNS).get(_key(topic, source))
        return (
            None
            if text is None
            else RecordedRun.of_json(text, f"the ledger of this run in the topic {RUNS!r}")
        )

    def write(self, plan: RecordedRun) -> None:
        """Replace the last run of the plan's source into its topic."""
        put(self._config, RUNS, _key(plan.topic, plan.source), plan.to_json().encode())


class FolderLedger:
    """The ledger in a folder of any file system that pyarrow knows, for users who may not create topics."""

    def __init__(self, uri: str) -> None:
        self._uri = uri
        try:
            if "://" in uri:
                self._files, self._folder = fs.FileSystem.from_uri(uri)
            else:
                self._files, self._folder = fs.LocalFileSystem(), uri
        except (OSError, ValueError) as error:
            raise PartwrightError(f"--state {uri!r} cannot be used: {first_line(error)}") from None

    def read(self, topic: str, source: str) -> RecordedRun | None:
        """See `TopicLedger.read`."""
        path = self._path(topic, source)
        try:
            with self._files.open_input_stream(path) as file:
                text = file.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise PartwrightError(f"--state {self._uri!r} cannot be read: {first_line(error)}") from None
        return RecordedRun.of_json(text, f"{path!r}, the ledger of this run,")

    def write(self, plan: RecordedRun) -> None:
        """See `TopicLedger.write`; in one step, if the file system can."""
        path = self._path(plan.topic, plan.source)
        try:
            self._files.create_dir(self._folder, recursive=True)
            if isinstance(self._files, fs.LocalFileSystem):
                write_file(Path(path), plan.to_json().encode())
                return
            with self._files.open_output_stream(f"{path}.part") as file:
                file.write(plan.to_json().encode())
            self._files.move(f"{path}.part", path)
        except OSError as error:
            # Half of a ledger, for example on a full disk.
            with contextlib.suppress(OSError):
                self._files.delete_file(f"{path}.part")
            raise PartwrightError(f"--state {self._uri!r} cannot be written: {first_line(error)}") from None

    def _path(self, topic: str, source: str) -> str:
        name = hashlib.sha256(_key(topic, source)).hexdigest()[:16]
        return f"{self._folder.rstrip('/')}/{topic}-{name}.json"


RunLedger: TypeAlias = TopicLedger | FolderLedger
"""Where runs are recorded."""


def _key(topic: str, source: str) -> bytes:
    return json.dumps([topic, source]).encode()
