"""Remote files: s3://, gs://, abfs:// and hdfs:// by pyarrow's file systems, https:// and any other by fsspec."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, BinaryIO, cast

from pyarrow import fs as pa_fs

from partwright._check import first_line
from partwright.errors import MissingExtraError, PartwrightError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["is_remote", "listed", "opened"]

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
    scheme, rest = address.split("://", 1)
    if scheme.lower() not in _PYARROW and "*" in rest:
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
    found = sorted(
        f"{folder}/{inside}{mark}{options}"
        for info in infos
        if info.type == pa_fs.FileType.File and info.size
        for inside in [info.path[len(path.rstrip("/")) + 1 :]]
        if known(inside)
        and not any(part.startswith(("_", ".")) for part in inside.split("/"))
        and named.fullmatch(inside)
    )
    if folder != place and not found:
        raise PartwrightError(f"no file is named like {address!r}: check the pattern", path=address)
    return found


def _pattern(text: str) -> re.Pattern[str]:
    """What a pattern names; an empty one names everything."""
    if not text:
        return re.compile(".*", re.DOTALL)
    parts = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*"}
    words = re.split(r"(\*\*/|\*\*|\*)", text)
    # A pattern may also name folders, which means everything in them.
    return re.compile("".join(parts.get(word, re.escape(word)) for word in words) + "(?:/.*)?", re.DOTALL)


def _system(address: str) -> tuple[pa_fs.FileSystem, str]:
    scheme, rest = address.split("://", 1)
    found: tuple[pa_fs.FileSystem, str] = pa_fs.FileSystem.from_uri(f"{_PYARROW[scheme.lower()]}://{rest}")
    return found


def _by_fsspec(address: str) -> BinaryIO:
    try:
        import fsspec
    except ImportError as error:
        raise MissingExtraError(
            f"fsspec is missing, by which {address!r} is read: pip install 'partwright[remote]'"
        ) from error
    try:
        found: BinaryIO = fsspec.open(address, "rb").open()
    except ImportError as error:
        raise MissingExtraError(f"{address!r} needs another package: {first_line(error)}") from error
    return found


def _unreachable(address: str, error: Exception) -> PartwrightError:
    # A query may be a signature, and the part before an @ a password.
    shown = re.sub(r"//[^/@]*@", "//", address).split("?", 1)[0]
    return PartwrightError(
        f"{shown!r} cannot be read ({first_line(error)}): check its name and your credentials", path=shown
    )
