"""A consumer group of a live Kafka: its members, and the topics and partitions that each subscribes to and reads."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

from partwright._check import Json
from partwright.assignors.mixed.guess import guessed_by_id, guessed_client
from partwright.assignors.mixed.subscription import read_subscription
from partwright.assignors.subscriptions import check_subscriptions, subscriptions_of
from partwright.errors import BrokerError, PartwrightError
from partwright.kafka.client import TIMEOUT_S, Admin, admin_client, confluent_kafka
from partwright.kafka.connection import configured
from partwright.kafka.errors import Meaning, meaning
from partwright.kafka.topics import described
from partwright.keys.coordinators import broker_kind_named

if TYPE_CHECKING:
    from concurrent.futures import Future

    from confluent_kafka import ConsumerGroupTopicPartitions, Node, TopicPartition
    from confluent_kafka.admin._group import ConsumerGroupDescription
    from confluent_kafka.admin._metadata import GroupMember

    from partwright.assignors.mixed.guess import Guess
    from partwright.assignors.mixed.subscription import MemberMetadata
    from partwright.kafka.connection import KafkaConfigLike
    from partwright.keys.coordinators import BrokerKind

_Answer = TypeVar("_Answer")


class MemberFacts(NamedTuple):
    """The facts that a member of a classic group sent to its coordinator.

    Attributes:
        subscription: Its subscription, which the leader gets.
        guess: The client that it seems to be.
    """

    subscription: MemberMetadata
    guess: Guess


def any_group(
    kafka_config: KafkaConfigLike,
    group: str,
    *,
    subscriptions: Mapping[str, Collection[str]] | None = None,
    timeout: float = TIMEOUT_S,
) -> Json:
    """A stable group of either protocol; under KIP-848, members do not reveal their subscriptions.

    Those that are not given are assumed, as `partwright.assignors.subscriptions` says.

    Args:
        kafka_config: The broker's address, `host:port`, or the client configuration.
        group: The group's id.
        subscriptions: Of a group of KIP-848, by member ID or client ID, the topics that members are known to subscribe
            to.
        timeout: Seconds to wait for the broker, and again for each of its answers.

    Returns:
        `protocol` (classic or consumer), `assignor` (the one that the group runs), `topics` (the existing ones that
        members subscribe to or read) and `members`, in the coordinator's order: `id`, `topics`, `owned` (what it
        reads), `instance_id` and `client`. A broker does not know the client: `guessed` gives the evidence for it by
        member. Members of the classic protocol also have `generation`, the same for all, and `rack`. `assumed` has the
        sentences about subscriptions that were assumed.

    Raises:
        PartwrightError: `subscriptions` names what the group lacks, or the members send their subscriptions to
            the broker.
        BrokerError: No Kafka answers; there is no such group, it has no members, it is rebalancing, or its members are
            not consumers.

    Examples:
        >>> any_group("127.0.0.1:9092", "billing")["protocol"]
        'classic'
    """
    with admin_client(configured(kafka_config), timeout) as admin:
        description = _described(admin, group)
        if description.type != confluent_kafka().ConsumerGroupType.CONSUMER:
            if subscriptions is not None:
                raise PartwrightError(
                    f"the members of {group!r} send their subscriptions to the broker: leave out --subscriptions"
                )
            return {"protocol": "classic", **_classic_group(admin, group, description), "assumed": ()}
        read = {
            each.member_id: {place.topic for place in each.assignment.topic_partitions}
            for each in description.members
        }
        named = check_subscriptions(subscriptions or {})
        counts = described(
            admin, sorted({topic for those in [*read.values(), *named.values()] for topic in those})
        )
        for topic in (topic for those in named.values() for topic in those if counts[topic] is None):
            raise BrokerError(f"there is no topic {topic!r} {admin.where}: check its name in subscriptions")
    topics = {name: len(topic.partitions) for name, topic in counts.items() if topic is not None}
    client_ids = {each.member_id: each.client_id for each in description.members}
    subscribed, assumed = subscriptions_of(topics, read, client_ids, named)
    guesses = {each.member_id: guessed_by_id(each.client_id) for each in description.members}
    members = [
        {
            "id": each.member_id,
            "topics": subscribed[each.member_id],
            "owned": [[place.topic, place.partition] for place in each.assignment.topic_partitions],
            "instance_id": each.group_instance_id,
            "client": guesses[each.member_id].client,
        }
        for each in description.members
    ]
    return {
        "protocol": "consumer",
        "assignor": description.partition_assignor,
        "topics": topics,
        "members": members,
        "guessed": {member: guess.why for member, guess in guesses.items()},
        "assumed": assumed,
    }


def describe_group(admin: Admin, group: str) -> ConsumerGroupDescription | None:
    """Kafka's description of a group; None if there is none. Before 4.0 Kafka describes that as a dead one.

    Raises:
        BrokerError: There is no answer in time, or the user may not describe the group.
    """

    def ask() -> Future[ConsumerGroupDescription]:
        return admin.client.describe_consumer_groups([group], request_timeout=admin.timeout)[group]

    return _if_there(admin, group, ask)


def group_offsets(admin: Admin, group: str) -> list[TopicPartition]:
    """The committed offsets of a group; empty if there is none.

    The group is described first, which waits until it has a coordinator. If an admin client of librdkafka 2.15 learns
    that a broker is no longer the group's coordinator, it ends the process (`rd_kafka_handle_OffsetFetch`).

    Raises:
        BrokerError: There is no answer in time, or the user may not describe the group.
    """
    describe_group(admin, group)
    request = [confluent_kafka().ConsumerGroupTopicPartitions(group)]

    def ask() -> Future[ConsumerGroupTopicPartitions]:
        return admin.client.list_consumer_group_offsets(request, request_timeout=admin.timeout)[group]

    offsets = _if_there(admin, group, ask)
    return [] if offsets is None else offsets.topic_partitions or []


def _if_there(admin: Admin, group: str, ask: Callable[[], Future[_Answer]]) -> _Answer | None:
    question = admin.of_coordinator(ask)
    if meaning(admin.error(question)) is Meaning.NO_GROUP:
        return None
    return admin.answer(question, "DESCRIBE", f"the group {group!r}")


def _classic_group(admin: Admin, group: str, description: ConsumerGroupDescription) -> Json:
    """A described group of the classic protocol, in the form of `any_group`."""
    facts = _member_facts(admin, group, description.partition_assignor)
    members: list[Json] = []
    for each in description.members:
        member = facts.get(each.member_id)
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
                # All members of a stable group have their partitions from the same generation; its number is not
                # reported.
                "generation": 1,
                "instance_id": each.group_instance_id,
                "rack": member.subscription.rack or None,
                "client": member.guess.client,
            }
        )
    names = sorted({topic for each in members for topic in (*each["topics"], *each["owned"])})
    counts = described(admin, names)
    topics = {name: len(topic.partitions) for name, topic in counts.items() if topic is not None}
    guessed = {each["id"]: facts[each["id"]].guess.why for each in members}
    return {
        "assignor": description.partition_assignor,
        "topics": topics,
        "members": members,
        "guessed": guessed,
    }


def _described(admin: Admin, group: str) -> ConsumerGroupDescription:
    who = f"the group {group!r} {admin.where}"
    state = confluent_kafka().ConsumerGroupState
    description = describe_group(admin, group)
    if description is None or description.state == state.DEAD:
        raise BrokerError(f"there is no group {group!r} {admin.where}: check its id", value=group)
    if description.state == state.EMPTY:
        raise BrokerError(f"{who} has no members: there is nobody to assign anything to")
    if description.state != state.STABLE:
        raise BrokerError(
            f"{who} is rebalancing (its state is {description.state.name}): ask again in a moment"
        )
    return description


def _member_facts(admin: Admin, group: str, assignor: str) -> dict[str, MemberFacts]:
    """The bytes that each member sent to its coordinator, by member id; only librdkafka's older request has them."""
    try:
        with warnings.catch_warnings():
            # It is deprecated, but the newer answers have no subscriptions.
            warnings.simplefilter("ignore", DeprecationWarning)
            groups = admin.client.list_groups(group, timeout=admin.timeout)
    except confluent_kafka().KafkaException as error:
        raise BrokerError(
            f"Kafka {admin.where} does not tell the members of the group {group!r} ({error.args[0].str()}): ask again"
        ) from error
    for each_group in groups:
        if each_group.id == group:
            if each_group.protocol_type != "consumer":
                raise BrokerError(
                    f"the group {group!r} {admin.where} is one of {each_group.protocol_type or 'no protocol'}, not of "
                    "consumers"
                )
            return {each.id: _read(admin, group, assignor, each) for each in each_group.members}
    return {}


