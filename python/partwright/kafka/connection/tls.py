"""TLS: the CAs that the client trusts, the client's own certificate, and the checks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

from partwright._check import shown
from partwright.errors import PartwrightError
from partwright.kafka.connection import identity, trust
from partwright.kafka.connection.slots import spoken_of

if TYPE_CHECKING:
    from partwright.kafka.connection.identity import Identity
    from partwright.kafka.connection.slots import Slots
    from partwright.kafka.connection.trust import Trust

__all__ = ["Tls", "TlsMaterial", "of"]

_HOST = "ssl.endpoint.identification.algorithm"
_VERIFY, _CRL, _CIPHERS = "enable.ssl.certificate.verification", "ssl.crl.location", "ssl.cipher.suites"
_FACTORY = "ssl.engine.factory.class"
_OF_JAVA = ("TLS_", "SSL_")


@dataclass(frozen=True)
class TlsMaterial:
    """The TLS settings as texts, for a test with the standard library's `ssl`, which takes files and `cadata`.

    Attributes:
        ca_pem: The trusted certificates; None means the system's.
        certificate_pem: The client's own chain; None if it has none.
        key_pem: Its private key.
        key_password: The key's password; None if it is not encrypted.
        check_host: Whether the certificate must be for the broker's name.
        check_certificate: Whether the broker's certificate is checked; only librdkafka's settings can turn this off.
    """

    ca_pem: str | None
    certificate_pem: str | None
    key_pem: str | None = field(repr=False)
    key_password: str | None = field(repr=False)
    check_host: bool
    check_certificate: bool = True

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise PartwrightError("a private key is not pickled: read the configuration again where it is needed")


@dataclass(frozen=True)
class Tls:
    """The TLS settings as read; `ciphers` are OpenSSL's or Java's names."""

    trust: Trust
    identity: Identity | None
    check_host: bool = True
    check_certificate: bool = True
    ciphers: str | None = None
    crl: str | None = None

    def material(self) -> TlsMaterial:
        """The same settings as texts."""
        mine = self.identity
        return TlsMaterial(
            self.trust.ca_pem,
            mine.certificate_pem if mine else None,
            mine.key.clear() if mine else None,
            mine.password.clear() if mine and mine.password else None,
            self.check_host,
            self.check_certificate,
        )

    def librdkafka(self) -> dict[str, object]:
        """The settings with librdkafka's names."""
        found: dict[str, object] = {_HOST: "https" if self.check_host else "none"}
        if self.trust.ca_pem is not None:
            found["ssl.ca.pem"] = self.trust.ca_pem
        if self.identity is not None:
            found |= self.identity.librdkafka()
        if not self.check_certificate:
            found[_VERIFY] = "false"
        if self.ciphers and not self.ciphers.startswith(_OF_JAVA):
            found[_CIPHERS] = self.ciphers
        return found | ({_CRL: self.crl} if self.crl else {})

    def java(self) -> dict[str, str]:
        """The settings with Java's names.

        Raises:
            PartwrightError: librdkafka's settings ask for what Java's clients do not have.
        """
        if not self.check_certificate or self.crl:
            name = _CRL if self.crl else f"{_VERIFY}=false"
            raise PartwrightError(
                f"Java's clients have nothing like {name}: they cannot reach this Kafka as it says"
            )
        found = {_HOST: "https" if self.check_host else ""}
        found |= self.trust.java() | (self.identity.java() if self.identity else {})
        if self.ciphers and self.ciphers.startswith(_OF_JAVA):
            found[_CIPHERS] = self.ciphers
        return found

    def notes(self) -> tuple[str, ...]:
        """The notes to show once."""
        said = list(self.identity.notes) if self.identity else []
        if self.ciphers:
            java = self.ciphers.startswith(_OF_JAVA)
            whose, others = ("Java's", "librdkafka") if java else ("OpenSSL's", "Spark's Java client")
            said.append(f"{_CIPHERS} has {whose} names of ciphers, and {others} goes without it")
        if not self.check_certificate:
            said.append(f"{_VERIFY}=false: anybody may pose as this Kafka")
        return tuple(said)


def of(slots: Slots) -> Tls:
    """Reads the TLS settings.

    Raises:
        PartwrightError: A store cannot be read, or a value is refused.
    """
    if _FACTORY in slots:
        raise PartwrightError(
            f"{spoken_of(slots[_FACTORY])} is a class that runs in Java alone: give certificates and keys",
            field=_FACTORY,
        )
    algorithm = slots[_HOST].text().strip().lower() if _HOST in slots else "https"
    if algorithm not in {"", "none", "https"}:
        raise PartwrightError(
            f"{spoken_of(slots[_HOST])} is https, or none or empty for no check, not {shown(slots[_HOST].text())}",
            field=_HOST,
            value=slots[_HOST].text(),
        )
    verify = slots[_VERIFY].text().strip().lower() if _VERIFY in slots else "true"
    if verify not in {"true", "false"}:
        raise PartwrightError(
            f"{spoken_of(slots[_VERIFY])} is true or false, not {shown(verify)}", field=_VERIFY
        )
    return Tls(
        trust.of(slots),
        identity.of(slots),
        algorithm == "https",
        verify == "true",
        slots[_CIPHERS].text() if _CIPHERS in slots else None,
        slots[_CRL].text() if _CRL in slots else None,
    )
