"""A user's settings as given, from a file, a dict or -X. Only the names are checked here."""

from __future__ import annotations

import codecs
import os
import re
import shlex
import stat
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from partwright._check import first_line, shown
from partwright.errors import PartwrightError
from partwright.kafka.connection import names, properties
from partwright.kafka.connection.secret import HIDDEN, Secret, clear

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = [
    "GivenSetting",
    "Layer",
    "Value",
    "file_bytes",
    "of_command_line",
    "of_file",
    "of_mapping",
    "readable_by_others",
]

# The only callback is confluent-kafka's `oauth_cb`.
Value: TypeAlias = "str | Secret | Callable[[str], object]"

_LARGEST = 4 * 2**20
_LONGEST_OPTION = 200
# Only these of the characters that Java's String.trim removes: a password may end with another one.
_TRIMMED = " \t\r\n\f\v"
_HALVES = re.compile("[\ud800-\udfff]")
_MAY_BE_SHOWN = re.compile(r"[a-z][a-z0-9_-]*(\.[a-z0-9_-]+)*")
_OF_JAAS = {"clientId", "clientSecret", "password", "scope", "username"}
_PRIVATE = "PRIVATE KEY"
_WITH_USER = re.compile(r"//[^/\s]*@")
_PROVIDED = re.compile(r"\$\{(env|file|dir|directory|secretManager|secrets|vault)[^}]*\}")


@dataclass(frozen=True, slots=True)
class GivenSetting:
    """One setting under its given name, and the place where it was given."""

    name: str
    value: Value
    place: str

    @property
    def kept_as(self) -> str:
        """The name that stands for all spellings of this setting."""
        return names.ALIASES.get(self.name, self.name)

    def text(self) -> str:
        """The value in clear text; a callback has none."""
        return clear(self.value) if isinstance(self.value, (str, Secret)) else ""


@dataclass(frozen=True, slots=True)
class Layer:
    """All settings from one place, in order, each once, and the notes about that place."""

    where: str
    given: tuple[GivenSetting, ...]
    notes: tuple[str, ...] = ()
    is_file: bool = False

    def options(self) -> list[str]:
        """The command-line options that give the same settings, but the servers; see `KafkaConfig.options`."""
        if self.is_file:
            return ["--command-config", self.where]
        words = []
        for each in self.given:
            if (
                isinstance(each.value, str)
                and len(each.value) <= _LONGEST_OPTION
                and each.value.isprintable()
            ):
                value = each.value
            else:
                value = "..."
            if each.kept_as != "bootstrap.servers" and not callable(each.value):
                words += ["-X", f"{each.name}={value}"]
        return words


def of_file(path: str | os.PathLike[str], what: str = "the configuration file") -> Layer:
    """The settings of a properties file.

    Args:
        path: The file.
        what: Its name in the sentence for a file that cannot be read.

    Raises:
        PartwrightError: It cannot be read, or is not a file with client settings.
    """
    where = os.fspath(path)
    data = file_bytes(where, what)
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise PartwrightError(f"{where!r} is in UTF-16: save it as UTF-8", path=where)
    text = properties.decoded(data)
    if "\0" in text:
        raise PartwrightError(f"{where!r} is not a file of settings: it has a NUL", path=where)
    try:
        read = list(properties.read(text))
    except PartwrightError as error:
        raise error.within(where, path=where) from None
    found: dict[str, GivenSetting] = {}
    lines: dict[str, int] = {}
    notes: list[str] = []
    for each in read:
        place = f"{where}, line {each.line}"
        _check_name(each.key, each.value, place, of_line=True)
        # Kafka and kcat both remove blanks at both ends of a value.
        given = GivenSetting(each.key, _wrapped(each.key, each.value.strip(_TRIMMED), place), place)
        if each.key in found and found[each.key].value != given.value:
            notes.append(
                f"{where} sets {each.key} in line {lines[each.key]} and in line {each.line}: the last one counts, "
                "as for Kafka's own tools"
            )
        if each.escaped and each.key not in names.JAVA:
            notes.append(
                f"{place}: a backslash begins an escape here, as in Java, though librdkafka's tools take it as it is: "
                "write two for one"
            )
        found[each.key] = given
        lines[each.key] = each.line
    if not text.isascii():
        notes.append(
            f"{where} has letters beyond ASCII, which Kafka's own tools read as ISO-8859-1 and others as UTF-8: "
            "write them as \\uXXXX where both read it"
        )
    if any(isinstance(each.value, Secret) for each in found.values()) and readable_by_others(where):
        notes.append(f"others may read the secrets in {where}: chmod 600 {shlex.quote(where)}")
    return Layer(where, tuple(found.values()), tuple(notes), is_file=True)


