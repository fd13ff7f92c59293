"""The client configuration: read once, and translated for Java, librdkafka and `ssl`."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from partwright._check import meant
from partwright.errors import PartwrightError
from partwright.kafka.address import bootstrap_servers, schemes
from partwright.kafka.connection import names
from partwright.kafka.connection.jaas import MODULE
from partwright.kafka.connection.layers import (
    JAAS,
    merged,
    of_command_line,
    of_file,
    of_mapping,
    refuse_placeholder,
    setting_error,
    spoken_of,
    text_of,
    value_error,
)
from partwright.kafka.connection.sasl import read_sasl
from partwright.kafka.connection.secret import Secret, SecretHolder, without
from partwright.kafka.connection.tls import read_tls

if TYPE_CHECKING:
    from partwright.kafka.connection.layers import Layer, Setting, Settings
    from partwright.kafka.connection.sasl import Sasl
    from partwright.kafka.connection.tls import Tls

_OF_SASL = ("sasl.", JAAS, "enable.sasl.", "oauth_cb", "https.ca.", MODULE)
_OF_TLS = ("ssl.", "enable.ssl.")
_SHOWN = 8


def notes_of(
    settings: Settings, protocol: str, sasl: Sasl | None, used: Collection[str], tls: Tls | None
) -> Iterator[str]:
    """The sentences about settings that no client uses, or not every client."""
    spelled = {name: each.name for name, each in settings.items() if name not in names.JAVA_ALONE}
    unused = [
        each
        for name, each in spelled.items()
        if not (name in names.REACHING or name in names.COMMON or name.startswith((JAAS, MODULE)))
    ]
    if unused:
        yield f"not used, since they do not matter for reaching a Kafka: {_listed(unused)}"
    if of_java := settings.keys() - spelled.keys():
        yield f"only Spark's Java client gets {_listed(of_java)}: librdkafka has no such setting"
    which = f"{protocol}{'' if 'security.protocol' in settings else ', which is the default'}"
    of_sasl = {name: each for name, each in spelled.items() if name.startswith(_OF_SASL)}
    if sasl is None and of_sasl:
        better = "SASL_SSL" if protocol.startswith("SSL") else "SASL_SSL or SASL_PLAINTEXT"
        yield f"not used, since security.protocol is {which}: {_listed(of_sasl.values())}; with SASL it is {better}"
    elif sasl is not None and (unused := [each for name, each in of_sasl.items() if name not in used]):
        yield f"not used with sasl.mechanism {sasl.mechanism}: {_listed(unused)}"
    of_tls = [each for name, each in spelled.items() if name.startswith(_OF_TLS)]
    if tls is not None:
        yield from tls.notes
    elif of_tls:
        better = "SASL_SSL" if protocol.startswith("SASL") else "SSL or SASL_SSL"
        yield f"not used, since security.protocol is {which}: {_listed(of_tls)}; with TLS it is {better}"
    servers = settings.get("bootstrap.servers")
    if servers is not None and (other := schemes(servers.text()) - {protocol}):
        listed = ", ".join(f"{each}://" for each in sorted(other))
        yield f"bootstrap.servers says {listed}, which Kafka's clients ignore: security.protocol is {which}"
    for name in settings.keys() & names.COMMON.keys():
        translated = names.for_librdkafka(name, names.checked_value(name, settings[name].text()))
        if translated and translated[2]:
            yield translated[2]


def _listed(spellings: Iterable[str]) -> str:
    once = sorted(set(spellings))
    more = len(once) - _SHOWN
    return ", ".join(once[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


_PACKAGE = __name__.partition(".")[0]

VARIABLE = "PARTWRIGHT_COMMAND_CONFIG"
"""The environment variable that names the file if none is given."""
_SERVERS, _PROTOCOL = "bootstrap.servers", "security.protocol"
_ARGUMENT = "servers"
_SECRET_OPTIONS = ("password", "passphrase", "secret", "token", "creds")
_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")


@dataclass(frozen=True, repr=False)
class KafkaConfig(SecretHolder):
    """The configuration with which clients connect to a Kafka; `read` makes one.

    Two are equal if they connect to the same servers in the same way, whatever the spelling. A configuration contains
    secrets: no `repr` or `str` of it or its parts shows them, and it cannot be pickled.

    Attributes:
        servers: `bootstrap.servers` as host:port, separated by commas; None if none are given.
        security_protocol: `security.protocol`: PLAINTEXT (the default), SSL, SASL_PLAINTEXT or SASL_SSL.
        mechanism: `sasl.mechanism`; None without SASL.
        notes: Sentences to show once: about unused settings, and files that other users can read.
        sasl: How clients log in; None without SASL.
        tls: The TLS settings; None without TLS.
        layers: The given settings; later layers win. A secret is a `Secret` there.

    Examples:
        >>> settings = {"sasl.mechanism": "PLAIN", "sasl.username": "alice", "sasl.password": "hunter2"}
        >>> config = KafkaConfig.read(settings, settings={"security.protocol": "sasl_ssl"}, servers="a:9092")
        >>> config
        KafkaConfig(a:9092, SASL_SSL, PLAIN)
        >>> config.redacted("hunter2 is wrong")
        '[hidden] is wrong'
        >>> print(config.java()["security.protocol"], config.librdkafka()["sasl.username"])
        SASL_SSL alice
    """

    servers: str | None
    security_protocol: str
    mechanism: str | None
    notes: tuple[str, ...] = field(compare=False)
    sasl: Sasl | None
    tls: Tls | None
    _common: tuple[tuple[str, str], ...]
    _of_java: tuple[tuple[str, str], ...]
    layers: tuple[Layer, ...] = field(compare=False)
    _secrets: frozenset[Secret] = field(compare=False)

    @classmethod
    def read(
        cls,
        config: KafkaConfig | Mapping[str, object] | str | os.PathLike[str] | None = None,
        *,
        settings: Mapping[str, str] | None = None,
        servers: str | None = None,
    ) -> KafkaConfig:
        """Reads a configuration with the names of Java's clients, of librdkafka, or both.

        Args:
            config: A dict of settings; the path of a properties file, as Kafka's own tools and kcat take one; the
                servers alone, `host:port` (unless a file has that name); a configuration; or None for the file in
                PARTWRIGHT_COMMAND_CONFIG, if that is set, which also goes with servers alone.
            settings: Single settings that override those with the same meaning, whatever the spelling.
            servers: They override `bootstrap.servers`.

        Raises:
            PartwrightError: A file cannot be read, a name or a value is refused, or two contradict each other.
            MissingExtraError: A store or a key needs `cryptography`, which is not installed.
        """
        layers = _layers_of(config)
        if settings:
            layers = (*layers, of_command_line(settings))
        if servers is not None:
            layers = (*layers, of_mapping({_SERVERS: servers}, _ARGUMENT))
        if isinstance(config, KafkaConfig) and layers == config.layers:
            return config
        return cls._of(layers)

    @classmethod
    def _of(cls, layers: tuple[Layer, ...]) -> KafkaConfig:
        settings = merged(layers)
        _refuse_open(settings)
        protocol = _protocol(settings)
        sasl, used = read_sasl(settings) if protocol.startswith("SASL") else (None, set())
        tls = read_tls(settings) if protocol.endswith("SSL") else None
        common = {
            name: names.checked_value(name, each.text(), spoken_of(each))
            for name, each in settings.items()
            if name in names.COMMON
        }
        servers = text_of(settings, _SERVERS)
        return cls(
            None if servers is None else bootstrap_servers(servers, _spoken_of_servers(settings[_SERVERS])),
            protocol,
            sasl.mechanism if sasl else None,
            (
                *(note for layer in layers for note in layer.notes),
                *notes_of(settings, protocol, sasl, used, tls),
            ),
            sasl,
            tls,
            tuple(sorted(common.items())),
            tuple(sorted((name, each.text()) for name, each in settings.items() if name in names.JAVA_ALONE)),
            layers,
            _secrets_of(layers, settings, tls),
        )

    def required_servers(self) -> str:
        """The servers.

        Raises:
            PartwrightError: None are given.

        Examples:
            >>> KafkaConfig.read({"bootstrap.servers": "a:9092"}).required_servers()
            'a:9092'
        """
        if self.servers is None:
            raise PartwrightError(
                "no Kafka is named: give its address, such as kafka://host:port, or bootstrap.servers in the "
                "configuration",
                field=_SERVERS,
            )
        return self.servers

    def librdkafka(self) -> dict[str, object]:
        """The settings for any kind of client of confluent-kafka. Secrets are in clear text.

        Java's key stores become PEM texts. `oauth_cb` is set if Python makes the token.

        Raises:
            PartwrightError: The installed librdkafka lacks a requested feature, or the AWS region is not known.
            MissingExtraError: A mechanism needs a package that is not installed.
        """
        settings: dict[str, object] = {_PROTOCOL: self.security_protocol}
        if self.servers is not None:
            settings[_SERVERS] = self.servers
        if self.tls is not None:
            settings |= self.tls.librdkafka()
        if self.sasl is not None:
            settings |= self.sasl.librdkafka(self.servers)
        return settings | self._tuning(reading=False)

    def reading(self) -> dict[str, object]:
        """The further settings that only a consumer takes, with librdkafka's names: for example `fetch.max.bytes`.

        Examples:
            >>> KafkaConfig.read({"fetch.max.wait.ms": 100, "acks": "all"}).reading()
            {'fetch.wait.max.ms': '100'}
        """
        return self._tuning(reading=True)

    def java(self) -> dict[str, str]:
        """The settings with Java's names, for Spark (after `kafka.`) and Kafka's own tools. Secrets are in clear text.

        Key stores and files of certificates and keys become PEM texts, so that executors need no files.

        Raises:
            PartwrightError: librdkafka's settings ask for what Java's clients do not have.
        """
        settings = {_PROTOCOL: self.security_protocol}
        if self.servers is not None:
            settings[_SERVERS] = self.servers
        if self.tls is not None:
            settings |= self.tls.java()
        if self.sasl is not None:
            settings |= self.sasl.java()
        return settings | self._tuning_of_java(reading=False) | dict(self._of_java)

    def java_reading(self) -> dict[str, str]:
        """The further settings that only a consumer takes, with Java's names.

        Examples:
            >>> KafkaConfig.read({"fetch.wait.max.ms": 100, "acks": "all"}).java_reading()
            {'fetch.max.wait.ms': '100'}
        """
        return self._tuning_of_java(reading=True)

    def secrets(self) -> frozenset[str]:
        """All values that are never shown: passwords, JAAS texts, client secrets, private keys."""
        return frozenset(each.clear() for each in self._secrets)

    def redacted(self, text: str) -> str:
        """A text with `[hidden]` in place of each secret."""
        return without(text, self.secrets())

    def options(self) -> list[str]:
        """The command-line options for the same settings but the servers; `...` stands for a secret or a long text.

        Examples:
            >>> KafkaConfig.read({"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN", "sasl.username": "alice",
            ...                   "sasl.password": "hunter2"}).options()[-4:]
            ['-X', 'sasl.username=alice', '-X', 'sasl.password=...']
        """
        return [word for layer in self.layers for word in layer.options()]

    def _settings_for(self, *, reading: bool) -> Iterator[tuple[str, str]]:
        """The settings of every client that are for reading records, or the others."""
        return ((name, value) for name, value in self._common if (name in names.READING) == reading)

    def _tuning(self, *, reading: bool) -> dict[str, object]:
        translated = (names.for_librdkafka(*each) for each in self._settings_for(reading=reading))
        settings: dict[str, object] = {each[0]: each[1] for each in translated if each is not None}
        if not settings.keys().isdisjoint(names.RECONNECT):
            # Java then always waits the first time; librdkafka refuses a first wait above the longest.
            waits = (int(str(settings.get(name, usual))) for name, usual in names.RECONNECT.items())
            settings["reconnect.backoff.max.ms"] = str(max(waits))
        return settings

    def _tuning_of_java(self, *, reading: bool) -> dict[str, str]:
        return dict(filter(None, (names.for_java(*each) for each in self._settings_for(reading=reading))))

    def __repr__(self) -> str:
        parts = [self.servers or "no servers", self.security_protocol, *filter(None, [self.mechanism])]
        return f"KafkaConfig({', '.join(parts)})"


def _layers_of(source: object) -> tuple[Layer, ...]:
    if isinstance(source, KafkaConfig):
        return source.layers
    if source is None:
        named = os.environ.get(VARIABLE)
        return (of_file(named, f"the configuration file of {VARIABLE}"),) if named else ()
    if isinstance(source, Mapping):
        return (of_mapping(source, "kafka_config"),)
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        if isinstance(source, str) and ":" in source and "/" not in source and not Path(source).exists():
            # Servers alone, which `bootstrap_servers` checks.
            return (*_layers_of(None), of_mapping({_SERVERS: source}, _ARGUMENT))
        if isinstance(path, str) and path:
            return (of_file(path),)
        if not path:
            raise PartwrightError("the path of the configuration file is empty: name a file")
    raise PartwrightError(
        f"a configuration is host:port, a dict of settings or the path of a file, not a {type(source).__name__}"
    )


def _refuse_open(settings: Settings) -> None:
    """Refuses values that the user still has to fill in."""
    for name, each in settings.items():
        counts = name in names.REACHING or name in names.COMMON
        if counts or name.startswith(JAAS):
            refuse_placeholder(each)
        if counts and name not in names.EMPTY and not callable(each.value) and not each.text().strip():
            raise setting_error(each, "is empty: give it a value, or leave it out")


def _spoken_of_servers(setting: Setting) -> str:
    # An argument has no place to name, only the setting itself.
    return _SERVERS if setting.place == _ARGUMENT else spoken_of(setting)


def _protocol(settings: Settings) -> str:
    text = text_of(settings, _PROTOCOL) or _PROTOCOLS[0]
    if text.upper() not in _PROTOCOLS:
        near = meant(text.upper(), _PROTOCOLS)
        raise value_error(settings[_PROTOCOL], f"is not one of {', '.join(_PROTOCOLS)}{near}")
    return text.upper()


def _secrets_of(layers: tuple[Layer, ...], settings: Settings, tls: Tls | None) -> frozenset[Secret]:
    """All values that must never be shown, of used and of unused settings."""
    values = [each.value for layer in layers for each in layer.settings]
    values += [each.value for name, each in settings.items() if each.name != name and _is_secret_option(name)]
    if tls is not None and tls.client is not None:
        values.append(tls.client.key)
    return frozenset(each for each in values if isinstance(each, Secret) and _hides(each))


def _is_secret_option(name: str) -> bool:
    return name in names.SECRETS or any(word in name.lower() for word in _SECRET_OPTIONS)


def _hides(secret: Secret) -> bool:
    """Whether the value is secret: a certificate chain is, if its key is in the same text."""
    text = secret.clear()
    return bool(text) and ("-----BEGIN " not in text or "PRIVATE KEY" in text)


KafkaConfigLike: TypeAlias = KafkaConfig | Mapping[str, object] | str | os.PathLike[str] | None


def configured(kafka_config: KafkaConfigLike, servers: str | None = None) -> KafkaConfig:
    """The result of `KafkaConfig.read`; each of its notes becomes a warning.

    A caller with a `KafkaConfig` already has its notes, so they are not repeated.

    Args:
        kafka_config: The client configuration.
        servers: Those of an address next to it; they override those of the file in PARTWRIGHT_COMMAND_CONFIG.

    Raises:
        PartwrightError: It cannot be read, or names other servers than the address.
        MissingExtraError: A store or a key needs `cryptography`, which is not installed.
    """
    config = KafkaConfig.read(kafka_config, servers=servers)
    if servers is not None and kafka_config is not None:
        text = text_of(merged(config.layers[:-1]), _SERVERS)
        own = None if text is None else bootstrap_servers(text)
        if own is not None and {*own.split(",")} != {*config.required_servers().split(",")}:
            raise PartwrightError(
                f"the address names the Kafka at {config.servers}, and kafka_config= the one at {own}: leave one of "
                "them out",
                field=_SERVERS,
                value=own,
            )
    if not isinstance(kafka_config, KafkaConfig):
        level = _callers_level()
        for note in config.notes:
            warnings.warn(note, UserWarning, stacklevel=level)
    return config


def _callers_level() -> int:
    """The `stacklevel` for `warnings.warn` in `configured` that points at the first caller outside partwright."""
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        frame, level = frame.f_back, level + 1
    return level
