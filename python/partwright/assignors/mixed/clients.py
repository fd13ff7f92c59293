"""The clients whose members may share a group, and their default assignors."""

from __future__ import annotations

from partwright._check import unknown
from partwright.assignors.names import CLIENT_ASSIGNORS, client_assignors
from partwright.errors import PartwrightError

DEFAULT_ASSIGNORS = {
    "java": ("range", "cooperative-sticky"),
    "librdkafka": ("range", "roundrobin"),
    "sarama": ("range",),
    "kafka-go": ("range", "roundrobin"),
    "franz-go": ("cooperative-sticky",),
    "kafkajs": ("RoundRobinAssigner",),
    "kafka-python": ("range", "roundrobin"),
    "aiokafka": ("roundrobin",),
}
"""By client, its default assignors, the preferred one first (`partition.assignment.strategy`,
`Consumer.Group.Rebalance.GroupStrategies`, `Balancers`, `GroupBalancers`, `partitionAssigners`)."""


_ANSWERS_LIKE = {
    "librdkafka": {
        "range": {"@1.6": "@2.1", "@2.6.0": ""},
        "roundrobin": {"@1.6": "", "@2.1": "", "@2.6.0": ""},
    },
    "kafka-python": {"range": {"@3.0.11": ""}, "roundrobin": {"@3.0.11": ""}, "sticky": {"@2.2": "@3.0.11"}},
}
"""By client and assignor, an older version that the table of assignors lacks, and the version there that gives the same
answers."""


def answering_version(client: str, assignor: str, version: str) -> str | None:
    """The version of a client's assignor that gives the same answers as a member's version of the client.

    Args:
        client: The client.
        assignor: The assignor's wire name.
        version: `@VERSION` of the client, or empty for today's.

    Returns:
        `@VERSION`, empty for today's, or None if that version is unknown.

    Examples:
        >>> answering_version("kafka-python", "sticky", "@2.2"), answering_version("sarama", "range", "@9")
        ('@3.0.11', None)
    """
    like = _ANSWERS_LIKE.get(client, {}).get(assignor, {})
    if version in like:
        return like[version]
    return version if version in ("", *versions_of(client, assignor)) else None


def versions_of(client: str, assignor: str) -> list[str]:
    """The older versions that a member of a client may have in a group of an assignor, each as `@VERSION`.

    Examples:
        >>> versions_of("kafka-python", "sticky")
        ['@3.0.11', '@2.2']
    """
    begin = f"{client}:{assignor}@"
    own = [name.removeprefix(begin[:-1]) for name in client_assignors() if name.startswith(begin)]
    return [*own, *_ANSWERS_LIKE.get(client, {}).get(assignor, {})]


def client_of(setting: object, where: str) -> tuple[str, str]:
    """A member's client, and the `@VERSION` behind it, if there is one; `where` is for the error.

    Raises:
        PartwrightError: The client is unknown.

    Examples:
        >>> client_of("sarama@1.27.0", "member 'c1'"), client_of(None, "the roll")
        (('sarama', '@1.27.0'), ('java', ''))
    """
    if setting is None:
        return "java", ""
    if isinstance(setting, str):
        name, at, version = setting.partition("@")
        if name in DEFAULT_ASSIGNORS:
            return name, at + version
    raise unknown(setting, "client", DEFAULT_ASSIGNORS, where)


def assignors_of(client: str) -> list[str]:
    """The wire names of a client's assignors.

    Examples:
        >>> assignors_of("kafka-go")
        ['range', 'roundrobin', 'rack-affinity']
    """
    if client == "java":
        return list(CLIENT_ASSIGNORS)
    known = (name.partition(":") for name in client_assignors())
    return [name for owner, _, name in known if owner == client and "@" not in name]


def check_client(who: str, client: str, version: str, assignor: str) -> None:
    """Check that a member's client has an assignor, and that its version's answers are known.

    Args:
        who: The member, for the error.
        client: Its client.
        version: `@VERSION` of it, or empty.
        assignor: The assignor's wire name.

    Raises:
        PartwrightError: It lacks the assignor, or the version is unknown.
    """
    own = assignors_of(client)
    if assignor not in own:
        raise PartwrightError(
            f"{who} is of {client}, which has no assignor {assignor!r}, so it cannot be in this group: it has "
            f"{', '.join(own)}",
            value=assignor,
        )
    if answering_version(client, assignor, version) is None:
        forms = [client, *(client + each for each in versions_of(client, assignor))]
        raise PartwrightError(
            f"{who}: {assignor} has no answers for {client}{version}: write {' or '.join(forms)}",
            value=client + version,
        )


def wire_names() -> list[str]:
    """The wire names of all clients' assignors, sorted."""
    return sorted({name for client in DEFAULT_ASSIGNORS for name in assignors_of(client)})
