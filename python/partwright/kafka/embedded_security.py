"""The security modes of the embedded Kafka by name, with the settings of broker and clients for each.

Nothing here connects. Passwords and certificates are made for one broker and removed with it.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Self, get_args

from partwright._check import meant, shown, unknown
from partwright.errors import PartwrightError
from partwright.kafka.connection.jaas import MODULES, jaas_text
from partwright.kafka.connection.properties import properties_text
from partwright.kafka.embedded_certificates import SERVER_NAMES, Authority

Form = Literal["java", "librdkafka"]
Stores = Literal["PEM", "PKCS12"]

USER = "alice"
ADMIN = "admin"
CLIENT_PROPERTIES = "client.properties"
_LISTENER = "CLIENTS"
_ENDINGS = {"PEM": "pem", "PKCS12": "p12"}
# Java's option with the name in an unsigned token.
_TOKEN = "unsecuredLoginStringClaim_sub"  # noqa: S105 - an option's name
_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")


@dataclass(frozen=True)
class Security:
    """One way for clients to connect to a Kafka and log in.

    Attributes:
        name: Its name here.
        protocol: Kafka's `security.protocol`.
        mechanism: Kafka's `sasl.mechanism`; None without SASL.
        client_certificate: Whether clients must show a certificate (mTLS).
        acl: Whether users other than the super user `admin` may do only what an ACL allows.
    """

    name: str
    protocol: str
    mechanism: str | None = None
    client_certificate: bool = False
    acl: bool = False

    @classmethod
    def named(cls, name: str | None) -> Security:
        """The security with a name.

        Args:
            name: One of `security_names()`, or `SASL_PLAINTEXT:` or `SASL_SSL:` followed by a mechanism, in upper or
                lower case; None for PLAINTEXT.

        Raises:
            PartwrightError: There is none of that name.

        Examples:
            >>> Security.named("scram-sha-512").protocol, Security.named("sasl_plaintext:PLAIN").name
            ('SASL_PLAINTEXT', 'PLAIN')
        """
        if name is None:
            return _SECURITIES[0]
        security = _BY_NAME.get(str(name).upper())
        if security is None:
            names = security_names()
            raise PartwrightError(
                f"the embedded Kafka has no security {shown(name)}: say one of {', '.join(names)}"
                f"{meant(name, names, opening='; ')}",
                field="security",
                value=name,
            )
        return security

    @property
    def is_secured(self) -> bool:
        """Whether a client needs more than an address."""
        return self.protocol != "PLAINTEXT"

    @property
    def encrypted(self) -> bool:
        """Whether clients speak TLS."""
        return self.protocol.endswith("SSL")

    @property
    def users(self) -> tuple[str, ...]:
        """The users who can log in; without a login, `alice` stands for everybody."""
        return (USER, ADMIN) if self.mechanism else (USER,)

    @property
    def scram(self) -> bool:
        """Whether the broker stores its users itself, so that they can be made only once it runs (KIP-554)."""
        return self.mechanism is not None and self.mechanism.startswith("SCRAM-")


_SECURITIES = (
    Security("PLAINTEXT", "PLAINTEXT"),
    *(Security(mechanism, "SASL_PLAINTEXT", mechanism) for mechanism in _MECHANISMS),
    Security("SSL", "SSL"),
    Security("mTLS", "SSL", client_certificate=True),
    Security("SASL_SSL", "SASL_SSL", "PLAIN"),
    *(Security(f"SASL_SSL:{mechanism}", "SASL_SSL", mechanism) for mechanism in _MECHANISMS[1:]),
    Security("ACL", "SASL_PLAINTEXT", "PLAIN", acl=True),
)
# A protocol alone also means that protocol with PLAIN. Each mechanism may also be written with its protocol in front.
_BY_NAME = {each.name.upper(): each for each in _SECURITIES}
_BY_NAME |= {f"{each.protocol}:{each.mechanism}": each for each in _SECURITIES if not each.acl}
_BY_NAME["SASL_PLAINTEXT"] = _BY_NAME["PLAIN"]


def security_names() -> list[str]:
    """The names of the security modes that the embedded Kafka can start with.

    Examples:
        >>> security_names()[:5]
        ['PLAINTEXT', 'PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512', 'OAUTHBEARER']
    """
    return [each.name for each in _SECURITIES]


@dataclass(frozen=True)
class BrokerSecurity:
    """The security of one broker, with the passwords and certificates that were made for it.

    Attributes:
        security: Which one it is.
        folder: The broker's folder, which will hold the files.
        passwords: The passwords by user name; empty if no password is asked for.
        store_password: The password of the PKCS12 stores.
        stores: The certificates and stores: file contents by name.
    """

    security: Security
    folder: Path
    passwords: Mapping[str, str] = field(repr=False)
    store_password: str = field(repr=False)
    stores: Mapping[str, bytes] = field(repr=False)

    @classmethod
    def new(cls, security: Security, folder: Path) -> Self:
        """A broker's security, with new passwords and certificates.

        Args:
            security: Which one it is.
            folder: The broker's folder; it need not exist yet.

        Raises:
            MissingExtraError: cryptography is missing, and the security needs certificates.
        """
        has_passwords = security.mechanism not in {None, "OAUTHBEARER"}
        passwords = {user: secrets.token_urlsafe(18) for user in security.users if has_passwords}
        store_password = secrets.token_urlsafe(18)
        stores: dict[str, bytes] = {}
        if security.encrypted:
            authority = Authority.new()
            stores["ca.pem"] = authority.pem
            stores["server.pem"] = authority.issue("partwright broker", SERVER_NAMES).pem
            stores["truststore.p12"] = authority.pkcs12_trust_store(store_password)
            if security.client_certificate:
                issued = authority.issue(USER)
                stores[f"{USER}.pem"] = issued.pem
                stores[f"{USER}.p12"] = issued.pkcs12(USER, store_password)
        return cls(security, folder, passwords, store_password, stores)

    @classmethod
    def of_folder(
        cls, folder: Path, name: str, passwords: Mapping[str, str], store_password: str, stores: Sequence[str]
    ) -> Self:
        """The security of a broker that runs in a folder, read from the result of `facts`."""
        texts = {each: (folder / each).read_bytes() for each in stores}
        return cls(Security.named(name), folder, passwords, store_password, texts)

    @property
    def facts(self) -> dict[str, object]:
        """The facts that `of_folder` needs, other than the files."""
        return {
            "name": self.security.name,
            "passwords": dict(self.passwords),
            "store_password": self.store_password,
            "stores": list(self.stores),
        }

    def in_folder(self, folder: Path) -> Self:
        """The security of another broker of the cluster in this folder. It shares users and certificates."""
        return replace(self, folder=folder)

    @property
    def listener(self) -> str:
        """The name of the listener that clients reach."""
        return _LISTENER if self.security.is_secured else "PLAINTEXT"

    @property
    def server_properties(self) -> dict[str, str]:
        """The security settings in server.properties, by Kafka's names; empty for PLAINTEXT."""
        security = self.security
        settings: dict[str, str] = {}
        more: dict[str, str] = {}
        if security.encrypted:
            settings |= {"ssl.keystore.type": "PEM", "ssl.keystore.location": self._file("server.pem")}
        if security.client_certificate:
            settings |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": self._file("ca.pem")}
            settings["ssl.client.auth"] = "required"
            # By default a client's name would be the whole subject of its certificate.
            settings["ssl.principal.mapping.rules"] = "RULE:^CN=([^,]+).*$/$1/,DEFAULT"
        if security.mechanism:
            # The broker's own token. Nothing asks for it, but without a name in it the broker would not start.
            options = {"OAUTHBEARER": {_TOKEN: "broker"}}.get(
                security.mechanism, {f"user_{user}": password for user, password in self.passwords.items()}
            )
            settings["sasl.enabled.mechanisms"] = security.mechanism
            settings[f"{security.mechanism.lower()}.sasl.jaas.config"] = _login(
                security.mechanism, {} if security.scram else options
            )
        if security.acl:
            # The broker itself, and the check whether it answers, use the inner listener without a login.
            more["super.users"] = f"User:ANONYMOUS;User:{ADMIN}"
            more["authorizer.class.name"] = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
        return more | {f"listener.name.{_LISTENER.lower()}.{name}": each for name, each in settings.items()}

    def files(self, bootstrap: str) -> dict[str, bytes]:
        """All files of the security: contents by name; empty for PLAINTEXT.

        Args:
            bootstrap: Where clients reach the broker.
        """
        if not self.security.is_secured:
            return {}
        of_librdkafka = self.client_properties(bootstrap, form="librdkafka").items()
        files = {
            CLIENT_PROPERTIES: self.client_properties(bootstrap),
            "admin.properties": self.client_properties(bootstrap, ADMIN) if self.security.mechanism else None,
            "client-pkcs12.properties": self.client_properties(bootstrap, stores="PKCS12")
            if self.security.encrypted
            else None,
        }
        return {
            **self.stores,
            # kcat takes everything after the first = unchanged.
            "librdkafka.properties": "".join(f"{name}={value}\n" for name, value in of_librdkafka).encode(),
            **{name: properties_text(each).encode("ascii") for name, each in files.items() if each},
        }

    def client_properties(
        self, bootstrap: str, user: str = USER, form: Form = "java", stores: Stores = "PEM"
    ) -> dict[str, str]:
        """The configuration of a client, passwords included.

        Args:
            bootstrap: Where clients reach the broker.
            user: The user who logs in: `alice`, or with SASL also `admin`.
            form: Whether the settings have the names of Java's client or of librdkafka.
            stores: The format of the trust store and the key store, if there are any.

        Raises:
            PartwrightError: There is no such user, form or format.
        """
        for value, what, names in (
            (user, "user", self.security.users),
            (form, "form", get_args(Form)),
            (stores, "format of stores", get_args(Stores)),
        ):
            if value not in names:
                raise unknown(value, what, names, f"a Kafka with {self.security.name}")
        settings = {"bootstrap.servers": bootstrap, "security.protocol": self.security.protocol}
        if self.security.encrypted:
            settings |= (
                self._stores_for_java(stores) if form == "java" else self._stores_for_librdkafka(stores)
            )
        if (mechanism := self.security.mechanism) is None:
            return settings
        settings["sasl.mechanism"] = mechanism
        if mechanism == "OAUTHBEARER":
            of_java = {_TOKEN: user}
            own = {
                "enable.sasl.oauthbearer.unsecure.jwt": "true",
                "sasl.oauthbearer.config": f"principal={user}",
            }
        else:
            of_java = {"username": user, "password": self.passwords[user]}
            own = {f"sasl.{name}": value for name, value in of_java.items()}
        return settings | ({"sasl.jaas.config": _login(mechanism, of_java)} if form == "java" else own)

    def _stores_for_java(self, stores: Stores) -> dict[str, str]:
        places = {"truststore": self._file("ca.pem" if stores == "PEM" else "truststore.p12")}
        if self.security.client_certificate:
            places["keystore"] = self._file(f"{USER}.{_ENDINGS[stores]}")
        settings: dict[str, str] = {f"ssl.{store}.type": stores for store in places}
        settings |= {f"ssl.{store}.location": place for store, place in places.items()}
        if stores != "PEM":
            settings |= {f"ssl.{store}.password": self.store_password for store in places}
            settings |= {"ssl.key.password": self.store_password} if "keystore" in places else {}
        return settings

    def _stores_for_librdkafka(self, stores: Stores) -> dict[str, str]:
        # It takes authorities only as PEM.
        settings = {"ssl.ca.location": self._file("ca.pem")}
        own = self._file(f"{USER}.{_ENDINGS[stores]}")
        if self.security.client_certificate and stores == "PEM":
            settings |= {"ssl.certificate.location": own, "ssl.key.location": own}
        elif self.security.client_certificate:
            settings |= {"ssl.keystore.location": own, "ssl.keystore.password": self.store_password}
        return settings

    def _file(self, name: str) -> str:
        return str(self.folder / name)


def _login(mechanism: str, options: Mapping[str, str]) -> str:
    """The text of `sasl.jaas.config` with Kafka's own login module for a mechanism."""
    module = next(name for name, mechanisms in MODULES.items() if mechanism in mechanisms)
    return jaas_text(module, options)
