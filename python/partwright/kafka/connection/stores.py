"""Files of certificates and keys: PEM, PKCS12 and JKS, recognized by their first bytes, become PEM texts in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from partwright._check import shown
from partwright.errors import MissingExtraError, PartwrightError
from partwright.kafka.connection import jks, pem
from partwright.kafka.connection.layers import file_bytes

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.serialization.pkcs12 import (
        PKCS12Certificate,
        PKCS12KeyAndCertificates,
    )
    from cryptography.x509 import Certificate

__all__ = ["Store", "go_together", "key_store", "pkcs8", "trust_store"]

_TYPES = ("JKS", "PEM", "PKCS12")
_JCEKS = bytes.fromhex("cececece")
_DER_SEQUENCE = 0x30
# The object ids of keyBag and pkcs8ShroudedKeyBag (RFC 7292) in DER.
_KEY_BAGS = [bytes.fromhex("060b2a864886f70d010c0a01") + bytes([kind]) for kind in (1, 2)]


@dataclass(frozen=True)
class Store:
    """The contents of a key store: a chain of certificates, and its key, which no `repr` shows."""

    certificate_pem: str
    key: pem.Key = field(repr=False)


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
    data = file_bytes(path, name)
    found = _kind(data, where, kind, name)
    if found == "PEM":
        _refuse_password(password, where, "truststore")
        return pem.certificates(data.decode("utf-8", "replace"), where)
    if found == "JKS":
        entries = _jks(data, where, password)
        trusted, has_key = entries.trusted, bool(entries.keys)
    else:
        store = _pkcs12(data, where, password, "ssl.truststore.password")
        has_key = store.key is not None
        trusted = tuple(_der(each.certificate) for each in _trusted(store, data))
    if not trusted:
        what = "a private key: it is a key store" if has_key else "no certificate"
        raise PartwrightError(f"{where} has {what}; name a store with the broker's CA alone", path=path)
    return pem.certificates(pem.of_der(trusted), where)


def key_store(
    path: str, name: str, kind: str | None, password: str | None, key_password: str | None
) -> Store:
    """The certificate and the key of `ssl.keystore.location`.

    Raises:
        PartwrightError: It cannot be read, or has no key.
        MissingExtraError: It is PKCS12, and `cryptography` is not installed.
    """
    where = f"{name} {path!r}"
    data = file_bytes(path, name)
    found = _kind(data, where, kind, name)
    if found == "PEM":
        _refuse_password(password, where, "keystore")
        text = data.decode("utf-8", "replace")
        return Store(pem.certificates(text, where), pem.private_key(text, where))
    if found == "JKS":
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
        der = _key_der(store)
    key = pem.Key(pem.of_der([der], "PRIVATE KEY"), encrypted=False, pkcs8=True)
    return Store(pem.certificates(pem.of_der(chain), where), key)


def pkcs8(key: pem.Key, password: str | None, where: str) -> str:
    """A key in the form that every Java version reads: PKCS8 without encryption.

    Raises:
        PartwrightError: The password is wrong.
        MissingExtraError: The key has another form, and `cryptography` is not installed.
    """
    return key.text if key.pkcs8 and not key.encrypted else _opened(key, password, where)


def _kind(data: bytes, where: str, said: str | None, name: str) -> str:
    """The format of a store, if Java would read it under this type: under JKS and PKCS12 it reads both."""
    if said is not None and said.upper() not in _TYPES:
        raise PartwrightError(
            f"{name.rpartition(': ')[2].removesuffix('location')}type {shown(said)} is not one of {', '.join(_TYPES)}"
        )
    if data.startswith(jks.MAGIC):
        found = "JKS"
    elif pem.is_pem(data):
        found = "PEM"
    elif data[:1] == bytes([_DER_SEQUENCE]):
        found = "PKCS12"
    else:
        other = "it is empty" if not data else "it is neither PEM nor PKCS12 nor JKS"
        if data.startswith(_JCEKS):
            other = "it is JCEKS: make PKCS12 of it by keytool -importkeystore -deststoretype PKCS12"
        raise PartwrightError(f"{where} cannot be read: {other}")
    is_pem, said_pem = found == "PEM", said is not None and said.upper() == "PEM"
    if is_pem != said_pem:
        wanted = "PEM" if is_pem else found
        raise PartwrightError(
            f"{where} is {found}, which Kafka's clients do not detect: set "
            f"{name.rpartition(': ')[2].removesuffix('location')}type={wanted}"
        )
    return found


def _refuse_password(password: str | None, where: str, store: str) -> None:
    if password is not None:
        raise PartwrightError(
            f"{where} is PEM, which has no ssl.{store}.password: leave it out, Kafka's clients refuse it too"
        )


def _jks(data: bytes, where: str, password: str | None) -> jks.Entries:
    try:
        return jks.read(data, password)
    except PartwrightError as error:
        raise error.within(f"{where} cannot be read") from None


def _pkcs12(data: bytes, where: str, password: str | None, name: str) -> PKCS12KeyAndCertificates:
    try:
        from cryptography.hazmat.primitives.serialization import pkcs12
    except ImportError:
        raise _missing() from None
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
    found = [store.cert.certificate] if store.cert else []
    while found and (above := next((each for each in others if _is_issuer(each, found[-1])), None)):
        found.append(above)
        others.remove(above)
    return found


def _is_issuer(one: Certificate, of: Certificate) -> bool:
    if of.subject == of.issuer:
        return False
    try:
        of.verify_directly_issued_by(one)
    except Exception:  # noqa: BLE001 - it raises several, all of which say that it is not
        return False
    return True


def go_together(certificate_pem: str, key_pem: str) -> bool:
    """Whether a chain's first certificate belongs to this key; also true if that cannot be found out.

    Args:
        certificate_pem: The chain.
        key_pem: The key, as `pkcs8` returns it.
    """
    try:
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
        from cryptography.x509 import load_pem_x509_certificate
    except ImportError:
        return True
    try:
        theirs = load_pem_x509_certificate(certificate_pem.encode()).public_key()
        return theirs == load_pem_private_key(key_pem.encode(), None).public_key()
    except Exception:  # noqa: BLE001 - a kind of key that is not known, of which the libraries may know more
        return True


def _der(certificate: object) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding

    der: bytes = certificate.public_bytes(Encoding.DER)  # type: ignore[attr-defined]
    return der


def _key_der(store: PKCS12KeyAndCertificates) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    der: bytes = store.key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())  # type: ignore[union-attr]
    return der


def _opened(key: pem.Key, password: str | None, where: str) -> str:
    try:
        from cryptography.hazmat.primitives.serialization import (
            Encoding,
            NoEncryption,
            PrivateFormat,
            load_pem_private_key,
        )
    except ImportError:
        raise _missing() from None
    if key.encrypted and password is None:
        raise PartwrightError(f"the private key of {where} is encrypted: set ssl.key.password")
    try:
        opened = load_pem_private_key(key.text.encode(), (password or "").encode() if key.encrypted else None)
    except Exception:  # noqa: BLE001 - it raises several, none of which may be shown
        why = "ssl.key.password does not open it" if key.encrypted else "it is cut off or of an unknown kind"
        raise PartwrightError(f"the private key of {where} cannot be read: {why}") from None
    return opened.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def _missing() -> MissingExtraError:
    return MissingExtraError("cryptography is missing, which reads keys: pip install 'partwright[kafka]'")
