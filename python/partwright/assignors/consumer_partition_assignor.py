"""Kafka's `ConsumerPartitionAssignor` as Python types, for your own assignors.

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

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class TopicPartition(NamedTuple):
    """A partition of a topic; a bare tuple of both works as well."""

    topic: str
    partition: int


class PartitionInfo(NamedTuple):
    """A partition, and the racks of its replicas as far as they are known."""

    topic: str
    partition: int
    racks: list[str]


class Subscription(NamedTuple):
    """What a member tells the group as it joins: `ConsumerPartitionAssignor.Subscription`.

    Attributes:
        topics: The topics that it subscribes to, in the order given.
        user_data: What `subscription_user_data` returned for it.
        owned_partitions: The partitions that it owned, in the order given.
        generation_id: The generation in which it got them; None if it knows none.
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
    """A member's partitions: `ConsumerPartitionAssignor.Assignment`; a bare list of partitions works as well."""

    partitions: Sequence[tuple[str, int]]
    user_data: bytes | None = None


class ConsumerGroupMetadata(NamedTuple):
    """The member that `on_assignment` is about, and the generation that the assignment begins."""

    generation_id: int
    member_id: str
    group_instance_id: str | None


class GroupCluster:
    """What the group's leader knows about the existing topics that members subscribe to."""

    def __init__(self, partitions: Mapping[str, list[PartitionInfo]]) -> None:
        self._partitions = partitions

    def topics(self) -> list[str]:
        """The topics' names."""
        return list(self._partitions)

    def partition_count_for_topic(self, topic: str) -> int | None:
        """A topic's number of partitions; None if the topic does not exist."""
        return len(self._partitions[topic]) if topic in self._partitions else None

    def partitions_for_topic(self, topic: str) -> list[PartitionInfo]:
        """A topic's partitions by number; empty if the topic does not exist."""
        return list(self._partitions.get(topic, ()))


class ConsumerPartitionAssignor:
    """The base of your own assignors; any class with `name` and `assign` works, with or without this base.

    Attributes:
        name: Its name in the group's protocol.
        version: The version of its user data.
        supported_protocols: `EAGER`, `COOPERATIVE` or both. A group runs the highest. Under `COOPERATIVE` a partition
            may not go to one member while it is taken from its owner.
    """

    name = ""
    version: int = 0
    supported_protocols: Sequence[str] = ("EAGER",)

    def subscription_user_data(self, topics: set[str]) -> bytes | None:
        """The bytes that a member with these topics sends along as it joins; called for each member."""
        del topics
        return None

    def assign(
        self, cluster: GroupCluster, group_subscription: Mapping[str, Subscription]
    ) -> Mapping[str, Sequence[tuple[str, int]] | MemberAssignment]:
        """Return each member's partitions; a member that is left out gets none.

        Args:
            cluster: The topics.
            group_subscription: What each member reports, in the order in which the members were given.
        """
        raise NotImplementedError

    def on_assignment(self, assignment: MemberAssignment, metadata: ConsumerGroupMetadata) -> None:
        """Called with each member's assignment, after the whole answer was checked."""
