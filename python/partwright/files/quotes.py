"""Whether a csv ends within quotes: found by its bytes alone, in one pass and little memory."""

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
# The rest of a field in quotes, from within them; two quotes are one character of it.
_CLOSED = re.compile(rb'(?:[^"]++|"")*+"')


def open_quote(file: BinaryIO, delimiter: bytes = b",") -> int | None:
    r"""The line in which a quote is opened that nothing closes, as `DelimitedRecords` reads quotes.

    Args:
        file: The csv's bytes, in an encoding whose quotes, delimiters and line ends are those of ASCII.
        delimiter: The byte between fields.

    Returns:
        The line's number, from 1; None where every quote is closed.

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
        # Whether a quote closes a field is seen by what follows it.
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
        # Within quotes, the last byte is no field's start; it is no quote, for then more would have been read.
        before = text[-1:] if opened is None else b""
        chunk = file.read(_CHUNK)
    return opened


def refuse_open_quote(path: Path, delimiter: bytes) -> None:
    """Refuses a csv that ends within quotes, packed or not; one in a packing that Arrow does not know is let pass.

    Args:
        path: The file.
        delimiter: As for `open_quote`.

    Raises:
        PartwrightError: A quote is open at its end.
    """
    ending = path.suffix.lower()
    if ending in _CODECS:
        # Whoever reads the file is to say that it cannot be read to its end.
        with suppress(OSError), pa.input_stream(path, _CODECS[ending]) as file:
            if (line := open_quote(file, delimiter)) is not None:
                raise unclosed(str(path), line)


def unclosed(path: str, line: int) -> PartwrightError:
    """The sentence for a file that ends within quotes."""
    return PartwrightError(
        f"the quote that is opened in line {line} of {path!r} is not closed: look for a quote at the start of a field",
        path=path,
    )
