"""Earlier runs on this machine: one file per target, so that nothing is written twice by accident.

Spark's Java of a killed run may still write for a moment; the next run waits for its end.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import filelock

from partwright._check import counted
from partwright._stored import read_stored
from partwright.errors import PartwrightError
from partwright.folders import private_file, private_state, write_file
from partwright.kafka.embedded_node import psutil_module, wait_until_gone

WAIT_S = 30.0
"""Java ends within two seconds of its Python, unless a task hangs on a silent broker."""


@dataclass(frozen=True)
class JavaProcess:
    """A process of Spark's Java.

    Attributes:
        pid: Its process id.
        created: When it began, in seconds since 1970: systems reuse process IDs.
        driver: The process id of the run's Python.
    """

    pid: int
    created: float
    driver: int


@dataclass(frozen=True)
class Entry:
    """The note of one run.

    Attributes:
        run: Its ID, in hexadecimal.
        records: How many records it was to write.
        began: When it began to write, in words.
        finished: Whether all of them were written.
        proof: The topic of its proof, as long as it may exist.
        java: The process of its Spark's Java, which may outlive it for a moment.
    """

    run: str
    records: int
    began: str
    finished: bool = False
    proof: str | None = None
    java: JavaProcess | None = None

    def __str__(self) -> str:
        """The run in words."""
        end = "finished" if self.finished else "stopped before all were written"
        return f"the run of {self.began} was to write {counted(self.records, 'record')} and {end}"


class Journal:
    """The last run that wrote to one target, in the user's state folder."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.entry: Entry | None = None
        self.damage: str | None = None
        try:
            self.entry = read_stored(Entry, file.read_bytes())
        except FileNotFoundError:
            pass
        except (OSError, ValueError) as error:
            self.damage = (
                f"{str(file)!r}, the note of the last run to this target, is damaged ({error}): delete it"
            )

    def begin(self, run: str, records: int, java: JavaProcess | None = None) -> None:
        """Note that this Java process is about to write `records` records."""
        self._write(Entry(run, records, now_in_words(), java=java))

    def finish(self) -> None:
        """Note that all of them were written."""
        self._change(finished=True)

    def proof(self, topic: str | None) -> None:
        """Note that the proof's topic is about to be created, or, with None, that it is gone again."""
        self._change(proof=topic)

    def last(self) -> str | None:
        """The last run in words, or why it is unknown; None if there was none."""
        return self.damage or (str(self.entry) if self.entry else None)

    def _change(self, **changes: object) -> None:
        if self.entry:
            self._write(replace(self.entry, **changes))  # type: ignore[arg-type]

    def _write(self, entry: Entry) -> None:
        self.entry = entry
        # A lost note costs a sentence, never a record, so a full disk does not stop a run here.
        with contextlib.suppress(OSError):
            write_file(self._file, json.dumps(asdict(entry)).encode(), 0o600)


def now_in_words() -> str:
    """The present second, in words."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


@contextlib.contextmanager
def journal_of(target: str, *, kept: bool = True) -> Iterator[Journal]:
    """The journal of a target, held for as long as the block lasts.

    It keeps out only runs that share this state folder, not those of another user or machine, or under another
    `PARTWRIGHT_STATE`.

    Args:
        target: The target, in words.
        kept: Whether the target outlives the block; otherwise the journal goes with it.

    Raises:
        PartwrightError: Another run, or Spark's Java of a killed run, is writing to the same target; or the state
            folder cannot be used.
    """
    folder = private_state("runs")
    name = hashlib.sha256(target.encode()).hexdigest()[:16]
    file = folder / f"{name}.json"
    try:
        lock = filelock.FileLock(private_file(folder / f"{name}.lock"), mode=0o600)
        lock.acquire(timeout=0)
        if file.exists():
            private_file(file)
    except filelock.Timeout:
        raise PartwrightError(f"another run is writing to {target} right now: wait for its end") from None
    except OSError as error:
        raise PartwrightError(
            f"{str(folder)!r} cannot be written ({error.strerror}): PARTWRIGHT_STATE names another folder"
        ) from None
    try:
        journal = Journal(file)
        entry = journal.entry
        if entry is not None and entry.java is not None and not entry.finished:
            _wait_for_orphan(entry.java, target)
        yield journal
    finally:
        lock.release()
        if not kept:
            file.unlink(missing_ok=True)
            Path(lock.lock_file).unlink(missing_ok=True)


def java_of_pid(pid: int | None) -> JavaProcess | None:
    """The Java process with that ID, which runs Spark for this process; None if there is none."""
    if pid is None:
        return None
    psutil = psutil_module()
    try:
        return JavaProcess(pid, psutil.Process(pid).create_time(), os.getpid())
    except psutil.Error:
        return None


def _orphan(java: JavaProcess) -> Any:
    """The process (psutil's), if it still runs and its Python does not; else None."""
    psutil = psutil_module()
    try:
        process = psutil.Process(java.pid)
        if process.create_time() == java.created and process.ppid() != java.driver:
            return process
    except psutil.Error:
        pass
    return None


def _wait_for_orphan(java: JavaProcess, target: str) -> None:
    """Wait until nothing of an earlier run writes any more.

    Raises:
        PartwrightError: It does not end.
    """
    process = _orphan(java)
    if process is not None and not wait_until_gone(process, WAIT_S):
        raise PartwrightError(
            f"Spark's Java of an earlier run (process {java.pid}) may still write to {target}, although that run was "
            "killed: wait for its end, or end it"
        )
