"""A migration's settings: the topics, the number of partitions, the client's rule, and the order.

The new partition of each record follows: by its key, or, if the client does not hash the key, by where it was.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from partwright._check import at_least_one, shown
from partwright.errors import PartwrightError
from partwright.kafka.connection import KafkaConfig
from partwright.kafka.topics import check_topic_name
from partwright.keys.hashing import placer


class RecordPlacement:
    """Where records go.

    A record that the client would place anywhere goes to a partition that follows from its old partition and offset:
    the same one whenever it is copied, and spread evenly. If the new number of partitions is a multiple of the old one,
    that new partition has records of only this old one, as for records with keys.

    Args:
        old: How many partitions the old topic has.
        new: How many the new one has.
        client: The client whose rule places each key.
        key_type: How a key's bytes are hashed; see `partwright.partition_for_key`.

    Examples:
        >>> partitions, offsets = pa.array([0, 1, 1]), pa.array([5, 8, 9])
        >>> RecordPlacement(3, 6, "java", None).of(pa.array([b"a", None, None]), partitions, offsets).to_pylist()
        [4, 1, 4]
    """

    def __init__(self, old: int, new: int, client: str, key_type: str | None) -> None:
        self._old, self._new = old, new
        self._place = placer(new, client, key_type)
        self._home = placer(old, client, key_type)

    def of(self, keys: pa.Array, partitions: pa.Array, offsets: pa.Array) -> pa.Array:
        """The new partition of each record.

        Args:
            keys: Their key bytes, null for records without a key.
            partitions: Their old partitions.
            offsets: Their offsets there.
        """
        targets = self._place(keys)
        if not targets.null_count:
            return targets
        keyless = pc.is_null(targets)
        places = zip(partitions.filter(keyless).to_pylist(), offsets.filter(keyless).to_pylist(), strict=True)
        return pc.replace_with_mask(
            targets, keyless, pa.array([self.of_keyless(*place) for place in places], targets.type)
        )

    def of_keyless(self, partition: int, offset: int) -> int:
        """The new partition of a record that the client would place anywhere."""
        return (partition + self._old * offset) % self._new

    def home(self, keys: pa.Array) -> pa.Array:
        """The old partition that the client gives each key; null if the client does not use the key."""
        return self._home(keys)


def placement(migration: Migration, old: int) -> RecordPlacement:
    """Where a migration puts the records of a topic that had so many partitions."""
    return RecordPlacement(old, migration.partitions, migration.client, migration.key_type)


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
            raise PartwrightError(
                f"the order is {' or '.join(ORDERS)}, not {shown(self.order)}", value=self.order
            )

    @property
    def ledger(self) -> str:
        """The topic that records the migration's progress."""
        return LEDGER + self.target.topic

    @property
    def transactional_id(self) -> str:
        """The transactional ID, by which a second copy of the same migration ends the first."""
        return f"partwright-migrate-{self.source.topic}-{self.target.topic}"
