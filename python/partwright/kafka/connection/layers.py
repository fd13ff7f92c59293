"""A user's settings: each place of them, a file, a dict or -X, is a layer; upper layers win, whatever the spelling."""

from __future__ import annotations

import codecs
import os
import re
import shlex
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from partwright._check import first_line, shown
from partwright.errors import PartwrightError
from partwright.kafka.connection import jaas, names, properties
from partwright.kafka.connection.jaas import MODULE, MODULES
from partwright.kafka.connection.names import words
from partwright.kafka.connection.secret import HIDDEN, Secret, clear

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
_SECRET_WORDS = words("password passphrase secret token credential user.info jaas .pem")
_WITH_USER = re.compile(r"//[^/\s]*@")
_PROVIDED = re.compile(r"\$\{(env|file|dir|directory|secretManager|secrets|vault)[^}]*\}")

JAAS = "jaas:"
"""The beginning of the names of JAAS options that are not settings."""
_CREDENTIALS = "sasl.oauthbearer.client.credentials."
_OF_OPTIONS = {
    "username": "sasl.username",
    "password": "sasl.password",
    "clientId": f"{_CREDENTIALS}client.id",
    "clientSecret": f"{_CREDENTIALS}client.secret",
    "scope": "sasl.oauthbearer.scope",
    "serviceName": "sasl.kerberos.service.name",
    "principal": "sasl.kerberos.principal",
    "keyTab": "sasl.kerberos.keytab",
}
_CA = words("ssl.ca.location ssl.truststore.certificates ssl.truststore.location")
_TRUST = _CA | words("ssl.truststore.password ssl.truststore.type")
_PAIR = words("ssl.certificate.location ssl.key.location ssl.key.password") | words(
    "ssl.keystore.certificate.chain ssl.keystore.key"
)
_STORE = words("ssl.keystore.location ssl.keystore.password ssl.keystore.type")
_HTTPS = words("https.ca.location https.ca.pem")
_OPTION = re.compile(r"[A-Za-z0-9_.]*[A-Za-z0-9][A-Za-z0-9_.]*")
_PLACEHOLDER = re.compile(r"\{\{\s*[A-Za-z_<][\w <>.-]*\}\}")
_EXPORT = re.compile(r"(?m)^export[ \t]+(?=[A-Z])")
_AS_PROPERTIES = "write its settings into a file of lines NAME=VALUE, by Kafka's names"
_OF_JAAS_FILE = (
    "a login file of JAAS: write what stands between { and } of KafkaClient in one line, behind sasl.jaas.config=, "
    "into a file with security.protocol and sasl.mechanism"
)
_YAML = re.compile(r"(?m)^(?:[A-Za-z][\w-]*:[ \t]*|[\w.-]+:[ \t]*[|>][-+]?[ \t]*)\r?\n[ \t]+[\w-]")
_OTHER_FILES = (
    (re.compile(r"\A\s*(?:(?://|#|/\*|\*).*\n\s*)*[A-Za-z]\w*\s*\{"), _OF_JAAS_FILE),
    (re.compile(r'\A\s*\{\s*"'), f"JSON: {_AS_PROPERTIES}"),
    (_YAML, f"YAML, as a profile of rpk or application.yml: {_AS_PROPERTIES}"),
)
"""Files of clients' settings in other forms, and what they are."""
_ANY_CASE = {"security.protocol", "sasl.mechanism"}
# For a setting that contradicts a lower layer: the settings of that layer that no longer count.
_INSTEAD = {
    **dict.fromkeys(_CA, _TRUST),
    **dict.fromkeys(_HTTPS, _HTTPS),
    "ssl.keystore.location": _PAIR | _STORE,
    "ssl.certificate.location": _STORE | {"ssl.keystore.certificate.chain"},
    "ssl.keystore.certificate.chain": _STORE | {"ssl.certificate.location"},
    "ssl.key.location": _STORE | {"ssl.keystore.key"},
    "ssl.keystore.key": _STORE | {"ssl.key.location"},
}


@dataclass(frozen=True, slots=True)
class Setting:
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

    def as_option(self) -> str:
        """The value on a command line; `...` for a secret or a long text."""
        value = self.value
        is_shown = isinstance(value, str) and len(value) <= _LONGEST_OPTION and value.isprintable()
        return self.text() if is_shown else "..."


Settings: TypeAlias = Mapping[str, Setting]
"""The given settings by their single name. JAAS options have a setting's name, or `jaas:` before their own."""


