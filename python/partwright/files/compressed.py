"""Files compressed as a whole with gzip, bzip2 or zstd: their uncompressed bytes, and the way back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import pyarrow as pa

from partwright._check import first_line
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from partwright.files.formats import Writable

# How a file begins, and how its name ends.
_MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}
_SUFFIXES = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".zstd": "zstd"}
_PEEKED = 1 << 16


class Peeked:
    """A stream whose first bytes can be looked at before they are read; errors name the file.

    Args:
        path: The file's name.
        file: The stream.
        packed: How it was compressed; None if it was not.
    """

    closed = False

    def __init__(self, path: str, file: BinaryIO, packed: str | None = None) -> None:
        self._path, self._file, self._packed = path, file, packed
        self._start = b""

    def peek(self, size: int = _PEEKED) -> bytes:
        """The first bytes, or fewer if the file is shorter."""
        while len(self._start) < size and (more := self._read(size - len(self._start))):
            self._start += more
        return self._start

    def read(self, size: int = -1) -> bytes:
        """That many bytes, or fewer; none at the end."""
        if not self._start:
            return self._read(size)
        data, self._start = (self._start, b"") if size < 0 else (self._start[:size], self._start[size:])
        return data + self._read() if size < 0 else data

    def close(self) -> None:
        """Close the stream."""
        self.closed = True
        self._file.close()

    def _read(self, size: int = -1) -> bytes:
        try:
            return self._file.read(size)
        except (OSError, pa.ArrowException) as error:
            if self._packed is None:
                raise
            raise PartwrightError(
                f"{self._path!r} cannot be unpacked by {self._packed} ({first_line(error)}): it may be cut off",
                path=self._path,
            ) from error


def codec_of(start: bytes) -> str | None:
    """How a file with these first bytes was compressed; None if it was not.

    Examples:
        >>> codec_of(b"BZh91AY"), codec_of(b"customer,total")
        ('bz2', None)
    """
    return next((codec for magic, codec in _MAGIC.items() if start.startswith(magic)), None)


def without_suffix(path: str) -> tuple[str, str | None]:
    """A file's name without the ending of its compression, and that compression.

    Examples:
        >>> without_suffix("orders.csv.gz"), without_suffix("orders.csv")
        (('orders.csv', 'gzip'), ('orders.csv', None))
    """
    suffix = Path(path).suffix.lower()
    return (path[: -len(suffix)], _SUFFIXES[suffix]) if suffix in _SUFFIXES else (path, None)


def unpacked(path: str, file: BinaryIO, codec: str) -> Peeked:
    """The uncompressed bytes of a file, all its parts one after the other."""
    stream = pa.CompressedInputStream(pa.PythonFile(file, mode="r"), codec)
    return Peeked(path, cast("BinaryIO", stream), codec)


@contextmanager
def compressing(sink: Writable, codec: str | None) -> Iterator[Writable]:
    """Compress bytes into a file; without a codec they stay as they are."""
    if codec is None:
        yield sink
        return
    stream = pa.CompressedOutputStream(pa.PythonFile(sink, mode="w"), codec)
    try:
        yield stream
    except BaseException:
        # Left open, it would write its end when it is collected, after the file's own end, and Arrow would complain.
        with suppress(OSError, PartwrightError, pa.ArrowException):
            stream.close()
        raise
    stream.close()