def of_mapping(settings: Mapping[str, object], where: str) -> Layer:
    """The settings of a dict; numbers and flags become text, and None counts as not given.

    Raises:
        PartwrightError: A name is not known, or a value is not text, a number or a flag.
    """
    if not isinstance(settings, Mapping):
        raise PartwrightError(f"{where} is a dict of settings, not {type(settings).__name__}")
    found: list[GivenSetting] = []
    for name, value in settings.items():
        if not isinstance(name, str):
            raise PartwrightError(f"{where}: the name of a setting is text, not {shown(name)}")
        text = _as_text(name, value, where)
        _check_name(name, text if isinstance(text, str) else "", where, of_line=False)
        if text is not None:
            found.append(
                GivenSetting(name, _wrapped(name, text, where) if isinstance(text, str) else text, where)
            )
    return Layer(where, tuple(found))


def of_command_line(settings: Mapping[str, object]) -> Layer:
    """The settings of -X; see `of_mapping`."""
    layer = of_mapping(settings, "-X")
    if any(isinstance(each.value, Secret) for each in layer.given):
        return replace(
            layer, notes=("a secret given by -X is in the process list: use --command-config FILE",)
        )
    return layer


def file_bytes(path: str, what: str) -> bytes:
    """A small file's bytes.

    Raises:
        PartwrightError: It does not exist or cannot be read; the sentence contains its path.
    """
    if "-----BEGIN " in path:
        # Its text may be a private key.
        raise PartwrightError(f"{what} is the path of a file, and PEM text stands there: put it into a file")
    try:
        with Path(path).open("rb") as file:
            data = file.read(_LARGEST + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else first_line(error)
        raise PartwrightError(f"{what} {path!r} cannot be read: {reason.lower()}", path=path) from None
    if len(data) > _LARGEST:
        raise PartwrightError(f"{what} {path!r} is larger than 4 MiB: name another file", path=path)
    return data


def readable_by_others(path: str) -> bool:
    """Whether group or others have any permission on a file; always False on Windows, whose permissions differ."""
    status = Path(path).stat()
    return os.name != "nt" and stat.S_ISREG(status.st_mode) and bool(status.st_mode & 0o077)


def _as_text(name: str, value: object, where: str) -> str | Callable[[str], object] | None:
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, Secret):
        return value.clear()
    if name in {"default.topic.config", "logger"}:
        return HIDDEN
    if callable(value):
        if name not in names.CALLBACKS:
            raise PartwrightError(f"{where}: {name} is text, not a function", field=name)
        return value
    # The value may contain a secret, so only its type is shown.
    raise PartwrightError(f"{where}: {name} is text, not {type(value).__name__}", field=name)


def _wrapped(name: str, value: str, place: str) -> str | Secret:
    if "\0" in value:
        raise PartwrightError(f"{place}: {name} has a NUL, which ends a text in librdkafka", field=name)
    if _HALVES.search(value):
        raise PartwrightError(f"{place}: {name} is not text in UTF-8: write it in UTF-8", field=name)
    if name == "config.providers" or name.startswith("config.providers.") or _PROVIDED.search(value):
        raise PartwrightError(
            f"{place}: {name} is for Kafka's config.providers, which run in Java alone: write the value itself, or "
            "give it by -X",
            field=name,
        )
    # An address may contain a user and a password before the host, and a PEM text may contain a key.
    may_hide = _WITH_USER.search(value) or _PRIVATE in value
    if names.ALIASES.get(name, name) in names.SECRETS or _sounds_secret(name) or may_hide:
        return Secret(value)
    return value.strip(_TRIMMED)


def _sounds_secret(name: str) -> bool:
    """Whether an unused setting may contain a secret, for example one of a schema registry."""
    words: Iterable[str] = (
        "password",
        "passphrase",
        "secret",
        "token",
        "credential",
        "user.info",
        "jaas",
        ".pem",
    )
    known = name in names.REACHING or names.ALIASES.get(name) in names.REACHING
    return not known and any(word in name for word in words)


def _check_name(name: str, value: str, place: str, *, of_line: bool) -> None:
    if names.is_known(name):
        return
    if name in _OF_JAAS and of_line:
        raise PartwrightError(
            f"{place}: {name} is an option within sasl.jaas.config: end each line of its text but the last with a "
            "backslash and nothing behind it",
            field=name,
        )
    near = names.nearest(name)
    # A line that is not a setting may be part of a secret: of a key whose lines do not end with a backslash.
    if not _MAY_BE_SHOWN.fullmatch(name) or not (near or ("." in name and (value or not of_line))):
        raise PartwrightError(
            f"{place} does not begin with a setting's name{near}; if it continues the line before, that one has to end "
            "with a backslash and nothing behind it"
            if of_line
            else f"{place}: no client of Kafka has a setting of this name{near or ': check its spelling'}"
        )
    raise PartwrightError(
        f"{place}: no client of Kafka has a setting {name!r}{near or ': check its spelling, or leave it out'}",
        field=name,
        value=name,
    )
