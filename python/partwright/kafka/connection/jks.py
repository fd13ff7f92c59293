"""Java's old key store format, JKS: plain certificates, keys under Sun's protection, and a digest over the whole file.

The format is that of OpenJDK's `sun.security.provider.JavaKeyStore` and `KeyProtector`.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from dataclasses import dataclass, field

from partwright.errors import PartwrightError

MAGIC = bytes.fromhex("feedfeed")
_DIGEST = 20
_SALTED = b"Mighty Aphrodite"
_KEY_ENTRY, _CERTIFICATE_ENTRY = 1, 2
_VERSIONS = (1, 2)
# 1.3.6.1.4.1.42.2.17.1.1 in DER: Sun's own key protection.
_PROTECTOR = bytes.fromhex("060a2b060104012a02110101")
_SEQUENCE, _OCTETS = 0x30, 0x04
_LONG_LENGTH = 0x80


@dataclass(frozen=True)
class Entries:
    """The entries of a store in DER: trusted certificates, and protected private keys with their chains."""

    trusted: tuple[bytes, ...]
    keys: tuple[tuple[bytes, tuple[bytes, ...]], ...] = field(repr=False)


class _JksReader:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def bytes(self, count: int) -> bytes:
        if count < 0 or self.at + count > len(self.data):
            raise PartwrightError("it is cut off")
        self.at += count
        return self.data[self.at - count : self.at]

    def int(self) -> int:
        return int(struct.unpack(">i", self.bytes(4))[0])

    def skip_text(self) -> None:
        self.bytes(struct.unpack(">H", self.bytes(2))[0])


def read(data: bytes, password: str | None) -> Entries:
    """The entries of a store.

    Args:
        data: The file's bytes.
        password: The store's password, with which the digest is checked; None checks nothing, as in Java.

    Raises:
        PartwrightError: The file is cut off or changed, or the password is wrong. The text is the end of the caller's
            sentence.
    """
    if password is not None and not _is_whole(data, password):
        raise PartwrightError("its password is wrong, or it was changed")
    reader = _JksReader(data)
    reader.bytes(len(MAGIC))
    version = reader.int()
    if version not in _VERSIONS:
        raise PartwrightError(f"it is a JKS of version {version}, and only 1 and 2 are known")
    trusted: list[bytes] = []
    keys: list[tuple[bytes, tuple[bytes, ...]]] = []
    for _ in range(reader.int()):
        tag = reader.int()
        reader.skip_text()
        reader.bytes(8)
        if tag == _CERTIFICATE_ENTRY:
            trusted.append(_certificate(reader, version))
        elif tag == _KEY_ENTRY:
            protected = reader.bytes(reader.int())
            chain = tuple(_certificate(reader, version) for _ in range(reader.int()))
            keys.append((protected, chain))
        else:
            raise PartwrightError(f"it has an entry of kind {tag}, which no JKS has")
    return Entries(tuple(trusted), tuple(keys))


def _certificate(reader: _JksReader, version: int) -> bytes:
    if version > 1:
        reader.skip_text()
    return reader.bytes(reader.int())


def _utf16(password: str) -> bytes:
    return password.encode("utf-16-be", "surrogatepass")


def _sha1(*parts: bytes) -> bytes:
    return hashlib.sha1(b"".join(parts), usedforsecurity=False).digest()


def _is_whole(data: bytes, password: str) -> bool:
    return hmac.compare_digest(_sha1(_utf16(password), _SALTED, data[:-_DIGEST]), data[-_DIGEST:])


def opened(protected: bytes, password: str) -> bytes:
    """Decrypts a private key: the store has a salt, the key XOR a chain of digests, and a digest of key and password.

    Raises:
        PartwrightError: The password is wrong, or the key is protected in another way. The text is the end of the
            caller's sentence.
    """
    outer, _ = _value(protected, _SEQUENCE)
    algorithm, following = _value(outer, _SEQUENCE)
    sealed, _ = _value(following, _OCTETS)
    if not algorithm.startswith(_PROTECTOR):
        raise PartwrightError("its key is protected in a way that Java's JKS does not know")
    salt, sealed, check = sealed[:_DIGEST], sealed[_DIGEST:-_DIGEST], sealed[-_DIGEST:]
    secret = _utf16(password)
    stream, digest = b"", salt
    while len(stream) < len(sealed):
        digest = _sha1(secret, digest)
        stream += digest
    key = bytes(one ^ other for one, other in zip(sealed, stream, strict=False))
    if not hmac.compare_digest(_sha1(secret, key), check):
        raise PartwrightError("the password of its key is wrong")
    return key


def _value(der: bytes, tag: int) -> tuple[bytes, bytes]:
    """The value of the first DER element, which must be of this kind, and the bytes after it."""
    reader = _JksReader(der)
    kind, length = reader.bytes(2)
    if length >= _LONG_LENGTH:
        length = int.from_bytes(reader.bytes(length - _LONG_LENGTH), "big")
    if kind != tag:
        raise PartwrightError("its key is not kept as Java keeps one")
    value = reader.bytes(length)
    return value, der[reader.at :]
