"""The CAs that are trusted for a broker's certificate: a Java trust store, librdkafka's files, or the system's."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from partwright.errors import PartwrightError
from partwright.kafka.connection import pem
from partwright.kafka.connection.layers import file_bytes
from partwright.kafka.connection.slots import spoken_of
from partwright.kafka.connection.stores import trust_store

if TYPE_CHECKING:
    from partwright.kafka.connection.slots import Slots

__all__ = ["Trust", "of"]

_STORE, _TYPE = "ssl.truststore.location", "ssl.truststore.type"
_PASSWORD, _TEXT, _FILE = "ssl.truststore.password", "ssl.truststore.certificates", "ssl.ca.location"
_HASHED = re.compile(r"[0-9a-f]{8}\.[0-9]+")


@dataclass(frozen=True)
class Trust:
    """The CA certificates as text; None for the system's, which Java and librdkafka find themselves."""

    ca_pem: str | None

    def java(self) -> dict[str, str]:
        """The settings with Java's names."""
        return {} if self.ca_pem is None else {_TYPE: "PEM", _TEXT: self.ca_pem}


def of(slots: Slots) -> Trust:
    """The CAs from `ssl.truststore.…` and `ssl.ca.…`.

    Raises:
        PartwrightError: A store cannot be read, or two settings differ.
    """
    found: dict[str, str | None] = {}
    if _STORE in slots:
        kind = slots[_TYPE].text() if _TYPE in slots else None
        password = slots[_PASSWORD].text() if _PASSWORD in slots else None
        found[_STORE] = trust_store(slots[_STORE].text(), spoken_of(slots[_STORE]), kind, password)
    if _TEXT in slots:
        found[_TEXT] = pem.certificates(slots[_TEXT].text(), spoken_of(slots[_TEXT]))
    if _FILE in slots:
        found[_FILE] = _of_location(slots[_FILE].text(), spoken_of(slots[_FILE]))
    if _PASSWORD in slots and not found:
        raise PartwrightError(
            f"{spoken_of(slots[_PASSWORD])} has no {_STORE}, which it is for", field=_PASSWORD
        )
    first = next(iter(found), None)
    for name, text in found.items():
        if first is not None and text != found[first]:
            raise PartwrightError(
                f"{spoken_of(slots[name])} and {slots[first].name} name other certificates: leave one out",
                field=name,
            )
    return Trust(None if first is None else found[first])


def _of_location(path: str, name: str) -> str | None:
    """A file of certificates, or a folder in OpenSSL's way: only files named by a hash count."""
    if path == "probe":
        return None
    try:
        files = sorted(each for each in Path(path).iterdir() if _HASHED.fullmatch(each.name))
    except OSError:
        # A file, or an unreadable path: reading it gives the error's sentence.
        files = None
    if files is None:
        data = file_bytes(path, name)
        if not pem.is_pem(data):
            raise PartwrightError(
                f"{name} {path!r} is not PEM: for a PKCS12 or JKS store give {_STORE} and {_PASSWORD}",
                path=path,
            )
        return pem.certificates(data.decode("utf-8", "replace"), f"{name} {path!r}")
    texts = [file_bytes(str(each), name).decode("utf-8", "replace") for each in files]
    if not texts:
        raise PartwrightError(
            f"{name} {path!r} is a folder without certificates that are named by their hash: openssl rehash names them",
            path=path,
        )
    return pem.certificates("\n".join(texts), f"{name} {path!r}")
