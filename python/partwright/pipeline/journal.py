"""What is known of earlier runs on this machine: one file a target, so that nothing is written twice unasked."""

from __future__ import annotations

import contextlib
import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import filelock

from partwright.errors import PartwrightError
from partwright.folders import state_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Journal", "journal_of"]


class Journal:
    """The last run that wrote to one target, in the user's state folder."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def begin(self, run: str, records: int) -> None:
        """Notes that `records` records are about to be written."""
        now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        self._write({"run": run, "records": records, "began": now, "finished": False})

    def finish(self) -> None:
        """Notes that all of them were written."""
        self._write({**self._read(), "finished": True})

    def last(self) -> str | None:
        """The last run in words; None where there was none."""
        entry = self._read()
        if not entry:
            return None
        end = "finished" if entry["finished"] else "stopped before all were written"
        return f"the run of {entry['began']} was to write {entry['records']:,} records and {end}"

    def _read(self) -> dict[str, object]:
        try:
            entry: dict[str, object] = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return entry

    def _write(self, entry: dict[str, object]) -> None:
        # Losing a note costs a sentence, never a record: a full disk must not stop a run here.
        with contextlib.suppress(OSError):
            self._file.write_text(json.dumps(entry), encoding="utf-8")


@contextlib.contextmanager
def journal_of(target: str, *, kept: bool = True) -> Iterator[Journal]:
    """The journal of a target, held for as long as the block lasts.

    Args:
        target: What is written to, in words.
        kept: Whether the target outlives the block; the journal goes with one that does not.

    Raises:
        PartwrightError: Another run is writing to the same target, or the state folder cannot be written.
    """
    folder = state_folder() / "runs"
    name = hashlib.sha256(target.encode()).hexdigest()[:16]
    file, lock = folder / f"{name}.json", filelock.FileLock(folder / f"{name}.lock")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except filelock.Timeout:
        raise PartwrightError(f"another run is writing to {target} right now: wait for its end") from None
    except OSError as error:
        raise PartwrightError(
            f"{str(folder)!r} cannot be written ({error.strerror}): PARTWRIGHT_STATE names another folder"
        ) from None
    try:
        yield Journal(file)
    finally:
        lock.release()
        if not kept:
            file.unlink(missing_ok=True)
            Path(lock.lock_file).unlink(missing_ok=True)
