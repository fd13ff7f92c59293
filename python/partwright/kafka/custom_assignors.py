"""A user's own assignor in the form that kafka-python's consumers take, with Kafka's wire format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partwright.assignors.consumer_partition_assignor import (
    ConsumerGroupMetadata,
    GroupCluster,
    MemberAssignment,
    PartitionInfo,
    Subscription,
    TopicPartition,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import ModuleType

    from kafka.cluster import ClusterMetadata
    from kafka.coordinator.assignors.abstract import AbstractPartitionAssignor, RebalanceProtocol
    from kafka.protocol.consumer.group import JoinGroupResponse
    from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment, ConsumerProtocolSubscription

    from partwright.assignors.custom import OwnAssignor

__all__ = ["adapted", "by_topic"]

# The first version of subscriptions that has owned partitions and their generation.
_SUBSCRIPTION_VERSION = 2
_NO_GENERATION = -1


def adapted(own: OwnAssignor, abstract: Any, wire: ModuleType) -> AbstractPartitionAssignor:
    """An object of kafka-python's `AbstractPartitionAssignor`, for one consumer: it remembers what that consumer owns.

    A member sends what its own object's `subscription_user_data` returned. `on_assignment` gets that consumer's part,
    with metadata that lack a member ID, because kafka-python does not reveal it.

    Args:
        own: The assignor.
        abstract: kafka-python's module of this class.
        wire: Its module for the wire format of subscriptions and assignments.
    """

    class Assignor(abstract.AbstractPartitionAssignor):  # type: ignore[misc]
        name = own.name
        version = 0

        def __init__(self) -> None:
            self._owned: Sequence[tuple[str, int]] = ()
            self._generation = _NO_GENERATION

        def supported_protocols(self) -> list[RebalanceProtocol]:
            return [abstract.RebalanceProtocol[name] for name in own.protocols]

        def metadata(self, topics: Iterable[str]) -> ConsumerProtocolSubscription:
            pair = wire.ConsumerProtocolSubscription.TopicPartition
            return wire.ConsumerProtocolSubscription(
                version=_SUBSCRIPTION_VERSION,
                topics=sorted(topics),
                user_data=own.user_data(set(topics)) or b"",
                owned_partitions=[
                    pair(topic=topic, partitions=partitions)
                    for topic, partitions in by_topic(self._owned).items()
                ],
                generation_id=self._generation,
            )

        def assign(
            self, cluster: ClusterMetadata, members: Sequence[JoinGroupResponse.JoinGroupResponseMember]
        ) -> dict[str, ConsumerProtocolAssignment]:
            subscriptions = {member.member_id: _subscription(member) for member in members}
            known = {}
            for topic in sorted({topic for said in subscriptions.values() for topic in said.topics}):
                numbers = sorted(cluster.partitions_for_topic(topic) or ())
                if numbers:
                    known[topic] = [PartitionInfo(topic, number, []) for number in numbers]
            given = own.assignment(GroupCluster(known), subscriptions)
            return {
                member: wire.ConsumerProtocolAssignment(
                    self.version, list(by_topic(part.partitions).items()), part.user_data or b""
                )
                for member, part in given.items()
            }

        def on_assignment(self, assignment: ConsumerProtocolAssignment, generation: int) -> None:
            self._owned = [TopicPartition(*pair) for pair in assignment.partitions()]
            self._generation = generation
            part = MemberAssignment(self._owned, assignment.user_data or None)
            own.tell(part, ConsumerGroupMetadata(generation, "", None))

    return Assignor()


def by_topic(pairs: Sequence[tuple[str, int]]) -> dict[str, list[int]]:
    """A list of partitions for each topic, as in the protocol.

    Examples:
        >>> by_topic([("t", 0), ("u", 1), ("t", 2)])
        {'t': [0, 2], 'u': [1]}
    """
    topics: dict[str, list[int]] = {}
    for topic, partition in pairs:
        topics.setdefault(topic, []).append(partition)
    return topics


def _subscription(member: JoinGroupResponse.JoinGroupResponseMember) -> Subscription:
    """A member of JoinGroup's response; a member with an older form owns nothing."""
    said = member.metadata
    generation = getattr(said, "generation_id", None)
    return Subscription(
        list(said.topics),
        said.user_data or None,
        [
            TopicPartition(each.topic, number)
            for each in getattr(said, "owned_partitions", None) or ()
            for number in each.partitions
        ],
        generation if generation is not None and generation > _NO_GENERATION else None,
        member.group_instance_id,
        None,
    )
