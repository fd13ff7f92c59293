r"""Java properties files, read like `java.util.Properties.load` and written so that it reads them back.

librdkafka's tools read `key=value` too, but without escapes. The two differ in backslashes, so a property says whether
it contains one.

>>> [(each.key, each.value) for each in read("acks : all\nclient.id=a\\\n    b")]
[('acks', 'all'), ('client.id', 'ab')]
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Property", "decoded", "read", "written"]

_BLANK = " \t\f"
_UNESCAPED = {"t": "\t", "r": "\r", "n": "\n", "f": "\f"}
_ESCAPED = {**{char: f"\\{name}" for name, char in _UNESCAPED.items()}, "\\": "\\\\"}
_HEX = re.compile(r"[0-9a-fA-F]{4}")


@dataclass(frozen=True, slots=True)
class Property:
    """One property of a file.

    Attributes:
        key: Its name.
        value: Its value. It may be a secret, so no `repr` shows it.
        line: The line where it begins, counted from 1.
        escaped: Whether a backslash in its value begins an escape, which librdkafka's tools take literally. Two
            backslashes for one do not count, since their meaning is clear.
    """

    key: str
    value: str = field(repr=False)
    line: int
    escaped: bool


def decoded(data: bytes) -> str:
    """A file's text: UTF-8 if its bytes are valid UTF-8, otherwise ISO-8859-1.

    Kafka's tools read all files as ISO-8859-1 (`Utils.loadProps` of 4.4 gives `Properties.load` a stream), librdkafka's
    pass the bytes on unchanged, so that a broker sees UTF-8. Editors write UTF-8, and a non-ASCII text in ISO-8859-1 is
    hardly ever valid UTF-8 by chance. In ASCII there is no difference.

    Examples:
        >>> decoded("ä".encode()), decoded("ä".encode("latin-1"))
        ('ä', 'ä')
    """
    try:
        # Some editors begin a file with a byte order mark, which would become part of the first name.
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("iso-8859-1")


def read(text: str) -> Iterator[Property]:
    r"""The properties of a text in order; a property that occurs twice is listed twice.

    Raises:
        PartwrightError: A `\u` has no four hex digits behind it, or makes half a character.
    """
    for number, line in _logical_lines(text):
        key, value = _parted(line)
        where = f"line {number}"
        escaped = "\\" in value.replace("\\\\", "")
        yield Property(_plain(key, where), _plain(value, where), number, escaped)


def written(settings: Mapping[str, str]) -> str:
    r"""The text of a file in ASCII that Java and `read` read back as these settings.

    Examples:
        >>> written({"sasl.password": " ä#=", "acks": "all"})
        'sasl.password=\\ \\u00e4#=\nacks=all\n'
    """
    return "".join(f"{_escaped(key, ' =:#!')}={_escaped(value, '')}\n" for key, value in settings.items())


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines without comments and empty lines. A line that ends with a backslash is joined with the next one."""
    parts = re.split(r"(\r\n|\r|\n)", text)
    natural, ends = [line.lstrip(_BLANK) for line in parts[::2]], [*parts[1::2], ""]
    at = 0
    while at < len(natural):
        begun, whole, cut = at, natural[at], False
        at += 1
        if whole.startswith(("#", "!")):
            continue
        while _goes_on(whole):
            # At the end of the text, or before a last line end of one character, Java takes this as a line even if it
            # is empty.
            cut = at == len(natural) or (len(ends[at - 1]) == 1 and parts[2 * at :] == [""])
            following = "" if cut else natural[at]
            # If the joined line is still empty, the next one is a new line to Java and may be a comment.
            if whole == "\\" and following.startswith(("#", "!")):
                whole = ""
            else:
                whole = whole[:-1] + following
                at += 1
        if whole or cut:
            yield begun + 1, whole


def _goes_on(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _parted(line: str) -> tuple[str, str]:
    """Key and value of a logical line, still with their escapes."""
    at = 0
    while at < len(line) and line[at] not in f"{_BLANK}=:":
        at += 2 if line[at] == "\\" else 1
    key, rest = line[:at], line[at:].lstrip(_BLANK)
    if rest[:1] in {"=", ":"}:
        rest = rest[1:].lstrip(_BLANK)
    return key, rest


def _plain(text: str, where: str) -> str:
    if "\\" not in text:
        return text
    out: list[str] = []
    at = 0
    while at < len(text):
        char = text[at]
        at += 1
        if char == "\\" and at < len(text):
            char = text[at]
            at += 1
            if char == "u":
                if not _HEX.fullmatch(text, at, at + 4):
                    raise PartwrightError(f"{where}: \\u is not followed by four hex digits")
                char = chr(int(text[at : at + 4], 16))
                at += 4
            else:
                char = _UNESCAPED.get(char, char)
        out.append(char)
    # Java has two characters (surrogates) for each code point above 65,535.
    try:
        return "".join(out).encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        raise PartwrightError(f"{where}: \\u makes half a character: its other half is missing") from None


def _escaped(text: str, also: str) -> str:
    out: list[str] = []
    for at, char in enumerate(text):
        if char in _ESCAPED:
            out.append(_ESCAPED[char])
        elif char in also or (char == " " and at == 0):
            out.append(f"\\{char}")
        elif " " <= char <= "~":
            out.append(char)
        else:
            units = char.encode("utf-16-be", "surrogatepass")
            out += [f"\\u{units[each : each + 2].hex()}" for each in range(0, len(units), 2)]
    return "".join(out)
