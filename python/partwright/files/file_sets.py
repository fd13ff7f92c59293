"""Several files as one: folders, patterns and lists of names, and the columns in folder names; and remote files.

s3://, gs://, abfs:// and hdfs:// are opened by pyarrow's file systems, https:// and any other address by fsspec.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast
from urllib.parse import unquote

import pyarrow as pa
from pyarrow import fs as pa_fs

from partwright._check import counted, first_line
from partwright.errors import MissingExtraError, PartwrightError
from partwright.files.formats import Records

if TYPE_CHECKING:
    from partwright.files.formats import Column, ColumnRequest, Writable

_NULL = "__HIVE_DEFAULT_PARTITION__"
_WHOLE = re.compile("-?[0-9]{1,18}")
# The offset of its first record, and in HDFS of its last one, follow.
_SINK = re.compile(r"(?P<topic>[\w.-]+)\+(?P<partition>[0-9]{1,10})\+[0-9]+(?:\+[0-9]+)?\.[\w.?=&-]+")


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
        files = [
            str(each)
            for each in sorted(Path(path).rglob("*"))
            if not any(part.startswith(("_", ".")) for part in each.relative_to(path).parts)
            and each.is_file()
            and each.stat().st_size
            and known(each.name)
        ]
        if not files:
            raise PartwrightError(f"the folder {path!r} has no file of records", path=path)
        return files
    if glob.has_magic(path) and not Path(path).exists():
        files = [file for each in sorted(glob.glob(path, recursive=True)) for file in files_of(each, known)]  # noqa: PTH207
        if not files:
            raise PartwrightError(f"no file is named like {path!r}: check the pattern", path=path)
        return files
    return [path]


class FileSet(Records):
    """The records of several files, one after the other; see `partwright.files.formats.Records`.

    Args:
        paths: The files.
        open_one: Opens one of them.
    """

    def __init__(self, paths: Sequence[str], open_one: Callable[[str], Records]) -> None:
        self._paths, self._open_one = paths, open_one
        self._past, self._now = 0, open_one(paths[0])
        self.format, self.is_text, self.read_as = self._now.format, self._now.is_text, self._now.read_as

    @property
    def done(self) -> float | None:
        """See `Records`; each file counts the same."""
        return (self._past + (self._now.done or 0)) / len(self._paths)

    def read(self, requests: Sequence[ColumnRequest]) -> Iterator[tuple[Column, ...]]:
        """See `Records`; a column that a file lacks is taken from a folder's name such as `partition=3`."""
        for at, path in enumerate(self._paths):
            if at:
                self._past, self._now = at, self._open_one(path)
            named = _named_by_path(path)
            inside = [column for column in requests if column.name not in named]
            with self._now as records:
                # One of the file's columns tells how many rows there are.
                for columns in records.read(inside or requests):
                    file_columns, rows = iter(columns), len(columns[0])
                    yield tuple(
                        next(file_columns)
                        if column in inside or not inside
                        else _constant(named[column.name], column, rows)
                        for column in requests
                    )

    def types(self) -> Iterator[dict[str, pa.DataType]]:
        """See `Records`; what a file does not declare, another one or a folder's name may."""
        before: dict[str, pa.DataType] = {}
        for at, path in enumerate(self._paths):
            if at:
                self._past, self._now = at, self._open_one(path)
            folders = dict.fromkeys(_named_by_path(path), pa.null())
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

    def close(self) -> None:
        """Close the file."""
        self._now.close()


def _named_by_path(path: str) -> dict[str, str | None]:
    """The columns in the names of a file and of the folders around it.

    Examples:
        >>> _named_by_path("out/day=1/partition=3/part-0.parquet")
        {'day': '1', 'partition': '3'}
    """
    pairs = (part.split("=", 1) for part in path.split("/")[:-1] if "=" in part)
    folders = {unquote(name): None if value == _NULL else unquote(value) for name, value in pairs}
    return {**folders, **named_by_sink(path)}


def named_by_sink(path: str) -> dict[str, str]:
    """The topic and the partition in a file's name, as the sinks of Kafka Connect for S3, GCS, Azure and HDFS write it.

    Examples:
        >>> named_by_sink("topics/orders/partition=3/orders+3+0000000150.json"), named_by_sink("orders.json")
        ({'topic': 'orders', 'partition': '3'}, {})
    """
    match = _SINK.fullmatch(path.rsplit("/", 1)[-1])
    return {} if match is None else match.groupdict()


def _constant(value: str | None, request: ColumnRequest, rows: int) -> Column:
    if value is None:
        return pa.nulls(rows, request.type)
    if pa.types.is_integer(request.type):
        if _WHOLE.fullmatch(value):
            return pa.array([int(value)] * rows, request.type)
        if not request.lenient:
            raise PartwrightError(
                f"a folder is named {request.name}={value}, and {value!r} is not a whole number"
            )
    return pa.array([value] * rows, pa.string())


