"""Several files as one: folders, patterns and lists of names, and the columns in folder names."""

from __future__ import annotations

import glob
import re
from pathlib import Path
from typing import TYPE_CHECKING, Self
from urllib.parse import unquote

import pyarrow as pa

from partwright._check import counted
from partwright.errors import PartwrightError
from partwright.files.remote import is_remote, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import TracebackType

    from partwright.files.formats import Column, ColumnRequest, Records, Writable

__all__ = ["FileSet", "files_of"]

_NULL = "__HIVE_DEFAULT_PARTITION__"
_WHOLE = re.compile("-?[0-9]{1,18}")


def files_of(path: str, known: Callable[[str], bool]) -> list[str]:
    """The files that a name stands for, in order of their names; for a folder, all that `known` accepts.

    Like Spark, it leaves out names that begin with `_` or `.`, and empty files.

    Args:
        path: A file, a folder, or a pattern with `*`, `?` or `[`; or the address of one, with only `*`.
        known: Whether a file's name tells a format.

    Raises:
        PartwrightError: There are no files.
    """
    if is_remote(path):
        return listed(path, known) or [path]
    if Path(path).is_dir():
        found = [
            str(each)
            for each in sorted(Path(path).rglob("*"))
            if not any(part.startswith(("_", ".")) for part in each.relative_to(path).parts)
            and each.is_file()
            and each.stat().st_size
            and known(each.name)
        ]
        if not found:
            raise PartwrightError(f"the folder {path!r} has no file of records", path=path)
        return found
    if glob.has_magic(path) and not Path(path).exists():
        found = [file for each in sorted(glob.glob(path, recursive=True)) for file in files_of(each, known)]  # noqa: PTH207
        if not found:
            raise PartwrightError(f"no file is named like {path!r}: check the pattern", path=path)
        return found
    return [path]


class FileSet:
    """The records of several files, one after the other; see `partwright.files.formats.Records`.

    Args:
        paths: The files.
        open_one: Opens one of them.
    """

    def __init__(self, paths: Sequence[str], open_one: Callable[[str], Records]) -> None:
        self._paths, self._open_one = paths, open_one
        self._past, self._now = 0, open_one(paths[0])
        self.format, self.is_text = self._now.format, self._now.is_text

    @property
    def done(self) -> float | None:
        """See `Records`; each file counts the same."""
        return (self._past + (self._now.done or 0)) / len(self._paths)

    def read(self, wanted: Sequence[ColumnRequest]) -> Iterator[tuple[Column, ...]]:
        """See `Records`; a column that a file lacks is taken from a folder's name such as `partition=3`."""
        for at, path in enumerate(self._paths):
            if at:
                self._past, self._now = at, self._open_one(path)
            named = _named_by_folders(path)
            inside = [column for column in wanted if column.name not in named]
            with self._now as records:
                # One of the file's columns tells how many rows there are.
                for columns in records.read(inside or wanted):
                    given, rows = iter(columns), len(columns[0])
                    yield tuple(
                        next(given)
                        if column in inside or not inside
                        else _constant(named[column.name], column, rows)
                        for column in wanted
                    )

    def types(self) -> Iterator[dict[str, pa.DataType]]:
        """See `Records`; what a file does not declare, another one or a folder's name may."""
        before: dict[str, pa.DataType] = {}
        for at, path in enumerate(self._paths):
            if at:
                self._past, self._now = at, self._open_one(path)
            folders = dict.fromkeys(_named_by_folders(path), pa.null())
            with self._now as records:
                for types in records.types():
                    yield {**before, **folders, **types}
            before |= {**folders, **types}

    def extend(
        self,
        key: ColumnRequest,
        name: str,
        computed: Callable[[Column], Column],
        sink: Writable,
    ) -> None:
        """See `Records`; several files are not written as one."""
        if len(self._paths) == 1:
            self._now.extend(key, name, computed, sink)
            return
        raise PartwrightError(
            f"{counted(len(self._paths), 'file is', 'files are')} named, and one is written at a time: name one"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._now.__exit__(kind, error, trace)


def _named_by_folders(path: str) -> dict[str, str | None]:
    """The columns in the names of the folders around a file.

    Examples:
        >>> _named_by_folders("out/day=1/partition=3/part-0.parquet")
        {'day': '1', 'partition': '3'}
    """
    pairs = (part.split("=", 1) for part in path.split("/")[:-1] if "=" in part)
    return {unquote(name): None if value == _NULL else unquote(value) for name, value in pairs}


def _constant(value: str | None, wanted: ColumnRequest, rows: int) -> Column:
    if value is None:
        return pa.nulls(rows, wanted.type)
    if pa.types.is_integer(wanted.type):
        if _WHOLE.fullmatch(value):
            return pa.array([int(value)] * rows, wanted.type)
        if not wanted.lenient:
            raise PartwrightError(
                f"a folder is named {wanted.name}={value}, and {value!r} is not a whole number"
            )
    return pa.array([value] * rows, pa.string())
