"""The client's own certificate and key."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from partwright.errors import PartwrightError
from partwright.kafka.connection import pem, stores
from partwright.kafka.connection.layers import file_bytes, readable_by_others
from partwright.kafka.connection.secret import Secret
from partwright.kafka.connection.slots import spoken_of

if TYPE_CHECKING:
    from partwright.kafka.connection.layers import GivenSetting
    from partwright.kafka.connection.slots import Slots

__all__ = ["Identity", "of"]

_STORE, _TYPE = "ssl.keystore.location", "ssl.keystore.type"
_PASSWORD, _KEY_PASSWORD = "ssl.keystore.password", "ssl.key.password"
_CHAIN, _KEY = "ssl.keystore.certificate.chain", "ssl.keystore.key"
_CHAIN_FILE, _KEY_FILE = "ssl.certificate.location", "ssl.key.location"


@dataclass(frozen=True)
class Identity:
    """A chain of certificates and its private key.

    Attributes:
        certificate_pem: The chain, the client's own certificate first.
        key: The key's text.
        password: The key's password; None if it is not encrypted.
        pkcs8: The key in the form that Java reads.
        notes: Sentences to show about it.
    """

    certificate_pem: str = field(repr=False)
    key: Secret
    password: Secret | None
    pkcs8: Secret
    notes: tuple[str, ...] = field(default=(), compare=False)

    def librdkafka(self) -> dict[str, object]:
        """The settings with librdkafka's names."""
        found = {"ssl.certificate.pem": self.certificate_pem, "ssl.key.pem": self.key.clear()}
        return {**found, **({_KEY_PASSWORD: self.password.clear()} if self.password else {})}

    def java(self) -> dict[str, str]:
        """The settings with Java's names."""
        return {_TYPE: "PEM", _CHAIN: self.certificate_pem, _KEY: self.pkcs8.clear()}


def of(slots: Slots) -> Identity | None:
    """The identity from `ssl.keystore.…`, `ssl.certificate.…` and `ssl.key.…`; None if the client has no certificate.

    Raises:
        PartwrightError: A store cannot be read, a setting is missing, or two settings differ.
    """
    password = slots[_KEY_PASSWORD].text() if _KEY_PASSWORD in slots else None
    pair = _of_pair(slots)
    if _STORE in slots:
        store = _of_store(slots, password)
        if pair is not None and pair != store:
            raise PartwrightError(
                f"{spoken_of(slots[_STORE])} and the settings of a certificate next to it differ: leave one out",
                field=_STORE,
            )
    elif pair is None:
        for name in (_PASSWORD, _KEY_PASSWORD):
            if name in slots:
                raise PartwrightError(
                    f"{spoken_of(slots[name])} has no {_STORE}, which it is for", field=name
                )
        return None
    else:
        store = pair
    where = spoken_of(next(slots[name] for name in (_STORE, _KEY, _KEY_FILE) if name in slots))
    clear = stores.pkcs8(store.key, password, where)
    if not stores.go_together(store.certificate_pem, clear):
        of = spoken_of(next(slots[name] for name in (_STORE, _CHAIN, _CHAIN_FILE) if name in slots))
        what = f"{of} and {where} do" if of != where else f"the first certificate and the key of {of} do"
        raise PartwrightError(f"{what} not go together: name a certificate and its own key", field=_KEY)
    return Identity(
        store.certificate_pem,
        Secret(store.key.text),
        Secret(password) if store.key.encrypted and password is not None else None,
        Secret(clear),
        _notes(slots, store.key),
    )


def _of_store(slots: Slots, key_password: str | None) -> stores.Store:
    kind = slots[_TYPE].text() if _TYPE in slots else None
    password = slots[_PASSWORD].text() if _PASSWORD in slots else None
    given = slots[_STORE]
    return stores.key_store(given.text(), spoken_of(given), kind, password, key_password)


def _of_pair(slots: Slots) -> stores.Store | None:
    chain = _text(slots, _CHAIN, _CHAIN_FILE)
    key = _text(slots, _KEY, _KEY_FILE)
    if chain is None and key is None:
        return None
    if chain is None or key is None:
        has, lacks = (_KEY_FILE, _CHAIN_FILE) if chain is None else (_CHAIN_FILE, _KEY_FILE)
        raise PartwrightError(
            f"a client's certificate and its key go together: there is {has} or its text, and no {lacks}",
            field=lacks,
        )
    return stores.Store(pem.certificates(*chain), pem.private_key(*key))


def _text(slots: Slots, inline: str, file: str) -> tuple[str, str] | None:
    """A PEM text and its name in sentences, from a file or a setting. If both are given, they must be equal."""
    found: list[tuple[str, GivenSetting]] = []
    if inline in slots:
        found.append((slots[inline].text(), slots[inline]))
    if file in slots:
        path = slots[file].text()
        found.append((file_bytes(path, spoken_of(slots[file])).decode("utf-8", "replace"), slots[file]))
    if len({text.strip() for text, _ in found}) > 1:
        raise PartwrightError(
            f"{spoken_of(slots[file])} and {slots[inline].name} differ: leave one out", field=slots[file].name
        )
    if not found:
        return None
    text, given = found[-1]
    return text, spoken_of(given) + (f" {given.text()!r}" if file in slots else "")


def _notes(slots: Slots, key: pem.Key) -> tuple[str, ...]:
    for name in (_KEY_FILE, _STORE):
        if name in slots and not key.encrypted:
            path = slots[name].text()
            is_pem = name == _KEY_FILE or (_TYPE in slots and slots[_TYPE].text().upper() == "PEM")
            if is_pem and readable_by_others(path):
                return (f"others may read the private key in {path}: chmod 600 {shlex.quote(path)}",)
    return ()
