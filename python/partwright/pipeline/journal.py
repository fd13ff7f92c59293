"""Earlier runs on this machine: one file per target, so that nothing is written twice by accident."""

from __future__ import annotations

import contextlib
import hashlib
import json
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import filelock

from partwright._check import counted
from partwright.errors import PartwrightError
from partwright.folders import private_file, private_state, write_file
from partwright.pipeline.orphan import JavaProcess, wait_for_orphan

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Entry", "Journal", "journal_of", "now_in_words"]


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
            self.entry = _entry(file.read_bytes())
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


def _entry(text: bytes) -> Entry:
    """Read the file.

    Raises:
        ValueError: `Journal` did not write it.
    """
    told = json.loads(text)
    if not isinstance(told, dict):
        raise ValueError(f"it holds {type(told).__name__}, not an object")  # noqa: TRY004 - one error for all damage
    kinds = {"run": str, "records": int, "began": str, "finished": bool}
    for name, kind in kinds.items():
        if not isinstance(told.get(name), kind):
            raise ValueError(f"{name!r} is {told[name]!r}" if name in told else f"{name!r} is missing")  # noqa: TRY004 - the same
    proof = told.get("proof")
    if not isinstance(proof, str | None):
        raise ValueError(f"'proof' is {proof!r}")  # noqa: TRY004 - the same
    return Entry(**{name: told[name] for name in kinds}, proof=proof, java=_java(told.get("java")))


def _java(told: Any) -> JavaProcess | None:
    """The process that an entry names; earlier versions named none."""
    if told is None:
        return None
    try:
        pid, created, driver = told
        return JavaProcess(int(pid), float(created), int(driver))
    except (TypeError, ValueError):
        raise ValueError(f"'java' is {told!r}") from None


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
            wait_for_orphan(entry.java, target)
        yield journal
    finally:
        lock.release()
        if not kept:
            file.unlink(missing_ok=True)
            Path(lock.lock_file).unlink(missing_ok=True)
