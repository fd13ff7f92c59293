"""The security modes of the embedded Kafka by name, with the settings of broker and clients for each.

Nothing here connects. Passwords and certificates are made for one broker and removed with it.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, get_args

from partwright._check import meant, shown, unknown
from partwright.errors import BrokerError, PartwrightError
from partwright.kafka.connection.properties import properties_text
from partwright.kafka.embedded_certificates import SERVER_NAMES, Authority

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Self

__all__ = [
    "ADMIN",
    "CLIENT_PROPERTIES",
    "USER",
    "BrokerSecurity",
    "Form",
    "Security",
    "Stores",
    "security_names",
]

Form = Literal["java", "librdkafka"]
Stores = Literal["PEM", "PKCS12", "JKS"]

USER = "alice"
ADMIN = "admin"
CLIENT_PROPERTIES = "client.properties"
_LISTENER = "CLIENTS"
_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
_MODULES = "org.apache.kafka.common.security."
_STORE_PASSWORD = "store.password"  # noqa: S105 - a file's name


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
        found = _BY_NAME.get(str(name).upper())
        if found is None:
            names = security_names()
            raise PartwrightError(
                f"the embedded Kafka has no security {shown(name)}: say one of {', '.join(names)}"
                f"{meant(name, names, opening='; ')}",
                field="security",
                value=name,
            )
        return found

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
        keytool: Java's `keytool`, which makes JKS stores; None if it is missing.
        passwords: The passwords by user name; empty if no password is asked for.
        store_password: The password of the PKCS12 and JKS stores.
        stores: The certificates and stores: file contents by name.
    """

    security: Security
    folder: Path
    keytool: Path | None
    passwords: Mapping[str, str] = field(repr=False)
    store_password: str = field(repr=False)
    stores: Mapping[str, bytes] = field(repr=False)

    @classmethod
    def new(cls, security: Security, folder: Path, keytool: Path | None = None) -> Self:
        """A broker's security, with new passwords and certificates.

        Args:
            security: Which one it is.
            folder: The broker's folder; it need not exist yet.
            keytool: Java's `keytool`, if it exists.

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
            stores[_STORE_PASSWORD] = store_password.encode()
            if security.client_certificate:
                issued = authority.issue(USER)
                stores[f"{USER}.pem"] = issued.pem
                stores[f"{USER}.p12"] = issued.pkcs12(USER, store_password)
        return cls(security, folder, keytool, passwords, store_password, stores)

    @classmethod
    def of_folder(
        cls, folder: Path, name: str, passwords: Mapping[str, str], store_password: str, stores: Sequence[str]
    ) -> Self:
        """The security of a broker that runs in a folder, read from the result of `facts`."""
        texts = {each: (folder / each).read_bytes() for each in stores}
        return cls(Security.named(name), folder, None, passwords, store_password, texts)

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
        # Clients get the paths of the first broker's stores.
        return replace(self, folder=folder, keytool=None)

    @property
    def listener(self) -> str:
        """The name of the listener that clients reach."""
        return _LISTENER if self.security.is_secured else "PLAINTEXT"

    @property
    def server_properties(self) -> dict[str, str]:
        """The security settings in server.properties, by Kafka's names; empty for PLAINTEXT."""
        security, of = self.security, f"listener.name.{_LISTENER.lower()}."
        found = {}
        if security.encrypted:
            found[f"{of}ssl.keystore.type"] = "PEM"
            found[f"{of}ssl.keystore.location"] = self._file("server.pem")
        if security.client_certificate:
            found[f"{of}ssl.client.auth"] = "required"
            found[f"{of}ssl.truststore.type"] = "PEM"
            found[f"{of}ssl.truststore.location"] = self._file("ca.pem")
            # By default a client's name would be the whole subject of its certificate.
            found[f"{of}ssl.principal.mapping.rules"] = "RULE:^CN=([^,]+).*$/$1/,DEFAULT"
        if security.mechanism:
            found[f"{of}sasl.enabled.mechanisms"] = security.mechanism
            found[f"{of}{security.mechanism.lower()}.sasl.jaas.config"] = self._server_jaas()
        if security.acl:
            found["authorizer.class.name"] = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
            # The broker itself, and the check whether it answers, use the inner listener without a login.
            found["super.users"] = f"User:ANONYMOUS;User:{ADMIN}"
        return found

    @property
    def commands(self) -> list[list[str]]:
        """The commands that turn the PKCS12 stores into JKS stores; no password is among the arguments."""
        if self.keytool is None or not self.security.encrypted:
            return []
        password = self._file(_STORE_PASSWORD)
        # It runs for half a second.
        start = [str(self.keytool), "-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC", "-J-XX:-UsePerfData"]
        made = [
            [
                *[*start, "-importcert", "-noprompt", "-alias", "ca", "-file", self._file("ca.pem")],
                *["-keystore", self._file("truststore.jks"), "-storetype", "JKS"],
                *["-storepass:file", password],
            ]
        ]
        if self.security.client_certificate:
            made.append(
                [
                    *[*start, "-importkeystore", "-noprompt", "-srckeystore", self._file(f"{USER}.p12")],
                    *["-srcstoretype", "PKCS12", "-srcstorepass:file", password],
                    *["-destkeystore", self._file(f"{USER}.jks"), "-deststoretype", "JKS"],
                    *["-deststorepass:file", password],
                ]
            )
        return made

    def files(self, bootstrap: str) -> dict[str, bytes]:
        """All files of the security except the JKS stores: contents by name; empty for PLAINTEXT.

        Args:
            bootstrap: Where clients reach the broker.
        """
        if not self.security.is_secured:
            return {}
        of_librdkafka = self.client_properties(bootstrap, form="librdkafka")
        found = {
            **self.stores,
            CLIENT_PROPERTIES: _text(self.client_properties(bootstrap)),
            # kcat takes everything after the first = unchanged.
            "librdkafka.properties": "".join(
                f"{name}={value}\n" for name, value in of_librdkafka.items()
            ).encode(),
        }
        if ADMIN in self.security.users:
            found["admin.properties"] = _text(self.client_properties(bootstrap, ADMIN))
        for stores in self._other_stores():
            name = f"client-{stores.lower()}.properties"
            found[name] = _text(self.client_properties(bootstrap, stores=stores))
        return found

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
            BrokerError: There are no JKS stores: keytool is missing, or librdkafka, which takes none, is to read them.
        """
        for given, what, names in (
            (user, "user", self.security.users),
            (form, "form", get_args(Form)),
            (stores, "format of stores", get_args(Stores)),
        ):
            if given not in names:
                raise unknown(given, what, names, f"a Kafka with {self.security.name}")
        found = {"bootstrap.servers": bootstrap, "security.protocol": self.security.protocol}
        if form == "java":
            return found | self._java_trust(stores) | self._java_login(user)
        return found | self._librdkafka_trust(stores) | self._librdkafka_login(user)

    def _java_trust(self, stores: Stores) -> dict[str, str]:
        if not self.security.encrypted:
            return {}
        if stores == "JKS" and self.keytool is None:
            raise BrokerError("there is no keytool next to java to make JKS stores: take PEM or PKCS12")
        ending = {"PEM": "pem", "PKCS12": "p12", "JKS": "jks"}[stores]
        password = {} if stores == "PEM" else {"password": self.store_password}
        trusted = {
            "type": stores,
            "location": self._file("ca.pem" if stores == "PEM" else f"truststore.{ending}"),
        }
        found = {f"ssl.truststore.{name}": value for name, value in (trusted | password).items()}
        if self.security.client_certificate:
            shown = {"type": stores, "location": self._file(f"{USER}.{ending}")}
            found |= {f"ssl.keystore.{name}": value for name, value in (shown | password).items()}
            found |= {f"ssl.key.{name}": value for name, value in password.items()}
        return found

    def _librdkafka_trust(self, stores: Stores) -> dict[str, str]:
        if not self.security.encrypted:
            return {}
        if stores == "JKS":
            raise BrokerError("librdkafka reads no JKS stores: take PEM or PKCS12")
        # It takes authorities only as PEM.
        found = {"ssl.ca.location": self._file("ca.pem")}
        if self.security.client_certificate and stores == "PEM":
            both = self._file(f"{USER}.pem")
            found |= {"ssl.certificate.location": both, "ssl.key.location": both}
        elif self.security.client_certificate:
            found |= {
                "ssl.keystore.location": self._file(f"{USER}.p12"),
                "ssl.keystore.password": self.store_password,
            }
        return found

    def _java_login(self, user: str) -> dict[str, str]:
        mechanism = self.security.mechanism
        if mechanism is None:
            return {}
        if mechanism == "OAUTHBEARER":
            options = f'unsecuredLoginStringClaim_sub="{user}"'
        else:
            options = f'username="{user}" password="{self.passwords[user]}"'
        return {
            "sasl.mechanism": mechanism,
            "sasl.jaas.config": f"{_login_module(mechanism)} required {options};",
        }

    def _librdkafka_login(self, user: str) -> dict[str, str]:
        mechanism = self.security.mechanism
        if mechanism is None:
            return {}
        found = {"sasl.mechanism": mechanism}
        if mechanism == "OAUTHBEARER":
            return found | {
                "enable.sasl.oauthbearer.unsecure.jwt": "true",
                "sasl.oauthbearer.config": f"principal={user}",
            }
        return found | {"sasl.username": user, "sasl.password": self.passwords[user]}

    def _server_jaas(self) -> str:
        mechanism = self.security.mechanism or ""
        options = {
            "PLAIN": "".join(f' user_{user}="{password}"' for user, password in self.passwords.items()),
            # The broker's own token. Nothing asks for it, but without a name in it the broker would not start.
            "OAUTHBEARER": ' unsecuredLoginStringClaim_sub="broker"',
        }
        return f"{_login_module(mechanism)} required{options.get(mechanism, '')};"

    def _other_stores(self) -> list[Stores]:
        if not self.security.encrypted:
            return []
        return ["PKCS12"] if self.keytool is None else ["PKCS12", "JKS"]

    def _file(self, name: str) -> str:
        return str(self.folder / name)


def _login_module(mechanism: str) -> str:
    """The class of Kafka's JAAS login module for a SASL mechanism."""
    package, name = {
        "PLAIN": ("plain", "PlainLoginModule"),
        "OAUTHBEARER": ("oauthbearer", "OAuthBearerLoginModule"),
    }.get(mechanism, ("scram", "ScramLoginModule"))
    return f"{_MODULES}{package}.{name}"


def _text(settings: Mapping[str, str]) -> bytes:
    return properties_text(settings).encode("ascii")
