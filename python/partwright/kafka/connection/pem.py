"""Certificates and keys as PEM: find them in a text, and write them in a form that both libraries read."""

from __future__ import annotations

import base64
import binascii
import re
import ssl
from typing import TYPE_CHECKING, NamedTuple

from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Key", "certificates", "is_pem", "of_der", "private_key"]

_BEGIN = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----")
_KEY = "PRIVATE KEY"
_WIDTH = 64


class Key(NamedTuple):
    """A private key's text. `encrypted`: it needs a password. `pkcs8`: Java can read it too."""

    text: str
    encrypted: bool
    pkcs8: bool


def is_pem(data: bytes) -> bool:
    """Whether a file contains a PEM block."""
    return b"-----BEGIN " in data


def of_der(der: Iterable[bytes], label: str = "CERTIFICATE") -> str:
    """The PEM text of certificates, or of other data with the given label."""
    return "".join(_block(label, base64.b64encode(each).decode()) for each in der)


def certificates(text: str, where: str) -> str:
    """Only the certificates in a text.

    Args:
        text: The text; anything between the certificates is left out, as in both libraries.
        where: The beginning of the error's sentence.

    Raises:
        PartwrightError: There are none, or one of them cannot be read.
    """
    found = "".join(
        _block("CERTIFICATE", _base64_of(body, where))
        for label, body in _blocks(text)
        if label in {"CERTIFICATE", "X509 CERTIFICATE"}
    )
    if not found:
        what = "a private key and no certificate" if _KEY in text else "no certificate"
        raise PartwrightError(f"{where} has {what} in PEM")
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=found)
    except ssl.SSLError:
        raise PartwrightError(
            f"{where} has a certificate that cannot be read: it is cut off or changed"
        ) from None
    return found


def private_key(text: str, where: str) -> Key:
    """The one private key in a text.

    Raises:
        PartwrightError: There is none, or several.
    """
    keys = [(label, body) for label, body in _blocks(text) if label.endswith(_KEY)]
    if len(keys) != 1:
        raise PartwrightError(
            f"{where} has {len(keys) or 'no'} private key{'s' * (len(keys) > 1)} in PEM: one is needed"
        )
    label, body = keys[0]
    if ":" in body:
        # OpenSSL's old encryption has its headers on separate lines.
        return Key(
            f"-----BEGIN {label}-----\n{body.strip()}\n-----END {label}-----\n",
            "ENCRYPTED" in body,
            pkcs8=False,
        )
    encrypted = label == f"ENCRYPTED {_KEY}"
    return Key(_block(label, _base64_of(body, where)), encrypted, pkcs8=encrypted or label == _KEY)


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """Label and body of each block that ends before the next one begins."""
    _, *rest = _BEGIN.split(text)
    for label, following in zip(rest[::2], rest[1::2], strict=True):
        body, end, _ = following.partition(f"-----END {label}-----")
        if end:
            yield label, body


def _base64_of(body: str, where: str) -> str:
    text = "".join(body.split())
    try:
        base64.b64decode(text, validate=True)
    except binascii.Error:
        raise PartwrightError(f"{where} has a block that is not PEM: it is cut off or changed") from None
    return text


def _block(label: str, text: str) -> str:
    lines = [text[at : at + _WIDTH] for at in range(0, len(text), _WIDTH)]
    return "\n".join([f"-----BEGIN {label}-----", *lines, f"-----END {label}-----", ""])