_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
# What pyarrow takes; it calls the first one s3.
_PYARROW = {
    "s3": "s3",
    "s3a": "s3",
    "gs": "gs",
    "gcs": "gs",
    "abfs": "abfs",
    "abfss": "abfss",
    "hdfs": "hdfs",
    "file": "file",
}


def is_remote(path: str) -> bool:
    """Whether a name is an address.

    Examples:
        >>> is_remote("s3://bucket/orders.csv"), is_remote("orders.csv"), is_remote("C:/orders.csv")
        (True, False, False)
    """
    return _ADDRESS.match(path) is not None


def opened(address: str) -> BinaryIO:
    """Open a file at an address, to be read in any order.

    Raises:
        PartwrightError: There is no such file, or it cannot be reached.
        MissingExtraError: fsspec is missing, or a package that it needs for such an address.
    """
    scheme, location = address.split("://", 1)
    if scheme.lower() not in _PYARROW and "*" in location:
        raise PartwrightError(
            f"{address!r} has a pattern, which works only with {', '.join(sorted(_PYARROW))}: name one file",
            path=address,
        )
    try:
        if scheme.lower() in _PYARROW:
            system, path = _system(address)
            return cast("BinaryIO", system.open_input_file(path))
        return _by_fsspec(address)
    except PartwrightError:
        raise
    except Exception as error:  # other file systems may raise anything
        raise _unreachable(address, error) from error


def listed(address: str, known: Callable[[str], bool]) -> list[str]:
    """The files of a folder at an address, or those that a pattern names, in order of their names.

    Args:
        address: The address. In a pattern, `*` stands for any part of one name and `**` for any folders.
        known: Whether a file's name tells a format.

    Returns:
        Their addresses; empty if it is not a folder.

    Raises:
        PartwrightError: It cannot be reached, or a pattern names nothing.
    """
    if address.split("://", 1)[0].lower() not in _PYARROW:
        return []
    place, mark, options = address.partition("?")
    place = place.rstrip("/")
    folder = place[: place.index("*")].rsplit("/", 1)[0] if "*" in place else place
    try:
        system, path = _system(folder + mark + options)
        if system.get_file_info(path).type != pa_fs.FileType.Directory:
            return []
        infos = system.get_file_info(pa_fs.FileSelector(path, recursive=True))
    except Exception as error:
        raise _unreachable(address, error) from error
    named = _pattern(place[len(folder) + 1 :])
    addresses = sorted(
        f"{folder}/{inside}{mark}{options}"
        for info in infos
        if info.type == pa_fs.FileType.File and info.size
        for inside in [info.path[len(path.rstrip("/")) + 1 :]]
        if known(inside)
        and not any(part.startswith(("_", ".")) for part in inside.split("/"))
        and named.fullmatch(inside)
    )
    if folder != place and not addresses:
        raise PartwrightError(f"no file is named like {address!r}: check the pattern", path=address)
    return addresses


def _pattern(text: str) -> re.Pattern[str]:
    """What a pattern names; an empty one names everything."""
    if not text:
        return re.compile(".*", re.DOTALL)
    parts = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*"}
    words = re.split(r"(\*\*/|\*\*|\*)", text)
    # A pattern may also name folders, which means everything in them.
    return re.compile("".join(parts.get(word, re.escape(word)) for word in words) + "(?:/.*)?", re.DOTALL)


def _system(address: str) -> tuple[pa_fs.FileSystem, str]:
    scheme, location = address.split("://", 1)
    system_and_path: tuple[pa_fs.FileSystem, str] = pa_fs.FileSystem.from_uri(
        f"{_PYARROW[scheme.lower()]}://{location}"
    )
    return system_and_path


def _by_fsspec(address: str) -> BinaryIO:
    try:
        import fsspec
    except ImportError as error:
        raise MissingExtraError(
            f"fsspec is missing, by which {address!r} is read: pip install 'partwright[remote]'"
        ) from error
    try:
        file: BinaryIO = fsspec.open(address, "rb").open()
    except ImportError as error:
        raise MissingExtraError(f"{address!r} needs another package: {first_line(error)}") from error
    return file


def _unreachable(address: str, error: Exception) -> PartwrightError:
    # A query may be a signature, and the part before an @ a password.
    shown = re.sub(r"//[^/@]*@", "//", address).split("?", 1)[0]
    return PartwrightError(
        f"{shown!r} cannot be read ({first_line(error)}): check its name and your credentials", path=shown
    )
