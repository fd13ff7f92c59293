"""Files of certificates and keys: PEM, PKCS12 and JKS, recognized by their first bytes, become PEM texts in memory."""

from __future__ import annotations

import base64
import binascii
import re
import ssl
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from partwright._check import shown
from partwright.errors import PartwrightError
from partwright.kafka.connection import jks
from partwright.kafka.connection.layers import file_bytes
from partwright.kafka.connection.secret import Secret
from partwright.kafka.extras import extra_package

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.serialization.pkcs12 import (
        PKCS12Certificate,
        PKCS12KeyAndCertificates,
    )
    from cryptography.x509 import Certificate

_TYPES = ("JKS", "PEM", "PKCS12")
_JCEKS = bytes.fromhex("cececece")
_DER_SEQUENCE = 0x30
# The object ids of keyBag and pkcs8ShroudedKeyBag (RFC 7292) in DER.
_KEY_BAGS = [bytes.fromhex("060b2a864886f70d010c0a01") + bytes([kind]) for kind in (1, 2)]
_BEGIN = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----")
_KEY = "PRIVATE KEY"
_WIDTH = 64
_MISSING = "{} is missing, which reads keys: pip install 'partwright[kafka]'"


@dataclass(frozen=True)
class Pair:
    """A chain of certificates, the client's own first, and its key.

    Attributes:
        certificate_pem: The chain.
        key: The key in the form that every library reads: PKCS8 without encryption.
        was_encrypted: Whether the key's file protects it by a password.
    """

    certificate_pem: str = field(repr=False)
    key: Secret
    was_encrypted: bool = field(default=True, compare=False)


def trust_store(path: str, name: str, kind: str | None, password: str | None) -> str:
    """The certificates of `ssl.truststore.location`.

    Args:
        path: The file.
        name: The setting, for sentences.
        kind: `ssl.truststore.type`; None if it is not given or does not matter.
        password: `ssl.truststore.password`.

    Raises:
        PartwrightError: It cannot be read, or is not a trust store.
        MissingExtraError: It is PKCS12, and `cryptography` is not installed.
    """
    where = f"{name} {path!r}"
    data, form = _content(path, name, "ssl.truststore", kind, password)
    if form == "PEM":
        return certificates(data.decode("utf-8", "replace"), where)
    if form == "JKS":
        entries = _jks(data, where, password)
        trusted, has_key = entries.trusted, bool(entries.keys)
    else:
        store = _pkcs12(data, where, password, "ssl.truststore.password")
        has_key = store.key is not None
        trusted = tuple(_der(each.certificate) for each in _trusted(store, data))
    if not trusted:
        what = "a private key: it is a key store" if has_key else "no certificate"
        raise PartwrightError(f"{where} has {what}; name a store with the broker's CA alone", path=path)
    return certificates(_of_der(trusted), where)


def key_store(path: str, name: str, kind: str | None, password: str | None, key_password: str | None) -> Pair:
    """The certificate and the key of `ssl.keystore.location`.

    Raises:
        PartwrightError: It cannot be read, or has no key.
        MissingExtraError: It is not JKS, and `cryptography` is not installed.
    """
    where = f"{name} {path!r}"
    data, form = _content(path, name, "ssl.keystore", kind, password)
    if form == "PEM":
        text = data.decode("utf-8", "replace")
        return pair_of_texts((text, where), (text, where), key_password)
    if form == "JKS":
        if password is None and key_password is None:
            raise PartwrightError(f"{where} needs ssl.keystore.password", path=path)
        keys = _jks(data, where, password).keys
        if len(keys) != 1:
            raise PartwrightError(f"{where} has {len(keys) or 'no'} private keys: one is needed", path=path)
        protected, chain = keys[0]
        try:
            der = jks.opened(protected, (key_password if key_password is not None else password) or "")
        except PartwrightError as error:
            raise error.within(f"{where} cannot be read", path=path) from None
    else:
        store = _pkcs12(data, where, password, "ssl.keystore.password")
        if store.key is None or store.cert is None:
            raise PartwrightError(f"{where} has no private key: it is a trust store", path=path)
        if (count := _key_count(data)) > 1:
            raise PartwrightError(f"{where} has {count} private keys: one is needed", path=path)
        chain = tuple(map(_der, _chain(store)))
        der = _pkcs8(store.key, "DER")
    return Pair(certificates(_of_der(chain), where), Secret(_of_der([der], _KEY)))


