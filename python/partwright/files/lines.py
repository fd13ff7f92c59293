"""A file's text as blocks of whole lines, each block's lines as one Arrow column: Python handles no single line."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from partwright._check import spelled
from partwright.errors import PartwrightError
from partwright.files.scalars import text, text_column

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from partwright.files.formats import Column

__all__ = ["LONGEST", "Block", "LineReader", "text_of"]

# As much as the processor's caches hold: larger blocks take longer.
_BLOCK = 1 << 20
LONGEST = 16 << 20
"""The most bytes of a line, and of a value over several lines: an endless line, or an extra quote, is reported before
it fills the memory. Once a value is cut into lines, it takes up to ten times as much."""
# The most lines of a value: a text of short lines takes many times its bytes once it is cut into them.
_MOST_LINES = 1 << 21
_BOM = b"\xef\xbb\xbf"
_FED, _RETURNED = text("\n"), text("\r\n")
_OTHER_BOMS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


@dataclass(frozen=True)
class Block:
    """Some whole lines of a file.

    Attributes:
        text: Their bytes, which are UTF-8.
        lines: The lines without their ends.
        ends: How each line ends, or one for all: a line feed, perhaps after a carriage return. The file's last line may
            have no end.
        first: The number of the first line in the file, from 1.
    """

    text: bytes
    lines: pa.Array
    ends: Column
    first: int

    def start_of(self, line: int) -> int:
        """The position in the text where a line starts."""
        removed = pc.sum(pc.binary_length(self.ends[:line])).as_py() or 0 if self._mixed else line * self._end
        return _offset(self.lines, line) + removed

    @property
    def _mixed(self) -> bool:
        return not isinstance(self.ends, pa.Scalar)

    @property
    def _end(self) -> int:
        return len(self.ends.as_py())

    def head(self, lines: int) -> Block:
        """Only the first lines."""
        ends = self.ends[:lines] if self._mixed else self.ends
        return Block(self.text[: self.start_of(lines)], self.lines[:lines], ends, self.first)


class LineReader:
    """Reads a file from its start, block by block.

    Args:
        name: The file's name, for errors.
        file: The file.
        size: Its size; None if it is unknown.
    """

    def __init__(self, name: str, file: BinaryIO, size: int | None) -> None:
        self.name = name
        self.lines = 0
        self.mark = b""
        self.at_end = False
        self._file = file
        self._size = size
        self._read = 0
        self._rest = b""

    @property
    def done(self) -> float | None:
        """How much of the file has been read, 0 to 1; None where nobody knows its size."""
        return self._read / self._size if self._size else None

    def blocks(self) -> Iterator[Block]:
        """All blocks; `mark` is the byte order mark, once the first has come.

        Raises:
            PartwrightError: The file cannot be read, is empty, is not UTF-8, or has a line of more than 16 MiB.
        """
        start = True
        while text := self._next(start=start):
            block = self._block(text)
            self.lines += len(block.lines)
            start = False
            yield block
            # A value that is given back would be there twice while more of it is read.
            del text, block
        if start:
            raise PartwrightError(f"{self.name!r} is empty: it has no records")

    def give_back(self, block: Block, line: int) -> None:
        """Take back a block's lines from one on, so that the next block starts with them.

        Raises:
            PartwrightError: They are more than 16 MiB, or more than two million.
        """
        start, lines = block.start_of(line), len(block.lines) - line
        if len(block.text) - start > LONGEST or lines > _MOST_LINES:
            within = f"{_MOST_LINES:,} lines" if lines > _MOST_LINES else f"{LONGEST >> 20} MiB"
            raise PartwrightError(
                f"line {block.first + line} of {self.name!r} starts a value that has no end within {within}: look at "
                "its quotes"
            )
        self._rest = block.text[start:] + self._rest
        self.lines -= lines

    def _next(self, *, start: bool) -> bytes:
        """The next whole lines; what is left of the file at its end."""
        parts, size = [self._rest], len(self._rest)
        self._rest = b""
        # As much as was given back, so that a value over many lines is read only a few times, up to the longest value.
        blocks = max(1, min(size, LONGEST - size) // _BLOCK)
        while more := self._some(blocks):
            if start:
                more, start = self._unmarked(more), False
            end = more.rfind(b"\n") + 1
            if end:
                self._rest = more[end:]
                return b"".join([*parts, more[:end]])
            parts.append(more)
            size += len(more)
            if size > LONGEST:
                raise PartwrightError(
                    f"line {self.lines + 1} of {self.name!r} is longer than {LONGEST >> 20} MiB: look at its line "
                    f"ends, or name its format with {spelled('format')}"
                )
        return b"".join(parts)

    def _some(self, blocks: int) -> bytes:
        """So many blocks, or fewer if they have more lines than a value may have; none at the end."""
        parts: list[bytes] = []
        lines = 0
        while len(parts) < blocks and lines < _MOST_LINES and (chunk := self._chunk()):
            parts.append(chunk)
            lines += chunk.count(b"\n")
        self.at_end = not parts
        return b"".join(parts)

    def _chunk(self) -> bytes:
        try:
            chunk = self._file.read(_BLOCK)
        except OSError as error:
            raise PartwrightError(f"{self.name!r} cannot be read ({error.strerror})") from error
        self._read += len(chunk)
        return chunk

    def _unmarked(self, text: bytes) -> bytes:
        other = _OTHER_BOMS.get(text[:2])
        if other:
            raise PartwrightError(
                f"{self.name!r} is {other}, and only UTF-8 is read: convert it, for example with iconv"
            )
        if text.startswith(_BOM):
            self.mark = _BOM
            return text.removeprefix(_BOM)
        return text

    def _block(self, data: bytes) -> Block:
        whole = data.endswith(b"\n")
        one = text_column(data, len(data) - whole)
        try:
            one.validate(full=True)
        except pa.ArrowInvalid:
            raise self._not_utf8(data) from None
        lines = pc.split_pattern(one, "\n").flatten()
        returned = pc.ends_with(lines, "\r")
        ends = _FED
        if pc.any(returned).as_py():
            lines = pc.if_else(returned, pc.utf8_slice_codeunits(lines, 0, -1), lines)
            every = pc.all(returned).as_py()
            ends = _RETURNED if every else pc.if_else(returned, _RETURNED, ends)
        if not whole:
            last = text_column(b"\r" if data.endswith(b"\r") else b"")
            others = pa.repeat(ends, len(lines) - 1) if isinstance(ends, pa.Scalar) else ends[:-1]
            ends = pa.concat_arrays([others, last])
        return Block(data, lines, ends, self.lines + 1)

    def _not_utf8(self, text: bytes) -> PartwrightError:
        try:
            text.decode()
        except UnicodeDecodeError as error:
            line = self.lines + 1 + text.count(b"\n", 0, error.start)
            return PartwrightError(
                f"line {line} of {self.name!r} has the byte 0x{text[error.start]:02x}, which is not UTF-8: convert "
                "the file, for example with iconv"
            )
        raise AssertionError("Arrow and Python agree on what is UTF-8")


def text_of(lines: pa.Array) -> memoryview:
    """The bytes of all texts of a column, one after another, as a kernel has just made them.

    Examples:
        >>> bytes(text_of(pc.ascii_upper(pa.array(["a", "bc"]))))
        b'ABC'
    """
    return memoryview(lines.buffers()[2] or b"")[: _offset(lines, len(lines))]


def _offset(lines: pa.Array, line: int) -> int:
    at = (lines.offset + line) * 4
    return int.from_bytes(memoryview(lines.buffers()[1])[at : at + 4].cast("B"), sys.byteorder)
