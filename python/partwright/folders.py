"""Where partwright keeps files that outlive a process: the user's cache and state folders, or the environment's."""

from __future__ import annotations

import contextlib
import functools
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import filelock
import platformdirs

from partwright.errors import PartwrightError

_FOLDER, _FILE = 0o700, 0o600
# The prefix of every name that we put into the state folder.
_OURS = ("broker.", "logs", "partwright-", "runs")


def cache_folder() -> Path:
    """The cache folder: jars and the demo's data, which can be fetched again. `PARTWRIGHT_CACHE` names another one."""
    named = os.environ.get("PARTWRIGHT_CACHE")
    return Path(named) if named else platformdirs.user_cache_path("partwright")


def state_folder() -> Path:
    """The state folder: the running broker, the runs and their logs. `PARTWRIGHT_STATE` names another one.

    Raises:
        PartwrightError: Every user can write to it.
    """
    named = os.environ.get("PARTWRIGHT_STATE")
    folder = (Path(named) if named else platformdirs.user_state_path("partwright")).absolute()
    _refuse_open(folder)
    return folder


def private_state(name: str = "") -> Path:
    """The state folder or a folder in it, created if it does not exist, and closed to other users.

    A state folder that holds anything else is left as it is; only our own entries are closed.

    Args:
        name: The folder's name within the state folder; empty for the state folder itself.

    Raises:
        PartwrightError: The folder cannot be created, is a link in the state folder, or every user can write to it.
    """
    folder = state_folder()
    try:
        folder.mkdir(mode=_FOLDER, parents=True, exist_ok=True)
        # A folder with other people's files, such as a home folder, must stay open too: there, only our own entries are
        # closed.
        if all(each.name.startswith(_OURS) for each in folder.iterdir()):
            _close(folder, _FOLDER)
        if name:
            folder /= name
            _refuse_link(folder)
            _refuse_open(folder)
            folder.mkdir(mode=_FOLDER, exist_ok=True)
            _close(folder, _FOLDER)
    except OSError as error:
        raise PartwrightError(
            f"the state folder {str(folder)!r} cannot be used ({error.strerror}): name another in PARTWRIGHT_STATE"
        ) from error
    return folder


def private_file(file: Path) -> Path:
    """Create a file if it does not exist, closed to other users whatever the umask.

    Raises:
        PartwrightError: It is a link.
        OSError: It cannot be created.
    """
    _refuse_link(file)
    file.touch(mode=_FILE)
    _close(file, _FILE)
    return file


def opened_privately(path: str, flags: int) -> int:
    """An opener for `open`: a file that it creates is closed to other users; an existing one stays as it is."""
    return os.open(path, flags, _FILE)


def write_file(file: Path, content: bytes, mode: int = 0o666) -> None:
    """Write a file in one step: even after a power failure, it has its earlier content or this one.

    Only one process may write it at a time.

    Args:
        file: The file.
        content: Its content.
        mode: The mode of the new file, less the umask.

    Raises:
        OSError: It cannot be written; what was there stays.
    """
    part = file.with_name(f"{file.name}.part")
    # A killed process may have left its unfinished file.
    part.unlink(missing_ok=True)
    try:
        with open(part, "xb", opener=functools.partial(os.open, mode=mode)) as new:
            new.write(content)
            new.flush()
            os.fsync(new.fileno())
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)
    # Until the folder is written too, the new name may be lost. Not every file system has this for folders.
    with contextlib.suppress(OSError):
        folder = os.open(file.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def save_file(file: Path, content: bytes) -> None:
    """Write a file that the user has named, as `write_file` does.

    Raises:
        PartwrightError: It cannot be written; what was there stays.
    """
    try:
        write_file(file, content)
    except OSError as error:
        raise PartwrightError(
            f"{str(file)!r} cannot be written ({error.strerror}): name another file"
        ) from None


class Temporary(NamedTuple):
    """A temporary folder.

    Attributes:
        folder: The folder.
        lock: The file next to it by which others see that it is in use.
        removed: The names of the folders of killed processes that were removed.
    """

    folder: Path
    lock: Path
    removed: list[str]


@contextlib.contextmanager
def temporary_folder(prefix: str) -> Iterator[Temporary]:
    """A new temporary folder for the length of the block.

    A killed process leaves its folder behind; the next process removes such folders first.

    Args:
        prefix: The beginning of its name, such as `partwright-run-`.

    Raises:
        OSError: It cannot be made.
    """
    parent = Path(tempfile.gettempdir())
    removed = [name for each in parent.glob(f".{prefix}*.lock") if (name := _abandoned(each))]
    folder = parent / f"{prefix}{secrets.token_hex(6)}"
    lock = parent / f".{folder.name}.lock"
    try:
        with filelock.FileLock(lock, mode=_FILE):
            folder.mkdir(mode=_FOLDER)
            yield Temporary(folder, lock, removed)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        lock.unlink(missing_ok=True)


def _abandoned(lock: Path) -> str | None:
    """Remove a folder whose lock nobody holds, and return its name; None if somebody holds the lock."""
    # Windows has no user IDs.
    ours = getattr(os, "getuid", lambda: 0)()
    folder = lock.with_name(lock.stem[1:])
    with contextlib.suppress(OSError, filelock.Timeout):
        if lock.lstat().st_uid == ours and not lock.is_symlink():
            with filelock.FileLock(lock, timeout=0):
                shutil.rmtree(folder, ignore_errors=True)
            lock.unlink(missing_ok=True)
            return folder.name
    return None


def _refuse_open(folder: Path) -> None:
    """Refuse a folder in which any user can plant files and links.

    A folder that many users write to, such as /tmp, must stay open to them, so nothing is closed here.
    """
    try:
        mode = stat.S_IMODE(folder.stat().st_mode)
    except OSError:
        # It is not there yet; any other cause shows when it is used.
        return
    # Windows reports every folder as open.
    if mode & stat.S_IWOTH and os.name == "posix":
        raise PartwrightError(
            f"the state folder {str(folder)!r} has mode {mode:04o}, so it is shared with other users: name a folder of "
            "your own in PARTWRIGHT_STATE, or close it (chmod 700) if it is yours alone",
            path=str(folder),
        )


def _refuse_link(path: Path) -> None:
    """Refuse an entry of the state folder that leads elsewhere; partwright makes no links there."""
    if path.is_symlink():
        raise PartwrightError(
            f"{str(path)!r} in the state folder is a link to {str(path.readlink())!r}, and partwright follows none "
            "there: remove it",
            path=str(path),
        )


def _close(path: Path, mode: int) -> None:
    """Give a path exactly this mode; the umask, or an earlier version, may have left another."""
    if stat.S_IMODE(path.stat().st_mode) != mode:
        path.chmod(mode)