def pair_of_texts(chain: tuple[str, str], key: tuple[str, str], password: str | None) -> Pair:
    """A pair from two PEM texts, each with its name in sentences.

    Raises:
        PartwrightError: A text lacks what it is for, or the password is wrong.
        MissingExtraError: `cryptography` is not installed.
    """
    return Pair(certificates(*chain), *_private_key(*key, password))


def is_pem(data: bytes) -> bool:
    """Whether a file contains a PEM block."""
    return b"-----BEGIN " in data


def certificates(text: str, where: str) -> str:
    """Only the certificates in a text.

    Args:
        text: The text; anything between the certificates is left out, as in both libraries.
        where: The beginning of the error's sentence.

    Raises:
        PartwrightError: There are none, or one of them cannot be read.
    """
    blocks = "".join(
        _rewritten(body, "CERTIFICATE", where)
        for label, body in _blocks(text)
        if label in {"CERTIFICATE", "X509 CERTIFICATE"}
    )
    if not blocks:
        what = "a private key and no certificate" if _KEY in text else "no certificate"
        raise PartwrightError(f"{where} has {what} in PEM")
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=blocks)
    except ssl.SSLError:
        raise PartwrightError(
            f"{where} has a certificate that cannot be read: it is cut off or changed"
        ) from None
    return blocks


def go_together(pair: Pair) -> bool:
    """Whether a chain's first certificate belongs to the key; also true if that cannot be found out."""
    try:
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
        from cryptography.x509 import load_pem_x509_certificate

        theirs = load_pem_x509_certificate(pair.certificate_pem.encode()).public_key()
        return theirs == load_pem_private_key(pair.key.clear().encode(), None).public_key()
    except Exception:  # noqa: BLE001 - a kind of key that is not known, of which the libraries may know more
        return True


def _content(
    path: str, name: str, settings: str, kind: str | None, password: str | None
) -> tuple[bytes, str]:
    """A store's bytes and format, if Java would read it under this type: under JKS and PKCS12 it reads both."""
    where, data = f"{name} {path!r}", file_bytes(path, name)
    if kind is not None and kind.upper() not in _TYPES:
        raise PartwrightError(f"{settings}.type {shown(kind)} is not one of {', '.join(_TYPES)}")
    if data.startswith(jks.MAGIC):
        form = "JKS"
    elif is_pem(data):
        form = "PEM"
    elif data[:1] == bytes([_DER_SEQUENCE]):
        form = "PKCS12"
    else:
        other = "it is empty" if not data else "it is neither PEM nor PKCS12 nor JKS"
        if data.startswith(_JCEKS):
            other = "it is JCEKS: make PKCS12 of it by keytool -importkeystore -deststoretype PKCS12"
        raise PartwrightError(f"{where} cannot be read: {other}")
    if (form == "PEM") != (kind is not None and kind.upper() == "PEM"):
        raise PartwrightError(
            f"{where} is {form}, which Kafka's clients do not detect: set {settings}.type={form}"
        )
    if form == "PEM" and password is not None:
        raise PartwrightError(
            f"{where} is PEM, which has no {settings}.password: leave it out, Kafka's clients refuse it too"
        )
    return data, form


def _private_key(text: str, where: str, password: str | None) -> tuple[Secret, bool]:
    """The one private key in a text, in PKCS8, and whether it is encrypted there."""
    keys = [(label, body) for label, body in _blocks(text) if label.endswith(_KEY)]
    if len(keys) != 1:
        raise PartwrightError(
            f"{where} has {len(keys) or 'no'} private key{'s' * (len(keys) > 1)} in PEM: one is needed"
        )
    label, body = keys[0]
    # OpenSSL's old encryption has its headers on separate lines.
    headed = f"-----BEGIN {label}-----\n{body.strip()}\n-----END {label}-----\n"
    block = headed if ":" in body else _rewritten(body, label, where)
    is_encrypted = "ENCRYPTED" in block
    if is_encrypted and password is None:
        raise PartwrightError(f"the private key of {where} is encrypted: set ssl.key.password")
    with extra_package("cryptography", _MISSING):
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    try:
        opened = load_pem_private_key(block.encode(), (password or "").encode() if is_encrypted else None)
    except Exception:  # noqa: BLE001 - it raises several, none of which may be shown
        why = "ssl.key.password does not open it" if is_encrypted else "it is cut off or of an unknown kind"
        raise PartwrightError(f"the private key of {where} cannot be read: {why}") from None
    return Secret(_pkcs8(opened, "PEM").decode()), is_encrypted


