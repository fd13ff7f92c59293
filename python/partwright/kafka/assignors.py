"""Kafka's own assignors for kafka-python's consumers, whose assignors of the same names give other answers.

KafkaConsumer("orders", group_id="billing", partition_assignment_strategy=[kafka_python_assignor("sticky")])
"""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import TYPE_CHECKING

from partwright.assignors.assign import assign
from partwright.assignors.names import CLIENT_ASSIGNORS, is_own, resolve
from partwright.errors import MissingExtraError, PartwrightError
from partwright.kafka import user_data
from partwright.kafka.custom_assignors import adapted, by_topic

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import ModuleType

    from kafka.cluster import ClusterMetadata
    from kafka.coordinator.assignors.abstract import AbstractPartitionAssignor
    from kafka.protocol.consumer.group import JoinGroupResponse
    from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment, ConsumerProtocolSubscription
    from kafka.structs import TopicPartition

    from partwright.assignors.members import Member

__all__ = ["kafka_python_assignor"]

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

    class Assignor(protocol):  # type: ignore[misc, valid-type]
        @classmethod
        def _metadata(
            cls, topics: Iterable[str], owned: Iterable[TopicPartition] | None, generation: int = -1
        ) -> ConsumerProtocolSubscription:
            """See kafka-python's `StickyPartitionAssignor`, the one with user data of its own form."""
            subscription = super()._metadata(topics, owned, generation)
            if name == "sticky" and owned is not None:
                pairs = [(each.topic, each.partition) for each in owned]
                subscription.user_data = user_data.encode(pairs, generation)
            return subscription

        def assign(
            self, cluster: ClusterMetadata, members: Sequence[JoinGroupResponse.JoinGroupResponseMember]
        ) -> dict[str, ConsumerProtocolAssignment]:
            """See kafka-python's `AbstractPartitionAssignor`."""
            topics = {topic for member in members for topic in member.metadata.topics}
            counts = {topic: len(cluster.partitions_for_topic(topic) or ()) for topic in sorted(topics)}
            found = assign(counts, [_member(self, member) for member in members], name).to_dict()
            return {
                member: answer(self.version, list(by_topic(pairs).items()), b"")
                for member, pairs in found.items()
            }

    return Assignor()


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
    found = {
        "id": member.member_id,
        "topics": list(member.metadata.topics),
        "instance_id": member.group_instance_id,
    }
    if protocol.name == "sticky":
        sent = user_data.decode(member.metadata.user_data)
        if sent is not None:
            found |= {"owned": sent[0], "generation": sent[1]}
    elif hasattr(protocol, "parse_member_metadata"):
        owned = protocol.parse_member_metadata(member.metadata)
        # A member that sends nothing has neither field.
        if owned.partitions or owned.generation >= 0:
            found |= {"owned": list(map(tuple, owned.partitions)), "generation": owned.generation}
    return found