@dataclass(frozen=True, slots=True)
class Layer:
    """All settings from one place, in order, each once, and the notes about that place."""

    where: str
    settings: tuple[Setting, ...]
    notes: tuple[str, ...] = ()
    is_file: bool = False

    def options(self) -> list[str]:
        """The command-line options that give the same settings, but the servers; see `KafkaConfig.options`."""
        if self.is_file:
            return ["--command-config", self.where]
        counted = (
            each for each in self.settings if each.kept_as != "bootstrap.servers" and not callable(each.value)
        )
        return [word for each in counted for word in ("-X", f"{each.name}={each.as_option()}")]


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
    text = properties.decode(data)
    if "\0" in text:
        raise PartwrightError(f"{where!r} is not a file of settings: it has a NUL", path=where)
    read, notes = _properties_of(text, where)
    settings: dict[str, Setting] = {}
    lines: dict[str, int] = {}
    for each in read:
        place = f"{where}, line {each.line}"
        _check_name(each.key, each.value, place, of_line=True)
        # Kafka and kcat both remove blanks at both ends of a value.
        setting = Setting(each.key, _wrapped(each.key, each.value.strip(_TRIMMED), place), place)
        if each.key in settings and settings[each.key].value != setting.value:
            notes.append(
                f"{where} sets {each.key} in line {lines[each.key]} and in line {each.line}: the last one counts, "
                "as for Kafka's own tools"
            )
        if each.escaped and each.key not in names.JAVA:
            notes.append(
                f"{place}: a backslash begins an escape here, as in Java, though librdkafka's tools take it as it is: "
                "write two for one"
            )
        settings[each.key] = setting
        lines[each.key] = each.line
    if not text.isascii():
        notes.append(
            f"{where} has letters beyond ASCII, which Kafka's own tools read as ISO-8859-1 and others as UTF-8: "
            "write them as \\uXXXX where both read it"
        )
    if any(isinstance(each.value, Secret) for each in settings.values()) and readable_by_others(where):
        notes.append(f"others may read the secrets in {where}: chmod 600 {shlex.quote(where)}")
    return Layer(where, tuple(settings.values()), tuple(notes), is_file=True)


def _properties_of(text: str, where: str) -> tuple[list[properties.Property], list[str]]:
    """A file's properties under their own names, and what names it was read as.

    Raises:
        PartwrightError: It has another form.
    """
    for form, kind in _OTHER_FILES:
        if form.search(text):
            raise PartwrightError(f"{where!r} is {kind}", path=where)
    try:
        read = list(properties.read(_EXPORT.sub("", text)))
    except PartwrightError as error:
        raise error.within(where, path=where) from None
    prefixed = next((each.key for each in read if names.plain_name(each.key) != each.key), None)
    if prefixed is None:
        return read, []
    return [*map(_plain, read)], [
        f"{where}: {prefixed} and the like were read as {names.plain_name(prefixed)}"
    ]


def _plain(each: properties.Property) -> properties.Property:
    """A property under its own name; a shell's quotes around a variable's value are left out."""
    name, value = names.plain_name(each.key), each.value.strip(_TRIMMED)
    if name != each.key and each.key.isupper() and value[:1] in {'"', "'"} and value[1:].endswith(value[0]):
        value = value[1:-1]
    return replace(each, key=name, value=value)


def of_mapping(settings: Mapping[str, object], where: str) -> Layer:
    """The settings of a dict; numbers and flags become text, and None counts as not given.

    Raises:
        PartwrightError: A name is not known, or a value is not text, a number or a flag.
    """
    if not isinstance(settings, Mapping):
        raise PartwrightError(f"{where} is a dict of settings, not {type(settings).__name__}")
    kept_settings: list[Setting] = []
    for given_name, value in settings.items():
        if not isinstance(given_name, str):
            raise PartwrightError(f"{where}: the name of a setting is text, not {shown(given_name)}")
        name = names.plain_name(given_name)
        text = _as_text(name, value, where)
        _check_name(name, text if isinstance(text, str) else "", where, of_line=False)
        if text is not None:
            kept = _wrapped(name, text, where) if isinstance(text, str) else text
            kept_settings.append(Setting(name, kept, where))
    return Layer(where, tuple(kept_settings))


def of_command_line(settings: Mapping[str, object]) -> Layer:
    """The settings of -X; see `of_mapping`."""
    layer = of_mapping(settings, "-X")
    has_secret = any(isinstance(each.value, Secret) for each in layer.settings)
    note = "a secret given by -X is in the process list: use --command-config FILE"
    return replace(layer, notes=(note,)) if has_secret else layer


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
    if isinstance(value, Secret):
        return value.clear()
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (bool, int, float)):
        return str(value).lower()
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
    known = name in names.REACHING or names.ALIASES.get(name) in names.REACHING
    return not known and any(word in name for word in _SECRET_WORDS)


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
    if names.has_prefix(name) and _MAY_BE_SHOWN.fullmatch(name.lower()):
        raise PartwrightError(
            f"{place}: {name} is another program's own setting{near}: write Kafka's name for it, such as "
            "ssl.truststore.location, or leave it out",
            field=name,
        )
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


