"""Kerberos, if the installed librdkafka has it: confluent-kafka's wheels for Linux and macOS do not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from partwright.errors import MissingExtraError, PartwrightError
from partwright.kafka.connection import jaas
from partwright.kafka.connection.secret import Secret, clear

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Kerberos"]

_JAAS = "jaas:"
_MODULE = "com.sun.security.auth.module.Krb5LoginModule"
_PRINCIPAL, _KEYTAB, _SERVICE = (
    "sasl.kerberos.principal",
    "sasl.kerberos.keytab",
    "sasl.kerberos.service.name",
)
_LOGIN_AGAIN = "sasl.kerberos.min.time.before.relogin"
_ASKED: dict[str, bool] = {}


@dataclass(frozen=True)
class Kerberos:
    """The settings of GSSAPI: a ticket from `kinit`, or a principal and its key table.

    Attributes:
        settings: The settings `sasl.kerberos.…` of both libraries.
        options: The other options of `Krb5LoginModule`.
    """

    settings: tuple[tuple[str, str], ...]
    options: tuple[tuple[str, Secret], ...] = field(repr=False)
    mechanism: str = "GSSAPI"

    @classmethod
    def of(cls, given: Mapping[str, object]) -> Kerberos:
        """Reads the settings and options; the service is `kafka` by default, as in librdkafka."""
        texts = {name: clear(value) for name, value in given.items() if isinstance(value, (str, Secret))}
        options = {name.removeprefix(_JAAS): text for name, text in texts.items() if name.startswith(_JAAS)}
        settings = {name: text for name, text in texts.items() if not name.startswith(_JAAS)}
        settings.setdefault(_SERVICE, "kafka")
        return cls(
            tuple(sorted(settings.items())),
            tuple((name, Secret(text)) for name, text in sorted(options.items())),
        )

    def librdkafka(self, servers: str | None) -> dict[str, object]:
        """The settings with librdkafka's names.

        Raises:
            PartwrightError: The installed librdkafka has no Kerberos.
        """
        del servers
        _check_library()
        found: dict[str, object] = {"sasl.mechanism": self.mechanism, **dict(self.settings)}
        if _KEYTAB not in found:
            # The existing ticket is used: otherwise librdkafka would run kinit with a key table that does not exist.
            found.setdefault(_LOGIN_AGAIN, "0")
        return found

    def java(self) -> dict[str, str]:
        """The settings with Java's names."""
        settings = dict(self.settings)
        options = {name: value.clear() for name, value in self.options}
        if _KEYTAB in settings:
            options |= {"useKeyTab": "true", "storeKey": "true", "keyTab": settings[_KEYTAB]}
        elif not options:
            options["useTicketCache"] = "true"
        if _PRINCIPAL in settings:
            options["principal"] = settings[_PRINCIPAL]
        found = {
            "sasl.mechanism": self.mechanism,
            "sasl.jaas.config": jaas.written(_MODULE, options),
            _SERVICE: settings[_SERVICE],
        }
        if _LOGIN_AGAIN in settings:
            found[_LOGIN_AGAIN] = settings[_LOGIN_AGAIN]
        return found


def _check_library() -> None:
    """Asks the library: without Kerberos it refuses such a client before it connects."""
    if "GSSAPI" not in _ASKED:
        try:
            from confluent_kafka import KafkaException
            from confluent_kafka.admin import AdminClient
        except ImportError:
            raise MissingExtraError("confluent_kafka is missing: pip install 'partwright[kafka]'") from None
        try:
            AdminClient({"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "GSSAPI", _LOGIN_AGAIN: 0})
        except KafkaException:
            _ASKED["GSSAPI"] = False
        else:
            _ASKED["GSSAPI"] = True
    if not _ASKED["GSSAPI"]:
        raise PartwrightError(
            "sasl.mechanism GSSAPI needs a librdkafka with Kerberos, which the installed one is not: install "
            "librdkafka-dev and libsasl2-dev, then pip install --no-binary confluent-kafka confluent-kafka"
        )
