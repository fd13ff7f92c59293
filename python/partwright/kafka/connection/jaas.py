r"""The text of `sasl.jaas.config`, parsed like Kafka's `JaasConfig` (4.4) with `java.io.StreamTokenizer`.

>>> parse('x.PlainLoginModule required username="alice" password="a\\"b";').options["password"]
'a"b'
>>> print(written("x.PlainLoginModule", {"username": "alice"}))
x.PlainLoginModule required username="alice";
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Login", "named", "parse", "written"]

_FLAGS = {"REQUIRED", "REQUISITE", "SUFFICIENT", "OPTIONAL"}
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_ENDS = "\r\n"
_OCTAL = "01234567"
_QUOTES = "\"'"
_IN_NUMBERS = "0123456789.-"
# A text that is certainly a class name: anything else in its place may be a secret.
_CLASS = re.compile(r"(?:[A-Za-z_][\w$]*\.)+[A-Z][\w$]*Module", re.ASCII)
_LINE_ENDS = {"\n": "\\n", "\r": "\\r"}

# A token's text and its kind: the character itself if it is not a word, the quote if it is a quoted word.
_Token: TypeAlias = tuple[str | None, str]


@dataclass(frozen=True)
class Login:
    """One login module with its options. They contain secrets, so no `repr` shows them."""

    module: str
    options: Mapping[str, str] = field(repr=False)


def parse(text: str) -> Login:
    """The one login module of a client's `sasl.jaas.config`.

    Raises:
        PartwrightError: Kafka refuses the text too. The sentence gives the reason and shows nothing of the text.
    """
    tokens = list(_tokens(text))
    found: list[Login] = []
    at = 0
    while at < len(tokens):
        login, at = _entry(tokens, at)
        found.append(login)
    if len(found) != 1:
        raise PartwrightError(f"it has {len(found)} login modules, and a client has one")
    return found[0]


def named(module: str) -> str:
    """The name of a login module in sentences: its class, if the text is a class name.

    Examples:
        >>> named("com.example.MyLoginModule"), named("hunter2")
        ("'com.example.MyLoginModule'", 'a text that does not name a class')
    """
    return repr(module) if _CLASS.fullmatch(module) else "a text that does not name a class"


def written(module: str, options: Mapping[str, str]) -> str:
    """The text from which Kafka parses this module and these options."""
    pairs = "".join(f' {name}="{_quoted(value)}"' for name, value in options.items())
    return f"{module} required{pairs};"


def _quoted(value: str) -> str:
    for char, escape in {"\\": "\\\\", '"': '\\"', **_LINE_ENDS}.items():
        value = value.replace(char, escape)
    return value


def _entry(tokens: list[_Token], at: int) -> tuple[Login, int]:
    module = tokens[at][0]
    if module is None:
        raise PartwrightError("it does not begin with the name of a login module")
    flag = tokens[at + 1][0] if at + 1 < len(tokens) else None
    if flag is None or flag.upper() not in _FLAGS:
        raise PartwrightError("the word required is missing behind the login module")
    options: dict[str, str] = {}
    at += 2
    while at < len(tokens) and tokens[at][1] != ";":
        name = tokens[at][0]
        given = tokens[at + 2][0] if at + 2 < len(tokens) and tokens[at + 1][1] == "=" else None
        if name is None or given is None:
            raise PartwrightError(
                'an option has no value: write NAME="VALUE" for each with the quotes, and ; at the end'
            )
        options[name] = given
        at += 3
    if at >= len(tokens):
        raise PartwrightError("there is no ; at its end")
    return Login(module, options), at + 1


def _tokens(text: str) -> Iterator[_Token]:
    """The tokens under Kafka's tokenizer settings: `/` begins a comment, and numbers are not words."""
    at = 0
    while at < len(text):
        char = text[at]
        if char <= " ":
            at += 1
        elif _begins_word(char):
            begun = at
            while at < len(text) and (_begins_word(text[at]) or text[at] in _IN_NUMBERS):
                at += 1
            yield text[begun:at], ""
        elif char in _QUOTES:
            word, at = _quote(text, at)
            yield word, char
        elif char == "/":
            at = _behind_comment(text, at)
        else:
            at += 1
            yield None, char


def _begins_word(char: str) -> bool:
    # The tokenizer's own letters (all characters above 255), and those that Kafka adds.
    return (char.isascii() and char.isalpha()) or char in "_$" or char >= "\xa0"


def _quote(text: str, at: int) -> tuple[str, int]:
    """The word between quotes, and the place after it. The end of the line ends it too."""
    quote, at = text[at], at + 1
    out: list[str] = []
    while at < len(text) and text[at] != quote and text[at] not in _ENDS:
        char = text[at]
        at += 1
        if char == "\\":
            char, at = _escape(text, at)
        out.append(char)
    return "".join(out), at + (at < len(text) and text[at] == quote)


def _escape(text: str, at: int) -> tuple[str, int]:
    if at == len(text):
        # Java turns the end of the text into a character.
        return "\uffff", at
    char = text[at]
    if char not in _OCTAL:
        return _ESCAPES.get(char, char), at + 1
    most = 3 if char <= "3" else 2
    end = at
    while end < len(text) and end - at < most and text[end] in _OCTAL:
        end += 1
    return chr(int(text[at:end], 8)), end


def _behind_comment(text: str, at: int) -> int:
    if text[at + 1 : at + 2] == "*":
        end = text.find("*/", at + 2)
        return len(text) if end < 0 else end + 2
    while at < len(text) and text[at] not in _ENDS:
        at += 1
    return at
