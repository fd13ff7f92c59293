"""OAUTHBEARER: the source of a client's token, for librdkafka and for Java."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from partwright._check import shown
from partwright.errors import PartwrightError
from partwright.kafka.connection import jaas, trust
from partwright.kafka.connection.secret import Secret, clear
from partwright.kafka.connection.slots import JAAS, spoken_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from partwright.kafka.connection.slots import Slots

__all__ = ["HANDLER", "UNSECURED_HANDLER", "Callback", "Oidc", "Unsecured", "of"]

HANDLER = "OAuthBearerLoginCallbackHandler"
UNSECURED_HANDLER = "OAuthBearerUnsecuredLoginCallbackHandler"
_MECHANISM = "OAUTHBEARER"
_MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
_OIDC_HANDLER = f"org.apache.kafka.common.security.oauthbearer.{HANDLER}"
_OF = "sasl.oauthbearer."
_URL = f"{_OF}token.endpoint.url"
_ID, _SECRET = f"{_OF}client.credentials.client.id", f"{_OF}client.credentials.client.secret"
_SCOPE, _EXTENSIONS, _CONFIG = f"{_OF}scope", f"{_OF}extensions", f"{_OF}config"
_METHOD, _GRANT, _METADATA = f"{_OF}method", f"{_OF}grant.type", f"{_OF}metadata.authentication.type"
_RETRIEVER, _ASSERTION, _CLAIM = f"{_OF}jwt.retriever.class", f"{_OF}assertion.", f"{_OF}sub.claim.name"
_UNSECURE = "enable.sasl.oauthbearer.unsecure.jwt"
_HANDLER_CLASS = "sasl.login.callback.handler.class"
# The grant with a client's id and secret: the only one that both libraries have always supported.
_GRANTS = {
    _GRANT: {"client_credentials"},
    _METADATA: {"none"},
    _RETRIEVER: {"ClientCredentialsJwtRetriever", "DefaultJwtRetriever"},
}
_EXTENSION, _UNSECURED, _TLS = "extension_", "unsecuredLogin", "ssl."
_LIST, _TEXT = "ListClaim_", "StringClaim_"


@dataclass(frozen=True)
class Callback:
    """A program's own `oauth_cb` for confluent-kafka."""

    call: Callable[[str], object]
    mechanism: str = _MECHANISM

    def librdkafka(self, servers: str | None) -> dict[str, object]:
        """The settings with librdkafka's names."""
        del servers
        return {"sasl.mechanism": _MECHANISM, "oauth_cb": self.call}

    def java(self) -> dict[str, str]:
        """Refuses: Java cannot call it."""
        raise PartwrightError(
            "oauth_cb is a function of Python, which Java cannot call: give Java's settings of SASL"
        )


@dataclass(frozen=True)
class Unsecured:
    """An unsigned token for tests. The fields are those of librdkafka's `sasl.oauthbearer.config`."""

    principal: str
    principal_claim: str = "sub"
    scope: tuple[str, ...] = ()
    scope_claim: str = "scope"
    seconds: str = "3600"
    extensions: tuple[tuple[str, str], ...] = ()
    mechanism: str = _MECHANISM

    def librdkafka(self, servers: str | None) -> dict[str, object]:
        """The settings with librdkafka's names."""
        del servers
        pairs = {
            "principalClaimName": self.principal_claim,
            "principal": self.principal,
            "scopeClaimName": self.scope_claim,
            "lifeSeconds": self.seconds,
            **({"scope": ",".join(self.scope)} if self.scope else {}),
            **{f"{_EXTENSION}{name}": value for name, value in self.extensions},
        }
        for name, value in pairs.items():
            if " " in value:
                raise PartwrightError(
                    f"librdkafka takes no blank in the {name} of an unsecured token, and Java does"
                )
        config = " ".join(f"{name}={value}" for name, value in pairs.items())
        return {"sasl.mechanism": _MECHANISM, _UNSECURE: "true", _CONFIG: config}

    def java(self) -> dict[str, str]:
        """The settings with Java's names."""
        options = {
            f"{_UNSECURED}PrincipalClaimName": self.principal_claim,
            f"{_UNSECURED}{_TEXT}{self.principal_claim}": self.principal,
            f"{_UNSECURED}ScopeClaimName": self.scope_claim,
            f"{_UNSECURED}LifetimeSeconds": self.seconds,
            # The first character is the separator of the list.
            **(
                {f"{_UNSECURED}{_LIST}{self.scope_claim}": "".join(f",{one}" for one in self.scope)}
                if self.scope
                else {}
            ),
            **{f"{_UNSECURED}Extension_{name}": value for name, value in self.extensions},
        }
        return {"sasl.mechanism": _MECHANISM, "sasl.jaas.config": jaas.written(_MODULE, options)}


