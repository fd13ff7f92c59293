"""Layers of settings combined by meaning: each meaning has one slot, whatever the spelling, and upper layers win."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from partwright._check import shown
from partwright.errors import PartwrightError
from partwright.kafka.connection import jaas, names
from partwright.kafka.connection.layers import GivenSetting
from partwright.kafka.connection.secret import Secret

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partwright.kafka.connection.layers import Layer

__all__ = ["JAAS", "MODULE", "MODULES", "Slots", "merged", "refuse_placeholder", "spoken_of"]

Slots: TypeAlias = Mapping[str, GivenSetting]
"""The given settings by their single name. JAAS options have a setting's name, or `jaas:` before their own."""

JAAS = "jaas:"
MODULE = "jaas module"
MODULES = {
    "org.apache.kafka.common.security.plain.PlainLoginModule": ("PLAIN",),
    "org.apache.kafka.common.security.scram.ScramLoginModule": ("SCRAM-SHA-256", "SCRAM-SHA-512"),
    "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule": ("OAUTHBEARER",),
    "software.amazon.msk.auth.iam.IAMLoginModule": ("AWS_MSK_IAM",),
    "com.sun.security.auth.module.Krb5LoginModule": ("GSSAPI",),
    "com.ibm.security.auth.module.Krb5LoginModule": ("GSSAPI",),
}
"""The supported login modules, with their mechanisms."""

_CREDENTIALS = "sasl.oauthbearer.client.credentials."
_SETTINGS = {
    "username": "sasl.username",
    "password": "sasl.password",
    "clientId": f"{_CREDENTIALS}client.id",
    "clientSecret": f"{_CREDENTIALS}client.secret",
    "scope": "sasl.oauthbearer.scope",
    "serviceName": "sasl.kerberos.service.name",
    "principal": "sasl.kerberos.principal",
    "keyTab": "sasl.kerberos.keytab",
}
_TRUST = {
    "ssl.ca.location",
    "ssl.truststore.certificates",
    "ssl.truststore.location",
    "ssl.truststore.password",
    "ssl.truststore.type",
}
_PAIR = {
    "ssl.certificate.location",
    "ssl.key.location",
    "ssl.key.password",
    "ssl.keystore.certificate.chain",
    "ssl.keystore.key",
}
_STORE = {"ssl.keystore.location", "ssl.keystore.password", "ssl.keystore.type"}
_HTTPS = {"https.ca.location", "https.ca.pem"}
_PLACEHOLDER = re.compile(r"\{\{\s*[A-Za-z_<][\w <>.-]*\}\}")
_ANY_CASE = {"security.protocol", "sasl.mechanism"}
# For a setting that contradicts a lower layer: the settings of that layer that no longer count.
_INSTEAD = {
    **dict.fromkeys(_TRUST - {"ssl.truststore.password", "ssl.truststore.type"}, _TRUST),
    **dict.fromkeys(_HTTPS, _HTTPS),
    "ssl.keystore.location": _PAIR | _STORE,
    "ssl.certificate.location": _STORE | {"ssl.keystore.certificate.chain"},
    "ssl.keystore.certificate.chain": _STORE | {"ssl.certificate.location"},
    "ssl.key.location": _STORE | {"ssl.keystore.key"},
    "ssl.keystore.key": _STORE | {"ssl.key.location"},
}


def merged(layers: Sequence[Layer]) -> Slots:
    """The settings of all layers; the last layer is the uppermost.

    Raises:
        PartwrightError: A layer gives one setting two values, or `sasl.jaas.config` cannot be read or does not fit.
    """
    found: dict[str, GivenSetting] = {}
    for layer in layers:
        upper = _of_layer(layer)
        gone = {name for given in upper for name in _INSTEAD.get(given, ())}
        gone |= {
            name
            for name in found
            if MODULE in upper and (name.startswith(JAAS) or name in _SETTINGS.values())
        }
        gone |= {MODULE} if _fits_not(found.get(MODULE), upper.get("sasl.mechanism")) else set()
        found = {name: given for name, given in found.items() if name not in gone} | upper
    found = {name: given for name, given in found.items() if not _is_not_given(name, given)}
    module, mechanism = found.get(MODULE), found.get("sasl.mechanism")
    if module is not None and mechanism is not None and _fits_not(module, mechanism):
        raise PartwrightError(
            f"{spoken_of(mechanism)} is {shown(mechanism.text())}, and the {module.text().split('.')[-1]} of "
            f"{spoken_of(module)} is for {' and '.join(MODULES[module.text()])}: they have to fit",
            field=mechanism.name,
            value=mechanism.text(),
        )
    return found


def spoken_of(given: GivenSetting) -> str:
    """A setting as sentences name it: its place, and its name in that place."""
    return f"{given.place}: {given.name}"


def refuse_placeholder(given: GivenSetting) -> None:
    """Refuses a placeholder that a template left in a value, as those of Confluent Cloud do.

    Raises:
        PartwrightError: The value contains a placeholder.
    """
    if _PLACEHOLDER.search(given.text()):
        raise PartwrightError(
            f"{spoken_of(given)} still has the placeholder {{{{ … }}}}: put the value there", field=given.name
        )


def _of_layer(layer: Layer) -> dict[str, GivenSetting]:
    found: dict[str, GivenSetting] = {}
    for given in layer.given:
        is_text = given.name == "sasl.jaas.config" and not _is_not_given(given.name, given)
        options = _expanded(given) if is_text else {given.kept_as: given}
        for name, each in options.items():
            other = found.setdefault(name, each)
            if _compared(name, other) != _compared(name, each):
                raise PartwrightError(
                    f"{spoken_of(each)} and {other.name} are one setting with two values: leave one out",
                    field=each.name,
                )
    return found


def _is_not_given(name: str, given: GivenSetting) -> bool:
    return name in names.NOT_GIVEN and not callable(given.value) and not given.text().strip()


def _fits_not(module: GivenSetting | None, mechanism: GivenSetting | None) -> bool:
    if module is None or mechanism is None:
        return False
    return mechanism.text().upper() not in MODULES[module.text()]


def _compared(name: str, given: GivenSetting) -> object:
    if callable(given.value):
        return given.value
    return given.text().strip().upper() if name in _ANY_CASE else given.text().strip()


def _expanded(given: GivenSetting) -> dict[str, GivenSetting]:
    """The module of `sasl.jaas.config`, and each of its options under the name of its setting."""
    try:
        login = jaas.parse(given.text())
    except PartwrightError as error:
        refuse_placeholder(given)
        raise error.within(spoken_of(given)).knowing(field=given.name) from None
    module = next((each for each in MODULES if f".{login.module}".endswith(f".{each}")), None)
    if module is None:
        known = ", ".join(each.split(".")[-1] for each in list(MODULES)[:5])
        raise PartwrightError(
            f"{spoken_of(given)} has as its login module {jaas.named(login.module)}, and partwright knows {known}",
            field=given.name,
        )
    found = {MODULE: replace(given, value=module)}
    for option, value in login.options.items():
        name = _SETTINGS.get(option, f"{JAAS}{option}")
        # An option that stands for a setting is as secret as that setting; the others count as secret.
        hidden = name in names.SECRETS or name.startswith(JAAS)
        # A word that quotes have split may be part of a secret.
        told = (
            option if option.isascii() and option.replace("_", "").replace(".", "").isalnum() else "an option"
        )
        as_option = replace(given, name=f"{given.name} ({told})", value=Secret(value) if hidden else value)
        found[name] = as_option
    return found
