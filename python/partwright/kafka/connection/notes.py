"""The notes about a configuration that the user sees once, and the values that must never be shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright.kafka.connection import common, names
from partwright.kafka.connection.secret import Secret
from partwright.kafka.connection.servers import schemes
from partwright.kafka.connection.slots import JAAS, MODULE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from partwright.kafka.connection.layers import Layer
    from partwright.kafka.connection.sasl import Sasl
    from partwright.kafka.connection.slots import Slots
    from partwright.kafka.connection.tls import Tls

__all__ = ["notes_of", "secrets_of"]

_OF_SASL = ("sasl.", JAAS, "enable.sasl.", "oauth_cb", "https.ca.", MODULE)
_OF_TLS = ("ssl.", "enable.ssl.")
_SHOWN = 8
_LEAST_SECRET_OPTION = ("password", "passphrase", "secret", "token", "creds")


def notes_of(
    given: Slots, protocol: str, login: Sasl | None, used: Collection[str], wrapped: Tls | None
) -> Iterator[str]:
    """The sentences about settings that no client uses, or not every client."""
    unused = [each.name for name, each in given.items() if not _counts(name)]
    if unused:
        yield f"not used, since they do not matter for reaching a Kafka: {_listed(unused)}"
    of_java = [name for name in given if name in names.JAVA_ALONE]
    if of_java:
        yield f"only Spark's Java client gets {_listed(of_java)}: librdkafka has no such setting"
    told = "" if "security.protocol" in given else ", which is the default"
    yield from _of_sasl(given, f"{protocol}{told}", login, used)
    yield from _of_tls(given, f"{protocol}{told}", wrapped)
    if "bootstrap.servers" in given and (other := schemes(given["bootstrap.servers"].text()) - {protocol}):
        said = ", ".join(f"{each}://" for each in sorted(other))
        yield f"bootstrap.servers says {said}, which Kafka's clients ignore: security.protocol is {protocol}{told}"
    for name, each in given.items():
        told_of = (
            common.of_librdkafka(name, common.checked(name, each.text())) if name in common.COMMON else None
        )
        if told_of and told_of[2]:
            yield told_of[2]


def _of_sasl(given: Slots, protocol: str, login: Sasl | None, used: Collection[str]) -> Iterator[str]:
    named = {name: each.name for name, each in given.items() if name.startswith(_OF_SASL)}
    named = {name: spelled for name, spelled in named.items() if name not in names.JAVA_ALONE}
    if login is None and named:
        wanted = "SASL_SSL" if protocol.startswith("SSL") else "SASL_SSL or SASL_PLAINTEXT"
        yield f"not used, since security.protocol is {protocol}: {_listed(named.values())}; with SASL it is {wanted}"
    left = [spelled for name, spelled in named.items() if name not in used]
    if login is not None and left:
        yield f"not used with sasl.mechanism {login.mechanism}: {_listed(left)}"


def _of_tls(given: Slots, protocol: str, wrapped: Tls | None) -> Iterator[str]:
    named = [
        each.name for name, each in given.items() if name.startswith(_OF_TLS) and name not in names.JAVA_ALONE
    ]
    if wrapped is not None:
        yield from wrapped.notes()
    elif named:
        wanted = "SASL_SSL" if protocol.startswith("SASL") else "SSL or SASL_SSL"
        yield f"not used, since security.protocol is {protocol}: {_listed(named)}; with TLS it is {wanted}"


def secrets_of(layers: Sequence[Layer], given: Slots, wrapped: Tls | None) -> frozenset[Secret]:
    """All values that must never be shown, of used and of unused settings."""
    found = [each.value for layer in layers for each in layer.given if isinstance(each.value, Secret)]
    options = [
        each.value
        for name, each in given.items()
        if each.name != name and isinstance(each.value, Secret) and _is_secret_option(name)
    ]
    own = wrapped.identity if wrapped else None
    keys = [each for each in (own.key, own.password, own.pkcs8) if each] if own else []
    return frozenset(each for each in [*found, *options, *keys] if _hides(each))


def _is_secret_option(name: str) -> bool:
    return name in names.SECRETS or any(word in name.lower() for word in _LEAST_SECRET_OPTION)


def _hides(secret: Secret) -> bool:
    """Whether the value is secret: a certificate chain is, if its key is in the same text."""
    text = secret.clear()
    return bool(text) and ("-----BEGIN " not in text or "PRIVATE KEY" in text)


def _counts(name: str) -> bool:
    return (
        name in names.REACHING
        or name in common.COMMON
        or name in names.JAVA_ALONE
        or name.startswith((JAAS, MODULE))
    )


def _listed(found: Iterable[str]) -> str:
    once = sorted(dict.fromkeys(found))
    more = len(once) - _SHOWN
    return ", ".join(once[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
