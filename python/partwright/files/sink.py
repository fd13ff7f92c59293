"""Write a file next to its place and move it there in one step when it is complete; or write to stdout."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from partwright.errors import PartwrightError
from partwright.files.compressed import compressing, without_suffix
from partwright.files.file_sets import is_remote
from partwright.files.opening import format_of, named_format

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

    from partwright.files.formats import Records, Writable


class _Sink:
    """A binary file whose failures are sentences; for pyarrow's writers it is a Python file."""

    closed = False

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file = file
        self._name = name
        self._written = 0

    def write(self, data: ReadableBuffer, /) -> int:
        view = memoryview(data)
        try:
            # Unbuffered: data come in blocks, and the system may take parts of them.
            done = 0
            while done < view.nbytes:
                done += self._file.write(view[done:])
        except BrokenPipeError:
            raise
        except OSError as error:
            raise _unwritable(self._name, error) from error
        self._written += done
        return done

    def tell(self) -> int:
        return self._written

    def flush(self) -> None:
        """There is nothing to flush."""

    def close(self) -> None:
        """Does nothing: whoever opened the file closes it."""


@contextmanager
def open_sink(
    out: str | None,
    records: Records,
    source: str | None = None,
    *,
    format_name: str | None = None,
    force: bool = True,
) -> Iterator[Writable]:
    """The destination of a whole file, in the format of `records`.

    The file is written next to `out` and replaces it when the block succeeds; otherwise it is removed, and what was
    there stays as it was. So `out` may be the file that is being read.

    Args:
        out: The file; None or `-` is stdout. Its name says whether it is compressed.
        records: What is read.
        source: The file that is read; None if it may be replaced.
        format_name: The format of a file whose name tells none, as given to `open_records`.
        force: Whether an existing file may be replaced.

    Raises:
        PartwrightError: The file exists, or is the one that is read; it cannot be written, has another format, or is a
            terminal that cannot show it.
    """
    if out in {None, "-"}:
        # Python's own stdout, because the command has replaced it.
        if sys.__stdout__ is None:
            raise PartwrightError("stdout is closed: name a file with --out")
        if not records.is_text and sys.stdout.isatty():
            raise PartwrightError(
                f"a terminal cannot show {records.format}: name a file with --out, or send stdout to a file or a pipe"
            )
        sys.stdout.flush()
        with open(sys.stdout.fileno(), "wb", buffering=0, closefd=False) as stdout:
            yield _Sink(stdout, "stdout")
        return
    if is_remote(out):
        raise PartwrightError(
            f"--out {out!r} is elsewhere, and place writes files of this machine: send stdout to a program that copies "
            "it there"
        )
    about = _about(out)
    if about is not None and not stat.S_ISREG(about.st_mode):
        # A device or a pipe, which cannot be replaced.
        try:
            device = open(out, "wb", buffering=0)  # noqa: PTH123, SIM115 - closed below
        except OSError as error:
            raise _unwritable(out, error) from error
        with device:
            yield _Sink(device, out)
        return
    if about is not None and source is not None and _is_same(source, about):
        raise PartwrightError(
            f"--out {out!r} is the file that is read: give --in-place instead to replace it"
        )
    if about is not None and not force:
        raise PartwrightError(
            f"--out {out!r} is there already: give --force to replace it, or name another file"
        )
    kind = named_format(out)
    # The name of text tells no format that is written.
    if (format_of(out, format_name) if kind in {None, "text"} else kind) != records.format:
        raise PartwrightError(
            f"--out {out!r} would have another format than what is read, which is {records.format}: place adds a "
            "column, it does not convert"
        )
    # If the name is a link, the file that it leads to is replaced, not the link.
    with (
        _replacing(out, Path(os.path.realpath(out)), about) as file,
        compressing(_Sink(file, out), without_suffix(out)[1]) as sink,
    ):
        yield sink


def _is_same(source: str, about: os.stat_result) -> bool:
    try:
        return os.path.samestat(Path(source).stat(), about)
    except OSError:
        # stdin, or a file elsewhere.
        return False


def _about(out: str) -> os.stat_result | None:
    """What is at that path; None if nothing is."""
    try:
        about = Path(out).stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unwritable(out, error) from error
    if stat.S_ISDIR(about.st_mode):
        raise PartwrightError(f"--out {out!r} is a folder: name a file")
    return about


@contextmanager
def _replacing(out: str, place: Path, about: os.stat_result | None) -> Iterator[BinaryIO]:
    if about is not None and not os.access(place, os.W_OK):
        raise PartwrightError(f"{out!r} cannot be written (it is read-only): name another file with --out")
    try:
        descriptor, name = tempfile.mkstemp(".partwright", f".{place.name[:200]}.", place.parent)
    except OSError as error:
        raise _unwritable(out, error) from error
    try:
        with open(descriptor, "wb", buffering=0) as file:  # noqa: PTH123 - a descriptor
            yield file
            try:
                os.fchmod(descriptor, _new_mode() if about is None else stat.S_IMODE(about.st_mode))
                if about is not None:
                    # Otherwise a crash of the machine could leave neither the old file nor the new one.
                    os.fsync(descriptor)
                Path(name).replace(place)
                # Hadoop's checksum of the bytes that were there: with it, Spark would refuse the new ones.
                place.with_name(f".{place.name}.crc").unlink(missing_ok=True)
            except OSError as error:
                raise _unwritable(out, error) from error
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise


def _new_mode() -> int:
    """The mode of a new file; the temporary file has another one."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _unwritable(name: str, error: OSError) -> PartwrightError:
    why = error.strerror or str(error)
    what = (
        "make its folder"
        if isinstance(error, FileNotFoundError)
        else "make room or name another file with --out"
    )
    return PartwrightError(f"{name!r} cannot be written ({why}): {what}")
