"""A file's text as blocks of whole lines, and what is put between its bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import BinaryIO, NamedTuple

from partwright._check import spelled
from partwright.errors import PartwrightError

# As much as the processor's caches hold: larger blocks take longer.
_BLOCK = 1 << 20
LONGEST = 16 << 20
"""The most bytes of a line, and of a value over several lines: an endless line, or an extra quote, is reported before
it fills the memory."""
# The most lines of a value.
_MOST_LINES = 1 << 21
_BOM = b"\xef\xbb\xbf"
_OTHER_BOMS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


class Block(NamedTuple):
    """Some whole lines of a file.

    Attributes:
        text: Their bytes, which are UTF-8.
        first: The number of the first line in the file, from 1.
    """

    text: bytes
    first: int

    def line_at(self, place: int) -> int:
        """The number of the line that has a place in the text."""
        return self.first + self.text.count(b"\n", 0, place)


class LineReader:
    """Reads a file from its start, block by block.

    Args:
        name: The file's name, for errors.
        file: The file.
        size: Its size; None if it is unknown.
        hint: What to do with a text that is not UTF-8.
    """

    def __init__(
        self,
        name: str,
        file: BinaryIO,
        size: int | None,
        hint: str = "convert the file, for example with iconv",
    ) -> None:
        self.name = name
        self._hint = hint
        self.lines = 0
        self.mark = b""
        self.at_end = False
        self._file = file
        self._size = size
        self._read = 0
        self._remainder = b""

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
            if not text.isascii():
                self._refuse_not_utf8(text)
            block = Block(text, self.lines + 1)
            self.lines += _lines_of(text)
            start = False
            yield block
            # A value that is given back would be there twice while more of it is read.
            del text, block
        if start:
            raise PartwrightError(f"{self.name!r} is empty: it has no records")

    def give_back(self, block: Block, place: int) -> None:
        """Take back a block's text from a line's start on, so that the next block starts with it.

        Raises:
            PartwrightError: It is more than 16 MiB, or more than two million lines.
        """
        text = block.text[place:]
        lines = _lines_of(text)
        if len(text) > LONGEST or lines > _MOST_LINES:
            within = f"{_MOST_LINES:,} lines" if lines > _MOST_LINES else f"{LONGEST >> 20} MiB"
            raise PartwrightError(
                f"line {block.line_at(place)} of {self.name!r} starts a value that has no end within {within}: look at "
                "its quotes"
            )
        self._remainder = text + self._remainder
        self.lines -= lines

    def _next(self, *, start: bool) -> bytes:
        """The next whole lines; what is left of the file at its end."""
        parts, size = [self._remainder], len(self._remainder)
        self._remainder = b""
        # As much as was given back, so that a value over many lines is read only a few times, up to the longest value.
        blocks = max(1, min(size, LONGEST - size) // _BLOCK)
        while more := self._some(blocks):
            if start:
                more, start = self._unmarked(more), False
            end = more.rfind(b"\n") + 1
            if end:
                self._remainder = more[end:]
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

    def _refuse_not_utf8(self, text: bytes) -> None:
        try:
            text.decode()
        except UnicodeDecodeError as error:
            line = self.lines + 1 + text.count(b"\n", 0, error.start)
            raise PartwrightError(
                f"line {line} of {self.name!r} has the byte 0x{text[error.start]:02x}, which is not UTF-8: "
                f"{self._hint}"
            ) from None


def with_inserted(text: bytes, places: Iterable[int], parts: Iterable[bytes]) -> bytes:
    """A text with each part at its place; places grow.

    Examples:
        >>> with_inserted(b"abc", [1, 3], [b",", b"."])
        b'a,bc.'
    """
    starts = [0, *places]
    pieces = (text[start:end] for start, end in zip(starts, [*starts[1:], None], strict=True))
    return b"".join(chain.from_iterable(zip(pieces, [*parts, b""], strict=True)))


def _lines_of(text: bytes) -> int:
    return text.count(b"\n") + (not text.endswith(b"\n"))
