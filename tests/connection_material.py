"""Certificates, and files of them, in every format that clients accept."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)

if TYPE_CHECKING:
    from pathlib import Path

    from partwright.kafka.embedded_certificates import Authority, Issued

PASSWORD, KEY_PASSWORD = "store-secret-71", "key-secret-93"


@dataclass(frozen=True)
class Material:
    """An authority, a client's certificate, and the folder that has both in files."""

    folder: Path
    authority: Authority = field(repr=False)
    client: Issued = field(repr=False)

    def path(self, name: str) -> str:
        return str(self.folder / name)

    @property
    def ca(self) -> str:
        return self.authority.pem.decode()

    @property
    def chain(self) -> str:
        return self.client.pem.decode().partition("-----END PRIVATE KEY-----\n")[2]

    @property
    def key(self) -> str:
        return self.client.pem.decode().removesuffix(self.chain)

    def key_as(self, form: PrivateFormat, password: str | None) -> bytes:
        how = NoEncryption() if password is None else BestAvailableEncryption(password.encode())
        return self.client.key.private_bytes(Encoding.PEM, form, how)

    def write(self) -> None:
        """Writes every file, readable only by its owner."""
        store = self.authority.pkcs12_trust_store(PASSWORD)
        files = {
            "ca.pem": self.authority.pem,
            "trust.p12": store,
            "key.p12": self.client.pkcs12("alice", PASSWORD),
            "both.pem": self.client.pem,
            "turned.pem": self.key.encode() + self.authority.pem + self.chain.encode(),
            "chain.pem": self.chain.encode(),
            "key.pem": self.key.encode(),
            "sealed.pem": self.key_as(PrivateFormat.PKCS8, KEY_PASSWORD),
            "old.pem": self.key_as(PrivateFormat.TraditionalOpenSSL, KEY_PASSWORD),
            "sec1.pem": self.key_as(PrivateFormat.TraditionalOpenSSL, None),
            "empty": b"",
            "text": b"no certificate at all\n",
            "bytes": bytes(range(256)),
            "cut.pem": self.authority.pem[:200] + b"\n-----END CERTIFICATE-----\n",
            "cut.p12": store[:-9],
            "jceks": bytes.fromhex("cececece00000002"),
            "cut.jks": bytes.fromhex("feedfeed000000020000000100000002"),
        }
        for name, data in files.items():
            path = self.folder / name
            path.write_bytes(data)
            path.chmod(0o600)
