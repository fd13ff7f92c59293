r"""The text of `sasl.jaas.config`, parsed like Kafka's `JaasConfig` (4.4) with `java.io.StreamTokenizer`.

>>> parse('x.PlainLoginModule required username="alice" password="a\\"b";').options["password"]
'a"b'
>>> print(jaas_text("x.PlainLoginModule", {"username": "alice"}))
x.PlainLoginModule required username="alice";
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from partwright.errors import PartwrightError

MODULE = "jaas module"
"""The name under which the login module is kept among the settings."""
MODULES = {
    "org.apache.kafka.common.security.plain.PlainLoginModule": ("PLAIN",),
    "org.apache.kafka.common.security.scram.ScramLoginModule": ("SCRAM-SHA-256", "SCRAM-SHA-512"),
    "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule": ("OAUTHBEARER",),
    "software.amazon.msk.auth.iam.IAMLoginModule": ("AWS_MSK_IAM",),
    "com.sun.security.auth.module.Krb5LoginModule": ("GSSAPI",),
    "com.ibm.security.auth.module.Krb5LoginModule": ("GSSAPI",),
}
"""The supported login modules, with their mechanisms."""

_FLAGS = {"REQUIRED", "REQUISITE", "SUFFICIENT", "OPTIONAL"}
# Under Kafka's settings of the tokenizer `/` begins a comment, numbers are not words, all characters above 255 are
# letters, and the end of a line ends a quoted word too.
_TOKEN = re.compile(
    r"(?P<left_out>[\0- ]+|/\*.*?(?:\*/|\Z)|/[^\r\n]*)"
    r"|(?P<word>[A-Za-z_$\xa0-\U0010ffff][A-Za-z_$\xa0-\U0010ffff0-9.-]*)"
    r"""|(?P<quote>["'])(?P<quoted>(?:\\(?:.|\Z)|(?!(?P=quote))[^\\\r\n])*)(?:(?P=quote))?"""
    r"|(?P<other>.)",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?P<octal>[0-3][0-7]{0,2}|[4-7][0-7]?)|\\(?P<char>.|\Z)", re.DOTALL)
# Java turns the end of the text into a character.
_ESCAPES = {**dict(zip("abfnrtv", "\a\b\f\n\r\t\v", strict=True)), "": "\uffff"}
# A text that is certainly a class name: anything else in its place may be a secret.
_CLASS = re.compile(r"(?:[A-Za-z_][\w$]*\.)+[A-Z][\w$]*Module", re.ASCII)
_QUOTED = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})

# What people write, and Kafka refuses with a sentence that does not say why.
_FAULTS = (
    (
        re.compile(r"""^\s*["']"""),
        "it begins with a quote, and a file of settings has none around a value: leave out both",
    ),
    (
        re.compile(r"^\s*[>|]"),
        "it is a block of YAML, which a file of settings does not have: write it in one line",
    ),
    (
        re.compile(r"^\s*\w+\s*\{"),
        "it is a whole login file: give what stands between { and }, from the class of the module to its ;",
    ),
    (
        re.compile("x20required"),
        r"it has \x20 instead of a blank, which is no escape here: write the characters themselves",
    ),
    (
        re.compile(r'=\s*"(?:[^"\\]|\\.)*"(?!\s|;)|=\s*"(?:[^"\\]|\\.)*$'),
        r'a value in quotes ends early, or never: write \" for a quote in it, which is \\" in a file',
    ),
)

# A token's text and its kind: the character itself if it is not a word, the quote if it is a quoted word.
_Token: TypeAlias = tuple[str | None, str]
_NOTHING: _Token = (None, "")


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
    tokens, logins = list(_tokens(text)), []
    try:
        while tokens:
            login, tokens = _entry(tokens)
            logins.append(login)
    except PartwrightError:
        if (fault := next((fault for form, fault in _FAULTS if form.search(text)), None)) is not None:
            raise PartwrightError(fault) from None
        raise
    if len(logins) != 1:
        raise PartwrightError(f"it has {len(logins)} login modules, and a client has one")
    return logins[0]


def module_name(module: str) -> str:
    """The name of a login module in sentences: its class, if the text is a class name.

    Examples:
        >>> module_name("com.example.MyLoginModule"), module_name("hunter2")
        ("'com.example.MyLoginModule'", 'a text that does not name a class')
    """
    return repr(module) if _CLASS.fullmatch(module) else "a text that does not name a class"


def jaas_text(module: str, options: Mapping[str, str]) -> str:
    """The text from which Kafka parses this module and these options."""
    pairs = "".join(f' {name}="{_quoted(value)}"' for name, value in options.items())
    return f"{module} required{pairs};"


def _quoted(value: str) -> str:
    return value.translate(_QUOTED)


def _entry(tokens: list[_Token]) -> tuple[Login, list[_Token]]:
    """The first login module, and the tokens after it."""
    module, flag = [*(word for word, _ in tokens[:2]), None][:2]
    if module is None:
        raise PartwrightError("it does not begin with the name of a login module")
    if flag is None or flag.upper() not in _FLAGS:
        raise PartwrightError("the word required is missing behind the login module")
    options: dict[str, str] = {}
    tokens = tokens[2:]
    while tokens and tokens[0][1] != ";":
        (name, _), (_, equals), (value, _) = [*tokens[:3], _NOTHING, _NOTHING][:3]
        if name is None or value is None or equals != "=":
            raise PartwrightError(
                'an option has no value: write NAME="VALUE" for each with the quotes, and ; at the end'
            )
        options[name] = value
        tokens = tokens[3:]
    if not tokens:
        raise PartwrightError("there is no ; at its end")
    return Login(module, options), tokens[1:]


def _tokens(text: str) -> Iterator[_Token]:
    for match in _TOKEN.finditer(text):
        if match["quote"]:
            yield _ESCAPE.sub(_unescaped, match["quoted"]), match["quote"]
        elif match["word"] or match["other"]:
            yield match["word"], match["other"] or ""


def _unescaped(match: re.Match[str]) -> str:
    if match["octal"]:
        return chr(int(match["octal"], 8))
    return _ESCAPES.get(match["char"], match["char"])
