"""Kafka's own assignors for kafka-python's consumers, whose assignors of the same names give other answers.

KafkaConsumer("orders", group_id="billing", partition_assignment_strategy=[kafka_python_assignor("sticky")])
"""

from __future__ import annotations

import struct
import warnings
from collections.abc import Iterable, Sequence
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from partwright.assignors.consumer_partition_assignor import (
    ConsumerGroupMetadata,
    GroupCluster,
    MemberAssignment,
    PartitionInfo,
    Subscription,
    TopicPartition,
)
from partwright.assignors.group_assignment import assign
from partwright.assignors.names import CLIENT_ASSIGNORS, is_own, resolve
from partwright.errors import MissingExtraError, PartwrightError

if TYPE_CHECKING:
    from kafka.cluster import ClusterMetadata
    from kafka.coordinator.assignors.abstract import AbstractPartitionAssignor, RebalanceProtocol
    from kafka.protocol.consumer.group import JoinGroupResponse
    from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment, ConsumerProtocolSubscription
    from kafka.structs import TopicPartition as KafkaPartition

    from partwright.assignors.custom import OwnAssignor
    from partwright.assignors.members import Member

_NO_GENERATION = -1


def encode_owned(owned: Iterable[tuple[str, int]], generation: int) -> bytes:
    """The bytes in which Java's `StickyAssignor` reports what a member owns (`STICKY_ASSIGNOR_USER_DATA_V1`).

    kafka-python's own assignor with this name puts a version in front. Java's assignor cannot read that, and
    kafka-python's cannot read Java's bytes.

    Args:
        owned: The partitions, each with its topic.
        generation: The generation in which they were assigned.

    Examples:
        >>> encode_owned([("t", 2)], 5).hex()
        '00000001000174000000010000000200000005'
    """
    topics = by_topic(owned)
    parts = [struct.pack(">i", len(topics))]
    for topic, partitions in topics.items():
        name = topic.encode()
        parts.append(
            struct.pack(f">h{len(name)}si{len(partitions)}i", len(name), name, len(partitions), *partitions)
        )
    return b"".join([*parts, struct.pack(">i", generation)])


def decode_owned(data: bytes | None) -> tuple[list[tuple[str, int]], int] | None:
    """Decodes such bytes as Java's assignor does. Without a generation they have version 0.

    Returns:
        The owned partitions and the generation; None if there is nothing to read.

    Examples:
        >>> decode_owned(encode_owned([("t", 2), ("t", 0)], 5))
        ([('t', 2), ('t', 0)], 5)
        >>> decode_owned(b"anything")
    """
    if not data:
        return None
    try:
        place = 4
        owned = []
        for _ in range(*struct.unpack_from(">i", data)):
            (length,) = struct.unpack_from(">h", data, place)
            name, count = struct.unpack_from(f">{length}si", data, place + 2)
            place += 6 + length
            owned += [
                (name.decode(), partition) for partition in struct.unpack_from(f">{count}i", data, place)
            ]
            place += 4 * count
    except (struct.error, UnicodeDecodeError):
        return None
    generation = struct.unpack_from(">i", data, place)[0] if len(data) >= place + 4 else _NO_GENERATION
    return owned, generation


# The first version of subscriptions that has owned partitions and their generation.
_SUBSCRIPTION_VERSION = 2


def adapted(own: OwnAssignor, abstract: Any, wire: ModuleType) -> AbstractPartitionAssignor:
    """An object of kafka-python's `AbstractPartitionAssignor`, for one consumer: it remembers what that consumer owns.

    A member sends what its own object's `subscription_user_data` returned. `on_assignment` gets that consumer's part,
    with metadata that lack a member ID, because kafka-python does not reveal it.

    Args:
        own: The assignor.
        abstract: kafka-python's module of this class.
        wire: Its module for the wire format of subscriptions and assignments.
    """

    class AdaptedAssignor(abstract.AbstractPartitionAssignor):  # type: ignore[misc]
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
            for topic in sorted({topic for each in subscriptions.values() for topic in each.topics}):
                numbers = sorted(cluster.partitions_for_topic(topic) or ())
                if numbers:
                    known[topic] = [PartitionInfo(topic, number, []) for number in numbers]
            parts = own.assignment(GroupCluster(known), subscriptions)
            return {
                member: wire.ConsumerProtocolAssignment(
                    self.version, list(by_topic(part.partitions).items()), part.user_data or b""
                )
                for member, part in parts.items()
            }

        def on_assignment(self, assignment: ConsumerProtocolAssignment, generation: int) -> None:
            self._owned = [TopicPartition(*pair) for pair in assignment.partitions()]
            self._generation = generation
            part = MemberAssignment(self._owned, assignment.user_data or None)
            own.tell(part, ConsumerGroupMetadata(generation, "", None))

    return AdaptedAssignor()


