"""A migration's settings: the topics, the number of partitions, the client's rule, and the order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from partwright._check import at_least_one
from partwright.errors import PartwrightError
from partwright.kafka.topics import check_topic_name
from partwright.keys.hashing import placer

if TYPE_CHECKING:
    from partwright.kafka.connection import KafkaConfig

__all__ = ["LEDGER", "ORDERS", "Migration", "Side"]

ORDERS = ("time", "generation")
"""How records of a key in several old partitions may be ordered: by their timestamps, or first those that were written
before the topic got more partitions."""
LEDGER = "__partwright_migrate-"
"""The beginning of the name of a migration's ledger; the new topic's name follows."""
_LONGEST = 249


@dataclass(frozen=True)
class Side:
    """A topic, and how to reach its Kafka.

    Attributes:
        config: The client configuration, with servers.
        topic: The topic.
    """

    config: KafkaConfig
    topic: str

    def __str__(self) -> str:
        return f"kafka://{self.config.servers}/{self.topic}"


@dataclass(frozen=True)
class Migration:
    """A migration; checked when it is made, before a broker is asked.

    Attributes:
        source: The old topic.
        target: The new topic.
        partitions: How many partitions the new topic has.
        client: The client whose rule places each key.
        key_type: `confluent:strip-id` if a schema's ID is not part of the key; otherwise None.
        order: How records of a key in several old partitions are ordered, one of `ORDERS`; None refuses them.
        is_client_said: Whether the user chose the client: otherwise a topic that another client wrote is refused.

    Raises:
        PartwrightError: A name or the number cannot be a topic's, or the client or the order is not known.
    """

    source: Side
    target: Side
    partitions: int
    client: str = "java"
    key_type: str | None = None
    order: str | None = None
    is_client_said: bool = True

    def __post_init__(self) -> None:
        at_least_one(self.partitions, "the new topic's number of partitions")
        placer(self.partitions, self.client, self.key_type)
        for side in (self.source, self.target):
            check_topic_name(side.topic)
        if len(self.ledger) > _LONGEST:
            raise PartwrightError(
                f"the ledger {self.ledger!r} would have a name of more than {_LONGEST} letters: give the new topic one "
                f"of at most {_LONGEST - len(LEDGER)}",
                value=self.target.topic,
            )
        if self.order not in {None, *ORDERS}:
            raise PartwrightError(f"the order is {' or '.join(ORDERS)}, not {self.order!r}", value=self.order)

    @property
    def ledger(self) -> str:
        """The topic that records the migration's progress."""
        return LEDGER + self.target.topic

    @property
    def transactional_id(self) -> str:
        """The transactional ID, by which a second copy of the same migration ends the first."""
        return f"partwright-migrate-{self.source.topic}-{self.target.topic}"
