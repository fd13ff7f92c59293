r"""Java properties files, read like `java.util.Properties.load` and written so that it reads them back.

librdkafka's tools read `key=value` too, but without escapes. The two differ in backslashes, so a property says whether
it contains one.

>>> [(each.key, each.value) for each in read("acks : all\nclient.id=a\\\n    b")]
[('acks', 'all'), ('client.id', 'ab')]
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

from partwright.errors import PartwrightError

_BLANK = " \t\f"
# Key and value of a logical line, still with their escapes.
_PARTS = re.compile(r"((?:\\.?|[^ \t\f=:\\])*)[ \t\f]*(?:[=:][ \t\f]*)?(.*)", re.DOTALL)
_UNESCAPED = {"t": "\t", "r": "\r", "n": "\n", "f": "\f"}
_ESCAPED = {char: f"\\{name}" for name, char in _UNESCAPED.items()}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)


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


def decode(data: bytes) -> str:
    """A file's text: UTF-8 if its bytes are valid UTF-8, otherwise ISO-8859-1.

    Kafka's tools read all files as ISO-8859-1 (`Utils.loadProps` of 4.4 gives `Properties.load` a stream), librdkafka's
    pass the bytes on unchanged, so that a broker sees UTF-8. Editors write UTF-8, and a non-ASCII text in ISO-8859-1 is
    hardly ever valid UTF-8 by chance. In ASCII there is no difference.

    Examples:
        >>> decode("ä".encode()), decode("ä".encode("latin-1"))
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
        # It has parts, whatever it is.
        key, value = cast("re.Match[str]", _PARTS.fullmatch(line)).groups()
        where = f"line {number}"
        escaped = "\\" in value.replace("\\\\", "")
        yield Property(_plain(key, where), _plain(value, where), number, escaped)


def properties_text(settings: Mapping[str, str]) -> str:
    r"""The text of a file in ASCII that Java and `read` read back as these settings.

    Examples:
        >>> properties_text({"sasl.password": " ä#=", "acks": "all"})
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


def _plain(text: str, where: str) -> str:
    """A text without its escapes."""
    if "\\" not in text:
        return text

    def character(match: re.Match[str]) -> str:
        code = match[1]
        if code == "u":
            raise PartwrightError(f"{where}: \\u is not followed by four hex digits")
        return chr(int(code[1:], 16)) if code[1:] else _UNESCAPED.get(code, code)

    # Java has two characters (surrogates) for each code point above 65,535.
    try:
        return _ESCAPE.sub(character, text).encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        raise PartwrightError(f"{where}: \\u makes half a character: its other half is missing") from None


def _escaped(text: str, also: str) -> str:
    """A text with a backslash before each character that Java would misread: `also`, and a leading blank."""
    return re.sub(rf"^ |[^ -~]|[\\{also}]", _escape, text)


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    if " " <= char <= "~":
        return f"\\{char}"
    units = char.encode("utf-16-be", "surrogatepass")
    return _ESCAPED.get(char) or "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
