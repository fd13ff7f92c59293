"""Kafka's `ConsumerPartitionAssignor` in Python's shapes, for assignors of one's own.

>>> class First(ConsumerPartitionAssignor):
...     name = "first"
...     def assign(self, cluster, group_subscription):
...         first = {topic: name for name in reversed(group_subscription) for topic in group_subscription[name].topics}
...         given = {name: [] for name in group_subscription}
...         for topic, name in first.items():
...             given[name] += [(each.topic, each.partition) for each in cluster.partitions_for_topic(topic)]
...         return given
>>> from partwright import assign
>>> assign({"t": 2, "u": 1}, {"c1": ["t"], "c2": ["t", "u"]}, First).to_dict()
{'c1': [('t', 0), ('t', 1)], 'c2': [('u', 0)]}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "Cluster",
    "ConsumerGroupMetadata",
    "ConsumerPartitionAssignor",
    "MemberAssignment",
    "PartitionInfo",
    "Subscription",
    "TopicPartition",
]


class TopicPartition(NamedTuple):
    """A partition of a topic; a bare tuple of both does as well."""

    topic: str
    partition: int


class PartitionInfo(NamedTuple):
    """A partition, and the racks of its replicas as far as they are known."""

    topic: str
    partition: int
    racks: list[str]


class Subscription(NamedTuple):
    """What a member says as it joins: `ConsumerPartitionAssignor.Subscription`.

    Attributes:
        topics: What it subscribes to, in the order given.
        user_data: What `subscription_user_data` said of it.
        owned_partitions: What it owned, in the order given.
        generation_id: The generation in which it came to own it; None where it knows none.
        group_instance_id: `group.instance.id` of a static member.
        rack_id: `client.rack`.
    """

    topics: list[str]
    user_data: bytes | None
    owned_partitions: list[TopicPartition]
    generation_id: int | None
    group_instance_id: str | None
    rack_id: str | None


class MemberAssignment(NamedTuple):
    """What a member is given: `ConsumerPartitionAssignor.Assignment`; a bare list of partitions does as well."""

    partitions: Sequence[tuple[str, int]]
    user_data: bytes | None = None


class ConsumerGroupMetadata(NamedTuple):
    """Of whom `on_assignment` speaks: the member, and the generation that the assignment begins."""

    generation_id: int
    member_id: str
    group_instance_id: str | None


class Cluster:
    """What the group's leader knows of the topics that members subscribe to, as far as there are such topics."""

    def __init__(self, partitions: Mapping[str, list[PartitionInfo]]) -> None:
        self._partitions = partitions

    def topics(self) -> list[str]:
        """The topics' names."""
        return list(self._partitions)

    def partition_count_for_topic(self, topic: str) -> int | None:
        """How many partitions a topic has; None where there is no such topic."""
        return len(self._partitions[topic]) if topic in self._partitions else None

    def partitions_for_topic(self, topic: str) -> list[PartitionInfo]:
        """A topic's partitions by their numbers; none where there is no such topic."""
        return list(self._partitions.get(topic, ()))


class ConsumerPartitionAssignor:
    """What an assignor of one's own has; whatever has `name` and `assign` will do, with or without this base.

    Attributes:
        name: Its name in the group's protocol.
        version: The version of its user data.
        supported_protocols: `EAGER`, `COOPERATIVE` or both. A group runs the highest, and under `COOPERATIVE` nothing
            may be given to a member while another that owns it loses it.
    """

    name = ""
    version: int = 0
    supported_protocols: Sequence[str] = ("EAGER",)

    def subscription_user_data(self, topics: set[str]) -> bytes | None:
        """What a member that subscribes to these topics sends along as it joins; asked for each member."""
        del topics
        return None

    def assign(
        self, cluster: Cluster, group_subscription: Mapping[str, Subscription]
    ) -> Mapping[str, Sequence[tuple[str, int]] | MemberAssignment]:
        """By member its partitions; one that is left out gets none.

        Args:
            cluster: The topics.
            group_subscription: By member what it says, in the order in which the members were given.
        """
        raise NotImplementedError

    def on_assignment(self, assignment: MemberAssignment, metadata: ConsumerGroupMetadata) -> None:
        """Told of each member's part, once all of it is checked."""
