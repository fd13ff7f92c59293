"""OAUTHBEARER: the source of a client's token, for librdkafka and for Java."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from partwright._check import shown
from partwright.errors import PartwrightError
from partwright.kafka.connection.jaas import jaas_text
from partwright.kafka.connection.layers import JAAS, setting_error, spoken_of, text_of
from partwright.kafka.connection.secret import Secret, clear
from partwright.kafka.connection.tls import trusted_pem

if TYPE_CHECKING:
    from partwright.kafka.connection.layers import Settings, Value

    # The settings by librdkafka's names, those by Java's (None if Java cannot do it), and the settings that are used.
    Found: TypeAlias = tuple[Mapping[str, Value], Mapping[str, Value] | None, set[str]]

HANDLER = "OAuthBearerLoginCallbackHandler"
UNSECURED_HANDLER = "OAuthBearerUnsecuredLoginCallbackHandler"
_MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
_OIDC_HANDLER = f"org.apache.kafka.common.security.oauthbearer.{HANDLER}"
_CONFIG_OF_JAAS = "sasl.jaas.config"
_OF = "sasl.oauthbearer."
_URL = f"{_OF}token.endpoint.url"
_ID, _SECRET = f"{_OF}client.credentials.client.id", f"{_OF}client.credentials.client.secret"
_SCOPE, _EXTENSIONS, _CONFIG = f"{_OF}scope", f"{_OF}extensions", f"{_OF}config"
_METHOD, _GRANT, _METADATA = f"{_OF}method", f"{_OF}grant.type", f"{_OF}metadata.authentication.type"
_RETRIEVER, _ASSERTION, _CLAIM = f"{_OF}jwt.retriever.class", f"{_OF}assertion.", f"{_OF}sub.claim.name"
_UNSECURE = "enable.sasl.oauthbearer.unsecure.jwt"
# The grant with a client's id and secret: the only one that both libraries have always supported.
_GRANTS = {
    _GRANT: {"client_credentials"},
    _METADATA: {"none"},
    _RETRIEVER: {"ClientCredentialsJwtRetriever", "DefaultJwtRetriever"},
}
_EXTENSION, _UNSECURED = "extension_", "unsecuredLogin"
_LIST, _TEXT = "ListClaim_", "StringClaim_"
# Of an unsecured token, what librdkafka's `sasl.oauthbearer.config` has beside the principal and its scopes: Java's
# option for it, and the default.
_CLAIMS = {
    "principalClaimName": ("PrincipalClaimName", "sub"),
    "scopeClaimName": ("ScopeClaimName", "scope"),
    "lifeSeconds": ("LifetimeSeconds", "3600"),
}


def read_oauth(settings: Settings) -> Found:
    """The source of the token, and the settings that determine it.

    Raises:
        PartwrightError: They do not determine it.
    """
    callback = settings.get("oauth_cb")
    if callback is not None:
        if not callable(callback.value):
            raise setting_error(callback, "is a function, and only Python can give one")
        return {"oauth_cb": callback.value}, None, {"oauth_cb"}
    method = (text_of(settings, _METHOD) or "").lower()
    if method not in {"", "default", "oidc"}:
        raise setting_error(settings[_METHOD], f"is default or oidc, not {shown(settings[_METHOD].text())}")
    options = {
        name.removeprefix(JAAS): each.text() for name, each in settings.items() if name.startswith(JAAS)
    }
    if _URL in settings or method == "oidc" or _METADATA in settings:
        return _oidc(settings, options)
    if (text_of(settings, _UNSECURE) or "").lower() == "true":
        return *_unsecured(_of_config(settings)), {_CONFIG, _UNSECURE, _METHOD}
    unsecured = _with_prefix(options, _UNSECURED)
    if unsecured:
        return *_unsecured(_of_options(unsecured)), {f"{JAAS}{_UNSECURED}{name}" for name in unsecured}
    raise PartwrightError(
        f"sasl.mechanism OAUTHBEARER needs a place that its token comes from: set {_URL}, and a client's id and secret",
        field="sasl.mechanism",
    )


def _oidc(settings: Settings, options: Mapping[str, str]) -> Found:
    """A token from an authorization server."""
    _refuse_other_grants(settings)
    for name in (_URL, _ID, _SECRET):
        if name not in settings:
            raise PartwrightError(f"sasl.mechanism OAUTHBEARER by OIDC needs {name}", field=name)
    if not settings[_URL].text().lower().startswith(("https://", "http://")):
        raise setting_error(
            settings[_URL], "is an address that begins with https://: librdkafka cannot read token files"
        )
    ca_pem, used = _https(settings)
    pairs = text_of(settings, _EXTENSIONS)
    extensions = {} if pairs is None else _pairs(pairs.split(","), _EXTENSIONS)
    extensions = dict(sorted((extensions | _with_prefix(options, _EXTENSION)).items()))
    for name, value in extensions.items():
        if "," in value:
            raise PartwrightError(
                f"the extension {name} has a comma, by which librdkafka separates extensions"
            )
    kept = {name: settings[name].value for name in (_URL, _ID, _SECRET, _SCOPE, _CLAIM) if name in settings}
    own: dict[str, Value] = {_METHOD: "oidc", **kept}
    if extensions:
        own[_EXTENSIONS] = ",".join(f"{name}={value}" for name, value in extensions.items())
    # In JAAS, where Kafka's clients have read them since 3.1; only since 4.1 they are settings too.
    names = {_ID: "clientId", _SECRET: "clientSecret", _SCOPE: "scope"}
    of_jaas = {option: str(clear(kept[name])) for name, option in names.items() if name in kept}
    of_jaas |= {f"{_EXTENSION}{name}": value for name, value in extensions.items()}
    if ca_pem:
        own["https.ca.pem"] = ca_pem
        of_jaas |= {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": ca_pem}
    of_java: dict[str, Value] = {
        _CONFIG_OF_JAAS: Secret(jaas_text(_MODULE, of_jaas)),
        "sasl.login.callback.handler.class": _OIDC_HANDLER,
        **{name: value for name, value in kept.items() if name not in names},
    }
    used |= {*kept, *(f"{JAAS}{name}" for name in options if name.startswith(_EXTENSION))}
    return own, of_java, used | {_EXTENSIONS, _METHOD, *_GRANTS}


def _refuse_other_grants(settings: Settings) -> None:
    for name, setting in settings.items():
        is_other = name in _GRANTS and setting.text().rpartition(".")[2] not in _GRANTS[name]
        if is_other or name.startswith(_ASSERTION):
            raise setting_error(
                setting,
                "asks for a token in another way than by client_credentials, which partwright does not do: give a "
                "client's id and secret, or in Python an oauth_cb",
            )


def _https(settings: Settings) -> tuple[str | None, set[str]]:
    """The CAs for the authorization server: JAAS has its own trust store, librdkafka has `https.ca.…`."""
    of_jaas = {
        name.removeprefix(JAAS): each for name, each in settings.items() if name.startswith(f"{JAAS}ssl.")
    }
    other = min((name for name in of_jaas if not name.startswith("ssl.truststore.")), default=None)
    if other is not None:
        raise PartwrightError(
            f"{spoken_of(of_jaas[other])}: librdkafka reaches the token's server without it", field=other
        )
    named = {"https.ca.location": "ssl.ca.location", "https.ca.pem": "ssl.truststore.certificates"}
    of_librdkafka = {kept: settings[name] for name, kept in named.items() if name in settings}
    return trusted_pem(of_jaas | of_librdkafka), {f"{JAAS}{name}" for name in of_jaas} | named.keys()


def _unsecured(claims: dict[str, str]) -> tuple[dict[str, Value], dict[str, Value]]:
    """An unsigned token for tests, from the pairs of librdkafka's `sasl.oauthbearer.config`."""
    claims = {name: default for name, (_, default) in _CLAIMS.items()} | claims
    for name, value in claims.items():
        if " " in value:
            raise PartwrightError(
                f"librdkafka takes no blank in the {name} of an unsecured token, and Java does"
            )
    options = {option: claims[name] for name, (option, _) in _CLAIMS.items()}
    options[f"{_TEXT}{claims['principalClaimName']}"] = claims["principal"]
    if scopes := [each for each in claims.pop("scope", "").split(",") if each]:
        claims["scope"] = ",".join(scopes)
        # The first character is the separator of the list.
        options[f"{_LIST}{claims['scopeClaimName']}"] = f",{claims['scope']}"
    options |= {f"Extension_{name}": value for name, value in _with_prefix(claims, _EXTENSION).items()}
    pairs = " ".join(f"{name}={value}" for name, value in sorted(claims.items()))
    own: dict[str, Value] = {_UNSECURE: "true", _CONFIG: Secret(pairs)}
    of_jaas = {f"{_UNSECURED}{name}": value for name, value in sorted(options.items())}
    return own, {_CONFIG_OF_JAAS: Secret(jaas_text(_MODULE, of_jaas))}