def _read(admin: Admin, group: str, assignor: str, member: GroupMember) -> MemberFacts:
    metadata = cast("bytes", member.metadata)
    try:
        subscription = read_subscription(metadata).subscription
    except ValueError as error:
        raise BrokerError(
            f"the member {member.id!r} of the group {group!r} {admin.where} has a subscription no consumer sends"
        ) from error
    return MemberFacts(subscription, guessed_client(cast("str", member.client_id), assignor, metadata))


# org.apache.kafka.common.internals.Topic.
GROUPS = "__consumer_offsets"
TRANSACTIONS = "__transaction_state"


def coordinator(
    kafka_config: KafkaConfigLike,
    name: str,
    topic: str = GROUPS,
    *,
    broker_kind: str = "kafka",
    timeout: float = TIMEOUT_S,
) -> Json:
    """The partition of an ID in an internal topic, the broker that leads it, and what a group has committed.

    The partition comes from the broker's rule, so a group's coordinator is asked for as well (FindCoordinator). If that
    is not the broker that leads the partition, the rule is wrong there.

    Args:
        kafka_config: The broker's address, `host:port`, or the client configuration.
        name: The group's ID, or a transactional ID.
        topic: `__consumer_offsets`, or `__transaction_state` for a transactional id.
        broker_kind: Whose rule: `kafka` or `redpanda`.
        timeout: Seconds, for reaching the broker and again for each of its answers.

    Returns:
        `n` (how many partitions the internal topic has), `by_rule` (the partition by the rule), `leads_all` (whether
        its leader leads all the others too), `rule_agrees` (whether the coordinator leads it; None if it was not asked
        for, or leads all partitions, which says nothing), `partition` (the same as `by_rule`; None if the rule is
        wrong), `leader` (`id`, `host` and `port` of the coordinator; None where there is none) and, for a group,
        `offsets`: a dict of `topic`, `partition`, `offset` (the next one that the group reads) and `metadata` for each,
        by topic and partition.

        A transactional ID's coordinator is not asked for, because confluent-kafka cannot; nor is that of a group
        that does not exist.

    Raises:
        BrokerError: No Kafka answers, or it has no such internal topic yet.
        PartwrightError: There is no such kind of broker.

    Examples:
        >>> coordinator("127.0.0.1:9092", "billing")["leader"]["id"]
        1
    """
    kind = broker_kind_named(broker_kind)
    with admin_client(configured(kafka_config), timeout) as admin:
        by_rule = _by_rule(admin, name, topic, kind)
        if topic != GROUPS:
            return by_rule
        named = _find_coordinator(admin, name)
        if named is not None and not _leads(named, by_rule):
            # Its leader may have changed between the two answers.
            by_rule, named = _by_rule(admin, name, topic, kind), _find_coordinator(admin, name)
        if named is not None and not _leads(named, by_rule):
            by_rule |= {"partition": None, "leader": named, "rule_agrees": False}
        elif named is not None and not by_rule["leads_all"]:
            by_rule["rule_agrees"] = True
        return {**by_rule, "offsets": _committed(admin, name)}


