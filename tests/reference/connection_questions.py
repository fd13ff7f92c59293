"""Makes up files of settings and texts of JAAS: well-formed ones, and ones with every character that matters."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["questions"]

_OF_FILES = [
    *"ab=: \t\f#!\\\n\r",
    "\\\n",
    "\\\r\n",
    "\\=",
    "\\:",
    "\\ ",
    "\\t",
    "\\u00e4",
    "\\uD83D\\uDE00",
    "ä",
    "\n",
]
_BROKEN = ["\\u12", "\\uzzzz"]
_OF_JAAS = [
    *"ab1-$_!=;/*\"'\\ \t\n.",
    '"',
    "=",
    ";",
    "//",
    "/*",
    "*/",
    "\\n",
    "\\101",
    "\\8",
    "ä",
    "\x90",
    "\x80",
    "€",
]
_FLAGS = ["required", "REQUIRED", "requisite", "sufficient", "optional", "must", ""]
_FILES = [
    "a=1\na=2\n",
    "  a\\\n    b \\\n\tc = d\\\n  e\\\n",
    "# a comment \\\na=b\n! another\r\n c:d\r",
    "a\\=b\\:c\\ d = e=f:g \n",
    "a\n=b\n:c\n",
    "\\\n#a=b\n",
    "a=\\u00fC\\t\\q\\\\\n\\u0061=1",
    "a=b\\",
    "a=b\\\\\nc=d",
    "\\",
    "\\\n",
    "\\\r\n",
    "\\\n\n",
    "a=b\n\\\n\\",
]
_TEXTS = [
    'x.Plain required username="alice" password="a\\"b\\\\c";',
    "x.Plain required username=alice password='a b' ;",
    'x.Plain required username="a" password="b"',
    'x.Plain required username="a";y.Plain required;',
    "",
    ";",
    "x.Plain required a=;",
    "x.Plain",
    'x.Plain required // comment\n a="b" /* c="d" */ e="f";',
    "x.Plain required a=b/c;\nd=e;",
    'x.Plain required a="line\nbreak";',
    'x.Plain required a="\\101\\18\\477\\n\\q";',
    '"x.Plain" "required" "a"="b";',
    "x.Plain required a=b1.-$_ c=-;",
    "x.Plain required a=1b;",
    "x.Plain required a=.b;",
    "x.Plain required a=--1.2.3;",
    "x.Plain required a=b!;",
]


def questions(seed: int, count: int) -> Iterator[dict[str, Any]]:
    """The names of settings, the files and texts above, and this many random ones of each."""
    yield {"names": True}
    yield from ({"properties": text} for text in _FILES)
    yield from ({"jaas": text} for text in _TEXTS)
    drawn = random.Random(f"connection {seed}")
    for _ in range(count):
        signs = _OF_FILES + (_BROKEN if drawn.random() < 0.1 else [])
        yield {"properties": "".join(drawn.choices(signs, k=drawn.randrange(40)))}
        yield {"jaas": _jaas(drawn)}


def _jaas(drawn: random.Random) -> str:
    if drawn.random() < 0.3:
        return "".join(drawn.choices(_OF_JAAS, k=drawn.randrange(30)))
    options = [_option(drawn) for _ in range(drawn.randrange(4))]
    flag = drawn.choice(_FLAGS) if drawn.random() < 0.2 else "required"
    return f"x.Module {flag} {' '.join(options)}{drawn.choice([';', ';', ' ;', ''])}"


def _option(drawn: random.Random) -> str:
    value = "".join(
        drawn.choices([each for each in _OF_JAAS if each not in {'"', "'"}], k=drawn.randrange(8))
    )
    quote = drawn.choice(['"', '"', "'", ""])
    return f"{drawn.choice('abc')}{drawn.choice(['=', ' = '])}{quote}{value}{quote}"
