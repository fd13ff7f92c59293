"""Whether a csv ends inside quotes: found from its bytes, in one pass and little memory."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

import pyarrow as pa

from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from pathlib import Path
    from typing import BinaryIO

__all__ = ["open_quote", "refuse_open_quote", "unclosed"]

_CHUNK = 1 << 20
_CODECS = {".csv": None, "": None, ".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
_BOM = b"\xef\xbb\xbf"
# The rest of a quoted field, from inside the quotes; two quotes are one character of it.
_CLOSED = re.compile(rb'(?:[^"]++|"")*+"')


def open_quote(file: BinaryIO, delimiter: bytes = b",") -> int | None:
    r"""The line that opens a quote that is never closed, as `DelimitedRecords` reads quotes.

    Args:
        file: The csv's bytes, in an encoding with ASCII's quotes, delimiters and line ends.
        delimiter: The byte between fields.

    Returns:
        The line's number, from 1; None if every quote is closed.

    Examples:
        >>> import io
        >>> open_quote(io.BytesIO(b'id,text\na,"b\nc"\nd,"e\n'))
        4
    """
    opening = re.compile(rb'[\n\r%b]"' % re.escape(delimiter))
    lines, opened = 1, None
    # A quote opens a field at the start of a line; the file's first one has no line end before it.
    before = b"\n"
    chunk = file.read(_CHUNK).removeprefix(_BOM) or file.read(_CHUNK)
    while chunk:
        # What follows a quote shows whether it closes the field.
        while chunk.endswith(b'"') and (more := file.read(_CHUNK)):
            chunk += more
        text = before + chunk
        closed = _CLOSED.match(text) if opened is not None else None
        if opened is None or closed:
            opened, found = None, opening.search(text, closed.end() if closed else 0)
            while found and (closed := _CLOSED.match(text, found.end())):
                found = opening.search(text, closed.end())
            if found:
                opened = lines + text.count(b"\n", len(before), found.end())
        lines += chunk.count(b"\n")
        # Inside quotes, the last byte does not start a field. It is not a quote either, because then more would have
        # been read.
        before = text[-1:] if opened is None else b""
        chunk = file.read(_CHUNK)
    return opened


def refuse_open_quote(path: Path, delimiter: bytes) -> None:
    """Refuse a csv that ends inside quotes, compressed or not; a compression that Arrow does not know is not checked.

    Args:
        path: The file.
        delimiter: As for `open_quote`.

    Raises:
        PartwrightError: A quote is open at its end.
    """
    ending = path.suffix.lower()
    if ending in _CODECS:
        # The reader of the file reports that it cannot be read to its end.
        with suppress(OSError), pa.input_stream(path, _CODECS[ending]) as file:
            if (line := open_quote(file, delimiter)) is not None:
                raise unclosed(str(path), line)


def unclosed(path: str, line: int) -> PartwrightError:
    """The error for a file that ends inside quotes."""
    return PartwrightError(
        f"the quote that is opened in line {line} of {path!r} is not closed: look for a quote at the start of a field",
        path=path,
    )
