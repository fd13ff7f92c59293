"""Guess which client a real group's member uses, because no broker tells."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from partwright._check import counted
from partwright.assignors.mixed.subscription import read_subscription

if TYPE_CHECKING:
    from partwright.assignors.mixed.subscription import MemberMetadata

# The clients' default `client.id`.
_CLIENT_IDS = {"rdkafka": "librdkafka", "sarama": "sarama", "kgo": "franz-go", "kafkajs": "kafkajs"}
_BEGINNINGS = {"kafka-python-": "kafka-python", "aiokafka-": "aiokafka", "consumer-": "java"}
# Those of tools and frameworks, whose name is said, with their client. kcat keeps librdkafka's.
_TOOLS = [
    (re.compile(pattern), client, tool)
    for pattern, client, tool in (
        (r"rpk", "franz-go", "rpk"),
        (r"kcat|kafkacat", "librdkafka", "kcat"),
        (r"ClickHouse.*", "librdkafka", "ClickHouse"),
        (r".*-StreamThread-\d+-(?:restore-)?consumer", "java", "Kafka Streams"),
        (r"connector-consumer-.*", "java", "Kafka Connect"),
        (r"console-consumer", "java", "kafka-console-consumer.sh"),
    )
]
_KAFKA_GO = "(github.com/segmentio/kafka-go)"
_JAVAS_GENERATION_BYTES = 4


class Guess(NamedTuple):
    """A client, and the evidence for it.

    Attributes:
        client: The client.
        why: The evidence.
    """

    client: str
    why: str


def guesses_said(guesses: Iterable[Guess]) -> list[str]:
    """A sentence for each client and its evidence, with the number of members.

    Examples:
        >>> guesses_said([Guess("sarama", "the client id 'sarama'")] * 2)
        ["2 members taken for sarama, by the client id 'sarama'"]
    """
    return [
        f"{counted(count, 'member')} taken for {guess.client}, by {guess.why}"
        for guess, count in Counter(guesses).items()
    ]


def by_client_id(client_id: str) -> Guess | None:
    """The client that has this `client.id` by default, also in a tool or framework; None if an application set it.

    Spring's listeners keep Java's default, `consumer-GROUP-1`, unless their application names them.

    Examples:
        >>> by_client_id("consumer-billing-1"), by_client_id("billing")
        (Guess(client='java', why="the client id 'consumer-billing-1'"), None)
        >>> by_client_id("rpk")
        Guess(client='franz-go', why="the client id 'rpk' of rpk")
    """
    for pattern, client, tool in _TOOLS:
        if pattern.fullmatch(client_id):
            return Guess(client, f"the client id {client_id!r} of {tool}")
    named = _CLIENT_IDS.get(client_id)
    if named is None:
        named = next((name for begin, name in _BEGINNINGS.items() if client_id.startswith(begin)), None)
    if named is None and client_id.endswith(_KAFKA_GO):
        named = "kafka-go"
    return None if named is None else Guess(named, f"the client id {client_id!r}")


def guessed_by_id(client_id: str) -> Guess:
    """Guess a member's client by its `client.id` alone; Java's if that says nothing.

    Examples:
        >>> guessed_by_id("billing")
        Guess(client='java', why="its own client id 'billing', which says nothing")
    """
    return by_client_id(client_id) or Guess("java", f"its own client id {client_id!r}, which says nothing")


def guessed_client(client_id: str, assignor: str, metadata: bytes) -> Guess:
    """The client of a member.

    Args:
        client_id: Its `client.id`.
        assignor: The wire name of the group's assignor.
        metadata: What it sent to the leader for that assignor.

    Examples:
        >>> guessed_client("rdkafka", "range", b"")
        Guess(client='librdkafka', why="the client id 'rdkafka'")
        >>> guessed_client("billing", "range", bytes.fromhex("00010000000100017400000000"))
        Guess(client='kafka-go', why='a subscription of version 1 without owned partitions')
    """
    named = by_client_id(client_id)
    if named is not None:
        return named
    try:
        read = read_subscription(metadata)
    except ValueError:
        return Guess("java", "nothing: its subscription cannot be read")
    subscription = read.subscription
    if subscription.version == 1 and read.is_short:
        return Guess("kafka-go", "a subscription of version 1 without owned partitions")
    return _by_shape(assignor, subscription)


def _by_shape(assignor: str, subscription: MemberMetadata) -> Guess:
    data = subscription.user_data
    why = f"a subscription of version {subscription.version} with {_user_data_in_words(data)}"
    if subscription.version > 1:
        if data == b"" or (data is not None and len(data) > _JAVAS_GENERATION_BYTES and subscription.owned):
            return Guess("librdkafka", why)
        return Guess("java", why)
    if subscription.version == 1:
        return Guess("kafka-python" if data == b"" else "sarama", why)
    return Guess("kafkajs" if assignor == "RoundRobinAssigner" else "kafka-python", why)


def _user_data_in_words(data: bytes | None) -> str:
    if data is None:
        return "null user data"
    return f"{counted(len(data), 'byte')} of user data" if data else "empty user data"
