"""The client configuration: read once, and translated for Java, librdkafka and `ssl`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from partwright._check import meant, shown
from partwright.errors import PartwrightError
from partwright.kafka.connection import common, names, sasl, slots, tls
from partwright.kafka.connection.layers import of_command_line, of_file, of_mapping
from partwright.kafka.connection.notes import notes_of, secrets_of
from partwright.kafka.connection.secret import HIDDEN, Secret, without
from partwright.kafka.connection.servers import bootstrap_servers

if TYPE_CHECKING:
    from partwright.kafka.connection.layers import GivenSetting, Layer
    from partwright.kafka.connection.sasl import Sasl
    from partwright.kafka.connection.slots import Slots
    from partwright.kafka.connection.tls import Tls, TlsMaterial

__all__ = ["VARIABLE", "KafkaConfig"]

VARIABLE = "PARTWRIGHT_COMMAND_CONFIG"
"""The environment variable that names the file if none is given."""
_SERVERS, _PROTOCOL = "bootstrap.servers", "security.protocol"
_ARGUMENT = "servers"
_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")


@dataclass(frozen=True, repr=False)
class KafkaConfig:
    """The configuration with which clients connect to a Kafka; `read` makes one.

    Two are equal if they connect to the same servers in the same way, whatever the spelling. A configuration contains
    secrets: no `repr` or `str` of it or its parts shows them, and it cannot be pickled.

    Attributes:
        servers: `bootstrap.servers` as host:port, separated by commas; None if none are given.
        security_protocol: `security.protocol`: PLAINTEXT (the default), SSL, SASL_PLAINTEXT or SASL_SSL.
        mechanism: `sasl.mechanism`; None without SASL.
        notes: Sentences to show once: about unused settings, and files that other users can read.
        layers: The given settings; later layers win. A secret is a `Secret` there.

    Examples:
        >>> settings = {"sasl.mechanism": "PLAIN", "sasl.username": "alice", "sasl.password": "hunter2"}
        >>> config = KafkaConfig.read(settings, settings={"security.protocol": "sasl_ssl"}, servers="a:9092")
        >>> config
        KafkaConfig(a:9092, SASL_SSL, PLAIN)
        >>> config.shown()["sasl.password"], config.redacted("hunter2 is wrong")
        ('[hidden]', '[hidden] is wrong')
        >>> print(config.java()["security.protocol"], config.librdkafka()["sasl.username"])
        SASL_SSL alice
    """

    servers: str | None
    security_protocol: str
    mechanism: str | None
    notes: tuple[str, ...] = field(compare=False)
    _sasl: Sasl | None
    _tls: Tls | None
    _common: tuple[tuple[str, str], ...]
    _of_java: tuple[tuple[str, str], ...]
    layers: tuple[Layer, ...] = field(compare=False)
    _secrets: frozenset[Secret] = field(compare=False)

    @classmethod
    def read(
        cls,
        given: KafkaConfig | Mapping[str, object] | str | os.PathLike[str] | None = None,
        *,
        settings: Mapping[str, str] | None = None,
        servers: str | None = None,
    ) -> KafkaConfig:
        """Reads a configuration with the names of Java's clients, of librdkafka, or both.

        Args:
            given: A dict of settings; the path of a properties file, as Kafka's own tools and kcat take one; the
                servers alone, `host:port` (unless a file has that name); a configuration; or None for the file in
                PARTWRIGHT_COMMAND_CONFIG, if that is set, which also goes with servers alone.
            settings: Single settings that override those with the same meaning, whatever the spelling.
            servers: They override `bootstrap.servers`.

        Raises:
            PartwrightError: A file cannot be read, a name or a value is refused, or two contradict each other.
            MissingExtraError: A store or a key needs `cryptography`, which is not installed.
        """
        found = _layers_of(given)
        if settings:
            found = (*found, of_command_line(settings))
        if servers is not None:
            found = (*found, of_mapping({_SERVERS: servers}, _ARGUMENT))
        if isinstance(given, KafkaConfig) and found == given.layers:
            return given
        return cls._of(found)

    @classmethod
    def _of(cls, found: tuple[Layer, ...]) -> KafkaConfig:
        given = slots.merged(found)
        _refuse_open(given)
        protocol = _protocol(given)
        login, used = sasl.of(given) if protocol.startswith("SASL") else (None, set())
        wrapped = tls.of(given) if protocol.endswith("SSL") else None
        shared = {
            name: common.checked(name, each.text(), slots.spoken_of(each))
            for name, each in given.items()
            if name in common.COMMON
        }
        own = {name: each.text() for name, each in given.items() if name in names.JAVA_ALONE}
        return cls(
            bootstrap_servers(given[_SERVERS].text(), _spoken_of_servers(given[_SERVERS]))
            if _SERVERS in given
            else None,
            protocol,
            login.mechanism if login else None,
            (
                *(note for layer in found for note in layer.notes),
                *notes_of(given, protocol, login, used, wrapped),
            ),
            login,
            wrapped,
            tuple(sorted(shared.items())),
            tuple(sorted(own.items())),
            found,
            secrets_of(found, given, wrapped),
        )

    def at(self, servers: str) -> KafkaConfig:
        """The same configuration with other servers.

        Raises:
            PartwrightError: One of them is not host:port.

        Examples:
            >>> KafkaConfig.read({"bootstrap.servers": "a:9092"}).at("b:9092").servers
            'b:9092'
        """
        layer = of_mapping({_SERVERS: servers}, _ARGUMENT)
        return replace(self, servers=bootstrap_servers(servers), layers=(*self.layers, layer))

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
        found: dict[str, object] = {_PROTOCOL: self.security_protocol}
        if self.servers is not None:
            found[_SERVERS] = self.servers
        if self._tls is not None:
            found |= self._tls.librdkafka()
        if self._sasl is not None:
            found |= self._sasl.librdkafka(self.servers)
        return found | self._tuning(reading=False)

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
        found = {_PROTOCOL: self.security_protocol}
        if self.servers is not None:
            found[_SERVERS] = self.servers
        if self._tls is not None:
            found |= self._tls.java()
        if self._sasl is not None:
            found |= self._sasl.java()
        return found | self._tuning_of_java(reading=False) | dict(self._of_java)

    def java_reading(self) -> dict[str, str]:
        """The further settings that only a consumer takes, with Java's names.

        Examples:
            >>> KafkaConfig.read({"fetch.wait.max.ms": 100, "acks": "all"}).java_reading()
            {'fetch.max.wait.ms': '100'}
        """
        return self._tuning_of_java(reading=True)

    def tls(self) -> TlsMaterial | None:
        """The TLS settings for the standard library's `ssl`; None without TLS."""
        return self._tls.material() if self._tls else None

    def secrets(self) -> frozenset[str]:
        """All values that are never shown: passwords, JAAS texts, client secrets, private keys."""
        return frozenset(each.clear() for each in self._secrets)

    def redacted(self, text: str) -> str:
        """A text with `[hidden]` in place of each secret."""
        return without(text, self.secrets())

    def shown(self) -> dict[str, str]:
        """The effective settings as given, with `[hidden]` for secrets."""
        found: dict[str, str] = {}
        for given in slots.merged(self.layers).values():
            name = given.name.partition(" ")[0]
            hidden = isinstance(given.value, Secret) or name != given.name
            found[name] = (
                HIDDEN if hidden else given.text() or ("a function" if callable(given.value) else "")
            )
        return {name: self.redacted(value) if value != HIDDEN else HIDDEN for name, value in found.items()}

    def options(self) -> list[str]:
        """The command-line options for the same settings but the servers; `...` stands for a secret or a long text.

        Examples:
            >>> KafkaConfig.read({"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN", "sasl.username": "alice",
            ...                   "sasl.password": "hunter2"}).options()[-4:]
            ['-X', 'sasl.username=alice', '-X', 'sasl.password=...']
        """
        return [word for layer in self.layers for word in layer.options()]

    def _tuning(self, *, reading: bool) -> dict[str, object]:
        chosen = (each for each in self._common if (each[0] in names.READING) == reading)
        translated = (common.of_librdkafka(name, value) for name, value in chosen)
        found: dict[str, object] = {each[0]: each[1] for each in translated if each is not None}
        if not found.keys().isdisjoint(common.RECONNECT):
            # Java then always waits the first time; librdkafka refuses a first wait above the longest.
            waits = {name: int(str(found.get(name, usual))) for name, usual in common.RECONNECT.items()}
            found["reconnect.backoff.max.ms"] = str(max(waits.values()))
        return found

    def _tuning_of_java(self, *, reading: bool) -> dict[str, str]:
        chosen = (each for each in self._common if (each[0] in names.READING) == reading)
        return dict(filter(None, (common.of_java(name, value) for name, value in chosen)))

    def __repr__(self) -> str:
        parts = [self.servers or "no servers", self.security_protocol, *filter(None, [self.mechanism])]
        return f"KafkaConfig({', '.join(parts)})"

    def __copy__(self) -> KafkaConfig:
        return self

    def __deepcopy__(self, memo: object) -> KafkaConfig:
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise PartwrightError(
            "a configuration holds secrets and is not pickled: read it again from its file where it is needed"
        )


