"""TLS: the CAs that the client trusts, the client's own certificate, and the checks."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from partwright._check import shown
from partwright.errors import PartwrightError
from partwright.kafka.connection import stores
from partwright.kafka.connection.layers import (
    file_bytes,
    readable_by_others,
    setting_error,
    spoken_of,
    text_of,
)

if TYPE_CHECKING:
    from partwright.kafka.connection.layers import Settings
    from partwright.kafka.connection.stores import Pair

_Value = TypeVar("_Value")
_TRUST_STORE, _TRUST_TYPE = "ssl.truststore.location", "ssl.truststore.type"
_TRUST_PASSWORD, _TRUST_TEXT = "ssl.truststore.password", "ssl.truststore.certificates"
_CA_FILE = "ssl.ca.location"
_HASHED = re.compile(r"[0-9a-f]{8}\.[0-9]+")
_STORE, _TYPE = "ssl.keystore.location", "ssl.keystore.type"
_PASSWORD, _KEY_PASSWORD = "ssl.keystore.password", "ssl.key.password"
_CHAIN, _KEY = "ssl.keystore.certificate.chain", "ssl.keystore.key"
_CHAIN_FILE, _KEY_FILE = "ssl.certificate.location", "ssl.key.location"
_HOST = "ssl.endpoint.identification.algorithm"
_VERIFY, _CRL, _CIPHERS = "enable.ssl.certificate.verification", "ssl.crl.location", "ssl.cipher.suites"
_FACTORY = "ssl.engine.factory.class"
_OF_JAVA = ("TLS_", "SSL_")


@dataclass(frozen=True)
class Tls:
    """The TLS settings as read.

    Attributes:
        ca_pem: The trusted certificates; None for the system's, which Java and librdkafka find themselves.
        client: The client's own certificate and key; None if it has none.
        check_host: Whether the certificate must be for the broker's name.
        check_certificate: Whether the broker's certificate is checked; only librdkafka's settings can turn this off.
        ciphers: OpenSSL's or Java's names.
        crl: The file of revoked certificates.
        notes: The notes to show once.
    """

    ca_pem: str | None
    client: Pair | None
    check_host: bool = True
    check_certificate: bool = True
    ciphers: str | None = None
    crl: str | None = None
    notes: tuple[str, ...] = field(default=(), compare=False)

    def librdkafka(self) -> dict[str, object]:
        """The settings with librdkafka's names."""
        chain, key = self._pair
        return _known(
            {
                _HOST: "https" if self.check_host else "none",
                "ssl.ca.pem": self.ca_pem,
                "ssl.certificate.pem": chain,
                "ssl.key.pem": key,
                _VERIFY: None if self.check_certificate else "false",
                _CIPHERS: None if _is_of_java(self.ciphers) else self.ciphers,
                _CRL: self.crl,
            }
        )

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
        chain, key = self._pair
        return _known(
            {
                _HOST: "https" if self.check_host else "",
                _TRUST_TYPE: self.ca_pem and "PEM",
                _TRUST_TEXT: self.ca_pem,
                _TYPE: "PEM" if self.client else None,
                _CHAIN: chain,
                _KEY: key,
                _CIPHERS: self.ciphers if _is_of_java(self.ciphers) else None,
            }
        )

    @property
    def _pair(self) -> tuple[str | None, str | None]:
        return (self.client.certificate_pem, self.client.key.clear()) if self.client else (None, None)


def read_tls(settings: Settings) -> Tls:
    """Reads the TLS settings.

    Raises:
        PartwrightError: A store cannot be read, or a value is refused.
        MissingExtraError: A store or a key needs `cryptography`, which is not installed.
    """
    if _FACTORY in settings:
        raise setting_error(
            settings[_FACTORY], "is a class that runs in Java alone: give certificates and keys"
        )
    algorithm = settings[_HOST].text().strip().lower() if _HOST in settings else "https"
    if algorithm not in {"", "none", "https"}:
        value = shown(settings[_HOST].text())
        raise setting_error(settings[_HOST], f"is https, or none or empty for no check, not {value}")
    verify = (text_of(settings, _VERIFY) or "true").strip().lower()
    if verify not in {"true", "false"}:
        raise setting_error(settings[_VERIFY], f"is true or false, not {shown(verify)}")
    ca_pem, client, ciphers = trusted_pem(settings), _client(settings), text_of(settings, _CIPHERS)
    notes = list(_notes_of_key(settings, client))
    if ciphers:
        java = _is_of_java(ciphers)
        whose, others = ("Java's", "librdkafka") if java else ("OpenSSL's", "Spark's Java client")
        notes.append(f"{_CIPHERS} has {whose} names of ciphers, and {others} goes without it")
    if verify == "false":
        notes.append(f"{_VERIFY}=false: anybody may pose as this Kafka")
    checks = (algorithm == "https", verify == "true")
    return Tls(ca_pem, client, *checks, ciphers, text_of(settings, _CRL), tuple(notes))