@dataclass(frozen=True)
class Oidc:
    """A token from an authorization server.

    Attributes:
        settings: The settings `sasl.oauthbearer.…`, with the names that both libraries share.
        extensions: Further data for the broker.
        ca_pem: The CAs that are trusted for the authorization server; None means the system's.
    """

    settings: tuple[tuple[str, str | Secret], ...]
    extensions: tuple[tuple[str, str], ...] = ()
    ca_pem: str | None = None
    mechanism: str = _MECHANISM

    def librdkafka(self, servers: str | None) -> dict[str, object]:
        """The settings with librdkafka's names."""
        del servers
        found: dict[str, object] = {"sasl.mechanism": _MECHANISM, _METHOD: "oidc"}
        found |= {name: clear(value) for name, value in self.settings}
        if self.extensions:
            found[_EXTENSIONS] = ",".join(f"{name}={value}" for name, value in self.extensions)
        return found | ({"https.ca.pem": self.ca_pem} if self.ca_pem else {})

    def java(self) -> dict[str, str]:
        """The settings with Java's names."""
        settings = {name: clear(value) for name, value in self.settings}
        names = {_ID: "clientId", _SECRET: "clientSecret", _SCOPE: "scope"}
        # In JAAS, where Kafka's clients have read them since 3.1; only since 4.1 they are settings too.
        options = {option: settings.pop(name) for name, option in names.items() if name in settings}
        options |= {f"{_EXTENSION}{name}": value for name, value in self.extensions}
        if self.ca_pem:
            options |= {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": self.ca_pem}
        return {
            "sasl.mechanism": _MECHANISM,
            "sasl.jaas.config": jaas.written(_MODULE, options),
            _HANDLER_CLASS: _OIDC_HANDLER,
            **settings,
        }


_Found: TypeAlias = "tuple[Callback | Unsecured | Oidc, set[str]]"


def of(slots: Slots) -> _Found:
    """The source of the token, and the settings that determine it.

    Raises:
        PartwrightError: They do not determine it.
    """
    callback = slots.get("oauth_cb")
    if callback is not None:
        if not callable(callback.value):
            raise PartwrightError(
                f"{spoken_of(callback)} is a function, and only Python can give one", field="oauth_cb"
            )
        return Callback(callback.value), {"oauth_cb"}
    method = slots[_METHOD].text().lower() if _METHOD in slots else ""
    if method not in {"", "default", "oidc"}:
        raise PartwrightError(
            f"{spoken_of(slots[_METHOD])} is default or oidc, not {shown(slots[_METHOD].text())}",
            field=_METHOD,
        )
    if _URL in slots or method == "oidc" or _METADATA in slots:
        return _oidc(slots)
    if _UNSECURE in slots and slots[_UNSECURE].text().lower() == "true":
        return _of_config(slots)
    if any(name.startswith(f"{JAAS}{_UNSECURED}") for name in slots):
        return _of_options(slots)
    raise PartwrightError(
        f"sasl.mechanism OAUTHBEARER needs a place that its token comes from: set {_URL}, and a client's id and secret",
        field="sasl.mechanism",
    )


def _oidc(slots: Slots) -> _Found:
    _refuse_other_grants(slots)
    for name in (_URL, _ID, _SECRET):
        if name not in slots:
            raise PartwrightError(f"sasl.mechanism OAUTHBEARER by OIDC needs {name}", field=name)
    if not slots[_URL].text().lower().startswith(("https://", "http://")):
        raise PartwrightError(
            f"{spoken_of(slots[_URL])} is an address that begins with https://: librdkafka cannot read token files",
            field=_URL,
        )
    options = {name: given for name, given in slots.items() if name.startswith(JAAS)}
    ca_pem, used = _https(slots, options)
    extensions = _pairs(slots[_EXTENSIONS].text().split(","), _EXTENSIONS) if _EXTENSIONS in slots else {}
    extensions |= _named(_options(slots), _EXTENSION)
    for name, value in extensions.items():
        if "," in value:
            raise PartwrightError(
                f"the extension {name} has a comma, by which librdkafka separates extensions"
            )
    kept = slots.keys() & {_URL, _ID, _SECRET, _SCOPE, _CLAIM}
    found = Oidc(_values(slots, kept), tuple(sorted(extensions.items())), ca_pem)
    extended = {name for name in options if name.startswith(f"{JAAS}{_EXTENSION}")}
    return found, kept | used | extended | {_EXTENSIONS, _METHOD, *_GRANTS}


def _refuse_other_grants(slots: Slots) -> None:
    for name, given in slots.items():
        is_other = name in _GRANTS and given.text().rpartition(".")[2] not in _GRANTS[name]
        if is_other or name.startswith(_ASSERTION):
            raise PartwrightError(
                f"{spoken_of(given)} asks for a token in another way than by client_credentials, which partwright does "
                "not do: give a client's id and secret, or in Python an oauth_cb",
                field=name,
            )


def _https(slots: Slots, options: Slots) -> tuple[str | None, set[str]]:
    """The CAs for the authorization server: JAAS has its own trust store, librdkafka has `https.ca.…`."""
    own = {
        name.removeprefix(JAAS): given for name, given in options.items() if name.startswith(f"{JAAS}{_TLS}")
    }
    of_java = {name: given for name, given in own.items() if name.startswith("ssl.truststore.")}
    if own.keys() - of_java.keys():
        name = min(own.keys() - of_java.keys())
        raise PartwrightError(
            f"{spoken_of(own[name])}: librdkafka reaches the token's server without it", field=name
        )
    named = {"https.ca.location": "ssl.ca.location", "https.ca.pem": "ssl.truststore.certificates"}
    of_librdkafka = {to: slots[name] for name, to in named.items() if name in slots}
    found = trust.of(of_java | of_librdkafka)
    return found.ca_pem, {f"{JAAS}{name}" for name in of_java} | named.keys()


def _of_config(slots: Slots) -> _Found:
    pairs = _pairs(slots[_CONFIG].text().split(), _CONFIG) if _CONFIG in slots else {}
    extensions = {name: pairs.pop(name) for name in list(pairs) if name.startswith(_EXTENSION)}
    named = {"principalClaimName", "principal", "scopeClaimName", "scope", "lifeSeconds"}
    if "principal" not in pairs or pairs.keys() - named:
        raise PartwrightError(
            f"{_CONFIG} has principal=NAME, and of others {', '.join(sorted(named))}", field=_CONFIG
        )
    found = Unsecured(
        pairs["principal"],
        pairs.get("principalClaimName", "sub"),
        tuple(filter(None, pairs.get("scope", "").split(","))),
        pairs.get("scopeClaimName", "scope"),
        pairs.get("lifeSeconds", "3600"),
        tuple(sorted((name.removeprefix(_EXTENSION), value) for name, value in extensions.items())),
    )
    return found, {_CONFIG, _UNSECURE, _METHOD}


def _of_options(slots: Slots) -> _Found:
    """Java's options of `OAuthBearerUnsecuredLoginCallbackHandler`."""
    given = _named(_options(slots), _UNSECURED)
    claim = given.pop("PrincipalClaimName", "sub")
    scope_claim = given.pop("ScopeClaimName", "scope")
    principal = given.pop(f"{_TEXT}{claim}", None)
    scope = given.pop(f"{_LIST}{scope_claim}", "")
    found = Unsecured(
        principal or "",
        claim,
        tuple(filter(None, scope[1:].split(scope[0]))) if scope else (),
        scope_claim,
        given.pop("LifetimeSeconds", "3600"),
        tuple(sorted(_named(given, "Extension_").items())),
    )
    left = sorted(name for name in given if not name.startswith("Extension_"))
    if principal is None or left:
        what = f"has {_UNSECURED}{left[0]}" if left else f"has no {_UNSECURED}{_TEXT}{claim}"
        raise PartwrightError(
            f"sasl.jaas.config {what}: librdkafka's unsecured token has principal, scope, lifetime, extensions",
            field="sasl.jaas.config",
        )
    return found, {name for name in slots if name.startswith(f"{JAAS}{_UNSECURED}")}


def _options(slots: Slots) -> dict[str, str]:
    """The JAAS options that are not settings, by their own names."""
    return {name.removeprefix(JAAS): given.text() for name, given in slots.items() if name.startswith(JAAS)}


def _named(options: Mapping[str, str], beginning: str) -> dict[str, str]:
    """The options whose names have this prefix, without the prefix."""
    return {
        name.removeprefix(beginning): text for name, text in options.items() if name.startswith(beginning)
    }


def _pairs(texts: list[str], name: str) -> dict[str, str]:
    if any("=" not in text for text in texts):
        raise PartwrightError(f"{name} has pairs of NAME=VALUE", field=name)
    return {key.strip(): value for key, _, value in (text.partition("=") for text in texts)}


def _values(slots: Slots, names: Iterable[str]) -> tuple[tuple[str, str | Secret], ...]:
    return tuple(
        (name, value) for name in sorted(names) if isinstance(value := slots[name].value, (str, Secret))
    )
