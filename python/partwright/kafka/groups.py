"""A consumer group of a live Kafka: its members, what each subscribes to and reads, over confluent-kafka."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, NamedTuple, cast

from partwright.assignors.mixed.guess import guessed_client
from partwright.assignors.mixed.subscription import read_subscription
from partwright.errors import BrokerError
from partwright.kafka.client import NO_SUCH_GROUP, TIMEOUT_S, Admin, admin_client, confluent_kafka
from partwright.kafka.connection.given import configured
from partwright.kafka.topics import described

if TYPE_CHECKING:
    from concurrent.futures import Future

    from confluent_kafka.admin._group import ConsumerGroupDescription
    from confluent_kafka.admin._metadata import GroupMember

    from partwright._check import Json
    from partwright.assignors.mixed.guess import Guess
    from partwright.assignors.mixed.subscription import Subscription
    from partwright.kafka.connection.given import KafkaConfigLike

__all__ = ["Told", "consumer_group", "described_group"]


class Told(NamedTuple):
    """What a member of a classic group told its coordinator.

    Attributes:
        subscription: What it sent to the leader.
        guess: Which client it seems to be.
    """

    subscription: Subscription
    guess: Guess


def consumer_group(
    bootstrap: str | None,
    group: str,
    *,
    timeout: float = TIMEOUT_S,
    kafka_config: KafkaConfigLike = None,
) -> Json:
    """A stable group of the classic protocol, as `partwright.assign` takes one.

    Args:
        bootstrap: Where the broker is, `host:port`; None for the `bootstrap.servers` of the configuration.
        group: The group's id.
        timeout: Seconds, for reaching the broker and again for each of its answers.
        kafka_config: The client configuration.

    Returns:
        `assignor` (the one that the group runs), `topics` (those that members subscribe to or read, as far as they
        exist) and `members`, in the coordinator's order: `id`, `topics`, `owned` (what it reads), `generation`, the
        same for all, `instance_id`, `rack` and `client`. No broker tells the client: `guessed` says by member what
        speaks for it.

    Raises:
        BrokerError: No Kafka answers; there is no such group, it has no members, it is rebalancing, its members are no
            consumers, or it is of the protocol of KIP-848, whose members' subscriptions this client does not tell.

    Examples:
        >>> consumer_group("127.0.0.1:9092", "billing")["assignor"]
        'range'
    """
    with admin_client(configured(kafka_config, bootstrap), timeout) as admin:
        found = _described(admin, group)
        told = _told(admin, group, found.partition_assignor)
        members: list[Json] = []
        for each in found.members:
            member = told.get(each.member_id)
            if member is None:
                raise BrokerError(
                    f"the group {group!r} {admin.where} is rebalancing (a member came or left): ask again in a moment"
                )
            owned: dict[str, list[int]] = {}
            for place in each.assignment.topic_partitions:
                owned.setdefault(place.topic, []).append(place.partition)
            members.append(
                {
                    "id": each.member_id,
                    "topics": list(member.subscription.topics),
                    "owned": owned,
                    # A stable group's members have what they have of one generation, which nobody tells.
                    "generation": 1,
                    "instance_id": each.group_instance_id,
                    "rack": member.subscription.rack or None,
                    "client": member.guess.client,
                }
            )
        names = sorted({topic for each in members for topic in (*each["topics"], *each["owned"])})
        counts = described(admin, names)
    topics = {name: len(topic.partitions) for name, topic in counts.items() if topic is not None}
    guessed = {each["id"]: told[each["id"]].guess.why for each in members}
    return {"assignor": found.partition_assignor, "topics": topics, "members": members, "guessed": guessed}


def described_group(admin: Admin, group: str) -> Future[ConsumerGroupDescription]:
    """What Kafka says of a group, or why it does not.

    Raises:
        BrokerError: There is no answer in time.
    """

    def ask() -> Future[ConsumerGroupDescription]:
        return admin.client.describe_consumer_groups([group], request_timeout=admin.timeout)[group]

    return admin.of_coordinator(ask)


def _described(admin: Admin, group: str) -> ConsumerGroupDescription:
    kafka = confluent_kafka()
    who = f"the group {group!r} {admin.where}"
    asked = described_group(admin, group)
    error = admin.error(asked)
    if error is not None and error.code() == NO_SUCH_GROUP:
        raise _no_group(admin, group)
    found: ConsumerGroupDescription = admin.answer(asked, "DESCRIBE", f"the group {group!r}")
    state = kafka.ConsumerGroupState
    if found.type == kafka.ConsumerGroupType.CONSUMER:
        raise BrokerError(
            f"{who} is of the protocol of KIP-848: give what kafka-consumer-groups.sh --members --verbose says of it"
        )
    if found.state == state.DEAD:
        raise _no_group(admin, group)
    if found.state == state.EMPTY:
        raise BrokerError(f"{who} has no members: there is nobody to assign anything to")
    if found.state != state.STABLE:
        raise BrokerError(f"{who} is rebalancing (its state is {found.state.name}): ask again in a moment")
    return found


def _no_group(admin: Admin, group: str) -> BrokerError:
    return BrokerError(f"there is no group {group!r} {admin.where}: check its id", value=group)


def _told(admin: Admin, group: str, assignor: str) -> dict[str, Told]:
    """What each member told its coordinator, by its id: only librdkafka's older question has the bytes."""
    try:
        with warnings.catch_warnings():
            # Deprecated in favour of answers that have no subscriptions.
            warnings.simplefilter("ignore", DeprecationWarning)
            groups = admin.client.list_groups(group, timeout=admin.timeout)
    except confluent_kafka().KafkaException as error:
        raise BrokerError(
            f"Kafka {admin.where} does not tell the members of the group {group!r} ({error.args[0].str()}): ask again"
        ) from error
    for found in groups:
        if found.id == group:
            if found.protocol_type != "consumer":
                raise BrokerError(
                    f"the group {group!r} {admin.where} is one of {found.protocol_type or 'no protocol'}, and not of "
                    "consumers"
                )
            return {each.id: _read(admin, group, assignor, each) for each in found.members}
    return {}


def _read(admin: Admin, group: str, assignor: str, member: GroupMember) -> Told:
    metadata = cast("bytes", member.metadata)
    try:
        subscription = read_subscription(metadata).subscription
    except ValueError as error:
        raise BrokerError(
            f"the member {member.id!r} of the group {group!r} {admin.where} tells no subscription that a consumer would"
        ) from error
    return Told(subscription, guessed_client(cast("str", member.client_id), assignor, metadata))
