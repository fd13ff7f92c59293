"""The clients whose members may share a group, and which assignors they take unless told otherwise."""

from __future__ import annotations

from partwright._check import unknown
from partwright.assignors.names import CLIENT_ASSIGNORS, client_assignors

__all__ = ["DEFAULT_ASSIGNORS", "assignors_of", "client_of"]

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
"""By client, the assignors of a member that sets none, the preferred one first (`partition.assignment.strategy`,
`Consumer.Group.Rebalance.GroupStrategies`, `Balancers`, `GroupBalancers`, `partitionAssigners`)."""


def client_of(given: object, member: str) -> tuple[str, str]:
    """A member's client, and the `@VERSION` behind it, if there is one.

    Raises:
        PartwrightError: There is no such client.

    Examples:
        >>> client_of("sarama@1.27.0", "c1"), client_of(None, "c1")
        (('sarama', '@1.27.0'), ('java', ''))
    """
    if given is None:
        return "java", ""
    if isinstance(given, str):
        name, at, version = given.partition("@")
        if name in DEFAULT_ASSIGNORS:
            return name, at + version
    raise unknown(given, "client", DEFAULT_ASSIGNORS, f"member {member!r}")


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
