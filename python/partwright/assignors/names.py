"""The assignors' names, Kafka's classes for them, and how a user's own assignor is named."""

from __future__ import annotations

import functools

from partwright import _core
from partwright._check import shown
from partwright.assignors.custom import OwnAssignor, is_path
from partwright.errors import PartwrightError

# What old releases answer stays, also `sticky@2.3` and franz-go's of 1.20 and 1.21: docs/assignors.md names them, a
# group that is being upgraded has members of both releases, and the leader's release decides. Golden files of the real
# clients hold these answers.
CLIENT_ASSIGNORS = ("range", "roundrobin", "sticky", "cooperative-sticky")
"""The assignors of today's consumers, for comparisons."""
# As `partition.assignment.strategy` names them, and the broker's `group.consumer.assignors`.
_CLASSES = {
    f"org.apache.kafka.{name}Assignor": short
    for name, short in (
        ("clients.consumer.Range", "range"),
        ("clients.consumer.RoundRobin", "roundrobin"),
        ("clients.consumer.Sticky", "sticky"),
        ("clients.consumer.CooperativeSticky", "cooperative-sticky"),
        ("coordinator.group.assignor.Uniform", "server-uniform"),
        ("coordinator.group.assignor.Range", "server-range"),
        ("coordinator.group.assignor.Simple", "server-simple"),
    )
}


def assignors() -> list[str]:
    """The assignors, under their names in Kafka.

    Examples:
        >>> assignors()[4:]
        ['sticky@2.8', 'cooperative-sticky@2.8', 'sticky@2.3', 'old-range', 'old-roundrobin', 'server-uniform', \
'server-range', 'server-simple']
    """
    return _core.assignors()


def client_assignors() -> list[str]:
    """The assignors of other clients than Java's, as `CLIENT:ASSIGNOR`, with `@VERSION` if that version differs.

    Examples:
        >>> [name for name in client_assignors() if name.startswith("aiokafka:")]
        ['aiokafka:range', 'aiokafka:roundrobin', 'aiokafka:sticky']
    """
    return _core.client_assignors()


def resolve(assignor: object) -> str | OwnAssignor:
    """The name of an assignor of Kafka or of another client, or a user's own assignor.

    Raises:
        PartwrightError: The assignor does not exist.

    Examples:
        >>> resolve("sticky")
        'sticky'
        >>> resolve("org.apache.kafka.clients.consumer.StickyAssignor")
        'sticky'
        >>> resolve("java:sticky"), resolve("aiokafka:range")
        ('sticky', 'aiokafka:range')
    """
    assignor = short_name(assignor)
    if isinstance(assignor, str) and not is_own(assignor):
        return _core.assignor_named(assignor)
    if assignor is None or isinstance(assignor, (bytes, int, float, list, tuple, dict)):
        raise PartwrightError(f"an assignor is named by text, not {shown(assignor)}")
    return OwnAssignor.of(assignor)


def short_name(assignor: object) -> object:
    """The name that one of Kafka's classes uses for itself; anything else unchanged.

    Examples:
        >>> short_name("org.apache.kafka.clients.consumer.StickyAssignor"), short_name("range")
        ('sticky', 'range')
    """
    return _CLASSES.get(assignor, assignor) if isinstance(assignor, str) else assignor


def is_own(name: str) -> bool:
    """Whether a name is the path of a user's own assignor, not of a Kafka class.

    Examples:
        >>> is_own("mine.Mine"), is_own("org.apache.kafka.clients.consumer.RangeAssignor"), is_own("range")
        (True, False, False)
        >>> is_own("mine:Mine"), is_own("librdkafka:range"), is_own("librdkafak:range")
        (True, False, False)
    """
    return is_path(name) and name not in _CLASSES and not _is_of_a_client(name)


def _is_of_a_client(name: str) -> bool:
    """Whether a client is before a name's colon or a wire name after it: then it is a typing mistake, not a path."""
    clients, wire_names = _client_words()
    client, _, wire_name = name.partition(":")
    return client in clients or wire_name in wire_names


@functools.cache
def _client_words() -> tuple[frozenset[str], frozenset[str]]:
    names = [*(f"java:{name}" for name in CLIENT_ASSIGNORS), *client_assignors()]
    parts = [name.partition("@")[0].partition(":") for name in names]
    return frozenset(part[0] for part in parts), frozenset(part[2] for part in parts)