def _of_config(settings: Settings) -> dict[str, str]:
    claims = _pairs((text_of(settings, _CONFIG) or "").split(), _CONFIG)
    known = {*_CLAIMS, "principal", "scope"}
    if "principal" not in claims or {name for name in claims if not name.startswith(_EXTENSION)} - known:
        raise PartwrightError(
            f"{_CONFIG} has principal=NAME, and of others {', '.join(sorted(known))}", field=_CONFIG
        )
    return claims


def _of_options(options: dict[str, str]) -> dict[str, str]:
    """Java's options of `OAuthBearerUnsecuredLoginCallbackHandler`, without their common beginning."""
    options = dict(options)
    claims = {name: options.pop(option, default) for name, (option, default) in _CLAIMS.items()}
    extensions = _with_prefix(options, "Extension_")
    principal = options.pop(f"{_TEXT}{claims['principalClaimName']}", None)
    # The first character is the separator of the list.
    scope = options.pop(f"{_LIST}{claims['scopeClaimName']}", "")
    more = sorted(name for name in options if not name.startswith("Extension_"))
    if principal is None or more:
        lacks = f"has no {_UNSECURED}{_TEXT}{claims['principalClaimName']}"
        raise PartwrightError(
            f"sasl.jaas.config {f'has {_UNSECURED}{more[0]}' if more else lacks}: librdkafka's unsecured token has "
            "principal, scope, lifetime, extensions",
            field=_CONFIG_OF_JAAS,
        )
    claims["scope"] = ",".join(scope[1:].split(scope[0])) if scope else ""
    return (
        claims | {"principal": principal} | {f"{_EXTENSION}{name}": text for name, text in extensions.items()}
    )


def _with_prefix(options: Mapping[str, str], prefix: str) -> dict[str, str]:
    """The options whose names have this prefix, without it."""
    return {name.removeprefix(prefix): text for name, text in options.items() if name.startswith(prefix)}


def _pairs(texts: list[str], name: str) -> dict[str, str]:
    if any("=" not in text for text in texts):
        raise PartwrightError(f"{name} has pairs of NAME=VALUE", field=name)
    return {key.strip(): value for key, _, value in (text.partition("=") for text in texts)}