def _leads(coordinator: Json, by_rule: Json) -> bool:
    """Whether a coordinator leads the partition: a broker may give another address in each of its answers."""
    return by_rule["leader"] is not None and bool(by_rule["leader"]["id"] == coordinator["id"])


def _by_rule(admin: Admin, name: str, topic: str, kind: BrokerKind) -> Json:
    internal = described(admin, [topic])[topic]
    if internal is None:
        raise BrokerError(
            f"Kafka {admin.where} has no topic {topic}: it makes it for the first "
            f"{'group' if topic == GROUPS else 'transactional producer'} that it coordinates"
        )
    leaders: dict[int | None, Json | None] = {each.id: _node(each.leader) for each in internal.partitions}
    partition = kind.of_bytes(name.encode(), len(leaders))
    return {
        "n": len(leaders),
        "partition": partition,
        "by_rule": partition,
        "rule_agrees": None,
        "leader": leaders[partition],
        "leads_all": all(each == leaders[partition] for each in leaders.values()),
    }


def _find_coordinator(admin: Admin, group: str) -> Json | None:
    """The coordinator that FindCoordinator names; None if there is no such group."""
    description = describe_group(admin, group)
    return None if description is None else _node(description.coordinator)


def _node(node: Node | None) -> Json | None:
    return None if node is None else {"id": node.id, "host": node.host, "port": node.port}


def _committed(admin: Admin, group: str) -> list[Json]:
    return [
        {
            "topic": each.topic,
            "partition": each.partition,
            "offset": each.offset,
            "metadata": each.metadata or "",
        }
        for each in sorted(group_offsets(admin, group), key=lambda each: (each.topic, each.partition))
    ]
