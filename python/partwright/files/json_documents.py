"""JSON that is not JSON lines: objects over several lines, in sequence or in an array, as one object per line.

`rpk topic consume`, `jq` and most programming languages write it like this.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from partwright.errors import PartwrightError
from partwright.files.lines import LONGEST

if TYPE_CHECKING:
    from partwright.files.compressed import Peeked

_BLANKS = re.compile(r"[ \t\r\n]*")
_CHUNK = 1 << 20


def are_documents(start: bytes) -> bool:
    r"""Whether a file with these first bytes is an array, or has objects over several lines.

    Examples:
        >>> are_documents(b'[{"k": 1},'), are_documents(b'{\n  "k": 1'), are_documents(b'{"k": 1}\n{"k": 2}')
        (True, True, False)
    """
    text = start.removeprefix(codecs.BOM_UTF8).lstrip(b" \t\r\n")
    first, line_feed, _ = text.partition(b"\n")
    return text.startswith(b"[") or bool(
        text.startswith(b"{") and line_feed and not first.rstrip().endswith(b"}")
    )


class MadeLines:
    """A stream of JSON lines that are made from another text.

    Args:
        made: The lines, as many at once as are made at once.
        file: The text.
    """

    def __init__(self, made: Iterator[bytes], file: Peeked) -> None:
        self._made, self._file = made, file
        self._buffer = b""

    def read(self, size: int) -> bytes:
        """That many bytes, or fewer; none at the end."""
        parts, length = [self._buffer], len(self._buffer)
        while length < size and (more := next(self._made, b"")):
            parts.append(more)
            length += len(more)
        whole = b"".join(parts)
        self._buffer = whole[size:]
        return whole[:size]

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class DocumentLines(MadeLines):
    """A stream of JSON lines, made from documents.

    Args:
        path: The file's name.
        file: The documents.
    """

    def __init__(self, path: str, file: Peeked) -> None:
        super().__init__(self._lines(), file)
        self._path = path

    def _lines(self) -> Iterator[bytes]:  # noqa: C901 - one loop over one text
        # A number with more digits than Python reads does not stop the reading: perhaps nobody asked for it.
        decoder = json.JSONDecoder(parse_int=str, parse_float=str)
        text, place, line, expected = self._more(), 0, 1, ""
        is_array = False
        lines: list[str] = []
        while True:
            after = _blanks(text, place)
            line += text.count("\n", place, after)
            place = after
            if place == len(text):
                if lines:
                    yield "".join(lines).encode("utf-8", "surrogatepass")
                lines, text, place = [], self._more(), 0
                if not text:
                    break
                continue
            if text[place] == "[" and not is_array and expected == "":
                is_array, place, expected = True, place + 1, "element"
                continue
            if is_array and expected != "end" and text[place] == "]":
                expected, place = "end", place + 1
                continue
            if is_array and expected == "comma" and text[place] == ",":
                expected, place = "element", place + 1
                continue
            if expected in {"comma", "end"}:
                raise self._broken(
                    line,
                    f"there is {text[place]!r} behind {'an element' if expected == 'comma' else 'its end'}",
                )
            try:
                _, end = decoder.raw_decode(text, place)
            except (ValueError, RecursionError) as error:
                length = len(text) - place
                # As much again, so that a long value is decoded only a few times.
                more_size = max(_CHUNK, min(length, LONGEST - length))
                more = self._more(more_size) if length < LONGEST and isinstance(error, ValueError) else ""
                if not more:
                    raise self._broken(line, _reason(error)) from None
                text, place = text[place:] + more, 0
                continue
            lines.append(text[place:end].replace("\r", " ").replace("\n", " ") + "\n")
            line += text.count("\n", place, end)
            place, expected = end, "comma" if is_array else "object"
        if is_array and expected != "end":
            raise self._broken(line, "its array has no end")

    def _more(self, size: int = _CHUNK) -> str:
        """The next whole characters; none at the end."""
        data = self._file.read(size)
        # At most three bytes of a character are missing.
        while data:
            try:
                return data.decode("utf-8-sig")
            except UnicodeDecodeError as error:
                more = self._file.read(1) if error.end == len(data) and len(data) - error.start < 4 else b""  # noqa: PLR2004
                if not more:
                    raise PartwrightError(
                        f"{self._path!r} is not UTF-8 ({error.reason})", path=self._path
                    ) from None
                data += more
        return ""

    def _broken(self, line: int, why: str) -> PartwrightError:
        return PartwrightError(
            f"{self._path!r} is not JSON: the value in line {line} ({why})", path=self._path
        )


def _blanks(text: str, place: int) -> int:
    found = _BLANKS.match(text, place)
    return found.end() if found else place


def _reason(error: Exception) -> str:
    return error.msg.removesuffix(" at") if isinstance(error, json.JSONDecodeError) else str(error)