def merged(layers: Sequence[Layer]) -> Settings:
    """The settings of all layers; the last layer is the uppermost.

    Raises:
        PartwrightError: A layer gives one setting two values, or `sasl.jaas.config` cannot be read or does not fit.
    """
    settings: dict[str, Setting] = {}
    for layer in layers:
        upper = _of_layer(layer)
        gone = {name for each in upper for name in _INSTEAD.get(each, ())}
        if MODULE in upper:
            gone |= {name for name in settings if name.startswith(JAAS) or name in _OF_OPTIONS.values()}
        if not _fits(settings.get(MODULE), upper.get("sasl.mechanism")):
            gone.add(MODULE)
        settings = {name: each for name, each in settings.items() if name not in gone} | upper
    settings = {name: each for name, each in settings.items() if not _is_empty(name, each)}
    module, mechanism = settings.get(MODULE), settings.get("sasl.mechanism")
    if module is not None and mechanism is not None and not _fits(module, mechanism):
        raise setting_error(
            mechanism,
            f"is {shown(mechanism.text())}, and the {module.text().split('.')[-1]} of {spoken_of(module)} is for "
            f"{' and '.join(MODULES[module.text()])}: they have to fit",
        )
    return settings


def spoken_of(setting: Setting) -> str:
    """A setting as sentences name it: its place, and its name in that place."""
    return f"{setting.place}: {setting.name}"


def setting_error(setting: Setting, predicate: str) -> PartwrightError:
    """The error about a setting, whose name and place begin the sentence."""
    return PartwrightError(f"{spoken_of(setting)} {predicate}", field=setting.name)


def value_error(setting: Setting, reason: str) -> PartwrightError:
    """The error about a setting's value, which the sentence shows after the setting's name."""
    text = setting.text()
    predicate = f"{shown(text)} {reason}"
    return setting_error(setting, predicate).knowing(value=text, reason=reason)


def text_of(settings: Settings, name: str) -> str | None:
    """A setting's value in clear text; None if it is not given."""
    return settings[name].text() if name in settings else None


def refuse_placeholder(setting: Setting) -> None:
    """Refuses a placeholder that a template left in a value, as those of Confluent Cloud do.

    Raises:
        PartwrightError: The value contains a placeholder.
    """
    if _PLACEHOLDER.search(setting.text()):
        raise setting_error(setting, "still has the placeholder {{ … }}: put the value there")


def _of_layer(layer: Layer) -> dict[str, Setting]:
    settings: dict[str, Setting] = {}
    for setting in layer.settings:
        is_jaas = setting.name == "sasl.jaas.config" and not _is_empty(setting.name, setting)
        options = _expanded(setting) if is_jaas else {setting.kept_as: setting}
        for name, each in options.items():
            other = settings.setdefault(name, each)
            if _compared(name, other) != _compared(name, each):
                raise setting_error(each, f"and {other.name} are one setting with two values: leave one out")
    return settings


def _is_empty(name: str, setting: Setting) -> bool:
    """Whether a setting counts as not given, because it is empty."""
    return name in names.NOT_GIVEN and not callable(setting.value) and not setting.text().strip()


def _fits(module: Setting | None, mechanism: Setting | None) -> bool:
    return module is None or mechanism is None or mechanism.text().upper() in MODULES[module.text()]


def _compared(name: str, setting: Setting) -> object:
    if callable(setting.value):
        return setting.value
    text = setting.text().strip()
    return text.upper() if name in _ANY_CASE else text


def _expanded(setting: Setting) -> dict[str, Setting]:
    """The module of `sasl.jaas.config`, and each of its options under the name of its setting."""
    try:
        login = jaas.parse(setting.text())
    except PartwrightError as error:
        refuse_placeholder(setting)
        raise error.within(spoken_of(setting)).knowing(field=setting.name) from None
    module = next((each for each in MODULES if f".{login.module}".endswith(f".{each}")), None)
    if module is None:
        known = ", ".join(each.split(".")[-1] for each in list(MODULES)[:5])
        name = jaas.module_name(login.module)
        raise setting_error(setting, f"has as its login module {name}, and partwright knows {known}")
    settings = {MODULE: replace(setting, value=module)}
    for option, text in login.options.items():
        name = _OF_OPTIONS.get(option, f"{JAAS}{option}")
        # An option that stands for a setting is as secret as that setting; the others count as secret.
        value = Secret(text) if name in names.SECRETS or name.startswith(JAAS) else text
        # A word that quotes have split may be part of a secret.
        shown_option = option if _OPTION.fullmatch(option) else "an option"
        settings[name] = replace(setting, name=f"{setting.name} ({shown_option})", value=value)
    return settings
