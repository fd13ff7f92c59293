"""The notes about a configuration that the user sees once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright.kafka.connection import names
from partwright.kafka.connection.jaas import MODULE
from partwright.kafka.connection.layers import JAAS
from partwright.kafka.connection.servers import schemes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from partwright.kafka.connection.layers import Settings
    from partwright.kafka.connection.sasl import Sasl
    from partwright.kafka.connection.tls import Tls

__all__ = ["notes_of"]

_OF_SASL = ("sasl.", JAAS, "enable.sasl.", "oauth_cb", "https.ca.", MODULE)
_OF_TLS = ("ssl.", "enable.ssl.")
_SHOWN = 8


def notes_of(
    settings: Settings, protocol: str, sasl: Sasl | None, used: Collection[str], tls: Tls | None
) -> Iterator[str]:
    """The sentences about settings that no client uses, or not every client."""
    spelled = {name: each.name for name, each in settings.items() if name not in names.JAVA_ALONE}
    unused = [
        each
        for name, each in spelled.items()
        if not (name in names.REACHING or name in names.COMMON or name.startswith((JAAS, MODULE)))
    ]
    if unused:
        yield f"not used, since they do not matter for reaching a Kafka: {_listed(unused)}"
    if of_java := settings.keys() - spelled.keys():
        yield f"only Spark's Java client gets {_listed(of_java)}: librdkafka has no such setting"
    which = f"{protocol}{'' if 'security.protocol' in settings else ', which is the default'}"
    of_sasl = {name: each for name, each in spelled.items() if name.startswith(_OF_SASL)}
    if sasl is None and of_sasl:
        better = "SASL_SSL" if protocol.startswith("SSL") else "SASL_SSL or SASL_PLAINTEXT"
        yield f"not used, since security.protocol is {which}: {_listed(of_sasl.values())}; with SASL it is {better}"
    elif sasl is not None and (unused := [each for name, each in of_sasl.items() if name not in used]):
        yield f"not used with sasl.mechanism {sasl.mechanism}: {_listed(unused)}"
    of_tls = [each for name, each in spelled.items() if name.startswith(_OF_TLS)]
    if tls is not None:
        yield from tls.notes
    elif of_tls:
        better = "SASL_SSL" if protocol.startswith("SASL") else "SSL or SASL_SSL"
        yield f"not used, since security.protocol is {which}: {_listed(of_tls)}; with TLS it is {better}"
    servers = settings.get("bootstrap.servers")
    if servers is not None and (other := schemes(servers.text()) - {protocol}):
        listed = ", ".join(f"{each}://" for each in sorted(other))
        yield f"bootstrap.servers says {listed}, which Kafka's clients ignore: security.protocol is {which}"
    for name in settings.keys() & names.COMMON.keys():
        translated = names.for_librdkafka(name, names.checked_value(name, settings[name].text()))
        if translated and translated[2]:
            yield translated[2]


def _listed(spellings: Iterable[str]) -> str:
    once = sorted(set(spellings))
    more = len(once) - _SHOWN
    return ", ".join(once[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
