"""Throw-away certificates for the embedded Kafka: an authority, and what it signs, in the formats that clients read."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Self

from partwright.kafka.extras import extra_package

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.x509 import Certificate, CertificateBuilder, Name
    from cryptography.x509.general_name import GeneralName

SERVER_NAMES = ("localhost", "127.0.0.1")
"""The names under which clients reach the embedded Kafka."""

# Clients whose clock is a little behind must accept it at once.
_BEFORE = timedelta(hours=1)
_VALID = timedelta(days=30)


@dataclass(frozen=True)
class Issued:
    """A certificate with its key, signed by an authority.

    Attributes:
        key: The private key.
        certificate: The certificate.
        authority: The certificate of the authority that signed it.
    """

    key: EllipticCurvePrivateKey = field(repr=False)
    certificate: Certificate
    authority: Certificate

    @property
    def pem(self) -> bytes:
        """Key, certificate and chain in one file, for Kafka's `ssl.keystore.type=PEM` (KIP-651).

        The key is in PKCS#8 and not encrypted.
        """
        from cryptography.hazmat.primitives import serialization

        key = self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return key + _pem(self.certificate) + _pem(self.authority)

    def pkcs12(self, name: str, password: str) -> bytes:
        """The same as a PKCS12 key store.

        Args:
            name: The entry's name in the store.
            password: With which the store is encrypted.

        Returns:
            The store's bytes.
        """
        from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, pkcs12

        return pkcs12.serialize_key_and_certificates(
            name.encode(),
            self.key,
            self.certificate,
            [self.authority],
            BestAvailableEncryption(password.encode()),
        )


@dataclass(frozen=True)
class Authority:
    """A certificate authority that nobody trusts unless told to.

    Attributes:
        key: Its private key.
        certificate: Its own certificate.

    Examples:
        >>> issued = Authority.new().issue("broker", SERVER_NAMES)
        >>> issued.pem.count(b"-----BEGIN CERTIFICATE-----")
        2
    """

    key: EllipticCurvePrivateKey = field(repr=False)
    certificate: Certificate

    @classmethod
    def new(cls) -> Self:
        """A new authority with a key of its own.

        Raises:
            MissingExtraError: cryptography is missing.
        """
        with extra_package("cryptography"):
            from cryptography.hazmat.primitives.asymmetric import ec
        key = ec.generate_private_key(ec.SECP256R1())
        name = _name("partwright throw-away CA")
        builder = _builder(name, key, name, key, _VALID, is_authority=True)
        return cls(key, _signed(builder, key))

    @property
    def pem(self) -> bytes:
        """Its certificate in PEM, which clients must trust."""
        return _pem(self.certificate)

    def issue(self, common_name: str, names: Sequence[str] = (), *, valid: timedelta = _VALID) -> Issued:
        """A certificate with a new key, for a server or a client.

        Args:
            common_name: Its subject's CN; Kafka takes a client's name from it.
            names: The host names and IP addresses that it is valid for; none for a client.
            valid: How long it is valid from now on; negative for an expired one.

        Returns:
            The certificate and its key.
        """
        from cryptography import x509
        from cryptography.hazmat.primitives.asymmetric import ec

        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(_name(common_name), key, self.certificate.subject, self.key, valid)
        if names:
            alternatives = x509.SubjectAlternativeName([_alternative(name) for name in names])
            builder = builder.add_extension(alternatives, critical=False)
        return Issued(key, _signed(builder, self.key), self.certificate)

    def pkcs12_trust_store(self, password: str) -> bytes:
        """A PKCS12 trust store with only this authority, marked so that Java trusts it.

        Args:
            password: With which the store is encrypted.

        Returns:
            The store's bytes.
        """
        from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, pkcs12

        trusted = pkcs12.PKCS12Certificate(self.certificate, b"ca")
        return pkcs12.serialize_java_truststore([trusted], BestAvailableEncryption(password.encode()))


def _name(common_name: str) -> Name:
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _alternative(name: str) -> GeneralName:
    from cryptography import x509

    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _builder(
    subject: Name,
    key: EllipticCurvePrivateKey,
    issuer: Name,
    issuer_key: EllipticCurvePrivateKey,
    valid: timedelta,
    *,
    is_authority: bool = False,
) -> CertificateBuilder:
    """A certificate that has yet to be signed."""
    from cryptography import x509

    now = datetime.now(UTC)
    usage = x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=is_authority,
        crl_sign=is_authority,
        encipher_only=False,
        decipher_only=False,
    )
    # Python's ssl is strict since 3.13: it looks for the identifiers and the usage.
    own = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key())
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(min(now, now + valid) - _BEFORE)
        .not_valid_after(now + valid)
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(own, critical=False)
        .add_extension(signer, critical=False)
    )


def _signed(builder: CertificateBuilder, key: EllipticCurvePrivateKey) -> Certificate:
    from cryptography.hazmat.primitives import hashes

    return builder.sign(key, hashes.SHA256())


def _pem(certificate: Certificate) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding

    return certificate.public_bytes(Encoding.PEM)