def _layers_of(given: object) -> tuple[Layer, ...]:
    if isinstance(given, KafkaConfig):
        return given.layers
    if given is None:
        named = os.environ.get(VARIABLE)
        return (of_file(named, f"the configuration file of {VARIABLE}"),) if named else ()
    if isinstance(given, Mapping):
        return (of_mapping(given, "kafka_config"),)
    if isinstance(given, (str, os.PathLike)):
        path = os.fspath(given)
        if isinstance(given, str) and ":" in given and "/" not in given and not Path(given).exists():
            # Servers alone, which `bootstrap_servers` checks.
            return (*_layers_of(None), of_mapping({_SERVERS: given}, _ARGUMENT))
        if isinstance(path, str) and path:
            return (of_file(path),)
        if not path:
            raise PartwrightError("the path of the configuration file is empty: name a file")
    raise PartwrightError(
        f"a configuration is host:port, a dict of settings or the path of a file, not a {type(given).__name__}"
    )


def _refuse_open(given: Slots) -> None:
    """Refuses values that the user still has to fill in."""
    for name, each in given.items():
        counts = name in names.REACHING or name in common.COMMON
        if counts or name.startswith(slots.JAAS):
            slots.refuse_placeholder(each)
        if counts and name not in names.EMPTY and not callable(each.value) and not each.text().strip():
            raise PartwrightError(
                f"{slots.spoken_of(each)} is empty: give it a value, or leave it out", field=each.name
            )


def _spoken_of_servers(given: GivenSetting) -> str:
    # An argument has no place to name, only the setting itself.
    return _SERVERS if given.place == _ARGUMENT else slots.spoken_of(given)


def _protocol(given: Slots) -> str:
    if _PROTOCOL not in given:
        return _PROTOCOLS[0]
    text = given[_PROTOCOL].text()
    if text.upper() not in _PROTOCOLS:
        near = meant(text.upper(), _PROTOCOLS)
        reason = f"is not one of {', '.join(_PROTOCOLS)}{near}"
        raise PartwrightError(
            f"{slots.spoken_of(given[_PROTOCOL])} {shown(text)} {reason}",
            field=_PROTOCOL,
            value=text,
            reason=reason,
        )
    return text.upper()
