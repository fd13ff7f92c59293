"""Text from outside, made harmless for a terminal, a page and a log: nothing in it is hidden, and nothing acts.

And the lines of a paste, without what was put around them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# Colours of a terminal, marks of a quotation and of a file's start; what encloses code, and the rule of a table.
_NOISE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|^(?:> ?)+|^\ufeff")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_RULE = re.compile(r"[|:\s-]*-{2}[|:\s-]*")


def plain(text: object) -> str:
    r"""Text in which nothing is hidden: unprintable characters, and ends of lines, are written as escapes.

    These include a terminal's commands, marks that change the text's direction, NUL and unpaired surrogates.

    Examples:
        >>> plain("caf\u00e9"), plain("a\u202eb\x00\udc80")
        ('café', 'a\\u202eb\\u0000\\udc80')
        >>> plain("\x1b[31mred\n")
        '\\u001b[31mred\\u000a'
    """
    whole = str(text)
    return whole if whole.isprintable() else "".join(map(_visible, whole))


def plain_lines(text: object) -> str:
    r"""The same for a text of several lines, whose ends stay.

    Examples:
        >>> plain_lines("one\x07\ntwo")
        'one\\u0007\ntwo'
    """
    return "\n".join(map(plain, str(text).split("\n")))


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code < 1 << 16 else f"\\U{code:08x}"


def paste_lines(text: str) -> Iterator[tuple[int, str]]:
    r"""The lines of a paste with their numbers, without what a chat, a browser or a terminal put around them.

    Examples:
        >>> list(paste_lines("```\n> GROUP\r\n|---|\n"))
        [(1, ''), (2, 'GROUP')]
    """
    for number, line in enumerate(text.splitlines(), 1):
        plain = _NOISE.sub("", line).replace("\u00a0", " ").rstrip()
        if not _RULE.fullmatch(plain):
            yield number, "" if _FENCE.match(plain) else plain