def by_topic(pairs: Iterable[tuple[str, int]]) -> dict[str, list[int]]:
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
    metadata = member.metadata
    generation = getattr(metadata, "generation_id", None)
    return Subscription(
        list(metadata.topics),
        metadata.user_data or None,
        [
            TopicPartition(each.topic, number)
            for each in getattr(metadata, "owned_partitions", None) or ()
            for number in each.partitions
        ],
        generation if generation is not None and generation > _NO_GENERATION else None,
        member.group_instance_id,
        None,
    )


# The kafka-python classes for each assignor's protocol: subscriptions, user data, owned partitions.
_PROTOCOLS = {
    "range": "range.RangePartitionAssignor",
    "roundrobin": "roundrobin.RoundRobinPartitionAssignor",
    "sticky": "sticky.sticky_assignor.StickyPartitionAssignor",
    "cooperative-sticky": "cooperative_sticky.CooperativeStickyAssignor",
}
_WIRE = "protocol.consumer.metadata"


def kafka_python_assignor(name: object) -> AbstractPartitionAssignor:
    """An assignor for kafka-python 3's `KafkaConsumer(partition_assignment_strategy=[...])`.

    If its consumer leads the group, each member gets what Kafka's Java client would give it as the leader. Racks are
    ignored, because kafka-python does not know those of replicas.

    Args:
        name: The assignor's name in Kafka: `range`, `roundrobin`, `sticky` or `cooperative-sticky`; or your own, as for
            `partwright.assign`, whose class makes an object for each consumer.

    Returns:
        An object of kafka-python's class for this name. Each consumer needs its own, because the object remembers what
        the consumer owns.

    Raises:
        MissingExtraError: kafka-python 3 is not installed.
        PartwrightError: The assignor does not exist.

    Examples:
        >>> kafka_python_assignor("sticky").name
        'sticky'
    """
    own = resolve(name) if not isinstance(name, str) or is_own(name) else name
    if not isinstance(own, str):
        return adapted(own, _module("coordinator.assignors.abstract"), _module(_WIRE))
    if name not in _PROTOCOLS:
        raise PartwrightError(f"there is no assignor {name!r}: there are {', '.join(CLIENT_ASSIGNORS)}")
    module, _, base = _PROTOCOLS[name].rpartition(".")
    protocol = getattr(_module(f"coordinator.assignors.{module}"), base)
    answer = _module(_WIRE).ConsumerProtocolAssignment

    class KafkaPythonAssignor(protocol):  # type: ignore[misc, valid-type]
        @classmethod
        def _metadata(
            cls, topics: Iterable[str], owned: Iterable[KafkaPartition] | None, generation: int = -1
        ) -> ConsumerProtocolSubscription:
            """See kafka-python's `StickyPartitionAssignor`, the one with user data of its own form."""
            subscription = super()._metadata(topics, owned, generation)
            if name == "sticky" and owned is not None:
                pairs = [(each.topic, each.partition) for each in owned]
                subscription.user_data = encode_owned(pairs, generation)
            return subscription

        def assign(
            self, cluster: ClusterMetadata, members: Sequence[JoinGroupResponse.JoinGroupResponseMember]
        ) -> dict[str, ConsumerProtocolAssignment]:
            """See kafka-python's `AbstractPartitionAssignor`."""
            topics = {topic for member in members for topic in member.metadata.topics}
            counts = {topic: len(cluster.partitions_for_topic(topic) or ()) for topic in sorted(topics)}
            assignment = assign(counts, [_member(self, member) for member in members], name).to_dict()
            return {
                member: answer(self.version, list(by_topic(pairs).items()), b"")
                for member, pairs in assignment.items()
            }

    return KafkaPythonAssignor()


def _module(name: str) -> ModuleType:
    """A module of kafka-python."""
    try:
        with warnings.catch_warnings():
            # These are Python's own warnings, caused by importing kafka-python.
            warnings.simplefilter("ignore", DeprecationWarning)
            return import_module(f"kafka.{name}")
    except ImportError as error:
        raise MissingExtraError(
            f"an assignor for kafka-python needs kafka-python 3 ({error}): pip install 'kafka-python>=3.0.12'"
        ) from error


def _member(protocol: AbstractPartitionAssignor, member: JoinGroupResponse.JoinGroupResponseMember) -> Member:
    """A member of JoinGroup's response as `partwright.assign` takes it."""
    fields = {
        "id": member.member_id,
        "topics": list(member.metadata.topics),
        "instance_id": member.group_instance_id,
    }
    if protocol.name == "sticky":
        member_data = decode_owned(member.metadata.user_data)
        if member_data is not None:
            fields |= {"owned": member_data[0], "generation": member_data[1]}
    elif hasattr(protocol, "parse_member_metadata"):
        owned = protocol.parse_member_metadata(member.metadata)
        # A member that sends nothing has neither field.
        if owned.partitions or owned.generation >= 0:
            fields |= {"owned": list(map(tuple, owned.partitions)), "generation": owned.generation}
    return fields
