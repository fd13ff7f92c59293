"""SASL: a mechanism with its settings, for librdkafka and for Java."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from partwright._check import meant, shown
from partwright.errors import PartwrightError
from partwright.kafka.connection import jaas, oauth
from partwright.kafka.connection.kerberos import Kerberos
from partwright.kafka.connection.msk_iam import signer
from partwright.kafka.connection.secret import Secret
from partwright.kafka.connection.slots import JAAS, MODULE, MODULES, spoken_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from partwright.kafka.connection.slots import Slots

__all__ = ["MskIam", "Password", "Sasl", "of"]

_PASSWORD_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
_MECHANISMS = (*_PASSWORD_MECHANISMS, "OAUTHBEARER", "AWS_MSK_IAM", "GSSAPI")
_IAM_HANDLER = "software.amazon.msk.auth.iam.IAMClientCallbackHandler"
_HANDLERS = {"sasl.client.callback.handler.class", "sasl.login.callback.handler.class"}


@dataclass(frozen=True)
class Password:
    """A user and a password, for PLAIN or SCRAM."""

    mechanism: str
    username: str
    password: Secret

    def librdkafka(self, servers: str | None) -> dict[str, object]:
        """The settings with librdkafka's names."""
        del servers
        return {
            "sasl.mechanism": self.mechanism,
            "sasl.username": self.username,
            "sasl.password": self.password.clear(),
        }

    def java(self) -> dict[str, str]:
        """The settings with Java's names."""
        module = next(name for name, mechanisms in MODULES.items() if self.mechanism in mechanisms)
        options = {"username": self.username, "password": self.password.clear()}
        return {"sasl.mechanism": self.mechanism, "sasl.jaas.config": jaas.written(module, options)}


@dataclass(frozen=True)
class MskIam:
    """Amazon MSK's IAM: in Java a separate mechanism, elsewhere a signed token under OAUTHBEARER."""

    options: tuple[tuple[str, Secret], ...] = field(repr=False)
    mechanism: str = "AWS_MSK_IAM"

    def librdkafka(self, servers: str | None) -> dict[str, object]:
        """The settings with librdkafka's names; see `signer` for what can be missing."""
        return {
            "sasl.mechanism": "OAUTHBEARER",
            "oauth_cb": signer({name: value.clear() for name, value in self.options}, servers),
        }

    def java(self) -> dict[str, str]:
        """The settings with Java's names; they need the jar aws-msk-iam-auth."""
        module = next(name for name, mechanisms in MODULES.items() if self.mechanism in mechanisms)
        options = {name: value.clear() for name, value in self.options}
        return {
            "sasl.mechanism": self.mechanism,
            "sasl.jaas.config": jaas.written(module, options),
            "sasl.client.callback.handler.class": _IAM_HANDLER,
        }


Sasl: TypeAlias = "Password | MskIam | Kerberos | oauth.Unsecured | oauth.Oidc | oauth.Callback"


def of(slots: Slots) -> tuple[Sasl, set[str]]:
    """The mechanism that the settings describe, and the settings that it uses.

    Raises:
        PartwrightError: The mechanism is missing or not known, or lacks a setting.
    """
    mechanism = _mechanism(slots)
    _check_handlers(slots, mechanism)
    always = {"sasl.mechanism", MODULE, *_HANDLERS}
    if mechanism in _PASSWORD_MECHANISMS:
        return _password(slots, mechanism), always | {"sasl.username", "sasl.password"}
    if mechanism == "OAUTHBEARER":
        found, used = oauth.of(slots)
        return found, always | used
    options = {name: given for name, given in slots.items() if name.startswith(JAAS)}
    if mechanism == "AWS_MSK_IAM":
        named = ((name.removeprefix(JAAS), Secret(given.text())) for name, given in sorted(options.items()))
        return MskIam(tuple(named)), always | options.keys()
    kerberos = {name: given for name, given in slots.items() if name.startswith("sasl.kerberos.")}
    texts = {name: given.value for name, given in (kerberos | options).items()}
    return Kerberos.of(texts), always | options.keys() | kerberos.keys()


def _mechanism(slots: Slots) -> str:
    given = slots.get("sasl.mechanism")
    if given is None:
        module = slots.get(MODULE)
        likely = MODULES[module.text()] if module else _PASSWORD_MECHANISMS
        if module is None and "sasl.username" not in slots:
            likely = _MECHANISMS
        raise PartwrightError(
            "sasl.mechanism is missing, and without it Kafka's clients take GSSAPI, which is Kerberos: set it to "
            f"{', '.join(likely[:-1])} or {likely[-1]}"
            if likely[1:]
            else f"sasl.mechanism is missing, and without it Kafka's clients take GSSAPI: set it to {likely[0]}",
            field="sasl.mechanism",
        )
    mechanism = given.text().upper()
    if mechanism not in _MECHANISMS:
        known = ", ".join(_MECHANISMS)
        reason = f"is not a mechanism of SASL{meant(mechanism, _MECHANISMS) or f': there are {known}'}"
        raise PartwrightError(
            f"{spoken_of(given)} {shown(given.text())} {reason}",
            field=given.name,
            value=given.text(),
            reason=reason,
        )
    return mechanism


def _password(slots: Slots, mechanism: str) -> Password:
    missing = [name for name in ("sasl.username", "sasl.password") if name not in slots]
    if missing:
        raise PartwrightError(
            f"sasl.mechanism {mechanism} needs {' and '.join(missing)}, or the options of sasl.jaas.config",
            field=missing[0],
        )
    for name, given in slots.items():
        if name == f"{JAAS}tokenauth" and given.text().lower() == "true":
            raise PartwrightError(
                f"{spoken_of(given)} asks for a delegation token, which librdkafka does not send: give a user and a "
                "password",
                field=given.name,
            )
    return Password(mechanism, slots["sasl.username"].text(), Secret(slots["sasl.password"].text()))


def _check_handlers(slots: Slots, mechanism: str) -> None:
    """Refuses settings that run a Java class: only the known classes are implemented here."""
    known: Mapping[str, tuple[str, ...]] = {
        "OAUTHBEARER": (oauth.HANDLER, oauth.UNSECURED_HANDLER),
        "AWS_MSK_IAM": (_IAM_HANDLER.rsplit(".", maxsplit=1)[-1],),
    }
    for name in sorted({*_HANDLERS, "sasl.login.class"} & slots.keys()):
        handler = slots[name].text().rpartition(".")[2]
        if handler not in known.get(mechanism, ()) or name == "sasl.login.class":
            raise PartwrightError(
                f"{spoken_of(slots[name])} {shown(slots[name].text())} is a class that runs in Java alone, and nothing "
                f"is known of it under {mechanism}: leave it out",
                field=name,
                value=slots[name].text(),
            )
