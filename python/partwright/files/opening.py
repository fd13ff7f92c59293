"""Which format a file has, by its name, and opening it; what is no file of records is refused in one sentence."""

from __future__ import annotations

import stat
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from partwright.errors import PartwrightError
from partwright.files.arrow_ipc import ArrowRecords
from partwright.files.delimited import DelimitedRecords
from partwright.files.json_lines import JsonRecords
from partwright.files.parquet import ParquetRecords

if TYPE_CHECKING:
    from collections.abc import Callable
    from io import BufferedReader

    from partwright.files.formats import Records

__all__ = ["format_of", "open_records"]

_FORMATS: dict[str, tuple[str, Callable[[str, BufferedReader, int | None], Records]]] = {
    ".csv": ("csv", lambda path, file, size: DelimitedRecords(path, file, size, ",")),
    ".tsv": ("tsv", lambda path, file, size: DelimitedRecords(path, file, size, "\t")),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), ("jsonl", JsonRecords)),
    ".parquet": ("parquet", ParquetRecords),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), ("arrow", ArrowRecords)),
}
_GZIP = b"\x1f\x8b"


def format_of(path: str) -> str:
    """The format that a file's name tells.

    Raises:
        PartwrightError: It tells of none, or of a compressed file.

    Examples:
        >>> format_of("orders.JSONL")
        'jsonl'
    """
    suffix = Path(path).suffix.lower()
    if suffix == ".gz":
        raise _compressed(path)
    if suffix not in _FORMATS:
        raise PartwrightError(
            f"what is in {path!r} is not known: its name must end in one of {', '.join(_FORMATS)}", path=path
        )
    return _FORMATS[suffix][0]


def open_records(path: str) -> Records:
    """Open a file of records, by the format that its name tells; `-` is JSON lines on stdin.

    Args:
        path: The file.

    Returns:
        Its records, a context manager that closes it.

    Raises:
        PartwrightError: There is no such file, or it is none of records.
    """
    if path == "-":
        if sys.__stdin__ is None:
            raise PartwrightError("stdin is closed: name a file, or send JSON lines to stdin")
        return JsonRecords("stdin", sys.stdin.buffer, None)
    with ExitStack() as opened:
        try:
            if Path(path).is_dir():
                raise PartwrightError(f"{path!r} is a folder: name one file", path=path)
            format_of(path)
            file = opened.enter_context(Path(path).open("rb"))
            about = Path(path).stat()
            start = file.peek(len(_GZIP))
        except FileNotFoundError:
            why = "only files on this machine are read" if "://" in path else "check its name"
            if "*" in path:
                why = "one file is read at a time"
            raise PartwrightError(f"there is no file {path!r}: {why}", path=path) from None
        except OSError as error:
            raise PartwrightError(
                f"{path!r} cannot be read ({error.strerror}): check its name", path=path
            ) from error
        if not start:
            raise PartwrightError(f"{path!r} is empty: it has no records and no columns", path=path)
        if start.startswith(_GZIP):
            raise _compressed(path)
        size = about.st_size if stat.S_ISREG(about.st_mode) else None
        records = _FORMATS[Path(path).suffix.lower()][1](path, file, size)
        opened.pop_all()
        return records


def _compressed(path: str) -> PartwrightError:
    return PartwrightError(
        f"{path!r} is compressed with gzip: unpack it first, or give JSON lines to stdin, `zcat FILE | "
        "partwright place - ...`",
        path=path,
    )
