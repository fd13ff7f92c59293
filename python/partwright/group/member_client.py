"""Which client a script's member uses, and which assignors that client may have.

>>> check_member_client("sarama@1.34.0", "classic"), assignors_of_client("kafkajs", None)
('sarama@1.34.0', ('RoundRobinAssigner',))
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from partwright._check import shown, unknown
from partwright.assignors.mixed.clients import (
    DEFAULT_ASSIGNORS,
    answering_version,
    assignors_of,
    check_client,
    client_of,
    versions_of,
    wire_names,
)
from partwright.assignors.names import CLIENT_ASSIGNORS, is_own, short_name
from partwright.assignors.strategy_setting import assignment_strategy, listed_assignors
from partwright.errors import PartwrightError

JAVA = "java"
_COOPERATIVE = "cooperative-sticky"
_KIP_848 = {
    "java": ("", "@4.3", "@4.2", "@4.1", "@4.0"),
    "librdkafka": ("", "@2.6.0"),
    "franz-go": ("", "@1.21", "@1.20"),
}
"""The clients that speak the protocol of KIP-848, with the versions of them that do."""
_JAVAS_TODAY = "@4.4"
"""The version of Java's consumers that has no `@VERSION` in a play."""
_NO_STATIC_MEMBERS = {"kafka-go": None, "kafkajs": None, "sarama": ("@1.27",), "kafka-python": ("@2.2",)}
"""The clients without `group.instance.id` (KIP-345): all versions of them, or these."""
_REFUSES_BOTH = ("librdkafka", "kafka-python")
_SESSION_MS = 45_000
_SESSIONS_MS = {
    "sarama": 10_000,
    "kafka-go": 30_000,
    "kafkajs": 30_000,
    "aiokafka": 10_000,
    "librdkafka@1.6": 10_000,
    "kafka-python@2.2": 10_000,
}
"""The default session timeouts that are not Java's, by client: `Consumer.Group.Session.Timeout`, `SessionTimeout`,
`sessionTimeout`, `session_timeout_ms` and (before KIP-735) `session.timeout.ms`."""


def speaks_kip_848(client: str) -> bool:
    """Whether a client, with its `@VERSION` if it has one, speaks the protocol of KIP-848.

    Examples:
        >>> speaks_kip_848("librdkafka"), speaks_kip_848("librdkafka@1.6"), speaks_kip_848("sarama")
        (True, False, False)
    """
    name, at, version = client.partition("@")
    return at + version in _KIP_848.get(name, ())


def has_static_members(client: str) -> bool:
    """Whether a client, with its `@VERSION` if it has one, can be a static member (KIP-345).

    Examples:
        >>> has_static_members("sarama"), has_static_members("sarama@1.27"), has_static_members("kafkajs")
        (True, False, False)
    """
    name, at, version = client.partition("@")
    without = _NO_STATIC_MEMBERS.get(name, ())
    return without is not None and at + version not in without


def has_close_options(client: str) -> bool:
    """Whether a client can be told at `close()` whether it leaves the group (KIP-1092: Java's, as of 4.1).

    Examples:
        >>> has_close_options("java"), has_close_options("java@4.0")
        (True, False)
    """
    return client != "java@4.0"


def refuses_list(client: str, assignors: Collection[str]) -> bool:
    """Whether a client takes no list with these assignors, because it has cooperative-sticky and an eager one.

    Examples:
        >>> refuses_list("librdkafka", ["range", "cooperative-sticky"]), refuses_list("librdkafka", ["range"])
        (True, False)
    """
    return client.partition("@")[0] in _REFUSES_BOTH and _COOPERATIVE in assignors and len(assignors) > 1


def session_timeout_ms(client: str) -> int:
    """The session timeout of a client that sets none.

    Examples:
        >>> session_timeout_ms("java"), session_timeout_ms("sarama@1.27")
        (45000, 10000)
    """
    return _SESSIONS_MS.get(client, _SESSIONS_MS.get(client.partition("@")[0], _SESSION_MS))


def check_member_client(value: object, protocol: str, where: str = "a script") -> str:
    """A member's client, with its `@VERSION` if the script has one.

    Java's newest version has none. With the protocol classic, no version of Java's has one: all live alike.

    Raises:
        PartwrightError: The client is unknown, or does not speak the protocol; nothing is known of its version.
    """
    client, version = client_of(value, where)
    if client == JAVA and version:
        known = [*_KIP_848[JAVA], _JAVAS_TODAY]
        if version not in known:
            raise unknown(value, "client", sorted(JAVA + each for each in known), where)
        return JAVA if protocol == "classic" or version == _JAVAS_TODAY else JAVA + version
    if protocol == "consumer" and not speaks_kip_848(client + version):
        those = ", ".join(_KIP_848)
        raise PartwrightError(
            f"{client}{version} does not speak the protocol consumer (KIP-848), which {those} speak: let the "
            "script's protocol be classic, or take another client",
            value=client + version,
        )
    if all(answering_version(client, name, version) is None for name in assignors_of(client)):
        versions = [each for name in assignors_of(client) for each in versions_of(client, name)]
        known = [client, *(client + each for each in dict.fromkeys(versions))]
        raise unknown(value, "client", known, where)
    return client + version


def assignors_version(client: str) -> tuple[str, str]:
    """A member's client, and the `@VERSION` of its assignors, which is empty for Java.

    Java's assignors answer alike in each version that a member may have.

    Examples:
        >>> assignors_version("sarama@1.27"), assignors_version("java@4.1")
        (('sarama', '@1.27'), ('java', ''))
    """
    name, at, version = client.partition("@")
    return name, "" if name == JAVA else at + version


def assignors_of_client(client: str, assignors: object) -> tuple[str, ...]:
    """The assignors of a member, by their wire names: those that it sets, or those of its client by default.

    Args:
        client: The client, as `check_member_client` returns it.
        assignors: A name or a list of them; None for the default.

    Raises:
        PartwrightError: The client lacks an assignor, or refuses the list.
    """
    name, version = assignors_version(client)
    if assignors is None:
        return DEFAULT_ASSIGNORS[name]
    names = _java(assignors) if name == JAVA else _others(assignors)
    for each in names:
        check_client("the member", name, version, each)
    if refuses_list(name, names):
        raise PartwrightError(
            f"{name} refuses {_COOPERATIVE} together with others ({', '.join(names)}): give one of them",
            value=name,
        )
    return names


def _java(setting: Any) -> tuple[str, ...]:
    # A script may come from anywhere and must not choose which code runs, so a path is not even looked up.
    listed = [name for name in listed_assignors(setting) if isinstance(name, str)]
    others = [name for name in listed if name in wire_names() and name not in CLIENT_ASSIGNORS]
    if others:
        # Whoever names it forgot to name the client.
        return (others[0],)
    names = [name for name in listed if is_own(name)] or assignment_strategy(setting)
    strange = next((name for name in names if name not in CLIENT_ASSIGNORS), None)
    if strange is not None:
        raise PartwrightError(
            f"a script takes Kafka's own assignors, {', '.join(CLIENT_ASSIGNORS)}, and not {shown(strange)}"
        )
    return tuple(names)


def _others(setting: Any) -> tuple[str, ...]:
    names = dict.fromkeys(map(short_name, listed_assignors(setting)))
    for name in names:
        if name not in wire_names():
            raise unknown(name, "assignor", wire_names(), "any client")
    return tuple(map(str, names))
