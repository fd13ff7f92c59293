"""The old topic's consumer groups: which they are, whether they are stopped, and their offsets, read and set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from partwright._check import counted, meant
from partwright.errors import BrokerError
from partwright.kafka.client import TIMEOUT_S, admin_client, confluent_kafka
from partwright.kafka.errors import Meaning, RetriableError, meaning, no_right, try_again
from partwright.kafka.groups import describe_group, group_offsets

if TYPE_CHECKING:
    from confluent_kafka import KafkaError

    from partwright.kafka.client import Admin
    from partwright.kafka.connection import KafkaConfig
    from partwright.migration.settings import Side

_LIVE = {"STABLE", "PREPARING_REBALANCING", "COMPLETING_REBALANCING", "UNKNOWN"}


class MigratedGroup(NamedTuple):
    """A consumer group that has read the old topic.

    Attributes:
        name: Its ID.
        committed: By old partition, the offset that it has committed.
    """

    name: str
    committed: dict[int, int]


def groups_of(side: Side, names: Sequence[str]) -> list[MigratedGroup]:
    """The groups that have committed offsets of a topic, in the order of their names.

    Args:
        side: The topic.
        names: Only these groups, each of which must have some; by default every group that has.

    Raises:
        BrokerError: No Kafka answers or it gives no right; one of the groups is missing, is not a consumer group, or
            has committed nothing for the topic.
    """
    with admin_client(side.config, TIMEOUT_S) as admin:
        kinds = _kinds(admin)
        for name in names:
            _refuse_other(admin, name, kinds)
        consumers = [name for name, is_consumers in kinds.items() if is_consumers]
        groups = [
            MigratedGroup(name, committed)
            for name, committed in _committed(admin, side.topic, sorted(set(names) or consumers))
            if committed or names
        ]
        for group in groups:
            if not group.committed:
                raise BrokerError(
                    f"the group {group.name!r} has committed no offset of the topic {side.topic!r} {admin.where}: "
                    "check both names, or leave it out",
                    value=group.name,
                )
    return groups


def _kinds(admin: Admin) -> dict[str, bool]:
    """The groups that this user may see, and whether each is a consumer group."""
    kafka = confluent_kafka()
    future = admin.of_coordinator(lambda: admin.client.list_consumer_groups(request_timeout=admin.timeout))
    listed = admin.answer(future, "DESCRIBE", "the groups")
    for error in listed.errors:
        # Its groups would stay behind, unsaid.
        why = admin.config.redacted(str(error.str()))
        raise RetriableError(
            f"a broker of Kafka {admin.where} does not list its groups ({why}): start it, or wait until others have "
            "taken over from it"
        )
    kind = kafka.ConsumerGroupType
    return {each.group_id: each.type in {kind.CLASSIC, kind.CONSUMER} for each in listed.valid}


def _refuse_other(admin: Admin, name: str, kinds: Mapping[str, bool]) -> None:
    if not kinds.get(name, True):
        raise BrokerError(
            f"the group {name!r} {admin.where} is a share or Streams group, whose offsets are moved by other tools "
            "(kafka-share-groups.sh, kafka-streams-groups.sh --reset-offsets): leave it out",
            value=name,
        )
    found = describe_group(admin, name)
    if found is None or found.state == confluent_kafka().ConsumerGroupState.DEAD:
        near = meant(name, kinds) or ": check its id"
        raise BrokerError(f"there is no group {name!r} {admin.where}{near}", value=name)


def _committed(admin: Admin, topic: str, names: Sequence[str]) -> list[tuple[str, dict[int, int]]]:
    groups = []
    for name in names:
        offsets = {
            place.partition: place.offset
            for place in group_offsets(admin, name)
            if place.topic == topic and place.error is None and place.offset >= 0
        }
        groups.append((name, offsets))
    return groups


def refuse_running(config: KafkaConfig, names: Sequence[str]) -> None:
    """Refuse groups with members: Kafka would not set their offsets.

    Args:
        config: How to reach their Kafka.
        names: The groups; a missing one has no members.

    Raises:
        BrokerError: One has members, or no Kafka answers.
    """
    running = []
    with admin_client(config, TIMEOUT_S) as admin:
        for name in names:
            found = describe_group(admin, name)
            if found is not None and found.state.name in _LIVE:
                running.append(
                    f"{name!r} (its state is {found.state.name}, {counted(len(found.members), 'member')})"
                )
        if running:
            raise BrokerError(
                f"{'groups that run' if len(running) > 1 else 'a group that runs'} {admin.where} cannot be moved: stop "
                f"every consumer of {', '.join(running)} first",
                value=names[0],
            )


def commit(config: KafkaConfig, group: str, topic: str, offsets: Mapping[int, int]) -> None:
    """Set a stopped group's offsets of a topic.

    Raises:
        BrokerError: No Kafka answers, or it refuses one of them.
    """
    kafka = confluent_kafka()
    places = [kafka.TopicPartition(topic, partition, offset) for partition, offset in offsets.items()]
    requests = [kafka.ConsumerGroupTopicPartitions(group, places)]
    with admin_client(config, TIMEOUT_S) as admin:

        def refusals() -> list[KafkaError]:
            future = admin.of_coordinator(
                lambda: admin.client.alter_consumer_group_offsets(requests, request_timeout=admin.timeout)[
                    group
                ]
            )
            answer = admin.answer(future, "READ", f"the group {group!r}")
            # Kafka refuses single partitions, which the answer as a whole does not show.
            return [place.error for place in answer.topic_partitions if place.error is not None]

        refused = try_again(
            refusals,
            admin.timeout,
            answer=lambda errors: {meaning(each) for each in errors} == {Meaning.NO_COORDINATOR},
        )
        if refused and meaning(refused[0]) is Meaning.NO_RIGHT:
            raise BrokerError(f"Kafka {admin.where} gives {no_right('READ', 'group', group)}", value=group)
        if refused:
            raise BrokerError(
                f"Kafka {admin.where} does not set the offsets of the group {group!r} in {len(refused)} of "
                f"{counted(len(places), 'partition')} of {topic!r} ({refused[0].str()}): stop all its consumers, and "
                "cut it over again",
                value=group,
            )
