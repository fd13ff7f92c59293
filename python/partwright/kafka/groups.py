"""A consumer group of a live Kafka: its members, what each subscribes to and reads, over confluent-kafka."""

from __future__ import annotations

import struct
import warnings
from typing import TYPE_CHECKING, NamedTuple, cast

from partwright.errors import BrokerError
from partwright.kafka.client import NO_SUCH_GROUP, TIMEOUT_S, Admin, admin_client, confluent_kafka
from partwright.kafka.connection.given import configured
from partwright.kafka.topics import described

if TYPE_CHECKING:
    from concurrent.futures import Future

    from confluent_kafka.admin._group import ConsumerGroupDescription
    from confluent_kafka.admin._metadata import GroupMember

    from partwright._check import Json
    from partwright.kafka.connection.given import KafkaConfigLike

__all__ = ["Subscription", "consumer_group", "described_group", "read_subscription"]


class Subscription(NamedTuple):
    """What a member of a classic group told its coordinator (`ConsumerProtocolSubscription`).

    Attributes:
        topics: What it subscribes to.
        rack: Its `client.rack`; None where it has none.
    """

    topics: list[str]
    rack: str | None


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
        same for all, `instance_id` and `rack`.

    Raises:
        BrokerError: No Kafka answers; there is no such group, it has no members, it is rebalancing, its members are no
            consumers, or it is of the protocol of KIP-848, whose members' subscriptions this client does not tell.

    Examples:
        >>> consumer_group("127.0.0.1:9092", "billing")["assignor"]
        'range'
    """
    with admin_client(configured(kafka_config, bootstrap), timeout) as admin:
        found = _described(admin, group)
        told = _told(admin, group)
        members: list[Json] = []
        for each in found.members:
            subscription = told.get(each.member_id)
            if subscription is None:
                raise BrokerError(
                    f"the group {group!r} {admin.where} is rebalancing (a member came or left): ask again in a moment"
                )
            owned: dict[str, list[int]] = {}
            for place in each.assignment.topic_partitions:
                owned.setdefault(place.topic, []).append(place.partition)
            members.append(
                {
                    "id": each.member_id,
                    "topics": subscription.topics,
                    "owned": owned,
                    # A stable group's members have what they have of one generation, which nobody tells.
                    "generation": 1,
                    "instance_id": each.group_instance_id,
                    "rack": subscription.rack,
                }
            )
        names = sorted({topic for each in members for topic in (*each["topics"], *each["owned"])})
        counts = described(admin, names)
    topics = {name: len(topic.partitions) for name, topic in counts.items() if topic is not None}
    return {"assignor": found.partition_assignor, "topics": topics, "members": members}


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


def _told(admin: Admin, group: str) -> dict[str, Subscription]:
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
            return {each.id: _subscription(admin, group, each) for each in found.members}
    return {}


def _subscription(admin: Admin, group: str, member: GroupMember) -> Subscription:
    try:
        return read_subscription(cast("bytes", member.metadata))
    except (struct.error, ValueError) as error:
        raise BrokerError(
            f"the member {member.id!r} of the group {group!r} {admin.where} tells no subscription that a consumer would"
        ) from error


def read_subscription(metadata: bytes) -> Subscription:
    """A `ConsumerProtocolSubscription`, of version 0 to 3 and those to come, which keep what these have.

    Raises:
        ValueError: The bytes are something else.
        struct.error: They end too early.
    """
    reader = _Reader(metadata)
    version = reader.number(">h")
    topics = [reader.text() or "" for _ in range(reader.count())]
    reader.data()
    if version < 1:
        return Subscription(topics, None)
    for _ in range(reader.count()):
        reader.text()
        for _ in range(reader.count()):
            reader.number(">i")
    if version < 3:  # noqa: PLR2004 - the rack came with version 3
        return Subscription(topics, None)
    reader.number(">i")
    return Subscription(topics, reader.text() or None)


class _Reader:
    """Kafka's own primitive types, one after the other."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def number(self, form: str) -> int:
        (found,) = struct.unpack_from(form, self._data, self._at)
        self._at += struct.calcsize(form)
        return int(found)

    def count(self) -> int:
        """How many elements an array has, which are a byte each at least."""
        found = self.number(">i")
        if found > len(self._data) - self._at:
            raise ValueError(found)
        return max(0, found)

    def text(self) -> str | None:
        length = self.number(">h")
        return None if length < 0 else self._taken(length).decode()

    def data(self) -> bytes | None:
        length = self.number(">i")
        return None if length < 0 else self._taken(length)

    def _taken(self, length: int) -> bytes:
        found = self._data[self._at : self._at + length]
        if len(found) < length:
            raise ValueError(length)
        self._at += length
        return found
