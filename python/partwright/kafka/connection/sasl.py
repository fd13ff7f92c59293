"""SASL: a mechanism with its settings, for librdkafka and for Java."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from partwright._check import first_line, meant
from partwright.errors import PartwrightError
from partwright.kafka.connection import jaas, oauth
from partwright.kafka.connection.jaas import MODULE, MODULES
from partwright.kafka.connection.layers import JAAS, setting_error, value_error
from partwright.kafka.connection.secret import Secret, clear
from partwright.kafka.extras import extra_package

if TYPE_CHECKING:
    from partwright.kafka.connection.layers import Settings, Value

_HOST = re.compile(r"\.kafka(?:-serverless)?\.([a-z]{2}(?:-[a-z]+)+-[0-9]+)\.amazonaws\.com(?:\.cn)?$")
_PROFILE, _ROLE, _SESSION = "awsProfileName", "awsRoleArn", "awsRoleSessionName"
_UNDERSTOOD = {_PROFILE, _ROLE, _SESSION}
_SESSION_NAME = "partwright"


@dataclass(frozen=True)
class Signer:
    """confluent-kafka's `oauth_cb`: it returns a token for a region, and when the token expires.

    Attributes:
        region: The AWS region of the cluster.
        profile: A profile in AWS's configuration files, or None.
        role: The ARN of a role to assume, or None.
        session: The name of the session under this role.
    """

    region: str
    profile: str | None = None
    role: str | None = None
    session: str = _SESSION_NAME

    def __call__(self, config: str) -> tuple[str, float]:
        """A token, and its expiry in seconds since 1970."""
        del config
        provider = _library()
        if self.role is not None:
            token, _ = provider.generate_auth_token_from_role_arn(self.region, self.role, self.session)
        elif self.profile is not None:
            token, _ = provider.generate_auth_token_from_profile(self.region, self.profile)
        else:
            token, _ = provider.generate_auth_token(self.region)
        return token, _end_of(token)


def signer(options: Mapping[str, str], servers: str | None) -> Signer:
    """The signer for these servers, with the options of `IAMLoginModule`.

    Raises:
        MissingExtraError: AWS's library is not installed.
        PartwrightError: The region is not known, an option is not supported, or AWS's credentials are missing.
    """
    for name in options.keys() - _UNDERSTOOD:
        raise PartwrightError(
            f"the option {name} of IAMLoginModule is for Java alone: leave it out", field=name
        )
    _library()
    made = Signer(
        region_of(servers), options.get(_PROFILE), options.get(_ROLE), options.get(_SESSION, _SESSION_NAME)
    )
    try:
        # Sign once here: librdkafka reports a missing token only after ten seconds, and without the reason.
        made("")
    except Exception as error:  # noqa: BLE001 - AWS's libraries raise many, and none has a secret in its first line
        raise PartwrightError(f"AWS's signer makes no token for AWS_MSK_IAM: {first_line(error)}") from None
    return made


def region_of(servers: str | None) -> str:
    """The region in the servers' names, otherwise AWS_REGION or AWS_DEFAULT_REGION.

    Raises:
        PartwrightError: None of them gives a region.

    Examples:
        >>> region_of("b-1.orders.a1b2c3.c2.kafka.eu-central-1.amazonaws.com:9098")
        'eu-central-1'
    """
    for server in (servers or "").split(","):
        if match := _HOST.search(server.rpartition(":")[0].lower()):
            return match[1]
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if not region:
        raise PartwrightError(
            "AWS_MSK_IAM signs for a region, which the names of bootstrap.servers do not have: set AWS_REGION"
        )
    return region


def _library() -> ModuleType:
    sentence = "sasl.mechanism AWS_MSK_IAM needs {}: pip install 'partwright[msk-iam]'"
    with extra_package("AWS's signer", sentence):
        from aws_msk_iam_sasl_signer import MSKAuthTokenProvider
    signer_module: ModuleType = MSKAuthTokenProvider
    return signer_module


def _end_of(token: str) -> float:
    """When a token expires, in seconds since 1970. The token is a signed URL, whose times are in UTC.

    AWS's library returns milliseconds, and computes them as if the times were in the machine's time zone.
    """
    signed = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode()
    query = parse_qs(urlsplit(signed).query)
    begun = datetime.strptime(query["X-Amz-Date"][0], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    return begun.timestamp() + int(query["X-Amz-Expires"][0])


_MECHANISM, _CONFIG = "sasl.mechanism", "sasl.jaas.config"
_PASSWORD_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
_OAUTH, _IAM, _KERBEROS = "OAUTHBEARER", "AWS_MSK_IAM", "GSSAPI"
_MECHANISMS = (*_PASSWORD_MECHANISMS, _OAUTH, _IAM, _KERBEROS)
_IAM_HANDLER = "software.amazon.msk.auth.iam.IAMClientCallbackHandler"
_HANDLERS = {"sasl.client.callback.handler.class", "sasl.login.callback.handler.class"}
_PRINCIPAL, _KEYTAB, _SERVICE, _LOGIN_AGAIN = (
    f"sasl.kerberos.{name}" for name in ("principal", "keytab", "service.name", "min.time.before.relogin")
)


@dataclass(frozen=True)
class Sasl:
    """A mechanism.

    Attributes:
        mechanism: Its name, as Java's clients have it.
        settings: The other settings by librdkafka's names; of AWS_MSK_IAM, the options of Java's login module.
        of_java: The other settings by Java's names; None if Java cannot log in like this.
    """

    mechanism: str
    settings: tuple[tuple[str, Value], ...] = field(repr=False)
    of_java: tuple[tuple[str, Value], ...] | None = field(repr=False)

    def librdkafka(self, servers: str | None) -> dict[str, object]:
        """The settings with librdkafka's names.

        Raises:
            PartwrightError: The installed librdkafka has no Kerberos; or see `signer` for MSK's IAM.
            MissingExtraError: A package is not installed.
        """
        settings: dict[str, object] = {name: clear(value) for name, value in self.settings}
        if self.mechanism == _IAM:
            options = {name: str(value) for name, value in settings.items()}
            # Elsewhere than in Java it is a signed token.
            return {_MECHANISM: _OAUTH, "oauth_cb": signer(options, servers)}
        if self.mechanism == _KERBEROS and not _has_kerberos():
            raise PartwrightError(
                "sasl.mechanism GSSAPI needs a librdkafka with Kerberos, which the installed one is not: install "
                "librdkafka-dev and libsasl2-dev, then pip install --no-binary confluent-kafka confluent-kafka"
            )
        return {_MECHANISM: self.mechanism, **settings}

    def java(self) -> dict[str, str]:
        """The settings with Java's names; those of AWS_MSK_IAM need the jar aws-msk-iam-auth.

        Raises:
            PartwrightError: The token comes from a function.
        """
        if self.of_java is None:
            raise PartwrightError(
                "oauth_cb is a function of Python, which Java cannot call: give Java's settings of SASL"
            )
        return {_MECHANISM: self.mechanism, **{name: str(clear(value)) for name, value in self.of_java}}


def read_sasl(settings: Settings) -> tuple[Sasl, set[str]]:
    """The mechanism that the settings describe, and the settings that it uses.

    Raises:
        PartwrightError: The mechanism is missing or not known, or lacks a setting.
    """
    mechanism = _mechanism(settings)
    _check_handlers(settings, mechanism)
    options = {name.removeprefix(JAAS): each for name, each in settings.items() if name.startswith(JAAS)}
    used = {f"{JAAS}{name}" for name in options}
    own: Mapping[str, Value]
    java: Mapping[str, Value] | None
    if mechanism in _PASSWORD_MECHANISMS:
        own, java = _password(settings, mechanism)
        used = set(own)
    elif mechanism == _OAUTH:
        own, java, used = oauth.read_oauth(settings)
    elif mechanism == _IAM:
        own = {name: Secret(each.text()) for name, each in options.items()}
        java = {**_of_module(mechanism, own), "sasl.client.callback.handler.class": _IAM_HANDLER}
    else:
        named = {name: each.text() for name, each in settings.items() if name.startswith("sasl.kerberos.")}
        own, java = _kerberos(named, {name: each.text() for name, each in options.items()})
        used |= named.keys()
    pairs = None if java is None else tuple(sorted(java.items()))
    return Sasl(mechanism, tuple(sorted(own.items())), pairs), used | {_MECHANISM, MODULE, *_HANDLERS}


def _mechanism(settings: Settings) -> str:
    setting = settings.get(_MECHANISM)
    if setting is None:
        module = settings.get(MODULE)
        likely = MODULES[module.text()] if module else _PASSWORD_MECHANISMS
        if module is None and "sasl.username" not in settings:
            likely = _MECHANISMS
        raise PartwrightError(
            "sasl.mechanism is missing, and without it Kafka's clients take GSSAPI, which is Kerberos: set it to "
            f"{', '.join(likely[:-1])} or {likely[-1]}"
            if likely[1:]
            else f"sasl.mechanism is missing, and without it Kafka's clients take GSSAPI: set it to {likely[0]}",
            field=_MECHANISM,
        )
    mechanism = setting.text().upper()
    if mechanism not in _MECHANISMS:
        near = meant(mechanism, _MECHANISMS) or f": there are {', '.join(_MECHANISMS)}"
        raise value_error(setting, f"is not a mechanism of SASL{near}")
    return mechanism


def _password(settings: Settings, mechanism: str) -> tuple[dict[str, Value], dict[str, Value]]:
    missing = [name for name in ("sasl.username", "sasl.password") if name not in settings]
    if missing:
        raise PartwrightError(
            f"sasl.mechanism {mechanism} needs {' and '.join(missing)}, or the options of sasl.jaas.config",
            field=missing[0],
        )
    token = settings.get(f"{JAAS}tokenauth")
    if token is not None and token.text().lower() == "true":
        predicate = "asks for a delegation token, which librdkafka does not send: give a user and a password"
        raise setting_error(token, predicate)
    user, password = settings["sasl.username"].text(), Secret(settings["sasl.password"].text())
    own: dict[str, Value] = {"sasl.username": user, "sasl.password": password}
    return own, _of_module(mechanism, {"username": user, "password": password})


def _kerberos(settings: dict[str, str], options: dict[str, str]) -> tuple[dict[str, Value], dict[str, Value]]:
    """A ticket from `kinit`, or a principal and its key table; the service is `kafka` by default, as in librdkafka."""
    own: dict[str, Value] = {_SERVICE: "kafka", **settings}
    of_java = {name: value for name, value in own.items() if name in {_SERVICE, _LOGIN_AGAIN}}
    options = dict(sorted(options.items()))
    if _KEYTAB in settings:
        options |= {"useKeyTab": "true", "storeKey": "true", "keyTab": settings[_KEYTAB]}
    else:
        # The existing ticket is used: otherwise librdkafka would run kinit with a key table that does not exist.
        own.setdefault(_LOGIN_AGAIN, "0")
        options = options or {"useTicketCache": "true"}
    if _PRINCIPAL in settings:
        options["principal"] = settings[_PRINCIPAL]
    return own, of_java | _of_module(_KERBEROS, options)


@cache
def _has_kerberos() -> bool:
    """Asks the library: without Kerberos, as in the wheels for Linux and macOS, it refuses such a client at once."""
    with extra_package("confluent_kafka"):
        from confluent_kafka import KafkaException
        from confluent_kafka.admin import AdminClient
    try:
        AdminClient({"security.protocol": "SASL_PLAINTEXT", _MECHANISM: _KERBEROS, _LOGIN_AGAIN: 0})
    except KafkaException:
        return False
    return True


def _of_module(mechanism: str, options: Mapping[str, Value]) -> dict[str, Value]:
    module = next(name for name, mechanisms in MODULES.items() if mechanism in mechanisms)
    return {
        _CONFIG: Secret(jaas.jaas_text(module, {name: str(clear(each)) for name, each in options.items()}))
    }


def _check_handlers(settings: Settings, mechanism: str) -> None:
    """Refuses settings that run a Java class: only the known classes are implemented here."""
    known: Mapping[str, tuple[str, ...]] = {
        _OAUTH: (oauth.HANDLER, oauth.UNSECURED_HANDLER),
        _IAM: (_IAM_HANDLER.rsplit(".", maxsplit=1)[-1],),
    }
    for name in sorted({*_HANDLERS, "sasl.login.class"} & settings.keys()):
        handler = settings[name].text().rpartition(".")[2]
        if handler not in known.get(mechanism, ()) or name == "sasl.login.class":
            raise value_error(
                settings[name],
                f"is a class that runs in Java alone, and nothing is known of it under {mechanism}: leave it out",
            )