def _jks(data: bytes, where: str, password: str | None) -> jks.Entries:
    try:
        return jks.read(data, password)
    except PartwrightError as error:
        raise error.within(f"{where} cannot be read") from None


def _pkcs12(data: bytes, where: str, password: str | None, name: str) -> PKCS12KeyAndCertificates:
    with extra_package("cryptography", _MISSING):
        from cryptography.hazmat.primitives.serialization import pkcs12
    try:
        store = pkcs12.load_pkcs12(data, None if password is None else password.encode())
    except Exception:  # noqa: BLE001 - it raises several, and a panic of its own, none of which says more
        why = f"its password is wrong: look at {name}" if password is not None else f"set {name}"
        raise PartwrightError(f"{where} cannot be read: {why}, or it is not a whole PKCS12 store") from None
    if store.key is None and store.cert is None and not store.additional_certs:
        raise PartwrightError(f"{where} is an empty store")
    return store


def _key_count(data: bytes) -> int:
    """The number of private keys in a PKCS12 store; `cryptography` returns only the first key.

    Each key is in its own bag, encrypted or not. No tool encrypts these bags again, so their object ids are readable in
    the file.
    """
    return sum(map(data.count, _KEY_BAGS))


def _trusted(store: PKCS12KeyAndCertificates, data: bytes) -> list[PKCS12Certificate]:
    """The certificates that Java trusts, if they can be told from a key's chain in the same store.

    Java's own marker of them cannot be read here. But Java's keytool gives them an alias. In a chain only the key's own
    certificate has one; the others have their subject's name, as CN=..., or nothing.
    """
    if store.key is None:
        return store.additional_certs
    if _key_count(data) > 1:
        return []
    return [each for each in store.additional_certs if each.friendly_name and b"=" not in each.friendly_name]


def _chain(store: PKCS12KeyAndCertificates) -> list[Certificate]:
    """A key's own certificate and its issuers: the store may contain others."""
    others = [each.certificate for each in store.additional_certs]
    chain = [store.cert.certificate] if store.cert else []
    while chain and (above := next((each for each in others if _is_issuer(each, chain[-1])), None)):
        chain.append(above)
        others.remove(above)
    return chain


def _is_issuer(one: Certificate, of: Certificate) -> bool:
    if of.subject == of.issuer:
        return False
    try:
        of.verify_directly_issued_by(one)
    except Exception:  # noqa: BLE001 - it raises several, all of which say that it is not
        return False
    return True


def _der(certificate: Certificate) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding

    return certificate.public_bytes(Encoding.DER)


def _pkcs8(key: Any, encoding: str) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    written: bytes = key.private_bytes(getattr(Encoding, encoding), PrivateFormat.PKCS8, NoEncryption())
    return written


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """Label and body of each PEM block that ends before the next one begins."""
    _, *parts = _BEGIN.split(text)
    for label, following in zip(parts[::2], parts[1::2], strict=True):
        body, end, _ = following.partition(f"-----END {label}-----")
        if end:
            yield label, body


def _rewritten(body: str, label: str, where: str) -> str:
    """A PEM block with lines of the usual width, whatever its own are."""
    text = "".join(body.split())
    try:
        base64.b64decode(text, validate=True)
    except binascii.Error:
        raise PartwrightError(f"{where} has a block that is not PEM: it is cut off or changed") from None
    lines = [text[at : at + _WIDTH] for at in range(0, len(text), _WIDTH)]
    return "\n".join([f"-----BEGIN {label}-----", *lines, f"-----END {label}-----", ""])


def _of_der(der: Iterable[bytes], label: str = "CERTIFICATE") -> str:
    """The PEM text of certificates, or of other data with the given label."""
    return "".join(_rewritten(base64.b64encode(each).decode(), label, "") for each in der)