def trusted_pem(settings: Settings) -> str | None:
    """The CAs from `ssl.truststore.…` and `ssl.ca.…`; None for the system's.

    Raises:
        PartwrightError: A store cannot be read, or two settings differ.
    """
    texts: dict[str, str | None] = {}
    if _TRUST_STORE in settings:
        kind, password = text_of(settings, _TRUST_TYPE), text_of(settings, _TRUST_PASSWORD)
        texts[_TRUST_STORE] = stores.trust_store(*_named(settings, _TRUST_STORE), kind, password)
    if _TRUST_TEXT in settings:
        texts[_TRUST_TEXT] = stores.certificates(*_named(settings, _TRUST_TEXT))
    if _CA_FILE in settings:
        texts[_CA_FILE] = _of_location(*_named(settings, _CA_FILE))
    if not texts:
        _refuse_without_store(settings, _TRUST_STORE, [_TRUST_PASSWORD])
        return None
    first = next(iter(texts))
    for name, text in texts.items():
        if text != texts[first]:
            other = f"and {settings[first].name} name other certificates: leave one out"
            raise setting_error(settings[name], other)
    return texts[first]


def _of_location(path: str, name: str) -> str | None:
    """A file of certificates, or a folder in OpenSSL's way: only files named by a hash count."""
    if path == "probe":
        return None
    where = f"{name} {path!r}"
    try:
        files = sorted(each for each in Path(path).iterdir() if _HASHED.fullmatch(each.name))
    except OSError:
        # A file, or an unreadable path: reading it gives the error's sentence.
        data = file_bytes(path, name)
        if not stores.is_pem(data):
            raise PartwrightError(
                f"{where} is not PEM: for a PKCS12 or JKS store give {_TRUST_STORE} and {_TRUST_PASSWORD}",
                path=path,
            ) from None
        return stores.certificates(data.decode("utf-8", "replace"), where)
    texts = [file_bytes(str(each), name).decode("utf-8", "replace") for each in files]
    if not texts:
        raise PartwrightError(
            f"{where} is a folder without certificates that are named by their hash: openssl rehash names them",
            path=path,
        )
    return stores.certificates("\n".join(texts), where)


def _client(settings: Settings) -> Pair | None:
    """The client's own certificate from `ssl.keystore.…`, `ssl.certificate.…` and `ssl.key.…`."""
    key_password = text_of(settings, _KEY_PASSWORD)
    pair = _pair(settings, key_password)
    if _STORE in settings:
        kind, password = text_of(settings, _TYPE), text_of(settings, _PASSWORD)
        client = stores.key_store(*_named(settings, _STORE), kind, password, key_password)
        if pair is not None and pair != client:
            other = "and the settings of a certificate next to it differ: leave one out"
            raise setting_error(settings[_STORE], other)
    elif pair is None:
        _refuse_without_store(settings, _STORE, [_PASSWORD, _KEY_PASSWORD])
        return None
    else:
        client = pair
    if not stores.go_together(client):
        of_key = _first_spoken(settings, (_STORE, _KEY, _KEY_FILE))
        of = _first_spoken(settings, (_STORE, _CHAIN, _CHAIN_FILE))
        what = f"{of} and {of_key} do" if of != of_key else f"the first certificate and the key of {of} do"
        raise PartwrightError(f"{what} not go together: name a certificate and its own key", field=_KEY)
    return client


def _pair(settings: Settings, key_password: str | None) -> Pair | None:
    chain, key = _pem_text(settings, _CHAIN, _CHAIN_FILE), _pem_text(settings, _KEY, _KEY_FILE)
    if chain is None and key is None:
        return None
    if chain is None or key is None:
        has, lacks = (_KEY_FILE, _CHAIN_FILE) if chain is None else (_CHAIN_FILE, _KEY_FILE)
        raise PartwrightError(
            f"a client's certificate and its key go together: there is {has} or its text, and no {lacks}",
            field=lacks,
        )
    return stores.pair_of_texts(chain, key, key_password)


def _pem_text(settings: Settings, inline: str, file: str) -> tuple[str, str] | None:
    """A PEM text and its name in sentences, from a file or a setting. If both are given, they must be equal."""
    text = text_of(settings, inline)
    if file not in settings:
        return None if text is None else (text, spoken_of(settings[inline]))
    path, name = _named(settings, file)
    content = file_bytes(path, name).decode("utf-8", "replace")
    if text is not None and text.strip() != content.strip():
        raise setting_error(settings[file], f"and {settings[inline].name} differ: leave one out")
    return content, f"{name} {path!r}"


def _notes_of_key(settings: Settings, client: Pair | None) -> Iterable[str]:
    is_pem = (text_of(settings, _TYPE) or "").upper() == "PEM"
    path = text_of(settings, _KEY_FILE) or (text_of(settings, _STORE) if is_pem else None)
    if client is not None and not client.was_encrypted and path and readable_by_others(path):
        yield f"others may read the private key in {path}: chmod 600 {shlex.quote(path)}"


def _refuse_without_store(settings: Settings, store: str, passwords: Iterable[str]) -> None:
    for name in passwords:
        if name in settings:
            raise PartwrightError(f"{spoken_of(settings[name])} has no {store}, which it is for", field=name)


def _named(settings: Settings, name: str) -> tuple[str, str]:
    """A setting's value, and its name in sentences."""
    return settings[name].text(), spoken_of(settings[name])


def _first_spoken(settings: Settings, names: Iterable[str]) -> str:
    return next(spoken_of(settings[name]) for name in names if name in settings)


def _is_of_java(ciphers: str | None) -> bool:
    return ciphers is not None and ciphers.startswith(_OF_JAVA)


def _known(values: dict[str, _Value | None]) -> dict[str, _Value]:
    return {name: value for name, value in values.items() if value is not None}
